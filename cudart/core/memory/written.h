/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes of device memory somebody has written, for --check=init; without it there is nothing,
 * and all counts as written. Memory that the host can write without calls (managed, page-locked)
 * counts as written, too. The caller orders changes of one range; kernels use it meanwhile.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_WRITTEN_H
#define PTXRUN_CUDART_CORE_MEMORY_WRITTEN_H

#include "cudart/core/memory/written_bits.h"

/* Once, for the reservation of device memory, of which nothing has been written. */
enum crt_result crt_written_create(uintptr_t begin, size_t size_bytes);

/* For crt_bits_…: of all device memory. */
const struct crt_grains *crt_written(void);

/* Of a range in device memory, or anywhere else, where nothing happens. */
void crt_written_set(uintptr_t base, size_t size_bytes);
void crt_written_clear(uintptr_t base, size_t size_bytes);
void crt_written_copy(uintptr_t dst, uintptr_t src, size_t size_bytes);

#endif
