/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks: where they live in memory and their state before the first thread runs. A worker uses
 * the same few block objects over and over; shared memory is not cleared between blocks (CUDA
 * leaves its initial contents undefined).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/block.h"

#define SHARED_ALIGN_BYTES ((size_t)128)
#define FREE_BLOCKS_KEPT   16
#define SHAPES_KEPT        4 /* of blocks, so that launches in turn find their threads set up */
#define FRAME_KEPT_BYTES   ((size_t)256 * 1024) /* by an idle worker, for each block */
#define SHARED_MAP_UNIT    ((size_t)64 * 1024)  /* a multiple of every page size */

static void set_up_threads(struct sch_block *block, const uint32_t dims[3], uint32_t count)
{
    uint32_t tid[3] = {0};
    for (uint32_t i = 0; i < count; i++) {
        struct rt_thread *thread = &block->threads[i].rt;
        thread->block = &block->rt;
        memcpy(thread->tid, tid, sizeof tid);
        thread->lane = i % RT_WARP_SIZE;
        thread->warp = i / RT_WARP_SIZE;
        for (int d = 0; d < 3 && ++tid[d] == dims[d]; d++)
            tid[d] = 0;
    }
    memcpy(block->dims, dims, sizeof block->dims);
    block->limits_of = NULL;
    block->rt.threads = &block->threads->rt;
    block->thread_count = count;
    block->warp_count = (count + RT_WARP_SIZE - 1) / RT_WARP_SIZE;
}

static bool has_shape(const struct sch_block *block, const uint32_t dims[3])
{
    return block->thread_count > 0 && memcmp(block->dims, dims, sizeof block->dims) == 0;
}

static bool fit_threads(struct sch_block *block, const struct sch_grid_op *grid)
{
    const uint32_t *dims = grid->grid.launch.block;
    if (has_shape(block, dims))
        return true;
    if (block->threads_cap < grid->thread_count) {
        struct sch_thread *threads =
            aligned_alloc(SCH_CACHE_LINE, grid->thread_count * sizeof *threads);
        if (!threads)
            return false;
        memset(threads, 0, grid->thread_count * sizeof *threads);
        free(block->threads);
        block->threads = threads;
        block->threads_cap = grid->thread_count;
    }
    set_up_threads(block, dims, grid->thread_count);
    return true;
}

static bool fit_shared(struct sch_block *block, size_t shared_bytes)
{
    size_t used_bytes = (shared_bytes + SHARED_ALIGN_BYTES - 1) & ~(SHARED_ALIGN_BYTES - 1);
    size_t map_bytes = (used_bytes + SHARED_MAP_UNIT - 1) & ~(SHARED_MAP_UNIT - 1);
    map_bytes = map_bytes > 0 ? map_bytes : SHARED_MAP_UNIT;
    if (map_bytes > block->shared_map_bytes) {
        uint8_t *map = mmap(NULL, map_bytes + SCH_STACK_GUARD_BYTES, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map == MAP_FAILED)
            return false;
        sch_guard_install(map + map_bytes);
        if (block->shared_map)
            munmap(block->shared_map, block->shared_map_bytes + SCH_STACK_GUARD_BYTES);
        block->shared_map = map;
        block->shared_map_bytes = map_bytes;
    }
    /* At the end of the mapping, so that the guard is as near as alignment allows. */
    block->rt.shared = block->shared_map + block->shared_map_bytes - used_bytes;
    return true;
}

static void free_frame(struct sch_block *block)
{
    free(block->rt.frame);
    block->rt.frame = NULL;
    block->frame_bytes = 0;
}

/* Memory for what lives across stops; at least the entries. */
static bool fit_frame(struct sch_block *block, uint64_t frame_bytes)
{
    uint64_t entries_bytes = (uint64_t)block->warp_count * RT_WARP_SIZE * sizeof(uint16_t);
    uint64_t bytes = frame_bytes > entries_bytes ? frame_bytes : entries_bytes;
    if (bytes <= block->frame_bytes)
        return true;
    if (bytes > PTRDIFF_MAX - SCH_CACHE_LINE)
        return false;
    size_t alloc_bytes = ((size_t)bytes + SCH_CACHE_LINE - 1) & ~(size_t)(SCH_CACHE_LINE - 1);
    free_frame(block);
    block->rt.frame = aligned_alloc(SCH_CACHE_LINE, alloc_bytes);
    if (!block->rt.frame)
        return false;
    block->frame_bytes = alloc_bytes;
    return true;
}

void sch_warp_reset(struct sch_warp *warp, uint32_t live)
{
    warp->live = live;
    warp->runnable = live;
    warp->waiting = 0;
    warp->gathering = 0;
    warp->polled = 0;
    warp->passed_over = 0;
    warp->meeting_count = 0;
}

void sch_block_reset_barriers(struct sch_block *block)
{
    for (uint32_t id = 0; block->barriers_used != 0; id++, block->barriers_used >>= 1) {
        if (block->barriers_used & 1)
            memset(&block->barriers[id], 0, sizeof block->barriers[id]);
    }
}

