/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices: what is too long to be part of each (translator/emit/matrix_product.c),
 * and how far those in shared memory reach (translator/emit/matrix_shared.c has the layouts).
 */
#include "kernel_abi/rt.h"
#include "translator/rt/arith.h"

#define NOT_INLINED __attribute__((noinline))

NOT_INLINED void rt_matrix_fma_f64(double *sum, const double *a, const double *b, uint32_t mode);

/* sum = a * b + sum, in all lanes. */
NOT_INLINED void rt_matrix_fma_f64(double *sum, const double *a, const double *b, uint32_t mode)
{
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        sum[lane] = rt_fma_f64(a[lane], b[lane], sum[lane], mode);
}

uint64_t rt_matrix_end(uint64_t descriptor, uint32_t eights, uint32_t pieces,
                       uint32_t is_transposed);

/* PTX ISA, "Matrix Descriptor Format": one past the last byte, as an address of shared memory, of a
 * matrix of so many eights of rows (of B: columns), and pieces of 16 bytes in each; transposed,
 * eights of k. Swizzled lines count as a whole. */
uint64_t rt_matrix_end(uint64_t descriptor, uint32_t eights, uint32_t pieces,
                       uint32_t is_transposed)
{
    uint64_t start = (descriptor & 0x3fff) << 4;
    uint64_t leading = (descriptor >> 16 & 0x3fff) << 4;
    uint64_t stride = (descriptor >> 32 & 0x3fff) << 4;
    uint32_t mode = (uint32_t)(descriptor >> 62);
    uint64_t width = mode == 0 ? 16 : 256u >> mode;
    uint64_t last = eights - 1;
    uint64_t end = (start & ~(width - 1)) + 8 * width;
    if (!is_transposed)
        return end + last * stride + (mode == 0 ? (pieces - 1) * leading : 0);
    if (mode == 0)
        return end + last * stride + (pieces - 1) * leading;
    return end + last / (width / 16) * leading + (pieces - 1) * stride;
}
