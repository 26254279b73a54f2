/* SPDX-License-Identifier: Apache-2.0
 *
 * The shape of one instruction from the shapes of its operands. Uniform and affine values are those
 * of Karrenberg and Hack, "Whole-Function Vectorization"; the change of the stride follows from
 * arithmetic modulo 2^width.
 */
#include "translator/analysis/shape.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "translator/analysis/calls.h"

/* ---- making shapes ---- */

struct tr_shape tr_shape_uniform(void)
{
    return (struct tr_shape){.kind = TR_UNIFORM, .no_wrap = true};
}

struct tr_shape tr_shape_varying(void)
{
    return (struct tr_shape){.kind = TR_VARYING};
}

struct tr_shape tr_shape_row(const struct tr_shape_context *context)
{
    if (context->is_row_scope)
        return tr_shape_uniform();
    return (struct tr_shape){.kind = TR_AFFINE, .no_wrap = true};
}

struct tr_shape tr_shape_affine(const struct tr_shape_context *context, unsigned width,
                                uint64_t stride, bool no_wrap)
{
    int64_t canonical = (int64_t)(stride << (64 - width)) >> (64 - width);
    if (canonical == 0)
        return tr_shape_row(context);
    no_wrap = no_wrap && (uint64_t)canonical == stride;
    return (struct tr_shape){.kind = TR_AFFINE, .stride = canonical, .no_wrap = no_wrap};
}

/* ---- combining them ---- */

struct tr_shape tr_shape_of_function(const struct tr_shape_context *context,
                                     const struct tr_shape *operands, uint32_t count)
{
    bool is_uniform = true;
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].kind == TR_VARYING || operands[i].stride != 0)
            return tr_shape_varying();
        is_uniform &= operands[i].kind == TR_UNIFORM;
    }
    return is_uniform ? tr_shape_uniform() : tr_shape_row(context);
}

struct tr_shape tr_shape_join(const struct tr_shape_context *context, struct tr_shape a,
                              struct tr_shape b)
{
    if (a.kind == TR_VARYING || b.kind == TR_VARYING || a.stride != b.stride)
        return tr_shape_varying();
    if (a.stride == 0)
        return a.kind == TR_UNIFORM && b.kind == TR_UNIFORM ? tr_shape_uniform()
                                                            : tr_shape_row(context);
    a.no_wrap &= b.no_wrap;
    return a;
}

static bool is_any_varying(const struct tr_shape *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (operands[i].kind == TR_VARYING)
            return true;
    return false;
}

static bool is_every_uniform(const struct tr_shape *operands, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (operands[i].kind != TR_UNIFORM)
            return false;
    return true;
}

/* ---- types and constants ---- */

/* Bits of integers up to 64 bits and of pointers; 0: values of the type have no stride. */
static unsigned affine_width(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return 64;
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
        return 0;
    unsigned width = LLVMGetIntTypeWidth(type);
    return width <= 64 ? width : 0;
}

static unsigned width_of(LLVMValueRef value)
{
    return affine_width(LLVMTypeOf(value));
}

static bool constant_operand(LLVMValueRef inst, unsigned index, int64_t *constant)
{
    LLVMValueRef operand = LLVMGetOperand(inst, index);
    if (LLVMIsAConstantInt(operand) == NULL || width_of(operand) == 0)
        return false;
    *constant = LLVMConstIntGetSExtValue(operand);
    return true;
}

/* ---- arithmetic ---- */

/* left + sign * right, neither of them varying; is_exact: the sum does not wrap as a signed number.
 */
static struct tr_shape sum(const struct tr_shape_context *context, unsigned width,
                           const struct tr_shape *operands, int64_t sign, bool is_exact)
{
    if (is_every_uniform(operands, 2))
        return tr_shape_uniform();
    int64_t right = 0;
    int64_t stride = 0;
    bool is_big = __builtin_mul_overflow(operands[1].stride, sign, &right);
    is_big |= __builtin_add_overflow(operands[0].stride, right, &stride);
    bool no_wrap = is_exact && !is_big && operands[0].no_wrap && operands[1].no_wrap;
    return tr_shape_affine(context, width, (uint64_t)stride, no_wrap);
}

