/* SPDX-License-Identifier: Apache-2.0
 *
 * From the text of an iteration to a module with a loop nest around it, and to one whose nest has
 * been widened.
 */
#ifndef PTXRUN_TESTS_VECTOR_ITERATION_NEST_H
#define PTXRUN_TESTS_VECTOR_ITERATION_NEST_H

#include <llvm-c/Types.h>

#include "jit/llvm_target.h"
#include "tests/vector/iteration_case.h"
#include "translator/vector/vector.h"

/* The machine that code is made for. */
struct iteration_host {
    struct jit_target *target;
};

enum pxr_status iteration_host_init(struct iteration_host *host, struct pxr_error *err);
void iteration_host_fini(struct iteration_host *host);

/* The module with @kernel as it is written: loops around calls of the iteration. */
enum pxr_status iteration_nest_build(const struct iteration_case *c,
                                     const struct iteration_host *host, LLVMContextRef context,
                                     LLVMModuleRef *module, struct pxr_error *err);

/* Makes the row's length and the number of rows constants. */
void iteration_nest_fix_size(LLVMModuleRef module, const struct iteration_size *size);

/* Marks the loops and runs the passes that come before the vectoriser. */
enum pxr_status iteration_nest_prepare(LLVMModuleRef module, struct pxr_error *err);

/* Widens @kernel; checks that the module is well formed. The caller frees report->explanation. */
enum pxr_status iteration_nest_widen(LLVMModuleRef module, const struct tr_vector_options *options,
                                     struct tr_vector_report *report, struct pxr_error *err);

/* Whether @kernel has a loop that can be entered in more than one way. */
bool iteration_nest_is_irreducible(LLVMModuleRef module);

#endif
