/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers: calls of placeholders become loads from struct rt_thread.
 */
#include <llvm-c/Core.h>

#include "translator/module/link_rt.h"
#include "translator/module/marks.h"
#include "translator/module/sregs.h"
#include "translator/module/walk.h"

/* precise.c reads only fields that are constant while a thread runs. */
static void mark_loads_invariant(LLVMValueRef function)
{
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (LLVMIsALoadInst(inst) != NULL)
            tr_mark_invariant(inst);
}

/* Whether its definition reads only fields that are constant while the function of the blocks
 * runs. */
static bool reads_constants(LLVMValueRef function, bool runs_many_blocks)
{
    if (LLVMIsDeclaration(function))
        return false;
    enum ptx_sreg sreg = tr_find_sreg(function);
    return sreg != PTX_SREG_NONE && !(runs_many_blocks && tr_sregs[sreg].scope == TR_SREG_BLOCK);
}

enum pxr_status tr_bind_sregs(LLVMModuleRef module, bool runs_many_blocks, struct pxr_error *err)
{
    enum pxr_status status = tr_link_rt(module, true, err);
    if (status != PXR_OK)
        return status;
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL; function = LLVMGetNextFunction(function))
        if (reads_constants(function, runs_many_blocks))
            mark_loads_invariant(function);
    return PXR_OK;
}
