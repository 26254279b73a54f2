/* SPDX-License-Identifier: Apache-2.0
 *
 * Video instructions (PTX ISA "Scalar Video Instructions", "SIMD Video Instructions"). Parts of
 * registers become 64-bit integers, which hold every intermediate result; the stages are the
 * helpers of rt/video.c, with selectors, widths and operations as constants.
 */
#include "translator/emit/emit.h"

#include <string.h>

#include "translator/rt/arith.h"

static LLVMValueRef constant(struct tr_ctx *ctx, uint32_t value)
{
    return tr_const_int(ctx, 32, value);
}

static bool is_signed(const struct ptx_inst *inst, unsigned type)
{
    return ptx_type_is_signed(inst->types[type]);
}

static LLVMValueRef word(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index)
{
    return tr_value(ctx, inst, index, PTX_TYPE_B32);
}

/* The operation that the name says: "vadd.", "vadd2.", "vadd4.". */
static enum rt_video operation_of(const struct ptx_inst *inst)
{
    static const struct {
        const char *name;
        enum rt_video op;
    } table[] = {
        {"vadd", RT_VIDEO_ADD}, {"vsub", RT_VIDEO_SUB}, {"vabsdiff", RT_VIDEO_ABSDIFF},
        {"vmin", RT_VIDEO_MIN}, {"vmax", RT_VIDEO_MAX}, {"vavrg", RT_VIDEO_AVRG},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strncmp(inst->text.ptr, table[i].name, strlen(table[i].name)) == 0)
            return table[i].op;
    return RT_VIDEO_ADD;
}

static enum rt_video comparison_of(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_CMP)) {
    case PTX_MOD_EQ:
        return RT_VIDEO_EQ;
    case PTX_MOD_NE:
        return RT_VIDEO_NE;
    case PTX_MOD_LT:
        return RT_VIDEO_LT;
    case PTX_MOD_LE:
        return RT_VIDEO_LE;
    case PTX_MOD_GT:
        return RT_VIDEO_GT;
    default:
        return RT_VIDEO_GE;
    }
}

static bool has_operands(const struct ptx_inst *inst, unsigned count)
{
    return inst->operand_count >= count;
}

/* ---- one result ---- */

/* The position that the operand's selector names, and its width in bits. */
static unsigned position_of(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                            unsigned *bits)
{
    const struct ptx_operand *operand = tr_operand(inst, index);
    *bits = operand->lane_bits == 0 ? 32 : operand->lane_bits;
    unsigned position = operand->lanes[0] * operand->lane_bits;
    if (operand->lane_count > 1 || position + *bits > 32) {
        tr_unsupported(ctx, inst, "a selector of this kind");
        return 0;
    }
    return position;
}

static LLVMValueRef selected(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                             bool sign_extend)
{
    unsigned bits;
    unsigned position = position_of(ctx, inst, index, &bits);
    return tr_helper(ctx, "rt_video_part", ctx->i64, word(ctx, inst, index), constant(ctx, 0),
                     constant(ctx, position), constant(ctx, bits), constant(ctx, sign_extend));
}

/* Rules for finishing a result. */
struct scalar_rules {
    bool is_signed;     /* the destination */
    bool is_shift;      /* saturates as shifts do */
    unsigned kept_bits; /* those that the second operation gets */
};

static LLVMValueRef saturated(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef value,
                              const struct scalar_rules *rules, unsigned bits)
{
    LLVMValueRef sign = constant(ctx, rules->is_signed);
    if (!ptx_inst_has(inst, PTX_GROUP_SAT))
        return value;
    if (rules->is_shift)
        return tr_helper(ctx, "rt_video_saturate_shift", ctx->i64, value, sign);
    return tr_helper(ctx, "rt_video_saturate_scalar", ctx->i64, value, constant(ctx, bits), sign);
}

/* Saturation, then the second operation or the merge with c. The manual merges the low half of the
 * result into .h1; devices, the high one. */
