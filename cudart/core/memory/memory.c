/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocations of a context, on top of the arena.
 */
#include "cudart/core/memory/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uthash.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/process.h"
#include "cudart/core/memory/array.h"
#include "cudart/core/memory/freed.h"
#include "cudart/core/memory/graph_blocks.h"
#include "cudart/core/memory/host_report.h"
#include "cudart/core/memory/managed.h"
#include "cudart/core/memory/pool.h"
#include "cudart/core/memory/reference.h"
#include "cudart/core/memory/texture.h"
#include "cudart/core/streams/context.h"
#include "scheduler/scheduler.h"

/* Allocations on which synchronous operations always synchronise. Guarded by lock; count is also
 * read without. */
struct sync_id {
    uint64_t id;
    UT_hash_handle hh;
};

static struct {
    pthread_mutex_t lock;
    struct sync_id *ids;
    atomic_size_t count;
} synchronous = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool crt_memory_is_sync(uint64_t id)
{
    if (atomic_load_explicit(&synchronous.count, memory_order_relaxed) == 0)
        return false;
    struct sync_id *found;
    pthread_mutex_lock(&synchronous.lock);
    HASH_FIND(hh, synchronous.ids, &id, sizeof id, found);
    pthread_mutex_unlock(&synchronous.lock);
    return found != NULL;
}

enum crt_result crt_memory_set_sync(uint64_t id, bool is_sync)
{
    struct sync_id *added = is_sync ? calloc(1, sizeof *added) : NULL;
    if (is_sync && !added)
        return CRT_OUT_OF_MEMORY;
    struct sync_id *found;
    pthread_mutex_lock(&synchronous.lock);
    HASH_FIND(hh, synchronous.ids, &id, sizeof id, found);
    if (is_sync && !found) {
        added->id = id;
        HASH_ADD(hh, synchronous.ids, id, sizeof added->id, added);
        added = NULL;
    } else if (!is_sync && found) {
        HASH_DEL(synchronous.ids, found);
        added = found;
    }
    atomic_store(&synchronous.count, HASH_COUNT(synchronous.ids));
    pthread_mutex_unlock(&synchronous.lock);
    free(added);
    return CRT_SUCCESS;
}

enum crt_result crt_memory_alloc(struct crt_context *ctx, size_t size_bytes, enum crt_memory kind,
                                 unsigned flags, uintptr_t *base)
{
    enum crt_result result = crt_arena_alloc(size_bytes, kind, flags, ctx, base);
    if (result != CRT_OUT_OF_MEMORY)
        return result;
    /* Memory that pools only keep for later must not make an allocation fail. */
    crt_pool_release_all();
    return crt_arena_alloc(size_bytes, kind, flags, ctx, base);
}

enum crt_result crt_memory_alloc_pitch(struct crt_context *ctx, size_t width_bytes, size_t height,
                                       uintptr_t *base, size_t *pitch_bytes)
{
    if (width_bytes == 0 || height == 0 || width_bytes > SIZE_MAX / 4)
        return CRT_INVALID_VALUE;
    size_t pitch = (width_bytes + CRT_PITCH_ALIGN - 1) & ~(size_t)(CRT_PITCH_ALIGN - 1);
    if (height > SIZE_MAX / 4 / pitch)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = crt_memory_alloc(ctx, pitch * height, CRT_MEMORY_DEVICE, 0, base);
    if (result == CRT_SUCCESS)
        *pitch_bytes = pitch;
    return result;
}

/* What an address becomes that is not the program's to free so. */
static enum crt_result refuse_free(uintptr_t base)
{
    crt_report_free(base);
    return CRT_INVALID_VALUE;
}

/* Kinds of memory as a set. */
#define KIND(kind)   (1u << (kind))
#define DEVICE_KINDS (KIND(CRT_MEMORY_DEVICE) | KIND(CRT_MEMORY_MANAGED))

/* The allocation that starts at base, if it is one of these kinds. */
static bool find_start(uintptr_t base, unsigned kinds, struct crt_allocation *allocation)
{
    return crt_memory_find(base, allocation) && allocation->base == base &&
           (KIND(allocation->kind) & kinds);
}

/* For memory that no work uses any more. */
static enum crt_result free_now(const struct crt_allocation *allocation)
{
    if (allocation->kind == CRT_MEMORY_MANAGED)
        crt_managed_forget(allocation->id);
    if (crt_memory_is_sync(allocation->id))
        crt_memory_set_sync(allocation->id, false);
    if (allocation->flags & CRT_ALLOCATION_POOLED)
        return crt_pool_free(NULL, allocation->base);
    return crt_arena_free(allocation->base, allocation->kind);
}

enum crt_result crt_memory_free(uintptr_t base)
{
    struct crt_allocation allocation;
    enum crt_result result = CRT_SUCCESS;
    if (!base || crt_graph_memory_release(base, &result))
        return result;
    if (!find_start(base, DEVICE_KINDS | KIND(CRT_MEMORY_EXTERNAL), &allocation))
        return refuse_free(base);
    crt_freed_begin();
    if (allocation.ctx)
        result = crt_context_wait(allocation.ctx);
    if (result == CRT_NOT_PERMITTED)
        return result;
    enum crt_result freed = free_now(&allocation);
    return freed == CRT_SUCCESS ? result : freed;
}

