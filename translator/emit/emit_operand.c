/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands as LLVM values: registers, special registers, immediates, vectors.
 */
#include "translator/emit/emit.h"

#include <string.h>

#include "translator/emit/emit_texture.h"
#include "translator/module/sregs.h"

/* A vector register named without a component. */
static bool is_whole_vector(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REG && operand->component == 0 &&
           operand->var->vector_len > 1;
}

unsigned tr_vector_parts(const struct ptx_operand *operand, struct ptx_operand parts[TR_MAX_VECTOR])
{
    if (operand->kind == PTX_OPERAND_VECTOR) {
        unsigned count = operand->elem_count < TR_MAX_VECTOR ? operand->elem_count : TR_MAX_VECTOR;
        for (unsigned i = 0; i < count; i++)
            parts[i] = operand->elems[i];
        return count;
    }
    bool is_vector = is_whole_vector(operand);
    unsigned count = is_vector ? operand->var->vector_len : 1;
    for (unsigned i = 0; i < count; i++) {
        parts[i] = *operand;
        if (is_vector)
            parts[i].component = (uint8_t)(i + 1);
    }
    return count;
}

/* The bN type of this many bits. */
static enum ptx_type bits_type(unsigned bits)
{
    switch (bits) {
    case 8:
        return PTX_TYPE_B8;
    case 16:
        return PTX_TYPE_B16;
    case 32:
        return PTX_TYPE_B32;
    case 64:
        return PTX_TYPE_B64;
    default:
        return PTX_TYPE_B128;
    }
}

/* ---- registers ---- */

/* A register that is a parameter (`.func (.reg …)`) lives in the caller's memory. */
static LLVMValueRef find_param_register(struct tr_ctx *ctx, const struct ptx_var *var)
{
    if (ctx->func->is_entry)
        return NULL;
    for (uint32_t i = 0; i < ctx->func->param_count; i++)
        if (ctx->func->params[i] == var)
            return ctx->params[i];
    for (uint32_t i = 0; i < ctx->func->ret_count; i++)
        if (ctx->func->rets[i] == var)
            return ctx->rets[i];
    return NULL;
}

LLVMValueRef tr_register_memory(struct tr_ctx *ctx, LLVMTypeRef type, const char *name)
{
    struct tr_slot *slot = pxr_arena_alloc(&ctx->arena, sizeof *slot);
    LLVMValueRef memory = tr_alloca(ctx, type, 0, name);
    if (slot == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, ctx->inst->line, "out of memory");
        return memory;
    }
    *slot = (struct tr_slot){.memory = memory, .next = ctx->slots};
    ctx->slots = slot;
    return memory;
}

static LLVMValueRef make_register(struct tr_ctx *ctx, const struct ptx_var *var)
{
    LLVMTypeRef type = tr_int_type(ctx, ptx_type_bits(var->type));
    if (var->vector_len > 1)
        type = LLVMArrayType2(type, var->vector_len);
    return tr_register_memory(ctx, type, var->name);
}

/* The memory of the register, or of the component of a vector register. */
static LLVMValueRef register_slot(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    const struct ptx_var *var = operand->var;
    LLVMValueRef slot = find_param_register(ctx, var);
    if (slot == NULL) {
        if (ctx->vars[var->index] == NULL)
            ctx->vars[var->index] = make_register(ctx, var);
        slot = ctx->vars[var->index];
    }
    if (operand->component <= 1)
        return slot;
    LLVMValueRef index = tr_const_int(ctx, 64, operand->component - 1u);
    return LLVMBuildGEP2(ctx->builder, tr_int_type(ctx, ptx_type_bits(var->type)), slot, &index, 1,
                         "");
}

static LLVMValueRef read_register(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    return LLVMBuildLoad2(ctx->builder, tr_int_type(ctx, ptx_type_bits(operand->var->type)),
                          register_slot(ctx, operand), "");
}

/* ---- special registers ---- */

static LLVMValueRef sreg_value(struct tr_ctx *ctx, enum ptx_sreg sreg)
{
    if (sreg == PTX_SREG_WARP_SZ)
        return tr_const_int(ctx, 32, RT_WARP_SIZE);
    enum ptx_type type = ptx_sreg_table[sreg].type;
    bool is_pred = type == PTX_TYPE_PRED;
    LLVMTypeRef result = is_pred ? ctx->i32 : tr_type(ctx, type);
    LLVMValueRef value = tr_helper(ctx, tr_sregs[sreg].function, result, ctx->thread);
    if (tr_sregs[sreg].is_steady) { /* reads may be merged and moved */
        LLVMValueRef function = LLVMGetCalledValue(value);
        tr_add_attribute(ctx, function, "memory", 0);
        tr_add_attribute(ctx, function, "willreturn", 0);
    }
    if (sreg == PTX_SREG_TOTAL_SMEM_SIZE) /* what is reserved does not count */
        return LLVMBuildSub(ctx->builder, value,
                            tr_const_int(ctx, 32, ctx->layout->shared_reserved_bytes), "");
    return is_pred ? LLVMBuildTrunc(ctx->builder, value, ctx->i1, "") : value;
}

