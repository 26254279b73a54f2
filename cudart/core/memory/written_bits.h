/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes of a range somebody has written: grains with a bit for each byte, the first one's
 * lowest. What lies outside of the range counts as written, and stays so. Several threads may
 * change bits of one grain at a time.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_WRITTEN_BITS_H
#define PTXRUN_CUDART_CORE_MEMORY_WRITTEN_BITS_H

#include "cudart/core/memory/grains.h"

void crt_bits_set(const struct crt_grains *grains, uintptr_t base, size_t size_bytes);
void crt_bits_clear(const struct crt_grains *grains, uintptr_t base, size_t size_bytes);

/* Of RT_WRITTEN_MAX bytes at most, as RT_WRITTEN_ALL says; and what becomes of them. */
uint32_t crt_bits_get(const struct crt_grains *grains, uintptr_t base, size_t size_bytes);
void crt_bits_put(const struct crt_grains *grains, uintptr_t base, size_t size_bytes,
                  uint32_t written);

/* As memmove does with the bytes; the two may be in different ranges. */
void crt_bits_copy(const struct crt_grains *to, uintptr_t dst, const struct crt_grains *from,
                   uintptr_t src, size_t size_bytes);

/* How many bytes, from the first on, have been written; behind that, how many have not: *gap. */
size_t crt_bits_find_gap(const struct crt_grains *grains, uintptr_t base, size_t size_bytes,
                         size_t *gap);

#endif
