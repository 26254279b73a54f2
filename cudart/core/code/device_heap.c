/* SPDX-License-Identifier: Apache-2.0
 *
 * Small blocks are cut from chunks and used again for the same size; a large one is an area of its
 * own. What is known about blocks lies elsewhere, where no kernel gets to. When no block is left,
 * the chunks go back to the system.
 */
#include "cudart/core/code/device_heap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/check/findings.h"
#include "cudart/core/code/heap_leaks.h"
#include "cudart/core/memory/freed.h"
#include "cudart/core/memory/range_tree.h"
#include "cudart/core/memory/written_bits.h"
#include "kernel_abi/rt.h"
#include "util/guard.h"

#define ALIGN_BYTES ((size_t)16)
#define SMALL_MAX   ((size_t)256 * 1024)
#define CHUNK_BYTES ((size_t)1024 * 1024)

/* Multiples of 16 up to 128, then four sizes from each power of two to the next. */
#define FINE_MAX     ((size_t)128)
#define FINE_CLASSES 8
#define CLASSES      52

struct block {
    struct crt_range range; /* while it is in use: the bytes that were asked for */
    uint8_t *pointer;
    size_t size_bytes; /* a multiple of ALIGN_BYTES: counts for the limit */
    unsigned size_class;
    uint8_t *written;     /* with --check=init while it is in use: a bit for each byte */
    struct pxr_area area; /* of a large block */
    const struct crt_context *ctx;
    struct crt_heap_user *user;
    struct block *next; /* in the list of free ones of its class */
};

struct chunk {
    struct pxr_area area;
    size_t used_bytes;
    struct chunk *next;
};

/* Guarded by lock. The limit of cudaLimitMallocHeapSize holds for the process. */
static struct {
    pthread_mutex_t lock;
    struct crt_range_tree used;
    struct block *free[CLASSES];
    struct chunk *chunks; /* the first is that which blocks are cut from */
    size_t used_bytes;
} heap = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) & ~(unit - 1);
}

/* The class of a small size; *bytes becomes the size of its blocks. */
static unsigned find_class(size_t *bytes)
{
    if (*bytes <= FINE_MAX) {
        *bytes = round_up(*bytes, ALIGN_BYTES);
        return (unsigned)(*bytes / ALIGN_BYTES - 1);
    }
    unsigned shift = 61 - (unsigned)__builtin_clzll(*bytes - 1);
    *bytes = round_up(*bytes, (size_t)1 << shift);
    return FINE_CLASSES + (shift - 5) * 4 + (unsigned)(*bytes >> shift) - 5;
}

/* Everything below with the suffix _locked is called with the lock held. */

static uint8_t *cut_locked(size_t bytes)
{
    struct chunk *chunk = heap.chunks;
    if (!chunk || chunk->area.size_bytes - chunk->used_bytes < bytes) {
        chunk = calloc(1, sizeof *chunk);
        if (!chunk)
            return NULL;
        if (!pxr_area_map(&chunk->area, CHUNK_BYTES)) {
            free(chunk);
            return NULL;
        }
        LL_PREPEND(heap.chunks, chunk);
    }
    uint8_t *pointer = chunk->area.base + chunk->used_bytes;
    chunk->used_bytes += bytes;
    return pointer;
}

static struct block *make_small_locked(size_t size_bytes)
{
    unsigned size_class = find_class(&size_bytes);
    struct block *block = heap.free[size_class];
    if (block) {
        LL_DELETE(heap.free[size_class], block);
        return block;
    }
    block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->size_class = size_class;
    block->pointer = cut_locked(size_bytes);
    if (!block->pointer) {
        free(block);
        return NULL;
    }
    return block;
}

/* Ends at the guard behind it. */
static struct block *make_large(size_t size_bytes)
{
    struct block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    if (!pxr_area_map(&block->area, size_bytes)) {
        free(block);
        return NULL;
    }
    block->pointer = block->area.base + block->area.size_bytes - size_bytes;
    return block;
}

void *crt_heap_take(const struct crt_context *ctx, struct crt_heap_user *user, size_t size_bytes,
                    size_t limit_bytes)
{
    if (size_bytes > limit_bytes || size_bytes > SIZE_MAX / 2)
        return NULL;
    size_t rounded = round_up(size_bytes, ALIGN_BYTES);
    struct block *block = NULL;
    pthread_mutex_lock(&heap.lock);
    if (rounded <= limit_bytes && heap.used_bytes <= limit_bytes - rounded)
        block = rounded > SMALL_MAX ? make_large(rounded) : make_small_locked(rounded);
    if (block) {
        block->size_bytes = rounded;
        block->ctx = ctx;
        block->user = user;
        crt_heap_note_taken(user, size_bytes);
        heap.used_bytes += rounded;
        block->range.begin = (uintptr_t)block->pointer;
        block->range.size_bytes = size_bytes;
        block->written = crt_checks_written() ? calloc(rounded / RT_SHADOW_GRAIN, 1) : NULL;
        crt_range_insert(&heap.used, &block->range);
    }
    pthread_mutex_unlock(&heap.lock);
    return block ? block->pointer : NULL;
}

