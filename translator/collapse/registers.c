/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers in the function of the blocks: those of a thread come from the loops around its
 * turn, the others are the same for the group, the block or the launch.
 */
#include <string.h>

#include "translator/collapse/region_loop.h"

#define REGISTER_PREFIX "rt_sreg_"

static LLVMValueRef lane_of(struct tr_region_build *region)
{
    return LLVMBuildAnd(region->fuse->builder, region->thread,
                        tr_f_i32(region->fuse, RT_WARP_SIZE - 1), "lane");
}

/* value << lane, in 64 bits, plus addend, as 32 bits */
static LLVMValueRef lane_mask(struct tr_region_build *region, int64_t value, int64_t addend)
{
    const struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef lane = LLVMBuildZExt(b, lane_of(region), fuse->i64, "");
    LLVMValueRef mask = LLVMBuildShl(b, tr_f_i64(fuse, (uint64_t)value), lane, "");
    mask = LLVMBuildAdd(b, mask, tr_f_i64(fuse, (uint64_t)addend), "");
    return LLVMBuildTrunc(b, mask, fuse->i32, "");
}

static bool is_dimension(const char *name, const char *prefix, int *dimension)
{
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0 || name[len] < 'x' || name[len] > 'z' || name[len + 1])
        return false;
    *dimension = name[len] - 'x';
    return true;
}

/* What depends on the thread; NULL: it does not. */
static LLVMValueRef special_register(struct tr_region_build *region, const char *name)
{
    int d = 0;
    if (is_dimension(name, "tid_", &d))
        return region->tid[d];
    if (strcmp(name, "laneid") == 0)
        return lane_of(region);
    if (strcmp(name, "warpid") == 0)
        return LLVMBuildLShr(region->fuse->builder, region->thread, tr_f_i32(region->fuse, 5), "");
    if (strcmp(name, "lanemask_eq") == 0)
        return lane_mask(region, 1, 0);
    if (strcmp(name, "lanemask_le") == 0)
        return lane_mask(region, 2, -1);
    if (strcmp(name, "lanemask_lt") == 0)
        return lane_mask(region, 1, -1);
    if (strcmp(name, "lanemask_ge") == 0)
        return lane_mask(region, -1, 0);
    if (strcmp(name, "lanemask_gt") == 0)
        return lane_mask(region, -2, 0);
    return NULL;
}

bool tr_is_group_register(LLVMValueRef call)
{
    const char *name = tr_callee_name(call);
    if (strncmp(name, REGISTER_PREFIX, sizeof REGISTER_PREFIX - 1) != 0)
        return false;
    name += sizeof REGISTER_PREFIX - 1;
    /* Those of a thread may be the same in a warp, and others in the next. */
    return strncmp(name, "tid_", 4) != 0 && strncmp(name, "lane", 4) != 0 &&
           strcmp(name, "warpid") != 0;
}

LLVMValueRef tr_group_register(struct tr_fused *fused, uint32_t value)
{
    struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef inst = fuse->kernel->graph.values[value].llvm;
    const char *name = tr_callee_name(inst) + sizeof REGISTER_PREFIX - 1;
    int d = 0;
    if (is_dimension(name, "ntid_", &d))
        return fuse->ntid[d];
    if (is_dimension(name, "ctaid_", &d) || is_dimension(name, "clusterid_", &d))
        return fused->ctaid[d];
    LLVMValueRef call = LLVMInstructionClone(inst);
    LLVMSetOperand(call, 0, fused->threads);
    LLVMInsertIntoBuilder(fuse->builder, call);
    return call;
}

LLVMValueRef tr_first_tid(struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    struct tr_lanes lanes = tr_lanes_now(fused);
    return LLVMBuildURem(fuse->builder, lanes.first, fuse->ntid[0], "");
}

LLVMValueRef tr_read_register(struct tr_region_build *region, uint32_t value)
{
    const char *name = tr_callee_name(region->fuse->kernel->graph.values[value].llvm);
    if (strncmp(name, REGISTER_PREFIX, sizeof REGISTER_PREFIX - 1) != 0)
        return NULL;
    LLVMValueRef own = special_register(region, name + sizeof REGISTER_PREFIX - 1);
    return own != NULL ? own : tr_group_register(region->fused, value);
}
