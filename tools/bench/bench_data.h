/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of the benchmarks: aligned, filled with random data, compared.
 */
#ifndef PTXRUN_TOOLS_BENCH_BENCH_DATA_H
#define PTXRUN_TOOLS_BENCH_BENCH_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_ALIGN_BYTES 256 /* of all arrays */

enum bench_element {
    BENCH_U8, /* integers are compared bit by bit */
    BENCH_U32,
    BENCH_F32,
    BENCH_F64
};

/* Zeros; free() frees. Ends the program if there is no memory. */
void *bench_array(size_t size_bytes);

/* Of a sequence that *state, not 0, is the place in. */
uint32_t bench_random(uint32_t *state);

/* Random bits, or floats in [0, 1). */
void bench_fill(void *array, enum bench_element element, size_t size_bytes, uint32_t seed);

/* Floats may differ by tolerance times the largest expected one, and must be finite; with a
 * tolerance of 0, and for integers, bits must be the same. */
bool bench_is_same(enum bench_element element, double tolerance, const void *got,
                   const void *expected, size_t size_bytes);

#endif
