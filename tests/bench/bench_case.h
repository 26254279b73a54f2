/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of bench_collapse, each with its launch, its data and the same in plain C.
 */
#ifndef PTXRUN_TESTS_BENCH_BENCH_CASE_H
#define PTXRUN_TESTS_BENCH_BENCH_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/bench/bench_data.h"

#define BENCH_MAX_IN      5
#define BENCH_MAX_OUT     2
#define BENCH_MAX_SIZES   3
#define BENCH_MAX_SCALARS 2

/* A kernel's arguments, in the order of its parameters. */
struct bench_args {
    const void *in[BENCH_MAX_IN];
    void *out[BENCH_MAX_OUT];
    uint32_t size[BENCH_MAX_SIZES];
    float scalar[BENCH_MAX_SCALARS];
    int threads; /* for plain C */
};

typedef void (*bench_plain_fn)(const struct bench_args *args);

struct bench_case {
    const char *name; /* the kernel's */
    const char *file; /* in kernels/, without suffix */
    bool has_loop;    /* an inner loop, or warp operations */
    uint32_t grid[3];
    uint32_t block[3];
    unsigned in_count;
    unsigned out_count;
    unsigned size_count;
    unsigned scalar_count;
    size_t in_bytes[BENCH_MAX_IN];
    size_t out_bytes[BENCH_MAX_OUT];
    uint32_t size[BENCH_MAX_SIZES];
    float scalar[BENCH_MAX_SCALARS];
    /* Inputs hold random floats in [0, 1) before; NULL: that is good enough. Outputs are zero. */
    void (*fill)(void *const *in, const uint32_t *size);
    bench_plain_fn plain;
    enum bench_element element; /* of all outputs: BENCH_U32 or BENCH_F32 */
    double tolerance;           /* relative to the largest output */
};

extern const struct bench_case bench_cases[];
extern const size_t bench_case_count;

/* plain/straight.c */
void plain_vadd(const struct bench_args *args);
void plain_saxpy(const struct bench_args *args);
void plain_scale2d(const struct bench_args *args);
void plain_stencil(const struct bench_args *args);
void plain_transpose(const struct bench_args *args);
void plain_permute(const struct bench_args *args);
void plain_black_scholes(const struct bench_args *args);

/* plain/loops.c */
void plain_matmul(const struct bench_args *args);
void plain_nbody(const struct bench_args *args);
void plain_mandelbrot(const struct bench_args *args);
void plain_reduce(const struct bench_args *args);
void plain_scan(const struct bench_args *args);
void plain_histogram(const struct bench_args *args);
void plain_spmv(const struct bench_args *args);

/* plain/local.c */
void plain_median(const struct bench_args *args);
void plain_endings(const struct bench_args *args);
void plain_polynomial(const struct bench_args *args);

#endif
