/* SPDX-License-Identifier: Apache-2.0
 *
 * UNFUSED: a function in which products are rounded before they are added. Clang wants
 * `#pragma STDC FP_CONTRACT OFF` in the function as well, which gcc does not know.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_UNFUSED_H
#define PTXRUN_TOOLS_BENCH_PLAIN_UNFUSED_H

#ifdef __clang__
#define UNFUSED
#else
#define UNFUSED __attribute__((optimize("fp-contract=off")))
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#endif

#endif
