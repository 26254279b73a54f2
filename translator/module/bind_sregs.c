/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers: calls of placeholders become loads from struct rt_thread.
 */
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/module/link_rt.h"
#include "translator/module/marks.h"

/* What precise.c reads is constant while a thread runs. */
static void mark_loads_invariant(LLVMValueRef function)
{
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
    for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef inst = LLVMGetFirstInstruction(block);
        for (; inst != NULL; inst = LLVMGetNextInstruction(inst))
            if (LLVMIsALoadInst(inst) != NULL)
                tr_mark_invariant(inst);
    }
}

static bool is_sreg_definition(LLVMValueRef function)
{
    static const char prefix[] = "rt_sreg_";
    size_t len = 0;
    const char *name = LLVMGetValueName2(function, &len);
    return !LLVMIsDeclaration(function) && len >= sizeof prefix - 1 &&
           memcmp(name, prefix, sizeof prefix - 1) == 0;
}

/* %ctaid and %clusterid: the same while a block runs. */
static bool is_of_block(LLVMValueRef function)
{
    size_t len = 0;
    const char *name = LLVMGetValueName2(function, &len);
    return strncmp(name, "rt_sreg_ctaid", 13) == 0 || strncmp(name, "rt_sreg_clusterid", 17) == 0;
}

enum pxr_status tr_bind_sregs(LLVMModuleRef module, bool runs_many_blocks, struct pxr_error *err)
{
    enum pxr_status status = tr_link_rt(module, true, err);
    if (status != PXR_OK)
        return status;
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL; function = LLVMGetNextFunction(function))
        if (is_sreg_definition(function) && !(runs_many_blocks && is_of_block(function)))
            mark_loads_invariant(function);
    return PXR_OK;
}
