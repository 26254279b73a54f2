/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory pools: blocks of the arena that are kept for the next allocation.
 *
 * Every block is an allocation of its own, owned by the context that asked for it first, so that
 * overruns still meet a guard page. The lock is held around table work only, never around calls
 * into the arena or a stream.
 */
#include "cudart/core/memory/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <uthash.h>
#include <utlist.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/leak.h"
#include "cudart/core/memory/freed.h"
#include "cudart/core/memory/graph_blocks.h"
#include "cudart/core/memory/shadow.h"
#include "cudart/core/memory/written.h"
#include "cudart/core/streams/context.h"
#include "scheduler/scheduler.h"

#define GRANULE_BYTES ((size_t)512)
#define WASTE_BYTES   ((size_t)4095) /* a block may be this much, or an eighth, too large */

/* Places that have a default pool for each type. */
enum { PLACE_NONE, PLACE_HOST, PLACE_DEVICE, PLACE_COUNT = PLACE_DEVICE + CRT_POOL_DEVICES };

struct crt_pool_block {
    uintptr_t base;
    size_t size_bytes; /* as asked for last */
    size_t span_bytes; /* of the arena's allocation */
    enum crt_memory kind;
    struct crt_pool *pool;
    struct crt_context *ctx;
    bool is_free;            /* no longer the program's */
    bool is_cached;          /* in the list of its pool */
    unsigned frees;          /* which streams have still to come to */
    struct sch_op *freed_by; /* while it may be pending, or NULL */
    uint64_t stream_id;      /* in which it was freed */
    UT_hash_handle hh;
    struct crt_pool_block *prev; /* among the cached ones of the pool */
    struct crt_pool_block *next;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_pool defaults[2][PLACE_COUNT];
    struct crt_pool *currents[2][PLACE_COUNT];
    struct crt_pool *list;         /* all pools that have been used */
    struct crt_pool_block *blocks; /* by base */
    atomic_bool has_unused;        /* something may be beyond a threshold */
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int place_of(struct crt_location location, int type)
{
    switch (location.type) {
    case CRT_LOCATION_DEVICE:
        return crt_device_at(location.id) ? PLACE_DEVICE + location.id : -1;
    case CRT_LOCATION_HOST:
    case CRT_LOCATION_HOST_NUMA:
        return PLACE_HOST;
    case CRT_LOCATION_NONE:
        return type == CRT_POOL_MANAGED ? PLACE_NONE : -1;
    default:
        return -1;
    }
}

static void init_pool(struct crt_pool *pool, struct crt_location location, int type)
{
    pool->location = location;
    pool->type = type;
    pool->attributes[CRT_POOL_REUSE_EVENTS] = 1;
    pool->attributes[CRT_POOL_REUSE_OPPORTUNISTIC] = 1;
    pool->attributes[CRT_POOL_REUSE_INTERNAL] = 1;
    DL_APPEND(pools.list, pool);
}

static struct crt_pool *default_locked(struct crt_location location, int type, int place)
{
    struct crt_pool *pool = &pools.defaults[type - 1][place];
    if (!atomic_load(&pool->is_default)) {
        init_pool(pool, location, type);
        atomic_store(&pool->is_default, true);
    }
    return pool;
}

struct crt_pool *crt_pool_default(struct crt_location location, int type)
{
    int place = place_of(location, type);
    if (place < 0)
        return NULL;
    pthread_mutex_lock(&pools.lock);
    struct crt_pool *pool = default_locked(location, type, place);
    pthread_mutex_unlock(&pools.lock);
    return pool;
}

struct crt_pool *crt_pool_current(struct crt_location location, int type)
{
    int place = place_of(location, type);
    if (place < 0)
        return NULL;
    pthread_mutex_lock(&pools.lock);
    struct crt_pool *pool = pools.currents[type - 1][place];
    if (!pool)
        pool = default_locked(location, type, place);
    pthread_mutex_unlock(&pools.lock);
    return pool;
}

enum crt_result crt_pool_set_current(struct crt_location location, int type, struct crt_pool *pool)
{
    int place = place_of(location, type);
    if (place < 0 || !crt_pool_is_valid(pool) || pool->type != type ||
        place_of(pool->location, type) != place)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&pools.lock);
    pools.currents[type - 1][place] = pool;
    pthread_mutex_unlock(&pools.lock);
    return CRT_SUCCESS;
}

