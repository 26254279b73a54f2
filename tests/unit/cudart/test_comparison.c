/* SPDX-License-Identifier: Apache-2.0
 *
 * When one code is faster than another: with noise, with outliers, and when there is no more time.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "cudart/core/code/comparison.h"

#define BLOCK_NS 1000.0
#define PAIRS    200

/* From -1 to 1. */
static double noise(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

/* Adds pairs of a rival that takes `ratio` of the time, until it is decided. Both times are off by
 * up to `spread`. */
static enum crt_outcome run(double ratio, double spread, unsigned seed, struct crt_comparison *all)
{
    *all = (struct crt_comparison){0};
    while (crt_comparison_outcome(all) == CRT_OUTCOME_OPEN && all->pairs < PAIRS)
        crt_comparison_add(all, BLOCK_NS * (1 + spread * noise(&seed)),
                           BLOCK_NS * ratio * (1 + spread * noise(&seed)), BLOCK_NS);
    return crt_comparison_outcome(all);
}

Test(comparison, a_faster_rival_wins_and_no_other_does)
{
    for (unsigned seed = 0; seed < 200; seed++) {
        struct crt_comparison all;
        cr_expect_eq(run(0.8, 0.2, seed, &all), CRT_OUTCOME_RIVAL, "seed %u", seed);
        cr_expect_eq(run(1.2, 0.2, seed, &all), CRT_OUTCOME_STAYS, "seed %u", seed);
        cr_expect_eq(run(1.0, 0.02, seed, &all), CRT_OUTCOME_STAYS, "seed %u", seed);
    }
}

Test(comparison, what_is_equal_does_not_go_to_and_fro)
{
    unsigned changes = 0;
    for (unsigned seed = 0; seed < 1000; seed++) {
        struct crt_comparison all;
        changes += run(1.0, 0.3, seed, &all) == CRT_OUTCOME_RIVAL;
    }
    cr_expect_lt(changes, 50, "%u of 1000", changes);
}

Test(comparison, much_slower_rivals_are_soon_out)
{
    struct crt_comparison all;
    run(3, 0.2, 1, &all);
    cr_expect_lt(all.pairs, 10);
    run(0.5, 0.2, 1, &all);
    cr_expect_lt(all.pairs, 10);
}

Test(comparison, it_always_ends)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        struct crt_comparison all;
        cr_expect_neq(run(0.97, 0.9, seed, &all), CRT_OUTCOME_OPEN);
    }
}

/* A thread that loses its CPU in one pair out of many. */
Test(comparison, one_pair_alone_decides_nothing)
{
    struct crt_comparison all = {0};
    crt_comparison_add(&all, 1000 * BLOCK_NS, BLOCK_NS, BLOCK_NS);
    cr_expect_eq(crt_comparison_outcome(&all), CRT_OUTCOME_OPEN);
    for (unsigned i = 0; i < 8; i++)
        crt_comparison_add(&all, BLOCK_NS, 1.1 * BLOCK_NS, BLOCK_NS);
    cr_expect_neq(crt_comparison_outcome(&all), CRT_OUTCOME_RIVAL);
    cr_expect_not(crt_comparison_is_for_rival(&all));
}

Test(comparison, knows_the_mean_and_what_it_has_cost)
{
    struct crt_comparison all = {0};
    cr_expect_eq(crt_comparison_ratio(&all), 1);
    crt_comparison_add(&all, BLOCK_NS, 2 * BLOCK_NS, 800);
    cr_expect_lt(fabs(crt_comparison_ratio(&all) - 2), 1e-9);
    cr_expect_lt(fabs(all.more_ns - 400), 1e-9);
    crt_comparison_add(&all, 2 * BLOCK_NS, BLOCK_NS, 400);
    cr_expect_lt(fabs(crt_comparison_ratio(&all) - 1), 1e-9);
    cr_expect_lt(fabs(all.more_ns), 1e-9);
}

Test(comparison, without_more_time_what_is_likely_counts)
{
    struct crt_comparison all = {0};
    cr_expect_not(crt_comparison_is_for_rival(&all));
    for (unsigned i = 0; i < 8; i++)
        crt_comparison_add(&all, BLOCK_NS, (i % 2 ? 0.7 : 1.1) * BLOCK_NS, BLOCK_NS);
    cr_expect_eq(crt_comparison_outcome(&all), CRT_OUTCOME_OPEN);
    cr_expect(crt_comparison_is_for_rival(&all));
}
