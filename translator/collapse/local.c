/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds a thread's local arrays: in a piece of memory of its own, or element after element with
 * those of the other threads.
 */
#include <string.h>

#include <llvm-c/Target.h>

#include "translator/collapse/fuse.h"
#include "translator/collapse/interleave.h"

/* The number of threads with interleaved elements: the block's, or the warp's, whichever the loops
 * run over. */
static LLVMValueRef pitch(const struct tr_fuse *fuse, uint32_t unit)
{
    if (fuse->kernel->scope == TR_SCOPE_WARP)
        return tr_fuse_i64(fuse, RT_WARP_SIZE);
    return LLVMBuildNUWAdd(fuse->builder, fuse->padded_count,
                           tr_fuse_i64(fuse, TR_PITCH_GAP_BYTES / unit), "pitch");
}

LLVMValueRef tr_fuse_pitch(const struct tr_fuse *fuse, uint32_t value)
{
    uint32_t unit = tr_read_pitch_unit(fuse->kernel->graph.values[value].llvm);
    return unit == 0 ? NULL : pitch(fuse, unit);
}

/* A warp's arrays are for 32 threads and lie one behind the other. */
static LLVMValueRef interleaved(const struct tr_fuse *fuse, uint32_t value,
                                struct tr_local_place place)
{
    LLVMValueRef alloca = fuse->kernel->graph.values[value].llvm;
    LLVMTargetDataRef target = LLVMGetModuleDataLayout(fuse->module);
    LLVMValueRef base = tr_fuse_thread_array(fuse, fuse->frame.local_offset[value]);
    base = tr_fuse_offset(fuse, base, fuse->frame.local_gap[value]);
    if (fuse->kernel->scope == TR_SCOPE_WARP)
        base = tr_fuse_scaled(fuse, base, place.group,
                              RT_WARP_SIZE * tr_interleaved_bytes(target, alloca));
    return tr_fuse_scaled(fuse, base, place.index, tr_interleaved_unit(alloca));
}

LLVMValueRef tr_fuse_local(const struct tr_fuse *fuse, uint32_t value, struct tr_local_place place)
{
    if (tr_interleaved_unit(fuse->kernel->graph.values[value].llvm) != 0)
        return interleaved(fuse, value, place);
    LLVMValueRef base = tr_fuse_thread_array(fuse, fuse->frame.local);
    base = tr_fuse_scaled(fuse, base, place.thread, fuse->frame.local_bytes);
    return tr_fuse_offset(fuse, base, fuse->frame.local_offset[value]);
}
