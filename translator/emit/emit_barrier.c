/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers of the block: bar, barrier. All are placeholders; see kernel_abi/rt.h.
 */
#include "translator/emit/emit.h"

/* The second operand, the number of threads; 0 stands for all of the block. */
static LLVMValueRef thread_count(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                                 bool is_present)
{
    return is_present ? tr_value(ctx, inst, index, PTX_TYPE_U32) : tr_const_int(ctx, 32, 0);
}

enum pxr_status tr_emit_bar_sync(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef id = tr_value(ctx, inst, 0, PTX_TYPE_U32);
    LLVMValueRef count = thread_count(ctx, inst, 1, tr_has_operand(inst, 1));
    tr_meet_barrier(ctx, id, count);
    tr_race_arrive(ctx, id, count);
    tr_placeholder(ctx, RT_CALL_BAR_SYNC, ctx->thread, id, count);
    tr_race_leave(ctx, id);
    tr_step_met(ctx, inst);
    return PXR_OK;
}

enum pxr_status tr_emit_bar_arrive(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (ptx_inst_mod(inst, PTX_GROUP_BARMODE) != PTX_MOD_ARRIVE)
        return tr_unsupported(ctx, inst, NULL);
    LLVMValueRef id = tr_value(ctx, inst, 0, PTX_TYPE_U32);
    LLVMValueRef count = tr_value(ctx, inst, 1, PTX_TYPE_U32);
    tr_meet_barrier(ctx, id, count);
    tr_race_arrive(ctx, id, count);
    tr_placeholder(ctx, RT_CALL_BAR_ARRIVE, ctx->thread, id, count);
    return PXR_OK;
}

static bool reduction(enum ptx_mod mod, enum rt_reduce *op)
{
    switch (mod) {
    case PTX_MOD_AND:
        *op = RT_REDUCE_AND;
        return true;
    case PTX_MOD_OR:
        *op = RT_REDUCE_OR;
        return true;
    case PTX_MOD_POPC:
        *op = RT_REDUCE_POPC;
        return true;
    default:
        return false;
    }
}

/* d, a {, b}, {!}c: the predicate is the last operand. */
enum pxr_status tr_emit_bar_red(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum rt_reduce op = RT_REDUCE_AND;
    if (!reduction(ptx_inst_mod(inst, PTX_GROUP_BOOL), &op) || inst->operand_count < 3)
        return tr_unsupported(ctx, inst, NULL);
    LLVMValueRef id = tr_value(ctx, inst, 1, PTX_TYPE_U32);
    LLVMValueRef count = thread_count(ctx, inst, 2, inst->operand_count > 3);
    LLVMValueRef predicate = tr_value(ctx, inst, inst->operand_count - 1, PTX_TYPE_PRED);
    tr_meet_barrier(ctx, id, count);
    tr_race_arrive(ctx, id, count);
    LLVMValueRef result =
        tr_placeholder(ctx, RT_CALL_BAR_RED, ctx->thread, id, count,
                       tr_resize(ctx, predicate, 32, false), tr_const_int(ctx, 32, op));
    tr_race_leave(ctx, id);
    tr_step_met(ctx, inst);
    if (op == RT_REDUCE_POPC) {
        tr_set(ctx, inst, 0, PTX_TYPE_U32, result);
        return PXR_OK;
    }
    result = LLVMBuildICmp(ctx->builder, LLVMIntNE, result, tr_const_int(ctx, 32, 0), "");
    tr_set(ctx, inst, 0, PTX_TYPE_PRED, result);
    return PXR_OK;
}

enum pxr_status tr_emit_bar_warp_sync(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef mask = tr_value(ctx, inst, 0, PTX_TYPE_U32);
    tr_meet_lanes(ctx, RT_CALL_WARP_SYNC, 0, mask);
    tr_placeholder(ctx, RT_CALL_WARP_SYNC, ctx->thread, mask);
    tr_race_lanes(ctx, mask);
    return PXR_OK;
}
