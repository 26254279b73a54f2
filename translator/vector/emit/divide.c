/* SPDX-License-Identifier: Apache-2.0
 *
 * Division of integers, which no machine has for vectors. Numbers of up to 32 bits are divided as
 * floating-point numbers; others are divided one after another by LLVM, and lanes that are not
 * active must not bring a zero.
 */
#include "translator/vector/emit/form.h"

static LLVMValueRef instruction(const struct tr_widen *widen, uint32_t value)
{
    return widen->iteration->graph.values[value].llvm;
}

static bool is_unsigned(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    return opcode == LLVMUDiv || opcode == LLVMURem;
}

/* Dividing the least number by -1 traps as well. */
bool tr_is_safe_divisor(LLVMValueRef inst)
{
    LLVMValueRef divisor = LLVMGetOperand(inst, 1);
    if (LLVMIsAConstantInt(divisor) == NULL || LLVMIsNull(divisor))
        return false;
    return is_unsigned(inst) || divisor != LLVMConstAllOnes(LLVMTypeOf(divisor));
}

/* ---- by LLVM ---- */

LLVMValueRef tr_widen_one(LLVMTypeRef type)
{
    LLVMValueRef elements[TR_MAX_ELEMENTS];
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return LLVMConstInt(type, 1, false);
    uint32_t count = LLVMGetVectorSize(type);
    for (uint32_t i = 0; i < count; i++)
        elements[i] = LLVMConstInt(LLVMGetElementType(type), 1, false);
    return LLVMConstVector(elements, count);
}

/* The divisor, with a safe one in lanes that are not active: theirs may be anything. */
static LLVMValueRef safe_divisor(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    LLVMValueRef divisor = tr_widen_vector(widen, LLVMGetOperand(inst, 1), copy);
    LLVMValueRef mask = tr_widen_mask_for(widen, value, copy);
    if (mask == NULL || tr_is_safe_divisor(inst) || tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        return divisor;
    mask = tr_widen_repeat(widen, mask, tr_widen_element_count(LLVMTypeOf(inst)));
    return LLVMBuildSelect(widen->builder, mask, divisor, tr_widen_one(LLVMTypeOf(divisor)), "");
}

/* ---- as floating-point numbers ---- */

/* Whether to divide as floating-point numbers. By constants LLVM multiplies, which is faster. */
static bool is_for_floats(LLVMValueRef inst)
{
    LLVMTypeRef type = LLVMTypeOf(inst);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetIntTypeWidth(type) <= 32 && !LLVMIsConstant(LLVMGetOperand(inst, 1));
}

static LLVMValueRef to_floats(struct tr_widen *widen, LLVMValueRef inst, LLVMValueRef integers)
{
    LLVMTypeRef type = LLVMDoubleTypeInContext(widen->llvm);
    if (LLVMGetTypeKind(LLVMTypeOf(integers)) == LLVMVectorTypeKind)
        type = LLVMVectorType(type, LLVMGetVectorSize(LLVMTypeOf(integers)));
    return is_unsigned(inst) ? LLVMBuildUIToFP(widen->builder, integers, type, "")
                             : LLVMBuildSIToFP(widen->builder, integers, type, "");
}

/* Whether the divisor is one number for all lanes. */
static bool is_by_one(const struct tr_widen *widen, LLVMValueRef inst)
{
    return LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMIntegerTypeKind &&
           tr_is_same_in_row(widen->iteration, LLVMGetOperand(inst, 1));
}

/* 1 / b, for all lanes, at most 2^-50 of itself too large and never too small: the quotient is at
 * most 2^-53 of itself too small, and so is a product. */
static LLVMValueRef inverse(struct tr_widen *widen, LLVMValueRef inst, uint32_t copy)
{
    LLVMBuilderRef b = widen->builder;
    LLVMTypeRef type = LLVMDoubleTypeInContext(widen->llvm);
    LLVMValueRef divisor = tr_widen_scalar(widen, LLVMGetOperand(inst, 1), copy);
    LLVMValueRef exact =
        LLVMBuildFDiv(b, LLVMConstReal(type, 1), to_floats(widen, inst, divisor), "");
    return tr_widen_splat(widen, LLVMBuildFMul(b, exact, LLVMConstReal(type, 1 + 0x1p-51), ""));
}

/* Where a / b is no integer it is at least 1 / b away from one. No rounding, in any direction,
 * moves a quotient of doubles that far, as long as a has no more bits than their fraction; nor does
 * it move a product with an inverse that is a little too large, as long as a has 32 bits. Where
 * a / b is an integer, the product is not less. So rounding the magnitude down gives the right
 * integer. */
static LLVMValueRef quotient(struct tr_widen *widen, LLVMValueRef inst, uint32_t copy,
                             LLVMValueRef left, LLVMValueRef right)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef floats = to_floats(widen, inst, left);
    LLVMValueRef near = is_by_one(widen, inst)
                            ? LLVMBuildFMul(b, floats, inverse(widen, inst, copy), "")
                            : LLVMBuildFDiv(b, floats, to_floats(widen, inst, right), "");
    return is_unsigned(inst) ? LLVMBuildFPToUI(b, near, LLVMTypeOf(left), "")
                             : LLVMBuildFPToSI(b, near, LLVMTypeOf(left), "");
}

LLVMValueRef tr_form_divide(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    LLVMValueRef left = tr_widen_vector(widen, LLVMGetOperand(inst, 0), copy);
    if (!is_for_floats(inst))
        return LLVMBuildBinOp(widen->builder, opcode, left, safe_divisor(widen, value, copy), "");
    LLVMValueRef right = tr_widen_vector(widen, LLVMGetOperand(inst, 1), copy);
    LLVMValueRef result = quotient(widen, inst, copy, left, right);
    if (opcode == LLVMUDiv || opcode == LLVMSDiv)
        return result;
    LLVMValueRef whole = LLVMBuildMul(widen->builder, result, right, "");
    return LLVMBuildSub(widen->builder, left, whole, "");
}