static struct tr_shape product(const struct tr_shape_context *context, unsigned width,
                               struct tr_shape operand, int64_t factor, bool is_exact)
{
    if (operand.kind != TR_AFFINE)
        return operand;
    int64_t stride = 0;
    bool is_big = __builtin_mul_overflow(operand.stride, factor, &stride);
    return tr_shape_affine(context, width, (uint64_t)stride,
                           is_exact && !is_big && operand.no_wrap);
}

static struct tr_shape shape_of_mul(const struct tr_shape_context *context, LLVMValueRef inst,
                                    const struct tr_shape *operands)
{
    int64_t factor = 0;
    if (constant_operand(inst, 1, &factor))
        return product(context, width_of(inst), operands[0], factor, LLVMGetNSW(inst));
    if (constant_operand(inst, 0, &factor))
        return product(context, width_of(inst), operands[1], factor, LLVMGetNSW(inst));
    return tr_shape_of_function(context, operands, 2);
}

static struct tr_shape shape_of_shl(const struct tr_shape_context *context, LLVMValueRef inst,
                                    const struct tr_shape *operands)
{
    int64_t bits = 0;
    unsigned width = width_of(inst);
    if (!constant_operand(inst, 1, &bits) || bits < 0 || bits >= width)
        return tr_shape_of_function(context, operands, 2);
    bool is_exact = LLVMGetNSW(inst) && bits < 63;
    return product(context, width, operands[0], (int64_t)(UINT64_C(1) << bits), is_exact);
}

/* Without common bits it is a sum that cannot wrap: at most one operand is negative, and the other
 * fills in zeros of it. */
static struct tr_shape shape_of_or(const struct tr_shape_context *context, LLVMValueRef inst,
                                   const struct tr_shape *operands)
{
    if (LLVMGetIsDisjoint(inst))
        return sum(context, width_of(inst), operands, 1, true);
    return tr_shape_of_function(context, operands, 2);
}

/* ~x is -1 - x, which never wraps. */
static struct tr_shape shape_of_xor(const struct tr_shape_context *context, LLVMValueRef inst,
                                    const struct tr_shape *operands)
{
    int64_t constant = 0;
    if (constant_operand(inst, 1, &constant) && constant == -1)
        return product(context, width_of(inst), operands[0], -1, true);
    return tr_shape_of_function(context, operands, 2);
}

static struct tr_shape shape_of_arithmetic(const struct tr_shape_context *context,
                                           LLVMValueRef inst, const struct tr_shape *operands)
{
    if (is_any_varying(operands, 2))
        return tr_shape_varying();
    if (width_of(inst) == 0)
        return tr_shape_of_function(context, operands, 2);
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
        return sum(context, width_of(inst), operands, 1, LLVMGetNSW(inst));
    case LLVMSub:
        return sum(context, width_of(inst), operands, -1, LLVMGetNSW(inst));
    case LLVMMul:
        return shape_of_mul(context, inst, operands);
    case LLVMShl:
        return shape_of_shl(context, inst, operands);
    case LLVMOr:
        return shape_of_or(context, inst, operands);
    default:
        return shape_of_xor(context, inst, operands);
    }
}

/* ---- addresses ---- */

/* Adds index * size_bytes to the stride. An index of fewer bits is extended with its sign. False:
 * the address has no stride. */
static bool add_index(LLVMValueRef index, struct tr_shape shape, uint64_t size_bytes,
                      uint64_t *stride)
{
    if (shape.stride != 0 && LLVMGetIntTypeWidth(LLVMTypeOf(index)) < 64 && !shape.no_wrap)
        return false;
    *stride += (uint64_t)shape.stride * size_bytes;
    return true;
}

