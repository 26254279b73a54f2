/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers written in C (translator/rt) become part of a module.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_LINK_RT_H
#define PTXRUN_TRANSLATOR_MODULE_LINK_RT_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "util/error.h"

/* Gives the functions that the module declares the definitions that translator/rt has under
 * these names, as internal functions. sregs: the special registers' definitions only,
 * otherwise the helpers. */
enum pxr_status tr_link_rt(LLVMModuleRef module, bool sregs, struct pxr_error *err);

/* Links the special registers' definitions and marks what they read as constant, except, where the
 * code runs many blocks, what changes from block to block. */
enum pxr_status tr_bind_sregs(LLVMModuleRef module, bool runs_many_blocks, struct pxr_error *err);

/* A family of helpers of which the module calls something that it has no body of; NULL: none. */
const char *tr_find_unlinked(LLVMModuleRef module);

bool tr_is_always_inline(LLVMValueRef function);

/* Inlines helpers that are tiny, in time that grows like the code; others stay functions. */
enum pxr_status tr_inline_tiny(LLVMModuleRef module, struct pxr_error *err);

#endif