/* ---- immediates ---- */

static LLVMValueRef float_immediate(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                    enum ptx_type type)
{
    if (!ptx_type_is_float(type)) /* mov.b32 %r, 0f3F800000: the bits */
        return tr_const_int(ctx, ptx_type_bits(type), operand->bits);
    double value = 0;
    if (operand->is_single) {
        uint32_t single_bits = (uint32_t)operand->bits;
        float single = 0;
        memcpy(&single, &single_bits, sizeof single);
        if (type == PTX_TYPE_F32) /* also NaNs bit for bit */
            return LLVMConstBitCast(tr_const_int(ctx, 32, single_bits), ctx->f32);
        value = single;
    } else {
        memcpy(&value, &operand->bits, sizeof value);
        if (type == PTX_TYPE_F64)
            return LLVMConstBitCast(tr_const_int(ctx, 64, operand->bits), ctx->f64);
    }
    if (type == PTX_TYPE_F32)
        return LLVMConstReal(ctx->f32, value);
    if (type == PTX_TYPE_F64)
        return LLVMConstReal(ctx->f64, value);
    if (type == PTX_TYPE_F16 || type == PTX_TYPE_BF16) {
        LLVMTypeRef half = type == PTX_TYPE_F16 ? LLVMHalfTypeInContext(ctx->llvm)
                                                : LLVMBFloatTypeInContext(ctx->llvm);
        return LLVMConstBitCast(LLVMConstReal(half, value), ctx->i16);
    }
    return tr_const_int(ctx, ptx_type_bits(type), operand->bits);
}

static LLVMValueRef int_immediate(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                  enum ptx_type type)
{
    if (type == PTX_TYPE_F32 || type == PTX_TYPE_F64)
        return LLVMConstReal(tr_type(ctx, type), (double)(int64_t)operand->bits);
    if (type == PTX_TYPE_PRED)
        return tr_const_int(ctx, 1, operand->bits != 0);
    if (ptx_type_bits(type) == 128) {
        uint64_t words[2] = {operand->bits, (int64_t)operand->bits < 0 ? UINT64_MAX : 0};
        return LLVMConstIntOfArbitraryPrecision(ctx->i128, 2, words);
    }
    unsigned bits = ptx_type_bits(type);
    uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
    return tr_const_int(ctx, bits, operand->bits & mask);
}

/* ---- any operand ---- */

/* {a, b, …} as one integer: the first is the least significant (PTX ISA "mov", packing). */
static LLVMValueRef pack_vector(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                unsigned bits)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(operand, parts);
    unsigned part_bits = bits / count;
    LLVMValueRef packed = LLVMConstNull(tr_int_type(ctx, bits));
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef part = tr_operand_value(ctx, &parts[i], bits_type(part_bits));
        part = tr_resize(ctx, part, bits, false);
        LLVMValueRef shift = tr_const_int(ctx, bits, i * part_bits);
        part = LLVMBuildShl(ctx->builder, part, shift, "");
        packed = LLVMBuildOr(ctx->builder, packed, part, "");
    }
    return packed;
}

/* r + 4: the sum wraps in the width of the register. */
static LLVMValueRef sum_value(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    unsigned bits = ptx_type_bits(ptx_operand_type(operand->elems));
    const struct ptx_operand constant = {.kind = PTX_OPERAND_INT,
                                         .bits = (uint64_t)operand->offset};
    LLVMValueRef base = tr_operand_value(ctx, operand->elems, bits_type(bits));
    return LLVMBuildAdd(ctx->builder, base, int_immediate(ctx, &constant, bits_type(bits)), "");
}

/* The operand as an integer of its own width; NULL if it has no such form. */
static LLVMValueRef integer_operand(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                    enum ptx_type type)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        return is_whole_vector(operand) ? pack_vector(ctx, operand, ptx_type_bits(type))
                                        : read_register(ctx, operand);
    case PTX_OPERAND_SREG:
        return sreg_value(ctx, operand->sreg);
    case PTX_OPERAND_VAR:
        if (tr_is_reference(operand))
            return tr_reference_handle(ctx, operand);
        return tr_symbol_address(ctx, operand);
    case PTX_OPERAND_FUNC:
        return tr_symbol_address(ctx, operand);
    case PTX_OPERAND_ADDRESS:
        return operand->is_indexed ? tr_symbol_address(ctx, operand) : NULL;
    case PTX_OPERAND_SUM:
        return sum_value(ctx, operand);
    case PTX_OPERAND_VECTOR:
        return pack_vector(ctx, operand, ptx_type_bits(type));
    default:
        return NULL;
    }
}