static struct tr_shape shape_of_gep(const struct tr_shape_context *context, LLVMValueRef gep,
                                    const struct tr_shape *operands, uint32_t count)
{
    if (is_any_varying(operands, count) || LLVMGetTypeKind(LLVMTypeOf(gep)) != LLVMPointerTypeKind)
        return tr_shape_of_function(context, operands, count);
    if (is_every_uniform(operands, count))
        return tr_shape_uniform();
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    uint64_t stride = (uint64_t)operands[0].stride;
    for (uint32_t i = 1; i < count; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
        if (i > 1 && is_struct) { /* fields have constant offsets */
            type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
            continue;
        }
        if (i > 1 && LLVMGetTypeKind(type) != LLVMArrayTypeKind)
            return tr_shape_of_function(context, operands, count);
        if (i > 1)
            type = LLVMGetElementType(type);
        if (!add_index(index, operands[i], LLVMABISizeOfType(context->layout, type), &stride))
            return tr_shape_varying();
    }
    return tr_shape_affine(context, 64, stride, false);
}

/* Memory can change between the loads of two threads, even at one address: unless nothing races
 * with a load, only loads marked as never changing are as uniform as their address. Each thread has
 * a record of its own, but all records have the same first field, the block's record. */
static struct tr_shape shape_of_load(const struct tr_shape_context *context, LLVMValueRef load,
                                     const struct tr_shape *operands)
{
    LLVMValueRef pointer = LLVMGetOperand(load, 0);
    bool is_plain = !LLVMGetVolatile(load) && LLVMGetOrdering(load) == LLVMAtomicOrderingNotAtomic;
    if (is_plain && pointer == LLVMGetFirstParam(context->graph->function) &&
        LLVMGetTypeKind(LLVMTypeOf(load)) == LLVMPointerTypeKind)
        return tr_shape_uniform();
    if (!is_plain || !(context->is_race_free || tr_is_invariant_load(load)))
        return tr_shape_varying();
    return tr_shape_of_function(context, operands, 1);
}

/* ---- conversions ---- */

/* The shape after a conversion to another width, or between integers and pointers; keeps_value: as
 * signed numbers both are the same. */
static struct tr_shape shape_of_cast(const struct tr_shape_context *context, LLVMValueRef cast,
                                     const struct tr_shape *operand, bool keeps_value)
{
    unsigned from = width_of(LLVMGetOperand(cast, 0));
    unsigned to = width_of(cast);
    if (operand->kind != TR_AFFINE || from == 0 || to == 0)
        return tr_shape_of_function(context, operand, 1);
    if (to > from && operand->stride != 0 && !(keeps_value && operand->no_wrap))
        return tr_shape_varying();
    return tr_shape_affine(context, to, (uint64_t)operand->stride, keeps_value && operand->no_wrap);
}

/* Numbers between 0 and 2^(from - 1) in all threads of a row cannot have wrapped in between, as
 * long as the distance along the whole row does not. */
#define ROW_MAX 1024

static bool is_never_negative(LLVMValueRef zext, const struct tr_shape *operand)
{
    unsigned from = width_of(LLVMGetOperand(zext, 0));
    int64_t distance = 0;
    return LLVMGetNNeg(zext) && operand->kind == TR_AFFINE && from >= 32 &&
           !__builtin_mul_overflow(operand->stride, ROW_MAX, &distance) && distance < INT32_MAX &&
           distance > INT32_MIN;
}

static struct tr_shape shape_of_zext(const struct tr_shape_context *context, LLVMValueRef zext,
                                     const struct tr_shape *operand)
{
    struct tr_shape shape = *operand;
    shape.no_wrap |= is_never_negative(zext, operand);
    return shape_of_cast(context, zext, &shape, LLVMGetNNeg(zext));
}

struct tr_shape tr_shape_of_steady(const struct tr_shape_context *context,
                                   const struct tr_value *value, const struct tr_shape *operand)
{
    struct tr_shape steady = *operand;
    steady.no_wrap = true;
    return shape_of_cast(context, value->llvm, &steady, true);
}

/* ---- choices ---- */