enum crt_result crt_pool_create(struct crt_location location, int type, uint64_t max_bytes,
                                struct crt_pool **pool)
{
    if (place_of(location, type) < 0)
        return CRT_INVALID_VALUE;
    struct crt_pool *made = crt_object_create(CRT_KIND_POOL, sizeof *made);
    if (!made)
        return CRT_OUT_OF_MEMORY;
    made->max_bytes = max_bytes;
    pthread_mutex_lock(&pools.lock);
    init_pool(made, location, type);
    pthread_mutex_unlock(&pools.lock);
    *pool = made;
    return CRT_SUCCESS;
}

static enum crt_memory kind_of(const struct crt_pool *pool)
{
    if (pool->type == CRT_POOL_MANAGED)
        return CRT_MEMORY_MANAGED;
    return pool->location.type == CRT_LOCATION_DEVICE ? CRT_MEMORY_DEVICE : CRT_MEMORY_HOST;
}

/* ---- accounting; all with the lock held ---- */

static size_t used_bytes_of(const struct crt_pool_block *block)
{
    return (block->size_bytes + GRANULE_BYTES - 1) & ~(GRANULE_BYTES - 1);
}

static void raise(struct crt_pool *pool, int current, size_t bytes)
{
    pool->attributes[current] += bytes;
    if (pool->attributes[current + 1] < pool->attributes[current])
        pool->attributes[current + 1] = pool->attributes[current];
}

static void take_locked(struct crt_pool_block *block, size_t size_bytes)
{
    block->size_bytes = size_bytes;
    block->is_free = false;
    block->is_cached = false;
    crt_shadow_close(block->base, block->span_bytes);
    crt_shadow_open(block->base, size_bytes);
    raise(block->pool, CRT_POOL_USED_CURRENT, used_bytes_of(block));
}

static bool has_settled(const struct crt_pool_block *block)
{
    return !block->freed_by || sch_op_is_done(block->freed_by);
}

/* Takes a block out of every table. */
static void remove_locked(struct crt_pool_block *block)
{
    struct crt_pool *pool = block->pool;
    if (block->is_cached)
        DL_DELETE(pool->cached, block);
    if (!block->is_free)
        pool->attributes[CRT_POOL_USED_CURRENT] -= used_bytes_of(block);
    HASH_DEL(pools.blocks, block);
    pool->attributes[CRT_POOL_RESERVED_CURRENT] -= block->span_bytes;
    pool->live_blocks--;
}

static void end_pool_if_empty_locked(struct crt_pool *pool)
{
    if (!pool->is_destroyed || pool->live_blocks)
        return;
    DL_DELETE(pools.list, pool);
    crt_object_destroy(CRT_KIND_POOL, pool);
}

/* Moves unused blocks of a pool to *released until no more than limit bytes are reserved; with
 * keeps_limit, as long as that many stay. Blocks whose free is pending are left. */
static void release_locked(struct crt_pool *pool, uint64_t limit, bool keeps_limit,
                           struct crt_pool_block **released)
{
    struct crt_pool_block *block;
    struct crt_pool_block *next;
    DL_FOREACH_SAFE(pool->cached, block, next)
    {
        uint64_t reserved = pool->attributes[CRT_POOL_RESERVED_CURRENT];
        if (reserved <= limit)
            break;
        if (!has_settled(block) || (keeps_limit && reserved - block->span_bytes < limit))
            continue;
        remove_locked(block);
        DL_APPEND(*released, block);
    }
}

/* Without the lock: gives removed blocks back to the arena. */
static void end_blocks(struct crt_pool_block *released)
{
    struct crt_pool_block *block;
    struct crt_pool_block *next;
    DL_FOREACH_SAFE(released, block, next)
    {
        crt_arena_free(block->base, block->kind);
        sch_op_release(block->freed_by);
        free(block);
    }
}

