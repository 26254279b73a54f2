/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptxbench table`: kernels against C, and against what the machine can do.
 */
#ifndef PTXRUN_TOOLS_BENCH_TABLE_H
#define PTXRUN_TOOLS_BENCH_TABLE_H

/* The command, behind the word `table`. Exit status: 1: a result was wrong; 2: usage, or something
 * is missing. */
int table_main(int argc, char **argv);

#endif
