/* SPDX-License-Identifier: Apache-2.0
 *
 * Links helpers written in C (translator/rt) into a module.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_LINK_RT_H
#define PTXRUN_TRANSLATOR_MODULE_LINK_RT_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "util/error.h"

/* Gives functions that the module declares their definitions from translator/rt, as internal
 * functions. sregs: only definitions of special registers; otherwise only helpers. */
enum pxr_status tr_link_rt(LLVMModuleRef module, bool sregs, struct pxr_error *err);

/* Links the definitions of special registers and marks the fields they read as constant, except, if
 * the code runs many blocks, fields that change from block to block. */
enum pxr_status tr_bind_sregs(LLVMModuleRef module, bool runs_many_blocks, struct pxr_error *err);

/* The name of a family of helpers that the module calls without having their bodies; NULL: none. */
const char *tr_find_unlinked(LLVMModuleRef module);

bool tr_is_always_inline(LLVMValueRef function);

/* Has helpers called that would make the code much longer if they were inlined wherever they are
 * called, and that only compute. */
void tr_call_helpers(LLVMModuleRef module);

/* Inlines tiny helpers, in time linear in the code; others stay functions. */
enum pxr_status tr_inline_tiny(LLVMModuleRef module, struct pxr_error *err);

#endif
