/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory pools: stream-ordered allocation. Memory freed in a stream stays reserved by its pool and
 * is used again, by the same stream at once and by others when the free has happened or, if the
 * pool allows it, after waiting for it. Memory beyond the pool's release threshold goes back at the
 * next synchronisation.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_POOL_H
#define PTXRUN_CUDART_CORE_MEMORY_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/memory.h"

struct crt_context;
struct crt_pool_block;
struct crt_stream;

#define CRT_POOL_DEVICES 16

/* Bit of crt_allocation.flags: the allocation belongs to a pool, which knows the live parts of
 * it. */
#define CRT_ALLOCATION_POOLED 0x80000000u

/* Numbers of CUmemAllocationType. */
#define CRT_POOL_PINNED  1
#define CRT_POOL_MANAGED 2

/* Numbers of CUmemPool_attribute. */
enum crt_pool_attribute {
    CRT_POOL_REUSE_EVENTS = 1,
    CRT_POOL_REUSE_OPPORTUNISTIC,
    CRT_POOL_REUSE_INTERNAL,
    CRT_POOL_RELEASE_THRESHOLD,
    CRT_POOL_RESERVED_CURRENT,
    CRT_POOL_RESERVED_HIGH,
    CRT_POOL_USED_CURRENT,
    CRT_POOL_USED_HIGH,
    CRT_POOL_ATTRIBUTE_COUNT
};

/* Guarded by the lock in pool.c. */
struct crt_pool {
    struct crt_object object;
    struct crt_location location;
    int type; /* CRT_POOL_PINNED or CRT_POOL_MANAGED */
    atomic_bool is_default;
    bool is_destroyed;  /* lives on until its last allocation is freed */
    uint64_t max_bytes; /* 0: the device's */
    uint64_t attributes[CRT_POOL_ATTRIBUTE_COUNT];
    int access[CRT_POOL_DEVICES];  /* CUmemAccess_flags for each device */
    struct crt_pool_block *cached; /* freed, still reserved; the one freed last comes first */
    size_t live_blocks;
    struct crt_pool *prev;
    struct crt_pool *next;
};

CRT_API_BEGIN

/* The default pool of a place, and its current one. NULL: there is no such place. */
struct crt_pool *crt_pool_default(struct crt_location location, int type);
struct crt_pool *crt_pool_current(struct crt_location location, int type);

/* CRT_INVALID_VALUE when the pool is of another place or type. */
enum crt_result crt_pool_set_current(struct crt_location location, int type, struct crt_pool *pool);

enum crt_result crt_pool_create(struct crt_location location, int type, uint64_t max_bytes,
                                struct crt_pool **pool);

/* Its allocations stay until they are freed. CRT_INVALID_VALUE for a default pool. */
enum crt_result crt_pool_destroy(struct crt_pool *pool);

/* Gives unused memory back, as long as bytes_to_keep stay reserved. */
enum crt_result crt_pool_trim(struct crt_pool *pool, size_t bytes_to_keep);

/* Attributes by number. Counters cannot be set; high marks only to 0. */
enum crt_result crt_pool_set_attribute(struct crt_pool *pool, int attribute, uint64_t value);
enum crt_result crt_pool_get_attribute(struct crt_pool *pool, int attribute, uint64_t *value);

/* flags: 0 none, 1 read, 3 read and write. The pool's own device keeps its access. */
enum crt_result crt_pool_set_access(struct crt_pool *pool, int device, int flags);
enum crt_result crt_pool_get_access(struct crt_pool *pool, int device, int *flags);

/* Memory that may be used in order with the stream. */
enum crt_result crt_pool_alloc(struct crt_pool *pool, struct crt_stream *stream, size_t size_bytes,
                               uintptr_t *base);

bool crt_pool_is_valid(const struct crt_pool *pool);

/* The pool of an allocation that starts at base; NULL: of none. */
struct crt_pool *crt_pool_of(uintptr_t base);

CRT_API_END

/* Gives the allocation that starts at base back to its pool, in order with a stream; NULL: when
 * everything that used it has finished. CRT_INVALID_VALUE when no live one starts there. */
enum crt_result crt_pool_free(struct crt_stream *stream, uintptr_t base);

/* Corrects the arena's description of a pooled allocation; false when the memory is free. */
bool crt_pool_refine(struct crt_allocation *allocation);

/* At synchronisation points: gives memory beyond the pools' thresholds back. One load when there is
 * none. */
void crt_pool_release_unused(void);

/* Gives back all memory that no pending work needs. */
void crt_pool_release_all(void);

/* Forgets the allocations of a context; the arena frees them. */
void crt_pool_forget_context(const struct crt_context *ctx);

#endif
