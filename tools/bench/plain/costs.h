/* SPDX-License-Identifier: Apache-2.0
 *
 * The figures of translator/module/figures.def as functions cost_<name>; see costs.c.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_COSTS_H
#define PTXRUN_TOOLS_BENCH_PLAIN_COSTS_H

#include "tools/bench/plain/plain.h"

/* Each does n[0] rounds of so many operations. Buffers 0 (read), 1 and 2 (written) have
 * COSTS_BYTES. */
#define COSTS_UNROLLED 8
#define COSTS_BYTES    16384

/* Found by name: cost_scalar, one sum of two f32, is the unit of the others. */

#endif
