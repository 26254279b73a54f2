/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices of wgmma in shared memory: PTX ISA, "Canonical Layouts" and "Matrix Descriptor Format".
 * The canonical layouts are written there as shapes and strides of elements; here the strides are
 * bytes, so T elements are 16.
 */
#include <string.h>

#include "tests/oracle/matrix.h"

#define T_BYTES 16

struct layout {
    uint64_t start;
    uint64_t leading; /* LBO */
    uint64_t stride;  /* SBO */
    unsigned base;
    unsigned swizzle; /* B of Swizzle<B, 4, 3>: 0 to 3 */
};

/* "63-62 … 0: No swizzle, 1: 128-Byte swizzle, 2: 64-Byte swizzle, 3: 32-Byte swizzle" */
static struct layout read_descriptor(uint64_t descriptor)
{
    static const unsigned swizzles[] = {0, 3, 2, 1};
    return (struct layout){.start = (descriptor & 0x3fff) * 16,
                           .leading = (descriptor >> 16 & 0x3fff) * 16,
                           .stride = (descriptor >> 32 & 0x3fff) * 16,
                           .base = descriptor >> 49 & 7,
                           .swizzle = swizzles[descriptor >> 62]};
}

/* K-major. None: ((8,m),(T,2k)):((1T,SBO),(1,LBO)); others: ((8,m),(T,2k)):((sT,SBO),(1,T)), where
 * s is 2, 4, 8. */
static uint64_t offset_by_k(const struct layout *layout, unsigned line, unsigned k_bytes)
{
    uint64_t s = UINT64_C(1) << layout->swizzle;
    uint64_t next = layout->swizzle == 0 ? layout->leading : T_BYTES;
    return line % 8 * s * T_BYTES + line / 8 * layout->stride + k_bytes % T_BYTES +
           k_bytes / T_BYTES * next;
}

/* MN-major. None: ((T,1,m),(8,k)):((1,T,SBO),(1T,LBO)); others:
 * ((T,s,m),(8,k)):((1,T,LBO),(sT,SBO)), where s is 2, 4, 8. */
static uint64_t offset_by_line(const struct layout *layout, unsigned line_bytes, unsigned k)
{
    uint64_t s = UINT64_C(1) << layout->swizzle;
    uint64_t m = layout->swizzle == 0 ? layout->stride : layout->leading;
    uint64_t next = layout->swizzle == 0 ? layout->leading : layout->stride;
    unsigned t = line_bytes / T_BYTES;
    return line_bytes % T_BYTES + t % s * T_BYTES + t / s * m + k % 8 * s * T_BYTES + k / 8 * next;
}

/* Bits 7 and up, as many as B, are added without carry to those from 4 on; the pattern begins where
 * the base offset says, not where a multiple of its size is. */
static uint64_t swizzle(const struct layout *layout, uint64_t address)
{
    uint64_t pattern = (address >> 7) - layout->base;
    return address ^ (pattern & ((UINT64_C(1) << layout->swizzle) - 1)) << 4;
}

enum pxr_status oracle_shared_element(struct oracle_thread *thread, const struct ptx_inst *inst,
                                      const struct oracle_shared_matrix *matrix, unsigned line,
                                      unsigned k, uint64_t *element)
{
    struct layout layout = read_descriptor(matrix->descriptor);
    unsigned bytes = matrix->bits < 8 ? 1 : matrix->bits / 8;
    uint64_t offset = matrix->is_transposed ? offset_by_line(&layout, line * matrix->bits / 8, k)
                                            : offset_by_k(&layout, line, k * matrix->bits / 8);
    uint8_t *host = NULL;
    enum pxr_status status =
        oracle_resolve(thread, inst, PTX_SPACE_SHARED, swizzle(&layout, layout.start + offset),
                       bytes, ORACLE_LOAD, &host, NULL);
    *element = 0;
    if (status != PXR_OK)
        return status;
    memcpy(element, host, bytes);
    *element >>= k * matrix->bits % 8;
    return PXR_OK;
}
