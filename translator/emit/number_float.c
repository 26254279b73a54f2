/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of numbers: operations on floating-point numbers that are fine, and whose result is not
 * (docs/check.md).
 */
#include "translator/emit/emit_float.h"
#include "translator/emit/emit_number.h"

/* What a number is; all i1. */
struct class {
    LLVMValueRef is_wrong; /* NaN or infinite */
    LLVMValueRef is_nan;
};

static LLVMValueRef any(struct tr_ctx *ctx, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildOr(ctx->builder, a, b, "");
}

static LLVMValueRef both(struct tr_ctx *ctx, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildAnd(ctx->builder, a, b, "");
}

static LLVMValueRef not(struct tr_ctx *ctx, LLVMValueRef a)
{
    return LLVMBuildNot(ctx->builder, a, "");
}

static LLVMValueRef infinity(LLVMTypeRef type)
{
    return LLVMConstReal(type, __builtin_inf());
}

static struct class classify_plain(struct tr_ctx *ctx, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef size = tr_intrinsic(ctx, "llvm.fabs", &type, 1, &value, 1);
    return (struct class){.is_wrong =
                              LLVMBuildFCmp(ctx->builder, LLVMRealUEQ, size, infinity(type), ""),
                          .is_nan = LLVMBuildFCmp(ctx->builder, LLVMRealUNO, value, value, "")};
}

/* Half `part` of a number of 16 bits, or of a pair of them. */
static struct class classify_half(struct tr_ctx *ctx, LLVMValueRef value, enum ptx_type type,
                                  unsigned part)
{
    bool is_bf16 = type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2;
    LLVMValueRef limit = tr_const_int(ctx, 32, is_bf16 ? 0x7f80 : 0x7c00);
    value = tr_resize(ctx, value, 32, false);
    value = LLVMBuildLShr(ctx->builder, value, tr_const_int(ctx, 32, 16 * part), "");
    value = LLVMBuildAnd(ctx->builder, value, tr_const_int(ctx, 32, 0x7fff), "");
    return (struct class){.is_wrong = LLVMBuildICmp(ctx->builder, LLVMIntUGE, value, limit, ""),
                          .is_nan = LLVMBuildICmp(ctx->builder, LLVMIntUGT, value, limit, "")};
}

static struct class classify(struct tr_ctx *ctx, LLVMValueRef value, enum ptx_type type,
                             unsigned part)
{
    return tr_is_half(type) ? classify_half(ctx, value, type, part) : classify_plain(ctx, value);
}

/* Integers, from which numbers are converted, are never wrong; nor is infinity that the program
 * itself makes to compute with it. */
static struct class classify_source(const struct tr_watch *watch, unsigned index, unsigned part)
{
    LLVMValueRef never = tr_const_int(watch->ctx, 1, 0);
    if (!ptx_type_is_float(watch->type) || watch->origins[index].is_own)
        return (struct class){never, never};
    return classify(watch->ctx, watch->values[index], watch->type,
                    tr_is_half_pair(watch->type) ? part : 0);
}

static bool is_known_type(enum ptx_type type)
{
    return type == PTX_TYPE_F32 || type == PTX_TYPE_F64 || tr_is_half(type);
}

/* ---- results ---- */

struct result {
    struct class class;   /* of either half */
    LLVMValueRef is_made; /* i1: it went wrong here */
};

/* Half `part`: "made" is a NaN without one among the sources, and infinity of finite numbers. The
 * pair of a cvt has its high half from the first source. */
static struct result judge_part(const struct tr_watch *watch, LLVMValueRef value, unsigned part)
{
    struct tr_ctx *ctx = watch->ctx;
    enum ptx_type to = watch->inst->types[0];
    bool is_joined = tr_is_half_pair(to) && !tr_is_half_pair(watch->type);
    LLVMValueRef never = tr_const_int(ctx, 1, 0);
    struct class sources = {never, never};
    for (unsigned i = 0; i < watch->count; i++) {
        if (is_joined && i != 1 - part)
            continue;
        struct class source = classify_source(watch, i, part);
        sources.is_wrong = any(ctx, sources.is_wrong, source.is_wrong);
        sources.is_nan = any(ctx, sources.is_nan, source.is_nan);
    }
    struct result result = {.class = classify(ctx, value, to, part)};
    LLVMValueRef is_known =
        LLVMBuildSelect(ctx->builder, result.class.is_nan, sources.is_nan, sources.is_wrong, "");
    result.is_made = both(ctx, result.class.is_wrong, not(ctx, is_known));
    return result;
}

