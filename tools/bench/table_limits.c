/* SPDX-License-Identifier: Apache-2.0
 *
 * What the machine can do at most: the best of several attempts of plain/limits.c.
 */
#include "tools/bench/table_limits.h"

#include <math.h>
#include <stdlib.h>

#include "tools/bench/bench_measure.h"
#include "tools/bench/plain/limits.h"
#include "tools/bench/table_plain.h"

#define ATTEMPTS        7
#define FMA_ROUNDS      3000000u
#define MEMORY_ELEMENTS (64u << 20) /* as in the rows that are limited by memory */

static double best_us(table_plain_fn run, const struct table_args *args)
{
    double best = INFINITY;
    for (int i = 0; i < ATTEMPTS; i++) {
        double start_us = bench_now_us();
        run(args);
        best = fmin(best, bench_now_us() - start_us);
    }
    return best;
}

/* The rate of the better compiler's code. */
static double best_rate(const char *function, const struct table_args *args, double work)
{
    double best = 0;
    for (int i = 0; i < TABLE_COMPILERS; i++) {
        table_plain_fn run = table_plain_find(function, (enum table_compiler)i);
        if (run)
            best = fmax(best, work / best_us(run, args) * 1e6);
    }
    return best;
}

static double measure_fma(const char *function, size_t element_bytes, int threads)
{
    double *out = bench_array((size_t)threads * sizeof *out);
    struct table_args args = {
        .buffer = {out}, .n = {FMA_ROUNDS}, .scalar = {0.999, 0.001}, .threads = threads};
    double operations = 2.0 * FMA_ROUNDS * LIMIT_FMA_CHAINS * threads *
                        (double)(table_plain_vector_bytes() / element_bytes);
    double rate = best_rate(function, &args, operations);
    free(out);
    return rate;
}

static double measure_memory(int threads)
{
    float *arrays[3];
    size_t array_bytes = MEMORY_ELEMENTS * sizeof(float);
    for (int i = 0; i < 3; i++) {
        arrays[i] = bench_array(array_bytes);
        bench_fill(arrays[i], BENCH_F32, array_bytes, (uint32_t)i + 1);
    }
    struct table_args args = {
        .buffer = {arrays[0], arrays[1], arrays[2]}, .n = {MEMORY_ELEMENTS}, .threads = threads};
    double rate = fmax(best_rate("limit_read", &args, (double)array_bytes),
                       best_rate("limit_triad", &args, 3 * (double)array_bytes));
    for (int i = 0; i < 3; i++)
        free(arrays[i]);
    return rate;
}

void table_limits_measure(struct table_limits *limits, enum table_limit which, int threads)
{
    double *rate = &limits->rate[which];
    if (*rate != 0)
        return;
    if (which == TABLE_LIMIT_FMA_F32)
        *rate = measure_fma("limit_fma_f32", sizeof(float), threads);
    else if (which == TABLE_LIMIT_FMA_F64)
        *rate = measure_fma("limit_fma_f64", sizeof(double), threads);
    else if (which == TABLE_LIMIT_MEMORY)
        *rate = measure_memory(threads);
}
