/* SPDX-License-Identifier: Apache-2.0
 *
 * What the machine can do at most, in C; see limits.c.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_LIMITS_H
#define PTXRUN_TOOLS_BENCH_PLAIN_LIMITS_H

#include "tools/bench/plain/plain.h"

/* Each thread does n[0] rounds of LIMIT_FMA_CHAINS operations x * scalar[0] + scalar[1] on vectors;
 * buffer[0] gets a double of each. */
table_plain limit_fma_f32;
table_plain limit_fma_f64;

/* Elements: n[0]. */
table_plain limit_read;  /* of buffer[0]; a float to buffer[1] */
table_plain limit_triad; /* buffer[0] = buffer[1] + 3 * buffer[2], past the caches */

#define LIMIT_FMA_CHAINS 12 /* independent vectors; each gets one FMA per round */

extern const size_t limit_vector_bytes; /* of the vectors of limit_fma_… */

extern const char plain_compiler[]; /* who has made this library */

#endif
