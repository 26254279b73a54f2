/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows side by side: what grows by the same step from each row to the next is computed for the
 * first row only. Rows after it add a multiple of the step, which all have in common: a constant
 * that becomes part of an address, or something that does not change in the loop over rows.
 *
 * Only where all lanes are active: a row without any would bring others what nobody has computed.
 */
#include "translator/vector/emit/form.h"
#include "translator/vector/tuning/tuning.h"

/* Constant steps that can be added up or multiplied without a thought to how large they get. */
#define SMALL_STEP (1 << 12)
/* … also when they have been shifted by less than this. */
#define MOST_BITS 13

static const struct tr_row_step unknown = {.step = NULL};

static bool is_constant(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) != NULL;
}

static bool is_zero(const struct tr_row_step *step)
{
    return is_constant(step->step) && LLVMIsNull(step->step);
}

static bool is_small(const struct tr_row_step *step)
{
    return is_constant(step->step) && LLVMConstIntGetSExtValue(step->step) < SMALL_STEP &&
           LLVMConstIntGetSExtValue(step->step) > -SMALL_STEP;
}

/* Distances from values of this type are counted in it; NULL: it has none. */
static LLVMTypeRef distance_type(const struct tr_widen *widen, LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        return widen->i64;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) >= 8 && LLVMGetIntTypeWidth(type) <= 64 ? type : NULL;
    default:
        return NULL;
    }
}

/* Nothing is known that could wrap. */
static bool is_safe(const struct tr_row_step *step)
{
    return is_zero(step) || (step->nuw && step->nsw && step->is_positive);
}

static bool is_positive_constant(LLVMValueRef value)
{
    return is_constant(value) && LLVMConstIntGetSExtValue(value) >= 0;
}

static struct tr_row_step step_of(const struct tr_widen *widen, LLVMValueRef operand)
{
    uint32_t number = tr_graph_number(&widen->turn->graph, operand);
    LLVMTypeRef type = distance_type(widen, LLVMTypeOf(operand));
    if (type == NULL)
        return unknown;
    if (number == TR_NONE || !widen->turn->depends_on_row[number])
        return (struct tr_row_step){.step = LLVMConstNull(type),
                                    .nuw = true,
                                    .nsw = true,
                                    .is_positive = is_positive_constant(operand)};
    if (number == widen->turn->y)
        return (struct tr_row_step){
            .step = LLVMConstInt(type, 1, false), .nuw = true, .nsw = true, .is_positive = true};
    return widen->row_steps[number];
}

/* ---- by instruction. Flags promise something of rows whose result is used, and the one before may
 * be none of these. So they count only where what is too large in a row is so in all that follow:
 * of unsigned numbers that grow, and of signed ones that grow from 0 on. ---- */

static struct tr_row_step sum(struct tr_widen *widen, LLVMValueRef inst, struct tr_row_step a,
                              struct tr_row_step b)
{
    bool is_or = LLVMGetInstructionOpcode(inst) == LLVMOr;
    if (a.step == NULL || b.step == NULL || (is_or && !LLVMGetIsDisjoint(inst)))
        return unknown;
    bool is_exact = is_zero(&a) || is_zero(&b) || (is_small(&a) && is_small(&b));
    struct tr_row_step step = {.step = LLVMBuildAdd(widen->builder, a.step, b.step, "")};
    step.nuw = a.nuw && b.nuw && (is_or || LLVMGetNUW(inst));
    step.nsw = is_exact && is_safe(&a) && is_safe(&b) && (is_or || LLVMGetNSW(inst));
    step.is_positive = step.nsw && a.is_positive && b.is_positive;
    return step;
}

static struct tr_row_step difference(struct tr_widen *widen, LLVMValueRef inst,
                                     struct tr_row_step a, struct tr_row_step b)
{
    if (a.step == NULL || b.step == NULL)
        return unknown;
    return (struct tr_row_step){.step = LLVMBuildSub(widen->builder, a.step, b.step, ""),
                                .nsw = is_safe(&a) && is_zero(&b) && LLVMGetNSW(inst)};
}

