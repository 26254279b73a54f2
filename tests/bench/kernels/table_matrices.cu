// SPDX-License-Identifier: Apache-2.0
// Products of matrices by the instructions for them, as libraries write it and as people do; n is a
// multiple of 128. The elements of one k are side by side in both factors: lines of b are columns.
#include <mma.h>

#include "../../cuda/matrix_device.h"

#define PRODUCT(name, In, Sum)                                                                     \
    extern "C" __global__ void __launch_bounds__(128) name(const In *a, const In *b, Sum *d, int n) \
    {                                                                                              \
        multiply_matrices<In>(a, b, d, n);                                                         \
    }

PRODUCT(mma_f16, half, float)
PRODUCT(mma_bf16, nv_bfloat16, float)
PRODUCT(mma_s8, int8_t, int)

// A warp for each 16 by 16 part, four of which are a block.
extern "C" __global__ void wmma_f16(const half *a, const half *b, float *d, int n)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> part_a;
    fragment<matrix_b, 16, 16, 16, half, col_major> part_b;
    fragment<accumulator, 16, 16, 16, float> sum;
    int row = blockIdx.y * 16, column = (blockIdx.x * blockDim.y + threadIdx.y) * 16;
    fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        load_matrix_sync(part_a, a + row * n + k, n);
        load_matrix_sync(part_b, b + column * n + k, n);
        mma_sync(sum, part_a, part_b, sum);
    }
    store_matrix_sync(d + row * n + column, sum, n, mem_row_major);
}
