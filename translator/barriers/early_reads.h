/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads right behind a barrier that programs rely on to be made at once.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_EARLY_READS_H
#define PTXRUN_TRANSLATOR_BARRIERS_EARLY_READS_H

#include <llvm-c/Types.h>

#include "ptx/ptx.h"
#include "translator/analysis/analysis.h"
#include "translator/module/launch_facts.h"
#include "util/error.h"

/* Adds a barrier behind reads of shared memory that all threads make right behind a barrier, if
 * another thread may overwrite what they read before the next one. facts (and then kernel) may be
 * NULL. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status tr_keep_early_reads(LLVMModuleRef module, const struct ptx_func *kernel,
                                    const struct tr_facts *facts, struct pxr_error *err);

/* Its first part: reads that stand behind a barrier in PTX, and now behind a branch, go back.
 * graph: cut at barriers for the whole block; not true any more if any has. Whether any has. */
bool tr_raise_sunk_reads(const struct tr_graph *graph, const struct ptx_func *kernel);

/* Reads that stand behind a branch in PTX, too: whether, and how, one is made before the branch, by
 * the threads that are about to take it (is_taken: where the condition holds). */
bool tr_can_read_before_branch(LLVMValueRef read);
void tr_read_before_branch(LLVMBuilderRef builder, LLVMValueRef branch, LLVMValueRef read,
                           bool is_taken);

#endif
