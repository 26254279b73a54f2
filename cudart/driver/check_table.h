/* SPDX-License-Identifier: Apache-2.0
 *
 * What the runtime tells --check=api: a table of functions that it asks cuGetExportTable for, as
 * NVIDIA's runtime asks for its own.
 */
#ifndef PTXRUN_CUDART_DRIVER_CHECK_TABLE_H
#define PTXRUN_CUDART_DRIVER_CHECK_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define CUDA_CHECK_TABLE_ID                                                                        \
    {0x70, 0x74, 0x78, 0x72, 0x75, 0x6e, 0x2d, 0x63, 0x68, 0x65, 0x63, 0x6b, 0x2d, 0x61, 0x70, 0x69}

struct cuda_check_table {
    size_t size_bytes;
    /* A function of the runtime returns this error to the calling thread. */
    void (*error)(uint32_t error);
    /* The calling thread asks for its last error; anybody for the name or sentence of one. */
    void (*error_asked)(void);
    void (*error_named)(uint32_t error);
    /* A launch is refused before the driver is asked. kernel: a CUkernel, or NULL. */
    void (*launch_refused)(void *kernel, const unsigned grid[3], const unsigned block[3],
                           size_t shared_bytes, uint32_t error);
};

#endif
