/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/local.cu computes, as a CPU programmer writes it: plain loops with OpenMP.
 */
#include <math.h>
#include <string.h>

#include "tests/bench/bench_case.h"

#define WINDOW 5

static float median_of(const float *corner, uint32_t pitch)
{
    float sorted[WINDOW * WINDOW];
    int count = 0;
    for (uint32_t y = 0; y < WINDOW; y++)
        for (uint32_t x = 0; x < WINDOW; x++) {
            float value = corner[(size_t)y * pitch + x];
            int place = count++;
            for (; place > 0 && sorted[place - 1] > value; place--)
                sorted[place] = sorted[place - 1];
            sorted[place] = value;
        }
    return sorted[WINDOW * WINDOW / 2];
}

void plain_median(const struct bench_args *args)
{
    const float *in = args->in[0];
    float *out = args->out[0];
    uint32_t side = args->size[0], pitch = side + WINDOW - 1;
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++)
            out[(size_t)y * side + x] = median_of(in + (size_t)y * pitch + x, pitch);
}

#define ENDINGS 16

void plain_endings(const struct bench_args *args)
{
    const uint32_t *in = args->in[0];
    uint32_t *out = args->out[0];
    uint32_t words = args->size[0], threads = args->size[1];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t thread = 0; thread < threads; thread++) {
        uint32_t counts[ENDINGS] = {0};
        for (uint32_t i = 0; i < words; i++)
            counts[in[(size_t)i * threads + thread] % ENDINGS]++;
        for (uint32_t i = 0; i < ENDINGS; i++)
            out[(size_t)i * threads + thread] = counts[i];
    }
}

void plain_polynomial(const struct bench_args *args)
{
    const float *in = args->in[0];
    float *out = args->out[0];
    uint32_t places = args->size[0], degree = args->size[1], threads = args->size[2];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t thread = 0; thread < threads; thread++) {
        float sum = 0.0f;
        for (uint32_t place = 0; place < places; place++) {
            float x = (float)place * 0.01f, value = 0.0f;
            for (uint32_t i = 0; i < degree; i++)
                value = fmaf(value, x, in[(size_t)i * threads + thread]);
            sum += value;
        }
        out[thread] = sum;
    }
}
