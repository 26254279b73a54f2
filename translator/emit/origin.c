/* SPDX-License-Identifier: Apache-2.0
 *
 * An origin lies in registers of its own beside the register that it is of. Where nobody asks for
 * it, passes drop it.
 */
#include "translator/emit/origin.h"

struct tr_origin tr_no_origin(struct tr_ctx *ctx)
{
    return (struct tr_origin){.site = LLVMConstNull(ctx->i32),
                              .first_two = LLVMConstNull(ctx->i64),
                              .third = LLVMConstNull(ctx->i32)};
}

/* Of vector registers no element has an origin. */
static const struct ptx_var *find_register(const struct ptx_operand *operand)
{
    bool is_register = operand->kind == PTX_OPERAND_REG && operand->var->vector_len <= 1;
    return is_register ? operand->var : NULL;
}

static struct tr_origin *memory_of(struct tr_ctx *ctx, const struct ptx_var *var)
{
    struct tr_origin *origin = &ctx->origins[var->index];
    if (origin->site == NULL)
        *origin = (struct tr_origin){.site = tr_register_memory(ctx, ctx->i32, "origin"),
                                     .first_two = tr_register_memory(ctx, ctx->i64, "operands"),
                                     .third = tr_register_memory(ctx, ctx->i32, "operand")};
    return origin;
}

struct tr_origin tr_origin_of(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    const struct ptx_var *var = find_register(operand);
    if (var == NULL)
        return tr_no_origin(ctx);
    const struct tr_origin *memory = memory_of(ctx, var);
    return (struct tr_origin){.site = LLVMBuildLoad2(ctx->builder, ctx->i32, memory->site, ""),
                              .first_two =
                                  LLVMBuildLoad2(ctx->builder, ctx->i64, memory->first_two, ""),
                              .third = LLVMBuildLoad2(ctx->builder, ctx->i32, memory->third, ""),
                              .is_own = memory->is_own};
}

void tr_set_origin(struct tr_ctx *ctx, const struct ptx_operand *operand,
                   const struct tr_origin *origin)
{
    const struct ptx_var *var = find_register(operand);
    if (var == NULL)
        return;
    struct tr_origin *memory = memory_of(ctx, var);
    memory->is_own = origin->is_own;
    LLVMBuildStore(ctx->builder, origin->site, memory->site);
    LLVMBuildStore(ctx->builder, origin->first_two, memory->first_two);
    LLVMBuildStore(ctx->builder, origin->third, memory->third);
}

void tr_number_forget(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    const struct ptx_var *var = ctx->options->checks_numbers ? find_register(operand) : NULL;
    if (var == NULL)
        return;
    struct tr_origin *memory = memory_of(ctx, var);
    memory->is_own = false;
    LLVMBuildStore(ctx->builder, LLVMConstNull(ctx->i32), memory->site);
}

struct tr_origin tr_choose_origin(struct tr_ctx *ctx, LLVMValueRef condition,
                                  const struct tr_origin *a, const struct tr_origin *b)
{
    return (struct tr_origin){
        .site = LLVMBuildSelect(ctx->builder, condition, a->site, b->site, ""),
        .first_two = LLVMBuildSelect(ctx->builder, condition, a->first_two, b->first_two, ""),
        .third = LLVMBuildSelect(ctx->builder, condition, a->third, b->third, "")};
}

struct tr_origin tr_meet_origins(struct tr_ctx *ctx, const struct tr_origin *a,
                                 const struct tr_origin *b)
{
    LLVMValueRef is_a = LLVMBuildICmp(ctx->builder, LLVMIntUGT, a->site, b->site, "");
    return tr_choose_origin(ctx, is_a, a, b);
}

struct tr_origin tr_origin_if(struct tr_ctx *ctx, LLVMValueRef condition,
                              const struct tr_origin *origin)
{
    struct tr_origin result = *origin;
    result.site =
        LLVMBuildSelect(ctx->builder, condition, origin->site, LLVMConstNull(ctx->i32), "");
    return result;
}

LLVMValueRef tr_kind_bits(struct tr_ctx *ctx, enum rt_number_kind kind)
{
    return tr_const_int(ctx, 32, (uint64_t)kind << RT_NUMBER_KIND_SHIFT);
}

LLVMValueRef tr_origin_is(struct tr_ctx *ctx, const struct tr_origin *origin,
                          enum rt_number_kind kind)
{
    LLVMValueRef shift = tr_const_int(ctx, 32, RT_NUMBER_KIND_SHIFT);
    return LLVMBuildICmp(ctx->builder, LLVMIntEQ,
                         LLVMBuildLShr(ctx->builder, origin->site, shift, ""),
                         tr_const_int(ctx, 32, kind), "");
}

LLVMValueRef tr_has_origin(struct tr_ctx *ctx, const struct tr_origin *origin)
{
    return LLVMBuildICmp(ctx->builder, LLVMIntNE, origin->site, LLVMConstNull(ctx->i32), "");
}

LLVMValueRef tr_is_wrong_number(struct tr_ctx *ctx, const struct tr_origin *origin)
{
    return LLVMBuildICmp(ctx->builder, LLVMIntUGE, origin->site,
                         tr_kind_bits(ctx, RT_NUMBER_CONVERSION), "");
}
