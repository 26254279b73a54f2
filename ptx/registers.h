/* SPDX-License-Identifier: Apache-2.0
 *
 * How many registers of 32 bits a kernel needs, estimated: the most that are alive at one place of
 * its PTX, or of a function that it reaches. GPUs' assemblers make their own choice, above or below
 * it.
 */
#ifndef PTXRUN_PTX_REGISTERS_H
#define PTXRUN_PTX_REGISTERS_H

#include <stdint.h>

#include "ptx/ptx.h"

/* 0: nobody knows, as it is too long or there is no memory. */
uint32_t ptx_estimate_registers(const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout);

#endif
