/* SPDX-License-Identifier: Apache-2.0
 *
 * Logic and shift instructions (PTX ISA "Logic and Shift Instructions").
 */
#include "translator/emit/emit.h"

#include "translator/rt/arith.h"

static enum pxr_status binary(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMOpcode op)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef y = tr_value(ctx, inst, 2, type);
    tr_set(ctx, inst, 0, type, LLVMBuildBinOp(ctx->builder, op, x, y, ""));
    return PXR_OK;
}

enum pxr_status tr_emit_and(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return binary(ctx, inst, LLVMAnd);
}

enum pxr_status tr_emit_or(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return binary(ctx, inst, LLVMOr);
}

enum pxr_status tr_emit_xor(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return binary(ctx, inst, LLVMXor);
}

enum pxr_status tr_emit_not(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    tr_set(ctx, inst, 0, type, LLVMBuildNot(ctx->builder, tr_value(ctx, inst, 1, type), ""));
    return PXR_OK;
}

/* "cnot: d = (a==0) ? 1 : 0". */
enum pxr_status tr_emit_cnot(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
    LLVMValueRef is_zero = LLVMBuildICmp(ctx->builder, LLVMIntEQ, x, zero, "");
    tr_set(ctx, inst, 0, type, tr_resize(ctx, is_zero, ptx_type_bits(type), false));
    return PXR_OK;
}

/* The function of c for one choice of a and b: two bits of the table, c = 0 first. */
static LLVMValueRef lop3_row(struct tr_ctx *ctx, unsigned bits, LLVMValueRef c)
{
    switch (bits & 3) {
    case 0:
        return LLVMConstNull(ctx->i32);
    case 1:
        return LLVMBuildNot(ctx->builder, c, "");
    case 2:
        return c;
    default:
        return LLVMConstAllOnes(ctx->i32);
    }
}

/* Bit by bit: chooser ? set : clear. */
static LLVMValueRef mux(struct tr_ctx *ctx, LLVMValueRef chooser, LLVMValueRef set,
                        LLVMValueRef clear)
{
    if (set == clear)
        return set;
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef kept = LLVMBuildAnd(b, clear, LLVMBuildNot(b, chooser, ""), "");
    return LLVMBuildOr(b, LLVMBuildAnd(b, set, chooser, ""), kept, "");
}

/* "immLut = F(0xF0, 0xCC, 0xAA)": bit 4a + 2b + c of the table is the result for these bits. */
enum pxr_status tr_emit_lop3(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    const struct ptx_operand *table = tr_operand(inst, 4);
    if (table->kind != PTX_OPERAND_INT)
        return tr_unsupported(ctx, inst, "the look-up table must be a constant");
    unsigned lut = (unsigned)(table->bits & 0xff);
    LLVMValueRef a = tr_value(ctx, inst, 1, PTX_TYPE_B32);
    LLVMValueRef b = tr_value(ctx, inst, 2, PTX_TYPE_B32);
    LLVMValueRef c = tr_value(ctx, inst, 3, PTX_TYPE_B32);
    LLVMValueRef clear = mux(ctx, b, lop3_row(ctx, lut >> 2, c), lop3_row(ctx, lut, c));
    LLVMValueRef set = mux(ctx, b, lop3_row(ctx, lut >> 6, c), lop3_row(ctx, lut >> 4, c));
    LLVMValueRef value = mux(ctx, a, set, clear);
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    if (inst->op == PTX_OP_LOP3_BOOL) { /* d|p: p = (d != 0) BoolOp q */
        LLVMValueRef is_set =
            LLVMBuildICmp(ctx->builder, LLVMIntNE, value, LLVMConstNull(ctx->i32), "");
        LLVMValueRef q = tr_value(ctx, inst, 5, PTX_TYPE_PRED);
        LLVMOpcode op = ptx_inst_mod(inst, PTX_GROUP_BOOL) == PTX_MOD_AND ? LLVMAnd : LLVMOr;
        tr_set_second(ctx, inst, 0, LLVMBuildBinOp(ctx->builder, op, is_set, q, ""));
    }
    return PXR_OK;
}

/* The .u32 shift amount of operand 2 as an integer of the shifted type, reduced to a legal one;
 * *is_past says whether it was not legal: LLVM's shifts by the width or more are poison. */
static LLVMValueRef shift_amount(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned bits,
                                 LLVMValueRef *is_past)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef amount = tr_value(ctx, inst, 2, PTX_TYPE_U32);
    *is_past = LLVMBuildICmp(b, LLVMIntUGE, amount, tr_const_int(ctx, 32, bits), "");
    amount = LLVMBuildAnd(b, amount, tr_const_int(ctx, 32, bits - 1), "");
    return tr_resize(ctx, amount, bits, false);
}

/* "Shift amounts greater than the register width N are clamped to N." */
enum pxr_status tr_emit_shl(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef is_past;
    LLVMValueRef amount = shift_amount(ctx, inst, ptx_type_bits(type), &is_past);
    LLVMValueRef shifted = LLVMBuildShl(ctx->builder, x, amount, "");
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
    tr_set(ctx, inst, 0, type, LLVMBuildSelect(ctx->builder, is_past, zero, shifted, ""));
    return PXR_OK;
}

