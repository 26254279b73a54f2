/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of memory and of numbers in a module: calls of rt_check and rt_number
 * (kernel_abi/placeholders.def).
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_CHECKS_H
#define PTXRUN_TRANSLATOR_MODULE_CHECKS_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Types.h>

#include "kernel_abi/rt.h"
#include "util/error.h"

/* Operands of rt_check, and of rt_written; rt_mark has another last one. */
enum tr_check_operand {
    TR_CHECK_THREAD,
    TR_CHECK_ADDRESS,
    TR_CHECK_BYTES,
    TR_CHECK_BEGIN,
    TR_CHECK_SIZE,
    TR_CHECK_SHADOW,
    TR_CHECK_ACCESSES,
    TR_CHECK_VARIABLE, /* of rt_check alone */
    TR_CHECK_MARKED = TR_CHECK_ACCESSES
};

/* Of rt_check_own. */
#define TR_OWN_WRITTEN  1

#define TR_ACCESSES_MAX 64

/* A constant of the module, struct rt_accesses, of TR_ACCESSES_MAX at most; and back: how many it
 * has. */
LLVMValueRef tr_make_accesses(LLVMModuleRef module, const struct rt_checked_access *accesses,
                              size_t count);
size_t tr_get_accesses(LLVMValueRef constant, struct rt_checked_access accesses[TR_ACCESSES_MAX]);

/* A constant of the module, struct rt_variable; one for each name. */
LLVMValueRef tr_make_variable(LLVMModuleRef module, enum rt_variable_space space, const char *name);

/* The operand of rt_number that says whether it has anything to say. */
#define TR_NUMBER_IS_WRONG 1

/* Whether they are called; puts their helpers in their place. */
bool tr_has_memory_checks(LLVMModuleRef module);
bool tr_has_number_checks(LLVMModuleRef module);
enum pxr_status tr_link_checks(LLVMModuleRef module, struct pxr_error *err);

/* Checks of numbers that are never wrong go. */
void tr_drop_idle_checks(LLVMModuleRef module);

/* merge_checks.c. Of accesses to places at constant distances, in code that runs from its beginning
 * to its end, the first one's check is for all. */
void tr_merge_checks(LLVMModuleRef module);

#endif
