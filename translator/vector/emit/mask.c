/* SPDX-License-Identifier: Apache-2.0
 *
 * Masks: which lanes are active. Conditions of lanes that are not active may be poison and never
 * decide anything.
 */
#include "translator/vector/emit/form.h"

LLVMValueRef tr_widen_mask_constant(const struct tr_widen *widen, bool is_set)
{
    LLVMTypeRef type = LLVMVectorType(widen->i1, widen->width);
    return is_set ? LLVMConstAllOnes(type) : LLVMConstNull(type);
}

/* A select, not an `and`: an `and` is poison where the condition is, even if the lane's bit is not
 * set. */
LLVMValueRef tr_widen_mask_and(struct tr_widen *widen, LLVMValueRef mask, LLVMValueRef condition)
{
    if (mask == NULL || tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        return condition;
    if (tr_widen_seed(widen, TR_VECTOR_SEED_FREEZE))
        return LLVMBuildAnd(widen->builder, mask, condition, "");
    return LLVMBuildSelect(widen->builder, mask, condition, tr_widen_mask_constant(widen, false),
                           "");
}

static bool is_repeated(const LLVMValueRef *mask, uint32_t copy)
{
    for (uint32_t c = 0; c < copy; c++)
        if (mask[c] == mask[copy])
            return true;
    return false;
}

/* The union of the copies' masks. NULL: all of them are NULL. */
static LLVMValueRef combine(struct tr_widen *widen, const LLVMValueRef *mask, bool is_and)
{
    LLVMValueRef result = NULL;
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (is_repeated(mask, c))
            continue;
        LLVMValueRef one = mask[c] == NULL ? tr_widen_mask_constant(widen, true) : mask[c];
        if (result == NULL)
            result = one;
        else
            result = is_and ? LLVMBuildAnd(widen->builder, result, one, "")
                            : LLVMBuildOr(widen->builder, result, one, "");
    }
    return result;
}

LLVMValueRef tr_widen_mask_any(struct tr_widen *widen, const LLVMValueRef *mask)
{
    return tr_widen_any(widen, combine(widen, mask, false));
}

LLVMValueRef tr_widen_mask_all(struct tr_widen *widen, const LLVMValueRef *mask)
{
    LLVMTypeRef type = LLVMIntTypeInContext(widen->llvm, widen->width);
    LLVMValueRef bits = LLVMBuildBitCast(widen->builder, combine(widen, mask, true), type, "");
    return LLVMBuildICmp(widen->builder, LLVMIntEQ, bits, LLVMConstAllOnes(LLVMTypeOf(bits)),
                         "all");
}

static LLVMValueRef blend_fields(struct tr_widen *widen, LLVMTypeRef type, LLVMValueRef mask,
                                 LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef result = LLVMGetPoison(LLVMTypeOf(a));
    for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
        LLVMValueRef field = tr_widen_blend(widen, LLVMStructGetTypeAtIndex(type, i), mask,
                                            LLVMBuildExtractValue(widen->builder, a, i, ""),
                                            LLVMBuildExtractValue(widen->builder, b, i, ""));
        result = LLVMBuildInsertValue(widen->builder, result, field, i, "");
    }
    return result;
}

LLVMValueRef tr_widen_blend(struct tr_widen *widen, LLVMTypeRef type, LLVMValueRef mask,
                            LLVMValueRef a, LLVMValueRef b)
{
    if (mask == NULL || a == b || tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        return a;
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind)
        return blend_fields(widen, type, mask, a, b);
    LLVMValueRef elements = tr_widen_repeat(widen, mask, tr_widen_element_count(type));
    return LLVMBuildSelect(widen->builder, elements, a, b, "");
}
