/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers for atom and red on floating-point numbers; see atomic.c.
 */
#ifndef PTXRUN_TRANSLATOR_RT_ATOMIC_H
#define PTXRUN_TRANSLATOR_RT_ATOMIC_H

#include <stdint.h>

/* flushes: whether subnormal inputs and results become zero. */
float rt_atomic_add_f32(uint32_t *cell, float value, uint32_t flushes);
double rt_atomic_add_f64(uint64_t *cell, double value);

enum rt_atomic_op { RT_ATOMIC_ADD, RT_ATOMIC_MIN, RT_ATOMIC_MAX };

/* f16 and bf16, one or two; format is an enum rt_half, op an enum rt_atomic_op. Subnormals are kept
 * (.noftz); min and max as rt_half_minmax without flags. */
uint32_t rt_atomic_half(uint16_t *cell, uint32_t value, uint32_t format, uint32_t op);
uint32_t rt_atomic_half_x2(uint32_t *cell, uint32_t value, uint32_t format, uint32_t op);

#endif
