/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores to memory that a kernel only writes, and that is more than the caches hold, may go past
 * them (translator/vector/memory/nontemporal_stores.c). Private to translator/collapse.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_TUNING_NONTEMPORAL_H
#define PTXRUN_TRANSLATOR_COLLAPSE_TUNING_NONTEMPORAL_H

#include <stdbool.h>
#include <stdint.h>

#include "translator/vector/vector.h"

/* Whether nobody outside of a block can ask when something has been stored, before the grid ends:
 * no atomic or volatile access, fence, or call that may have one. kernel: the program of one
 * thread. */
bool tr_has_private_order(LLVMValueRef kernel);

/* In the function of the blocks, before it has vectors: marks the stores (TR_MARK_NONTEMPORAL) to
 * memory of parameters that the kernel does not read. *streaming: computed in the entry block, from
 * how much a launch writes there and whether it reads the same memory by way of another parameter;
 * empty if there are no such stores. cache_bytes: the last cache's size; share_bytes: our share of
 * it. */
enum pxr_status tr_mark_streams(LLVMValueRef function, uint64_t cache_bytes, uint64_t share_bytes,
                                struct tr_streaming *streaming, struct pxr_error *err);

/* Afterwards: makes stores past the caches visible to all before the function returns. */
void tr_end_streams(LLVMValueRef function, const struct tr_streaming *streaming);

#endif
