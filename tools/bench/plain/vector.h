/* SPDX-License-Identifier: Apache-2.0
 *
 * For tuned C: the machine's widest vectors, and stores that go past the caches.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_VECTOR_H
#define PTXRUN_TOOLS_BENCH_PLAIN_VECTOR_H

#include <stdint.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#if defined __AVX512F__
#define VECTOR_BYTES 64
#elif defined __AVX__
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define VECTOR_F32 (VECTOR_BYTES / 4) /* elements */
#define VECTOR_F64 (VECTOR_BYTES / 8)

typedef float vector_f32 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef double vector_f64 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef int32_t vector_i32 __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef float vector_f32_loose /* anywhere */
    __attribute__((vector_size(VECTOR_BYTES), may_alias, aligned(4)));

/* *to is aligned. The thread calls stream_end before others read. */
static inline void stream_f32(float *to, vector_f32 value)
{
#if defined __AVX512F__
    _mm512_stream_ps(to, (__m512)value);
#elif defined __AVX__
    _mm256_stream_ps(to, (__m256)value);
#else
    *(vector_f32 *)to = value;
#endif
}

static inline void stream_end(void)
{
#ifdef __x86_64__
    _mm_sfence();
#endif
}

static inline int is_any(vector_i32 bits)
{
#if defined __AVX512F__
    return _mm512_test_epi32_mask((__m512i)bits, (__m512i)bits) != 0;
#elif defined __AVX__
    return !_mm256_testz_si256((__m256i)bits, (__m256i)bits);
#else
    int any = 0;
    for (int i = 0; i < VECTOR_F32; i++)
        any |= bits[i];
    return any != 0;
#endif
}

/* To about 22 bits. */
static inline vector_f32 rsqrt_f32(vector_f32 x)
{
#if defined __AVX512F__
    vector_f32 y = (vector_f32)_mm512_rsqrt14_ps((__m512)x);
#elif defined __AVX__
    vector_f32 y = (vector_f32)_mm256_rsqrt_ps((__m256)x);
#else
    vector_f32 y;
    for (int i = 0; i < VECTOR_F32; i++)
        y[i] = 1.0f / __builtin_sqrtf(x[i]);
#endif
    return y * (1.5f - 0.5f * x * y * y);
}

#endif
