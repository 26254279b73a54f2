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
uint32_t rt_atomic_add_f16(uint16_t *cell, uint32_t value);
uint32_t rt_atomic_add_bf16(uint16_t *cell, uint32_t value);
uint32_t rt_atomic_add_f16x2(uint32_t *cell, uint32_t value);
uint32_t rt_atomic_add_bf16x2(uint32_t *cell, uint32_t value);

#endif
