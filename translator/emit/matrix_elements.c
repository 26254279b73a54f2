/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of matrices: from and to the words of registers.
 */
#include "translator/emit/matrix.h"

#define BF16_SHIFT 16
#define TF32_MASK  0xffffe000u /* the lower bits are ignored */
#define NAN_F32    0x7fffffffu
#define NAN_F16    0x7fffu
#define NAN_F64    UINT64_C(0xfff8000000000000)

/* Floats of a byte as those of 16 bits: the bits between sign and exponent are zeros, which makes
 * it smaller by a power of two. */
struct small_float {
    enum ptx_type type;
    unsigned bits;
    unsigned shift; /* of the magnitude */
    float scale;
    unsigned nan; /* magnitude; 0: it has none, or the same as the longer float */
};

static const struct small_float small_floats[] = {
    {PTX_TYPE_E4M3, 8, 7, 0x1p8F, 0x7f}, {PTX_TYPE_E5M2, 8, 8, 1, 0},
    {PTX_TYPE_E3M2, 6, 8, 0x1p12F, 0},   {PTX_TYPE_E2M3, 6, 7, 0x1p14F, 0},
    {PTX_TYPE_E2M1, 4, 9, 0x1p14F, 0},
};

static const struct small_float *find_small(enum ptx_type type)
{
    for (size_t i = 0; i < sizeof small_floats / sizeof small_floats[0]; i++)
        if (small_floats[i].type == type)
            return &small_floats[i];
    return NULL;
}

LLVMTypeRef tr_number_type(struct tr_ctx *ctx, const struct ptx_fragment *fragment)
{
    if (fragment->type == PTX_TYPE_F64)
        return ctx->f64;
    return ptx_type_is_float(fragment->type) ? ctx->f32 : ctx->i32;
}

static LLVMTypeRef half_type(struct tr_ctx *ctx)
{
    return LLVMHalfTypeInContext(ctx->llvm);
}

static LLVMValueRef bitcast(struct tr_ctx *ctx, LLVMValueRef lanes, LLVMTypeRef element)
{
    return LLVMBuildBitCast(ctx->builder, lanes, tr_lanes_of(element), "");
}

static LLVMValueRef shifted(struct tr_ctx *ctx, LLVMOpcode opcode, LLVMValueRef lanes, unsigned by)
{
    unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(lanes)));
    return by == 0 ? lanes
                   : LLVMBuildBinOp(ctx->builder, opcode, lanes, tr_splat_int(ctx, bits, by), "");
}

static LLVMValueRef masked(struct tr_ctx *ctx, LLVMValueRef lanes, uint32_t mask)
{
    unsigned bits = LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(lanes)));
    return LLVMBuildAnd(ctx->builder, lanes, tr_splat_int(ctx, bits, mask), "");
}

static LLVMValueRef float_of_half(struct tr_ctx *ctx, LLVMValueRef bits)
{
    return LLVMBuildFPExt(ctx->builder, bitcast(ctx, bits, half_type(ctx)), tr_lanes_of(ctx->f32),
                          "");
}

/* bits: <32 x i16>, above the element whatever the register has there. */
static LLVMValueRef float_of_small(struct tr_ctx *ctx, const struct small_float *small,
                                   LLVMValueRef bits)
{
    uint32_t magnitude_mask = (1u << (small->bits - 1)) - 1;
    LLVMValueRef magnitude = masked(ctx, bits, magnitude_mask);
    LLVMValueRef sign = masked(ctx, shifted(ctx, LLVMShl, bits, 16 - small->bits), 0x8000);
    LLVMValueRef half =
        LLVMBuildOr(ctx->builder, sign, shifted(ctx, LLVMShl, magnitude, small->shift), "");
    LLVMValueRef value = float_of_half(ctx, half);
    if (small->scale != 1) {
        LLVMValueRef scale = tr_splat(ctx, LLVMConstReal(ctx->f32, small->scale));
        value = LLVMBuildFMul(ctx->builder, value, scale, "");
    }
    if (small->nan == 0)
        return value;
    LLVMValueRef is_nan =
        LLVMBuildICmp(ctx->builder, LLVMIntEQ, magnitude, tr_splat_int(ctx, 16, small->nan), "");
    LLVMValueRef nan = bitcast(ctx, tr_splat_int(ctx, 32, NAN_F32), ctx->f32);
    return LLVMBuildSelect(ctx->builder, is_nan, nan, value, "");
}

LLVMValueRef tr_number_of_small(struct tr_ctx *ctx, enum ptx_type type, LLVMValueRef words)
{
    words = LLVMBuildTrunc(ctx->builder, words, tr_lanes_of(ctx->i16), "");
    return float_of_small(ctx, find_small(type), words);
}

