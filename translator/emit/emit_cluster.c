/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters: addresses in the shared memory of other blocks, and the barrier of the cluster.
 *
 * Shared memories of a cluster lie at one distance from each other, by rank, so the way to another
 * block's is an addition. One worker runs all blocks: what the barrier releases and acquires only
 * the compiler must keep in order.
 */
#include <stddef.h>

#include "translator/emit/emit.h"

#include "translator/analysis/calls.h"
#include "translator/module/walk.h"

/* ---- addresses ---- */

static LLVMValueRef special_register(struct tr_ctx *ctx, enum ptx_sreg sreg)
{
    struct ptx_operand operand = {.kind = PTX_OPERAND_SREG, .sreg = sreg};
    return tr_operand_value(ctx, &operand, PTX_TYPE_U32);
}

static LLVMValueRef distance_from_own(struct tr_ctx *ctx, LLVMValueRef address)
{
    LLVMValueRef base = LLVMBuildPtrToInt(ctx->builder, tr_shared_base(ctx), ctx->i64, "");
    return LLVMBuildSub(ctx->builder, address, base, "");
}

/* How many ranks behind the thread's own block (i32) the memory belongs to. */
static LLVMValueRef ranks_ahead(struct tr_ctx *ctx, LLVMValueRef distance)
{
    LLVMValueRef shift = LLVMConstInt(LLVMTypeOf(distance), RT_CLUSTER_DISTANCE_LOG2, false);
    return tr_resize(ctx, LLVMBuildAShr(ctx->builder, distance, shift, ""), 32, true);
}

LLVMValueRef tr_is_in_cluster(struct tr_ctx *ctx, LLVMValueRef address)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef distance = distance_from_own(ctx, address);
    /* Far addresses must not seem near. */
    LLVMValueRef ahead =
        LLVMBuildAShr(b, distance, tr_const_int(ctx, 64, RT_CLUSTER_DISTANCE_LOG2), "");
    LLVMValueRef own = tr_block_number(ctx, offsetof(struct rt_block, cluster_rank));
    LLVMValueRef count = tr_launch_number(ctx, offsetof(struct rt_launch, cluster_blocks));
    LLVMValueRef offset = LLVMBuildAnd(
        b, distance, tr_const_int(ctx, 64, (UINT64_C(1) << RT_CLUSTER_DISTANCE_LOG2) - 1), "");
    LLVMValueRef is_block =
        LLVMBuildICmp(b, LLVMIntULT, LLVMBuildAdd(b, own, ahead, ""), count, "");
    LLVMValueRef is_inside = LLVMBuildICmp(
        b, LLVMIntULT, offset, tr_launch_number(ctx, offsetof(struct rt_launch, shared_bytes)), "");
    return LLVMBuildAnd(b, is_block, is_inside, "");
}

/* Of an address of shared memory, or a generic one: the low halves of those tell it, too. */
static LLVMValueRef ranks_ahead_of_operand(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                           LLVMValueRef address)
{
    address = tr_resize(ctx, address, 64, false);
    if (ptx_inst_space(inst) != PTX_SPACE_SHARED)
        address = distance_from_own(ctx, address);
    return ranks_ahead(ctx, tr_resize(ctx, address, 32, false));
}

/* PTX ISA, "getctarank": the rank, within its cluster, of the block that owns an address of shared
 * memory. */
enum pxr_status tr_emit_getctarank(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef address = tr_value(ctx, inst, 1, inst->types[0]);
    LLVMValueRef own = special_register(ctx, PTX_SREG_CLUSTER_CTARANK);
    LLVMValueRef ahead = ranks_ahead_of_operand(ctx, inst, address);
    tr_set(ctx, inst, 0, PTX_TYPE_U32, LLVMBuildAdd(ctx->builder, own, ahead, ""));
    return PXR_OK;
}

LLVMValueRef tr_in_block(struct tr_ctx *ctx, LLVMValueRef pointer, LLVMValueRef rank)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef address = LLVMBuildPtrToInt(b, pointer, ctx->i64, "");
    LLVMValueRef own = special_register(ctx, PTX_SREG_CLUSTER_CTARANK);
    LLVMValueRef further = LLVMBuildSub(b, LLVMBuildSub(b, rank, own, ""),
                                        ranks_ahead(ctx, distance_from_own(ctx, address)), "");
    LLVMValueRef bytes = LLVMBuildShl(b, tr_resize(ctx, further, 64, true),
                                      tr_const_int(ctx, 64, RT_CLUSTER_DISTANCE_LOG2), "");
    return LLVMBuildGEP2(b, ctx->i8, pointer, &bytes, 1, "");
}

/* PTX ISA, "mapa": the address, in the shared memory of the block with this rank, that corresponds
 * to this one. No such block: a fault. */
enum pxr_status tr_emit_mapa(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef address = tr_value(ctx, inst, 1, inst->types[0]);
    LLVMValueRef rank = tr_value(ctx, inst, 2, PTX_TYPE_U32);
    LLVMValueRef count = special_register(ctx, PTX_SREG_CLUSTER_NCTARANK);
    tr_fault_if(ctx, LLVMBuildICmp(b, LLVMIntUGE, rank, count, ""), PXR_FAULT_INSTRUCTION,
                tr_resize(ctx, address, 64, false));
    LLVMValueRef own = special_register(ctx, PTX_SREG_CLUSTER_CTARANK);
    LLVMValueRef further = LLVMBuildSub(b, LLVMBuildSub(b, rank, own, ""),
                                        ranks_ahead_of_operand(ctx, inst, address), "");
    LLVMValueRef bytes =
        LLVMBuildShl(b, further, tr_const_int(ctx, 32, RT_CLUSTER_DISTANCE_LOG2), "");
    bytes = tr_resize(ctx, bytes, ptx_type_bits(inst->types[0]), true);
    tr_set(ctx, inst, 0, inst->types[0], LLVMBuildAdd(b, address, bytes, ""));
    return PXR_OK;
}

/* ---- the barrier ---- */

enum pxr_status tr_emit_cluster_arrive(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)inst;
    tr_race_release(ctx, LLVMConstNull(ctx->ptr), true);
    tr_placeholder(ctx, RT_CALL_CLUSTER_ARRIVE, ctx->thread);
    return PXR_OK;
}

enum pxr_status tr_emit_cluster_wait(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    (void)inst;
    tr_placeholder(ctx, RT_CALL_CLUSTER_WAIT, ctx->thread);
    tr_race_acquire(ctx, LLVMConstNull(ctx->ptr), true);
    return PXR_OK;
}

/* "Marks … arrival … for all the non-exited threads of the cluster": nobody else knows, in loops,
 * that a thread has exited. */
void tr_leave_cluster_barrier(struct tr_ctx *ctx)
{
    const struct rt_placeholder_info *arrive = &rt_placeholders[RT_CALL_CLUSTER_ARRIVE];
    if (LLVMGetNamedFunction(ctx->module, arrive->name) == NULL)
        return;
    tr_call_at_ends(ctx, RT_CALL_CLUSTER_LEAVE);
}