/* Signed types fill with the sign, also when the amount is clamped. */
enum pxr_status tr_emit_shr(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    enum ptx_type type = inst->types[0];
    unsigned bits = ptx_type_bits(type);
    LLVMValueRef x = tr_value(ctx, inst, 1, type);
    LLVMValueRef is_past;
    LLVMValueRef amount = shift_amount(ctx, inst, bits, &is_past);
    LLVMValueRef value;
    if (ptx_type_is_signed(type)) {
        LLVMValueRef most = tr_const_int(ctx, bits, bits - 1);
        value = LLVMBuildAShr(b, x, LLVMBuildSelect(b, is_past, most, amount, ""), "");
    } else {
        LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(x));
        value = LLVMBuildSelect(b, is_past, zero, LLVMBuildLShr(b, x, amount, ""), "");
    }
    tr_set(ctx, inst, 0, type, value);
    return PXR_OK;
}

/* "shf": {b, a} shifted, .l gives the upper and .r the lower half. .wrap takes the amount modulo
 * 32; .clamp limits it to 32, which gives a (left) or b (right). */
enum pxr_status tr_emit_shf(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    bool is_left = ptx_inst_mod(inst, PTX_GROUP_DIRECTION) == PTX_MOD_L;
    LLVMValueRef low = tr_value(ctx, inst, 1, PTX_TYPE_B32);
    LLVMValueRef high = tr_value(ctx, inst, 2, PTX_TYPE_B32);
    LLVMValueRef amount = tr_value(ctx, inst, 3, PTX_TYPE_U32);
    LLVMValueRef args[] = {high, low, amount}; /* the intrinsics take the amount modulo 32 */
    LLVMValueRef value =
        tr_intrinsic(ctx, is_left ? "llvm.fshl" : "llvm.fshr", &ctx->i32, 1, args, 3);
    if (ptx_inst_mod(inst, PTX_GROUP_WRAP) == PTX_MOD_CLAMP) {
        LLVMValueRef is_past = LLVMBuildICmp(b, LLVMIntUGE, amount, tr_const_int(ctx, 32, 32), "");
        value = LLVMBuildSelect(b, is_past, is_left ? low : high, value, "");
    }
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    return PXR_OK;
}

static enum rt_prmt_mode prmt_mode(enum ptx_mod mod)
{
    switch (mod) {
    case PTX_MOD_F4E:
        return RT_PRMT_F4E;
    case PTX_MOD_B4E:
        return RT_PRMT_B4E;
    case PTX_MOD_RC8:
        return RT_PRMT_RC8;
    case PTX_MOD_ECL:
        return RT_PRMT_ECL;
    case PTX_MOD_ECR:
        return RT_PRMT_ECR;
    case PTX_MOD_RC16:
        return RT_PRMT_RC16;
    default:
        return RT_PRMT_INDEX;
    }
}

/* The bytes of a word that a selector puts `distance` bytes higher, or lower; word: 0 or 1. */
static uint32_t bytes_moved(uint32_t selector, unsigned word, int distance)
{
    uint32_t bytes = 0;
    for (int to = 0; to < 4; to++) {
        int from = to - distance;
        if (from >= 0 && from < 4 && (selector >> (4 * to) & 7) == 4 * word + (unsigned)from)
            bytes |= UINT32_C(0xff) << (8 * from);
    }
    return bytes;
}

/* Bytes that go the same way go together. */
static LLVMValueRef move_bytes(struct tr_ctx *ctx, const LLVMValueRef words[2], uint32_t selector)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef result = NULL;
    for (int i = 0; i < 2 * 7; i++) {
        int distance = i % 7 - 3;
        uint32_t bytes = bytes_moved(selector, (unsigned)i / 7, distance);
        if (bytes == 0)
            continue;
        LLVMValueRef part = LLVMBuildAnd(b, words[i / 7], tr_const_int(ctx, 32, bytes), "");
        LLVMValueRef bits =
            tr_const_int(ctx, 32, 8 * (uint64_t)(distance < 0 ? -distance : distance));
        if (distance != 0)
            part = LLVMBuildBinOp(b, distance < 0 ? LLVMLShr : LLVMShl, part, bits, "");
        result = result == NULL ? part : LLVMBuildOr(b, result, part, "");
    }
    return result;
}

/* Selectors are constants nearly always, and hashes have thousands: the helper is long until the
 * selector has become a value. The top bits of its nibbles ask for signs. */
enum pxr_status tr_emit_prmt(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum rt_prmt_mode mode = prmt_mode(ptx_inst_mod(inst, PTX_GROUP_PRMT));
    LLVMValueRef words[2] = {tr_value(ctx, inst, 1, PTX_TYPE_B32),
                             tr_value(ctx, inst, 2, PTX_TYPE_B32)};
    LLVMValueRef value;
    uint64_t selector;
    if (mode == RT_PRMT_INDEX && tr_is_constant(ctx, inst, 3, &selector) &&
        (selector & 0x8888) == 0)
        value = move_bytes(ctx, words, (uint32_t)selector);
    else
        value = tr_helper(ctx, "rt_prmt", ctx->i32, words[0], words[1],
                          tr_value(ctx, inst, 3, PTX_TYPE_B32), tr_const_int(ctx, 32, mode));
    tr_set(ctx, inst, 0, PTX_TYPE_B32, value);
    return PXR_OK;
}
