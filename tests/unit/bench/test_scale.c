/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "tools/bench/scale.h"

Test(scale, a_linear_one_ends_at_a_round_number)
{
    static const double cases[][2] = {{1, 1},    {0.93, 1},  {5, 5},         {23, 25},
                                      {99, 100}, {101, 150}, {0.0042, 0.005}};
    for (int i = 0; i < 7; i++) {
        struct scale scale = scale_linear(cases[i][0], 0, 100);
        cr_expect_float_eq(scale.to, cases[i][1], 1e-9, "%g ends at %g", cases[i][0], scale.to);
        cr_expect_eq(scale.ticks[0], 0);
        cr_expect_float_eq(scale.ticks[scale.tick_count - 1], scale.to, 1e-9);
    }
}

Test(scale, linear_places)
{
    struct scale scale = scale_linear(100, 10, 210);
    cr_expect_float_eq(scale_at(&scale, 0), 10, 1e-9);
    cr_expect_float_eq(scale_at(&scale, 25), 60, 1e-9);
    cr_expect_float_eq(scale_at(&scale, 1000), 210, 1e-9, "beyond the end is the end");
    struct scale downwards = scale_linear(100, 210, 10);
    cr_expect_float_eq(scale_at(&downwards, 25), 160, 1e-9);
}

Test(scale, a_logarithmic_one_runs_between_powers_of_ten)
{
    struct scale scale = scale_log(0.02, 300, 0, 50);
    cr_expect_float_eq(scale.from, 0.01, 1e-9);
    cr_expect_float_eq(scale.to, 1000, 1e-6);
    cr_expect_eq(scale.tick_count, 6);
    cr_expect_float_eq(scale_at(&scale, 0.1), 10, 1e-6);
    cr_expect_float_eq(scale_at(&scale, 0), 0, 1e-6, "nothing lies before the begin");
    struct scale point = scale_log(10, 10, 0, 50);
    cr_expect_float_eq(scale_at(&point, 100), 50, 1e-6, "one number is enough");
    struct scale huge = scale_log(1e-9, 1e12, 0, 50);
    cr_expect_leq(huge.tick_count, SCALE_MAX_TICKS);
}
