/* SPDX-License-Identifier: Apache-2.0
 *
 * cvt to and from pairs of 4-, 6- and 8-bit floats and of ue8m0 scales, and cvt.pack (PTX ISA
 * "cvt", "cvt.pack"). The helpers of rt/small.c convert one value.
 */
#include "translator/emit/emit_float.h"

/* Bits from one value of a pair to the next. */
static unsigned stride_of(enum ptx_type type)
{
    return ptx_type_bits(type) / 2;
}

static bool is_scale(enum ptx_type type)
{
    return type == PTX_TYPE_UE8M0X2;
}

bool tr_is_small(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_E4M3X2:
    case PTX_TYPE_E5M2X2:
    case PTX_TYPE_E2M3X2:
    case PTX_TYPE_E3M2X2:
    case PTX_TYPE_E2M1X2:
    case PTX_TYPE_UE8M0X2:
        return true;
    default:
        return false;
    }
}

static LLVMValueRef constant(struct tr_ctx *ctx, uint32_t value)
{
    return tr_const_int(ctx, 32, value);
}

static LLVMValueRef format_of(struct tr_ctx *ctx, enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_E4M3X2:
    case PTX_TYPE_E4M3X4:
        return constant(ctx, RT_SMALL_E4M3);
    case PTX_TYPE_E5M2X2:
    case PTX_TYPE_E5M2X4:
        return constant(ctx, RT_SMALL_E5M2);
    case PTX_TYPE_E2M3X2:
    case PTX_TYPE_E2M3X4:
        return constant(ctx, RT_SMALL_E2M3);
    case PTX_TYPE_E3M2X2:
    case PTX_TYPE_E3M2X4:
        return constant(ctx, RT_SMALL_E3M2);
    default:
        return constant(ctx, RT_SMALL_E2M1);
    }
}

static LLVMValueRef has(struct tr_ctx *ctx, const struct ptx_inst *inst, enum ptx_group group)
{
    return constant(ctx, ptx_inst_has(inst, group));
}

/* The value that goes to the upper (1) or lower (0) half, as f32: operand a is the upper one of
 * two, or holds both. */
static LLVMValueRef source(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned half)
{
    enum ptx_type from = inst->types[1];
    if (from == PTX_TYPE_F32)
        return tr_value(ctx, inst, 2 - half, PTX_TYPE_F32);
    return tr_half_source_f32(ctx, inst, 1, from, half);
}

static enum pxr_status to_small(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type to = inst->types[0];
    LLVMValueRef mode = constant(ctx, tr_round_mode(ptx_inst_mod(inst, PTX_GROUP_ROUND)));
    LLVMValueRef parts[2];
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef value = source(ctx, inst, i);
        parts[i] = is_scale(to) ? tr_helper(ctx, "rt_f32_to_ue8m0", ctx->i32, value, mode,
                                            has(ctx, inst, PTX_GROUP_SATFINITE))
                                : tr_helper(ctx, "rt_f32_to_small", ctx->i32, value,
                                            format_of(ctx, to), has(ctx, inst, PTX_GROUP_RELU));
    }
    LLVMValueRef upper = LLVMBuildShl(ctx->builder, parts[1], constant(ctx, stride_of(to)), "");
    LLVMValueRef pair = LLVMBuildOr(ctx->builder, upper, parts[0], "");
    tr_set(ctx, inst, 0, to, tr_resize(ctx, pair, ptx_type_bits(to), false));
    return PXR_OK;
}

static enum pxr_status from_small(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type from = inst->types[1];
    LLVMValueRef pair = tr_resize(ctx, tr_value(ctx, inst, 1, from), 32, false);
    LLVMValueRef result = NULL;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef value =
            LLVMBuildLShr(ctx->builder, pair, constant(ctx, i * stride_of(from)), "");
        value = is_scale(from) ? tr_helper(ctx, "rt_ue8m0_to_bf16", ctx->i32, value)
                               : tr_helper(ctx, "rt_small_to_f16", ctx->i32, value,
                                           format_of(ctx, from), has(ctx, inst, PTX_GROUP_RELU));
        result = tr_half_join(ctx, result, value);
    }
    tr_set(ctx, inst, 0, inst->types[0], result);
    return PXR_OK;
}