/* ---- giving back ---- */

static void release_from_all(bool all)
{
    struct crt_pool_block *released = NULL;
    struct crt_pool *pool;
    struct crt_pool *next;
    pthread_mutex_lock(&pools.lock);
    bool has_unused = false;
    DL_FOREACH(pools.list, pool)
    {
        uint64_t threshold = pool->attributes[CRT_POOL_RELEASE_THRESHOLD];
        uint64_t limit = all || pool->is_destroyed ? 0 : threshold;
        release_locked(pool, limit, false, &released);
        if (pool->cached && pool->attributes[CRT_POOL_RESERVED_CURRENT] > limit)
            has_unused = true;
    }
    atomic_store(&pools.has_unused, has_unused);
    pthread_mutex_unlock(&pools.lock);

    end_blocks(released);
    pthread_mutex_lock(&pools.lock);
    DL_FOREACH_SAFE(pools.list, pool, next)
    end_pool_if_empty_locked(pool);
    pthread_mutex_unlock(&pools.lock);
}

void crt_pool_release_unused(void)
{
    if (atomic_load_explicit(&pools.has_unused, memory_order_relaxed))
        release_from_all(false);
}

void crt_pool_release_all(void)
{
    release_from_all(true);
}

enum crt_result crt_pool_trim(struct crt_pool *pool, size_t bytes_to_keep)
{
    struct crt_pool_block *released = NULL;
    if (!crt_pool_is_valid(pool))
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&pools.lock);
    release_locked(pool, bytes_to_keep, true, &released);
    pthread_mutex_unlock(&pools.lock);
    end_blocks(released);
    return CRT_SUCCESS;
}

enum crt_result crt_pool_destroy(struct crt_pool *pool)
{
    if (!crt_pool_is_valid(pool) || pool->is_default)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&pools.lock);
    atomic_store(&pool->object.tag, 0);
    pool->is_destroyed = true;
    for (int place = 0; place < PLACE_COUNT; place++)
        if (pools.currents[pool->type - 1][place] == pool)
            pools.currents[pool->type - 1][place] = NULL;
    pthread_mutex_unlock(&pools.lock);
    release_from_all(false);
    return CRT_SUCCESS;
}

void crt_pool_forget_context(const struct crt_context *ctx)
{
    struct crt_pool_block *block;
    struct crt_pool_block *next;
    struct crt_pool *pool;
    struct crt_pool *next_pool;
    pthread_mutex_lock(&pools.lock);
    HASH_ITER(hh, pools.blocks, block, next)
    {
        if (block->ctx == ctx) {
            remove_locked(block);
            sch_op_release(block->freed_by);
            free(block);
        }
    }
    DL_FOREACH_SAFE(pools.list, pool, next_pool)
    end_pool_if_empty_locked(pool);
    pthread_mutex_unlock(&pools.lock);
}

/* ---- allocating ---- */

enum reuse {
    REUSE_NO,
    REUSE_AT_ONCE,
    REUSE_AFTER_WAIT /* when the stream waits for the free */
};

static enum reuse may_reuse(const struct crt_pool_block *block, const struct crt_stream *stream,
                            size_t size_bytes)
{
    const uint64_t *attributes = block->pool->attributes;
    size_t waste = block->span_bytes / 8 > WASTE_BYTES ? block->span_bytes / 8 : WASTE_BYTES;
    if (block->ctx != stream->ctx || block->span_bytes < size_bytes ||
        block->span_bytes - size_bytes > waste)
        return REUSE_NO;
    if (block->stream_id == stream->id || !block->freed_by)
        return REUSE_AT_ONCE;
    if (attributes[CRT_POOL_REUSE_OPPORTUNISTIC] && sch_op_is_done(block->freed_by))
        return REUSE_AT_ONCE;
    return attributes[CRT_POOL_REUSE_INTERNAL] ? REUSE_AFTER_WAIT : REUSE_NO;
}

