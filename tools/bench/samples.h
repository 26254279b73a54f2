/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that were measured for the same thing, as many as there happen to be.
 */
#ifndef PTXRUN_TOOLS_BENCH_SAMPLES_H
#define PTXRUN_TOOLS_BENCH_SAMPLES_H

#include <stdbool.h>

struct samples {
    double *values; /* in the order in which they were measured */
    unsigned count;
};

struct samples_summary {
    unsigned count; /* 0: nothing was measured, and the others are 0 */
    double value;   /* what counts: the median or, for a busy machine, the minimum */
    double median;
    double min;
    double max;
};

void samples_add(struct samples *samples, double value);
void samples_free(struct samples *samples);

struct samples_summary samples_summary(const struct samples *samples, bool by_min);

/* From the smallest to the largest, as a part of the value; 0 if that is 0. */
double samples_spread(const struct samples_summary *summary);

#endif