enum pxr_status tr_convert_small(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type to = inst->types[0];
    enum ptx_type from = inst->types[1];
    if (tr_is_small(from)) {
        if (to != (is_scale(from) ? PTX_TYPE_BF16X2 : PTX_TYPE_F16X2))
            return tr_unsupported(ctx, inst, "these types together");
        return from_small(ctx, inst);
    }
    if (inst->operand_count != (from == PTX_TYPE_F32 ? 3u : 2u))
        return tr_unsupported(ctx, inst, "this number of operands");
    if (from != PTX_TYPE_F32 && !tr_is_half_pair(from))
        return tr_unsupported(ctx, inst, "these types together");
    return to_small(ctx, inst);
}

/* "Lower 16 bits of rbits are used for e, f and upper 16 bits for a, b"; for e2m1x4, "lower 8 bits
 * from both 16-bit halves for e, f and upper 8 bits for a, b". */
static LLVMValueRef random_bits(struct tr_ctx *ctx, enum ptx_type to, LLVMValueRef random,
                                bool is_upper)
{
    LLVMBuilderRef b = ctx->builder;
    if (to != PTX_TYPE_E2M1X4)
        return LLVMBuildLShr(b, random, constant(ctx, is_upper ? 16 : 0), "");
    LLVMValueRef bytes = LLVMBuildLShr(b, random, constant(ctx, is_upper ? 8 : 0), "");
    LLVMValueRef low = LLVMBuildAnd(b, bytes, constant(ctx, 0xff), "");
    LLVMValueRef high = LLVMBuildLShr(b, bytes, constant(ctx, 8), "");
    return LLVMBuildOr(b, low, LLVMBuildAnd(b, high, constant(ctx, 0xff00), ""), "");
}

/* cvt.rs d, {a, b, e, f}, rbits: a goes to the uppermost bits of d. */
enum pxr_status tr_emit_cvt_four(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type to = inst->types[0];
    struct ptx_operand parts[TR_MAX_VECTOR];
    if (tr_vector_parts(tr_operand(inst, 1), parts) != 4)
        return tr_unsupported(ctx, inst, "this number of sources");
    LLVMValueRef random = tr_value(ctx, inst, 2, PTX_TYPE_B32);
    LLVMValueRef result = constant(ctx, 0);
    for (unsigned i = 0; i < 4; i++) {
        LLVMValueRef value =
            tr_helper(ctx, "rt_f32_to_small_random", ctx->i32,
                      tr_operand_value(ctx, &parts[i], PTX_TYPE_F32), format_of(ctx, to),
                      has(ctx, inst, PTX_GROUP_RELU), random_bits(ctx, to, random, i < 2));
        result = LLVMBuildShl(ctx->builder, result, constant(ctx, ptx_type_bits(to) / 4), "");
        result = LLVMBuildOr(ctx->builder, result, value, "");
    }
    tr_set(ctx, inst, 0, to, tr_resize(ctx, result, ptx_type_bits(to), false));
    return PXR_OK;
}

enum pxr_status tr_emit_cvt_pack(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type to = inst->types[0];
    bool has_rest = inst->operand_count > 3;
    LLVMValueRef rest = has_rest ? tr_value(ctx, inst, 3, PTX_TYPE_B32) : constant(ctx, 0);
    if (has_rest != (ptx_type_bits(to) < 16))
        return tr_unsupported(ctx, inst, "this number of operands");
    LLVMValueRef value =
        tr_helper(ctx, "rt_cvt_pack", ctx->i32, tr_value(ctx, inst, 1, PTX_TYPE_S32),
                  tr_value(ctx, inst, 2, PTX_TYPE_S32), rest, constant(ctx, ptx_type_bits(to)),
                  constant(ctx, ptx_type_is_signed(to)));
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    return PXR_OK;
}
