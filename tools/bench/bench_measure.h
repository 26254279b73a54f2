/* SPDX-License-Identifier: Apache-2.0
 *
 * Time, statistics of samples, and processes that measure with one number of threads each.
 */
#ifndef PTXRUN_TOOLS_BENCH_BENCH_MEASURE_H
#define PTXRUN_TOOLS_BENCH_BENCH_MEASURE_H

#include <stdbool.h>

struct bench_times {
    double median_us; /* 0: not measured */
    double min_us;
    double max_us;
};

double bench_now_us(void);

/* Sorts the samples. count > 0. Of an even number the median is the mean of the middle two. */
struct bench_times bench_times_of(double *samples_us, unsigned count);

/* A geometric mean that grows number by number; 0 without numbers. Numbers <= 0 do not count. */
struct bench_mean {
    double log_sum;
    unsigned count;
};
void bench_mean_add(struct bench_mean *mean, double number);
double bench_mean_value(const struct bench_mean *mean);

/* Calls run in a process of its own for each number of list ("1,0"), one after the other: the pool
 * of workers has one size for the life of a process. is_first: of the list. Gives all exit statuses
 * combined by |. */
typedef int (*bench_process_fn)(void *arg, unsigned threads, bool is_first);
int bench_for_each_number(const char *list, bench_process_fn run, void *arg);

/* After the engine has been opened, and before the first OpenMP region if there is to be one:
 * workers stay on one CPU each, and the calling thread, if it computes alone, on another one. */
void bench_pin(unsigned threads);

#endif
