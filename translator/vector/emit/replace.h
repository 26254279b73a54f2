/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers for code that replaces other code, for all that emit a second version of something.
 * Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_EMIT_REPLACE_H
#define PTXRUN_TRANSLATOR_VECTOR_EMIT_REPLACE_H

#include <llvm-c/Core.h>

/* Makes the block's phis take from `to` the values they took from `from`. Moves the builder. */
void tr_move_phis(LLVMBuilderRef builder, LLVMBasicBlockRef block, LLVMBasicBlockRef from,
                  LLVMBasicBlockRef to);

/* Erases instructions of a block from `last` (NULL: nothing) back to `kept`, which stays; NULL: all
 * before it. What others still use of them becomes poison. */
void tr_erase_back(LLVMValueRef last, LLVMValueRef kept);

#endif
