/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows side by side: a value that grows by the same step from each row to the next is computed for
 * the first row only. Later rows add a multiple of the step, which all have in common: a constant
 * that becomes part of an address, or a value that does not change in the loop over rows.
 *
 * Only where all lanes are active: otherwise the first row might have no active lane, and pass on a
 * value that nobody has computed.
 */
#include "translator/vector/emit/form.h"
#include "translator/vector/tuning/tuning.h"

static struct tr_move_context context_of(const struct tr_widen *widen)
{
    return (struct tr_move_context){.arena = widen->arena, .layout = widen->layout};
}

static struct tr_move step_of(const struct tr_widen *widen, LLVMValueRef operand)
{
    struct tr_move_context context = context_of(widen);
    uint32_t number = tr_graph_number(&widen->iteration->graph, operand);
    if (number == TR_NONE || !widen->iteration->depends_on_row[number])
        return tr_move_by(&context, operand, 0);
    return number == widen->iteration->y ? tr_move_by(&context, operand, 1)
                                         : widen->row_steps[number];
}

static struct tr_move find_step(const struct tr_widen *widen, LLVMValueRef inst)
{
    struct tr_move_context context = context_of(widen);
    struct tr_move operands[2] = {{.by = NULL}, {.by = NULL}};
    int count = LLVMGetNumOperands(inst);
    for (int i = 0; i < count && count <= 2; i++)
        operands[i] = step_of(widen, LLVMGetOperand(inst, (unsigned)i));
    return tr_move_of_inst(&context, inst, operands);
}

/* ---- the face ---- */

bool tr_tuning_find_step(struct tr_widen *widen, uint32_t value)
{
    const struct tr_iteration *iteration = widen->iteration;
    bool is_wanted = widen->jam[1] > 1 && widen->active.mask[0] == NULL &&
                     iteration->depends_on_row[value] &&
                     iteration->shapes.values[value].kind == TR_AFFINE;
    struct tr_move *step = &widen->row_steps[value];
    *step = is_wanted ? find_step(widen, iteration->graph.values[value].llvm)
                      : (struct tr_move){.by = NULL};
    if (step->by != NULL)
        tr_widen_number(widen, step->by, 0);
    return step->by != NULL;
}

LLVMValueRef tr_tuning_begin_rows(const struct tr_widen *widen, uint32_t value, LLVMValueRef first)
{
    const struct tr_move *step = &widen->row_steps[value];
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

LLVMValueRef tr_tuning_in_row(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    struct tr_number *by = widen->row_steps[value].by;
    LLVMValueRef step = by->made;
    uint32_t row = copy / widen->jam[0];
    LLVMValueRef first = widen->now[value * widen->copies + copy % widen->jam[0]];
    if (tr_is_constant_number(by))
        return tr_widen_offset(widen, first, (int64_t)((uint64_t)tr_constant_of(by) * row));
    LLVMValueRef times = LLVMConstInt(LLVMTypeOf(step), row, false);
    LLVMValueRef distance = LLVMBuildMul(widen->builder, step, times, "");
    if (LLVMGetTypeKind(LLVMTypeOf(first)) == LLVMPointerTypeKind)
        return LLVMBuildGEP2(widen->builder, widen->i8, first, &distance, 1, "");
    return LLVMBuildAdd(widen->builder, first, distance, "");
}

enum tr_growth tr_tuning_growth(const struct tr_widen *widen, LLVMValueRef operand,
                                bool is_in_signed_order)
{
    struct tr_move step = step_of(widen, operand);
    if (step.by == NULL)
        return TR_ROWS_DIFFER;
    if (tr_is_no_move(&step))
        return TR_ROWS_SHARE;
    bool is_up = is_in_signed_order
                     ? step.nsw && tr_is_constant_number(step.by) && tr_constant_of(step.by) > 0
                     : step.nuw;
    return is_up ? TR_ROWS_GROW : TR_ROWS_DIFFER;
}
