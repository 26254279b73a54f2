/* SPDX-License-Identifier: Apache-2.0
 *
 * Emits any instruction of an iteration: as it is if its result is a scalar for all lanes,
 * otherwise as a vector instruction, or lane by lane if there is none.
 *
 * The scalar of an affine value is its value in lane 0. Where lane 0 may not be active, the scalar
 * is the value that the active lanes imply for it: most instructions give it when they are executed
 * with the operands of lane 0 (modulo the width, sums and products do not mind where they begin);
 * others, such as sign extension, are executed for the first active lane.
 */
#include <llvm-c/DebugInfo.h>

#include "translator/module/marks.h"
#include "translator/vector/control.h"
#include "translator/vector/emit/form.h"
#include "translator/vector/tuning/tuning.h"

static LLVMValueRef instruction(const struct tr_widen *widen, uint32_t value)
{
    return widen->iteration->graph.values[value].llvm;
}

static bool is_strided(struct tr_shape shape)
{
    return shape.kind == TR_AFFINE && shape.stride != 0;
}

/* ---- lane 0 ---- */

/* Lane 0 is active at the beginning of an iteration, until a branch parts the lanes. */
static bool is_lane_0_active(const struct tr_widen *widen, uint32_t segment)
{
    const struct tr_iteration *iteration = widen->iteration;
    if (widen->active.mask[0] == NULL)
        return true;
    for (uint32_t l = iteration->loops.innermost[segment]; l != TR_NONE;
         l = iteration->loops.loops[l].parent)
        if (iteration->is_divergent_loop[l])
            return false;
    for (uint32_t s = segment; s != TR_NONE; s = iteration->units[s].anchor)
        if (iteration->units[s].kind == TR_UNIT_MASKED)
            return false;
    return true;
}

/* ---- copies of the scalar instruction ---- */

/* lane: the i32 number of the lane whose operands to use; NULL: 0. */
static LLVMValueRef clone(struct tr_widen *widen, uint32_t value, uint32_t copy, LLVMValueRef lane)
{
    const struct tr_value *inst = &widen->iteration->graph.values[value];
    LLVMValueRef result = LLVMInstructionClone(inst->llvm);
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        LLVMValueRef operand = LLVMGetOperand(inst->llvm, i);
        if (inst->operands[i] != TR_NONE)
            LLVMSetOperand(result, i,
                           lane == NULL ? tr_widen_scalar(widen, operand, copy)
                                        : tr_widen_lane(widen, operand, copy, lane));
    }
    size_t len = 0;
    LLVMInsertIntoBuilderWithName(widen->builder, result, LLVMGetValueName2(inst->llvm, &len));
    tr_unmark(result, TR_MARK_GROUP_PLACE);
    return result;
}

/* i1: whether any lane of the copies that share the value at this copy is active. */
static LLVMValueRef is_any_active(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    return tr_widen_any(widen, tr_widen_mask_for(widen, value, copy));
}

/* Without active lanes the divisor may be anything. */
static LLVMValueRef divide(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    LLVMValueRef any = is_any_active(widen, value, copy);
    LLVMValueRef divisor = tr_widen_scalar(widen, LLVMGetOperand(inst, 1), copy);
    divisor = LLVMBuildSelect(widen->builder, any, divisor, tr_widen_one(LLVMTypeOf(divisor)), "");
    return LLVMBuildBinOp(widen->builder, LLVMGetInstructionOpcode(inst),
                          tr_widen_scalar(widen, LLVMGetOperand(inst, 0), copy), divisor, "");
}

/* Calls a function that may do anything, say divide: not with operands that no lane has
 * provided. */
static LLVMValueRef call_if_any(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
    LLVMBasicBlockRef from[2] = {LLVMGetInsertBlock(b), tr_widen_new_block(widen, "call")};
    LLVMBasicBlockRef behind = tr_widen_new_block(widen, "called");
    LLVMBuildCondBr(b, is_any_active(widen, value, copy), from[1], behind);
    LLVMPositionBuilderAtEnd(b, from[1]);
    LLVMValueRef call = clone(widen, value, copy, NULL);
    LLVMValueRef results[2] = {LLVMGetPoison(LLVMTypeOf(call)), call};
    LLVMBuildBr(b, behind);
    LLVMPositionBuilderAtEnd(b, behind);
    LLVMValueRef result = LLVMBuildPhi(b, LLVMTypeOf(call), "");
    LLVMAddIncoming(result, results, from, 2);
    return result;
}

static bool is_intrinsic(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) != NULL && LLVMGetIntrinsicID(callee) != 0;
}

