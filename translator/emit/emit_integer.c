/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer arithmetic and bit-field instructions (PTX ISA "Integer Arithmetic Instructions",
 * "Extended-Precision Integer Arithmetic Instructions"). All arithmetic wraps: no nsw, no nuw.
 */
#include "translator/emit/emit.h"

static enum ptx_mod half_of(const struct ptx_inst *inst)
{
    return ptx_inst_mod(inst, PTX_GROUP_HALF);
}

/* The type of a .wide result. */
static enum ptx_type wide_type(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_U16:
        return PTX_TYPE_U32;
    case PTX_TYPE_S16:
        return PTX_TYPE_S32;
    case PTX_TYPE_U32:
        return PTX_TYPE_U64;
    default:
        return PTX_TYPE_S64;
    }
}

static LLVMValueRef flag(struct tr_ctx *ctx, bool value)
{
    return tr_const_int(ctx, 32, value);
}

/* Saturates a 64-bit value to the range of s32. */
static LLVMValueRef saturate_s32(struct tr_ctx *ctx, LLVMValueRef wide)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef max = LLVMConstInt(ctx->i64, INT32_MAX, true);
    LLVMValueRef min = LLVMConstInt(ctx->i64, (uint64_t)INT32_MIN, true);
    LLVMValueRef above = LLVMBuildICmp(b, LLVMIntSGT, wide, max, "");
    LLVMValueRef below = LLVMBuildICmp(b, LLVMIntSLT, wide, min, "");
    wide = LLVMBuildSelect(b, above, max, wide, "");
    wide = LLVMBuildSelect(b, below, min, wide, "");
    return LLVMBuildTrunc(b, wide, ctx->i32, "");
}

/* ---- addition and subtraction ---- */

static enum pxr_status add_or_sub(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMOpcode op)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    LLVMValueRef result;
    if (ptx_inst_has(inst, PTX_GROUP_SAT)) {
        if (type != PTX_TYPE_S32)
            return tr_unsupported(ctx, inst, ".sat applies to .s32 only");
        x = tr_resize(ctx, x, 64, true);
        y = tr_resize(ctx, y, 64, true);
        result = saturate_s32(ctx, LLVMBuildBinOp(ctx->builder, op, x, y, ""));
    } else {
        result = LLVMBuildBinOp(ctx->builder, op, x, y, "");
    }
    tr_set(ctx, inst, 0, type, result);
    return PXR_OK;
}

enum pxr_status tr_emit_add_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return add_or_sub(ctx, inst, LLVMAdd);
}

enum pxr_status tr_emit_sub_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return add_or_sub(ctx, inst, LLVMSub);
}

enum pxr_status tr_emit_add_packed(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = tr_value(ctx, inst, 1, PTX_TYPE_B32);
    LLVMValueRef y = tr_value(ctx, inst, 2, PTX_TYPE_B32);
    tr_set(ctx, inst, 0, PTX_TYPE_B32, tr_helper(ctx, "rt_add_u16x2", ctx->i32, x, y));
    return PXR_OK;
}

/* CC.CF as an integer of the operands' width. */
static LLVMValueRef carry_in(struct tr_ctx *ctx, unsigned bits)
{
    LLVMValueRef carry = LLVMBuildLoad2(ctx->builder, ctx->i1, ctx->carry, "cf");
    return tr_resize(ctx, carry, bits, false);
}

/* x + y (+ CC.CF); with .cc the carry-out becomes CC.CF. */
static LLVMValueRef add_with_carry(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef x,
                                   LLVMValueRef y, bool takes_carry)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef sum = LLVMBuildAdd(b, x, y, "");
    LLVMValueRef carry = LLVMBuildICmp(b, LLVMIntULT, sum, x, "");
    if (takes_carry) {
        LLVMValueRef in = carry_in(ctx, LLVMGetIntTypeWidth(LLVMTypeOf(x)));
        LLVMValueRef total = LLVMBuildAdd(b, sum, in, "");
        LLVMValueRef second = LLVMBuildICmp(b, LLVMIntULT, total, sum, "");
        carry = LLVMBuildOr(b, carry, second, "");
        sum = total;
    }
    if (ptx_inst_has(inst, PTX_GROUP_CC))
        LLVMBuildStore(b, carry, ctx->carry);
    return sum;
}

