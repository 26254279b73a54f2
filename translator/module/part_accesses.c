/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM's code generator compares each store of a block with each that it could be put together
 * with, and begins again when it has merged two: time that grows with the cube of their number, 15
 * seconds for 256 of them. It looks for candidates between two things that order memory only, so
 * that a fence of the compiler, which is no instruction, after so many stores makes it linear.
 */
#include <llvm-c/Core.h>

#include "translator/module/masked_store.h"
#include "translator/module/module_steps.h"

/* Stores in a row. Hardly any kernel has more, and these take as long as what computes the values.
 */
#define MOST_STORES 64

/* Masked stores of few lanes become stores of these. */
static unsigned count_stores(LLVMValueRef inst)
{
    unsigned last;
    if (LLVMIsAStoreInst(inst) != NULL)
        return 1;
    if (!tr_is_masked_store(inst))
        return 0;
    LLVMValueRef mask = LLVMGetOperand(inst, TR_MASKED_STORE_MASK);
    int lanes = tr_lanes_set(mask, &last);
    bool is_part = lanes > 0 && (unsigned)lanes < LLVMGetVectorSize(LLVMTypeOf(mask));
    return is_part ? (unsigned)lanes : 1;
}

static void part_block(LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
    unsigned stores = 0;
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        unsigned count = count_stores(inst);
        stores += count;
        if (count == 0 || stores <= MOST_STORES)
            continue;
        LLVMPositionBuilderBefore(builder, inst);
        LLVMBuildFence(builder, LLVMAtomicOrderingAcquireRelease, true, "");
        stores = count;
    }
}

void tr_part_stores(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            part_block(builder, block);
    LLVMDisposeBuilder(builder);
}
