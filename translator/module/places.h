/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses at constant distances from each other.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_PLACES_H
#define PTXRUN_TRANSLATOR_MODULE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Target.h>

/* A place at a constant distance from a value, as a number. */
struct tr_place {
    LLVMValueRef base;
    int64_t offset;
};

struct tr_place tr_find_place(LLVMTargetDataRef layout, LLVMValueRef address);

/* Of a constant integer of 64 bits at most, with its sign. */
bool tr_find_constant(LLVMValueRef value, int64_t *number);

#endif
