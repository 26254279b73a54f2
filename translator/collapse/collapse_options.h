/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a collapse, and its outcome.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_COLLAPSE_OPTIONS_H
#define PTXRUN_TRANSLATOR_COLLAPSE_COLLAPSE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "translator/module/budget.h"
#include "translator/module/launch_facts.h"
#include "translator/module/module_steps.h"
#include "translator/module/target.h"
#include "util/options.h"

/* Defects for tests to seed into the region former, one at a time. */
enum tr_seed {
    TR_SEED_NONE,
    TR_SEED_LOST_VALUE,   /* a value that lives across a sync point is not saved */
    TR_SEED_EXITED_MASK,  /* an exit does not mark the thread as exited, or its mark is ignored, or
                             loops take back threads that exited in steps */
    TR_SEED_MISSING_SYNC, /* threads do not wait at a sync point */
    TR_SEED_COUNT
};

struct tr_collapse_options {
    enum pxr_collapse collapse; /* AUTO: what is best for the kernel */
    const struct tr_facts *facts;
    bool is_vector; /* loops over threads may become loops over vectors of threads … */
    bool is_forced; /* … also those that are likely to be slower so */
    uint32_t width; /* of vectors, in threads; 0: chosen */
    uint32_t jam;   /* vectors side by side; 0: chosen */
    const struct tr_target *target; /* never NULL */
    bool keeps_loops; /* for tests: loops around sync points are not unrolled, so that regions
                         contain some */
    struct tr_budget *budget; /* never NULL */
    enum tr_seed seed;        /* which kind of defect … */
    uint32_t seed_site;       /* … and which of its places */
};

/* The outcome for a kernel. */
struct tr_collapsed {
    enum pxr_collapse collapse; /* PRECISE, FLAT or HIERARCHICAL; VECTOR: one of the latter two,
                                   with at least one loop over vectors of threads */
    uint32_t width;             /* threads in the widest of these vectors; 0: there are none */
    uint32_t jam;               /* and so many of them side by side; 0 likewise */
    uint64_t frame_fixed_bytes; /* rt_block.frame needs fixed + per warp + per thread, threads */
    uint64_t frame_warp_bytes;  /* … where threads are rounded up to whole warps */
    uint64_t frame_thread_bytes;
    bool may_wait;       /* a block may wait for another, or for the host: it polls … */
    bool waits_again;    /* … again and again, in a loop that does more than that */
    bool hands_over;     /* other code may go on with threads that have not begun: no barriers */
    uint32_t seed_sites; /* places for the kind of defect asked for */
    char *explanation;   /* malloc; for --explain, as translator/explain.h has it */
};

#endif
