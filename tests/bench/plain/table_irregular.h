/* SPDX-License-Identifier: Apache-2.0
 *
 * The C of table_irregular.c's rows: plain as a CPU programmer writes it, tuned where more work
 * makes a difference. Numbers are those of kernels/table_irregular.cu.
 */
#ifndef PTXRUN_TESTS_BENCH_PLAIN_TABLE_IRREGULAR_H
#define PTXRUN_TESTS_BENCH_PLAIN_TABLE_IRREGULAR_H

#include "tests/bench/table_case.h"

#define TABLE_BINS          256
#define TABLE_PANEL_ROWS    128
#define TABLE_PANEL_COLUMNS 32
#define TABLE_TILE          32 /* of the wavefront */
#define TABLE_MATCH         2
#define TABLE_MISMATCH      (-1)
#define TABLE_GAP           (-2)
#define TABLE_NOT_FOUND     0xffffffffu /* a vertex's level */

/* Buffers and sizes as in the rows of table_irregular.c. */
TABLE_DECLARE(plain_reduce);
TABLE_DECLARE(plain_histogram);
TABLE_DECLARE(plain_scan);
TABLE_DECLARE(plain_spmv);
TABLE_DECLARE(plain_bfs);
TABLE_DECLARE(plain_lu_panel);
TABLE_DECLARE(plain_wavefront);
TABLE_DECLARE(plain_kmeans_assign);
TABLE_DECLARE(plain_bilateral);
TABLE_DECLARE(plain_philox);

TABLE_DECLARE(tuned_histogram);
TABLE_DECLARE(tuned_scan);
TABLE_DECLARE(tuned_spmv);
TABLE_DECLARE(tuned_lu_panel);
TABLE_DECLARE(tuned_wavefront);
TABLE_DECLARE(tuned_kmeans_assign);
TABLE_DECLARE(tuned_bilateral);
TABLE_DECLARE(tuned_philox);

#endif
