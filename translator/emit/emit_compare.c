/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison and selection (PTX ISA "Comparison and Selection Instructions", "Half Precision
 * Comparison Instructions").
 */
#include "translator/emit/emit_float.h"

/* "Integer comparisons": lo, ls, hi, hs are the unsigned names of lt, le, gt, ge. */
static bool integer_predicate(enum ptx_mod mod, bool is_signed, LLVMIntPredicate *predicate)
{
    switch (mod) {
    case PTX_MOD_EQ:
        *predicate = LLVMIntEQ;
        return true;
    case PTX_MOD_NE:
        *predicate = LLVMIntNE;
        return true;
    case PTX_MOD_LT:
        *predicate = is_signed ? LLVMIntSLT : LLVMIntULT;
        return true;
    case PTX_MOD_LE:
        *predicate = is_signed ? LLVMIntSLE : LLVMIntULE;
        return true;
    case PTX_MOD_GT:
        *predicate = is_signed ? LLVMIntSGT : LLVMIntUGT;
        return true;
    case PTX_MOD_GE:
        *predicate = is_signed ? LLVMIntSGE : LLVMIntUGE;
        return true;
    case PTX_MOD_LO:
        *predicate = LLVMIntULT;
        return true;
    case PTX_MOD_LS:
        *predicate = LLVMIntULE;
        return true;
    case PTX_MOD_HI:
        *predicate = LLVMIntUGT;
        return true;
    case PTX_MOD_HS:
        *predicate = LLVMIntUGE;
        return true;
    default:
        return false;
    }
}

/* "Floating point comparisons": eq, ne, lt, le, gt, ge are false if an operand is NaN; the forms
 * with u are true then. */
static bool float_predicate(enum ptx_mod mod, LLVMRealPredicate *predicate)
{
    static const struct {
        enum ptx_mod mod;
        LLVMRealPredicate predicate;
    } table[] = {
        {PTX_MOD_EQ, LLVMRealOEQ},  {PTX_MOD_NE, LLVMRealONE},      {PTX_MOD_LT, LLVMRealOLT},
        {PTX_MOD_LE, LLVMRealOLE},  {PTX_MOD_GT, LLVMRealOGT},      {PTX_MOD_GE, LLVMRealOGE},
        {PTX_MOD_EQU, LLVMRealUEQ}, {PTX_MOD_NEU, LLVMRealUNE},     {PTX_MOD_LTU, LLVMRealULT},
        {PTX_MOD_LEU, LLVMRealULE}, {PTX_MOD_GTU, LLVMRealUGT},     {PTX_MOD_GEU, LLVMRealUGE},
        {PTX_MOD_NUM, LLVMRealORD}, {PTX_MOD_NAN_CMP, LLVMRealUNO},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].mod == mod) {
            *predicate = table[i].predicate;
            return true;
        }
    }
    return false;
}

/* A comparison that LLVM 22 turns into one of integers where its other side is zero and its source
 * was bits: it heeds the bits of a subnormal then, though the function's mode flushes them. */
static bool heeds_bits(const struct ptx_inst *inst)
{
    enum ptx_mod mod = ptx_inst_mod(inst, PTX_GROUP_CMP);
    return mod == PTX_MOD_EQ || mod == PTX_MOD_NE || mod == PTX_MOD_EQU || mod == PTX_MOD_NEU;
}

/* Source `index` in the form to compare: 16-bit floats as f32 (part: which half of a pair). */
static LLVMValueRef compared(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                             enum ptx_type type, unsigned part)
{
    if (tr_is_half(type))
        return tr_half_source_f32(ctx, inst, index, type, part);
    LLVMValueRef value = tr_value(ctx, inst, index, type);
    if (type != PTX_TYPE_F32 || !ptx_inst_has(inst, PTX_GROUP_FTZ))
        return value;
    return heeds_bits(inst) ? tr_ftz_f32(ctx, value) : tr_cpu_source_f32(ctx, value);
}

/* a CmpOp b as i1. */
static LLVMValueRef compare(struct tr_ctx *ctx, const struct ptx_inst *inst, enum ptx_type type,
                            unsigned part)
{
    enum ptx_mod mod = ptx_inst_mod(inst, PTX_GROUP_CMP);
    LLVMValueRef x = compared(ctx, inst, 1, type, part);
    LLVMValueRef y = compared(ctx, inst, 2, type, part);
    LLVMIntPredicate integer;
    LLVMRealPredicate real;
    if (ptx_type_is_float(type)) {
        if (float_predicate(mod, &real))
            return LLVMBuildFCmp(ctx->builder, real, x, y, "");
    } else if (integer_predicate(mod, ptx_type_is_signed(type), &integer)) {
        return LLVMBuildICmp(ctx->builder, integer, x, y, "");
    }
    tr_unsupported(ctx, inst, "this comparison of this type");
    return LLVMConstNull(ctx->i1);
}

