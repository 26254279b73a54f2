/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <sys/mman.h>

#include "tools/bench/bench_measure.h"

Test(measure, times_are_of_all_samples)
{
    double samples[] = {5, 1, 3, 9, 2};
    struct bench_times times = bench_times_of(samples, 5);
    cr_assert_eq(times.median_us, 3);
    cr_assert_eq(times.min_us, 1);
    cr_assert_eq(times.max_us, 9);
}

Test(measure, the_median_of_an_even_number_lies_in_the_middle)
{
    double samples[] = {8, 1, 4, 2};
    cr_assert_eq(bench_times_of(samples, 4).median_us, 3);
}

Test(measure, means_are_geometric_and_leave_out_what_is_missing)
{
    struct bench_mean mean = {0};
    cr_assert_eq(bench_mean_value(&mean), 0);
    bench_mean_add(&mean, 2);
    bench_mean_add(&mean, 0);
    bench_mean_add(&mean, 8);
    cr_assert_float_eq(bench_mean_value(&mean), 4, 1e-12);
}

/* What the processes have in common. */
struct seen {
    unsigned numbers[4];
    bool is_first[4];
    unsigned count;
};

static int note(void *arg, unsigned number, bool is_first)
{
    struct seen *seen = arg;
    seen->numbers[seen->count] = number;
    seen->is_first[seen->count++] = is_first;
    return number == 7 ? 4 : 1;
}

Test(measure, each_number_of_a_list_gets_a_process)
{
    struct seen *seen =
        mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(seen, MAP_FAILED);
    cr_assert_eq(bench_for_each_number("1,7,0", note, seen), 5, "exit statuses are combined");
    cr_assert_eq(seen->count, 3);
    cr_assert(seen->numbers[0] == 1 && seen->numbers[1] == 7 && seen->numbers[2] == 0);
    cr_assert(seen->is_first[0] && !seen->is_first[1] && !seen->is_first[2]);
    munmap(seen, sizeof *seen);
}
