/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include <llvm-c/Core.h>

#include "translator/module/budget.h"
#include "translator/module/link_rt.h"
#include "translator/module/passes.h"

/* Helpers of one block with so many instructions are inlined: a call would take as many. */
#define TINY_HELPER 8

bool tr_is_always_inline(LLVMValueRef function)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       kind) != NULL;
}

static bool is_tiny(LLVMValueRef function)
{
    return LLVMCountBasicBlocks(function) == 1 && tr_instruction_count(function) <= TINY_HELPER;
}

static void keep_helpers(LLVMModuleRef module)
{
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && tr_is_always_inline(f) && !is_tiny(f))
            LLVMRemoveEnumAttributeAtIndex(f, index, always);
}

enum pxr_status tr_inline_tiny(LLVMModuleRef module, struct pxr_error *err)
{
    keep_helpers(module);
    return tr_run_passes(module, "always-inline,globaldce", NULL, err);
}
