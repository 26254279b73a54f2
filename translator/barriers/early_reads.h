/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads right behind a barrier that programs rely on to be made at once.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_EARLY_READS_H
#define PTXRUN_TRANSLATOR_BARRIERS_EARLY_READS_H

#include <llvm-c/Types.h>

#include "ptx/ptx.h"
#include "translator/module/launch_facts.h"
#include "util/error.h"

/* Adds a barrier behind reads of shared memory that all threads make right behind a barrier, if
 * another thread may overwrite what they read before the next one. facts (and then kernel) may be
 * NULL. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status tr_keep_early_reads(LLVMModuleRef module, const struct ptx_func *kernel,
                                    const struct tr_facts *facts, struct pxr_error *err);

#endif
