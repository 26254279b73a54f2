/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimisation passes between the translator and the code generator.
 */
#ifndef PTXRUN_JIT_PASSES_H
#define PTXRUN_JIT_PASSES_H

#include <llvm-c/TargetMachine.h>

#include "util/error.h"

/* Runs the list for scalar code of one thread. */
enum pxr_status jit_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine,
                               struct pxr_error *err);

#endif
