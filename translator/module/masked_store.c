/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/masked_store.h"

#include <string.h>

#include <llvm-c/Core.h>

bool tr_is_masked_store(LLVMValueRef inst)
{
    static const char prefix[] = "llvm.masked.store.";
    if (LLVMIsACallInst(inst) == NULL)
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    size_t len = 0;
    return LLVMIsAFunction(callee) != NULL &&
           strncmp(LLVMGetValueName2(callee, &len), prefix, sizeof prefix - 1) == 0;
}

int tr_lanes_set(LLVMValueRef mask, unsigned *last)
{
    int count = 0;
    if (LLVMIsAConstant(mask) == NULL)
        return -1;
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(mask)); i++) {
        LLVMValueRef bit = LLVMGetAggregateElement(mask, i);
        if (bit == NULL || LLVMIsAConstantInt(bit) == NULL)
            return -1;
        if (LLVMConstIntGetZExtValue(bit) == 0)
            continue;
        *last = i;
        count++;
    }
    return count;
}
