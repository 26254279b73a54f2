/* SPDX-License-Identifier: Apache-2.0
 *
 * The heap of the device's malloc: memory between guards, apart from the host's heap, for kernels
 * only. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_DEVICE_HEAP_H
#define PTXRUN_CUDART_CORE_CODE_DEVICE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crt_context;
struct crt_heap_user;

/* A block of size_bytes > 0 for kernels of this context, aligned to 16 bytes; NULL when all blocks
 * of the process would take more than limit_bytes, or when out of memory. user: heap_leaks.h. */
void *crt_heap_take(const struct crt_context *ctx, struct crt_heap_user *user, size_t size_bytes,
                    size_t limit_bytes);

/* False if there is no such block. */
bool crt_heap_give(void *pointer);

/* Whether all of these bytes are in a block, as far as it was asked for. */
bool crt_heap_covers(uintptr_t address, size_t bytes);

/* Whether the address is in the heap, in a block or between them. */
bool crt_heap_owns(uintptr_t address);

/* As crt_bits_get, crt_bits_put and crt_bits_find_gap (memory/written_bits.h): nobody has written a
 * block when it is taken. Without --check=init, and in no block, all bytes have been written. */
uint32_t crt_heap_get_written(uintptr_t address, size_t bytes);
void crt_heap_put_written(uintptr_t address, size_t bytes, uint32_t written);
size_t crt_heap_find_gap(uintptr_t address, size_t bytes, size_t *gap);

/* Frees what kernels of this context have allocated and not freed. */
void crt_heap_free_owned(struct crt_context *ctx);

#endif
