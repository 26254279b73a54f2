/* SPDX-License-Identifier: Apache-2.0
 *
 * One collapse in the making: the state that the steps from the program of one thread to the
 * function of the blocks share. Each function is a step of translator/pipeline.def, in that order.
 * Errors of all: PXR_OUT_OF_MEMORY, PXR_COMPILE_FAILED.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_COLLAPSING_H
#define PTXRUN_TRANSLATOR_COLLAPSE_COLLAPSING_H

#include <stdio.h>

#include "translator/collapse/fuse.h"

/* Zero-initialise, then tr_collapsing_init. Owned by one thread. */
struct tr_collapsing {
    LLVMModuleRef module;
    LLVMValueRef function; /* the program of one thread */
    const struct tr_collapse_options *options;
    enum pxr_collapse collapse; /* the one asked for; once chosen, PRECISE, FLAT or HIERARCHICAL */
    const char *why;            /* why this collapse */
    uint32_t why_line;          /* the PTX line of the reason; 0: there is none */
    bool has_polls;             /* some wait: they have become calls of a helper */
    bool has_sync_loops;        /* loops with sync points, which may be unrolled */
    bool has_interleaved;       /* local arrays lie element after element now */
    bool has_kernel;            /* the next two exist */
    struct tr_kernel kernel;
    struct tr_fuse fuse;
    bool may_wait;       /* a block may wait for another: it polls … */
    bool waits_again;    /* … and in a loop that does more than that */
    uint32_t copies;     /* instructions in all regions */
    uint32_t seed_sites; /* of TR_SEED_MISSING_SYNC */
};

/* options must outlive it. */
void tr_collapsing_init(struct tr_collapsing *collapsing, LLVMModuleRef module,
                        const struct tr_collapse_options *options);
void tr_collapsing_fini(struct tr_collapsing *collapsing);

/* ---- before the choice (prepare.c, polls.c) ----
 * Where one finds that threads cannot be fused, the collapse is PRECISE from there on. */

/* Marks functions in which a thread may stop or exit for inlining. */
enum pxr_status tr_inline_sync_points(struct tr_collapsing *collapsing, struct pxr_error *err);

/* Finds the polls of loops that can wait and removes the others; in programs that wait, lanes
 * gather at fences. */
enum pxr_status tr_bind_polls(struct tr_collapsing *collapsing, struct pxr_error *err);

/* Loads values that are the same for the whole launch in the entry block, and makes addresses that
 * are sums with a parameter that pointer plus an offset. */
enum pxr_status tr_make_pointers(struct tr_collapsing *collapsing, struct pxr_error *err);

enum pxr_status tr_find_obstacles(struct tr_collapsing *collapsing, struct pxr_error *err);

/* ---- the choice, and what follows from it (collapse.c) ---- */

enum pxr_status tr_choose_collapse(struct tr_collapsing *collapsing, struct pxr_error *err);

/* Takes a sync point out, if a test asks for it. */
enum pxr_status tr_seed_sync_points(struct tr_collapsing *collapsing, struct pxr_error *err);

/* Lays local arrays out element after element where nobody can tell. */
enum pxr_status tr_interleave_arrays(struct tr_collapsing *collapsing, struct pxr_error *err);

/* Forms regions, and plans how values get across sync points. */
enum pxr_status tr_form_regions(struct tr_collapsing *collapsing, struct pxr_error *err);
enum pxr_status tr_plan_crossings(struct tr_collapsing *collapsing, struct pxr_error *err);

/* Builds the step function, and the function of the blocks in place of the kernel's. */
enum pxr_status tr_build_blocks(struct tr_collapsing *collapsing, struct pxr_error *err);

/* In the function of the blocks, for code that no pass over loops will see: what is the same for
 * all threads of a block goes before the loops over them, and what only faults need to these
 * (place_values.c). */
void tr_place_values(LLVMValueRef function);

/* For `precise`: the kernel stays the program of one thread. */
enum pxr_status tr_keep_threads(struct tr_collapsing *collapsing, struct pxr_error *err);

/* ---- what became of it ---- */

/* Reports of a fused kernel the frame's size, whether it may wait, and places for seeds. */
void tr_collapsing_report(const struct tr_collapsing *collapsing, struct tr_collapsed *result);

/* Writes lines for --explain of a fused kernel; those that begin with a tab are details. */
void tr_collapsing_explain(const struct tr_collapsing *collapsing, FILE *out);

#endif
