/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks: where they live in memory and their state before the first thread runs. A worker uses
 * the same few block objects over and over; shared memory is not cleared between blocks (CUDA
 * leaves its initial contents undefined).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/precise.h"

#define SHARED_ALIGN_BYTES ((size_t)128)
#define FREE_BLOCKS_KEPT   16
#define SHARED_MAP_UNIT    ((size_t)64 * 1024) /* a multiple of every page size */

static void set_up_threads(struct sch_block *block, const uint32_t dims[3], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct rt_thread *thread = &block->threads[i].rt;
        thread->block = &block->rt;
        thread->tid[0] = i % dims[0];
        thread->tid[1] = i / dims[0] % dims[1];
        thread->tid[2] = i / dims[0] / dims[1];
        thread->lane = i % RT_WARP_SIZE;
        thread->warp = i / RT_WARP_SIZE;
    }
    memcpy(block->dims, dims, sizeof block->dims);
    block->thread_count = count;
    block->warp_count = (count + RT_WARP_SIZE - 1) / RT_WARP_SIZE;
}

static bool fit_threads(struct sch_block *block, const struct sch_grid_op *grid)
{
    const uint32_t *dims = grid->grid.launch.block;
    if (block->thread_count > 0 && memcmp(block->dims, dims, sizeof block->dims) == 0)
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

/* Warps and barriers as before the first thread has started. */
static void reset(struct sch_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        struct sch_warp *warp = &block->warps[w];
        uint32_t lanes = block->thread_count - w * RT_WARP_SIZE;
        warp->live = lanes >= RT_WARP_SIZE ? UINT32_MAX : SCH_LANE(lanes) - 1;
        warp->runnable = warp->live;
        warp->waiting = 0;
        warp->gathering = 0;
        warp->polled = 0;
        warp->passed_over = 0;
        warp->meeting_count = 0;
    }
    for (uint32_t id = 0; block->barriers_used != 0; id++, block->barriers_used >>= 1) {
        if (block->barriers_used & 1)
            memset(&block->barriers[id], 0, sizeof block->barriers[id]);
    }
    block->unstarted_first = 0;
    block->unstarted_end = block->thread_count;
    block->live_count = block->thread_count;
    block->live_warps =
        block->warp_count == SCH_WARPS_MAX ? UINT32_MAX : SCH_LANE(block->warp_count) - 1;
    block->fruitless_polls = 0;
    block->ready = (struct sch_thread_set){0};
    block->polling = (struct sch_thread_set){0};
}

struct sch_block *sch_block_acquire(struct sch_worker *worker, struct sch_grid_op *grid,
                                    uint64_t index)
{
    struct sch_block *block = worker->free_blocks;
    if (block)
        worker->free_blocks = block->next;
    else
        block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->worker = worker;
    const struct rt_launch *launch = &grid->grid.launch;
    if (!fit_threads(block, grid) || !fit_shared(block, launch->shared_bytes)) {
        block->next = worker->free_blocks;
        worker->free_blocks = block;
        return NULL;
    }
    block->grid = grid;
    block->rt.launch = launch;
    block->rt.ctaid[0] = (uint32_t)(index % launch->grid[0]);
    block->rt.ctaid[1] = (uint32_t)(index / launch->grid[0] % launch->grid[1]);
    block->rt.ctaid[2] = (uint32_t)(index / launch->grid[0] / launch->grid[1]);
    block->rt.sm_id = worker->index;
    reset(block);
    return block;
}

void sch_block_trim(struct sch_worker *worker)
{
    struct sch_block **link = &worker->free_blocks;
    for (unsigned i = 0; i < FREE_BLOCKS_KEPT && *link; i++)
        link = &(*link)->next;
    struct sch_block *block = *link;
    *link = NULL;
    while (block) {
        struct sch_block *next = block->next;
        if (block->shared_map)
            munmap(block->shared_map, block->shared_map_bytes + SCH_STACK_GUARD_BYTES);
        free(block->threads);
        free(block);
        block = next;
    }
}

void sch_block_release(struct sch_block *block)
{
    struct sch_worker *worker = block->worker;
    for (uint32_t i = 0; block->live_count > 0 && i < block->thread_count; i++) {
        struct sch_thread *thread = &block->threads[i];
        if (thread->fiber) {
            sch_fiber_put(&worker->fibers, thread->fiber, false);
            thread->fiber = NULL;
        }
    }
    block->grid = NULL;
    block->next = worker->free_blocks;
    worker->free_blocks = block;
}
