/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of table_regular.c in C; see plain/table_regular.c and plain/table_regular_tuned.c.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_TABLE_REGULAR_H
#define PTXRUN_TOOLS_BENCH_PLAIN_TABLE_REGULAR_H

#include "tools/bench/plain/plain.h"

table_plain plain_vector_add;
table_plain plain_saxpy;
table_plain plain_matmul_f32;
table_plain plain_matmul_f64;
table_plain plain_stencil2d;
table_plain plain_stencil3d;
table_plain plain_blur_clamped;
table_plain plain_heat_pyramid;
table_plain plain_nbody;
table_plain plain_mandelbrot;
table_plain plain_black_scholes;
table_plain plain_transpose;

table_plain tuned_vector_add; /* stores past the caches */
table_plain tuned_matmul_f32; /* B repacked, blocks of C in registers */
table_plain tuned_matmul_f64;
table_plain tuned_stencil2d;     /* stores past the caches */
table_plain tuned_nbody;         /* lanes are bodies, several vectors at once, fast rsqrt */
table_plain tuned_mandelbrot;    /* lanes are pixels */
table_plain tuned_black_scholes; /* exp and log in vectors */
table_plain tuned_transpose;     /* whole cache lines, stored past the caches */

#endif
