/* SPDX-License-Identifier: Apache-2.0
 *
 * Of which powers of two an integer is a multiple.
 */
#ifndef PTXRUN_TRANSLATOR_LOW_ZEROS_H
#define PTXRUN_TRANSLATOR_LOW_ZEROS_H

#include <llvm-c/Core.h>

/* How many of the lowest bits are known to be 0, unless the value is poison; 64: the value is 0.
 * Whatever is no integer of up to 64 bits has none. */
int tr_low_zeros(LLVMValueRef value);

#endif
