/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that were measured for the same thing, as many as there happen to be.
 */
#include "tools/bench/samples.h"

#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench_measure.h"

void samples_add(struct samples *samples, double value)
{
    samples->values = realloc(samples->values, (samples->count + 1) * sizeof(double));
    samples->values[samples->count++] = value;
}

void samples_free(struct samples *samples)
{
    free(samples->values);
    *samples = (struct samples){0};
}

struct samples_summary samples_summary(const struct samples *samples, bool by_min)
{
    if (samples->count == 0)
        return (struct samples_summary){0};
    double *sorted = malloc(samples->count * sizeof(double));
    memcpy(sorted, samples->values, samples->count * sizeof(double));
    struct bench_times times = bench_times_of(sorted, samples->count);
    free(sorted);
    return (struct samples_summary){.count = samples->count,
                                    .value = by_min ? times.min_us : times.median_us,
                                    .median = times.median_us,
                                    .min = times.min_us,
                                    .max = times.max_us};
}

double samples_spread(const struct samples_summary *summary)
{
    return summary->value > 0 ? (summary->max - summary->min) / summary->value : 0;
}
