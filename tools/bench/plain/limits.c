/* SPDX-License-Identifier: Apache-2.0
 *
 * Peak rates: fused multiply-add in as many independent vectors as hide its latency, and arrays
 * read or written as fast as memory allows.
 */
#include "tools/bench/plain/limits.h"

#include "tools/bench/plain/vector.h"

/* Numbers that are known only when it runs, and a result that needs all lanes: nothing can be left
 * out. */
#define FMA_LOOP(vector, element, args, out)                                                       \
    do {                                                                                           \
        vector chain[LIMIT_FMA_CHAINS], factor = {0}, term = {0};                                  \
        factor += (element)(args)->scalar[0];                                                      \
        term += (element)(args)->scalar[1];                                                        \
        for (int i = 0; i < LIMIT_FMA_CHAINS; i++)                                                 \
            chain[i] = factor * (element)i;                                                        \
        for (uint32_t round = 0; round < (args)->n[0]; round++)                                    \
            for (int i = 0; i < LIMIT_FMA_CHAINS; i++)                                             \
                chain[i] = chain[i] * factor + term;                                               \
        for (int i = 1; i < LIMIT_FMA_CHAINS; i++)                                                 \
            chain[0] += chain[i];                                                                  \
        *(out) = 0;                                                                                \
        for (unsigned lane = 0; lane < sizeof(vector) / sizeof(element); lane++)                   \
            *(out) += (double)chain[0][lane];                                                      \
    } while (0)

void limit_fma_f32(const struct table_args *args)
{
    double *out = args->buffer[0];
#pragma omp parallel for schedule(static, 1) num_threads(args->threads)
    for (int thread = 0; thread < args->threads; thread++)
        FMA_LOOP(vector_f32, float, args, &out[thread]);
}

void limit_fma_f64(const struct table_args *args)
{
    double *out = args->buffer[0];
#pragma omp parallel for schedule(static, 1) num_threads(args->threads)
    for (int thread = 0; thread < args->threads; thread++)
        FMA_LOOP(vector_f64, double, args, &out[thread]);
}

void limit_read(const struct table_args *args)
{
    const float *in = args->buffer[0];
    float sum = 0;
#pragma omp parallel for simd reduction(+ : sum) num_threads(args->threads)
    for (uint32_t i = 0; i < args->n[0]; i++)
        sum += in[i];
    *(float *)args->buffer[1] = sum;
}

void limit_triad(const struct table_args *args)
{
    float *out = args->buffer[0];
    const float *a = args->buffer[1], *b = args->buffer[2];
#pragma omp parallel num_threads(args->threads)
    {
#pragma omp for
        for (uint32_t i = 0; i < args->n[0]; i += VECTOR_F32)
            stream_f32(out + i, *(const vector_f32 *)(a + i) + 3 * *(const vector_f32 *)(b + i));
        stream_end();
    }
}

const size_t limit_vector_bytes = VECTOR_BYTES;

#ifdef __clang__
const char plain_compiler[] = "clang " __clang_version__;
#else
const char plain_compiler[] = "gcc " __VERSION__;
#endif
