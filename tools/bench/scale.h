/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a picture has a number: from one end of an axis to the other, with marks at round numbers.
 */
#ifndef PTXRUN_TOOLS_BENCH_SCALE_H
#define PTXRUN_TOOLS_BENCH_SCALE_H

#include <stdbool.h>

#define SCALE_MAX_TICKS 16

struct scale {
    double from; /* the number at `begin` */
    double to;
    double begin; /* where, in the picture's units */
    double end;
    bool is_log;
    double ticks[SCALE_MAX_TICKS];
    unsigned tick_count;
};

/* From 0 to at least `most`, which is > 0: up to a round number. */
struct scale scale_linear(double most, double begin, double end);

/* From a power of ten up to one: 0 < least <= most. */
struct scale scale_log(double least, double most, double begin, double end);

/* What lies outside comes to the nearer end. */
double scale_at(const struct scale *scale, double number);

#endif
