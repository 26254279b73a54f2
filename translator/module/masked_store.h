/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM's masked stores.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_MASKED_STORE_H
#define PTXRUN_TRANSLATOR_MODULE_MASKED_STORE_H

#include <stdbool.h>

#include <llvm-c/Types.h>

enum {
    TR_MASKED_STORE_VALUE,
    TR_MASKED_STORE_POINTER,
    TR_MASKED_STORE_MASK,
};

bool tr_is_masked_store(LLVMValueRef inst);

/* How many lanes of the mask are set, and the last of them; -1: not known. */
int tr_lanes_set(LLVMValueRef mask, unsigned *last);

#endif
