/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether all lanes go the same way at a branch. Mostly this asks the first lane and the last one:
 * a value that grows along the row without wrapping, and is on one side of a limit at both ends, is
 * on that side between them.
 */
#include "translator/vector/control.h"
#include "translator/vector/tuning/tuning.h"

struct question {
    struct tr_widen *widen;
    LLVMValueRef answer; /* i1: all answers so far; NULL: nothing has been asked */
};

/* A later answer may be poison where an earlier one is false. */
static void require(struct question *question, LLVMValueRef condition)
{
    LLVMValueRef no = LLVMConstInt(question->widen->i1, 0, false);
    question->answer =
        question->answer == NULL
            ? condition
            : LLVMBuildSelect(question->widen->builder, question->answer, condition, no, "");
}

static LLVMValueRef expect(struct question *question, LLVMValueRef condition, bool expected)
{
    return expected ? condition : LLVMBuildNot(question->widen->builder, condition, "");
}

/* ---- comparisons ---- */

/* With such a stride a row of lanes cannot go once around in 32 bits. */
#define MAX_STRIDE (1 << 16)

static bool is_order(LLVMIntPredicate predicate)
{
    return predicate != LLVMIntEQ && predicate != LLVMIntNE;
}

static bool is_signed(LLVMIntPredicate predicate)
{
    return predicate >= LLVMIntSGT && predicate <= LLVMIntSLE;
}

static bool is_less(LLVMIntPredicate predicate)
{
    return predicate == LLVMIntSLT || predicate == LLVMIntSLE || predicate == LLVMIntULT ||
           predicate == LLVMIntULE;
}

static bool is_short_integer(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) >= 32 &&
           LLVMGetIntTypeWidth(type) <= 64;
}

/* The number of the comparison's operand that grows along the row, while the other does not; 2:
 * there is none. */
static unsigned growing_operand(const struct tr_widen *widen, LLVMValueRef icmp)
{
    struct tr_shape shapes[2] = {tr_widen_shape(widen, LLVMGetOperand(icmp, 0)),
                                 tr_widen_shape(widen, LLVMGetOperand(icmp, 1))};
    if (!is_order(LLVMGetICmpPredicate(icmp)) || !is_short_integer(LLVMGetOperand(icmp, 0)))
        return 2;
    for (unsigned i = 0; i < 2; i++) {
        int64_t stride = shapes[i].stride;
        if (shapes[i].kind == TR_AFFINE && stride != 0 && stride < MAX_STRIDE &&
            stride > -MAX_STRIDE && shapes[1 - i].kind != TR_VARYING && shapes[1 - i].stride == 0)
            return i;
    }
    return 2;
}

static LLVMValueRef at_end(struct tr_widen *widen, LLVMValueRef operand, uint32_t row, bool is_last)
{
    uint32_t copy = row * widen->jam[0] + (is_last ? widen->jam[0] - 1 : 0);
    uint32_t lane = is_last ? widen->width - 1 : 0;
    return tr_widen_lane(widen, operand, copy, LLVMConstInt(widen->i32, lane, false));
}

/* Requires that the operand does not wrap, in the order of the comparison, between the first lane
 * and the last. */
static void require_no_wrap(struct question *question, LLVMValueRef operand, uint32_t row,
                            bool is_in_signed_order)
{
    struct tr_widen *widen = question->widen;
    struct tr_shape shape = tr_widen_shape(widen, operand);
    if (is_in_signed_order && shape.no_wrap)
        return;
    LLVMValueRef ends[2] = {at_end(widen, operand, row, shape.stride < 0),
                            at_end(widen, operand, row, shape.stride > 0)};
    LLVMIntPredicate order = is_in_signed_order ? LLVMIntSLE : LLVMIntULE;
    require(question, LLVMBuildICmp(widen->builder, order, ends[0], ends[1], ""));
}

