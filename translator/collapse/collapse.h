/* SPDX-License-Identifier: Apache-2.0
 *
 * Step 2 for scalar code: the program of one thread becomes loops over the threads of a block.
 * Private to translator/collapse; collapsing.h has the steps.
 *
 * Words (docs/glossary.md has the others). A *sync point* is an instruction at which a thread may
 * have to wait: a barrier, a warp operation, a poll. A *region* is the code that a thread may run
 * between one sync point (or the kernel's beginning) and the next: the segments that can be reached
 * without passing a sync point. A *group* is the set of threads that one loop runs: the block
 * (flat) or a warp (hierarchical). A sync point is *fused* if loops can go on behind it when all
 * live threads of the group have come to it; behind any other, threads go on one by one
 * (kernel_abi/rt.h, rt_block_mix).
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_H
#define PTXRUN_TRANSLATOR_COLLAPSE_H

#include <llvm-c/Core.h>

#include "translator/analysis/analysis.h"
#include "translator/analysis/calls.h"
#include "translator/collapse/collapse_options.h"
#include "translator/module/target.h"

/* ---- sync points (sync_points.c) ---- */

struct tr_sync_point {
    enum rt_sync kind;
    uint32_t value;  /* the call; TR_NONE for sync point 0 */
    uint32_t resume; /* the segment behind it; 0 for sync point 0 */
    bool is_fused;
    bool asks_masks; /* of the warp: lanes may come with different member masks, and wait only for
                        those with the same mask */
};

struct tr_kernel;

/* Whether threads of one group may come from the region to different sync points. */
bool tr_may_part(const struct tr_kernel *kernel, uint32_t region);
/* The segment that the sync point ends. */
uint32_t tr_sync_segment(const struct tr_kernel *kernel, uint32_t sync);
/* Whether loops go on behind it for one warp, as soon as its lanes have come. */
bool tr_is_warp_sync_point(const struct tr_kernel *kernel, uint32_t sync);

/* Loops go on behind it for the block, as soon as all its threads have come, and at the beginning.
 */
bool tr_is_block_sync_point(const struct tr_kernel *kernel, uint32_t sync);

/* ---- regions (regions.c) ---- */

/* The code that a thread may run behind sync point r. */
struct tr_region {
    struct tr_set segments;
    struct tr_set outcomes; /* sync points at which it may end */
    bool may_exit;
    bool exits_apart;  /* some live threads of the block may exit there while others do not … */
    bool splits_group; /* … and both kinds may be in one group */
};

/* Adds to `ways` the regions of `pending`, which it empties, and those that a group may go through
 * from there until it comes to a sync point of the block. */
void tr_find_ways(const struct tr_kernel *kernel, struct tr_set *pending, struct tr_set *ways);

/* The kernel with its analyses. sync_points[0] is the beginning; regions[r] begins at
 * sync_points[r].resume. */
struct tr_kernel {
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_loops loops;
    struct tr_liveness liveness;
    struct tr_shapes shapes; /* for the scope of the group */
    enum tr_scope scope;
    uint32_t sync_count;
    struct tr_sync_point *sync_points;
    struct tr_region *regions;
};

/* Analyses the function for the scope of the group. Fails with PXR_OUT_OF_MEMORY, or
 * PXR_UNSUPPORTED if there are more sync points than entries have numbers. */
enum pxr_status tr_kernel_build(struct tr_kernel *kernel, LLVMValueRef function,
                                enum tr_scope scope, const struct tr_facts *facts,
                                struct pxr_error *err);
void tr_kernel_fini(struct tr_kernel *kernel);

/* Whether the segment ends a thread's run: it returns, or calls rt_exit. */
bool tr_segment_exits(const struct tr_kernel *kernel, uint32_t segment);

/* Whether the region defines the value anew. The region behind a sync point defines its result, not
 * the one that leads to it. */
bool tr_region_defines(const struct tr_kernel *kernel, uint32_t region, uint32_t value);

/* ---- values that live across sync points (storage.c) ---- */

enum tr_home {
    TR_HOME_NONE,
    TR_HOME_THREAD, /* an array with an element per thread */
    TR_HOME_GROUP,  /* one element per group: the value is uniform in it, and all threads that come
                       to the sync point have come the same way */
    TR_HOME_AGAIN   /* computed again behind the sync point */
};

/* How the values that are needed behind a sync point get there. `saved`: those with home THREAD or
 * GROUP; each dominates the sync point. `again`: those computed again, in an order in which each
 * has its operands among constants, arguments, `saved`, and those before it. Every value that is
 * live into the sync point's resume segment (but the sync point's own result) is in one of them;
 * others may be, because something is computed again from them. Closed: a value that is saved at
 * sync point j, and that a region r leading to j does not define (tr_region_defines), is in r's own
 * saved or again. */
struct tr_crossing {
    struct tr_set needed; /* live behind it, or saved at a sync point after it */
    struct tr_set saved;
    uint8_t *home; /* by value: enum tr_home */
    uint32_t again_count;
    uint32_t *again;
};

struct tr_storage {
    struct tr_crossing *crossings; /* by sync point; [0] is empty */
};

enum pxr_status tr_storage_plan(struct tr_kernel *kernel, const struct tr_again_costs *costs,
                                struct tr_storage *storage, struct pxr_error *err);

/* ---- what a region takes from before (imports.c) ---- */

/* Whether a value saved at the region's sync point needs no saving at the next. */
bool tr_is_saved_already(const struct tr_kernel *kernel, const struct tr_storage *storage,
                         uint32_t region, uint32_t sync, uint32_t value);

/* Sets imports to values among which are all that the region's code uses from before, or from which
 * what it uses is computed again; those that it only passes on are not. Returns how many values it
 * saves. */
uint32_t tr_find_imports(const struct tr_kernel *kernel, const struct tr_storage *storage,
                         uint32_t region, struct tr_set *imports);

#endif