/* As before the first thread has started. */
static void reset_precise(struct sch_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        uint32_t lanes = block->thread_count - w * RT_WARP_SIZE;
        sch_warp_reset(&block->warps[w], lanes >= RT_WARP_SIZE ? UINT32_MAX : SCH_LANE(lanes) - 1);
    }
    sch_block_reset_barriers(block);
    block->unstarted_first = 0;
    block->unstarted_end = block->thread_count;
    block->live_count = block->thread_count;
    block->live_warps =
        block->warp_count == SCH_WARPS_MAX ? UINT32_MAX : SCH_LANE(block->warp_count) - 1;
    block->fruitless_polls = 0;
    block->ready = (struct sch_thread_set){0};
    block->polling = (struct sch_thread_set){0};
    block->limits_of = NULL;
}

static bool fit(struct sch_block *block, const struct sch_grid_op *grid)
{
    return fit_threads(block, grid) && fit_shared(block, grid->grid.launch.shared_bytes) &&
           (!grid->grid.fused || fit_frame(block, grid->grid.frame_bytes));
}

/* Out of the worker's free list, which begins with those used last: one of this shape, or else the
 * one that has not been used for longest. NULL if it is not worth losing that one's shape. */
static struct sch_block *find_free(struct sch_worker *worker, const uint32_t dims[3])
{
    struct sch_block **link = &worker->free_blocks, **last = NULL;
    unsigned seen = 0;
    while (*link && seen < FREE_BLOCKS_KEPT && !has_shape(*link, dims)) {
        last = link;
        link = &(*link)->next;
        seen++;
    }
    if (!*link || seen == FREE_BLOCKS_KEPT)
        link = seen < SHAPES_KEPT ? NULL : last;
    if (!link)
        return NULL;
    struct sch_block *block = *link;
    *link = block->next;
    return block;
}

static struct sch_block *take_free(struct sch_worker *worker, const uint32_t dims[3])
{
    struct sch_block *block = find_free(worker, dims);
    if (block)
        return block;
    block = aligned_alloc(_Alignof(struct sch_block), sizeof *block);
    if (block)
        memset(block, 0, sizeof *block);
    return block;
}

void sch_block_place(struct sch_block *block, uint64_t index, uint32_t count)
{
    const struct rt_launch *launch = block->rt.launch;
    uint32_t *ctaid = block->rt.ctaid;
    memset(ctaid, 0, sizeof block->rt.ctaid);
    if (index > 0) {
        ctaid[0] = (uint32_t)(index % launch->grid[0]);
        ctaid[1] = (uint32_t)(index / launch->grid[0] % launch->grid[1]);
        ctaid[2] = (uint32_t)(index / launch->grid[0] / launch->grid[1]);
    }
    block->chunk = count;
    block->has_mixed = false;
}

struct sch_block *sch_block_acquire(struct sch_worker *worker, struct sch_grid_op *grid,
                                    uint64_t index, uint32_t count)
{
    struct sch_block *block = take_free(worker, grid->grid.launch.block);
    if (!block)
        return NULL;
    block->worker = worker;
    if (!fit(block, grid)) {
        block->next = worker->free_blocks;
        worker->free_blocks = block;
        return NULL;
    }
    block->grid = grid;
    block->rt.launch = &grid->grid.launch;
    block->rt.sm_id = worker->group_index;
    block->go_on = NULL;
    sch_block_place(block, index, count);
    if (!grid->grid.fused)
        reset_precise(block);
    return block;
}

void sch_block_trim(struct sch_worker *worker)
{
    struct sch_block **link = &worker->free_blocks;
    for (unsigned i = 0; i < FREE_BLOCKS_KEPT && *link; i++, link = &(*link)->next) {
        if ((*link)->frame_bytes > FRAME_KEPT_BYTES)
            free_frame(*link);
    }
    struct sch_block *block = *link;
    *link = NULL;
    while (block) {
        struct sch_block *next = block->next;
        if (block->shared_map)
            munmap(block->shared_map, block->shared_map_bytes + SCH_STACK_GUARD_BYTES);
        free_frame(block);
        free(block->threads);
        free(block);
        block = next;
    }
}

static void abandon_threads(struct sch_block *block)
{
    for (uint32_t i = 0; block->live_count > 0 && i < block->thread_count; i++) {
        struct sch_thread *thread = &block->threads[i];
        if (thread->fiber) {
            sch_fiber_put(&block->worker->fibers, thread->fiber, false);
            thread->fiber = NULL;
        }
    }
}

void sch_block_release(struct sch_block *block)
{
    struct sch_worker *worker = block->worker;
    if (!block->grid->grid.fused) {
        abandon_threads(block);
    } else if (block->carrier.fiber) {
        sch_fiber_put(&worker->fibers, block->carrier.fiber, false);
        block->carrier.fiber = NULL;
    }
    block->grid = NULL;
    block->next = worker->free_blocks;
    worker->free_blocks = block;
}
