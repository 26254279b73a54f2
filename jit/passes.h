/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimisation passes between the translator and the code generator.
 */
#ifndef PTXRUN_JIT_PASSES_H
#define PTXRUN_JIT_PASSES_H

#include <llvm-c/TargetMachine.h>

#include "translator/module/budget.h"
#include "util/error.h"
#include "util/options.h"

/* Runs the list for the collapse that the module has got, and the effort that is left. */
enum pxr_status jit_run_passes(LLVMModuleRef module, enum pxr_collapse collapse,
                               enum tr_effort effort, LLVMTargetMachineRef machine,
                               struct pxr_error *err);

#endif
