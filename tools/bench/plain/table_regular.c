/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/table_regular.cu computes, as a CPU programmer writes it: plain loops with OpenMP.
 */
#include "tools/bench/plain/table_regular.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tools/bench/plain/unfused.h"

void plain_vector_add(const struct table_args *args)
{
    const float *a = args->buffer[0], *b = args->buffer[1];
    float *out = args->buffer[2];
    uint32_t n = args->n[0];
#pragma omp parallel for simd num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++)
        out[i] = a[i] + b[i];
}

void plain_saxpy(const struct table_args *args)
{
    const float *x = args->buffer[0];
    float *y = args->buffer[1];
    float factor = (float)args->scalar[0];
    uint32_t n = args->n[0];
#pragma omp parallel for simd num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++)
        y[i] = factor * x[i] + y[i];
}

#define MULTIPLY(element, args)                                                                    \
    do {                                                                                           \
        const element *a = (args)->buffer[0], *b = (args)->buffer[1];                              \
        element *c = (args)->buffer[2];                                                            \
        size_t size = (args)->n[0];                                                                \
        _Pragma("omp parallel for num_threads((args)->threads)") for (size_t i = 0; i < size; i++) \
        {                                                                                          \
            element *row = c + i * size;                                                           \
            memset(row, 0, size * sizeof *row);                                                    \
            for (size_t k = 0; k < size; k++) {                                                    \
                element factor = a[i * size + k];                                                  \
                const element *b_row = b + k * size;                                               \
                _Pragma("omp simd") for (size_t j = 0; j < size; j++) row[j] += factor * b_row[j]; \
            }                                                                                      \
        }                                                                                          \
    } while (0)

void plain_matmul_f32(const struct table_args *args)
{
    MULTIPLY(float, args);
}

void plain_matmul_f64(const struct table_args *args)
{
    MULTIPLY(double, args);
}

void plain_stencil2d(const struct table_args *args)
{
    uint32_t width = args->n[0], height = args->n[1];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t y = 1; y < height - 1; y++) {
        const float *in = (const float *)args->buffer[0] + (size_t)y * width;
        const float *above = in - width, *below = in + width;
        float *out = (float *)args->buffer[1] + (size_t)y * width;
#pragma omp simd
        for (uint32_t x = 1; x < width - 1; x++)
            out[x] = 0.2f * (in[x] + in[x - 1] + in[x + 1] + above[x] + below[x]);
    }
}

void plain_stencil3d(const struct table_args *args)
{
    uint32_t width = args->n[0], height = args->n[1], depth = args->n[2];
    float center = (float)args->scalar[0], side = (float)args->scalar[1];
    size_t plane = (size_t)width * height;
#pragma omp parallel for collapse(2) num_threads(args->threads)
    for (uint32_t z = 1; z < depth - 1; z++)
        for (uint32_t y = 1; y < height - 1; y++) {
            const float *in = (const float *)args->buffer[0] + z * plane + (size_t)y * width;
            const float *above = in - width, *below = in + width;
            const float *front = in - plane, *behind = in + plane;
            float *out = (float *)args->buffer[1] + z * plane + (size_t)y * width;
#pragma omp simd
            for (uint32_t x = 1; x < width - 1; x++)
                out[x] = center * in[x] + side * (in[x - 1] + in[x + 1] + above[x] + below[x] +
                                                  front[x] + behind[x]);
        }
}

static uint32_t clamp(int64_t index, uint32_t count)
{
    return index < 0 ? 0 : index < count ? (uint32_t)index : count - 1;
}

static float sum_of_three(const float *row, uint32_t x)
{
    return row[x - 1] + row[x] + row[x + 1];
}

static float sum_at_border(const float *row, uint32_t width, bool is_right)
{
    return is_right ? row[width - 2] + 2 * row[width - 1] : 2 * row[0] + row[1];
}

