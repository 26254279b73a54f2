/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of graphs: blocks by address, and how much of it is in use.
 */
#include "cudart/core/memory/graph_blocks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <uthash.h>
#include <utlist.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/leak.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/streams/capture.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/stream.h"

/* Everything but base, size_bytes and device is guarded by the lock. */
struct crt_graph_block {
    uintptr_t base;
    size_t size_bytes;
    int device;
    size_t refs;
    bool is_out;      /* allocated, and not yet freed, by launches so far */
    bool is_lasting;  /* is_out, and counted as such */
    bool will_be_out; /* scratch of crt_graph_memory_begin, and the next */
    bool is_counted;
    UT_hash_handle hh; /* by base */
};

/* Launches in one stream follow each other: they use the same memory. */
struct stream_use {
    uint64_t stream_id;
    size_t run_count;
    size_t bytes;
    int device;
    struct stream_use *next;
};

/* Bytes of one device. Memory stays with graphs that have used it until it is trimmed: CUDA has two
 * counters for it, which are one here, each with a high mark. */
struct usage {
    size_t active;
    size_t held; /* at least active */
    size_t used_high;
    size_t reserved_high;
};

/* Guarded by lock, but for block_count. */
static struct {
    pthread_mutex_t lock;
    atomic_size_t block_count;
    struct crt_graph_block *blocks;
    struct stream_use *streams;
    struct usage devices[CRT_DEVICES_MAX];
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct crt_graph_block *find_locked(uintptr_t base)
{
    struct crt_graph_block *block;
    HASH_FIND(hh, memory.blocks, &base, sizeof base, block);
    return block;
}

static void use_more_locked(int device, size_t bytes)
{
    struct usage *usage = &memory.devices[device];
    usage->active += bytes;
    if (usage->active > usage->held)
        usage->held = usage->active;
    if (usage->held > usage->used_high)
        usage->used_high = usage->held;
    if (usage->held > usage->reserved_high)
        usage->reserved_high = usage->held;
}

static void use_less_locked(int device, size_t bytes)
{
    memory.devices[device].active -= bytes;
}

/* ---- blocks ---- */

enum crt_result crt_graph_block_create(struct crt_context *ctx, size_t size_bytes,
                                       struct crt_graph_block **block)
{
    struct crt_graph_block *created = calloc(1, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = crt_arena_alloc(size_bytes, CRT_MEMORY_DEVICE, 0, ctx, &created->base);
    if (result != CRT_SUCCESS) {
        free(created);
        return result;
    }
    crt_leak_forget((void *)created->base);
    created->size_bytes = size_bytes;
    created->device = ctx->device->index;
    created->refs = 1;
    pthread_mutex_lock(&memory.lock);
    HASH_ADD(hh, memory.blocks, base, sizeof created->base, created);
    atomic_fetch_add(&memory.block_count, 1);
    pthread_mutex_unlock(&memory.lock);
    *block = created;
    return CRT_SUCCESS;
}

void crt_graph_block_retain(struct crt_graph_block *block)
{
    pthread_mutex_lock(&memory.lock);
    block->refs++;
    pthread_mutex_unlock(&memory.lock);
}

void crt_graph_block_release(struct crt_graph_block *block)
{
    if (!block)
        return;
    pthread_mutex_lock(&memory.lock);
    /* Memory that a launch has left allocated stays until the program frees it. */
    bool is_last = --block->refs == 0 && !block->is_out;
    if (is_last) {
        HASH_DEL(memory.blocks, block);
        atomic_fetch_sub(&memory.block_count, 1);
    }
    pthread_mutex_unlock(&memory.lock);
    if (is_last) {
        crt_arena_free(block->base, CRT_MEMORY_DEVICE);
        free(block);
    }
}

bool crt_graph_memory_release(uintptr_t base, enum crt_result *result)
{
    if (atomic_load_explicit(&memory.block_count, memory_order_relaxed) == 0)
        return false;
    pthread_mutex_lock(&memory.lock);
    struct crt_graph_block *block = find_locked(base);
    *result = block && block->is_out ? CRT_SUCCESS : CRT_INVALID_VALUE;
    if (block && block->is_out) {
        block->is_out = false;
        if (block->is_lasting)
            use_less_locked(block->device, block->size_bytes);
        block->is_lasting = false;
        block->refs++; /* for the release below */
    }
    pthread_mutex_unlock(&memory.lock);
    if (block && *result == CRT_SUCCESS)
        crt_graph_block_release(block);
    return block != NULL;
}

struct crt_work crt_graph_block_work(struct crt_graph_block *block)
{
    return (struct crt_work){.kind = CRT_NODE_ALLOC,
                             .memory = {.block = block,
                                        .base = block->base,
                                        .size_bytes = block->size_bytes,
                                        .device = block->device}};
}

bool crt_graph_block_exists(uintptr_t base)
{
    pthread_mutex_lock(&memory.lock);
    bool exists = base && find_locked(base) != NULL;
    pthread_mutex_unlock(&memory.lock);
    return exists;
}

/* ---- captures ---- */

enum crt_result crt_graph_capture_alloc(struct crt_stream *stream, size_t size_bytes,
                                        uintptr_t *base)
{
    struct crt_graph_block *block;
    enum crt_result result = crt_graph_block_create(stream->ctx, size_bytes, &block);
    if (result != CRT_SUCCESS)
        return result;
    *base = block->base;
    struct crt_work work = crt_graph_block_work(block);
    return crt_capture_add(stream, &work);
}

enum crt_result crt_graph_capture_free(struct crt_stream *stream, uintptr_t base)
{
    if (!crt_graph_block_exists(base))
        return CRT_INVALID_VALUE;
    struct crt_work work = {.kind = CRT_NODE_FREE, .memory = {.base = base}};
    return crt_capture_add(stream, &work);
}

/* ---- launches ---- */

/* Computes the states after the steps; CRT_INVALID_VALUE when one of them is not possible. */
static enum crt_result foresee_locked(const struct crt_graph_memory_step *steps, size_t count,
                                      bool is_auto_free)
{
    struct crt_graph_block *block;
    for (size_t i = 0; i < count; i++) {
        block = find_locked(steps[i].base);
        if (!block)
            return CRT_INVALID_VALUE;
        block->will_be_out = block->is_out;
        block->is_counted = false;
    }
    for (size_t i = 0; i < count && is_auto_free; i++)
        if (steps[i].is_alloc)
            find_locked(steps[i].base)->will_be_out = false;
    for (size_t i = 0; i < count; i++) {
        block = find_locked(steps[i].base);
        if (block->will_be_out == steps[i].is_alloc)
            return CRT_INVALID_VALUE;
        block->will_be_out = steps[i].is_alloc;
    }
    return CRT_SUCCESS;
}

static struct stream_use *find_stream_locked(uint64_t stream_id, int device)
{
    struct stream_use *use;
    LL_FOREACH(memory.streams, use)
    if (use->stream_id == stream_id && use->device == device)
        return use;
    return NULL;
}

static void begin_run_locked(struct crt_graph_memory_run *run)
{
    struct stream_use *use = find_stream_locked(run->stream_id, run->device);
    if (!use) {
        use = calloc(1, sizeof *use);
        if (!use) {
            run->bytes = 0; /* only the counters miss it */
            return;
        }
        use->stream_id = run->stream_id;
        use->device = run->device;
        LL_PREPEND(memory.streams, use);
    }
    use->run_count++;
    if (run->bytes > use->bytes) {
        use_more_locked(run->device, run->bytes - use->bytes);
        use->bytes = run->bytes;
    }
}

/* Takes the new states over; memory that the run uses only while it lasts goes into run->bytes. */
static void commit_locked(const struct crt_graph_memory_step *steps, size_t count,
                          struct crt_graph_memory_run *run)
{
    for (size_t i = 0; i < count; i++) {
        struct crt_graph_block *block = find_locked(steps[i].base);
        run->device = block->device;
        if (block->will_be_out && !block->is_lasting)
            use_more_locked(block->device, block->size_bytes);
        else if (!block->will_be_out && block->is_lasting)
            use_less_locked(block->device, block->size_bytes);
        else if (!block->will_be_out && steps[i].is_alloc && !block->is_counted)
            run->bytes += block->size_bytes;
        block->is_counted = true;
        block->is_out = block->is_lasting = block->will_be_out;
    }
}

enum crt_result crt_graph_memory_begin(const struct crt_graph_memory_step *steps, size_t count,
                                       bool is_auto_free, uint64_t stream_id,
                                       struct crt_graph_memory_run *run)
{
    *run = (struct crt_graph_memory_run){.stream_id = stream_id};
    if (!count)
        return CRT_SUCCESS;
    pthread_mutex_lock(&memory.lock);
    enum crt_result result = foresee_locked(steps, count, is_auto_free);
    if (result == CRT_SUCCESS) {
        commit_locked(steps, count, run);
        if (run->bytes)
            begin_run_locked(run);
    }
    pthread_mutex_unlock(&memory.lock);
    return result;
}

void crt_graph_memory_end(const struct crt_graph_memory_run *run)
{
    if (!run->bytes)
        return;
    pthread_mutex_lock(&memory.lock);
    struct stream_use *use = find_stream_locked(run->stream_id, run->device);
    if (use && --use->run_count == 0) {
        use_less_locked(run->device, use->bytes);
        LL_DELETE(memory.streams, use);
        free(use);
    }
    pthread_mutex_unlock(&memory.lock);
}

/* ---- attributes ---- */

uint64_t crt_graph_memory_get(int device, enum crt_graph_memory_attribute attribute)
{
    pthread_mutex_lock(&memory.lock);
    const struct usage usage = memory.devices[device];
    pthread_mutex_unlock(&memory.lock);
    switch (attribute) {
    case CRT_GRAPH_MEMORY_USED:
    case CRT_GRAPH_MEMORY_RESERVED:
        return usage.held;
    case CRT_GRAPH_MEMORY_USED_HIGH:
        return usage.used_high;
    case CRT_GRAPH_MEMORY_RESERVED_HIGH:
        return usage.reserved_high;
    case CRT_GRAPH_MEMORY_ATTRIBUTES:
        break;
    }
    return 0;
}

void crt_graph_memory_reset_high(int device, enum crt_graph_memory_attribute attribute)
{
    pthread_mutex_lock(&memory.lock);
    struct usage *usage = &memory.devices[device];
    if (attribute == CRT_GRAPH_MEMORY_USED_HIGH)
        usage->used_high = usage->held;
    else if (attribute == CRT_GRAPH_MEMORY_RESERVED_HIGH)
        usage->reserved_high = usage->held;
    pthread_mutex_unlock(&memory.lock);
}

void crt_graph_memory_trim(int device)
{
    pthread_mutex_lock(&memory.lock);
    memory.devices[device].held = memory.devices[device].active;
    pthread_mutex_unlock(&memory.lock);
}
