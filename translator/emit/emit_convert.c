/* SPDX-License-Identifier: Apache-2.0
 *
 * cvt (PTX ISA "Data Movement and Conversion Instructions: cvt"): between integers, f16, bf16, f32
 * and f64, and from f32 to tf32 and to pairs of 16-bit floats. A conversion is read, brought to its
 * destination by the function for its kind, then clamped and stored. Smaller formats:
 * emit_convert_small.c.
 */
#include "translator/emit/emit_float.h"

struct conversion {
    struct tr_ctx *ctx;
    const struct ptx_inst *inst;
    enum ptx_type to;
    enum ptx_type from;
    enum ptx_mod rounding; /* PTX_MOD_NONE: none written */
    bool flushes;          /* .ftz: of f32 sources and results */
    bool saturates;        /* .sat */
    bool clamps_negative;  /* .relu */
    bool stays_finite;     /* .satfinite */
};

static LLVMValueRef constant(const struct conversion *cvt, uint32_t value)
{
    return tr_const_int(cvt->ctx, 32, value);
}

static LLVMValueRef mode_of(const struct conversion *cvt)
{
    return constant(cvt, tr_round_mode(cvt->rounding));
}

static bool rounds_to_integer(const struct conversion *cvt)
{
    return cvt->rounding == PTX_MOD_RNI || cvt->rounding == PTX_MOD_RZI ||
           cvt->rounding == PTX_MOD_RMI || cvt->rounding == PTX_MOD_RPI;
}

/* ---- integer to integer ---- */

/* .sat: "limits the result to MININT..MAXINT for the size of the operation". value is the source
 * extended to 64 bits by its own sign. */
static LLVMValueRef clamp_integer(const struct conversion *cvt, LLVMValueRef value)
{
    LLVMBuilderRef b = cvt->ctx->builder;
    unsigned bits = ptx_type_bits(cvt->to);
    bool to_signed = ptx_type_is_signed(cvt->to);
    bool from_signed = ptx_type_is_signed(cvt->from);
    uint64_t most = UINT64_MAX >> (64 - bits + (to_signed ? 1 : 0));
    if (from_signed && most > INT64_MAX)
        most = INT64_MAX;
    LLVMValueRef max = tr_const_int(cvt->ctx, 64, most);
    LLVMValueRef above = LLVMBuildICmp(b, from_signed ? LLVMIntSGT : LLVMIntUGT, value, max, "");
    LLVMValueRef result = LLVMBuildSelect(b, above, max, value, "");
    if (!from_signed)
        return result;
    LLVMValueRef min = tr_const_int(cvt->ctx, 64, to_signed ? ~most : 0);
    LLVMValueRef below = LLVMBuildICmp(b, LLVMIntSLT, value, min, "");
    return LLVMBuildSelect(b, below, min, result, "");
}

static LLVMValueRef integer_to_integer(const struct conversion *cvt, LLVMValueRef value)
{
    bool is_signed = ptx_type_is_signed(cvt->from);
    if (cvt->saturates)
        value = clamp_integer(cvt, tr_resize(cvt->ctx, value, 64, is_signed));
    return tr_resize(cvt->ctx, value, ptx_type_bits(cvt->to), is_signed);
}

/* ---- float to integer ---- */

static LLVMValueRef round_to_integer(const struct conversion *cvt, LLVMValueRef value)
{
    const char *name = cvt->rounding == PTX_MOD_RNI   ? "llvm.roundeven"
                       : cvt->rounding == PTX_MOD_RZI ? "llvm.trunc"
                       : cvt->rounding == PTX_MOD_RMI ? "llvm.floor"
                                                      : "llvm.ceil";
    LLVMTypeRef type = LLVMTypeOf(value);
    return tr_intrinsic(cvt->ctx, name, &type, 1, &value, 1);
}

/* "In float-to-integer conversion the result is clamped to the destination range by default". "NaN
 * input results in zero if source is not .f64 and destination is not .s64, nor .u64; otherwise
 * 1 << (BitWidth(dtype) - 1)". LLVM's conversion clamps and gives 0. */