/* One factor is the same in all rows. */
static struct tr_row_step product(struct tr_widen *widen, LLVMValueRef inst, struct tr_row_step a,
                                  struct tr_row_step b)
{
    if (a.step == NULL || b.step == NULL || (!is_zero(&a) && !is_zero(&b)))
        return unknown;
    unsigned growing = is_zero(&a) ? 1 : 0;
    struct tr_row_step from = growing == 0 ? a : b;
    struct tr_row_step by = {.step = tr_w_scalar(widen, LLVMGetOperand(inst, 1 - growing), 0)};
    bool is_one = is_constant(from.step) && LLVMConstIntGetZExtValue(from.step) == 1;
    bool is_exact = is_one || (is_small(&from) && is_small(&by));
    struct tr_row_step step = {.step = LLVMBuildMul(widen->builder, from.step, by.step, "")};
    step.nuw = from.nuw && LLVMGetNUW(inst);
    step.nsw = is_exact && is_safe(&from) && LLVMGetNSW(inst);
    step.is_positive = step.nsw && from.is_positive && is_positive_constant(by.step);
    return step;
}

static struct tr_row_step shifted(struct tr_widen *widen, LLVMValueRef inst, struct tr_row_step a)
{
    LLVMValueRef bits = LLVMGetOperand(inst, 1);
    if (a.step == NULL || !is_constant(bits) || LLVMConstIntGetZExtValue(bits) >= MOST_BITS)
        return unknown;
    struct tr_row_step step = {.step = LLVMBuildShl(widen->builder, a.step, bits, "")};
    step.nuw = a.nuw && LLVMGetNUW(inst);
    step.nsw = is_small(&a) && is_safe(&a) && LLVMGetNSW(inst);
    step.is_positive = step.nsw && a.is_positive;
    return step;
}

static struct tr_row_step extended(struct tr_widen *widen, LLVMValueRef inst, struct tr_row_step a)
{
    LLVMTypeRef type = distance_type(widen, LLVMTypeOf(inst));
    bool is_zext = LLVMGetInstructionOpcode(inst) == LLVMZExt;
    if (a.step == NULL || type == NULL || !(is_zext ? a.nuw : a.nsw))
        return unknown;
    if (is_zext)
        return (struct tr_row_step){.step = LLVMBuildZExt(widen->builder, a.step, type, ""),
                                    .nuw = true,
                                    .nsw = true,
                                    .is_positive = true};
    return (struct tr_row_step){.step = LLVMBuildSExt(widen->builder, a.step, type, ""),
                                .nuw = a.nuw && a.is_positive,
                                .nsw = true,
                                .is_positive = a.is_positive};
}

/* The same distance in bits. */
static struct tr_row_step converted(struct tr_widen *widen, LLVMValueRef inst, struct tr_row_step a)
{
    LLVMTypeRef type = distance_type(widen, LLVMTypeOf(inst));
    if (a.step == NULL || type == NULL ||
        LLVMGetIntTypeWidth(type) > LLVMGetIntTypeWidth(LLVMTypeOf(a.step)))
        return unknown;
    return (struct tr_row_step){.step = LLVMBuildTrunc(widen->builder, a.step, type, "")};
}

static struct tr_row_step moved(struct tr_widen *widen, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    if (LLVMGetNumOperands(gep) != 2 || !LLVMTypeIsSized(type) ||
        LLVMGetTypeKind(type) == LLVMScalableVectorTypeKind)
        return unknown;
    struct tr_row_step base = step_of(widen, LLVMGetOperand(gep, 0));
    struct tr_row_step index = step_of(widen, LLVMGetOperand(gep, 1));
    if (base.step == NULL || index.step == NULL || LLVMTypeOf(index.step) != widen->i64)
        return unknown;
    LLVMValueRef size = LLVMConstInt(widen->i64, LLVMABISizeOfType(widen->layout, type), false);
    LLVMValueRef distance = LLVMBuildMul(widen->builder, index.step, size, "");
    return (struct tr_row_step){.step = LLVMBuildAdd(widen->builder, base.step, distance, "")};
}

