/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of the page of `ptxbench table` whose warps vote. They are not among the rows of the table:
 * nobody writes such kernels, but they show what a vote costs.
 */
#include "tools/bench/plain/table_votes.h"
#include "tools/bench/table_case.h"

#define BLOCK    256u
#define BLOCKS   64u
#define ROUNDS   64u
#define VOTERS   (BLOCK * BLOCKS)
#define WORDS(n) ((size_t)(n) * 4)

static void launch(struct table_run *run, const struct table_args *args, const char *entry)
{
    float limit = (float)args->scalar[0];
    table_launch(run, &(struct table_launch){
                          .entry = entry,
                          .grid = {BLOCKS},
                          .block = {BLOCK},
                          .args = {&args->buffer[0], &args->buffer[1], &args->n[1], &limit}});
}

static void vote_any(struct table_run *run, const struct table_args *args)
{
    launch(run, args, "vote_any");
}

static void vote_all(struct table_run *run, const struct table_args *args)
{
    launch(run, args, "vote_all");
}

static void vote_ballot(struct table_run *run, const struct table_args *args)
{
    launch(run, args, "vote_ballot");
}

/* The limit leaves both outcomes of a vote about equally frequent; elements are in [0, 1). */
#define ROW(name, limit)                                                                           \
    {.kernel = #name,                                                                              \
     .size = "4 MB",                                                                               \
     .file = "table_votes",                                                                        \
     .buffers = {{TABLE_IN, BENCH_F32, WORDS(VOTERS * ROUNDS), 0},                                 \
                 {TABLE_OUT, BENCH_U32, WORDS(VOTERS / TABLE_VOTERS), 0}},                         \
     .n = {VOTERS, ROUNDS},                                                                        \
     .scalar = {limit},                                                                            \
     .ours = name,                                                                                 \
     .plain = "plain_" #name,                                                                      \
     .is_extra = true}

static const struct table_row rows[] = {ROW(vote_any, 0.978), ROW(vote_all, 0.022),
                                        ROW(vote_ballot, 0.5)};

const struct table_rows table_votes = {rows, sizeof rows / sizeof rows[0]};
