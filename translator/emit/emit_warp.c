/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of a warp: shfl, vote, match, redux, activemask, elect, movmatrix. All are
 * placeholders; see kernel_abi/placeholders.def.
 */
#include "translator/emit/emit.h"

/* Bit 32 of a 64-bit result, where placeholders put a predicate. */
static LLVMValueRef high_bit(struct tr_ctx *ctx, LLVMValueRef pair)
{
    LLVMValueRef high = LLVMBuildLShr(ctx->builder, pair, tr_const_int(ctx, 64, 32), "");
    return LLVMBuildTrunc(ctx->builder, high, ctx->i1, "");
}

/* d|p = result */
static void set_value_and_predicate(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                    LLVMValueRef pair)
{
    tr_set_second(ctx, inst, 0, high_bit(ctx, pair));
    tr_set(ctx, inst, 0, PTX_TYPE_B32, tr_resize(ctx, pair, 32, false));
}

/* The mask of the lanes that take part. Without .sync the active ones do (PTX ISA "shfl", "vote"):
 * those that come to the instruction together. */
static LLVMValueRef member_mask(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index)
{
    if (ptx_inst_has(inst, PTX_GROUP_SYNC))
        return tr_value(ctx, inst, index, PTX_TYPE_B32);
    return tr_placeholder(ctx, RT_CALL_ACTIVEMASK, ctx->thread,
                          tr_const_int(ctx, 32, ctx->warp_sites++));
}

static enum rt_shfl shuffle_mode(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_SHFLMODE)) {
    case PTX_MOD_UP:
        return RT_SHFL_UP;
    case PTX_MOD_DOWN:
        return RT_SHFL_DOWN;
    case PTX_MOD_BFLY:
        return RT_SHFL_BFLY;
    default:
        return RT_SHFL_IDX;
    }
}

/* shfl{.sync}.mode.b32 d|p, a, b, c{, membermask} */
enum pxr_status tr_emit_shfl(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef value = tr_value(ctx, inst, 1, PTX_TYPE_B32);
    LLVMValueRef lane = tr_value(ctx, inst, 2, PTX_TYPE_B32);
    LLVMValueRef segment = tr_value(ctx, inst, 3, PTX_TYPE_B32);
    LLVMValueRef mask = member_mask(ctx, inst, 4);
    tr_meet_source(ctx, shuffle_mode(inst), lane, segment, mask);
    tr_meet_lanes(ctx, RT_CALL_SHFL, shuffle_mode(inst), mask);
    LLVMValueRef result =
        tr_placeholder(ctx, RT_CALL_SHFL, ctx->thread, tr_const_int(ctx, 32, shuffle_mode(inst)),
                       value, lane, segment, mask);
    tr_race_lanes(ctx, mask);
    set_value_and_predicate(ctx, inst, result);
    return PXR_OK;
}

static bool vote_mode(const struct ptx_inst *inst, enum rt_vote *mode)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_VOTEMODE)) {
    case PTX_MOD_ALL:
        *mode = RT_VOTE_ALL;
        return true;
    case PTX_MOD_ANY:
        *mode = RT_VOTE_ANY;
        return true;
    case PTX_MOD_UNI:
        *mode = RT_VOTE_UNI;
        return true;
    case PTX_MOD_BALLOT:
        *mode = RT_VOTE_BALLOT;
        return true;
    default:
        return false;
    }
}

/* vote{.sync}.mode d, {!}a{, membermask} */
enum pxr_status tr_emit_vote(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum rt_vote mode = RT_VOTE_ALL;
    if (!vote_mode(inst, &mode))
        return tr_unsupported(ctx, inst, NULL);
    LLVMValueRef predicate = tr_resize(ctx, tr_value(ctx, inst, 1, PTX_TYPE_PRED), 32, false);
    LLVMValueRef mask = member_mask(ctx, inst, 2);
    tr_meet_lanes(ctx, RT_CALL_VOTE, mode, mask);
    LLVMValueRef result = tr_placeholder(ctx, RT_CALL_VOTE, ctx->thread,
                                         tr_const_int(ctx, 32, mode), predicate, mask);
    tr_race_lanes(ctx, mask);
    if (mode == RT_VOTE_BALLOT) {
        tr_set(ctx, inst, 0, PTX_TYPE_B32, result);
        return PXR_OK;
    }
    result = LLVMBuildICmp(ctx->builder, LLVMIntNE, result, tr_const_int(ctx, 32, 0), "");
    tr_set(ctx, inst, 0, PTX_TYPE_PRED, result);
    return PXR_OK;
}

/* match.any|all.sync.type d|p, a, membermask */
enum pxr_status tr_emit_match(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_mod mod = ptx_inst_mod(inst, PTX_GROUP_VOTEMODE);
    if (mod != PTX_MOD_ANY && mod != PTX_MOD_ALL)
        return tr_unsupported(ctx, inst, NULL);
    LLVMValueRef value = tr_resize(ctx, tr_value(ctx, inst, 1, inst->types[0]), 64, false);
    LLVMValueRef mask = tr_value(ctx, inst, 2, PTX_TYPE_B32);
    tr_meet_lanes(ctx, RT_CALL_MATCH, mod == PTX_MOD_ALL, mask);
    LLVMValueRef result = tr_placeholder(ctx, RT_CALL_MATCH, ctx->thread,
                                         tr_const_int(ctx, 32, mod == PTX_MOD_ALL), value, mask);
    tr_race_lanes(ctx, mask);
    set_value_and_predicate(ctx, inst, result);
    return PXR_OK;
}

