/* SPDX-License-Identifier: Apache-2.0
 *
 * The address space of device memory: one reservation, backed by a memory file, in which
 * everything but live allocations is inaccessible. Also knows the host memory that programs
 * have allocated or registered through the API, so that any address can be classified.
 *
 * Addresses are handed out upwards through the whole reservation before a freed range is used
 * again, so that a dangling pointer faults instead of reaching a later allocation.
 * One lock guards everything; thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_ARENA_H
#define PTXRUN_CUDART_CORE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/result.h"

struct crt_context;

enum crt_memory {
    CRT_MEMORY_DEVICE,
    CRT_MEMORY_MANAGED,
    CRT_MEMORY_HOST,       /* page-locked host memory made by the API */
    CRT_MEMORY_REGISTERED, /* the program's own, registered */
    CRT_MEMORY_MODULE      /* variables of a module */
};

struct crt_allocation {
    uintptr_t base;
    size_t size_bytes; /* as asked for */
    size_t span_bytes; /* with rounding and guard; 0 for registered memory */
    enum crt_memory kind;
    unsigned flags;          /* of cuMemHostAlloc, cuMemAllocManaged or cuMemHostRegister */
    uint64_t id;             /* never used twice */
    struct crt_context *ctx; /* owner; NULL: the process */
};

/* Reserves the address space at the first call; total_bytes is the device's memory. */
enum crt_result crt_arena_init(size_t total_bytes);

/* Page-aligned memory of size_bytes > 0, zero-filled. Fails with CRT_OUT_OF_MEMORY. */
enum crt_result crt_arena_alloc(size_t size_bytes, enum crt_memory kind, unsigned flags,
                                struct crt_context *ctx, uintptr_t *base);

/* Frees the allocation that starts at base; CRT_INVALID_VALUE if none of this kind does. */
enum crt_result crt_arena_free(uintptr_t base, enum crt_memory kind);

/* Frees what belongs to ctx, whatever its kind. */
void crt_arena_free_owned(const struct crt_context *ctx);

/* Adds or removes host memory of the program's own. */
enum crt_result crt_arena_register(uintptr_t base, size_t size_bytes, unsigned flags,
                                   struct crt_context *ctx);
enum crt_result crt_arena_unregister(uintptr_t base);

/* The allocation that address lies in. */
bool crt_arena_find(uintptr_t address, struct crt_allocation *allocation);

/* The allocation that address lies in, or the nearest; false when there is none at all. */
bool crt_arena_nearest(uintptr_t address, struct crt_allocation *allocation);

/* Device and managed memory in use, rounded to pages, and the device's total. */
void crt_arena_usage(size_t *used_bytes, size_t *total_bytes);

#endif
