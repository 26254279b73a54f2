/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/table_regular.cu computes, as a CPU programmer with time to spare writes it. Sizes
 * are multiples of a few vectors; the rows' sizes are.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/plain/table_regular.h"
#include "tools/bench/plain/unfused.h"
#include "tools/bench/plain/vector.h"

void tuned_vector_add(const struct table_args *args)
{
    const float *a = args->buffer[0], *b = args->buffer[1];
    float *out = args->buffer[2];
    uint32_t n = args->n[0];
#pragma omp parallel num_threads(args->threads)
    {
#pragma omp for
        for (uint32_t i = 0; i < n; i += VECTOR_F32)
            stream_f32(out + i, *(const vector_f32 *)(a + i) + *(const vector_f32 *)(b + i));
        stream_end();
    }
}

/* ---- matrix products ---- */

#define BLOCK_ROWS  (VECTOR_BYTES == 64 ? 8 : 4) /* two vectors in each: half of all registers */
#define BLOCK_DEPTH 256
#define MULTIPLY_ADD(sum, a, b) ((sum) + (a) * (b))

#define ELEMENT                 float
#define VECTOR                  vector_f32
#define MATMUL(name)            name##_f32
#include "tools/bench/plain/matmul_blocks.h"
#undef ELEMENT
#undef VECTOR
#undef MATMUL

#define ELEMENT      double
#define VECTOR       vector_f64
#define MATMUL(name) name##_f64
#include "tools/bench/plain/matmul_blocks.h"

void tuned_matmul_f32(const struct table_args *args)
{
    size_t size = args->n[0];
    multiply_blocks_f32(args->buffer[0], args->buffer[1], args->buffer[2], size, size, args);
}

void tuned_matmul_f64(const struct table_args *args)
{
    size_t size = args->n[0];
    multiply_blocks_f64(args->buffer[0], args->buffer[1], args->buffer[2], size, size, args);
}

/* ---- stencil ---- */

void tuned_stencil2d(const struct table_args *args)
{
    uint32_t width = args->n[0], height = args->n[1];
#pragma omp parallel num_threads(args->threads)
    {
#pragma omp for
        for (uint32_t y = 1; y < height - 1; y++) {
            const float *in = (const float *)args->buffer[0] + (size_t)y * width;
            const float *above = in - width, *below = in + width;
            float *out = (float *)args->buffer[1] + (size_t)y * width;
            for (uint32_t x = VECTOR_F32; x < width - VECTOR_F32; x += VECTOR_F32)
                stream_f32(out + x, 0.2f * (*(const vector_f32 *)(in + x) +
                                            *(const vector_f32_loose *)(in + x - 1) +
                                            *(const vector_f32_loose *)(in + x + 1) +
                                            *(const vector_f32 *)(above + x) +
                                            *(const vector_f32 *)(below + x)));
            for (uint32_t i = 1; i < VECTOR_F32; i++) {
                uint32_t x = i, last = width - 1 - i;
                out[x] = 0.2f * (in[x] + in[x - 1] + in[x + 1] + above[x] + below[x]);
                out[last] =
                    0.2f * (in[last] + in[last - 1] + in[last + 1] + above[last] + below[last]);
            }
        }
        stream_end();
    }
}

/* ---- arithmetic ---- */

#define BODY_VECTORS 4 /* side by side */
#define BODY_LANES   (BODY_VECTORS * VECTOR_F32)

/* An array for each coordinate, and the masses. */
struct bodies {
    const float *x, *y, *z, *mass;
    uint32_t count;
};

static void pull_bodies(const struct bodies *bodies, uint32_t first, float softening,
                        float (*force)[4])
{
    vector_f32 fx[BODY_VECTORS] = {0}, fy[BODY_VECTORS] = {0}, fz[BODY_VECTORS] = {0};
    for (uint32_t j = 0; j < bodies->count; j++)
        for (uint32_t i = 0; i < BODY_VECTORS; i++) {
            uint32_t mine = first + i * VECTOR_F32;
            vector_f32 dx = bodies->x[j] - *(const vector_f32 *)(bodies->x + mine);
            vector_f32 dy = bodies->y[j] - *(const vector_f32 *)(bodies->y + mine);
            vector_f32 dz = bodies->z[j] - *(const vector_f32 *)(bodies->z + mine);
            vector_f32 inverse = rsqrt_f32(dx * dx + dy * dy + dz * dz + softening);
            vector_f32 scale = bodies->mass[j] * inverse * inverse * inverse;
            fx[i] += dx * scale;
            fy[i] += dy * scale;
            fz[i] += dz * scale;
        }
    for (uint32_t lane = 0; lane < BODY_LANES; lane++) {
        force[first + lane][0] = fx[lane / VECTOR_F32][lane % VECTOR_F32];
        force[first + lane][1] = fy[lane / VECTOR_F32][lane % VECTOR_F32];
        force[first + lane][2] = fz[lane / VECTOR_F32][lane % VECTOR_F32];
        force[first + lane][3] = 0.0f;
    }
}

void tuned_nbody(const struct table_args *args)
{
    const float (*in)[4] = args->buffer[0];
    uint32_t n = args->n[0];
    float *split = aligned_alloc(VECTOR_BYTES, 4 * n * sizeof *split);
    if (!split)
        return;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t part = 0; part < 4; part++)
            split[part * n + i] = in[i][part];
    struct bodies bodies = {split, split + n, split + 2 * n, split + 3 * n, n};
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t first = 0; first < n; first += BODY_LANES)
        pull_bodies(&bodies, first, (float)args->scalar[0], args->buffer[1]);
    free(split);
}

