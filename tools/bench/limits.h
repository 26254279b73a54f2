/* SPDX-License-Identifier: Apache-2.0
 *
 * `ptxbench limits`: what operations and memory take on this machine, beside what code is made for.
 */
#ifndef PTXRUN_TOOLS_BENCH_LIMITS_H
#define PTXRUN_TOOLS_BENCH_LIMITS_H

int limits_main(int argc, char **argv);

#endif