static LLVMValueRef float_to_integer(const struct conversion *cvt, LLVMValueRef value)
{
    struct tr_ctx *ctx = cvt->ctx;
    if (cvt->rounding != PTX_MOD_RZI) /* the conversion itself truncates */
        value = round_to_integer(cvt, value);
    unsigned bits = ptx_type_bits(cvt->to);
    LLVMTypeRef types[] = {tr_int_type(ctx, bits), LLVMTypeOf(value)};
    const char *name = ptx_type_is_signed(cvt->to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
    LLVMValueRef result = tr_intrinsic(ctx, name, types, 2, &value, 1);
    if (cvt->from != PTX_TYPE_F64 && bits != 64)
        return result;
    LLVMValueRef is_nan = LLVMBuildFCmp(ctx->builder, LLVMRealUNO, value, value, "");
    LLVMValueRef top = tr_const_int(ctx, bits, UINT64_C(1) << (bits - 1));
    return LLVMBuildSelect(ctx->builder, is_nan, top, result, "");
}

/* ---- to float ---- */

static LLVMValueRef plain_integer_to_float(const struct conversion *cvt, LLVMValueRef value,
                                           LLVMTypeRef type)
{
    if (ptx_type_is_signed(cvt->from))
        return LLVMBuildSIToFP(cvt->ctx->builder, value, type, "");
    return LLVMBuildUIToFP(cvt->ctx->builder, value, type, "");
}

static LLVMValueRef wide_integer_to_float(const struct conversion *cvt, LLVMValueRef value,
                                          const char *from_signed, const char *from_unsigned)
{
    const char *name = ptx_type_is_signed(cvt->from) ? from_signed : from_unsigned;
    LLVMTypeRef type = cvt->to == PTX_TYPE_F32   ? cvt->ctx->f32
                       : cvt->to == PTX_TYPE_F64 ? cvt->ctx->f64
                                                 : cvt->ctx->i32;
    return tr_helper(cvt->ctx, name, type, value, mode_of(cvt));
}

/* The NaN that f32 arithmetic makes has the sign bit set on x86 and not on devices. Widening to f64
 * keeps the sign, and that is how programs come to print it. (f64 arithmetic makes the same on
 * both.)
 */
static LLVMValueRef device_nan(struct tr_ctx *ctx, LLVMValueRef value)
{
    LLVMValueRef bits = LLVMBuildBitCast(ctx->builder, value, ctx->i32, "");
    LLVMValueRef is_host_nan =
        LLVMBuildICmp(ctx->builder, LLVMIntEQ, bits, tr_const_int(ctx, 32, 0xffc00000), "");
    LLVMValueRef nan = LLVMConstBitCast(tr_const_int(ctx, 32, 0x7fffffff), ctx->f32);
    return LLVMBuildSelect(ctx->builder, is_host_nan, nan, value, "");
}

/* f32 or f64 to any floating-point type; 16-bit results as i32. */
static LLVMValueRef float_to_float(const struct conversion *cvt, LLVMValueRef value)
{
    struct tr_ctx *ctx = cvt->ctx;
    bool from_f64 = LLVMTypeOf(value) == ctx->f64;
    switch (cvt->to) {
    case PTX_TYPE_F64:
        return from_f64 ? value
                        : LLVMBuildFPExt(ctx->builder, device_nan(ctx, value), ctx->f64, "");
    case PTX_TYPE_F32:
        if (!from_f64)
            return value;
        if (tr_round_mode(cvt->rounding) == RT_ROUND_NEAREST || rounds_to_integer(cvt))
            return LLVMBuildFPTrunc(ctx->builder, value, ctx->f32, "");
        return tr_helper(ctx, "rt_f64_to_f32", ctx->f32, value, mode_of(cvt));
    case PTX_TYPE_TF32:
        if (!from_f64)
            return tr_helper(ctx, "rt_f32_to_tf32", ctx->i32, value, mode_of(cvt));
        break;
    case PTX_TYPE_F16:
    case PTX_TYPE_F16X2:
        return tr_helper(ctx, from_f64 ? "rt_f64_to_f16" : "rt_f32_to_f16", ctx->i32, value,
                         mode_of(cvt));
    case PTX_TYPE_BF16:
    case PTX_TYPE_BF16X2:
        return tr_helper(ctx, from_f64 ? "rt_f64_to_bf16" : "rt_f32_to_bf16", ctx->i32, value,
                         mode_of(cvt));
    default:
        break;
    }
    tr_unsupported(ctx, cvt->inst, NULL);
    return LLVMConstNull(ctx->i32);
}

/* 16-bit integers are exact in f32, 32-bit ones in f64: these convert in two steps. */
static LLVMValueRef integer_to_float(const struct conversion *cvt, LLVMValueRef value)
{
    struct tr_ctx *ctx = cvt->ctx;
    unsigned bits = ptx_type_bits(cvt->from);
    bool is_nearest = tr_round_mode(cvt->rounding) == RT_ROUND_NEAREST;
    if (cvt->to == PTX_TYPE_F64 && (is_nearest || bits <= 32))
        return plain_integer_to_float(cvt, value, ctx->f64);
    if (cvt->to == PTX_TYPE_F32 && (is_nearest || bits <= 16))
        return plain_integer_to_float(cvt, value, ctx->f32);
    if (bits <= 32)
        return float_to_float(cvt,
                              plain_integer_to_float(cvt, value, bits <= 16 ? ctx->f32 : ctx->f64));
    switch (cvt->to) {
    case PTX_TYPE_F64:
        return wide_integer_to_float(cvt, value, "rt_s64_to_f64", "rt_u64_to_f64");
    case PTX_TYPE_F32:
        return wide_integer_to_float(cvt, value, "rt_s64_to_f32", "rt_u64_to_f32");
    case PTX_TYPE_F16:
        return wide_integer_to_float(cvt, value, "rt_s64_to_f16", "rt_u64_to_f16");
    default:
        return wide_integer_to_float(cvt, value, "rt_s64_to_bf16", "rt_u64_to_bf16");
    }
}

/* ---- before and after ---- */

/* Source operand `index`; 16-bit floats as f32. Devices do not flush the sources of cvt.f16.f32,
 * although the manual says that .ftz applies to f32 inputs. */
static LLVMValueRef source(const struct conversion *cvt, unsigned index)
{
    struct tr_ctx *ctx = cvt->ctx;
    LLVMValueRef value = tr_value(ctx, cvt->inst, index, cvt->from);
    if (cvt->from == PTX_TYPE_F16 || cvt->from == PTX_TYPE_BF16)
        return tr_helper(ctx, "rt_half_to_f32", ctx->f32, tr_resize(ctx, value, 32, false),
                         tr_half_format(ctx, cvt->from));
    if (cvt->flushes && cvt->from == PTX_TYPE_F32 && cvt->to != PTX_TYPE_F16)
        return tr_ftz_f32(ctx, value);
    return value;
}

/* .ftz, .sat, .satfinite and .relu of a floating-point result. */
static LLVMValueRef finish_float(const struct conversion *cvt, LLVMValueRef value)
{
    struct tr_ctx *ctx = cvt->ctx;
    if (cvt->to == PTX_TYPE_F32 && cvt->flushes)
        value = tr_ftz_f32(ctx, value);
    if (cvt->saturates) {
        if (tr_is_half(cvt->to))
            value = tr_helper(ctx, "rt_half_sat", ctx->i32, value, tr_half_format(ctx, cvt->to));
        else if (cvt->to == PTX_TYPE_F32)
            value = tr_helper(ctx, "rt_sat_f32", ctx->f32, value);
        else if (cvt->to == PTX_TYPE_F64)
            value = tr_helper(ctx, "rt_sat_f64", ctx->f64, value);
        else
            tr_unsupported(ctx, cvt->inst, NULL);
    }
    if (cvt->stays_finite)
        value =
            tr_is_half(cvt->to)
                ? tr_helper(ctx, "rt_half_satfinite", ctx->i32, value, tr_half_format(ctx, cvt->to))
                : tr_helper(ctx, "rt_satfinite_tf32", ctx->i32, value, mode_of(cvt));
    if (cvt->clamps_negative) {
        if (tr_is_half(cvt->to))
            value = tr_helper(ctx, "rt_half_relu", ctx->i32, value, tr_half_format(ctx, cvt->to));
        else if (cvt->to == PTX_TYPE_TF32)
            value = tr_helper(ctx, "rt_relu_tf32", ctx->i32, value);
        else
            tr_unsupported(ctx, cvt->inst, ".relu of this type");
    }
    return value;
}

/* .rs: operand 3 has the random bits, those of a in the upper half and of b in the lower. */
static LLVMValueRef round_randomly(const struct conversion *cvt, LLVMValueRef value, unsigned index)
{
    struct tr_ctx *ctx = cvt->ctx;
    LLVMValueRef random = tr_value(ctx, cvt->inst, 3, PTX_TYPE_B32);
    bool is_f16 = cvt->to == PTX_TYPE_F16X2;
    if (index == 1)
        random = LLVMBuildLShr(ctx->builder, random, constant(cvt, 16), "");
    return tr_helper(ctx, is_f16 ? "rt_f32_to_f16_random" : "rt_f32_to_bf16_random", ctx->i32,
                     value, random);
}

/* Source operand `index` converted; 16-bit floats as i32. */
static LLVMValueRef convert(const struct conversion *cvt, unsigned index)
{
    LLVMValueRef value = source(cvt, index);
    if (!ptx_type_is_float(cvt->to))
        return ptx_type_is_float(cvt->from) ? float_to_integer(cvt, value)
                                            : integer_to_integer(cvt, value);
    if (!ptx_type_is_float(cvt->from))
        return finish_float(cvt, integer_to_float(cvt, value));
    if (cvt->rounding == PTX_MOD_RS)
        return finish_float(cvt, round_randomly(cvt, value, index));
    if (rounds_to_integer(cvt))
        value = round_to_integer(cvt, value);
    return finish_float(cvt, float_to_float(cvt, value));
}

/* Whether the instruction is one that the functions above understand. */
static const char *refusal(const struct conversion *cvt)
{
    const struct ptx_inst *inst = cvt->inst;
    bool to_float = ptx_type_is_float(cvt->to);
    bool from_float = ptx_type_is_float(cvt->from);
    unsigned sources = !tr_is_half_pair(cvt->to) ? 1 : cvt->rounding == PTX_MOD_RS ? 3 : 2;
    if (cvt->stays_finite && !tr_is_half(cvt->to) && cvt->to != PTX_TYPE_TF32)
        return ".satfinite of this type";
    if (tr_is_half_pair(cvt->from) || cvt->from == PTX_TYPE_TF32)
        return "this source type";
    if (inst->operand_count != sources + 1)
        return "this number of operands";
    if (cvt->rounding == PTX_MOD_RS && !tr_is_half_pair(cvt->to))
        return ".rs to this type";
    if ((tr_is_half_pair(cvt->to) || cvt->to == PTX_TYPE_TF32) && cvt->from != PTX_TYPE_F32)
        return "these types together";
    if (!to_float && from_float && !rounds_to_integer(cvt))
        return "a rounding modifier to integer is needed";
    return NULL;
}

enum pxr_status tr_emit_cvt(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct conversion cvt = {
        .ctx = ctx,
        .inst = inst,
        .to = inst->types[0],
        .from = inst->types[1],
        .rounding = ptx_inst_mod(inst, PTX_GROUP_ROUND),
        .flushes = ptx_inst_has(inst, PTX_GROUP_FTZ),
        .saturates = ptx_inst_has(inst, PTX_GROUP_SAT),
        .clamps_negative = ptx_inst_has(inst, PTX_GROUP_RELU),
        .stays_finite = ptx_inst_has(inst, PTX_GROUP_SATFINITE),
    };
    if (tr_is_small(cvt.to) || tr_is_small(cvt.from))
        return tr_convert_small(ctx, inst);
    const char *why = refusal(&cvt);
    if (why != NULL)
        return tr_unsupported(ctx, inst, why);
    LLVMValueRef value = convert(&cvt, 1);
    if (tr_is_half_pair(cvt.to)) /* "d[31:16] = a, d[15:0] = b" */
        value = tr_half_join(ctx, convert(&cvt, 2), value);
    if (tr_is_half(cvt.to))
        value = tr_resize(ctx, value, ptx_type_bits(cvt.to), false);
    tr_set(ctx, inst, 0, cvt.to, value);
    return PXR_OK;
}
