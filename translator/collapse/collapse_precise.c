/* SPDX-License-Identifier: Apache-2.0
 *
 * Collapse `precise`: every CUDA thread runs the module as it is, on a stack of its own. Special
 * registers become loads from struct rt_thread; the meeting points (barriers, warp operations,
 * exit, faults) stay calls, which the loader binds to the definitions in scheduler/.
 */
#include "translator/collapse/collapsing.h"
#include "translator/collapse/interleave.h"
#include "translator/collapse/prepare.h"

/* In programs that wait, lanes gather, as in the other collapses. */
static enum pxr_status bind_waits(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    enum pxr_status status = PXR_OK;
    LLVMValueRef function = LLVMGetFirstFunction(collapsing->module);
    for (; function != NULL && status == PXR_OK; function = LLVMGetNextFunction(function))
        if (!LLVMIsDeclaration(function))
            status = tr_bind_waits(function, false, collapsing->options->facts,
                                   &collapsing->waits_again, err);
    return status;
}

enum pxr_status tr_keep_threads(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    tr_interleave_alone(collapsing->function);
    LLVMDeleteFunction(LLVMGetNamedFunction(collapsing->module, TR_STEP_NAME));
    return bind_waits(collapsing, err);
}