/* truth BoolOp c, when the instruction has one. */
static LLVMValueRef combine(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef truth)
{
    if (!ptx_inst_has(inst, PTX_GROUP_BOOL))
        return truth;
    LLVMValueRef c = tr_value(ctx, inst, 3, PTX_TYPE_PRED);
    switch (ptx_inst_mod(inst, PTX_GROUP_BOOL)) {
    case PTX_MOD_AND:
        return LLVMBuildAnd(ctx->builder, truth, c, "");
    case PTX_MOD_OR:
        return LLVMBuildOr(ctx->builder, truth, c, "");
    case PTX_MOD_XOR:
        return LLVMBuildXor(ctx->builder, truth, c, "");
    default:
        tr_unsupported(ctx, inst, NULL);
        return truth;
    }
}

/* "p = BoolOp(t, c); q = BoolOp(!t, c)"; of pairs of 16-bit floats p is the low half's result and
 * q the high half's. */
enum pxr_status tr_emit_setp(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef truth = compare(ctx, inst, type, 0);
    LLVMValueRef second =
        tr_is_half_pair(type) ? compare(ctx, inst, type, 1) : LLVMBuildNot(ctx->builder, truth, "");
    LLVMValueRef p = combine(ctx, inst, truth);
    LLVMValueRef q = combine(ctx, inst, second);
    tr_set(ctx, inst, 0, PTX_TYPE_PRED, p);
    tr_set_second(ctx, inst, 0, q);
    return PXR_OK;
}

/* The bits of "true" in a destination of this type: 1.0, or all ones. */
static uint64_t true_bits(enum ptx_type type, bool is_part)
{
    switch (type) {
    case PTX_TYPE_F32:
        return 0x3f800000;
    case PTX_TYPE_F16:
    case PTX_TYPE_F16X2:
        return 0x3c00;
    case PTX_TYPE_BF16:
    case PTX_TYPE_BF16X2:
        return 0x3f80;
    default:
        return is_part || ptx_type_bits(type) == 16 ? 0xffff : 0xffffffff;
    }
}

/* Pairs of 16-bit floats are compared half by half, and give a pair. */
enum pxr_status tr_emit_set(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    bool is_pair = tr_is_half_pair(inst->types[1]);
    unsigned bits = ptx_type_bits(type);
    bool takes_pair = tr_is_half_pair(type) || type == PTX_TYPE_U32 || type == PTX_TYPE_S32;
    if (is_pair ? !takes_pair : tr_is_half_pair(type))
        return tr_unsupported(ctx, inst, "these types together");
    LLVMValueRef result = LLVMConstNull(tr_int_type(ctx, bits));
    for (unsigned i = 0; i < (is_pair ? 2u : 1u); i++) {
        LLVMValueRef truth = combine(ctx, inst, compare(ctx, inst, inst->types[1], i));
        LLVMValueRef set = tr_const_int(ctx, bits, true_bits(type, is_pair) << (16 * i));
        LLVMValueRef zero = LLVMConstNull(tr_int_type(ctx, bits));
        LLVMValueRef part = LLVMBuildSelect(ctx->builder, truth, set, zero, "");
        result = LLVMBuildOr(ctx->builder, result, part, "");
    }
    tr_set(ctx, inst, 0, type, tr_bitcast(ctx, result, tr_type(ctx, type)));
    return PXR_OK;
}

enum pxr_status tr_emit_selp(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    LLVMValueRef p = tr_value(ctx, inst, 3, PTX_TYPE_PRED);
    tr_set(ctx, inst, 0, type, LLVMBuildSelect(ctx->builder, p, x, y, ""));
    return PXR_OK;
}

/* "d = (c >= 0) ? a : b"; "if operand c is NaN, operand b is selected". */
enum pxr_status tr_emit_slct(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    LLVMValueRef c = compared(ctx, inst, 3, inst->types[1], 0);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(c));
    LLVMValueRef takes_x = inst->types[1] == PTX_TYPE_F32
                               ? LLVMBuildFCmp(b, LLVMRealOGE, c, zero, "")
                               : LLVMBuildICmp(b, LLVMIntSGE, c, zero, "");
    tr_set(ctx, inst, 0, type, LLVMBuildSelect(b, takes_x, x, y, ""));
    return PXR_OK;
}
