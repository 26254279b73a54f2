/* SPDX-License-Identifier: Apache-2.0
 *
 * Types of scalars and of vectors alike: for steps that do the same to both.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_ELEMENTS_H
#define PTXRUN_TRANSLATOR_MODULE_ELEMENTS_H

#include <stdint.h>

#include <llvm-c/Core.h>

#define TR_MAX_LANES 256

/* 0: no vector. */
static inline unsigned tr_lane_count(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetVectorSize(type) : 0;
}

/* A vector's; of all else the type itself. */
static inline LLVMTypeRef tr_element_of(LLVMTypeRef type)
{
    return tr_lane_count(type) > 0 ? LLVMGetElementType(type) : type;
}

static inline LLVMTypeKind tr_element_kind(LLVMTypeRef type)
{
    return LLVMGetTypeKind(tr_element_of(type));
}

/* `element`, or a vector of as many as `type` has. */
static inline LLVMTypeRef tr_like(LLVMTypeRef type, LLVMTypeRef element)
{
    return tr_lane_count(type) > 0 ? LLVMVectorType(element, LLVMGetVectorSize(type)) : element;
}

/* The integer, or a vector of it; of at most TR_MAX_LANES lanes. */
static inline LLVMValueRef tr_number_like(LLVMTypeRef words, uint64_t number)
{
    LLVMValueRef element = LLVMConstInt(tr_element_of(words), number, 0);
    LLVMValueRef lanes[TR_MAX_LANES];
    unsigned count = tr_lane_count(words);
    for (unsigned i = 0; i < count; i++)
        lanes[i] = element;
    return count > 0 ? LLVMConstVector(lanes, count) : element;
}

#endif
