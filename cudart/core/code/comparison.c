/* SPDX-License-Identifier: Apache-2.0
 *
 * See comparison.h.
 */
#include "cudart/core/code/comparison.h"

#include <math.h>

/* Fewer say nothing, and with so many a difference that is still in doubt is not worth more. */
#define PAIRS_MIN 6
#define PAIRS_MAX 96

/* A rival that wins by less does not win. */
#define LEAST_GAIN 0.02

/* Standard errors of the mean that make it beyond doubt, and likely. */
#define DOUBT      3.0
#define LIKELIHOOD 1.0

/* A pair counts at most so much (a factor of 3): a thread that lost its CPU for a while would
 * decide alone. */
#define PAIR_MAX 1.1

void crt_comparison_add(struct crt_comparison *comparison, double present_ns, double rival_ns,
                        double ran_ns)
{
    double ratio = log(rival_ns / present_ns);
    ratio = ratio > PAIR_MAX ? PAIR_MAX : ratio < -PAIR_MAX ? -PAIR_MAX : ratio;
    comparison->pairs++;
    comparison->sum += ratio;
    comparison->squares += ratio * ratio;
    comparison->more_ns += ran_ns * (1 - exp(-ratio));
}

double crt_comparison_ratio(const struct crt_comparison *comparison)
{
    return comparison->pairs == 0 ? 1 : exp(comparison->sum / comparison->pairs);
}

static double mean_of(const struct crt_comparison *comparison)
{
    return comparison->sum / comparison->pairs;
}

static double error_of_mean(const struct crt_comparison *comparison)
{
    double pairs = comparison->pairs;
    double mean = mean_of(comparison);
    double variance = (comparison->squares - pairs * mean * mean) / (pairs - 1);
    return sqrt(variance > 0 ? variance / pairs : 0);
}

bool crt_comparison_is_for_rival(const struct crt_comparison *comparison)
{
    return comparison->pairs >= PAIRS_MIN &&
           mean_of(comparison) + LIKELIHOOD * error_of_mean(comparison) < -LEAST_GAIN;
}

enum crt_outcome crt_comparison_outcome(const struct crt_comparison *comparison)
{
    if (comparison->pairs < PAIRS_MIN)
        return CRT_OUTCOME_OPEN;
    double mean = mean_of(comparison);
    double doubt = DOUBT * error_of_mean(comparison);
    if (mean + doubt < -LEAST_GAIN)
        return CRT_OUTCOME_RIVAL;
    if (mean - doubt > -LEAST_GAIN)
        return CRT_OUTCOME_STAYS;
    if (comparison->pairs < PAIRS_MAX)
        return CRT_OUTCOME_OPEN;
    return crt_comparison_is_for_rival(comparison) ? CRT_OUTCOME_RIVAL : CRT_OUTCOME_STAYS;
}
