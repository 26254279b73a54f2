/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the benchmarks: aligned, filled with random data, compared.
 */
#include "tools/bench/bench_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *bench_array(size_t size_bytes)
{
    size_t whole_bytes =
        (size_bytes + BENCH_ALIGN_BYTES - 1) / BENCH_ALIGN_BYTES * BENCH_ALIGN_BYTES;
    void *array = aligned_alloc(BENCH_ALIGN_BYTES, whole_bytes);
    if (!array) {
        fprintf(stderr, "no memory for an array of %zu bytes\n", size_bytes);
        exit(2);
    }
    memset(array, 0, whole_bytes);
    return array;
}

uint32_t bench_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

void bench_fill(void *array, enum bench_element element, size_t size_bytes, uint32_t seed)
{
    if (element == BENCH_F32)
        for (size_t i = 0; i < size_bytes / sizeof(float); i++)
            ((float *)array)[i] = (float)(bench_random(&seed) >> 8) * 0x1p-24f;
    else if (element == BENCH_F64)
        for (size_t i = 0; i < size_bytes / sizeof(double); i++)
            ((double *)array)[i] = (double)bench_random(&seed) * 0x1p-32;
    else if (element == BENCH_U32)
        for (size_t i = 0; i < size_bytes / sizeof(uint32_t); i++)
            ((uint32_t *)array)[i] = bench_random(&seed);
    else
        for (size_t i = 0; i < size_bytes; i++)
            ((uint8_t *)array)[i] = (uint8_t)(bench_random(&seed) >> 16);
}

static double number(const void *array, enum bench_element element, size_t i)
{
    return element == BENCH_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

bool bench_is_same(enum bench_element element, double tolerance, const void *got,
                   const void *expected, size_t size_bytes)
{
    if (tolerance == 0 || (element != BENCH_F32 && element != BENCH_F64))
        return memcmp(got, expected, size_bytes) == 0;
    size_t count = size_bytes / (element == BENCH_F32 ? sizeof(float) : sizeof(double));
    double largest = 0, difference = 0;
    for (size_t i = 0; i < count; i++) {
        double ours = number(got, element, i), theirs = number(expected, element, i);
        if (!isfinite(ours) || !isfinite(theirs))
            return false;
        largest = fmax(largest, fabs(theirs));
        difference = fmax(difference, fabs(ours - theirs));
    }
    return difference <= tolerance * largest;
}