/* Emits a uniform instruction: if no lane is active nothing is known of its operands. */
static LLVMValueRef common(struct tr_widen *widen, uint32_t value, uint32_t copy, bool is_certain)
{
    LLVMValueRef inst = instruction(widen, value);
    if (!is_certain && tr_is_integer_division(inst) && !tr_is_safe_divisor(inst))
        return divide(widen, value, copy);
    if (!is_certain && LLVMIsACallInst(inst) != NULL && !is_intrinsic(inst))
        return call_if_any(widen, value, copy);
    return clone(widen, value, copy, NULL);
}

/* ---- affine values ---- */

/* Emits a lane's scalar, from which those of the other lanes follow even if it is poison and nobody
 * uses it. So it loses its flags: they may be true in other lanes only, as may be that no bits are
 * common or that nothing is negative (the lanes before the one with 0 are negative). */
static LLVMValueRef seed_of_lanes(struct tr_widen *widen, uint32_t value, uint32_t copy,
                                  LLVMValueRef lane)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef result = clone(widen, value, copy, lane);
    LLVMValueRef from = LLVMGetOperand(result, 0);
    LLVMValueRef other = NULL;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(result);
    if (opcode == LLVMOr)
        other = LLVMBuildAdd(b, from, LLVMGetOperand(result, 1), "");
    else if (opcode == LLVMZExt && LLVMGetNNeg(result) &&
             widen->iteration->shapes.values[value].stride > 0)
        other = LLVMBuildSExt(b, from, LLVMTypeOf(result), "");
    tr_forget_flags(result);
    if (other == NULL)
        return result;
    LLVMInstructionEraseFromParent(result);
    return other;
}

/* ---- … where lane 0 may not be active ---- */

static bool has_narrow_index(const struct tr_widen *widen, LLVMValueRef gep)
{
    for (int i = 1; i < LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        if (is_strided(tr_widen_shape(widen, index)) && LLVMGetIntTypeWidth(LLVMTypeOf(index)) < 64)
            return true;
    }
    return false;
}

/* Whether the instruction gives lane 0's value from lane 0's operands even if these have
 * wrapped. */
static bool is_modular(const struct tr_widen *widen, LLVMValueRef inst)
{
    LLVMIntPredicate predicate = LLVMIntEQ;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMZExt:
    case LLVMSExt:
        return false;
    case LLVMICmp:
        predicate = LLVMGetICmpPredicate(inst);
        return predicate == LLVMIntEQ || predicate == LLVMIntNE;
    case LLVMGetElementPtr:
        return !has_narrow_index(widen, inst);
    default:
        return true;
    }
}

/* Copies along the row share results without a stride: then the first lane of all copies counts. */
static LLVMValueRef from_first_active(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    int64_t stride = widen->iteration->shapes.values[value].stride;
    LLVMValueRef result = NULL;
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (tr_widen_holder(widen, value, c) != copy)
            continue;
        LLVMValueRef mask = widen->active.mask[c];
        LLVMValueRef lane = tr_memory_first_lane(widen, mask);
        LLVMValueRef here = seed_of_lanes(widen, value, c, lane);
        if (stride != 0)
            here = tr_widen_move(widen, here, (int64_t)(0 - (uint64_t)stride), lane);
        result = result == NULL
                     ? here
                     : LLVMBuildSelect(widen->builder, tr_widen_any(widen, mask), here, result, "");
    }
    return result;
}

/* ---- scalars ---- */

static bool has_strided_operand(const struct tr_widen *widen, LLVMValueRef inst)
{
    for (int i = 0; i < LLVMGetNumOperands(inst); i++)
        if (is_strided(tr_widen_shape(widen, LLVMGetOperand(inst, (unsigned)i))))
            return true;
    return false;
}

static LLVMValueRef scalar(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    struct tr_shape shape = widen->iteration->shapes.values[value];
    uint32_t column = copy % widen->jam[0];
    bool is_certain = is_lane_0_active(widen, widen->iteration->graph.values[value].segment);
    /* Of the instructions with a form, only select has a condition that may vary. */
    if (LLVMIsASelectInst(inst) != NULL && LLVMGetOperand(inst, 1) == LLVMGetOperand(inst, 2))
        return tr_widen_scalar(widen, LLVMGetOperand(inst, 1), copy);
    if (!has_strided_operand(widen, inst))
        return common(widen, value, copy, is_certain);
    if (!is_certain && !is_modular(widen, inst))
        return from_first_active(widen, value, copy);
    if (column > 0 && is_certain) {
        LLVMValueRef first = widen->now[value * widen->copies + copy - column];
        uint64_t distance = (uint64_t)shape.stride * widen->width * column;
        return tr_widen_offset(widen, first, (int64_t)distance);
    }
    return seed_of_lanes(widen, value, copy, NULL);
}

/* ---- instructions without a result ---- */