enum pxr_status tr_emit_add_carry(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    tr_set(ctx, inst, 0, type, add_with_carry(ctx, inst, x, y, inst->op == PTX_OP_ADDC));
    return PXR_OK;
}

/* "sub.cc: borrow-out written to CC.CF"; "subc: d = a - (b + CC.CF)". Devices keep in CC.CF the
 * carry of a +  b + 1, which is set when nothing is borrowed: a chain of subtractions gives the
 * manual's result, one mixed with additions does not. */
enum pxr_status tr_emit_sub_carry(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    LLVMValueRef difference = LLVMBuildSub(b, x, y, "");
    LLVMValueRef borrow = LLVMBuildICmp(b, LLVMIntULT, x, y, "");
    if (inst->op == PTX_OP_SUBC) {
        LLVMValueRef carry = LLVMBuildLoad2(b, ctx->i1, ctx->carry, "cf");
        LLVMValueRef in = tr_resize(ctx, LLVMBuildNot(b, carry, ""), ptx_type_bits(type), false);
        LLVMValueRef second = LLVMBuildICmp(b, LLVMIntULT, difference, in, "");
        borrow = LLVMBuildOr(b, borrow, second, "");
        difference = LLVMBuildSub(b, difference, in, "");
    }
    if (ptx_inst_has(inst, PTX_GROUP_CC))
        LLVMBuildStore(b, LLVMBuildNot(b, borrow, ""), ctx->carry);
    tr_set(ctx, inst, 0, type, difference);
    return PXR_OK;
}

/* ---- multiplication ---- */

/* The whole product, or its lower or upper half. */
static LLVMValueRef product(struct tr_ctx *ctx, LLVMValueRef x, LLVMValueRef y, enum ptx_type type,
                            enum ptx_mod half)
{
    LLVMBuilderRef b = ctx->builder;
    if (half == PTX_MOD_LO)
        return LLVMBuildMul(b, x, y, "");
    unsigned bits = ptx_type_bits(type);
    bool is_signed = ptx_type_is_signed(type);
    x = tr_resize(ctx, x, 2 * bits, is_signed);
    y = tr_resize(ctx, y, 2 * bits, is_signed);
    LLVMValueRef wide = LLVMBuildMul(b, x, y, "");
    if (half == PTX_MOD_WIDE)
        return wide;
    LLVMValueRef upper = LLVMBuildLShr(b, wide, LLVMConstInt(LLVMTypeOf(wide), bits, false), "");
    return tr_resize(ctx, upper, bits, false);
}

/* a * b of the instruction, and the type of the result. */
static LLVMValueRef product_of(struct tr_ctx *ctx, const struct ptx_inst *inst,
                               enum ptx_type *result_type)
{
    enum ptx_type type = inst->types[0];
    enum ptx_mod half = half_of(inst);
    *result_type = half == PTX_MOD_WIDE ? wide_type(type) : type;
    if (half == PTX_MOD_WIDE && ptx_type_bits(type) == 64)
        tr_unsupported(ctx, inst, ".wide of a 64-bit type");
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    if (ctx->status != PXR_OK)
        return LLVMConstNull(tr_type(ctx, *result_type));
    return product(ctx, x, y, type, half);
}

enum pxr_status tr_emit_mul_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type;
    LLVMValueRef value = product_of(ctx, inst, &type);
    tr_set(ctx, inst, 0, type, value);
    return PXR_OK;
}

/* x + y, saturated if the instruction says .sat (only .hi.s32 does). */
static LLVMValueRef add_product(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef x,
                                LLVMValueRef y)
{
    if (!ptx_inst_has(inst, PTX_GROUP_SAT))
        return LLVMBuildAdd(ctx->builder, x, y, "");
    if (inst->types[0] != PTX_TYPE_S32 || half_of(inst) != PTX_MOD_HI) {
        tr_unsupported(ctx, inst, ".sat applies to .hi.s32 only");
        return x;
    }
    x = tr_resize(ctx, x, 64, true);
    y = tr_resize(ctx, y, 64, true);
    return saturate_s32(ctx, LLVMBuildAdd(ctx->builder, x, y, ""));
}