static enum pxr_status finish_scalar(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                     LLVMValueRef value, const struct scalar_rules *rules)
{
    unsigned bits;
    unsigned position = position_of(ctx, inst, 0, &bits);
    enum ptx_mod second = ptx_inst_mod(inst, PTX_GROUP_VIDEOOP);
    LLVMValueRef result;
    value = saturated(ctx, inst, value, rules, bits);
    if (second != PTX_MOD_NONE) {
        enum rt_video op = second == PTX_MOD_ADD   ? RT_VIDEO_ADD
                           : second == PTX_MOD_MIN ? RT_VIDEO_MIN
                                                   : RT_VIDEO_MAX;
        value = tr_helper(ctx, "rt_video_narrow", ctx->i64, value, constant(ctx, rules->kept_bits));
        result = tr_helper(ctx, "rt_video_second", ctx->i32, value, word(ctx, inst, 3),
                           constant(ctx, op), constant(ctx, rules->is_signed));
    } else if (bits < 32) {
        if (bits == 16 && position == 16)
            value = LLVMBuildLShr(ctx->builder, value, tr_const_int(ctx, 64, 16), "");
        result = tr_helper(ctx, "rt_video_merge", ctx->i32, value, word(ctx, inst, 3),
                           constant(ctx, position), constant(ctx, bits));
    } else {
        result = LLVMBuildTrunc(ctx->builder, value, ctx->i32, "");
    }
    tr_set(ctx, inst, 0, PTX_TYPE_B32, result);
    return PXR_OK;
}

/* For .min and .max devices keep 32 bits of a sum or difference, and all of other results. */
static unsigned kept_bits(enum rt_video op)
{
    return op == RT_VIDEO_ADD || op == RT_VIDEO_SUB ? 32 : 64;
}

enum pxr_status tr_emit_video_scalar(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum rt_video op = operation_of(inst);
    struct scalar_rules rules = {.is_signed = is_signed(inst, 0), .kept_bits = kept_bits(op)};
    if (!has_operands(inst, 3))
        return tr_unsupported(ctx, inst, "an operand is missing");
    LLVMValueRef x = selected(ctx, inst, 1, is_signed(inst, 1));
    LLVMValueRef y = selected(ctx, inst, 2, is_signed(inst, 2));
    LLVMValueRef value = tr_helper(ctx, "rt_video_operate", ctx->i64, x, y, constant(ctx, op));
    return finish_scalar(ctx, inst, value, &rules);
}

enum pxr_status tr_emit_video_shift(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    bool is_left = strncmp(inst->text.ptr, "vshl", 4) == 0;
    bool clamps = ptx_inst_mod(inst, PTX_GROUP_WRAP) == PTX_MOD_CLAMP;
    bool is_narrowed = ptx_inst_has(inst, PTX_GROUP_SAT);
    struct scalar_rules rules = {
        .is_signed = is_signed(inst, 0), .is_shift = true, .kept_bits = is_narrowed ? 32 : 64};
    if (!has_operands(inst, 3))
        return tr_unsupported(ctx, inst, "an operand is missing");
    LLVMValueRef x = selected(ctx, inst, 1, is_signed(inst, 1));
    LLVMValueRef y = selected(ctx, inst, 2, false);
    LLVMValueRef value = tr_helper(ctx, "rt_video_shift", ctx->i64, x, y, constant(ctx, is_left),
                                   constant(ctx, clamps));
    return finish_scalar(ctx, inst, value, &rules);
}

/* "Destination d and operand c are also unsigned": devices compare with c by the type of a. */
enum pxr_status tr_emit_vset(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct scalar_rules rules = {.is_signed = is_signed(inst, 0), .kept_bits = 64};
    if (!has_operands(inst, 3))
        return tr_unsupported(ctx, inst, "an operand is missing");
    LLVMValueRef x = selected(ctx, inst, 1, is_signed(inst, 0));
    LLVMValueRef y = selected(ctx, inst, 2, is_signed(inst, 1));
    LLVMValueRef value =
        tr_helper(ctx, "rt_video_operate", ctx->i64, x, y, constant(ctx, comparison_of(inst)));
    return finish_scalar(ctx, inst, value, &rules);
}

/* "(a*b) is negated if and only if exactly one of a or b is negated." */
enum pxr_status tr_emit_vmad(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (!has_operands(inst, 4))
        return tr_unsupported(ctx, inst, "an operand is missing");
    if (tr_operand(inst, 3)->lane_bits != 0)
        return tr_unsupported(ctx, inst, "a part of the third source");
    bool negates_product = tr_operand(inst, 1)->is_negated != tr_operand(inst, 2)->is_negated;
    bool negates_addend = tr_operand(inst, 3)->is_negated;
    enum ptx_mod scale = ptx_inst_mod(inst, PTX_GROUP_SCALE);
    uint32_t flags = 0;
    if (is_signed(inst, 1) || is_signed(inst, 2) || negates_product || negates_addend)
        flags |= RT_VMAD_SIGNED;
    if (ptx_inst_has(inst, PTX_GROUP_SAT))
        flags |= RT_VMAD_SATURATE;
    if (ptx_inst_has(inst, PTX_GROUP_PO))
        flags |= RT_VMAD_PLUS_ONE;
    else if (negates_product)
        flags |= RT_VMAD_NEGATE_PRODUCT;
    else if (negates_addend)
        flags |= RT_VMAD_NEGATE_ADDEND;
    unsigned shift = scale == PTX_MOD_SHR7 ? 7 : scale == PTX_MOD_SHR15 ? 15 : 0;
    LLVMValueRef value =
        tr_helper(ctx, "rt_video_mad", ctx->i32, selected(ctx, inst, 1, is_signed(inst, 1)),
                  selected(ctx, inst, 2, is_signed(inst, 2)), word(ctx, inst, 3),
                  constant(ctx, flags), constant(ctx, shift));
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    return PXR_OK;
}

