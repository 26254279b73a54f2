/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of i1 in memory.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_MEMORY_BIT_VECTORS_H
#define PTXRUN_TRANSLATOR_VECTOR_MEMORY_BIT_VECTORS_H

#include <llvm-c/Types.h>

/* Turns loads and stores of vectors of i1 into loads and stores of integers. */
void tr_bits_in_memory(LLVMValueRef function);

#endif