enum pxr_status tr_emit_mad_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type;
    LLVMValueRef value = product_of(ctx, inst, &type);
    LLVMValueRef addend = tr_value(ctx, inst, 3, type);
    tr_set(ctx, inst, 0, type, add_product(ctx, inst, value, addend));
    return PXR_OK;
}

enum pxr_status tr_emit_mad_carry(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (half_of(inst) == PTX_MOD_WIDE)
        return tr_unsupported(ctx, inst, "a carry with .wide");
    enum ptx_type type;
    LLVMValueRef value = product_of(ctx, inst, &type);
    LLVMValueRef addend = tr_value(ctx, inst, 3, type);
    bool takes_carry = inst->op == PTX_OP_MADC;
    tr_set(ctx, inst, 0, type, add_with_carry(ctx, inst, value, addend, takes_carry));
    return PXR_OK;
}

/* "mul24: 48-bit product of the low 24 bits; .hi returns bits 47..16, .lo bits 31..0". */
static LLVMValueRef product24(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    enum ptx_type type = inst->types[0];
    LLVMValueRef factors[2];
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef low = tr_resize(ctx, tr_value(ctx, inst, i + 1, type), 24, false);
        factors[i] = tr_resize(ctx, low, 64, ptx_type_is_signed(type));
    }
    LLVMValueRef whole = LLVMBuildMul(b, factors[0], factors[1], "");
    if (half_of(inst) == PTX_MOD_HI)
        whole = LLVMBuildLShr(b, whole, tr_const_int(ctx, 64, 16), "");
    return LLVMBuildTrunc(b, whole, ctx->i32, "");
}

enum pxr_status tr_emit_mul24(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (half_of(inst) == PTX_MOD_WIDE)
        return tr_unsupported(ctx, inst, NULL);
    tr_set(ctx, inst, 0, inst->types[0], product24(ctx, inst));
    return PXR_OK;
}

enum pxr_status tr_emit_mad24(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    if (half_of(inst) == PTX_MOD_WIDE)
        return tr_unsupported(ctx, inst, NULL);
    LLVMValueRef value = product24(ctx, inst);
    LLVMValueRef addend = tr_value(ctx, inst, 3, inst->types[0]);
    tr_set(ctx, inst, 0, inst->types[0], add_product(ctx, inst, value, addend));
    return PXR_OK;
}

/* Byte and half-word dot products: the signs of a and b are chosen one by one. */
enum pxr_status tr_emit_dp4a(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef value =
        tr_helper(ctx, "rt_dp4a", ctx->i32, tr_value(ctx, inst, 1, PTX_TYPE_B32),
                  tr_value(ctx, inst, 2, PTX_TYPE_B32), tr_value(ctx, inst, 3, PTX_TYPE_B32),
                  flag(ctx, ptx_type_is_signed(inst->types[0])),
                  flag(ctx, ptx_type_is_signed(inst->types[1])));
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    return PXR_OK;
}

enum pxr_status tr_emit_dp2a(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef value = tr_helper(
        ctx, "rt_dp2a", ctx->i32, tr_value(ctx, inst, 1, PTX_TYPE_B32),
        tr_value(ctx, inst, 2, PTX_TYPE_B32), tr_value(ctx, inst, 3, PTX_TYPE_B32),
        flag(ctx, ptx_type_is_signed(inst->types[0])),
        flag(ctx, ptx_type_is_signed(inst->types[1])), flag(ctx, half_of(inst) == PTX_MOD_HI));
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    return PXR_OK;
}

/* ---- division ---- */

/* By the helper of the type's signedness; 16-bit operands are divided as 32-bit ones. */
static enum pxr_status divide(struct tr_ctx *ctx, const struct ptx_inst *inst,
                              const char *const names[4])
{
    enum ptx_type type = inst->types[0];
    bool is_signed = ptx_type_is_signed(type);
    unsigned bits = ptx_type_bits(type) == 64 ? 64 : 32;
    LLVMValueRef x = tr_resize(ctx, tr_value(ctx, inst, 1, type), bits, is_signed);
    LLVMValueRef y = tr_resize(ctx, tr_value(ctx, inst, 2, type), bits, is_signed);
    const char *name = names[(bits == 64 ? 2 : 0) + (is_signed ? 1 : 0)];
    LLVMValueRef value = tr_helper(ctx, name, tr_int_type(ctx, bits), x, y);
    tr_set(ctx, inst, 0, type, tr_resize(ctx, value, ptx_type_bits(type), is_signed));
    return PXR_OK;
}