/* A cached block that fits: one that needs no waiting if there is one, and then the smallest. */
static struct crt_pool_block *find_cached_locked(struct crt_pool *pool, struct crt_stream *stream,
                                                 size_t size_bytes, bool *must_wait)
{
    struct crt_pool_block *best = NULL;
    enum reuse best_reuse = REUSE_NO;
    struct crt_pool_block *block;
    DL_FOREACH(pool->cached, block)
    {
        enum reuse reuse = may_reuse(block, stream, size_bytes);
        if (reuse == REUSE_NO)
            continue;
        bool is_better = !best || (reuse == best_reuse ? block->span_bytes < best->span_bytes
                                                       : reuse == REUSE_AT_ONCE);
        if (is_better) {
            best = block;
            best_reuse = reuse;
        }
    }
    *must_wait = best_reuse == REUSE_AFTER_WAIT;
    return best;
}

/* Later work of the stream waits for op. */
static enum crt_result wait_in_stream(struct crt_stream *stream, struct sch_op *op)
{
    struct sch_op *marker = sch_op_marker(NULL, NULL);
    if (!marker)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = crt_result_from_status(sch_op_depend(marker, op));
    if (result != CRT_SUCCESS) {
        sch_op_release(marker);
        return result;
    }
    return crt_stream_submit(stream, marker, NULL);
}

/* CRT_NOT_FOUND when the pool has no block that fits. */
static enum crt_result reuse_block(struct crt_pool *pool, struct crt_stream *stream,
                                   size_t size_bytes, uintptr_t *base)
{
    bool must_wait = false;
    struct sch_op *freed_by = NULL;
    pthread_mutex_lock(&pools.lock);
    struct crt_pool_block *block = find_cached_locked(pool, stream, size_bytes, &must_wait);
    if (block) {
        DL_DELETE(pool->cached, block);
        take_locked(block, size_bytes);
        freed_by = block->freed_by;
        block->freed_by = NULL;
        *base = block->base;
    }
    pthread_mutex_unlock(&pools.lock);
    if (!block)
        return CRT_NOT_FOUND;
    enum crt_result result = must_wait ? wait_in_stream(stream, freed_by) : CRT_SUCCESS;
    if (result != CRT_SUCCESS) {
        sch_op_wait(freed_by); /* rather than lose the block */
        result = CRT_SUCCESS;
    }
    sch_op_release(freed_by);
    return result;
}

/* A block from the arena. The pool's limit is kept by giving cached blocks back first. */
static enum crt_result new_block(struct crt_pool *pool, struct crt_stream *stream,
                                 size_t size_bytes, uintptr_t *base)
{
    size_t span_bytes = (size_bytes + GRANULE_BYTES - 1) & ~(GRANULE_BYTES - 1);
    struct crt_pool_block *released = NULL;
    struct crt_pool_block *block = calloc(1, sizeof *block);
    if (!block)
        return CRT_OUT_OF_MEMORY;
    *block = (struct crt_pool_block){
        .span_bytes = span_bytes, .kind = kind_of(pool), .pool = pool, .ctx = stream->ctx};
    enum crt_result result = CRT_SUCCESS;
    pthread_mutex_lock(&pools.lock);
    if (pool->max_bytes) {
        uint64_t room = pool->max_bytes > span_bytes ? pool->max_bytes - span_bytes : 0;
        release_locked(pool, room, false, &released);
        if (span_bytes > pool->max_bytes || pool->attributes[CRT_POOL_RESERVED_CURRENT] > room)
            result = CRT_OUT_OF_MEMORY;
    }
    if (result == CRT_SUCCESS)
        raise(pool, CRT_POOL_RESERVED_CURRENT, span_bytes);
    pthread_mutex_unlock(&pools.lock);
    end_blocks(released);
    bool is_counted = result == CRT_SUCCESS;
    if (is_counted)
        result = crt_memory_alloc(stream->ctx, span_bytes, block->kind, CRT_ALLOCATION_POOLED,
                                  &block->base);

    pthread_mutex_lock(&pools.lock);
    if (result == CRT_SUCCESS) {
        pool->live_blocks++;
        HASH_ADD(hh, pools.blocks, base, sizeof block->base, block);
        take_locked(block, size_bytes);
        *base = block->base;
    } else if (is_counted) {
        pool->attributes[CRT_POOL_RESERVED_CURRENT] -= span_bytes;
    }
    pthread_mutex_unlock(&pools.lock);
    if (result != CRT_SUCCESS)
        free(block);
    return result;
}

