/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers in the function of the blocks: a thread's come from the loops around the body,
 * the others are the same for the group, the block or the launch.
 */
#include "translator/collapse/region_loop.h"
#include "translator/module/sregs.h"

static LLVMValueRef lane_of(struct tr_region_build *region)
{
    return LLVMBuildAnd(region->fuse->builder, region->thread,
                        tr_fuse_i32(region->fuse, RT_WARP_SIZE - 1), "lane");
}

/* value << lane, in 64 bits, plus addend, as 32 bits */
static LLVMValueRef lane_mask(struct tr_region_build *region, int64_t value, int64_t addend)
{
    const struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef lane = LLVMBuildZExt(b, lane_of(region), fuse->i64, "");
    LLVMValueRef mask = LLVMBuildShl(b, tr_fuse_i64(fuse, (uint64_t)value), lane, "");
    mask = LLVMBuildAdd(b, mask, tr_fuse_i64(fuse, (uint64_t)addend), "");
    return LLVMBuildTrunc(b, mask, fuse->i32, "");
}

/* A register that depends on the thread; NULL: it does not. */
static LLVMValueRef special_register(struct tr_region_build *region, enum ptx_sreg sreg)
{
    switch (sreg) {
    case PTX_SREG_TID_X:
    case PTX_SREG_TID_Y:
    case PTX_SREG_TID_Z:
        return region->tid[tr_sregs[sreg].axis];
    case PTX_SREG_LANEID:
        return lane_of(region);
    case PTX_SREG_WARPID:
        return LLVMBuildLShr(region->fuse->builder, region->thread, tr_fuse_i32(region->fuse, 5),
                             "");
    case PTX_SREG_LANEMASK_EQ:
        return lane_mask(region, 1, 0);
    case PTX_SREG_LANEMASK_LE:
        return lane_mask(region, 2, -1);
    case PTX_SREG_LANEMASK_LT:
        return lane_mask(region, 1, -1);
    case PTX_SREG_LANEMASK_GE:
        return lane_mask(region, -1, 0);
    case PTX_SREG_LANEMASK_GT:
        return lane_mask(region, -2, 0);
    default:
        return NULL;
    }
}

/* A thread's register may be the same in a warp, and differ in the next. */
bool tr_is_group_register(LLVMValueRef call)
{
    return tr_sregs[tr_sreg_of(call)].scope >= TR_SREG_BLOCK;
}

LLVMValueRef tr_group_register(struct tr_fused *fused, uint32_t value)
{
    struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef inst = fuse->kernel->graph.values[value].llvm;
    const struct tr_sreg_info *sreg = &tr_sregs[tr_sreg_of(inst)];
    if (sreg->quantity == TR_QUANTITY_BLOCK_SIZE)
        return fuse->ntid[sreg->axis];
    if (sreg->quantity == TR_QUANTITY_BLOCK_INDEX)
        return fused->ctaid[sreg->axis];
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
    enum ptx_sreg sreg = tr_sreg_of(region->fuse->kernel->graph.values[value].llvm);
    if (sreg == PTX_SREG_NONE)
        return NULL;
    LLVMValueRef own = special_register(region, sreg);
    return own != NULL ? own : tr_group_register(region->fused, value);
}