enum { NO_REDUCTION = -1 };

/* Which operation .op is for a type; of .f32 without and with .NaN. */
static const struct reduction {
    enum ptx_mod op;
    int of_unsigned, of_signed, of_float, of_float_nan;
} reductions[] = {
    {PTX_MOD_AND, RT_REDUCE_AND, RT_REDUCE_AND, NO_REDUCTION, NO_REDUCTION},
    {PTX_MOD_OR, RT_REDUCE_OR, RT_REDUCE_OR, NO_REDUCTION, NO_REDUCTION},
    {PTX_MOD_XOR, RT_REDUCE_XOR, RT_REDUCE_XOR, NO_REDUCTION, NO_REDUCTION},
    {PTX_MOD_ADD, RT_REDUCE_ADD, RT_REDUCE_ADD, NO_REDUCTION, NO_REDUCTION},
    {PTX_MOD_MIN, RT_REDUCE_MIN, RT_REDUCE_MIN_SIGNED, RT_REDUCE_MIN_F32, RT_REDUCE_MIN_F32_NAN},
    {PTX_MOD_MAX, RT_REDUCE_MAX, RT_REDUCE_MAX_SIGNED, RT_REDUCE_MAX_F32, RT_REDUCE_MAX_F32_NAN},
};

/* enum rt_reduce, or NO_REDUCTION. */
static int reduction_of(const struct ptx_inst *inst)
{
    enum ptx_mod op = ptx_inst_mod(inst, PTX_GROUP_ATOMOP);
    for (size_t i = 0; i < sizeof reductions / sizeof reductions[0]; i++) {
        const struct reduction *row = &reductions[i];
        if (row->op != op)
            continue;
        if (inst->types[0] == PTX_TYPE_F32)
            return ptx_inst_has(inst, PTX_GROUP_NAN) ? row->of_float_nan : row->of_float;
        return ptx_type_is_signed(inst->types[0]) ? row->of_signed : row->of_unsigned;
    }
    return NO_REDUCTION;
}

/* redux.sync.op.type d, a, membermask; redux.sync.op{.abs}{.NaN}.f32 */
enum pxr_status tr_emit_redux(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    int op = reduction_of(inst);
    if (op == NO_REDUCTION)
        return tr_unsupported(ctx, inst, NULL);
    LLVMValueRef value = tr_value(ctx, inst, 1, PTX_TYPE_B32);
    if (ptx_inst_mod(inst, PTX_GROUP_XORSIGN) == PTX_MOD_ABS)
        value = LLVMBuildAnd(ctx->builder, value, tr_const_int(ctx, 32, INT32_MAX), "");
    LLVMValueRef mask = tr_value(ctx, inst, 2, PTX_TYPE_B32);
    tr_meet_lanes(ctx, RT_CALL_REDUX, (uint32_t)op, mask);
    LLVMValueRef result = tr_placeholder(ctx, RT_CALL_REDUX, ctx->thread,
                                         tr_const_int(ctx, 32, (uint64_t)op), value, mask);
    tr_race_lanes(ctx, mask);
    tr_set(ctx, inst, 0, PTX_TYPE_B32, result);
    return PXR_OK;
}

bool tr_step_needed(const struct tr_ctx *ctx, bool is_store)
{
    if (ctx->step.region != ctx->region)
        return true;
    return ctx->step.has_written || (is_store && ctx->step.has_read);
}

void tr_converge(struct tr_ctx *ctx)
{
    tr_placeholder(ctx, RT_CALL_WARP_CONVERGE, ctx->thread,
                   tr_const_int(ctx, 32, ctx->warp_sites++));
}

void tr_step_met(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (inst->guard == NULL)
        ctx->step = (struct tr_step){.region = ctx->region};
}

void tr_step_accessed(struct tr_ctx *ctx, bool is_store)
{
    ctx->step.has_read |= !is_store;
    ctx->step.has_written |= is_store;
}

enum pxr_status tr_emit_activemask(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef site = tr_const_int(ctx, 32, ctx->warp_sites++);
    LLVMValueRef mask = tr_placeholder(ctx, RT_CALL_ACTIVEMASK, ctx->thread, site);
    tr_set(ctx, inst, 0, PTX_TYPE_B32, mask);
    return PXR_OK;
}

/* elect.sync d|p, membermask */
enum pxr_status tr_emit_elect(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef mask = tr_value(ctx, inst, 1, PTX_TYPE_B32);
    tr_meet_lanes(ctx, RT_CALL_ELECT, 0, mask);
    set_value_and_predicate(ctx, inst, tr_placeholder(ctx, RT_CALL_ELECT, ctx->thread, mask));
    return PXR_OK;
}

/* movmatrix.sync.aligned.m8n8.trans.b16 d, a: all lanes of the warp take part. */
enum pxr_status tr_emit_movmatrix(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef mask = tr_const_int(ctx, 32, UINT32_MAX);
    tr_meet_lanes(ctx, RT_CALL_MOVMATRIX, 0, mask);
    LLVMValueRef result = tr_placeholder(ctx, RT_CALL_MOVMATRIX, ctx->thread,
                                         tr_value(ctx, inst, 1, PTX_TYPE_B32), mask);
    tr_set(ctx, inst, 0, PTX_TYPE_B32, result);
    return PXR_OK;
}
