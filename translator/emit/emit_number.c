/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of numbers (docs/check.md): a number that went wrong is followed from register to register
 * by its origin, and told where it is stored, decides where the thread goes, or addresses memory.
 * What is computed and then dropped, as library functions do with what they do not need, is no
 * finding. Whatever this file does not follow has no origin.
 */
#include "translator/emit/emit_number.h"

#include "translator/emit/emit_float.h"

/* ---- origins ---- */

struct tr_origin tr_meet_sources(const struct tr_watch *watch, unsigned first)
{
    struct tr_origin met = watch->origins[first];
    for (unsigned i = first + 1; i < watch->count; i++)
        met = tr_meet_origins(watch->ctx, &met, &watch->origins[i]);
    return met;
}

static enum rt_number_type number_type(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_F16:
        return RT_NUMBER_F16;
    case PTX_TYPE_BF16:
        return RT_NUMBER_BF16;
    case PTX_TYPE_F16X2:
        return RT_NUMBER_F16X2;
    case PTX_TYPE_BF16X2:
        return RT_NUMBER_BF16X2;
    case PTX_TYPE_F32:
        return RT_NUMBER_F32;
    case PTX_TYPE_F64:
        return RT_NUMBER_F64;
    default:
        return RT_NUMBER_INT;
    }
}

/* Source `index` in 32 bits. */
static LLVMValueRef companion(const struct tr_watch *watch, unsigned index)
{
    struct tr_ctx *ctx = watch->ctx;
    LLVMValueRef value = index < watch->count ? watch->values[index] : NULL;
    if (value == NULL)
        return LLVMConstNull(ctx->i32);
    value = tr_bitcast(ctx, value, tr_int_type(ctx, ptx_type_bits(watch->type)));
    if (watch->type == PTX_TYPE_F64)
        value = LLVMBuildLShr(ctx->builder, value, tr_const_int(ctx, 64, 32), "");
    return tr_resize(ctx, value, 32, ptx_type_is_signed(watch->type));
}

static LLVMValueRef join(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef high)
{
    high =
        LLVMBuildShl(ctx->builder, tr_resize(ctx, high, 64, false), tr_const_int(ctx, 64, 32), "");
    return LLVMBuildOr(ctx->builder, tr_resize(ctx, low, 64, false), high, "");
}

struct tr_origin tr_begin_origin(const struct tr_watch *watch, LLVMValueRef kind)
{
    struct tr_ctx *ctx = watch->ctx;
    uint32_t line = (uint32_t)watch->inst->line;
    if (line >= RT_NUMBER_LINES)
        return tr_no_origin(ctx);
    uint32_t place = (uint32_t)number_type(watch->type) |
                     (uint32_t)watch->operation << RT_NUMBER_OPERATION_SHIFT |
                     line << RT_NUMBER_LINE_SHIFT;
    LLVMValueRef fine = tr_kind_bits(ctx, RT_NUMBER_FINE);
    LLVMValueRef is_wrong = LLVMBuildICmp(ctx->builder, LLVMIntNE, kind, fine, "");
    struct tr_origin origin = {
        .site = LLVMBuildOr(ctx->builder, kind, tr_const_int(ctx, 32, place), ""),
        .first_two = join(ctx, companion(watch, 0), companion(watch, 1)),
        .third = companion(watch, 2)};
    return tr_origin_if(ctx, is_wrong, &origin);
}

/* ---- uses ---- */

static void tell(struct tr_ctx *ctx, LLVMValueRef is_wrong, const struct tr_origin *origin,
                 enum rt_number_use use)
{
    uint32_t line = (uint32_t)ctx->inst->line % RT_NUMBER_LINES;
    tr_placeholder(ctx, RT_CALL_NUMBER, ctx->thread, tr_resize(ctx, is_wrong, 32, false),
                   origin->site, origin->first_two, origin->third,
                   tr_const_int(ctx, 32, (uint32_t)use << RT_NUMBER_USE_SHIFT | line));
}

