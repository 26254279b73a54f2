/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of table_matrices.c in C; see plain/table_matrices.c and plain/table_matrices_tuned.c.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_TABLE_MATRICES_H
#define PTXRUN_TOOLS_BENCH_PLAIN_TABLE_MATRICES_H

#include "tools/bench/plain/plain.h"

/* buffer[2] = buffer[0] * buffer[1]; n: size. Lines of the second factor are its columns. Sums are
 * floats, and int32_t of s8. */
table_plain plain_matmul_f16;
table_plain plain_matmul_bf16;
table_plain plain_matmul_s8;

table_plain tuned_matmul_f16; /* factors become floats once; then as tuned_matmul_f32 */
table_plain tuned_matmul_bf16;
table_plain tuned_matmul_s8; /* the same blocks, of the machine's dot products of short integers */

/* Elements as numbers. */
static inline float of_bf16(uint16_t bits)
{
    union {
        uint32_t bits;
        float number;
    } wide = {.bits = (uint32_t)bits << 16};
    return wide.number;
}

static inline float of_f16(_Float16 number)
{
    return (float)number;
}

#endif
