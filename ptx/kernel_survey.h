/* SPDX-License-Identifier: Apache-2.0
 *
 * What the instructions of a kernel are, with those of all functions that it reaches. layout: the
 * kernel's, by ptx_layout_kernel.
 */
#ifndef PTXRUN_PTX_KERNEL_SURVEY_H
#define PTXRUN_PTX_KERNEL_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/ptx.h"

uint32_t ptx_count_instructions(const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout);

/* Whether there are atomic operations on floats: their results depend on their order. */
bool ptx_has_float_atomics(const struct ptx_func *kernel, const struct ptx_kernel_layout *layout);

#endif