void tr_number_decides(struct tr_ctx *ctx, const struct ptx_operand *predicate)
{
    if (!ctx->options->checks_numbers)
        return;
    struct tr_origin origin = tr_origin_of(ctx, predicate);
    tell(ctx, tr_is_wrong_number(ctx, &origin), &origin, RT_NUMBER_DECIDES);
}

/* Kinds of origins that are wrong for an address, a bit for each, as they are above the line of the
 * PTX: an integer that has wrapped and was not cut, or what a conversion has made. */
#define WRONG_ADDRESSES                                                                            \
    (1u << 2 * RT_NUMBER_SIGNED_WRAP | 1u << 2 * RT_NUMBER_WRAP | 3u << 2 * RT_NUMBER_CONVERSION)

static void tell_address(struct tr_ctx *ctx, const struct ptx_operand *base)
{
    struct tr_origin origin = tr_origin_of(ctx, base);
    LLVMValueRef shift = tr_const_int(ctx, 32, RT_NUMBER_KIND_SHIFT - 1);
    LLVMValueRef kind = LLVMBuildLShr(ctx->builder, origin.site, shift, "");
    LLVMValueRef is_wrong =
        LLVMBuildLShr(ctx->builder, tr_const_int(ctx, 32, WRONG_ADDRESSES), kind, "");
    is_wrong = LLVMBuildTrunc(ctx->builder, is_wrong, ctx->i1, "");
    tell(ctx, is_wrong, &origin, RT_NUMBER_ADDRESSES);
}

static void tell_addresses(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    for (unsigned i = 0; i < inst->operand_count; i++) {
        const struct ptx_operand *operand = &inst->operands[i];
        if (operand->kind == PTX_OPERAND_ADDRESS && operand->elems[0].kind == PTX_OPERAND_REG)
            tell_address(ctx, &operand->elems[0]);
    }
}

/* Integers that wrapped are stored as others: nobody knows what they are for. */
static void tell_stored(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(operand, parts);
    for (unsigned i = 0; i < count; i++) {
        if (parts[i].kind != PTX_OPERAND_REG)
            continue;
        struct tr_origin origin = tr_origin_of(ctx, &parts[i]);
        tell(ctx, tr_is_wrong_number(ctx, &origin), &origin, RT_NUMBER_STORED);
    }
}

/* Local memory and arguments are the thread's own, like registers: what matters is what becomes of
 * them. */
static bool is_seen_space(enum ptx_space space)
{
    return space != PTX_SPACE_LOCAL && space != PTX_SPACE_PARAM;
}

static void tell_uses(struct tr_ctx *ctx, const struct ptx_inst *inst, tr_emit_fn emit)
{
    tell_addresses(ctx, inst);
    if (!is_seen_space(ptx_inst_space(inst)))
        return;
    if (emit == tr_emit_st || emit == tr_emit_red)
        tell_stored(ctx, &inst->operands[1]);
    if (emit == tr_emit_atom)
        tell_stored(ctx, &inst->operands[inst->operand_count > 3 ? 3 : 2]);
}

/* ---- integers ---- */

/* PTX leaves the result undefined, so nothing more has to happen. */
static void tell_zero_divisor(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    LLVMValueRef divisor = watch->values[1];
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(divisor));
    LLVMValueRef is_zero = LLVMBuildICmp(ctx->builder, LLVMIntEQ, divisor, zero, "");
    struct tr_origin origin = tr_begin_origin(watch, tr_kind_bits(ctx, RT_NUMBER_ZERO_DIVISOR));
    origin.first_two = tr_resize(ctx, watch->values[0], 64, ptx_type_is_signed(watch->type));
    tell(ctx, is_zero, &origin, RT_NUMBER_MADE);
}

/* ---- what is moved ---- */

