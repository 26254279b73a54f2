/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/loops.cu computes, as a CPU programmer writes it: plain loops with OpenMP.
 */
#include <math.h>
#include <string.h>

#include "tests/bench/bench_case.h"

void plain_matmul(const struct bench_args *args)
{
    const float *a = args->in[0], *b = args->in[1];
    uint32_t size = args->size[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t i = 0; i < size; i++) {
        float *row = (float *)args->out[0] + (size_t)i * size;
        memset(row, 0, size * sizeof *row);
        for (uint32_t k = 0; k < size; k++) {
            float factor = a[(size_t)i * size + k];
            const float *b_row = b + (size_t)k * size;
#pragma omp simd
            for (uint32_t j = 0; j < size; j++)
                row[j] += factor * b_row[j];
        }
    }
}

void plain_nbody(const struct bench_args *args)
{
    const float (*bodies)[4] = args->in[0];
    float (*force)[4] = args->out[0];
    uint32_t n = args->size[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++) {
        float fx = 0.0f, fy = 0.0f, fz = 0.0f;
#pragma omp simd reduction(+ : fx, fy, fz)
        for (uint32_t j = 0; j < n; j++) {
            float dx = bodies[j][0] - bodies[i][0];
            float dy = bodies[j][1] - bodies[i][1];
            float dz = bodies[j][2] - bodies[i][2];
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float scale = bodies[j][3] * inverse * inverse * inverse;
            fx += dx * scale;
            fy += dy * scale;
            fz += dz * scale;
        }
        force[i][0] = fx;
        force[i][1] = fy;
        force[i][2] = fz;
        force[i][3] = 0.0f;
    }
}

static uint32_t escape_count(float re, float im, uint32_t limit)
{
#pragma STDC FP_CONTRACT OFF
    float a = 0.0f, b = 0.0f;
    uint32_t count = 0;
    while (count < limit) {
        float aa = a * a, bb = b * b;
        if (aa + bb > 4.0f)
            break;
        b = (a + a) * b + im;
        a = aa - bb + re;
        count++;
    }
    return count;
}

void plain_mandelbrot(const struct bench_args *args)
{
#pragma STDC FP_CONTRACT OFF
    uint32_t width = args->size[0], height = args->size[1];
    uint32_t *counts = args->out[0];
#pragma omp parallel for schedule(static, 4) num_threads(args->threads)
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            float re = (float)x * (3.0f / 256.0f) + -2.2f;
            float im = (float)y * (3.0f / 256.0f) + -1.5f;
            counts[(size_t)y * width + x] = escape_count(re, im, args->size[2]);
        }
}

void plain_reduce(const struct bench_args *args)
{
    const float *in = args->in[0];
    float *sums = args->out[0];
    uint32_t n = args->size[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t first = 0; first < n; first += 1024) {
        uint32_t last = n - first < 1024 ? n : first + 1024;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (uint32_t i = first; i < last; i++)
            sum += in[i];
        sums[first / 1024] = sum;
    }
}

void plain_scan(const struct bench_args *args)
{
    const uint32_t *in = args->in[0];
    uint32_t *out = args->out[0];
    uint32_t n = args->size[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t first = 0; first < n; first += 256) {
        uint32_t sum = 0;
        for (uint32_t i = first; i < n && i < first + 256; i++) {
            sum += in[i];
            out[i] = sum;
        }
    }
}

void plain_histogram(const struct bench_args *args)
{
    const uint8_t *in = args->in[0];
    uint32_t *bins = args->out[0];
    uint32_t n = args->size[0];
#pragma omp parallel num_threads(args->threads)
    {
        uint32_t local[256] = {0};
#pragma omp for
        for (uint32_t i = 0; i < n; i++)
            local[in[i]]++;
#pragma omp critical
        for (uint32_t bin = 0; bin < 256; bin++)
            bins[bin] += local[bin];
    }
}

void plain_spmv(const struct bench_args *args)
{
    const uint32_t *row_begin = args->in[0], *column = args->in[1];
    const float *value = args->in[2], *x = args->in[3];
    float *y = args->out[0];
    uint32_t rows = args->size[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t row = 0; row < rows; row++) {
        float sum = 0.0f;
        for (uint32_t i = row_begin[row]; i < row_begin[row + 1]; i++)
            sum += value[i] * x[column[i]];
        y[row] = sum;
    }
}
