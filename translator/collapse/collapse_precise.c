/* SPDX-License-Identifier: Apache-2.0
 *
 * Collapse `precise`: every CUDA thread runs the module as it is, on a stack of its own. Special
 * registers become loads from struct rt_thread; the meeting points (barriers, warp operations,
 * exit, faults) stay calls, bound by the loader to the definitions in scheduler/.
 */
#include "translator/collapse/prepare.h"
#include "translator/emit/emit.h"

#include <string.h>

#define PRECISE_PASSES "always-inline,function(sroa,early-cse,simplifycfg),globaldce"

/* Programs that wait have their lanes gather, as in the other collapses. */
static enum pxr_status bind_waits(LLVMModuleRef module, struct pxr_error *err)
{
    enum pxr_status status = PXR_OK;
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL && status == PXR_OK; function = LLVMGetNextFunction(function))
        if (!LLVMIsDeclaration(function))
            status = tr_bind_waits(function, false, err);
    return status;
}

enum pxr_status tr_collapse_precise(LLVMModuleRef module, enum tr_effort effort,
                                    struct pxr_error *err)
{
    LLVMDeleteFunction(LLVMGetNamedFunction(module, TR_STEP_NAME));
    enum pxr_status status = bind_waits(module, err);
    if (status == PXR_OK)
        status = tr_bind_sregs(module, false, err);
    if (status == PXR_OK && effort == TR_EFFORT_LINEAR)
        return tr_inline_tiny(module, err);
    return status == PXR_OK ? tr_run_passes(module, PRECISE_PASSES, NULL, err) : status;
}