LLVMValueRef tr_operand_value(struct tr_ctx *ctx, const struct ptx_operand *operand,
                              enum ptx_type type)
{
    LLVMValueRef value = NULL;
    if (operand->kind == PTX_OPERAND_INT) {
        value = int_immediate(ctx, operand, type);
    } else if (operand->kind == PTX_OPERAND_FLOAT) {
        value = float_immediate(ctx, operand, type);
    } else {
        value = integer_operand(ctx, operand, type);
        if (value == NULL) {
            tr_unsupported(ctx, ctx->inst, "an operand of this kind");
            return LLVMConstNull(tr_type(ctx, type));
        }
        value = tr_resize(ctx, value, ptx_type_bits(type), ptx_type_is_signed(type));
        value = tr_bitcast(ctx, value, tr_type(ctx, type));
    }
    if (operand->is_negated && type == PTX_TYPE_PRED)
        value = LLVMBuildNot(ctx->builder, value, "");
    return value;
}

LLVMValueRef tr_value(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                      enum ptx_type type)
{
    if (!tr_has_operand(inst, index)) {
        tr_unsupported(ctx, inst, "an operand is missing");
        return LLVMConstNull(tr_type(ctx, type));
    }
    return tr_operand_value(ctx, &inst->operands[index], type);
}

/* Names a value after the register it goes to, so that dumps read like the source. */
static void name_value(LLVMValueRef value, const char *name)
{
    size_t len = 0;
    if (LLVMIsAInstruction(value) == NULL)
        return;
    LLVMGetValueName2(value, &len);
    if (len == 0)
        LLVMSetValueName2(value, name + (name[0] == '%'), strlen(name) - (name[0] == '%'));
}

static void unpack_vector(struct tr_ctx *ctx, const struct ptx_operand *operand, enum ptx_type type,
                          LLVMValueRef value)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(operand, parts);
    unsigned bits = ptx_type_bits(type);
    unsigned part_bits = bits / count;
    value = tr_bitcast(ctx, value, tr_int_type(ctx, bits));
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef shift = tr_const_int(ctx, bits, i * part_bits);
        LLVMValueRef part = LLVMBuildLShr(ctx->builder, value, shift, "");
        part = LLVMBuildTrunc(ctx->builder, part, tr_int_type(ctx, part_bits), "");
        tr_set_operand(ctx, &parts[i], bits_type(part_bits), part);
    }
}

void tr_set_operand(struct tr_ctx *ctx, const struct ptx_operand *operand, enum ptx_type type,
                    LLVMValueRef value)
{
    switch (operand->kind) {
    case PTX_OPERAND_SINK:
        return;
    case PTX_OPERAND_PAIR:
        tr_set_operand(ctx, &operand->elems[0], type, value);
        return;
    case PTX_OPERAND_VECTOR:
        unpack_vector(ctx, operand, type, value);
        return;
    case PTX_OPERAND_REG:
        if (!is_whole_vector(operand))
            break;
        unpack_vector(ctx, operand, type, value);
        return;
    default:
        tr_unsupported(ctx, ctx->inst, "a destination that is no register");
        return;
    }
    value = tr_bitcast(ctx, value, tr_int_type(ctx, ptx_type_bits(type)));
    value = tr_resize(ctx, value, ptx_type_bits(operand->var->type), ptx_type_is_signed(type));
    name_value(value, operand->var->name);
    ctx->alignments[operand->var->index].region = 0;
    ctx->constants[operand->var->index].region = 0;
    tr_number_forget(ctx, operand);
    LLVMBuildStore(ctx->builder, value, register_slot(ctx, operand));
}

static bool is_scalar_register(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REG && operand->component == 0 && !operand->is_negated &&
           !is_whole_vector(operand);
}

bool tr_is_constant(const struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                    uint64_t *bits)
{
    const struct ptx_operand *operand = tr_operand(inst, index);
    if (operand->kind == PTX_OPERAND_INT) {
        *bits = operand->bits;
        return true;
    }
    if (!is_scalar_register(operand) || ctx->constants[operand->var->index].region != ctx->region)
        return false;
    *bits = ctx->constants[operand->var->index].bits;
    return true;
}

void tr_note_constant(struct tr_ctx *ctx, const struct ptx_operand *operand, LLVMValueRef value)
{
    if (is_scalar_register(operand) && ctx->inst->guard == NULL &&
        LLVMIsAConstantInt(value) != NULL && ptx_type_bits(operand->var->type) <= 64)
        ctx->constants[operand->var->index] =
            (struct tr_constant){.region = ctx->region, .bits = LLVMConstIntGetZExtValue(value)};
}

void tr_set(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index, enum ptx_type type,
            LLVMValueRef value)
{
    if (!tr_has_operand(inst, index)) {
        tr_unsupported(ctx, inst, "an operand is missing");
        return;
    }
    tr_set_operand(ctx, &inst->operands[index], type, value);
}

void tr_set_second(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index,
                   LLVMValueRef predicate)
{
    const struct ptx_operand *operand = &inst->operands[index];
    if (operand->kind == PTX_OPERAND_PAIR)
        tr_set_operand(ctx, &operand->elems[1], PTX_TYPE_PRED, predicate);
}
