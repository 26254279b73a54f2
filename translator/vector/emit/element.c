/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of values. Elements of the program's own vectors: these are held one lane after the other,
 * so that taking and inserting elements are shuffles. And fields of structs, which are held as
 * structs of vectors.
 */
#include "translator/vector/emit/form.h"

uint32_t tr_widen_element_count(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 1;
}

LLVMValueRef tr_widen_shuffle(struct tr_widen *widen, LLVMValueRef a, LLVMValueRef b,
                              const uint32_t *elements, uint32_t count)
{
    LLVMValueRef mask[TR_MAX_ELEMENTS];
    for (uint32_t i = 0; i < count; i++)
        mask[i] = elements[i] == TR_NONE ? LLVMGetPoison(widen->i32)
                                         : LLVMConstInt(widen->i32, elements[i], false);
    if (b == NULL)
        b = LLVMGetPoison(LLVMTypeOf(a));
    return LLVMBuildShuffleVector(widen->builder, a, b, LLVMConstVector(mask, count), "");
}

LLVMValueRef tr_widen_repeat(struct tr_widen *widen, LLVMValueRef vector, uint32_t times)
{
    uint32_t elements[TR_MAX_ELEMENTS];
    uint32_t count = tr_widen_element_count(LLVMTypeOf(vector)) * times;
    if (times == 1)
        return vector;
    for (uint32_t i = 0; i < count; i++)
        elements[i] = i / times;
    return tr_widen_shuffle(widen, vector, NULL, elements, count);
}

static LLVMValueRef instruction(const struct tr_widen *widen, uint32_t value)
{
    return widen->iteration->graph.values[value].llvm;
}

static LLVMValueRef operand(struct tr_widen *widen, uint32_t value, uint32_t i, uint32_t copy)
{
    return tr_widen_vector(widen, LLVMGetOperand(instruction(widen, value), i), copy);
}

/* ---- elements ---- */

LLVMValueRef tr_form_extract_element(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    uint32_t elements[TR_MAX_ELEMENTS];
    LLVMValueRef inst = instruction(widen, value);
    uint32_t count = tr_widen_element_count(LLVMTypeOf(LLVMGetOperand(inst, 0)));
    uint32_t index = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(inst, 1));
    for (uint32_t lane = 0; lane < widen->width; lane++)
        elements[lane] = lane * count + index;
    return tr_widen_shuffle(widen, operand(widen, value, 0, copy), NULL, elements, widen->width);
}

/* Puts the elements into place in a vector of their own, then selects between the two. */
LLVMValueRef tr_form_insert_element(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    uint32_t elements[TR_MAX_ELEMENTS];
    LLVMValueRef inst = instruction(widen, value);
    uint32_t count = tr_widen_element_count(LLVMTypeOf(inst));
    uint32_t index = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(inst, 2));
    uint32_t total = count * widen->width;
    for (uint32_t i = 0; i < total; i++)
        elements[i] = i % count == index ? i / count : TR_NONE;
    LLVMValueRef placed =
        tr_widen_shuffle(widen, operand(widen, value, 1, copy), NULL, elements, total);
    for (uint32_t i = 0; i < total; i++)
        elements[i] = i % count == index ? total + i : i;
    return tr_widen_shuffle(widen, operand(widen, value, 0, copy), placed, elements, total);
}

LLVMValueRef tr_form_shuffle(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    uint32_t elements[TR_MAX_ELEMENTS];
    LLVMValueRef inst = instruction(widen, value);
    uint32_t from = tr_widen_element_count(LLVMTypeOf(LLVMGetOperand(inst, 0)));
    uint32_t to = tr_widen_element_count(LLVMTypeOf(inst));
    for (uint32_t i = 0; i < to * widen->width; i++) {
        int chosen = LLVMGetMaskValue(inst, i % to);
        uint32_t lane = i / to;
        uint32_t second = chosen >= (int)from ? from * (widen->width - 1) : 0;
        elements[i] =
            chosen == LLVMGetUndefMaskElem() ? TR_NONE : second + lane * from + (uint32_t)chosen;
    }
    return tr_widen_shuffle(widen, operand(widen, value, 0, copy), operand(widen, value, 1, copy),
                            elements, to * widen->width);
}

/* ---- fields ---- */

LLVMValueRef tr_form_extract_value(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    LLVMValueRef result = operand(widen, value, 0, copy);
    for (unsigned i = 0; i < LLVMGetNumIndices(inst); i++)
        result = LLVMBuildExtractValue(widen->builder, result, LLVMGetIndices(inst)[i], "");
    return result;
}

static LLVMValueRef insert_at(struct tr_widen *widen, LLVMValueRef aggregate, LLVMValueRef field,
                              const unsigned *indices, unsigned count)
{
    if (count > 1) {
        LLVMValueRef inner = LLVMBuildExtractValue(widen->builder, aggregate, indices[0], "");
        field = insert_at(widen, inner, field, indices + 1, count - 1);
    }
    return LLVMBuildInsertValue(widen->builder, aggregate, field, indices[0], "");
}

LLVMValueRef tr_form_insert_value(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    return insert_at(widen, operand(widen, value, 0, copy), operand(widen, value, 1, copy),
                     LLVMGetIndices(inst), LLVMGetNumIndices(inst));
}
