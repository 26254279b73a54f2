/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of table_regular.c in C; see plain/table_regular.c and plain/table_regular_tuned.c.
 */
#ifndef PTXRUN_TESTS_BENCH_PLAIN_TABLE_REGULAR_H
#define PTXRUN_TESTS_BENCH_PLAIN_TABLE_REGULAR_H

#include "tests/bench/table_case.h"

TABLE_DECLARE(plain_vector_add);
TABLE_DECLARE(plain_saxpy);
TABLE_DECLARE(plain_matmul_f32);
TABLE_DECLARE(plain_matmul_f64);
TABLE_DECLARE(plain_stencil2d);
TABLE_DECLARE(plain_stencil3d);
TABLE_DECLARE(plain_nbody);
TABLE_DECLARE(plain_mandelbrot);
TABLE_DECLARE(plain_black_scholes);
TABLE_DECLARE(plain_transpose);

TABLE_DECLARE(tuned_vector_add); /* stores past the caches */
TABLE_DECLARE(tuned_matmul_f32); /* B repacked, blocks of C in registers */
TABLE_DECLARE(tuned_matmul_f64);
TABLE_DECLARE(tuned_stencil2d);     /* stores past the caches */
TABLE_DECLARE(tuned_nbody);         /* lanes are bodies, several vectors at once, fast rsqrt */
TABLE_DECLARE(tuned_mandelbrot);    /* lanes are pixels */
TABLE_DECLARE(tuned_black_scholes); /* exp and log in vectors */
TABLE_DECLARE(tuned_transpose);     /* whole cache lines, stored past the caches */

#endif
