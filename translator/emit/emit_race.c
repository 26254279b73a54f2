/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of races (docs/check.md): each thread tells what it does to memory that it may share, and
 * what orders it with others. cudart/core/races makes of that what has no order.
 */
#include "translator/emit/emit.h"

static bool is_shared_space(enum ptx_space space)
{
    return space == PTX_SPACE_GLOBAL || space == PTX_SPACE_SHARED || space == PTX_SPACE_NONE;
}

static bool is_same_place(const struct ptx_operand *a, const struct ptx_operand *b)
{
    return a->kind == PTX_OPERAND_ADDRESS && b->kind == PTX_OPERAND_ADDRESS &&
           a->offset == b->offset && a->elem_count == 1 && b->elem_count == 1 &&
           a->elems[0].kind == PTX_OPERAND_REG && b->elems[0].kind == PTX_OPERAND_REG &&
           a->elems[0].var == b->elems[0].var;
}

bool tr_race_is_guess(const struct tr_ctx *ctx, const struct ptx_operand *address)
{
    for (uint32_t i = 0; i < ctx->func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &ctx->func->stmts[i];
        if (stmt->kind == PTX_STMT_INST &&
            ptx_inst_mod(&stmt->inst, PTX_GROUP_ATOMOP) == PTX_MOD_CAS &&
            is_same_place(address, &stmt->inst.operands[1]))
            return true;
    }
    return false;
}

static LLVMValueRef number_of(struct tr_ctx *ctx, LLVMValueRef pointer)
{
    return LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, "");
}

static void tell(struct tr_ctx *ctx, LLVMValueRef pointer, LLVMValueRef bytes, unsigned what,
                 LLVMValueRef value)
{
    tr_placeholder(ctx, RT_CALL_RACE_ACCESS, ctx->thread, number_of(ctx, pointer),
                   tr_resize(ctx, bytes, 64, false),
                   value ? tr_resize(ctx, value, 64, false) : tr_const_int(ctx, 64, 0),
                   tr_const_int(ctx, 32, what), tr_const_int(ctx, 32, (uint64_t)ctx->inst->line));
}

void tr_race_access(struct tr_ctx *ctx, LLVMValueRef pointer, enum ptx_space space,
                    LLVMValueRef bytes, unsigned what, LLVMValueRef value)
{
    if (!ctx->options->checks_races || !is_shared_space(space))
        return;
    enum ptx_mod scope = ptx_inst_mod(ctx->inst, PTX_GROUP_SCOPE);
    bool is_volatile = scope == PTX_MOD_NONE && (what & RT_ACCESS_MASK) != RT_ACCESS_ATOMIC;
    if (scope == PTX_MOD_CTA)
        what |= RT_RACE_BLOCK;
    if (scope == PTX_MOD_SYS || is_volatile)
        what |= RT_RACE_SYSTEM; /* means nothing unless it is strong */
    if (value)
        what |= RT_RACE_VALUE;
    tell(ctx, pointer, bytes, what, value);
}

void tr_race_object(struct tr_ctx *ctx, LLVMValueRef object, LLVMValueRef bytes, unsigned what)
{
    if (ctx->options->checks_races)
        tell(ctx, object, bytes, what, NULL);
}

void tr_race_release(struct tr_ctx *ctx, LLVMValueRef pointer, bool is_ordered)
{
    if (ctx->options->checks_races)
        tr_placeholder(ctx, RT_CALL_RACE_RELEASE, ctx->thread, number_of(ctx, pointer),
                       tr_const_int(ctx, 32, is_ordered));
}

void tr_race_acquire(struct tr_ctx *ctx, LLVMValueRef pointer, bool is_ordered)
{
    if (ctx->options->checks_races)
        tr_placeholder(ctx, RT_CALL_RACE_ACQUIRE, ctx->thread, number_of(ctx, pointer),
                       tr_const_int(ctx, 32, is_ordered));
}

void tr_race_fence(struct tr_ctx *ctx)
{
    if (ctx->options->checks_races)
        tr_placeholder(ctx, RT_CALL_RACE_FENCE, ctx->thread);
}

void tr_race_copies(struct tr_ctx *ctx, LLVMValueRef groups)
{
    if (ctx->options->checks_races)
        tr_placeholder(ctx, RT_CALL_RACE_COPIES, ctx->thread, groups);
}

void tr_race_all_copies(struct tr_ctx *ctx)
{
    tr_race_copies(ctx, tr_const_int(ctx, 32, RT_RACE_COMMIT));
    tr_race_copies(ctx, tr_const_int(ctx, 32, 0));
}

void tr_race_arrive(struct tr_ctx *ctx, LLVMValueRef id, LLVMValueRef count)
{
    if (ctx->options->checks_races)
        tr_placeholder(ctx, RT_CALL_RACE_ARRIVE, ctx->thread, id, count);
}

void tr_race_leave(struct tr_ctx *ctx, LLVMValueRef id)
{
    if (ctx->options->checks_races)
        tr_placeholder(ctx, RT_CALL_RACE_LEAVE, ctx->thread, id);
}

void tr_race_lanes(struct tr_ctx *ctx, LLVMValueRef mask)
{
    if (ctx->options->checks_races)
        tr_placeholder(ctx, RT_CALL_RACE_LANES, ctx->thread, mask);
}
