/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs LLVM's own passes.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_PASSES_H
#define PTXRUN_TRANSLATOR_MODULE_PASSES_H

#include <llvm-c/TargetMachine.h>

#include "util/error.h"

/* Runs a pass list in LLVM's syntax; machine may be NULL for passes that need none. */
enum pxr_status tr_run_passes(LLVMModuleRef module, const char *passes,
                              LLVMTargetMachineRef machine, struct pxr_error *err);

/* Runs function passes on one function. */
enum pxr_status tr_run_function_passes(LLVMValueRef function, const char *passes,
                                       LLVMTargetMachineRef machine, struct pxr_error *err);

#endif
