/* SPDX-License-Identifier: Apache-2.0
 *
 * Barrier optimisation on the program of one thread, before threads are collapsed: barriers that
 * order nothing are removed, adjacent ones merge, and values that only the own thread keeps in
 * memory across them stay in registers. docs/barriers.md has the rules and why they are right.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_H
#define PTXRUN_TRANSLATOR_BARRIERS_H

#include <stdint.h>

#include <llvm-c/Types.h>

#include "ptx/ptx.h"
#include "translator/module/launch_facts.h"
#include "util/error.h"

struct tr_barrier_report {
    uint32_t barrier_count;   /* bar.sync and barrier.sync for the whole block, before */
    uint32_t removed_count;   /* they ordered nothing */
    uint32_t merged_count;    /* another one next to them orders the same */
    uint32_t forwarded_count; /* loads that became the value stored */
    uint32_t dead_count;      /* stores that nobody reads any more */
    uint32_t own_count;       /* loads and stores of elements that became values */
    char *text; /* malloc: a line for each of them, and for each barrier that stays, with the reason
                   and lines of the PTX; NULL if there is nothing to say */
};

/* Changes the kernel's function in module, which step 1 made of kernel; facts (and then kernel) may
 * be NULL. Does nothing where
 * the kernel has barriers that are not for the whole block, or where threads may come to different
 * ones. The caller calls tr_barrier_report_fini, also after a failure. Errors: PXR_OUT_OF_MEMORY.
 */
enum pxr_status tr_optimise_barriers(LLVMModuleRef module, const struct ptx_func *kernel,
                                     const struct tr_facts *facts, struct tr_barrier_report *report,
                                     struct pxr_error *err);

void tr_barrier_report_fini(struct tr_barrier_report *report);

#endif
