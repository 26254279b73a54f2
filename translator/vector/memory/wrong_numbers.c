/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of numbers (rt_number): whether any lane has something to say. Then each lane asks alone.
 */
#include "translator/vector/memory/load_store.h"

#include "translator/analysis/calls.h"
#include "translator/module/checks.h"

bool tr_memory_is_number_check(LLVMValueRef inst)
{
    return tr_placeholder_of(inst) == RT_CALL_NUMBER;
}

/* i1: some active lane of the copy has. */
static LLVMValueRef is_wrong_in_copy(struct tr_widen *widen, LLVMValueRef is_wrong, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
    if (tr_widen_shape(widen, is_wrong).kind != TR_VARYING) {
        LLVMValueRef scalar = tr_widen_scalar(widen, is_wrong, copy);
        return LLVMBuildICmp(b, LLVMIntNE, scalar, LLVMConstNull(LLVMTypeOf(scalar)), "");
    }
    LLVMValueRef lanes = tr_widen_vector(widen, is_wrong, copy);
    lanes = LLVMBuildICmp(b, LLVMIntNE, lanes, LLVMConstNull(LLVMTypeOf(lanes)), "");
    LLVMValueRef mask = widen->active.mask[copy];
    return tr_widen_any(widen, mask == NULL ? LLVMBuildFreeze(b, lanes, "")
                                            : tr_widen_mask_and(widen, mask, lanes));
}

void tr_memory_check_number(struct tr_widen *widen, uint32_t value)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef inst = widen->iteration->graph.values[value].llvm;
    LLVMValueRef is_wrong = LLVMGetOperand(inst, TR_NUMBER_IS_WRONG);
    LLVMValueRef any = LLVMConstNull(widen->i1);
    for (uint32_t c = 0; c < widen->copies; c++)
        any = LLVMBuildOr(b, any, is_wrong_in_copy(widen, is_wrong, c), "");
    LLVMBasicBlockRef alone = tr_widen_new_block(widen, "wrong");
    LLVMBasicBlockRef behind = tr_widen_new_block(widen, "fine");
    LLVMBuildCondBr(b, LLVMBuildFreeze(b, any, ""), alone, behind);
    LLVMPositionBuilderAtEnd(b, alone);
    tr_memory_serial(widen, value);
    LLVMBuildBr(b, behind);
    LLVMPositionBuilderAtEnd(b, behind);
}