static struct tr_shape shape_of_select(const struct tr_shape_context *context, LLVMValueRef select,
                                       const struct tr_shape *operands)
{
    if (LLVMGetOperand(select, 1) == LLVMGetOperand(select, 2))
        return operands[1];
    if (operands[0].kind == TR_VARYING || operands[0].stride != 0)
        return tr_shape_varying();
    struct tr_shape either = tr_shape_join(context, operands[1], operands[2]);
    /* A row chooses as one, but others may choose differently. */
    if (operands[0].kind == TR_AFFINE && either.kind == TR_UNIFORM)
        return tr_shape_row(context);
    return either;
}

/* Threads of a row whose operands differ by the same amount agree on whether they are equal and,
 * where nothing wraps, on the order. */
static struct tr_shape shape_of_icmp(const struct tr_shape_context *context, LLVMValueRef icmp,
                                     const struct tr_shape *operands)
{
    if (is_any_varying(operands, 2) || operands[0].stride != operands[1].stride ||
        operands[0].stride == 0)
        return tr_shape_of_function(context, operands, 2);
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(icmp);
    bool is_equality = predicate == LLVMIntEQ || predicate == LLVMIntNE;
    bool is_signed = predicate >= LLVMIntSGT && predicate <= LLVMIntSLE;
    if (is_equality || (is_signed && operands[0].no_wrap && operands[1].no_wrap))
        return tr_shape_row(context);
    return tr_shape_varying();
}

/* ---- any instruction ---- */

bool tr_is_invariant_load(LLVMValueRef load)
{
    static const char name[] = "invariant.load";
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(load));
    unsigned kind = LLVMGetMDKindIDInContext(llvm, name, sizeof name - 1);
    return LLVMHasMetadata(load) && LLVMGetMetadata(load, kind) != NULL;
}

bool tr_is_arithmetic(uint32_t opcode)
{
    switch (opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMICmp:
    case LLVMSelect:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMGetElementPtr:
        return true;
    default:
        return false;
    }
}

bool tr_is_function_of_operands(const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMFNeg:
    case LLVMAdd:
    case LLVMFAdd:
    case LLVMSub:
    case LLVMFSub:
    case LLVMMul:
    case LLVMFMul:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMFDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMFRem:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMGetElementPtr:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMPtrToInt:
    case LLVMPtrToAddr:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSelect:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMExtractValue:
    case LLVMInsertValue:
    case LLVMFreeze:
        return true;
    case LLVMLoad:
        return tr_is_invariant_load(value->llvm);
    case LLVMCall:
        return tr_is_pure_call(value->llvm);
    default:
        return false;
    }
}

struct tr_shape tr_shape_of_value(const struct tr_shape_context *context,
                                  const struct tr_value *value, const struct tr_shape *operands)
{
    if (tr_shape_is_of_warp(context, value->llvm))
        return tr_shape_uniform();
    switch (value->opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMOr:
    case LLVMXor:
        return shape_of_arithmetic(context, value->llvm, operands);
    case LLVMGetElementPtr:
        return shape_of_gep(context, value->llvm, operands, value->operand_count);
    case LLVMTrunc:
        return shape_of_cast(context, value->llvm, operands, LLVMGetNSW(value->llvm));
    case LLVMSExt:
        return shape_of_cast(context, value->llvm, operands, true);
    case LLVMZExt:
        return shape_of_zext(context, value->llvm, operands);
    case LLVMPtrToInt:
    case LLVMPtrToAddr:
    case LLVMIntToPtr:
    case LLVMAddrSpaceCast:
        return shape_of_cast(context, value->llvm, operands, false);
    case LLVMFreeze:
        return operands[0];
    case LLVMSelect:
        return shape_of_select(context, value->llvm, operands);
    case LLVMICmp:
        return shape_of_icmp(context, value->llvm, operands);
    case LLVMLoad:
        return shape_of_load(context, value->llvm, operands);
    case LLVMCall:
        return tr_shape_of_call(context, value, operands);
    default:
        return tr_is_function_of_operands(value)
                   ? tr_shape_of_function(context, operands, value->operand_count)
                   : tr_shape_varying();
    }
}