/* Asks at the end of the row where the comparison is hardest to satisfy. */
static void ask_ends(struct question *question, LLVMValueRef icmp, unsigned growing, bool expected)
{
    struct tr_widen *widen = question->widen;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(icmp);
    LLVMValueRef operand = LLVMGetOperand(icmp, growing);
    bool is_rising = (tr_widen_shape(widen, operand).stride > 0) == (growing == 0);
    bool is_last = is_rising == (is_less(predicate) == expected);
    bool is_in_signed_order = is_signed(predicate) || LLVMGetICmpSameSign(icmp);
    for (uint32_t row = 0; row < widen->jam[1]; row++) {
        require_no_wrap(question, operand, row, is_in_signed_order);
        LLVMValueRef end = LLVMBuildICmp(widen->builder, predicate,
                                         at_end(widen, LLVMGetOperand(icmp, 0), row, is_last),
                                         at_end(widen, LLVMGetOperand(icmp, 1), row, is_last), "");
        require(question, expect(question, end, expected));
    }
}

/* ---- quotients ---- */

/* A quotient of what grows without wrapping grows, or falls, too: between equal ends all are
 * equal. */
LLVMValueRef tr_control_all_share(struct tr_widen *widen, LLVMValueRef quotient)
{
    struct question question = {.widen = widen};
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef dividend = LLVMGetOperand(quotient, 0);
    LLVMValueRef divisor = LLVMGetOperand(quotient, 1);
    LLVMValueRef first = tr_widen_scalar(widen, quotient, 0);
    for (uint32_t row = 0; row < widen->jam[1]; row++) {
        require_no_wrap(&question, dividend, row, false);
        for (int is_last = row == 0; is_last < 2; is_last++) {
            LLVMValueRef end = LLVMBuildBinOp(b, LLVMGetInstructionOpcode(quotient),
                                              at_end(widen, dividend, row, is_last),
                                              at_end(widen, divisor, row, is_last), "");
            require(&question, LLVMBuildICmp(b, LLVMIntEQ, end, first, ""));
        }
    }
    return question.answer;
}

/* ---- rows ---- */

/* Rows that answer for all: if it holds in these, it holds in every row. */
struct rows {
    uint32_t first;
    uint32_t end;
};

/* The rows to ask about a value that is the same along each row. */
static struct rows rows_to_ask(const struct tr_widen *widen, LLVMValueRef condition, bool expected)
{
    struct rows all = {.first = 0, .end = widen->jam[1]};
    if (LLVMIsAICmpInst(condition) == NULL || !is_order(LLVMGetICmpPredicate(condition)) ||
        !is_short_integer(LLVMGetOperand(condition, 0)))
        return all;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
    bool is_in_signed_order = is_signed(predicate);
    for (unsigned i = 0; i < 2; i++) {
        if (tr_tuning_growth(widen, LLVMGetOperand(condition, i), is_in_signed_order) !=
                TR_ROWS_GROW ||
            tr_tuning_growth(widen, LLVMGetOperand(condition, 1 - i), is_in_signed_order) !=
                TR_ROWS_SHARE)
            continue;
        bool is_last = (i == 0) == (is_less(predicate) == expected);
        uint32_t row = is_last ? widen->jam[1] - 1 : 0;
        return (struct rows){.first = row, .end = row + 1};
    }
    return all;
}

/* ---- conditions ---- */

static bool is_constant(LLVMValueRef value, bool is_true)
{
    return LLVMIsAConstantInt(value) != NULL &&
           LLVMConstIntGetZExtValue(value) == (is_true ? 1 : 0);
}

bool tr_control_is_pair(LLVMValueRef condition, bool expected, LLVMValueRef parts[2])
{
    if (LLVMIsAInstruction(condition) == NULL)
        return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(condition);
    if (opcode == (expected ? LLVMAnd : LLVMOr)) {
        parts[0] = LLVMGetOperand(condition, 0);
        parts[1] = LLVMGetOperand(condition, 1);
        return true;
    }
    /* a ? b : false, a ? true : b */
    if (opcode != LLVMSelect ||
        !is_constant(LLVMGetOperand(condition, expected ? 2 : 1), !expected))
        return false;
    parts[0] = LLVMGetOperand(condition, 0);
    parts[1] = LLVMGetOperand(condition, expected ? 1 : 2);
    return true;
}