/* ---- two or four results ---- */

/* Lane i of operand a (index 1) or b (2), from the bytes or halves of {b, a}: by the operand's
 * selector, or its own i-th. */
static LLVMValueRef lane(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                         unsigned i, unsigned bits, bool sign_extend)
{
    const struct ptx_operand *operand = tr_operand(inst, index);
    unsigned count = 32 / bits;
    unsigned chosen = operand->lane_count == 0 ? (index - 1) * count + i : operand->lanes[i];
    return tr_helper(ctx, "rt_video_part", ctx->i64, word(ctx, inst, 1), word(ctx, inst, 2),
                     constant(ctx, chosen * bits), constant(ctx, bits), constant(ctx, sign_extend));
}

/* A mask names lanes; a selector chooses for every lane. */
static bool are_selectors_fit(const struct ptx_inst *inst, unsigned bits)
{
    for (unsigned i = 0; i < 3; i++) {
        const struct ptx_operand *operand = tr_operand(inst, i);
        unsigned count = 32 / bits;
        if (operand->lane_count == 0)
            continue;
        if (operand->lane_bits != bits || (i > 0 && operand->lane_count != count))
            return false;
        for (unsigned k = 0; k < operand->lane_count; k++)
            if (i == 0 && operand->lanes[k] >= count)
                return false;
    }
    return true;
}

static bool is_in_mask(const struct ptx_operand *operand, unsigned i)
{
    for (unsigned k = 0; k < operand->lane_count; k++)
        if (operand->lanes[k] == i)
            return true;
    return operand->lane_count == 0;
}

/* first_type: the position of a's type. */
static enum pxr_status emit_simd(struct tr_ctx *ctx, const struct ptx_inst *inst, enum rt_video op,
                                 unsigned first_type)
{
    const char *dot = memchr(inst->text.ptr, '.', inst->text.len);
    unsigned bits = dot != NULL && dot[-1] == '2' ? 16 : 8;
    bool accumulates = ptx_inst_has(inst, PTX_GROUP_VIDEOOP);
    if (!has_operands(inst, 4))
        return tr_unsupported(ctx, inst, "an operand is missing");
    if (!are_selectors_fit(inst, bits))
        return tr_unsupported(ctx, inst, "a selector of this kind");
    LLVMValueRef result = word(ctx, inst, 3);
    for (unsigned i = 0; i < 32 / bits; i++) {
        if (!is_in_mask(tr_operand(inst, 0), i))
            continue;
        LLVMValueRef x = lane(ctx, inst, 1, i, bits, is_signed(inst, first_type));
        LLVMValueRef y = lane(ctx, inst, 2, i, bits, is_signed(inst, first_type + 1));
        LLVMValueRef value = tr_helper(ctx, "rt_video_operate", ctx->i64, x, y, constant(ctx, op));
        if (ptx_inst_has(inst, PTX_GROUP_SAT))
            value = tr_helper(ctx, "rt_video_saturate", ctx->i64, value, constant(ctx, bits),
                              constant(ctx, is_signed(inst, 0)));
        if (accumulates)
            result = LLVMBuildAdd(ctx->builder, result,
                                  LLVMBuildTrunc(ctx->builder, value, ctx->i32, ""), "");
        else
            result = tr_helper(ctx, "rt_video_merge", ctx->i32, value, result,
                               constant(ctx, i * bits), constant(ctx, bits));
    }
    tr_set(ctx, inst, 0, PTX_TYPE_B32, result);
    return PXR_OK;
}

enum pxr_status tr_emit_video_simd(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return emit_simd(ctx, inst, operation_of(inst), 1);
}

enum pxr_status tr_emit_vset_simd(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return emit_simd(ctx, inst, comparison_of(inst), 0);
}