static struct result judge(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    enum ptx_type to = watch->inst->types[0];
    LLVMValueRef value = tr_value(ctx, watch->inst, 0, to);
    struct result low = judge_part(watch, value, 0);
    if (!tr_is_half_pair(to))
        return low;
    struct result high = judge_part(watch, value, 1);
    return (struct result){.class = {.is_wrong = any(ctx, low.class.is_wrong, high.class.is_wrong),
                                     .is_nan = any(ctx, low.class.is_nan, high.class.is_nan)},
                           .is_made = any(ctx, low.is_made, high.is_made)};
}

/* own: if it went wrong here. What has come from elsewhere went wrong before. */
static struct tr_origin origin_of_result(const struct tr_watch *watch, const struct result *result,
                                         const struct tr_origin *own)
{
    struct tr_ctx *ctx = watch->ctx;
    struct tr_origin begun = tr_origin_if(ctx, result->is_made, own);
    struct tr_origin met = tr_meet_sources(watch, 0);
    struct tr_origin origin = tr_choose_origin(ctx, tr_is_wrong_number(ctx, &met), &met, &begun);
    return tr_origin_if(ctx, result->class.is_wrong, &origin);
}

static LLVMValueRef kind_of(struct tr_ctx *ctx, const struct result *result)
{
    return LLVMBuildSelect(ctx->builder, result->class.is_nan, tr_kind_bits(ctx, RT_NUMBER_NAN),
                           tr_kind_bits(ctx, RT_NUMBER_INFINITY), "");
}

static bool is_checked(const struct tr_watch *watch)
{
    const struct ptx_inst *inst = watch->inst;
    return inst->type_count == 1 && is_known_type(inst->types[0]);
}

struct tr_origin tr_follow_float(const struct tr_watch *watch)
{
    if (!is_checked(watch))
        return tr_no_origin(watch->ctx);
    struct result result = judge(watch);
    struct tr_origin own = tr_begin_origin(watch, kind_of(watch->ctx, &result));
    return origin_of_result(watch, &result, &own);
}

/* The divisor is the last source. */
struct tr_origin tr_follow_division(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    if (!is_checked(watch))
        return tr_no_origin(ctx);
    struct result result = judge(watch);
    LLVMValueRef divisor = watch->values[watch->count - 1];
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(divisor));
    LLVMValueRef is_zero = LLVMBuildFCmp(ctx->builder, LLVMRealOEQ, divisor, zero, "");
    LLVMValueRef kind =
        LLVMBuildSelect(ctx->builder, is_zero, tr_kind_bits(ctx, RT_NUMBER_ZERO_DIVISOR),
                        kind_of(ctx, &result), "");
    struct tr_origin own = tr_begin_origin(watch, kind);
    return origin_of_result(watch, &result, &own);
}

struct tr_origin tr_follow_chosen(const struct tr_watch *watch)
{
    if (!is_checked(watch))
        return tr_no_origin(watch->ctx);
    struct result result = judge(watch);
    struct tr_origin none = tr_no_origin(watch->ctx);
    return origin_of_result(watch, &result, &none);
}

/* ---- comparisons ---- */

/* All of these go one way or the other because of a NaN. Programs that look for one ask whether a
 * number equals itself, or exceeds infinity. */
static bool is_of_order(enum ptx_mod mod)
{
    static const enum ptx_mod order[] = {PTX_MOD_LT,  PTX_MOD_LE,  PTX_MOD_GT,  PTX_MOD_GE,
                                         PTX_MOD_LTU, PTX_MOD_LEU, PTX_MOD_GTU, PTX_MOD_GEU};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i] == mod)
            return true;
    return false;
}

static struct tr_origin origin_of_order(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    struct class a = classify_source(watch, 0, 0);
    struct class b = classify_source(watch, 1, 0);
    LLVMValueRef by_a = both(ctx, a.is_nan, not(ctx, b.is_wrong));
    LLVMValueRef by_b = both(ctx, b.is_nan, not(ctx, a.is_wrong));
    struct tr_origin of_a = tr_origin_if(ctx, by_a, &watch->origins[0]);
    struct tr_origin of_b = tr_origin_if(ctx, by_b, &watch->origins[1]);
    return tr_meet_origins(ctx, &of_a, &of_b);
}

static struct tr_origin keep_conversion(struct tr_ctx *ctx, const struct tr_origin *origin)
{
    return tr_origin_if(ctx, tr_origin_is(ctx, origin, RT_NUMBER_CONVERSION), origin);
}

