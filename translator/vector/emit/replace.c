/* SPDX-License-Identifier: Apache-2.0
 *
 * Replacing code by other code.
 */
#include "translator/vector/emit/replace.h"

#include <stddef.h>

void tr_move_phis(LLVMBuilderRef builder, LLVMBasicBlockRef block, LLVMBasicBlockRef from,
                  LLVMBasicBlockRef to)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(block);
    while (inst != NULL && LLVMIsAPHINode(inst) != NULL) {
        LLVMValueRef phi = inst;
        inst = LLVMGetNextInstruction(inst);
        LLVMPositionBuilderBefore(builder, phi);
        LLVMValueRef moved = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            LLVMBasicBlockRef source = LLVMGetIncomingBlock(phi, i);
            if (source == from)
                source = to;
            LLVMAddIncoming(moved, &value, &source, 1);
        }
        LLVMReplaceAllUsesWith(phi, moved);
        LLVMInstructionEraseFromParent(phi);
    }
}

void tr_erase_back(LLVMValueRef last, LLVMValueRef kept)
{
    while (last != kept) {
        LLVMValueRef dead = last;
        last = LLVMGetPreviousInstruction(last);
        if (LLVMGetFirstUse(dead) != NULL)
            LLVMReplaceAllUsesWith(dead, LLVMGetPoison(LLVMTypeOf(dead)));
        LLVMInstructionEraseFromParent(dead);
    }
}