static enum crt_result allocate(struct crt_pool *pool, struct crt_stream *stream, size_t size_bytes,
                                uintptr_t *base)
{
    enum crt_result result = reuse_block(pool, stream, size_bytes, base);
    if (result == CRT_NOT_FOUND)
        result = new_block(pool, stream, size_bytes, base);
    if (result != CRT_OUT_OF_MEMORY || sch_on_pool_thread())
        return result;
    /* Frees that are still to come may make room. */
    if (crt_context_wait(stream->ctx) != CRT_SUCCESS)
        return result;
    crt_pool_release_all();
    return new_block(pool, stream, size_bytes, base);
}

enum crt_result crt_pool_alloc(struct crt_pool *pool, struct crt_stream *stream, size_t size_bytes,
                               uintptr_t *base)
{
    if (!crt_pool_is_valid(pool))
        return CRT_INVALID_VALUE;
    if (size_bytes > SIZE_MAX / 2)
        return CRT_OUT_OF_MEMORY;
    if (stream->captured.capture)
        return crt_graph_capture_alloc(stream, size_bytes, base);
    enum crt_result result = allocate(pool, stream, size_bytes, base);
    if (result == CRT_SUCCESS)
        crt_leak_note("pool memory", (void *)*base, size_bytes);
    return result;
}

/* ---- freeing ---- */

static struct crt_pool_block *find_live_locked(uintptr_t base)
{
    struct crt_pool_block *block;
    HASH_FIND(hh, pools.blocks, &base, sizeof base, block);
    return block && !block->is_free ? block : NULL;
}

/* Kernels that come later in the stream have lost the block, unless it has been taken again: then
 * they find it as if nobody had written it. It may have been taken and freed any number of times
 * before the stream comes here: the last one closes it. */
static void close_freed(void *base, const struct sch_fault *fault)
{
    (void)fault;
    uintptr_t key = (uintptr_t)base;
    struct crt_pool_block *block;
    pthread_mutex_lock(&pools.lock);
    HASH_FIND(hh, pools.blocks, &key, sizeof key, block);
    if (block && block->kind == CRT_MEMORY_DEVICE)
        crt_written_clear(block->base, block->span_bytes);
    if (block && --block->frees == 0 && block->is_free) {
        crt_shadow_close(block->base, block->span_bytes);
        crt_freed_note(block->base, block->size_bytes);
    }
    pthread_mutex_unlock(&pools.lock);
}

/* A marker for "everything before has finished"; NULL when it has. */
static enum crt_result mark_free(struct crt_stream *stream, uintptr_t base, struct sch_op **marker)
{
    *marker = NULL;
    if (!stream || crt_stream_is_idle(stream)) {
        close_freed((void *)base, NULL);
        return CRT_SUCCESS;
    }
    struct sch_op *op = sch_op_marker(close_freed, (void *)base);
    if (!op)
        return CRT_OUT_OF_MEMORY;
    sch_op_retain(op);
    enum crt_result result = crt_stream_submit(stream, op, NULL);
    if (result == CRT_SUCCESS)
        *marker = op;
    else
        sch_op_release(op);
    return result;
}

enum crt_result crt_pool_free(struct crt_stream *stream, uintptr_t base)
{
    pthread_mutex_lock(&pools.lock);
    struct crt_pool_block *block = find_live_locked(base);
    if (block) {
        block->is_free = true;
        block->frees++;
        block->pool->attributes[CRT_POOL_USED_CURRENT] -= used_bytes_of(block);
    }
    pthread_mutex_unlock(&pools.lock);
    if (!block)
        return CRT_INVALID_VALUE;

