/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptxbench compare`: somebody's own program in many settings of ptxrun.
 */
#ifndef PTXRUN_TOOLS_BENCH_COMPARE_H
#define PTXRUN_TOOLS_BENCH_COMPARE_H

/* The command, behind the word `compare`. Exit status: 1: a run failed, or what the program prints
 * depends on the setting; 2: usage, or the program does not run at all. */
int compare_main(int argc, char **argv);

#endif
