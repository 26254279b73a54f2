/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that begins with a loop over data and adds up what its threads have found by operations
 * of warps would run that loop warp by warp: 32 threads touch little memory side by side. So all
 * threads of the block line up before the first operation of a warp, as if there was a barrier, and
 * what comes before is one loop over the block (a whole region, next_group.c).
 */
#include "translator/collapse/tuning/line_up.h"

#include <llvm-c/DebugInfo.h>

#include "translator/module/declare.h"

/* The only sync point that threads come to first, if it is one of the warp, all come to it, and
 * never again; 0: there is none. */
static uint32_t first_of_all(const struct tr_kernel *kernel)
{
    const struct tr_region *region = &kernel->regions[0];
    uint32_t only = tr_set_next(&region->outcomes, 0);
    if (region->may_exit || tr_set_count(&region->outcomes) != 1 ||
        !tr_is_warp_sync_point(kernel, only))
        return 0;
    return kernel->loops.innermost[tr_sync_segment(kernel, only)] == TR_NONE ? only : 0;
}

static bool begins_with_loop(const struct tr_kernel *kernel)
{
    const struct tr_set *segments = &kernel->regions[0].segments;
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
        if (kernel->loops.innermost[s] != TR_NONE)
            return true;
    return false;
}

static void line_up_before(LLVMModuleRef module, LLVMValueRef call)
{
    LLVMValueRef thread = LLVMGetOperand(call, 0);
    LLVMValueRef function = tr_declare_placeholder(module, RT_CALL_LINE_UP);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    LLVMPositionBuilderBefore(builder, call);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(call));
    LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, &thread, 1, "");
    LLVMDisposeBuilder(builder);
}

enum pxr_status tr_line_up_warps(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    struct tr_kernel kernel;
    if (collapsing->collapse != PXR_COLLAPSE_HIERARCHICAL)
        return PXR_OK;
    enum pxr_status status = tr_kernel_build(&kernel, collapsing->function, TR_SCOPE_WARP,
                                             collapsing->options->facts, err);
    if (status != PXR_OK)
        return status;
    uint32_t first = first_of_all(&kernel);
    if (first != 0 && begins_with_loop(&kernel))
        line_up_before(collapsing->module,
                       kernel.graph.values[kernel.sync_points[first].value].llvm);
    tr_kernel_fini(&kernel);
    return PXR_OK;
}
