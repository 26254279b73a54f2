/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of barriers and operations of warps (docs/check.md): threads tell where they go.
 * cudart/core/meetings makes of that what is wrong; barriers/meeting_checks.c takes out what cannot
 * be.
 */
#include "translator/emit/emit.h"

/* PTX ISA "bar, barrier": "bar.sync is equivalent to barrier.sync.aligned". Matrices and elect have
 * the word, too. */
static LLVMValueRef is_aligned(struct tr_ctx *ctx)
{
    bool is_bar = ctx->inst->op == PTX_OP_BAR_SYNC || ctx->inst->op == PTX_OP_BAR_ARRIVE ||
                  ctx->inst->op == PTX_OP_BAR_RED;
    return tr_const_int(ctx, 32, is_bar || ptx_inst_has(ctx->inst, PTX_GROUP_ALIGNED));
}

static LLVMValueRef line_of(struct tr_ctx *ctx)
{
    return tr_const_int(ctx, 32, (uint64_t)ctx->inst->line);
}

/* Where warps act as one thread, lanes end or part as they please (uniform_warps.c). */
static bool checks_meetings(const struct tr_ctx *ctx)
{
    return ctx->options->checks_meetings && ctx->uniform.array == NULL;
}

void tr_meet_barrier(struct tr_ctx *ctx, LLVMValueRef id, LLVMValueRef count)
{
    if (checks_meetings(ctx))
        tr_placeholder(ctx, RT_CALL_MEET_BARRIER, ctx->thread, id, count, is_aligned(ctx),
                       line_of(ctx));
}

/* Of shuffles and votes without .sync those lanes take part that come together. */
static bool names_lanes(const struct tr_ctx *ctx, enum rt_placeholder operation)
{
    bool is_older = operation == RT_CALL_SHFL || operation == RT_CALL_VOTE;
    return checks_meetings(ctx) && (!is_older || ptx_inst_has(ctx->inst, PTX_GROUP_SYNC));
}

void tr_meet_lanes(struct tr_ctx *ctx, enum rt_placeholder operation, uint32_t mode,
                   LLVMValueRef mask)
{
    if (names_lanes(ctx, operation))
        tr_placeholder(ctx, RT_CALL_MEET_LANES, ctx->thread, mask,
                       tr_const_int(ctx, 32, (uint64_t)operation << 8 | mode), is_aligned(ctx),
                       line_of(ctx));
}

void tr_meet_source(struct tr_ctx *ctx, enum rt_shfl mode, LLVMValueRef b, LLVMValueRef c,
                    LLVMValueRef mask)
{
    if (names_lanes(ctx, RT_CALL_SHFL))
        tr_placeholder(ctx, RT_CALL_MEET_SOURCE, ctx->thread, tr_const_int(ctx, 32, mode), b, c,
                       mask, line_of(ctx));
}

static bool is_called(const struct tr_ctx *ctx, enum rt_placeholder placeholder)
{
    const struct rt_placeholder_info *info = &rt_placeholders[placeholder];
    return LLVMGetNamedFunctionWithLength(ctx->module, info->name, info->name_len) != NULL;
}

/* Who ends matters only to those who wait. */
void tr_meet_ends(struct tr_ctx *ctx)
{
    if (is_called(ctx, RT_CALL_MEET_BARRIER) || is_called(ctx, RT_CALL_MEET_LANES) ||
        is_called(ctx, RT_CALL_MEET_SOURCE))
        tr_call_at_ends(ctx, RT_CALL_MEET_END);
}