static struct tr_row_step find_step(struct tr_widen *widen, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMGetElementPtr)
        return moved(widen, inst);
    int count = LLVMGetNumOperands(inst);
    if (count < 1 || count > 2)
        return unknown;
    struct tr_row_step a = step_of(widen, LLVMGetOperand(inst, 0));
    struct tr_row_step b = count == 2 ? step_of(widen, LLVMGetOperand(inst, 1)) : unknown;
    switch (opcode) {
    case LLVMAdd:
    case LLVMOr:
        return sum(widen, inst, a, b);
    case LLVMSub:
        return difference(widen, inst, a, b);
    case LLVMMul:
        return product(widen, inst, a, b);
    case LLVMShl:
        return shifted(widen, inst, a);
    case LLVMZExt:
    case LLVMSExt:
        return extended(widen, inst, a);
    case LLVMTrunc:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
        return converted(widen, inst, a);
    default:
        return unknown;
    }
}

/* ---- the face ---- */

bool tr_w_find_step(struct tr_widen *widen, uint32_t value)
{
    const struct tr_turn *turn = widen->turn;
    bool is_wanted = widen->jam[1] > 1 && widen->active.mask[0] == NULL &&
                     turn->depends_on_row[value] && turn->shapes.values[value].kind == TR_AFFINE;
    widen->row_steps[value] =
        is_wanted ? find_step(widen, turn->graph.values[value].llvm) : unknown;
    return widen->row_steps[value].step != NULL;
}

LLVMValueRef tr_w_begin_rows(const struct tr_widen *widen, uint32_t value, LLVMValueRef first)
{
    const struct tr_row_step *step = &widen->row_steps[value];
    if (LLVMIsAInstruction(first) == NULL)
        return first;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(first);
    bool has_nsw = opcode == LLVMAdd || opcode == LLVMMul || opcode == LLVMShl;
    if (opcode == LLVMOr) /* of numbers that in this row may have bits in common */
        return LLVMBuildAdd(widen->builder, LLVMGetOperand(first, 0), LLVMGetOperand(first, 1), "");
    if (!step->nuw)
        tr_forget_flags(first);
    else if (has_nsw && !step->nsw)
        LLVMSetNSW(first, false);
    return first;
}

LLVMValueRef tr_w_in_row(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef step = widen->row_steps[value].step;
    uint32_t row = copy / widen->jam[0];
    LLVMValueRef first = widen->now[value * widen->copies + copy % widen->jam[0]];
    if (is_constant(step))
        return tr_w_offset(widen, first, (int64_t)((uint64_t)LLVMConstIntGetSExtValue(step) * row));
    LLVMValueRef times = LLVMConstInt(LLVMTypeOf(step), row, false);
    LLVMValueRef distance = LLVMBuildMul(widen->builder, step, times, "");
    if (LLVMGetTypeKind(LLVMTypeOf(first)) == LLVMPointerTypeKind)
        return LLVMBuildGEP2(widen->builder, widen->i8, first, &distance, 1, "");
    return LLVMBuildAdd(widen->builder, first, distance, "");
}

enum tr_growth tr_w_growth(const struct tr_widen *widen, LLVMValueRef operand,
                           bool is_in_signed_order)
{
    struct tr_row_step step = step_of(widen, operand);
    if (step.step == NULL)
        return TR_ROWS_DIFFER;
    if (is_zero(&step))
        return TR_ROWS_SHARE;
    bool is_up = is_in_signed_order
                     ? step.nsw && is_constant(step.step) && LLVMConstIntGetSExtValue(step.step) > 0
                     : step.nuw;
    return is_up ? TR_ROWS_GROW : TR_ROWS_DIFFER;
}