/* <width x i1> by copy. */
static void make_vectors(struct tr_widen *widen, LLVMValueRef condition, bool expected,
                         LLVMValueRef *vectors)
{
    for (uint32_t c = 0; c < widen->copies; c++) {
        vectors[c] = tr_widen_vector(widen, condition, c);
        if (!expected)
            vectors[c] = LLVMBuildNot(widen->builder, vectors[c], "");
    }
}

/* Such a value is made anew at the builder's place: what was made of it earlier may be vectors. */
static bool is_in_iteration(const struct tr_widen *widen, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(&widen->iteration->graph, value);
    return number != TR_NONE && widen->iteration->graph.values[number].segment != TR_NONE;
}

static void require_all(struct question *question, LLVMValueRef condition, bool expected)
{
    struct tr_widen *widen = question->widen;
    LLVMValueRef parts[2];
    if (tr_widen_shape(widen, condition).kind == TR_UNIFORM) {
        require(question, expect(question, tr_widen_scalar(widen, condition, 0), expected));
        return;
    }
    if (is_in_iteration(widen, condition) && tr_control_is_pair(condition, expected, parts)) {
        require_all(question, parts[0], expected);
        require_all(question, parts[1], expected);
        return;
    }
    if (tr_widen_shape(widen, condition).kind == TR_AFFINE) { /* the same along each row */
        struct rows rows = rows_to_ask(widen, condition, expected);
        for (uint32_t row = rows.first; row < rows.end; row++) {
            LLVMValueRef all = tr_widen_scalar(widen, condition, row * widen->jam[0]);
            require(question, expect(question, all, expected));
        }
        return;
    }
    unsigned growing = 2;
    if (LLVMIsAICmpInst(condition) != NULL)
        growing = growing_operand(widen, condition);
    if (growing < 2) {
        ask_ends(question, condition, growing, expected);
        return;
    }
    LLVMValueRef vectors[TR_MAX_COPIES];
    make_vectors(widen, condition, expected, vectors);
    require(question, tr_widen_mask_all(widen, vectors));
}

/* ---- the face ---- */

LLVMValueRef tr_control_all_take(struct tr_widen *widen, LLVMValueRef condition, bool expected)
{
    struct question question = {.widen = widen};
    require_all(&question, condition, expected);
    return question.answer;
}

/* Whether the comparison's growing operand does not wrap, so that its ends decide. */
static bool ends_tell(const struct tr_widen *widen, LLVMValueRef icmp, unsigned growing)
{
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(icmp);
    return (is_signed(predicate) || LLVMGetICmpSameSign(icmp)) &&
           tr_widen_shape(widen, LLVMGetOperand(icmp, growing)).no_wrap;
}

/* i1: whether any lane's condition holds; NULL: only masks can tell. */
static LLVMValueRef any_by_ends(struct tr_widen *widen, LLVMValueRef condition, bool expected)
{
    if (LLVMIsAICmpInst(condition) == NULL)
        return NULL;
    unsigned growing = growing_operand(widen, condition);
    if (growing == 2 || !ends_tell(widen, condition, growing))
        return NULL;
    struct question question = {.widen = widen};
    ask_ends(&question, condition, growing, !expected);
    return LLVMBuildNot(widen->builder, question.answer, "");
}

LLVMValueRef tr_control_any_takes(struct tr_widen *widen, LLVMValueRef condition, bool expected)
{
    LLVMValueRef any = any_by_ends(widen, condition, expected);
    if (any != NULL)
        return any;
    LLVMValueRef vectors[TR_MAX_COPIES];
    make_vectors(widen, condition, expected, vectors);
    return tr_widen_mask_any(widen, vectors);
}

LLVMValueRef tr_control_any_comes(struct tr_widen *widen, const struct tr_join *join,
                                  const LLVMValueRef *mask)
{
    LLVMValueRef any = NULL;
    if (join->of_condition != NULL && join->of_condition == mask[0])
        any = any_by_ends(widen, join->condition, join->expected);
    return any != NULL ? any : tr_widen_mask_any(widen, mask);
}
