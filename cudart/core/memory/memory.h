/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory as the API sees it: allocations of a context, and the allocation that a pointer points
 * into.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_MEMORY_H
#define PTXRUN_CUDART_CORE_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"
#include "cudart/core/memory/device_arena.h"

struct crt_context;
struct crt_device;
struct crt_stream;

#define CRT_PITCH_ALIGN 512

/* Locations of memory; the numbers of CUmemLocationType. */
enum {
    CRT_LOCATION_NONE,
    CRT_LOCATION_DEVICE,
    CRT_LOCATION_HOST,
    CRT_LOCATION_HOST_NUMA,
    CRT_LOCATION_HOST_NUMA_CURRENT
};

struct crt_location {
    int type;
    int id;
};

CRT_API_BEGIN

/* Device or managed memory, or page-locked host memory, of ctx. */
enum crt_result crt_memory_alloc(struct crt_context *ctx, size_t size_bytes, enum crt_memory kind,
                                 unsigned flags, uintptr_t *base);

/* Rows of width_bytes, each at a multiple of *pitch_bytes. */
enum crt_result crt_memory_alloc_pitch(struct crt_context *ctx, size_t width_bytes, size_t height,
                                       uintptr_t *base, size_t *pitch_bytes);

/* Frees device or managed memory, of a pool or not, after the context's work has finished. */
enum crt_result crt_memory_free(uintptr_t base);
enum crt_result crt_memory_free_host(uintptr_t base);

/* Frees in order with a stream. */
enum crt_result crt_memory_free_async(struct crt_stream *stream, uintptr_t base);

enum crt_result crt_memory_register(struct crt_context *ctx, void *base, size_t size_bytes,
                                    unsigned flags);
enum crt_result crt_memory_unregister(void *base);

/* The allocation at an address; false for memory the API does not know, and for free memory of a
 * pool. */
bool crt_memory_find(uintptr_t address, struct crt_allocation *allocation);

/* Bytes of a device that can still be allocated and used, and its total. Also for a process that
 * has not initialised. */
void crt_memory_info(const struct crt_device *device, size_t *free_bytes, size_t *total_bytes);

/* Whether synchronous operations on the allocation with this number always synchronise, which
 * crt_memory_set_sync decides. */
bool crt_memory_is_sync(uint64_t id);
enum crt_result crt_memory_set_sync(uint64_t id, bool is_sync);

/* Whether the program can read and write all of a range that the API did not make. */
bool crt_memory_is_mapped(const void *base, size_t size_bytes);

CRT_API_END

/* Ends all memory of a context: allocations, arrays, blocks of pools. */
void crt_memory_free_owned(struct crt_context *ctx);

#endif
