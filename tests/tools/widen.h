/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of the program `widen` share: what is asked for, what has come of it, and the
 * defects.
 */
#ifndef PTXRUN_TESTS_TOOLS_WIDEN_H
#define PTXRUN_TESTS_TOOLS_WIDEN_H

#include "tests/support/excuses.h"
#include "tests/vector/iteration_attempt.h"

#define WIDEN_ANY UINT32_MAX

/* Of vector registers, whatever the machine has: so that places are the same everywhere. */
#define WIDEN_DEFECT_BITS 512

extern const char *const widen_kind_names[TR_VECTOR_SEED_COUNT];

struct widen_options {
    uint32_t width, jam; /* WIDEN_ANY: all */
    uint32_t bits;       /* of vector registers; 0: the host's */
    uint32_t skipped;    /* steps of tuning: 1 << enum tr_tuning */
    struct iteration_config defect;
    bool prints_widened, prints_prepared, prints_source;
    bool is_raw_only, is_optimised_only, is_poisoned, is_concise;
    bool is_random, is_defects, is_verbose, is_size_known, is_list;
    const char *excuses_path;
    struct excuses excuses; /* of defects that no run can show, by "case kind" */
    const char *like;       /* its comments are read instead of the file's */
    unsigned jobs, share;   /* of configurations, or of places, one in so many */
    unsigned turns;         /* of files: see tests/support/turn.h */
    uint64_t first_seed;
    unsigned count; /* of random iterations, or of files */
    char **files;
};

/* What became of a defect. */
enum widen_fate {
    WIDEN_CAUGHT,
    WIDEN_SAME_CODE, /* LLVM makes the same of it */
    WIDEN_EXCUSED,
    WIDEN_MISSED,
    WIDEN_STALE, /* excused, and caught or none */
    WIDEN_FATES
};

struct widen_tally {
    unsigned iterations, bad_iterations, configs, wrong, widened;
    unsigned fates[TR_VECTOR_SEED_COUNT][WIDEN_FATES];
};

/* Of one configuration, on the line that is being printed. */
void widen_print_config(const struct iteration_case *c, const struct iteration_config *config);

/* A size with vectors side by side, and lanes that are left over. */
uint32_t widen_uneven_size(const struct iteration_case *c, uint32_t width);

/* ---- widen_defects.c ---- */

/* Places are numbered as they are with the usual settings. */
bool widen_may_be_excused(const struct widen_options *options);

/* false: there is no such list, or excuses are not for what there is; it has said so. */
bool widen_load_excuses(struct widen_options *options);

/* All kinds of defects in the share of the iteration's places. number: the iteration's; of
 * different ones other places are tried if not all are. */
void widen_seed_iteration(const struct widen_options *options, unsigned number,
                          const struct iteration_case *c, struct widen_tally *tally);

/* Prints how many defects there were of each fate; how many of them are errors. */
unsigned widen_report_defects(const struct widen_tally *tally);

#endif
