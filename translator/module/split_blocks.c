/* SPDX-License-Identifier: Apache-2.0 */
#include <llvm-c/Core.h>

#include "translator/module/module_steps.h"

#define BLOCK_INSTRUCTIONS 200

/* Makes the predecessors of one block lead to the other. */
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

static bool has_fixed_size(LLVMValueRef inst)
{
    return LLVMIsAAllocaInst(inst) != NULL && LLVMIsConstant(LLVMGetOperand(inst, 0));
}

/* For code generators an alloca is part of the frame only in a function's first block; elsewhere it
 * grows the stack each time, and nobody knows by how much. */
static void put_allocas_first(LLVMBuilderRef builder, LLVMBasicBlockRef entry)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(entry);
    while (inst != NULL && has_fixed_size(inst))
        inst = LLVMGetNextInstruction(inst);
    if (inst == NULL)
        return;
    LLVMPositionBuilderBefore(builder, inst);
    while (inst != NULL) {
        LLVMValueRef next = LLVMGetNextInstruction(inst);
        if (has_fixed_size(inst)) {
            LLVMInstructionRemoveFromParent(inst);
            LLVMInsertIntoBuilder(builder, inst);
        }
        inst = next;
    }
}

/* The instruction before which a block is split; NULL: it is short enough. Allocas of the frame and
 * phis stay together. */
static LLVMValueRef find_split(LLVMBasicBlockRef block)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(block);
    for (unsigned i = 0; inst != NULL && i < BLOCK_INSTRUCTIONS;
         inst = LLVMGetNextInstruction(inst))
        i += !has_fixed_size(inst) && LLVMIsAPHINode(inst) == NULL;
    return inst != NULL && LLVMGetNextInstruction(inst) != NULL ? inst : NULL;
}

/* Moves the first instructions into a block of their own, so that the rest with the branch stays
 * the block that phis elsewhere name. Returns whether the block was too long. */
static bool split_off(LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
    LLVMValueRef rest = find_split(block);
    if (rest == NULL)
        return false;
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    LLVMBasicBlockRef first = LLVMInsertBasicBlockInContext(llvm, block, "");
    redirect(block, first);
    LLVMPositionBuilderAtEnd(builder, first);
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != rest;
         inst = LLVMGetFirstInstruction(block)) {
        LLVMInstructionRemoveFromParent(inst);
        LLVMInsertIntoBuilder(builder, inst);
    }
    LLVMBuildBr(builder, block);
    return true;
}

void tr_split_blocks(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f))
            put_allocas_first(builder, LLVMGetEntryBasicBlock(f));
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            while (split_off(builder, block))
                ;
    }
    LLVMDisposeBuilder(builder);
}
