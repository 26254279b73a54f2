/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/straight.cu computes, as a CPU programmer writes it: plain loops with OpenMP.
 */
#include <math.h>

#include "tests/bench/bench_case.h"

void plain_vadd(const struct bench_args *args)
{
    const float *a = args->in[0], *b = args->in[1];
    float *out = args->out[0];
    uint32_t n = args->size[0];
#pragma omp parallel for simd num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++)
        out[i] = a[i] + b[i];
}

void plain_saxpy(const struct bench_args *args)
{
    const float *x = args->in[0];
    float *y = args->out[0];
    float factor = args->scalar[0];
    uint32_t n = args->size[0];
#pragma omp parallel for simd num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++)
        y[i] = factor * x[i] + y[i];
}

void plain_scale2d(const struct bench_args *args)
{
    uint32_t width = args->size[0], height = args->size[1];
    float factor = args->scalar[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t y = 0; y < height; y++) {
        const float *in = (const float *)args->in[0] + (size_t)y * width;
        float *out = (float *)args->out[0] + (size_t)y * width;
#pragma omp simd
        for (uint32_t x = 0; x < width; x++)
            out[x] = factor * in[x];
    }
}

void plain_stencil(const struct bench_args *args)
{
    uint32_t width = args->size[0], height = args->size[1];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t y = 1; y < height - 1; y++) {
        const float *in = (const float *)args->in[0] + (size_t)y * width;
        const float *above = in - width, *below = in + width;
        float *out = (float *)args->out[0] + (size_t)y * width;
#pragma omp simd
        for (uint32_t x = 1; x < width - 1; x++)
            out[x] = 0.2f * (in[x] + in[x - 1] + in[x + 1] + above[x] + below[x]);
    }
}

void plain_transpose(const struct bench_args *args)
{
    uint32_t size = args->size[0];
    const float *in = args->in[0];
    float *out = args->out[0];
    enum { TILE = 16 };
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t y = 0; y < size; y += TILE)
        for (uint32_t x = 0; x < size; x += TILE)
            for (uint32_t i = 0; i < TILE; i++)
#pragma omp simd
                for (uint32_t j = 0; j < TILE; j++)
                    out[(size_t)(x + i) * size + y + j] = in[(size_t)(y + j) * size + x + i];
}

void plain_permute(const struct bench_args *args)
{
    const float *in = args->in[0];
    const uint32_t *from = args->in[1], *to = args->in[2];
    float *out = args->out[0];
    uint32_t n = args->size[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++)
        out[to[i]] = in[from[i]];
}

static float normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float poly = 1.330274429f * k - 1.821255978f;
    poly = poly * k + 1.781477937f;
    poly = poly * k - 0.356563782f;
    poly = poly * k + 0.31938153f;
    float tail = 0.39894228f * expf(-0.5f * d * d) * k * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

void plain_black_scholes(const struct bench_args *args)
{
    const float *price = args->in[0], *strike = args->in[1], *years = args->in[2];
    float *call = args->out[0], *put = args->out[1];
    float rate = args->scalar[0], volatility = args->scalar[1];
    uint32_t n = args->size[0];
#pragma omp parallel for simd num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++) {
        float root = sqrtf(years[i]);
        float d1 =
            (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
            (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normal_cdf(d1);
        float n2 = normal_cdf(d2);
        float discounted = strike[i] * expf(-rate * years[i]);
        call[i] = price[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - price[i] * (1.0f - n1);
    }
}