static bool is_infinite(const struct ptx_operand *constant)
{
    if (constant->kind != PTX_OPERAND_FLOAT)
        return false;
    if (constant->is_single)
        return (constant->bits & INT32_MAX) == UINT64_C(0x7f800000);
    return (constant->bits & INT64_MAX) == UINT64_C(0x7ff0000000000000);
}

/* {a, b} as one number, too. */
static struct tr_origin follow_moved(const struct tr_watch *watch)
{
    struct tr_ctx *ctx = watch->ctx;
    const struct ptx_operand *source = &watch->inst->operands[1];
    if (source->kind != PTX_OPERAND_VECTOR)
        return watch->origins[0];
    struct tr_origin met = tr_no_origin(ctx);
    bool is_own = false;
    for (uint32_t i = 0; i < source->elem_count; i++) {
        struct tr_origin part = tr_origin_of(ctx, &source->elems[i]);
        met = tr_meet_origins(ctx, &met, &part);
        is_own |= part.is_own;
    }
    met.is_own = is_own;
    return met;
}

static struct tr_origin follow_selected(const struct tr_watch *watch)
{
    LLVMValueRef predicate = tr_value(watch->ctx, watch->inst, 3, PTX_TYPE_PRED);
    return tr_choose_origin(watch->ctx, predicate, &watch->origins[0], &watch->origins[1]);
}

/* Predicates, too, which have nothing to cut. */
static struct tr_origin follow_bits(const struct tr_watch *watch)
{
    return watch->type == PTX_TYPE_PRED ? tr_follow_kept(watch) : tr_follow_cut(watch);
}

/* ---- instructions ---- */

struct rule {
    tr_emit_fn emit;
    tr_follow_fn follow;
    unsigned reads; /* so many sources' values */
    enum rt_number_operation operation;
};

static const struct rule rules[] = {
    {tr_emit_add_float, tr_follow_float, 2, RT_NUMBER_ADD},
    {tr_emit_sub_float, tr_follow_float, 2, RT_NUMBER_SUB},
    {tr_emit_mul_float, tr_follow_float, 2, RT_NUMBER_MUL},
    {tr_emit_fma, tr_follow_float, 3, RT_NUMBER_MAD},
    {tr_emit_div_approx, tr_follow_division, 2, RT_NUMBER_DIV},
    {tr_emit_div_float, tr_follow_division, 2, RT_NUMBER_DIV},
    {tr_emit_rcp_approx, tr_follow_division, 1, RT_NUMBER_RCP},
    {tr_emit_rcp, tr_follow_division, 1, RT_NUMBER_RCP},
    {tr_emit_sqrt_approx, tr_follow_float, 1, RT_NUMBER_SQRT},
    {tr_emit_sqrt, tr_follow_float, 1, RT_NUMBER_SQRT},
    {tr_emit_rsqrt, tr_follow_division, 1, RT_NUMBER_RSQRT},
    {tr_emit_sin, tr_follow_float, 1, RT_NUMBER_SIN},
    {tr_emit_cos, tr_follow_float, 1, RT_NUMBER_COS},
    {tr_emit_lg2, tr_follow_float, 1, RT_NUMBER_LG2},
    {tr_emit_ex2, tr_follow_float, 1, RT_NUMBER_EX2},
    {tr_emit_tanh, tr_follow_float, 1, RT_NUMBER_TANH},
    {tr_emit_abs_float, tr_follow_chosen, 1, 0},
    {tr_emit_neg_float, tr_follow_chosen, 1, 0},
    {tr_emit_copysign, tr_follow_chosen, 2, 0},
    {tr_emit_min_float, tr_follow_chosen, 3, 0},
    {tr_emit_max_float, tr_follow_chosen, 3, 0},
    {tr_emit_setp, tr_follow_comparison, 2, 0},
    {tr_emit_cvt, tr_follow_conversion, 2, RT_NUMBER_CVT},
    {tr_emit_selp, follow_selected, 0, 0},
    {tr_emit_mov, follow_moved, 0, 0},
    {tr_emit_add_int, tr_follow_wrapping, 2, RT_NUMBER_ADD},
    {tr_emit_sub_int, tr_follow_wrapping, 2, RT_NUMBER_SUB},
    {tr_emit_mul_int, tr_follow_wrapping, 2, RT_NUMBER_MUL},
    {tr_emit_mad_int, tr_follow_wrapping, 3, RT_NUMBER_MAD},
    {tr_emit_shl, tr_follow_wrapping, 2, RT_NUMBER_SHL},
    {tr_emit_min_int, tr_follow_kept, 0, 0},
    {tr_emit_max_int, tr_follow_kept, 0, 0},
    {tr_emit_neg_int, tr_follow_kept, 0, 0},
    {tr_emit_abs_int, tr_follow_kept, 0, 0},
    {tr_emit_or, tr_follow_kept, 0, 0},
    {tr_emit_cvta, tr_follow_kept, 0, 0},
    {tr_emit_and, follow_bits, 0, 0},
    {tr_emit_xor, follow_bits, 0, 0},
    {tr_emit_not, follow_bits, 0, 0},
    {tr_emit_shr, tr_follow_cut, 0, 0},
    {tr_emit_bfe, tr_follow_cut, 0, 0},
    {tr_emit_shf, tr_follow_cut, 0, 0},
    {tr_emit_lop3, tr_follow_cut, 0, 0},
    {tr_emit_div_int, tr_follow_cut, 2, RT_NUMBER_DIV},
    {tr_emit_rem, tr_follow_cut, 2, RT_NUMBER_REM},
};