void plain_blur_clamped(const struct table_args *args)
{
    uint32_t width = args->n[0], height = args->n[1];
    const float *in = args->buffer[0];
    const float ninth = 1.0f / 9.0f;
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t y = 0; y < height; y++) {
        float *out = (float *)args->buffer[1] + (size_t)y * width;
        const float *row = in + (size_t)y * width;
        const float *above = in + (size_t)clamp((int64_t)y - 1, height) * width;
        const float *below = in + (size_t)clamp((int64_t)y + 1, height) * width;
        for (int is_right = 0; is_right < 2; is_right++)
            out[is_right ? width - 1 : 0] =
                (sum_at_border(above, width, is_right) + sum_at_border(row, width, is_right) +
                 sum_at_border(below, width, is_right)) *
                ninth;
#pragma omp simd
        for (uint32_t x = 1; x < width - 1; x++)
            out[x] =
                (sum_of_three(above, x) + sum_of_three(row, x) + sum_of_three(below, x)) * ninth;
    }
}

static void step_heat(const struct table_args *args, const float *from, float *to)
{
    uint32_t width = args->n[0], height = args->n[1];
    float rate = (float)args->scalar[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t y = 0; y < height; y++) {
        const float *row = from + (size_t)y * width;
        const float *above = from + (size_t)clamp((int64_t)y - 1, height) * width;
        const float *below = from + (size_t)clamp((int64_t)y + 1, height) * width;
        float *out = to + (size_t)y * width;
        for (uint32_t x = 0; x < width; x += width - 1)
            out[x] = row[x] + rate * (above[x] + below[x] + row[clamp((int64_t)x - 1, width)] +
                                      row[clamp((int64_t)x + 1, width)] - 4 * row[x]);
#pragma omp simd
        for (uint32_t x = 1; x < width - 1; x++)
            out[x] = row[x] + rate * (above[x] + below[x] + row[x - 1] + row[x + 1] - 4 * row[x]);
    }
}

void plain_heat_pyramid(const struct table_args *args)
{
    uint32_t steps = args->n[2];
    const float *from = args->buffer[0];
    for (uint32_t i = 0; i < steps; i++) {
        float *to = args->buffer[(steps - i) % 2 != 0 ? 1 : 2];
        step_heat(args, from, to);
        from = to;
    }
}

void plain_nbody(const struct table_args *args)
{
    const float (*bodies)[4] = args->buffer[0];
    float (*force)[4] = args->buffer[1];
    float softening = (float)args->scalar[0];
    uint32_t n = args->n[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++) {
        float fx = 0.0f, fy = 0.0f, fz = 0.0f;
#pragma omp simd reduction(+ : fx, fy, fz)
        for (uint32_t j = 0; j < n; j++) {
            float dx = bodies[j][0] - bodies[i][0];
            float dy = bodies[j][1] - bodies[i][1];
            float dz = bodies[j][2] - bodies[i][2];
            float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + softening);
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

static UNFUSED uint32_t escape_count(float re, float im, uint32_t limit)
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

UNFUSED void plain_mandelbrot(const struct table_args *args)
{
#pragma STDC FP_CONTRACT OFF
    uint32_t width = args->n[0], height = args->n[1];
    uint32_t *counts = args->buffer[0];
    float scale = (float)args->scalar[0];
#pragma omp parallel for schedule(static, 4) num_threads(args->threads)
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            float re = (float)x * scale + -2.2f;
            float im = (float)y * scale + -1.5f;
            counts[(size_t)y * width + x] = escape_count(re, im, args->n[2]);
        }
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

void plain_black_scholes(const struct table_args *args)
{
    const float *price = args->buffer[0], *strike = args->buffer[1], *years = args->buffer[2];
    float *call = args->buffer[3], *put = args->buffer[4];
    float rate = (float)args->scalar[0], volatility = (float)args->scalar[1];
    uint32_t n = args->n[0];
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

void plain_transpose(const struct table_args *args)
{
    uint32_t width = args->n[0], height = args->n[1];
    const float *in = args->buffer[0];
    float *out = args->buffer[1];
    enum { TILE = 16 }; // sizes are multiples
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t x = 0; x < width; x += TILE)
        for (uint32_t y = 0; y < height; y += TILE)
            for (uint32_t i = x; i < x + TILE; i++)
#pragma omp simd
                for (uint32_t j = y; j < y + TILE; j++)
                    out[(size_t)i * height + j] = in[(size_t)j * width + i];
}
