/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector forms of single instructions, and their helpers. Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_EMIT_FORM_H
#define PTXRUN_TRANSLATOR_VECTOR_EMIT_FORM_H

#include "translator/vector/emit/widen.h"

/* Elements of the longest vector: 64 lanes that each hold a vector of 64 elements. */
#define TR_MAX_ELEMENTS 4096

/* ---- values (value.c) ---- */

/* Whether values of this type can be held as vectors. */
bool tr_is_holdable(LLVMTypeRef type);

/* The value of an affine operand in a lane (i32), from its value in lane 0. */
LLVMValueRef tr_widen_move(struct tr_widen *widen, LLVMValueRef scalar, int64_t stride,
                           LLVMValueRef lane);

/* scalar + distance, modulo the width; of pointers in bytes. */
LLVMValueRef tr_widen_offset(struct tr_widen *widen, LLVMValueRef scalar, int64_t distance);

/* ---- elements of vectors (element.c) ---- */

/* Elements of the type; 1 for types that are no vectors. */
uint32_t tr_widen_element_count(LLVMTypeRef type);

/* A vector of these elements of a and then b (NULL: a alone); TR_NONE: any value. */
LLVMValueRef tr_widen_shuffle(struct tr_widen *widen, LLVMValueRef a, LLVMValueRef b,
                              const uint32_t *elements, uint32_t count);

/* Repeats each element so many times in a row: from values of lanes to values of their elements. */
LLVMValueRef tr_widen_repeat(struct tr_widen *widen, LLVMValueRef vector, uint32_t times);

LLVMValueRef tr_form_extract_element(struct tr_widen *widen, uint32_t value, uint32_t copy);
LLVMValueRef tr_form_insert_element(struct tr_widen *widen, uint32_t value, uint32_t copy);
LLVMValueRef tr_form_shuffle(struct tr_widen *widen, uint32_t value, uint32_t copy);
LLVMValueRef tr_form_extract_value(struct tr_widen *widen, uint32_t value, uint32_t copy);
LLVMValueRef tr_form_insert_value(struct tr_widen *widen, uint32_t value, uint32_t copy);

/* ---- intrinsic functions (intrinsic.c) ---- */

bool tr_has_vector_intrinsic(LLVMValueRef call);
LLVMValueRef tr_form_intrinsic(struct tr_widen *widen, uint32_t value, uint32_t copy);

bool tr_is_assumption(LLVMValueRef call);

/* ---- division (divide.c) ---- */

/* Whether no dividend makes a division by this trap. */
bool tr_is_safe_divisor(LLVMValueRef inst);

/* The number 1, or a vector of it. */
LLVMValueRef tr_widen_one(LLVMTypeRef type);
LLVMValueRef tr_form_divide(struct tr_widen *widen, uint32_t value, uint32_t copy);

/* ---- everything else (form.c) ---- */

/* Whether there is a vector form of the instruction. For instructions whose results are varying. */
bool tr_has_form(LLVMValueRef inst);
LLVMValueRef tr_widen_form(struct tr_widen *widen, uint32_t value, uint32_t copy);

/* nsw, exact, inbounds and whatever else can make poison. */
void tr_forget_flags(LLVMValueRef inst);

#endif
