/* SPDX-License-Identifier: Apache-2.0
 *
 * Emits the numbers that the analysis of addresses gives as answers.
 */
#include "translator/vector/emit/widen.h"

static LLVMValueRef made_of(struct tr_widen *widen, const struct tr_number *number, uint32_t copy)
{
    LLVMTypeRef type = LLVMIntTypeInContext(widen->llvm, number->bits);
    LLVMValueRef a = number->a == NULL ? NULL : tr_widen_number(widen, number->a, copy);
    LLVMValueRef b = number->b == NULL ? NULL : tr_widen_number(widen, number->b, copy);
    switch (number->kind) {
    case TR_NUMBER_CONSTANT:
        return LLVMConstInt(type, number->constant, false);
    case TR_NUMBER_VALUE:
        return tr_widen_scalar(widen, number->value, copy);
    case TR_NUMBER_SUM:
        return LLVMBuildAdd(widen->builder, a, b, "");
    case TR_NUMBER_DIFFERENCE:
        return LLVMBuildSub(widen->builder, a, b, "");
    case TR_NUMBER_PRODUCT:
        return LLVMBuildMul(widen->builder, a, b, "");
    case TR_NUMBER_SHIFTED:
        return LLVMBuildShl(widen->builder, a, b, "");
    case TR_NUMBER_ZEXT:
        return LLVMBuildZExt(widen->builder, a, type, "");
    case TR_NUMBER_SEXT:
        return LLVMBuildSExt(widen->builder, a, type, "");
    default:
        return LLVMBuildTrunc(widen->builder, a, type, "");
    }
}

LLVMValueRef tr_widen_number(struct tr_widen *widen, struct tr_number *number, uint32_t copy)
{
    if (number->made == NULL)
        number->made = made_of(widen, number, copy);
    return number->made;
}