enum pxr_status tr_emit_div_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    static const char *const names[] = {"rt_div_u32", "rt_div_s32", "rt_div_u64", "rt_div_s64"};
    return divide(ctx, inst, names);
}

enum pxr_status tr_emit_rem(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    static const char *const names[] = {"rt_rem_u32", "rt_rem_s32", "rt_rem_u64", "rt_rem_s64"};
    return divide(ctx, inst, names);
}

/* ---- sign, minimum and maximum ---- */

static LLVMValueRef less(struct tr_ctx *ctx, enum ptx_type type, LLVMValueRef x, LLVMValueRef y)
{
    LLVMIntPredicate predicate = ptx_type_is_signed(type) ? LLVMIntSLT : LLVMIntULT;
    return LLVMBuildICmp(ctx->builder, predicate, x, y, "");
}

enum pxr_status tr_emit_sad(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    LLVMValueRef is_less = less(ctx, type, x, y);
    LLVMValueRef distance =
        LLVMBuildSelect(b, is_less, LLVMBuildSub(b, y, x, ""), LLVMBuildSub(b, x, y, ""), "");
    LLVMValueRef addend = tr_value(ctx, inst, 3, type);
    tr_set(ctx, inst, 0, type, LLVMBuildAdd(b, distance, addend, ""));
    return PXR_OK;
}

enum pxr_status tr_emit_neg_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef value = LLVMBuildNeg(ctx->builder, tr_value(ctx, inst, 1, type), "");
    tr_set(ctx, inst, 0, type, value);
    return PXR_OK;
}

enum pxr_status tr_emit_abs_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef is_negative = less(ctx, type, x, LLVMConstNull(LLVMTypeOf(x)));
    LLVMValueRef negated = LLVMBuildNeg(ctx->builder, x, "");
    tr_set(ctx, inst, 0, type, LLVMBuildSelect(ctx->builder, is_negative, negated, x, ""));
    return PXR_OK;
}

/* .u16x2 and .s16x2: each half by itself. */
static LLVMValueRef minmax_pair(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef x,
                                LLVMValueRef y, bool is_max)
{
    if (inst->types[0] == PTX_TYPE_U16X2)
        return tr_helper(ctx, "rt_minmax_u16x2", ctx->i32, x, y, flag(ctx, is_max));
    return tr_helper(ctx, "rt_minmax_s16x2", ctx->i32, x, y, flag(ctx, is_max),
                     flag(ctx, ptx_inst_has(inst, PTX_GROUP_RELU)));
}

static enum pxr_status minmax(struct tr_ctx *ctx, const struct ptx_inst *inst, bool is_max)
{
    LLVMBuilderRef b = ctx->builder;
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    LLVMValueRef result;
    if (type == PTX_TYPE_U16X2 || type == PTX_TYPE_S16X2) {
        result = minmax_pair(ctx, inst, x, y, is_max);
    } else {
        LLVMValueRef takes_x = is_max ? less(ctx, type, y, x) : less(ctx, type, x, y);
        result = LLVMBuildSelect(b, takes_x, x, y, "");
        if (ptx_inst_has(inst, PTX_GROUP_RELU)) {
            LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
            LLVMValueRef is_negative = less(ctx, type, result, zero);
            result = LLVMBuildSelect(b, is_negative, zero, result, "");
        }
    }
    tr_set(ctx, inst, 0, type, result);
    return PXR_OK;
}

enum pxr_status tr_emit_min_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return minmax(ctx, inst, false);
}

enum pxr_status tr_emit_max_int(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return minmax(ctx, inst, true);
}

/* ---- bits ---- */

/* Counts are .u32 whatever the operand's width. */
static enum pxr_status set_count(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                 LLVMValueRef count)
{
    tr_set(ctx, inst, 0, PTX_TYPE_U32, tr_resize(ctx, count, 32, false));
    return PXR_OK;
}

