/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench limits`: the loops of plain/costs.c and plain/memory.c, timed.
 */
#ifndef PTXRUN_TOOLS_BENCH_LIMITS_MEASURE_H
#define PTXRUN_TOOLS_BENCH_LIMITS_MEASURE_H

#include "translator/module/target.h"

/* The least of so many attempts counts. */
struct limits_costs {
    double unit_ns; /* of one scalar sum: what the others are counted in */
    double figures[TR_FIGURE_COUNT];
};
void limits_measure_costs(struct limits_costs *costs, unsigned rounds);

enum { LIMITS_LEVELS = 4 }; /* three caches, memory */

struct limits_level {
    const char *name;
    double bytes; /* of the cache; 0: nobody says */
    double latency_ns;
    double read_gb_s;
};

struct limits_memory {
    struct limits_level levels[LIMITS_LEVELS];
    double pages_ns; /* a line of each page … */
    double pages_ahead_ns;
    double forward_ns;
    double forward_parts_ns;
    double apart_ns;
    double aliased_ns;
};
void limits_measure_memory(struct limits_memory *memory, unsigned rounds);

#endif
