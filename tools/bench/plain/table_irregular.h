/* SPDX-License-Identifier: Apache-2.0
 *
 * The C of table_irregular.c's rows: plain as a CPU programmer writes it, tuned where more work
 * makes a difference. Numbers are those of kernels/table_irregular.cu.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_TABLE_IRREGULAR_H
#define PTXRUN_TOOLS_BENCH_PLAIN_TABLE_IRREGULAR_H

#include "tools/bench/plain/plain.h"

#define TABLE_BINS          256
#define TABLE_PANEL_ROWS    128
#define TABLE_PANEL_COLUMNS 32
#define TABLE_TILE          32 /* of the wavefront */
#define TABLE_MATCH         2
#define TABLE_MISMATCH      (-1)
#define TABLE_GAP           (-2)
#define TABLE_NOT_FOUND     0xffffffffu /* a vertex's level */

/* Buffers and sizes as in the rows of table_irregular.c. */
table_plain plain_reduce;
table_plain plain_histogram;
table_plain plain_scan;
table_plain plain_spmv;
table_plain plain_bfs;
table_plain plain_lu_panel;
table_plain plain_wavefront;
table_plain plain_kmeans_assign;
table_plain plain_bilateral;
table_plain plain_philox;

table_plain tuned_histogram;
table_plain tuned_scan;
table_plain tuned_spmv;
table_plain tuned_lu_panel;
table_plain tuned_wavefront;
table_plain tuned_kmeans_assign;
table_plain tuned_bilateral;
table_plain tuned_philox;

#endif
