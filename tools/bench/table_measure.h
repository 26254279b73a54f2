/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies and times a row.
 */
#ifndef PTXRUN_TOOLS_BENCH_TABLE_MEASURE_H
#define PTXRUN_TOOLS_BENCH_TABLE_MEASURE_H

#include "tools/bench/bench_measure.h"
#include "tools/bench/table_limits.h"
#include "tools/bench/table_run.h"

#define TABLE_MAX_ROUNDS 101

/* Who computes a row. */
enum table_version {
    TABLE_OURS, /* as wished; other ways are for the page */
    TABLE_OTHER_MODE,
    TABLE_QUICK,
    TABLE_FLAT,
    TABLE_HIERARCHICAL,
    TABLE_VECTOR,
    TABLE_PLAIN,                                 /* what stands before is ours */
    TABLE_TUNED = TABLE_PLAIN + TABLE_COMPILERS, /* each compiler's */
    TABLE_VERSIONS = TABLE_TUNED + TABLE_COMPILERS
};

struct table_wish {
    enum pxr_collapse collapse;
    enum pxr_mode mode;
    const char *dump_dir; /* NULL: no dumps */
    unsigned rounds;      /* at most; slow versions get fewer */
    bool by_min;          /* minima instead of medians, for a busy machine */
    bool has_page;        /* all that the page shows, too */
};

/* How many blocks, for rows with like ones. */
#define TABLE_BLOCK_STEPS 10
extern const uint32_t table_block_steps[TABLE_BLOCK_STEPS];

struct table_result {
    const struct table_row *row;
    unsigned threads;
    double us[TABLE_VERSIONS];     /* 0: not measured */
    double spread[TABLE_VERSIONS]; /* from the fastest sample to the slowest, relative to us */
    struct table_code_notes notes[TABLE_PLAIN];
    double limit_share;                  /* 0: not known */
    double blocks_us[TABLE_BLOCK_STEPS]; /* 0: not measured */
    char explanation[TABLE_EXPLANATION_BYTES];
    char error[512]; /* "" if everything was right */
};

/* Which compiler's code is faster: the version TABLE_PLAIN or TABLE_TUNED, or that plus one. */
int table_best(const struct table_result *result, enum table_version first);

void table_measure(struct table_result *result, const struct table_row *row, int threads,
                   struct table_limits *limits, const struct table_wish *wish);

#endif
