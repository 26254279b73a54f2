/* SPDX-License-Identifier: Apache-2.0
 *
 * Code in place of other code: what those who emit a second version of something have in common.
 * Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_EMIT_REPLACE_H
#define PTXRUN_TRANSLATOR_VECTOR_EMIT_REPLACE_H

#include <llvm-c/Core.h>

/* What the block's phis got from the block `from` they get from `to`. Moves the builder. */
void tr_move_phis(LLVMBuilderRef builder, LLVMBasicBlockRef block, LLVMBasicBlockRef from,
                  LLVMBasicBlockRef to);

/* Erases instructions of a block from `last` (NULL: nothing) back to `kept`, which stays; NULL: all
 * before it. What others still use of them becomes poison. */
void tr_erase_back(LLVMValueRef last, LLVMValueRef kept);

#endif
