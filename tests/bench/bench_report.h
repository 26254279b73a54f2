/* SPDX-License-Identifier: Apache-2.0
 *
 * For bench_collapse: what was measured, as a table and as JSON.
 */
#ifndef PTXRUN_TESTS_BENCH_BENCH_REPORT_H
#define PTXRUN_TESTS_BENCH_BENCH_REPORT_H

#include <stdio.h>

#include "tests/bench/bench_case.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/bench_measure.h"

/* One of a kernel's variants; by is_jit and collapse in bench_result.variants. */
struct bench_variant {
    struct bench_code code;
    bool is_there; /* compiled, and what was asked for is what came of it */
    struct bench_times times;
};

enum { BENCH_NORMAL, BENCH_JIT, BENCH_MODES };
#define BENCH_COLLAPSES PXR_COLLAPSE_COUNT

struct bench_result {
    const struct bench_case *kernel;
    struct bench_times plain;
    struct bench_variant variants[BENCH_MODES][BENCH_COLLAPSES];
    bool has_failed;
};

/* by_min: ratios of minima instead of medians. */
void bench_print_header(void);
void bench_print_result(const struct bench_result *result, bool by_min);
void bench_print_means(const struct bench_result *results, size_t count, bool by_min);
void bench_print_compile_times(const struct bench_result *results, size_t count);
void bench_write_json(FILE *file, const struct bench_result *results, size_t count,
                      unsigned threads);

#endif
