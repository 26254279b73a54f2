/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the launches of a row: picks or compiles a variant for each, as the product does, and
 * submits them in order. Several runs may be open, all of one row and the same args; one is run at
 * a time.
 */
#ifndef PTXRUN_TOOLS_BENCH_TABLE_RUN_H
#define PTXRUN_TOOLS_BENCH_TABLE_RUN_H

#include "tools/bench/table_case.h"
#include "util/error.h"
#include "util/options.h"

/* What code is asked for. */
struct table_code_wish {
    enum pxr_collapse collapse;
    enum pxr_mode mode;
    bool is_quick;        /* the quick tier's */
    const char *dump_dir; /* for PTX, IR and assembly of the kernels; NULL: none */
};

/* The code of all kernels of a row. */
struct table_code_notes {
    char collapse[64]; /* "flat", or "flat+hierarchical" if kernels differ */
    uint32_t width;    /* the largest */
    uint32_t jam;
    double compile_ms; /* CPU time of all variants together */
};

/* Of the explanations of a row's kernels; what is longer is cut off. */
#define TABLE_EXPLANATION_BYTES 4096

/* The row and args outlive the run. On failure there is nothing to close. */
enum pxr_status table_run_open(struct table_run **run, const struct table_row *row,
                               const struct table_args *args, const struct table_code_wish *wish,
                               struct pxr_error *err);
void table_run_close(struct table_run *run);

/* Launches the series and waits for its end; compiles what is not yet compiled. */
enum pxr_status table_run_once(struct table_run *run, struct pxr_error *err);

/* From now on launches are of the first so many blocks only; 0: of all. */
void table_run_limit_blocks(struct table_run *run, uint32_t blocks);

void table_run_notes(const struct table_run *run, struct table_code_notes *notes);

/* What --explain would say of the kernels. */
void table_run_explanation(const struct table_run *run, char text[TABLE_EXPLANATION_BYTES]);

#endif
