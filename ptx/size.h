/* SPDX-License-Identifier: Apache-2.0
 *
 * What the time of compiling a kernel depends on.
 */
#ifndef PTXRUN_PTX_SIZE_H
#define PTXRUN_PTX_SIZE_H

#include <stdint.h>

#include "ptx/ptx.h"

/* Of a kernel and all functions that it reaches. */
struct ptx_size {
    uint32_t instructions;
    uint32_t loops;    /* branches back */
    uint32_t meetings; /* barriers and warp operations: threads wait for each other there */
};

/* layout: the kernel's, by ptx_layout_kernel. */
struct ptx_size ptx_kernel_size(const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout);

#endif
