/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/table_matrices.cu computes, as a CPU programmer writes it: an element of the product
 * is the sum of two lines' products.
 */
#include "tools/bench/plain/table_matrices.h"

#define MULTIPLY(element, sum_type, number, args)                                                  \
    do {                                                                                           \
        const element *a = (args)->buffer[0], *b = (args)->buffer[1];                              \
        sum_type *c = (args)->buffer[2];                                                           \
        size_t size = (args)->n[0];                                                                \
        _Pragma("omp parallel for num_threads((args)->threads)") for (size_t i = 0; i < size; i++) \
        {                                                                                          \
            const element *a_line = a + i * size;                                                  \
            for (size_t j = 0; j < size; j++) {                                                    \
                const element *b_line = b + j * size;                                              \
                sum_type sum = 0;                                                                  \
                _Pragma("omp simd reduction(+ : sum)") for (size_t k = 0; k < size; k++) sum +=    \
                    number(a_line[k]) * number(b_line[k]);                                         \
                c[i * size + j] = sum;                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

void plain_matmul_f16(const struct table_args *args)
{
    MULTIPLY(_Float16, float, of_f16, args);
}

void plain_matmul_bf16(const struct table_args *args)
{
    MULTIPLY(uint16_t, float, of_bf16, args);
}

void plain_matmul_s8(const struct table_args *args)
{
    MULTIPLY(int8_t, int32_t, (int32_t), args);
}
