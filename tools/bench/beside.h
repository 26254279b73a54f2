/* SPDX-License-Identifier: Apache-2.0
 *
 * The ptxrun that belongs to this ptxbench.
 */
#ifndef PTXRUN_TOOLS_BENCH_BESIDE_H
#define PTXRUN_TOOLS_BENCH_BESIDE_H

/* The one in the same folder; "ptxrun", for a search along PATH, if there is none. Stays. */
const char *ptxrun_beside(void);

#endif
