/* SPDX-License-Identifier: Apache-2.0
 *
 * Quick code asks between blocks, and between the threads or warps of a block, whether other code
 * is to go on (rt_block.hand_over): it says where, and returns. A block with barriers cannot be
 * handed over: its threads are in the middle of their way at all times but its beginning and its
 * end. One without loops is over soon.
 */
#include "translator/collapse/region_loop.h"

#include <stddef.h>

/* Threads end where the loop over the block's threads or warps does, which is the only one. */
static bool ends_in_turn(const struct tr_kernel *kernel)
{
    for (uint32_t j = 1; j < kernel->sync_count; j++)
        if (!tr_is_warp_sync_point(kernel, j))
            return false;
    return true;
}

static bool calls_code(const struct tr_value *value)
{
    LLVMValueRef callee = value->opcode == LLVMCall ? LLVMGetCalledValue(value->llvm) : NULL;
    return callee != NULL && (LLVMIsAFunction(callee) == NULL || !LLVMIsDeclaration(callee));
}

/* Whether a thread may take long. */
static bool may_last(const struct tr_kernel *kernel)
{
    for (uint32_t v = 0; v < kernel->graph.value_count; v++)
        if (calls_code(&kernel->graph.values[v]))
            return true;
    return kernel->loops.count > 0;
}

enum rt_hand_over tr_what_is_handed_over(const struct tr_kernel *kernel)
{
    return ends_in_turn(kernel) && may_last(kernel) ? RT_HAND_OVER_THREADS : RT_HAND_OVER_BLOCKS;
}

static LLVMValueRef field(const struct tr_fuse *fuse, size_t offset)
{
    return tr_fuse_offset(fuse, fuse->block, offset);
}

static void write_field(const struct tr_fuse *fuse, size_t offset, LLVMValueRef value)
{
    LLVMBuildStore(fuse->builder, value, field(fuse, offset));
}

void tr_build_hand_over(const struct tr_fused *fused, enum rt_hand_over least,
                        LLVMValueRef first_thread, LLVMValueRef blocks_left)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    if (fuse->hands_over < least)
        return;
    LLVMBasicBlockRef leave = tr_fuse_new_block(fuse, "hand_over");
    LLVMBasicBlockRef stay = tr_fuse_new_block(fuse, "stay");
    LLVMValueRef wanted = LLVMBuildLoad2(b, fuse->i32, fused->hand_over, "wanted");
    LLVMSetVolatile(wanted, true);
    LLVMValueRef is_wanted =
        LLVMBuildICmp(b, LLVMIntUGE, wanted, tr_fuse_i32(fuse, (uint32_t)least), "");
    LLVMBuildCondBr(b, is_wanted, leave, stay);
    LLVMPositionBuilderAtEnd(b, leave);
    write_field(fuse, offsetof(struct rt_block, first_thread), first_thread);
    write_field(fuse, offsetof(struct rt_block, blocks_left), blocks_left);
    LLVMBuildRetVoid(b);
    LLVMPositionBuilderAtEnd(b, stay);
}
