/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on f16, bf16 and pairs of them (PTX ISA "Half Precision Floating Point
 * Instructions"): each half goes through a helper of rt/half.c as an i32.
 */
#include "translator/emit/emit_float.h"

LLVMValueRef tr_half_format(struct tr_ctx *ctx, enum ptx_type type)
{
    bool is_bf16 = type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2;
    return tr_const_int(ctx, 32, is_bf16 ? RT_HALF_BF16 : RT_HALF_F16);
}

/* Half `index` of a value of a 16-bit type or a pair, as an i32. */
static LLVMValueRef half_part(struct tr_ctx *ctx, LLVMValueRef value, unsigned index)
{
    value = tr_resize(ctx, value, 32, false);
    if (index == 1)
        return LLVMBuildLShr(ctx->builder, value, tr_const_int(ctx, 32, 16), "");
    return LLVMBuildAnd(ctx->builder, value, tr_const_int(ctx, 32, 0xffff), "");
}

LLVMValueRef tr_half_join(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef part)
{
    if (low == NULL)
        return part;
    LLVMValueRef high = LLVMBuildShl(ctx->builder, part, tr_const_int(ctx, 32, 16), "");
    return LLVMBuildOr(ctx->builder, low, high, "");
}

static LLVMValueRef flush(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef part,
                          LLVMValueRef format)
{
    if (!ptx_inst_has(inst, PTX_GROUP_FTZ))
        return part;
    return tr_helper(ctx, "rt_half_ftz", ctx->i32, part, format);
}

static LLVMValueRef source_part(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned operand,
                                enum ptx_type type, unsigned index)
{
    LLVMValueRef value = tr_value(ctx, inst, operand, type);
    return flush(ctx, inst, half_part(ctx, value, index), tr_half_format(ctx, type));
}

LLVMValueRef tr_half_source_f32(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned operand,
                                enum ptx_type type, unsigned index)
{
    LLVMValueRef part = source_part(ctx, inst, operand, type, index);
    return tr_helper(ctx, "rt_half_to_f32", ctx->f32, part, tr_half_format(ctx, type));
}

static void set_result(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef value)
{
    enum ptx_type type = inst->types[0];
    tr_set(ctx, inst, 0, type, tr_resize(ctx, value, ptx_type_bits(type), false));
}

/* The fma of the three halves, rounded once. Of f16, LLVM's: it is taken apart where vectors have
 * been made of it (module/multiply_adds.c), which costs less than doing so for a thread. Of bf16 it
 * would not stay one: LLVM makes sums of some, and takes subnormals of them for zero. */
static LLVMValueRef fma_part(struct tr_ctx *ctx, enum ptx_type type, LLVMValueRef parts[4])
{
    LLVMBuilderRef b = ctx->builder;
    if (ctx->options->is_quick || type == PTX_TYPE_BF16 || type == PTX_TYPE_BF16X2)
        return tr_call_helper(ctx, ctx->options->has_fused ? "rt_half_fma" : "rt_half_mad",
                              ctx->i32, parts, 4);
    LLVMTypeRef half = LLVMHalfTypeInContext(ctx->llvm);
    LLVMTypeRef bits = LLVMInt16TypeInContext(ctx->llvm);
    LLVMValueRef numbers[3];
    for (unsigned i = 0; i < 3; i++)
        numbers[i] = LLVMBuildBitCast(b, tr_resize(ctx, parts[i], 16, false), half, "");
    LLVMValueRef sum = tr_intrinsic(ctx, "llvm.fma", &half, 1, numbers, 3);
    LLVMValueRef is_nan = LLVMBuildFCmp(b, LLVMRealUNO, sum, sum, "");
    LLVMValueRef word = tr_resize(ctx, LLVMBuildBitCast(b, sum, bits, ""), 32, false);
    return LLVMBuildSelect(b, is_nan, tr_const_int(ctx, 32, 0x7fff), word, "");
}

enum pxr_status tr_half_arithmetic(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                   const char *helper, unsigned source_count)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef format = tr_half_format(ctx, type);
    LLVMValueRef result = NULL;
    if (tr_round_mode(ptx_inst_mod(inst, PTX_GROUP_ROUND)) != RT_ROUND_NEAREST)
        return tr_unsupported(ctx, inst, "16-bit types have .rn only");
    for (unsigned i = 0; i < (tr_is_half_pair(type) ? 2u : 1u); i++) {
        LLVMValueRef args[4];
        for (unsigned k = 0; k < source_count; k++)
            args[k] = source_part(ctx, inst, k + 1, type, i);
        args[source_count] = format;
        LLVMValueRef part = helper != NULL
                                ? tr_call_helper(ctx, helper, ctx->i32, args, source_count + 1)
                                : fma_part(ctx, type, args);
        part = flush(ctx, inst, part, format);
        if (ptx_inst_has(inst, PTX_GROUP_SAT))
            part = tr_helper(ctx, "rt_half_sat", ctx->i32, part, format);
        if (ptx_inst_has(inst, PTX_GROUP_RELU))
            part = tr_helper(ctx, "rt_half_relu", ctx->i32, part, format);
        if (ptx_inst_has(inst, PTX_GROUP_OOB))
            part = tr_helper(ctx, "rt_half_oob", ctx->i32, part, args[0], args[1]);
        result = tr_half_join(ctx, result, part);
    }
    set_result(ctx, inst, result);
    return PXR_OK;
}

enum pxr_status tr_half_sign(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMOpcode op,
                             uint32_t mask)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef result = NULL;
    for (unsigned i = 0; i < (tr_is_half_pair(type) ? 2u : 1u); i++) {
        LLVMValueRef part = source_part(ctx, inst, 1, type, i);
        part = LLVMBuildBinOp(ctx->builder, op, part, tr_const_int(ctx, 32, mask), "");
        result = tr_half_join(ctx, result, part);
    }
    set_result(ctx, inst, result);
    return PXR_OK;
}

enum pxr_status tr_half_minmax(struct tr_ctx *ctx, const struct ptx_inst *inst, uint32_t flags)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef result = NULL;
    for (unsigned i = 0; i < (tr_is_half_pair(type) ? 2u : 1u); i++) {
        LLVMValueRef part =
            tr_helper(ctx, "rt_half_minmax", ctx->i32, source_part(ctx, inst, 1, type, i),
                      source_part(ctx, inst, 2, type, i), tr_half_format(ctx, type),
                      tr_const_int(ctx, 32, flags));
        result = tr_half_join(ctx, result, part);
    }
    set_result(ctx, inst, result);
    return PXR_OK;
}