/* A hint about all lanes can be given once; where some are not active it may not be true. */
static void hint(struct tr_widen *widen, uint32_t value)
{
    const struct tr_value *inst = &widen->iteration->graph.values[value];
    if (widen->active.mask[0] != NULL || !tr_is_assumption(inst->llvm))
        return;
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (tr_widen_shape(widen, LLVMGetOperand(inst->llvm, i)).kind != TR_UNIFORM)
            return;
    clone(widen, value, 0, NULL);
}

/* ---- groups of lanes (plan/groups.h) ---- */

/* The operand in the first active lane of all copies. */
static LLVMValueRef of_first_lane(struct tr_widen *widen, LLVMValueRef operand)
{
    LLVMValueRef result = NULL;
    for (uint32_t c = widen->copies; c-- > 0;) {
        LLVMValueRef mask = widen->active.mask[c];
        LLVMValueRef lane =
            mask == NULL ? LLVMConstInt(widen->i32, 0, false) : tr_memory_first_lane(widen, mask);
        LLVMValueRef here = tr_widen_lane(widen, operand, c, lane);
        result = result == NULL || mask == NULL
                     ? here
                     : LLVMBuildSelect(widen->builder, tr_widen_any(widen, mask), here, result, "");
    }
    return result;
}

/* What makes groups; NULL: it has nothing to do with them. Where there are none, each lane is the
 * first of its own, and all are together. */
static LLVMValueRef in_groups(struct tr_widen *widen, uint32_t value)
{
    LLVMValueRef inst = instruction(widen, value);
    bool has_groups = widen->iteration->has_groups;
    if (has_groups && tr_is_marked(inst, TR_MARK_GROUP_PLACE))
        return of_first_lane(widen, LLVMGetOperand(inst, 0));
    if (!has_groups && tr_is_marked(inst, TR_MARK_GROUP))
        return LLVMConstInt(widen->i1, 1, false);
    return NULL;
}

/* ---- any instruction ---- */

bool tr_has_vector_form(const struct tr_iteration *iteration, uint32_t value)
{
    LLVMValueRef inst = iteration->graph.values[value].llvm;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
    case LLVMStore:
        return !tr_plan_is_ordered(inst);
    case LLVMFence: /* orders what all lanes have done before */
        return true;
    case LLVMCall:
        if (tr_is_hint(inst) || tr_memory_is_check(inst) || tr_memory_is_number_check(inst) ||
            tr_memory_is_race_check(iteration, inst))
            return true;
        break;
    default:
        break;
    }
    bool has_result = LLVMGetTypeKind(LLVMTypeOf(inst)) != LLVMVoidTypeKind;
    bool is_scalar = has_result && iteration->shapes.values[value].kind != TR_VARYING;
    return is_scalar || tr_has_form(inst);
}

static void define(struct tr_widen *widen, uint32_t value)
{
    bool is_varying = widen->iteration->shapes.values[value].kind == TR_VARYING;
    LLVMValueRef of_groups = in_groups(widen, value);
    if (of_groups != NULL) {
        tr_widen_define(widen, value, 0, of_groups);
        return;
    }
    bool has_step = widen->tuning->find_step != NULL && widen->tuning->find_step(widen, value);
    for (uint32_t copy = 0; copy < widen->copies; copy++) {
        if (tr_widen_holder(widen, value, copy) != copy)
            continue;
        LLVMValueRef result = NULL;
        if (has_step && copy >= widen->jam[0])
            result = tr_tuning_in_row(widen, value, copy);
        else
            result = is_varying ? tr_widen_form(widen, value, copy) : scalar(widen, value, copy);
        if (has_step && copy == 0)
            result = tr_tuning_begin_rows(widen, value, result);
        tr_widen_define(widen, value, copy, result);
    }
}

void tr_control_instruction(struct tr_widen *widen, uint32_t value)
{
    LLVMValueRef inst = instruction(widen, value);
    LLVMSetCurrentDebugLocation2(widen->builder, LLVMInstructionGetDebugLoc(inst));
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMLoad || opcode == LLVMStore)
        tr_memory_access(widen, value);
    else if (opcode == LLVMFence)
        clone(widen, value, 0, NULL);
    else if (opcode == LLVMCall && tr_is_hint(inst))
        hint(widen, value);
    else if (tr_memory_is_check(inst))
        tr_memory_check(widen, value);
    else if (tr_memory_is_number_check(inst))
        tr_memory_check_number(widen, value);
    else if (tr_memory_is_race_check(widen->iteration, inst))
        tr_memory_tell_races(widen, value);
    else if (!tr_has_vector_form(widen->iteration, value))
        tr_memory_serial(widen, value);
    else
        define(widen, value);
}