/* After an error nothing that is pending will be done. */
static void report_in_use(const struct crt_allocation *allocation)
{
    if (allocation->ctx && crt_context_sticky(allocation->ctx) == CRT_SUCCESS)
        crt_report_free_in_use(allocation->base, allocation->size_bytes);
}

enum crt_result crt_memory_free_host(uintptr_t base)
{
    struct crt_allocation allocation;
    if (!base)
        return CRT_SUCCESS;
    if (!find_start(base, KIND(CRT_MEMORY_HOST), &allocation))
        return refuse_free(base);
    report_in_use(&allocation);
    crt_freed_begin();
    if (allocation.ctx && !sch_on_pool_thread())
        crt_context_wait(allocation.ctx);
    return free_now(&allocation);
}

struct free_task {
    uintptr_t base;
    enum crt_memory kind;
};

static void run_free(void *arg)
{
    const struct free_task *task = arg;
    crt_arena_free(task->base, task->kind);
}

static enum crt_result free_in_stream(struct crt_stream *stream, uintptr_t base)
{
    struct crt_allocation allocation;
    enum crt_result result = CRT_SUCCESS;
    if (!base)
        return CRT_SUCCESS;
    if (stream->captured.capture)
        return crt_graph_capture_free(stream, base);
    if (crt_graph_memory_release(base, &result))
        return result;
    bool is_found = find_start(base, DEVICE_KINDS, &allocation) ||
                    (find_start(base, KIND(CRT_MEMORY_HOST), &allocation) &&
                     (allocation.flags & CRT_ALLOCATION_POOLED));
    if (!is_found)
        return refuse_free(base);
    if (allocation.flags & CRT_ALLOCATION_POOLED)
        return crt_pool_free(stream, base);
    if (crt_stream_is_idle(stream))
        return free_now(&allocation);
    struct free_task *task = malloc(sizeof *task);
    if (!task)
        return CRT_OUT_OF_MEMORY;
    *task = (struct free_task){.base = base, .kind = allocation.kind};
    return crt_stream_task(stream, run_free, task);
}

enum crt_result crt_memory_free_async(struct crt_stream *stream, uintptr_t base)
{
    crt_freed_begin();
    enum crt_result result = free_in_stream(stream, base);
    crt_freed_end(); /* the stream may come to it later */
    return result;
}

enum crt_result crt_memory_register(struct crt_context *ctx, void *base, size_t size_bytes,
                                    unsigned flags)
{
    if (!crt_memory_is_mapped(base, size_bytes))
        return CRT_INVALID_VALUE;
    return crt_arena_register((uintptr_t)base, size_bytes, flags, ctx);
}

enum crt_result crt_memory_unregister(void *base)
{
    if (!base)
        return CRT_INVALID_VALUE;
    struct crt_allocation allocation;
    if (crt_memory_find((uintptr_t)base, &allocation))
        report_in_use(&allocation);
    return crt_arena_unregister((uintptr_t)base);
}

bool crt_memory_find(uintptr_t address, struct crt_allocation *allocation)
{
    if (!crt_arena_find(address, allocation))
        return false;
    if (!(allocation->flags & CRT_ALLOCATION_POOLED))
        return true;
    return crt_pool_refine(allocation) && address - allocation->base < allocation->size_bytes;
}

bool crt_memory_is_mapped(const void *base, size_t size_bytes)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)base & ~(page_bytes - 1);
    uintptr_t end;
    if (__builtin_add_overflow((uintptr_t)base, size_bytes, &end))
        return false;
    /* MS_ASYNC does nothing but fail when a page is not mapped. */
    return msync((void *)begin, end - begin, MS_ASYNC) == 0;
}

void crt_memory_free_owned(struct crt_context *ctx)
{
    crt_texture_destroy_all(ctx);
    crt_reference_end(ctx, NULL);
    crt_array_destroy_all(ctx);
    crt_pool_forget_context(ctx);
    crt_arena_free_owned(ctx);
    crt_managed_forget_dead();
}

/* The memory that the rest of the machine keeps from a device is a coarse number that seldom
 * changes, or programs that compare free memory before and after would see the machine's noise: a
 * part of the total, rounded up, with as much again before it goes down. */
#define LOST_PARTS 32
#define PAGE_MASK  ((size_t)4095)

static size_t lost_bytes(const struct crt_device *device, size_t unused_bytes)
{
    static atomic_size_t lost[CRT_DEVICES_MAX];
    size_t step = device->memory_bytes / LOST_PARTS;
    size_t room = crt_arena_room();
    size_t missing = unused_bytes > room ? unused_bytes - room : 0;
    size_t known = atomic_load(&lost[device->number]);
    bool is_right = missing <= known && known - missing < 3 * step;
    if (is_right)
        return known;
    known = missing ? (missing + step) & ~PAGE_MASK : 0;
    atomic_store(&lost[device->number], known);
    return known;
}

void crt_memory_info(const struct crt_device *device, size_t *free_bytes, size_t *total_bytes)
{
    size_t used_bytes = 0;
    *total_bytes = device->memory_bytes;
    if (device->index >= 0)
        crt_arena_usage(device->index, &used_bytes, total_bytes);
    size_t unused_bytes = *total_bytes - used_bytes;
    size_t lost = lost_bytes(device, unused_bytes);
    *free_bytes = lost < unused_bytes ? unused_bytes - lost : 0;
}
