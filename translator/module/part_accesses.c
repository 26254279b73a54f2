/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM's code generator compares each store of a block with each that it could be put together
 * with, and begins again when it has merged two: time that grows with the cube of their number, 15
 * seconds for 256 of them. For each load of 16 or 32 bytes, whenever it looks at it, the one for
 * x86-64 looks at all loads that are ordered behind the same thing: 9 seconds for a thousand. A
 * fence of the compiler, which is no instruction, after so many in a row makes either linear.
 */
#include <llvm-c/Core.h>

#include "translator/module/masked_store.h"
#include "translator/module/module_steps.h"

/* In a row. Hardly any kernel has more, and so many take as long as what computes the values, or
 * what is done with them. */
#define MOST_STORES 64
#define MOST_LOADS  128

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

static bool is_vector_load(LLVMValueRef inst)
{
    return LLVMIsALoadInst(inst) != NULL && LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMVectorTypeKind;
}

static void part_block(LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
    unsigned stores = 0;
    unsigned loads = 0; /* since the last store */
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        unsigned count = count_stores(inst);
        bool is_load = is_vector_load(inst);
        stores += count;
        loads = count > 0 ? 0 : loads + is_load;
        if ((count == 0 || stores <= MOST_STORES) && loads <= MOST_LOADS)
            continue;
        LLVMPositionBuilderBefore(builder, inst);
        LLVMBuildFence(builder, LLVMAtomicOrderingAcquireRelease, true, "");
        stores = count;
        loads = is_load;
    }
}

void tr_part_accesses(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            part_block(builder, block);
    LLVMDisposeBuilder(builder);
}