enum pxr_status tr_emit_popc(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = tr_value(ctx, inst, 1, inst->types[0]);
    LLVMTypeRef type = LLVMTypeOf(x);
    return set_count(ctx, inst, tr_intrinsic(ctx, "llvm.ctpop", &type, 1, &x, 1));
}

enum pxr_status tr_emit_clz(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef args[] = {tr_value(ctx, inst, 1, inst->types[0]), tr_const_int(ctx, 1, 0)};
    LLVMTypeRef type = LLVMTypeOf(args[0]);
    return set_count(ctx, inst, tr_intrinsic(ctx, "llvm.ctlz", &type, 1, args, 2));
}

enum pxr_status tr_emit_brev(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef x = tr_value(ctx, inst, 1, inst->types[0]);
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef reversed = tr_intrinsic(ctx, "llvm.bitreverse", &type, 1, &x, 1);
    tr_set(ctx, inst, 0, inst->types[0], reversed);
    return PXR_OK;
}

enum pxr_status tr_emit_bfind(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    static const char *const names[] = {"rt_bfind_u32", "rt_bfind_s32", "rt_bfind_u64",
                                        "rt_bfind_s64"};
    enum ptx_type type = inst->types[0];
    const char *name =
        names[(ptx_type_bits(type) == 64 ? 2 : 0) + (ptx_type_is_signed(type) ? 1 : 0)];
    LLVMValueRef shiftamt = flag(ctx, ptx_inst_has(inst, PTX_GROUP_SHIFTAMT));
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    tr_set(ctx, inst, 0, PTX_TYPE_U32, tr_helper(ctx, name, ctx->i32, x, shiftamt));
    return PXR_OK;
}

enum pxr_status tr_emit_fns(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef value =
        tr_helper(ctx, "rt_fns", ctx->i32, tr_value(ctx, inst, 1, PTX_TYPE_B32),
                  tr_value(ctx, inst, 2, PTX_TYPE_B32), tr_value(ctx, inst, 3, PTX_TYPE_S32));
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    return PXR_OK;
}

enum pxr_status tr_emit_bfe(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    static const char *const names[] = {"rt_bfe_u32", "rt_bfe_s32", "rt_bfe_u64", "rt_bfe_s64"};
    enum ptx_type type = inst->types[0];
    const char *name =
        names[(ptx_type_bits(type) == 64 ? 2 : 0) + (ptx_type_is_signed(type) ? 1 : 0)];
    LLVMValueRef value =
        tr_helper(ctx, name, tr_type(ctx, type), tr_value(ctx, inst, 1, type),
                  tr_value(ctx, inst, 2, PTX_TYPE_U32), tr_value(ctx, inst, 3, PTX_TYPE_U32));
    tr_set(ctx, inst, 0, type, value);
    return PXR_OK;
}

enum pxr_status tr_emit_bfi(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    const char *name = ptx_type_bits(type) == 64 ? "rt_bfi_b64" : "rt_bfi_b32";
    LLVMValueRef value = tr_helper(
        ctx, name, tr_type(ctx, type), tr_value(ctx, inst, 1, type), tr_value(ctx, inst, 2, type),
        tr_value(ctx, inst, 3, PTX_TYPE_U32), tr_value(ctx, inst, 4, PTX_TYPE_U32));
    tr_set(ctx, inst, 0, type, value);
    return PXR_OK;
}

static LLVMValueRef is_clamp(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return flag(ctx, ptx_inst_mod(inst, PTX_GROUP_WRAP) == PTX_MOD_CLAMP);
}

enum pxr_status tr_emit_szext(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef value = tr_helper(ctx, "rt_szext", ctx->i32, tr_value(ctx, inst, 1, type),
                                   tr_value(ctx, inst, 2, PTX_TYPE_U32), is_clamp(ctx, inst),
                                   flag(ctx, ptx_type_is_signed(type)));
    tr_set(ctx, inst, 0, type, value);
    return PXR_OK;
}

enum pxr_status tr_emit_bmsk(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef value = tr_helper(ctx, "rt_bmsk", ctx->i32, tr_value(ctx, inst, 1, PTX_TYPE_U32),
                                   tr_value(ctx, inst, 2, PTX_TYPE_U32), is_clamp(ctx, inst));
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    return PXR_OK;
}
