/* SPDX-License-Identifier: Apache-2.0
 *
 * Collapse `precise`: every CUDA thread runs the module as it is, on a stack of its own. Special
 * registers become loads from struct rt_thread; the meeting points (barriers, warp operations,
 * exit, faults) stay calls, bound by the loader to the definitions in scheduler/.
 */
#include "translator/collapse/prepare.h"
#include "translator/emit.h"

#include <string.h>

#define PRECISE_PASSES "always-inline,function(sroa,early-cse,simplifycfg),globaldce"

/* What precise.c reads is constant while a thread runs. */
static void mark_loads_invariant(LLVMModuleRef module, LLVMValueRef function)
{
    struct tr_ctx ctx = {.llvm = LLVMGetModuleContext(module)};
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
    for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef inst = LLVMGetFirstInstruction(block);
        for (; inst != NULL; inst = LLVMGetNextInstruction(inst))
            if (LLVMIsALoadInst(inst) != NULL)
                tr_mark_invariant(&ctx, inst);
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
            mark_loads_invariant(module, function);
    return PXR_OK;
}

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