static void give_locked(struct block *block)
{
    crt_range_remove(&heap.used, &block->range);
    crt_freed_note(block->range.begin, block->range.size_bytes);
    heap.used_bytes -= block->size_bytes;
    free(block->written);
    if (block->area.base) {
        pxr_area_unmap(&block->area);
        free(block);
        return;
    }
    LL_PREPEND(heap.free[block->size_class], block);
}

bool crt_heap_give(void *pointer)
{
    pthread_mutex_lock(&heap.lock);
    struct crt_range *found = crt_range_floor(&heap.used, (uintptr_t)pointer);
    bool is_block = found && found->begin == (uintptr_t)pointer;
    if (is_block) {
        crt_heap_note_freed(((struct block *)found)->user, found->size_bytes);
        give_locked((struct block *)found);
    }
    pthread_mutex_unlock(&heap.lock);
    return is_block;
}

bool crt_heap_covers(uintptr_t address, size_t bytes)
{
    pthread_mutex_lock(&heap.lock);
    const struct crt_range *found = crt_range_floor(&heap.used, address);
    bool covers = found && address - found->begin < found->size_bytes &&
                  bytes <= found->size_bytes - (address - found->begin);
    pthread_mutex_unlock(&heap.lock);
    return covers;
}

/* Large blocks are areas of their own: what lies before one is in its first page. */
bool crt_heap_owns(uintptr_t address)
{
    pthread_mutex_lock(&heap.lock);
    const struct crt_range *found = crt_range_floor(&heap.used, address);
    const struct pxr_area *area = found ? &((const struct block *)found)->area : NULL;
    bool owns = area && address - (uintptr_t)area->base < area->size_bytes;
    for (const struct chunk *chunk = heap.chunks; chunk && !owns; chunk = chunk->next)
        owns = address - (uintptr_t)chunk->area.base < chunk->area.size_bytes;
    pthread_mutex_unlock(&heap.lock);
    return owns;
}

/* ---- what has been written ---- */

/* Of the block that the address is in; none: as if all had been. */
static struct crt_grains find_written_locked(uintptr_t address)
{
    const struct crt_range *found = crt_range_floor(&heap.used, address);
    const struct block *block = (const struct block *)found;
    if (!found || address - found->begin >= found->size_bytes)
        return (struct crt_grains){0};
    return (struct crt_grains){
        .begin = found->begin, .size_bytes = found->size_bytes, .bytes = block->written};
}

uint32_t crt_heap_get_written(uintptr_t address, size_t bytes)
{
    pthread_mutex_lock(&heap.lock);
    struct crt_grains grains = find_written_locked(address);
    uint32_t written = crt_bits_get(&grains, address, bytes);
    pthread_mutex_unlock(&heap.lock);
    return written;
}

void crt_heap_put_written(uintptr_t address, size_t bytes, uint32_t written)
{
    pthread_mutex_lock(&heap.lock);
    struct crt_grains grains = find_written_locked(address);
    if (written == RT_WRITTEN_ALL)
        crt_bits_set(&grains, address, bytes);
    else
        crt_bits_put(&grains, address, bytes, written);
    pthread_mutex_unlock(&heap.lock);
}

size_t crt_heap_find_gap(uintptr_t address, size_t bytes, size_t *gap)
{
    pthread_mutex_lock(&heap.lock);
    struct crt_grains grains = find_written_locked(address);
    size_t written = crt_bits_find_gap(&grains, address, bytes, gap);
    pthread_mutex_unlock(&heap.lock);
    return written;
}

/* No block is in use. */
static void release_chunks_locked(void)
{
    struct chunk *chunk;
    struct chunk *next_chunk;
    LL_FOREACH_SAFE(heap.chunks, chunk, next_chunk)
    {
        pxr_area_unmap(&chunk->area);
        free(chunk);
    }
    heap.chunks = NULL;
    for (unsigned i = 0; i < CLASSES; i++) {
        struct block *block;
        struct block *next;
        LL_FOREACH_SAFE(heap.free[i], block, next)
        {
            free(block);
        }
        heap.free[i] = NULL;
    }
}

void crt_heap_free_owned(struct crt_context *ctx)
{
    struct crt_range *next;
    pthread_mutex_lock(&heap.lock);
    for (struct crt_range *range = crt_range_above(&heap.used, 0); range; range = next) {
        next = crt_range_above(&heap.used, range->begin);
        struct block *block = (struct block *)range;
        if (block->ctx == ctx)
            give_locked(block);
    }
    if (!crt_range_above(&heap.used, 0))
        release_chunks_locked();
    pthread_mutex_unlock(&heap.lock);
}
