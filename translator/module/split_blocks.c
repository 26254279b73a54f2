/* SPDX-License-Identifier: Apache-2.0 */
#include <llvm-c/Core.h>

#include "translator/module/module.h"

#define BLOCK_INSTRUCTIONS 200

/* Who leads to the block leads to the other instead. */
static void redirect(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(from));
    while (use != NULL) {
        LLVMValueRef end = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        if (LLVMIsATerminatorInst(end) == NULL)
            continue;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
            if (LLVMGetSuccessor(end, i) == from)
                LLVMSetSuccessor(end, i, to);
        use = LLVMGetFirstUse(LLVMBasicBlockAsValue(from));
    }
}

/* The first instructions move into a block of their own, so that the rest with the branch is still
 * what phis elsewhere know. Returns whether there are more left than a block may have. */
static bool split_off(LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(block);
    LLVMValueRef ahead = inst;
    for (unsigned i = 0; ahead != NULL && i < BLOCK_INSTRUCTIONS; i++)
        ahead = LLVMGetNextInstruction(ahead);
    if (ahead == NULL)
        return false;
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    LLVMBasicBlockRef first = LLVMInsertBasicBlockInContext(llvm, block, "");
    redirect(block, first);
    LLVMPositionBuilderAtEnd(builder, first);
    for (unsigned i = 0; LLVMGetInstructionOpcode(inst) == LLVMPHI || i < BLOCK_INSTRUCTIONS; i++) {
        LLVMValueRef moved = inst;
        inst = LLVMGetNextInstruction(inst);
        if (inst == NULL)
            break;
        LLVMInstructionRemoveFromParent(moved);
        LLVMInsertIntoBuilder(builder, moved);
    }
    LLVMBuildBr(builder, block);
    return true;
}

void tr_split_blocks(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            while (split_off(builder, block))
                ;
    LLVMDisposeBuilder(builder);
}