static const struct rule *find_rule(tr_emit_fn emit)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].emit == emit)
            return &rules[i];
    return NULL;
}

static bool is_readable(enum ptx_type type)
{
    return !ptx_type_is_float(type) || type == PTX_TYPE_F32 || type == PTX_TYPE_F64 ||
           tr_is_half(type);
}

static void begin(struct tr_watch *watch, const struct rule *rule)
{
    const struct ptx_inst *inst = watch->inst;
    watch->type = inst->types[rule->emit == tr_emit_cvt ? 1 : 0];
    watch->operation = rule->operation;
    watch->count = inst->operand_count - 1;
    if (watch->count > TR_WATCHED)
        watch->count = TR_WATCHED;
    for (unsigned i = 0; i < watch->count; i++) {
        watch->origins[i] = tr_origin_of(watch->ctx, &inst->operands[i + 1]);
        watch->origins[i].is_own |= is_infinite(&inst->operands[i + 1]);
        if (i < rule->reads && is_readable(watch->type))
            watch->values[i] = tr_value(watch->ctx, inst, i + 1, watch->type);
    }
    if (rule->emit == tr_emit_div_int || rule->emit == tr_emit_rem)
        tell_zero_divisor(watch);
}

void tr_number_emit(struct tr_ctx *ctx, const struct ptx_inst *inst, tr_emit_fn emit)
{
    struct tr_watch watch = {.ctx = ctx, .inst = inst};
    const struct rule *rule = find_rule(emit);
    bool is_followed = rule != NULL && inst->operand_count > 1;
    tell_uses(ctx, inst, emit);
    if (is_followed)
        begin(&watch, rule);
    emit(ctx, inst);
    if (!is_followed || ctx->status != PXR_OK)
        return;
    const struct ptx_operand *result = &inst->operands[0];
    if (result->kind == PTX_OPERAND_PAIR)
        result = &result->elems[0];
    if (result->kind != PTX_OPERAND_REG)
        return;
    struct tr_origin origin = rule->follow(&watch);
    bool is_moved = rule->follow == follow_moved;
    origin.is_own = is_moved ? origin.is_own : rule->follow == tr_follow_wrapping;
    tr_set_origin(ctx, result, &origin);
}