/* place: the element's, in its register. Elements of 4 bits in a byte are in its middle. */
static LLVMValueRef number_of(struct tr_ctx *ctx, const struct ptx_fragment *fragment,
                              LLVMValueRef words, unsigned place)
{
    unsigned shift = place * fragment->bits;
    LLVMTypeRef i16_lanes = tr_lanes_of(ctx->i16);
    switch (fragment->type) {
    case PTX_TYPE_F32:
    case PTX_TYPE_F64:
        return bitcast(ctx, words, tr_number_type(ctx, fragment));
    case PTX_TYPE_TF32:
        return bitcast(ctx, masked(ctx, words, TF32_MASK), ctx->f32);
    case PTX_TYPE_BF16:
        words = place == 0 ? shifted(ctx, LLVMShl, words, BF16_SHIFT)
                           : masked(ctx, words, UINT32_MAX << BF16_SHIFT);
        return bitcast(ctx, words, ctx->f32);
    case PTX_TYPE_F16:
        words = LLVMBuildTrunc(ctx->builder, shifted(ctx, LLVMLShr, words, shift), i16_lanes, "");
        return float_of_half(ctx, words);
    default:
        break;
    }
    const struct small_float *small = find_small(fragment->type);
    if (small == NULL)
        return words;
    if (small->bits == 4 && fragment->bits == 8)
        shift += 2;
    return tr_number_of_small(ctx, fragment->type, shifted(ctx, LLVMLShr, words, shift));
}

void tr_load_registers(const struct tr_warp_function *made, const struct ptx_fragment *fragment,
                       unsigned row, LLVMValueRef *registers)
{
    unsigned bits = ptx_fragment_register_bits(fragment);
    for (unsigned r = 0; r < ptx_fragment_registers(fragment); r++)
        registers[r] = tr_load_row(made, row + r * tr_register_rows(fragment), bits);
}

void tr_find_numbers(struct tr_ctx *ctx, const struct ptx_fragment *fragment,
                     const LLVMValueRef *registers, LLVMValueRef *numbers)
{
    unsigned in_register = ptx_fragment_register_bits(fragment) / fragment->bits;
    for (unsigned i = 0; i < fragment->elements; i++)
        numbers[i] = number_of(ctx, fragment, registers[i / in_register], i % in_register);
}

/* ---- results ---- */

static LLVMValueRef with_one_nan(struct tr_ctx *ctx, LLVMValueRef numbers, LLVMValueRef bits,
                                 uint64_t nan)
{
    unsigned width = LLVMGetIntTypeWidth(LLVMGetElementType(LLVMTypeOf(bits)));
    LLVMValueRef is_nan = LLVMBuildFCmp(ctx->builder, LLVMRealUNO, numbers, numbers, "");
    return LLVMBuildSelect(ctx->builder, is_nan, tr_splat_int(ctx, width, nan), bits, "");
}

static LLVMValueRef result_word(struct tr_ctx *ctx, enum ptx_type type, LLVMValueRef *numbers)
{
    LLVMValueRef halves[2];
    switch (type) {
    case PTX_TYPE_F32:
        return with_one_nan(ctx, numbers[0], bitcast(ctx, numbers[0], ctx->i32), NAN_F32);
    case PTX_TYPE_F64:
        return with_one_nan(ctx, numbers[0], bitcast(ctx, numbers[0], ctx->i64), NAN_F64);
    case PTX_TYPE_F16:
        for (unsigned i = 0; i < 2; i++) {
            LLVMValueRef half =
                LLVMBuildFPTrunc(ctx->builder, numbers[i], tr_lanes_of(half_type(ctx)), "");
            half = with_one_nan(ctx, numbers[i], bitcast(ctx, half, ctx->i16), NAN_F16);
            halves[i] = LLVMBuildZExt(ctx->builder, half, tr_lanes_of(ctx->i32), "");
        }
        return LLVMBuildOr(ctx->builder, halves[0], shifted(ctx, LLVMShl, halves[1], 16), "");
    default:
        return numbers[0];
    }
}

void tr_store_numbers(const struct tr_warp_function *made, const struct ptx_fragment *fragment,
                      unsigned row, LLVMValueRef *numbers)
{
    unsigned in_register = ptx_fragment_register_bits(fragment) / fragment->bits;
    for (unsigned r = 0; r < ptx_fragment_registers(fragment); r++)
        tr_store_row(made, row + r * tr_register_rows(fragment),
                     result_word(made->ctx, fragment->type, &numbers[r * in_register]));
}