    struct sch_op *marker;
    enum crt_result result = mark_free(stream, base, &marker);
    pthread_mutex_lock(&pools.lock);
    if (result == CRT_SUCCESS) {
        block->freed_by = marker;
        block->stream_id = stream ? stream->id : 0;
        crt_leak_forget((void *)base);
        block->is_cached = true;
        DL_PREPEND(block->pool->cached, block);
        atomic_store(&pools.has_unused, true);
    } else {
        block->frees--;
        take_locked(block, block->size_bytes);
    }
    pthread_mutex_unlock(&pools.lock);
    return result;
}

/* ---- what is where ---- */

static bool is_default_pool(const struct crt_pool *pool)
{
    size_t offset = (uintptr_t)pool - (uintptr_t)pools.defaults;
    return offset < sizeof pools.defaults && offset % sizeof *pool == 0 &&
           atomic_load(&pool->is_default);
}

bool crt_pool_is_valid(const struct crt_pool *pool)
{
    return is_default_pool(pool) || crt_object_is(pool, CRT_KIND_POOL);
}

struct crt_pool *crt_pool_of(uintptr_t base)
{
    pthread_mutex_lock(&pools.lock);
    struct crt_pool_block *block = find_live_locked(base);
    struct crt_pool *pool = block ? block->pool : NULL;
    pthread_mutex_unlock(&pools.lock);
    return pool;
}

bool crt_pool_refine(struct crt_allocation *allocation)
{
    pthread_mutex_lock(&pools.lock);
    struct crt_pool_block *block = find_live_locked(allocation->base);
    if (block)
        allocation->size_bytes = block->size_bytes;
    pthread_mutex_unlock(&pools.lock);
    return block != NULL;
}

/* ---- attributes ---- */

enum crt_result crt_pool_set_attribute(struct crt_pool *pool, int attribute, uint64_t value)
{
    if (!crt_pool_is_valid(pool) || attribute < 1 || attribute >= CRT_POOL_ATTRIBUTE_COUNT)
        return CRT_INVALID_VALUE;
    bool is_mark = attribute == CRT_POOL_RESERVED_HIGH || attribute == CRT_POOL_USED_HIGH;
    if (attribute >= CRT_POOL_RESERVED_CURRENT && (!is_mark || value))
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&pools.lock);
    if (is_mark)
        value = pool->attributes[attribute - 1]; /* the mark of the memory in use now */
    pool->attributes[attribute] = value;
    atomic_store(&pools.has_unused, true);
    pthread_mutex_unlock(&pools.lock);
    return CRT_SUCCESS;
}

enum crt_result crt_pool_get_attribute(struct crt_pool *pool, int attribute, uint64_t *value)
{
    if (!crt_pool_is_valid(pool) || attribute < 1 || attribute >= CRT_POOL_ATTRIBUTE_COUNT)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&pools.lock);
    *value = pool->attributes[attribute];
    pthread_mutex_unlock(&pools.lock);
    return CRT_SUCCESS;
}

static bool is_own_device(const struct crt_pool *pool, int device)
{
    return pool->location.type == CRT_LOCATION_DEVICE && pool->location.id == device;
}

enum crt_result crt_pool_set_access(struct crt_pool *pool, int device, int flags)
{
    bool is_known = flags == 0 || flags == 1 || flags == 3;
    if (!crt_pool_is_valid(pool) || !is_known || (is_own_device(pool, device) && flags != 3))
        return CRT_INVALID_VALUE;
    if (!crt_device_at(device))
        return CRT_INVALID_DEVICE;
    pthread_mutex_lock(&pools.lock);
    pool->access[device] = flags;
    pthread_mutex_unlock(&pools.lock);
    return CRT_SUCCESS;
}

enum crt_result crt_pool_get_access(struct crt_pool *pool, int device, int *flags)
{
    if (!crt_pool_is_valid(pool))
        return CRT_INVALID_VALUE;
    if (!crt_device_at(device))
        return CRT_INVALID_DEVICE;
    pthread_mutex_lock(&pools.lock);
    *flags = is_own_device(pool, device) ? 3 : pool->access[device];
    pthread_mutex_unlock(&pools.lock);
    return CRT_SUCCESS;
}
