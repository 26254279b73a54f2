/* SPDX-License-Identifier: Apache-2.0
 *
 * How values lie in memory from one region to the next.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_KEPT_H
#define PTXRUN_TRANSLATOR_COLLAPSE_KEPT_H

#include <llvm-c/Core.h>

/* The type of a kept value in memory. i1 has no place of its own in a vector in memory, so it takes
 * a byte: an access of i1 would be done lane by lane. */
LLVMTypeRef tr_kept_type(LLVMTypeRef type);

void tr_store_kept(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef place);

/* The value, of that type, that is kept in the place. */
LLVMValueRef tr_load_kept(LLVMBuilderRef builder, LLVMTypeRef type, LLVMValueRef place);

#endif