/* A third source is a predicate that it is combined with. */
struct tr_origin tr_follow_comparison(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    struct tr_origin origin = tr_no_origin(ctx);
    if (watch->type == PTX_TYPE_F32 || watch->type == PTX_TYPE_F64) {
        if (is_of_order(ptx_inst_mod(watch->inst, PTX_GROUP_CMP)))
            origin = origin_of_order(watch);
    } else if (!ptx_type_is_float(watch->type)) {
        origin = tr_meet_origins(ctx, &watch->origins[0], &watch->origins[1]);
        origin = keep_conversion(ctx, &origin);
    }
    return watch->count > 2 ? tr_meet_origins(ctx, &origin, &watch->origins[2]) : origin;
}

/* ---- conversions ---- */

/* 2^exponent */
static LLVMValueRef power_of_two(LLVMTypeRef type, unsigned exponent)
{
    return LLVMConstReal(type, __builtin_ldexp(1.0, (int)exponent));
}

/* i1: no integer of this type is nearer than one to it. Sources of 16 bits as f32, which holds them
 * exactly. */
static LLVMValueRef is_out_of_range(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    LLVMBuilderRef b = ctx->builder;
    enum ptx_type to = watch->inst->types[0];
    LLVMValueRef value = watch->values[0];
    if (tr_is_half(watch->type))
        value = tr_helper(ctx, "rt_half_to_f32", ctx->f32, tr_resize(ctx, value, 32, false),
                          tr_half_format(ctx, watch->type));
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef most = power_of_two(type, ptx_type_bits(to) - ptx_type_is_signed(to));
    LLVMValueRef is_low;
    if (!ptx_type_is_signed(to)) {
        is_low = LLVMBuildFCmp(b, LLVMRealULE, value, LLVMConstReal(type, -1), "");
    } else {
        LLVMValueRef least = LLVMBuildFNeg(b, most, "");
        /* Between -2^n and -2^n - 1 there are numbers only where these differ. */
        LLVMValueRef below = LLVMBuildFSub(b, least, LLVMConstReal(type, 1), "");
        is_low = both(ctx, LLVMBuildFCmp(b, LLVMRealULE, value, below, ""),
                      LLVMBuildFCmp(b, LLVMRealULT, value, least, ""));
    }
    return any(ctx, is_low, LLVMBuildFCmp(b, LLVMRealUGE, value, most, ""));
}

static struct tr_origin follow_to_integer(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    LLVMValueRef is_wrong = is_out_of_range(watch);
    struct tr_origin own = tr_begin_origin(watch, tr_kind_bits(ctx, RT_NUMBER_CONVERSION));
    const struct tr_origin *met = &watch->origins[0];
    struct tr_origin origin = tr_choose_origin(ctx, tr_is_wrong_number(ctx, met), met, &own);
    return tr_origin_if(ctx, is_wrong, &origin);
}

static struct tr_origin follow_between_integers(const struct tr_watch *watch)
{
    unsigned to = ptx_type_bits(watch->inst->types[0]);
    unsigned from = ptx_type_bits(watch->type);
    if (to < from)
        return tr_follow_cut(watch);
    if (from != 32 || to == from)
        return watch->origins[0];
    return tr_follow_extended(watch->ctx, &watch->origins[0], ptx_type_is_signed(watch->type));
}

/* Integers that wrapped are numbers as others when they are converted; those that a conversion has
 * made are not. */
static struct tr_origin follow_from_integer(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    struct result result = judge(watch);
    struct tr_origin own = tr_begin_origin(watch, kind_of(ctx, &result));
    own = tr_origin_if(ctx, result.is_made, &own);
    struct tr_origin met = keep_conversion(ctx, &watch->origins[0]);
    return tr_choose_origin(ctx, tr_has_origin(ctx, &met), &met, &own);
}

struct tr_origin tr_follow_conversion(const struct tr_watch *watch)
{
    enum ptx_type to = watch->inst->types[0];
    bool is_clamped = ptx_inst_has(watch->inst, PTX_GROUP_SAT);
    bool from_float = is_known_type(watch->type);
    if (!ptx_type_is_float(to) && !ptx_type_is_float(watch->type))
        return follow_between_integers(watch);
    if (!ptx_type_is_float(to) && from_float && !is_clamped)
        return follow_to_integer(watch);
    if (is_known_type(to) && !ptx_type_is_float(watch->type))
        return follow_from_integer(watch);
    if (!is_known_type(to) || !from_float ||
        ptx_inst_mod(watch->inst, PTX_GROUP_ROUND) == PTX_MOD_RS)
        return tr_no_origin(watch->ctx);
    struct result result = judge(watch);
    struct tr_origin own = tr_begin_origin(watch, kind_of(watch->ctx, &result));
    return origin_of_result(watch, &result, &own);
}
