/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of numbers: integers of 32 bits that wrap around (docs/check.md).
 *
 * PTX does not say whether an addition is one of signed or unsigned numbers. What is told is what
 * is wrong either way: a sum or product that does not fit as a signed number, if it is then
 * extended as one; of unsigned ones a product of two numbers below 2^31, as `i - 1` and `row *
 * width + dx` with a negative dx wrap by intention.
 */
#include "translator/emit/emit_number.h"

static LLVMValueRef is_negative(struct tr_ctx *ctx, LLVMValueRef value)
{
    return LLVMBuildICmp(ctx->builder, LLVMIntSLT, value, LLVMConstNull(LLVMTypeOf(value)), "");
}

static LLVMValueRef wide(struct tr_ctx *ctx, LLVMValueRef value)
{
    return tr_resize(ctx, value, 64, true);
}

/* i1: the number of 64 bits is no signed one of 32. */
static LLVMValueRef leaves_signed(struct tr_ctx *ctx, LLVMValueRef value)
{
    LLVMValueRef narrow = wide(ctx, tr_resize(ctx, value, 32, true));
    return LLVMBuildICmp(ctx->builder, LLVMIntNE, narrow, value, "");
}

/* i1: the product, of numbers of which neither is negative, takes more than 32 bits. */
static LLVMValueRef leaves_unsigned(struct tr_ctx *ctx, LLVMValueRef product, LLVMValueRef a,
                                    LLVMValueRef b)
{
    LLVMValueRef above =
        LLVMBuildICmp(ctx->builder, LLVMIntUGT, product, tr_const_int(ctx, 64, UINT32_MAX), "");
    LLVMValueRef either = LLVMBuildOr(ctx->builder, is_negative(ctx, a), is_negative(ctx, b), "");
    return LLVMBuildAnd(ctx->builder, above, LLVMBuildNot(ctx->builder, either, ""), "");
}

/* "overflow: both operands have the sign that the result has not". */
static LLVMValueRef sum_wraps(struct tr_ctx *ctx, LLVMValueRef a, LLVMValueRef b,
                              bool is_difference)
{
    LLVMBuilderRef builder = ctx->builder;
    LLVMValueRef result =
        is_difference ? LLVMBuildSub(builder, a, b, "") : LLVMBuildAdd(builder, a, b, "");
    LLVMValueRef from_a = LLVMBuildXor(builder, a, result, "");
    LLVMValueRef from_b = LLVMBuildXor(builder, is_difference ? a : result, b, "");
    return is_negative(ctx, LLVMBuildAnd(builder, from_a, from_b, ""));
}

/* The kind of wrap, i32. */
static LLVMValueRef kind_of_wrap(struct tr_ctx *ctx, LLVMValueRef is_signed, LLVMValueRef is_both)
{
    LLVMValueRef kind =
        LLVMBuildSelect(ctx->builder, is_signed, tr_kind_bits(ctx, RT_NUMBER_SIGNED_WRAP),
                        tr_kind_bits(ctx, RT_NUMBER_FINE), "");
    return LLVMBuildSelect(ctx->builder, is_both, tr_kind_bits(ctx, RT_NUMBER_WRAP), kind, "");
}

/* a << b as a product. PTX ISA "shl": "shift amounts greater than the register width are clamped"
 */
static LLVMValueRef shifted(struct tr_ctx *ctx, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef most = tr_const_int(ctx, 32, 32);
    LLVMValueRef is_less = LLVMBuildICmp(ctx->builder, LLVMIntULT, b, most, "");
    LLVMValueRef amount = LLVMBuildSelect(ctx->builder, is_less, b, most, "");
    return LLVMBuildShl(ctx->builder, wide(ctx, a), tr_resize(ctx, amount, 64, false), "");
}

static LLVMValueRef wrap_of(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    LLVMValueRef a = watch->values[0];
    LLVMValueRef b = watch->values[1];
    LLVMValueRef never = tr_const_int(ctx, 1, 0);
    if (watch->operation == RT_NUMBER_ADD || watch->operation == RT_NUMBER_SUB)
        return kind_of_wrap(ctx, sum_wraps(ctx, a, b, watch->operation == RT_NUMBER_SUB), never);
    if (watch->operation == RT_NUMBER_SHL) {
        LLVMValueRef product = shifted(ctx, a, b);
        return kind_of_wrap(ctx, leaves_signed(ctx, product), leaves_unsigned(ctx, product, a, b));
    }
    LLVMValueRef product = LLVMBuildMul(ctx->builder, wide(ctx, a), wide(ctx, b), "");
    LLVMValueRef is_both = leaves_unsigned(ctx, product, a, b);
    if (watch->operation == RT_NUMBER_MAD)
        product = LLVMBuildAdd(ctx->builder, product, wide(ctx, watch->values[2]), "");
    return kind_of_wrap(ctx, leaves_signed(ctx, product), is_both);
}

struct tr_origin tr_follow_extended(struct tr_ctx *ctx, const struct tr_origin *origin,
                                    bool is_signed)
{
    if (is_signed)
        return *origin;
    LLVMValueRef is_other =
        LLVMBuildNot(ctx->builder, tr_origin_is(ctx, origin, RT_NUMBER_SIGNED_WRAP), "");
    return tr_origin_if(ctx, is_other, origin);
}

/* mul.wide, mad.wide: the addend has 64 bits already. */
static struct tr_origin follow_wide(const struct tr_watch *watch)
{
    struct tr_watch extended = *watch;
    for (unsigned i = 0; i < 2; i++)
        extended.origins[i] =
            tr_follow_extended(watch->ctx, &watch->origins[i], ptx_type_is_signed(watch->type));
    return tr_meet_sources(&extended, 0);
}

struct tr_origin tr_follow_wrapping(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    enum ptx_mod half = ptx_inst_mod(watch->inst, PTX_GROUP_HALF);
    if (half == PTX_MOD_HI)
        return tr_follow_cut(watch);
    if (half == PTX_MOD_WIDE)
        return follow_wide(watch);
    struct tr_origin met = tr_meet_sources(watch, 0);
    if (ptx_type_bits(watch->type) != 32 || ptx_inst_has(watch->inst, PTX_GROUP_SAT))
        return met;
    struct tr_origin own = tr_begin_origin(watch, wrap_of(watch));
    return tr_choose_origin(ctx, tr_has_origin(ctx, &met), &met, &own);
}

struct tr_origin tr_follow_kept(const struct tr_watch *watch)
{
    return tr_meet_sources(watch, 0);
}

struct tr_origin tr_follow_cut(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    struct tr_origin met = tr_meet_sources(watch, 0);
    struct tr_origin cut = met;
    cut.site = LLVMBuildOr(ctx->builder, met.site, tr_const_int(ctx, 32, RT_NUMBER_CUT), "");
    return tr_origin_if(ctx, tr_has_origin(ctx, &met), &cut);
}
