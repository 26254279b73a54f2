/* SPDX-License-Identifier: Apache-2.0
 *
 * How large a kernel is.
 */
#ifndef PTXRUN_PTX_KERNEL_SIZE_H
#define PTXRUN_PTX_KERNEL_SIZE_H

#include <stdint.h>

#include "ptx/ptx.h"

/* The instructions of the kernel and of all functions that it reaches. layout: the kernel's, by
 * ptx_layout_kernel. */
uint32_t ptx_count_instructions(const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout);

#endif
