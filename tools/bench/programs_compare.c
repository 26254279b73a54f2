/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench programs`: medians, and whether a difference is more than noise.
 */
#include "tools/bench/bench_measure.h"
#include "tools/bench/programs.h"

#define RESAMPLES 1000

/* The same picks in every comparison: a result can be made again from its samples. */
struct picker {
    uint64_t state;
};

static unsigned pick(struct picker *picker, unsigned count)
{
    picker->state = picker->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(picker->state >> 33) % count;
}

static double call_us(const struct programs_sample *sample, bool by_min)
{
    if (by_min)
        return (double)sample->shortest_ns / 1e3;
    return sample->calls ? (double)sample->total_ns / 1e3 / (double)sample->calls : 0;
}

static double median(double *numbers, unsigned count)
{
    return bench_times_of(numbers, count).median_us;
}

/* What the ratio of the medians is for rounds that are picked at random, with repetition: B and A
 * of one round stay together, since they ran one after the other. */
static double resampled_ratio(const struct programs_kernel *kernel, unsigned rounds, bool by_min,
                              struct picker *picker)
{
    double us[PROGRAMS_SETTINGS][PROGRAMS_MAX_ROUNDS];
    for (unsigned i = 0; i < rounds; i++) {
        unsigned round = pick(picker, rounds);
        for (int setting = 0; setting < PROGRAMS_SETTINGS; setting++)
            us[setting][i] = call_us(&kernel->samples[setting][round], by_min);
    }
    return median(us[PROGRAMS_B], rounds) / median(us[PROGRAMS_A], rounds);
}

static void set_interval(struct programs_comparison *numbers, const struct programs_kernel *kernel,
                         unsigned rounds, bool by_min)
{
    double ratios[RESAMPLES];
    struct picker picker = {.state = 1};
    for (int i = 0; i < RESAMPLES; i++)
        ratios[i] = resampled_ratio(kernel, rounds, by_min, &picker);
    bench_times_of(ratios, RESAMPLES); // sorts them
    numbers->low = ratios[RESAMPLES / 40];
    numbers->high = ratios[RESAMPLES - 1 - RESAMPLES / 40];
}

static bool is_same_work(const struct programs_kernel *kernel, unsigned rounds)
{
    uint64_t calls = kernel->samples[PROGRAMS_A][0].calls;
    for (int setting = 0; setting < PROGRAMS_SETTINGS; setting++)
        for (unsigned i = 0; i < rounds; i++)
            if (kernel->samples[setting][i].calls != calls)
                return false;
    return calls > 0;
}

struct programs_comparison programs_compare(const struct programs_kernel *kernel, unsigned rounds,
                                            bool by_min)
{
    struct programs_comparison numbers = {.is_same_work = is_same_work(kernel, rounds)};
    for (int setting = 0; setting < PROGRAMS_SETTINGS; setting++) {
        double us[PROGRAMS_MAX_ROUNDS], compile_ms[PROGRAMS_MAX_ROUNDS];
        for (unsigned i = 0; i < rounds; i++) {
            us[i] = call_us(&kernel->samples[setting][i], by_min);
            compile_ms[i] = (double)kernel->samples[setting][i].compile_ns / 1e6;
        }
        numbers.us[setting] = median(us, rounds);
        numbers.compile_ms[setting] = median(compile_ms, rounds);
    }
    if (numbers.is_same_work && numbers.us[PROGRAMS_A] > 0) {
        numbers.ratio = numbers.us[PROGRAMS_B] / numbers.us[PROGRAMS_A];
        set_interval(&numbers, kernel, rounds, by_min);
    }
    return numbers;
}

bool programs_is_beyond_noise(const struct programs_comparison *numbers)
{
    return numbers->ratio > 0 && (numbers->low > 1 || numbers->high < 1);
}
