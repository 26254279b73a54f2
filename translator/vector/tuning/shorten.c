/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of which only the first threads have work: `if (tid < half) …`, `if (tid == 0) …`, also
 * behind a branch that all threads take together. The loop over the row ends with the last thread
 * that has work.
 *
 * The search is for a number such that threads from it on do nothing. It comes from the branches,
 * from the iteration's beginning on, that compare the counter with values known when the loop
 * begins. Branches stay: the number may be too high, and is at least 1.
 */
#include "translator/module/relation.h"
#include "translator/vector/tuning/tuning.h"

/* Branches, and operands of conditions, that are followed one behind the other. */
#define MAX_DEPTH 6

struct row {
    const struct tr_iteration *iteration;
    LLVMBuilderRef builder; /* before the nest */
    LLVMValueRef count;
};

/* Numbers of threads are i32 values; NULL: not known to be less than all. */
static LLVMValueRef number(const struct row *row, uint64_t value)
{
    return LLVMConstInt(LLVMTypeOf(row->count), value, false);
}

static LLVMValueRef pick(const struct row *row, LLVMIntPredicate relation, LLVMValueRef a,
                         LLVMValueRef b)
{
    LLVMValueRef is_a = LLVMBuildICmp(row->builder, relation, a, b, "");
    return LLVMBuildSelect(row->builder, is_a, a, b, "");
}

static LLVMValueRef lesser(const struct row *row, LLVMValueRef a, LLVMValueRef b)
{
    if (a == NULL || b == NULL)
        return a == NULL ? b : a;
    return pick(row, LLVMIntULT, a, b);
}

static LLVMValueRef greater(const struct row *row, LLVMValueRef a, LLVMValueRef b)
{
    return a == NULL || b == NULL ? NULL : pick(row, LLVMIntUGT, a, b);
}

/* ---- conditions ---- */

/* Whether the value is known when the loop begins. */
static bool is_known(const struct row *row, LLVMValueRef value)
{
    uint32_t n = tr_graph_number(&row->iteration->graph, value);
    return n == TR_NONE ? LLVMIsConstant(value)
                        : row->iteration->graph.values[n].segment == TR_NONE &&
                              n != row->iteration->x && n != row->iteration->y;
}

/* limit + 1, which must not wrap. */
static LLVMValueRef next_number(const struct row *row, LLVMValueRef limit)
{
    if (LLVMIsAConstantInt(limit) == NULL || LLVMConstIntGetZExtValue(limit) > INT32_MAX)
        return NULL;
    return number(row, LLVMConstIntGetZExtValue(limit) + 1);
}

/* A counter in this relation to the limit is less than … */
static LLVMValueRef end_of(const struct row *row, LLVMIntPredicate relation, LLVMValueRef limit)
{
    switch (relation) {
    case LLVMIntULT:
        return limit;
    case LLVMIntSLT:
        return pick(row, LLVMIntSGT, limit, number(row, 0));
    case LLVMIntULE:
    case LLVMIntSLE:
    case LLVMIntEQ:
        return next_number(row, limit);
    default:
        return NULL;
    }
}

static LLVMValueRef end_of_comparison(const struct row *row, const struct tr_value *icmp,
                                      bool is_true)
{
    LLVMIntPredicate relation = LLVMGetICmpPredicate(icmp->llvm);
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef limit = LLVMGetOperand(icmp->llvm, 1 - i);
        if (icmp->operands[i] != row->iteration->x || !is_known(row, limit))
            continue;
        if (i == 1)
            relation = tr_relation_swapped(relation);
        return end_of(row, is_true ? relation : tr_relation_inverse(relation), limit);
    }
    return NULL;
}

/* If the condition holds, the thread's counter is less than this. */
static LLVMValueRef end_of_condition(const struct row *row, uint32_t value, bool is_true,
                                     unsigned depth)
{
    if (value == TR_NONE || depth == MAX_DEPTH)
        return NULL;
    const struct tr_value *condition = &row->iteration->graph.values[value];
    if (condition->opcode == LLVMICmp)
        return end_of_comparison(row, condition, is_true);
    bool is_both = condition->opcode == (is_true ? LLVMAnd : LLVMOr);
    if (condition->opcode == LLVMSelect) {
        LLVMValueRef other = LLVMIsAConstantInt(LLVMGetOperand(condition->llvm, is_true ? 2 : 1));
        is_both = other != NULL && LLVMIsNull(other) == is_true;
    }
    LLVMValueRef end = NULL;
    for (uint32_t i = 0; is_both && i < condition->operand_count; i++)
        end = lesser(row, end, end_of_condition(row, condition->operands[i], is_true, depth + 1));
    return end;
}

/* ---- the iteration ---- */

static bool is_seen(const struct tr_iteration *iteration, const struct tr_segment *segment)
{
    for (uint32_t i = 0; i < segment->value_count; i++)
        if (tr_is_seen(iteration->graph.values[segment->first_value + i].llvm))
            return true;
    return false;
}

static LLVMValueRef end_behind(const struct row *row, uint32_t number_of_segment, unsigned depth);

static LLVMValueRef end_of_branch(const struct row *row, const struct tr_segment *segment,
                                  unsigned depth)
{
    const struct tr_value *branch =
        &row->iteration->graph.values[segment->first_value + segment->value_count - 1];
    if (branch->opcode != LLVMBr || segment->succ_count != 2)
        return NULL;
    LLVMValueRef ends[2];
    for (unsigned i = 0; i < 2; i++)
        ends[i] = end_behind(row, segment->succs[i], depth + 1);
    LLVMValueRef condition = LLVMGetCondition(branch->llvm);
    if (is_known(row, condition)) {
        if (ends[0] == NULL && ends[1] == NULL)
            return NULL;
        return LLVMBuildSelect(row->builder, condition, ends[0] == NULL ? row->count : ends[0],
                               ends[1] == NULL ? row->count : ends[1], "");
    }
    for (unsigned i = 0; i < 2; i++)
        ends[i] = lesser(row, ends[i], end_of_condition(row, branch->operands[0], i == 0, 0));
    return greater(row, ends[0], ends[1]);
}

/* Threads from this number on that come to the segment do nothing from there on. */
static LLVMValueRef end_behind(const struct row *row, uint32_t number_of_segment, unsigned depth)
{
    const struct tr_iteration *iteration = row->iteration;
    const struct tr_segment *segment = &iteration->graph.segments[number_of_segment];
    if (is_seen(iteration, segment) || depth == MAX_DEPTH)
        return NULL;
    if (number_of_segment == iteration->end)
        return number(row, 0);
    if (segment->succ_count == 1)
        return end_behind(row, segment->succs[0], depth + 1);
    return end_of_branch(row, segment, depth);
}

LLVMValueRef tr_shorten(const struct tr_nest *nest, const struct tr_iteration *iteration,
                        bool is_jammed)
{
    LLVMBasicBlockRef before = is_jammed ? nest->y.before : nest->x.before;
    struct row row = {.iteration = iteration, .count = nest->x.count};
    row.builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(nest->x.count)));
    LLVMPositionBuilderBefore(row.builder, LLVMGetBasicBlockTerminator(before));
    LLVMValueRef end = end_behind(&row, 0, 0);
    if (end != NULL)
        end = lesser(&row, row.count, greater(&row, end, number(&row, 1)));
    LLVMDisposeBuilder(row.builder);
    return end == NULL ? nest->x.count : end;
}
