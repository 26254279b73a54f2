/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench_data.h"

Test(data, arrays_are_aligned_zeros)
{
    for (size_t bytes = 1; bytes < 1000; bytes += 333) {
        uint8_t *array = bench_array(bytes);
        cr_assert_eq((uintptr_t)array % BENCH_ALIGN_BYTES, 0);
        for (size_t i = 0; i < bytes; i++)
            cr_assert_eq(array[i], 0);
        free(array);
    }
}

Test(data, random_floats_are_below_one_and_differ)
{
    float floats[100];
    double doubles[100];
    bench_fill(floats, BENCH_F32, sizeof floats, 1);
    bench_fill(doubles, BENCH_F64, sizeof doubles, 1);
    for (int i = 0; i < 100; i++) {
        cr_assert(floats[i] >= 0 && floats[i] < 1);
        cr_assert(doubles[i] >= 0 && doubles[i] < 1);
        cr_assert(i == 0 || floats[i] != floats[i - 1]);
        cr_assert(i == 0 || doubles[i] != doubles[i - 1]);
    }
}

Test(data, a_fill_ends_where_the_array_does)
{
    static const enum bench_element elements[] = {BENCH_U8, BENCH_U32, BENCH_F32, BENCH_F64};
    for (int i = 0; i < 4; i++) {
        double room[4] = {0};
        bench_fill(room, elements[i], 16, 7);
        cr_assert_neq(room[0], 0);
        cr_assert_neq(room[1], 0);
        cr_assert(room[2] == 0 && room[3] == 0);
    }
}

Test(data, integers_and_exact_floats_differ_by_one_bit)
{
    uint32_t a[2] = {1, 2}, b[2] = {1, 2};
    cr_assert(bench_is_same(BENCH_U32, 0, a, b, sizeof a));
    b[1] = 3;
    cr_assert_not(bench_is_same(BENCH_U32, 0, a, b, sizeof a));
    cr_assert_not(bench_is_same(BENCH_U32, 1, a, b, sizeof a), "integers know no tolerance");
    float x[1] = {1}, y[1] = {nextafterf(1, 2)};
    cr_assert_not(bench_is_same(BENCH_F32, 0, x, y, sizeof x));
}

Test(data, a_tolerance_is_a_part_of_the_largest_number)
{
    float expected[2] = {100, 1}, got[2] = {100, 1.5f};
    cr_assert(bench_is_same(BENCH_F32, 0.01, got, expected, sizeof got));
    cr_assert_not(bench_is_same(BENCH_F32, 0.001, got, expected, sizeof got));
    double precise[2] = {100, 1}, other[2] = {100, 1.5};
    cr_assert(bench_is_same(BENCH_F64, 0.01, other, precise, sizeof other));
    cr_assert_not(bench_is_same(BENCH_F64, 0.001, other, precise, sizeof other));
}

Test(data, what_is_not_finite_is_wrong)
{
    float expected[2] = {100, 1}, got[2] = {100, NAN};
    cr_assert_not(bench_is_same(BENCH_F32, 0.1, got, expected, sizeof got));
    cr_assert_not(bench_is_same(BENCH_F32, 0.1, expected, got, sizeof got));
    got[1] = INFINITY;
    cr_assert_not(bench_is_same(BENCH_F32, 0.1, got, expected, sizeof got));
}
