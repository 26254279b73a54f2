/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a kernel wants subnormals at all. nvcc's -use_fast_math and -ftz=true write .ftz behind
 * every instruction that has it: such a kernel can run in a mode of the CPU that flushes subnormal
 * sources and results by itself (x86-64: DAZ and FTZ of MXCSR), if nothing else in it would miss
 * them.
 */
#ifndef PTXRUN_PTX_FLUSH_H
#define PTXRUN_PTX_FLUSH_H

#include <stdbool.h>

#include "ptx/ptx.h"

/* Whether the instruction gives the same bits in such a mode: in which arithmetic and comparisons
 * of f32 and f64 flush subnormals, and moves, integers, and conversions between f16 and f32 do not.
 */
bool ptx_may_flush(const struct ptx_inst *inst);

/* True if that holds for all instructions of the kernel and the functions that it reaches, and one
 * of them has .ftz. layout: the kernel's, by ptx_layout_kernel. converts_halves: the CPU has
 * instructions for conversions between f16 and f32. */
bool ptx_is_flushed(const struct ptx_func *kernel, const struct ptx_kernel_layout *layout,
                    bool converts_halves);

#endif