#define PIXEL_VECTORS 4 /* side by side: each has to wait for its own last step */

static UNFUSED void escape_counts(const vector_f32 *re, float im, uint32_t limit,
                                  vector_i32 *counts)
{
#pragma STDC FP_CONTRACT OFF
    vector_f32 a[PIXEL_VECTORS] = {0}, b[PIXEL_VECTORS] = {0};
    vector_i32 count[PIXEL_VECTORS] = {0}, live[PIXEL_VECTORS];
    for (int i = 0; i < PIXEL_VECTORS; i++)
        live[i] = (vector_i32){0} - 1;
    for (uint32_t step = 0; step < limit; step++) {
        vector_i32 any = {0};
        for (int i = 0; i < PIXEL_VECTORS; i++) {
            vector_f32 aa = a[i] * a[i], bb = b[i] * b[i];
            live[i] &= ~(vector_i32)(aa + bb > 4.0f);
            count[i] -= live[i];
            any |= live[i];
            b[i] = (a[i] + a[i]) * b[i] + im;
            a[i] = aa - bb + re[i];
        }
        if (!is_any(any))
            break;
    }
    for (int i = 0; i < PIXEL_VECTORS; i++)
        counts[i] = count[i];
}

UNFUSED void tuned_mandelbrot(const struct table_args *args)
{
#pragma STDC FP_CONTRACT OFF
    uint32_t width = args->n[0], height = args->n[1];
    uint32_t *counts = args->buffer[0];
    float scale = (float)args->scalar[0];
#pragma omp parallel for schedule(static, 4) num_threads(args->threads)
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x += PIXEL_VECTORS * VECTOR_F32) {
            vector_f32 re[PIXEL_VECTORS];
            for (uint32_t i = 0; i < PIXEL_VECTORS * VECTOR_F32; i++)
                re[i / VECTOR_F32][i % VECTOR_F32] = (float)(x + i) * scale + -2.2f;
            escape_counts(re, (float)y * scale + -1.5f, args->n[2],
                          (vector_i32 *)(counts + (size_t)y * width + x));
        }
}

static float from_bits(int32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static int32_t to_bits(float number)
{
    int32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* For -87 < x < 88, to about 2e-7: 2^n times the Taylor series of the rest. */
static float fast_exp(float x)
{
    float shifted = x * 1.44269504f + 12582912.0f; // 1.5 * 2^23: the low bits are n
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693145752f - n * 1.42860677e-6f;
    float sum = 1.0f / 720 * r + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    return from_bits(to_bits(sum) + (int32_t)((uint32_t)to_bits(shifted) << 23));
}

/* For normal x > 0: x = m * 2^n with sqrt(1/2) <= m < sqrt(2), and log m = 2 artanh s. */
static float fast_log(float x)
{
    const int32_t root_half = 0x3f3504f3;
    int32_t n = (to_bits(x) - root_half) >> 23;
    float m = from_bits(to_bits(x) - n * (1 << 23));
    float s = (m - 1.0f) / (m + 1.0f), ss = s * s;
    float sum = 2.0f / 9 * ss + 2.0f / 7;
    sum = sum * ss + 2.0f / 5;
    sum = sum * ss + 2.0f / 3;
    return s * (sum * ss + 2.0f) + (float)n * 0.693147181f;
}

static float fast_normal_cdf(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float poly = 1.330274429f * k - 1.821255978f;
    poly = poly * k + 1.781477937f;
    poly = poly * k - 0.356563782f;
    poly = poly * k + 0.31938153f;
    float tail = 0.39894228f * fast_exp(fmaxf(-0.5f * d * d, -80.0f)) * k * poly;
    return d > 0.0f ? 1.0f - tail : tail;
}

void tuned_black_scholes(const struct table_args *args)
{
    const float *price = args->buffer[0], *strike = args->buffer[1], *years = args->buffer[2];
    float *call = args->buffer[3], *put = args->buffer[4];
    float rate = (float)args->scalar[0], volatility = (float)args->scalar[1];
    uint32_t n = args->n[0];
#pragma omp parallel for simd num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++) {
        float root = sqrtf(years[i]);
        float d1 =
            (fast_log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) /
            (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = fast_normal_cdf(d1);
        float n2 = fast_normal_cdf(d2);
        float discounted = strike[i] * fast_exp(-rate * years[i]);
        call[i] = price[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - price[i] * (1.0f - n1);
    }
}

/* ---- moving data ---- */

void tuned_transpose(const struct table_args *args)
{
    enum { ACROSS = 16, DOWN = 64 }; // a cache line of the input, four of the output
    uint32_t width = args->n[0], height = args->n[1];
    const float *in = args->buffer[0];
    float *out = args->buffer[1];
#pragma omp parallel num_threads(args->threads)
    {
        float tile[ACROSS][DOWN] __attribute__((aligned(VECTOR_BYTES)));
#pragma omp for
        for (uint32_t x = 0; x < width; x += ACROSS)
            for (uint32_t y = 0; y < height; y += DOWN) {
                for (uint32_t j = 0; j < DOWN; j++)
                    for (uint32_t i = 0; i < ACROSS; i++)
                        tile[i][j] = in[(size_t)(y + j) * width + x + i];
                for (uint32_t i = 0; i < ACROSS; i++)
                    for (uint32_t j = 0; j < DOWN; j += VECTOR_F32)
                        stream_f32(out + (size_t)(x + i) * height + y + j,
                                   *(const vector_f32 *)&tile[i][j]);
            }
        stream_end();
    }
}
