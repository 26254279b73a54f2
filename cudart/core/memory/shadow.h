/* SPDX-License-Identifier: Apache-2.0
 *
 * The shadow of device memory: which bytes of it kernels may access, for code with checks
 * (kernel_abi/rt.h, struct rt_checked). Only the checks of memory and of races have one; without
 * them nothing here does anything. The caller orders changes of one range; kernels read meanwhile.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_SHADOW_H
#define PTXRUN_CUDART_CORE_MEMORY_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"
#include "kernel_abi/rt.h"

/* Once, for the reservation of device memory, of which nothing may be accessed yet. */
enum crt_result crt_shadow_create(uintptr_t begin, size_t size_bytes);

/* Lets kernels access a range, which begins at a multiple of RT_SHADOW_GRAIN; no longer. Ranges
 * outside of the reservation are ignored. */
void crt_shadow_open(uintptr_t base, size_t size_bytes);
void crt_shadow_close(uintptr_t base, size_t size_bytes);

/* Whether a kernel may access all of these bytes; false outside of the reservation. */
bool crt_shadow_covers(uintptr_t address, size_t bytes);

/* For launches. */
struct rt_checked crt_shadow_checked(void);

#endif
