/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "tools/bench/samples.h"

Test(samples, a_summary_leaves_them_in_their_order)
{
    struct samples samples = {0};
    samples_add(&samples, 8);
    samples_add(&samples, 2);
    samples_add(&samples, 4);
    struct samples_summary summary = samples_summary(&samples, false);
    cr_expect_eq(summary.count, 3);
    cr_expect_eq(summary.median, 4);
    cr_expect_eq(summary.value, 4);
    cr_expect_eq(summary.min, 2);
    cr_expect_eq(summary.max, 8);
    cr_expect_eq(samples_spread(&summary), 1.5);
    cr_expect_eq(samples.values[0], 8);
    summary = samples_summary(&samples, true);
    cr_expect_eq(summary.value, 2);
    cr_expect_eq(summary.median, 4);
    cr_expect_eq(samples_spread(&summary), 3);
    samples_free(&samples);
}

Test(samples, none_are_zeros)
{
    struct samples_summary summary = samples_summary(&(struct samples){0}, true);
    cr_expect_eq(summary.count, 0);
    cr_expect_eq(summary.median, 0);
    cr_expect_eq(samples_spread(&summary), 0);
}
