/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/table_matrices.cu computes, as a CPU programmer with time to spare writes it: the
 * second factor's lines become rows, floats are made of short ones once, and short integers are
 * put together to words, as many as the machine multiplies and adds at once.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/bench/plain/table_matrices.h"
#include "tools/bench/plain/table_regular.h"
#include "tools/bench/plain/vector.h"

#define TILE 16u

/* ---- floats ---- */

#define WIDEN(name, element, number)                                                               \
    static void widen_##name(const struct table_args *args, float *a, float *b)                    \
    {                                                                                              \
        const element *from_a = args->buffer[0], *from_b = args->buffer[1];                        \
        size_t size = args->n[0];                                                                  \
        _Pragma("omp parallel for num_threads(args->threads)") for (size_t y = 0; y < size;        \
                                                                    y += TILE)                     \
        {                                                                                          \
            for (size_t i = y * size; i < (y + TILE) * size; i++)                                  \
                a[i] = number(from_a[i]);                                                          \
            for (size_t x = 0; x < size; x += TILE)                                                \
                for (size_t i = y; i < y + TILE; i++)                                              \
                    for (size_t j = x; j < x + TILE; j++)                                          \
                        b[i * size + j] = number(from_b[j * size + i]);                            \
        }                                                                                          \
    }

WIDEN(f16, _Float16, of_f16)
WIDEN(bf16, uint16_t, of_bf16)

static void multiply_widened(const struct table_args *args,
                             void (*widen)(const struct table_args *, float *, float *))
{
    size_t size = args->n[0];
    float *a = aligned_alloc(VECTOR_BYTES, 2 * size * size * sizeof *a);
    if (!a)
        return;
    struct table_args wide = *args;
    wide.buffer[0] = a;
    wide.buffer[1] = a + size * size;
    widen(args, wide.buffer[0], wide.buffer[1]);
    tuned_matmul_f32(&wide);
    free(a);
}

void tuned_matmul_f16(const struct table_args *args)
{
    multiply_widened(args, widen_f16);
}

void tuned_matmul_bf16(const struct table_args *args)
{
    multiply_widened(args, widen_bf16);
}

/* ---- integers ---- */

/* How many elements a word has, and what is added to those of the first factor, as the machine
 * wants them without a sign. */
#if defined __AVX512VNNI__ && defined __AVX512F__
#define IN_WORD 4
#define SHIFTED 128
#define MULTIPLY_ADD(sum, a, b)                                                                    \
    ((vector_i32)_mm512_dpbusd_epi32((__m512i)(sum), _mm512_set1_epi32(a), (__m512i)(b)))
#elif defined __x86_64__
#define IN_WORD 2
#define SHIFTED 0
#if defined __AVX512BW__
#define MULTIPLY_ADD(sum, a, b)                                                                    \
    ((sum) + (vector_i32)_mm512_madd_epi16(_mm512_set1_epi32(a), (__m512i)(b)))
#elif defined __AVX2__
#define MULTIPLY_ADD(sum, a, b)                                                                    \
    ((sum) + (vector_i32)_mm256_madd_epi16(_mm256_set1_epi32(a), (__m256i)(b)))
#else
#define MULTIPLY_ADD(sum, a, b)                                                                    \
    ((sum) + (vector_i32)_mm_madd_epi16(_mm_set1_epi32(a), (__m128i)(b)))
#endif
#else
#define IN_WORD                 1
#define SHIFTED                 0
#define MULTIPLY_ADD(sum, a, b) ((sum) + (a) * (b))
#endif

#define WORD_BITS    (32 / IN_WORD)
#define BLOCK_ROWS   (VECTOR_BYTES == 64 ? 8 : 4)
#define BLOCK_DEPTH  256
#define ELEMENT      int32_t
#define VECTOR       vector_i32
#define MATMUL(name) name##_words
#include "tools/bench/plain/matmul_blocks.h"

static int32_t word_of(const int8_t *elements, int32_t added)
{
    uint32_t word = 0;
    uint32_t mask = UINT32_MAX >> (32 - WORD_BITS);
    for (uint32_t i = 0; i < IN_WORD; i++)
        word |= ((uint32_t)(elements[i] + added) & mask) << (i * WORD_BITS % 32);
    return (int32_t)word;
}

/* What the second factor's line adds to its column for each 1 that was added to a row. */
static int32_t sum_of(const int8_t *line, size_t size)
{
    int32_t sum = 0;
    for (size_t k = 0; k < size; k++)
        sum += line[k];
    return sum;
}

static void pack_words(const struct table_args *args, int32_t *a_words, int32_t *b_words)
{
    const int8_t *a = args->buffer[0], *b = args->buffer[1];
    size_t size = args->n[0], depth = size / IN_WORD;
#pragma omp parallel for num_threads(args->threads)
    for (size_t y = 0; y < size; y += TILE) {
        for (size_t i = y * depth; i < (y + TILE) * depth; i++)
            a_words[i] = word_of(a + i * IN_WORD, SHIFTED);
        for (size_t k = 0; k < depth; k++)
            for (size_t i = y; i < y + TILE; i++)
                b_words[k * size + i] = word_of(b + i * size + k * IN_WORD, 0);
    }
}

/* sums: room for a line. */
static void take_shift_back(const struct table_args *args, int32_t *sums)
{
    const int8_t *b = args->buffer[1];
    int32_t *c = args->buffer[2];
    size_t size = args->n[0];
#pragma omp parallel num_threads(args->threads)
    {
#pragma omp for
        for (size_t j = 0; j < size; j++)
            sums[j] = SHIFTED * sum_of(b + j * size, size);
#pragma omp for
        for (size_t i = 0; i < size; i++)
#pragma omp simd
            for (size_t j = 0; j < size; j++)
                c[i * size + j] -= sums[j];
    }
}

void tuned_matmul_s8(const struct table_args *args)
{
    size_t size = args->n[0];
    int32_t *words = aligned_alloc(VECTOR_BYTES, 2 * size * size / IN_WORD * sizeof *words);
    if (!words)
        return;
    int32_t *b_words = words + size * size / IN_WORD;
    pack_words(args, words, b_words);
    multiply_blocks_words(words, b_words, args->buffer[2], size, size / IN_WORD, args);
    if (SHIFTED)
        take_shift_back(args, words);
    free(words);
}
