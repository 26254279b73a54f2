/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks: their memory, and their state before the first thread runs. A worker uses the same few
 * block objects over and over; shared memory is not cleared between blocks (CUDA leaves its initial
 * contents undefined).
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/block.h"
#include "util/pages.h"

#define SHARED_ALIGN_BYTES ((size_t)128) /* at least */
#define SHARED_FRONT_BYTES ((size_t)64)  /* the widest vector's */
#define FREE_BLOCKS_KEPT   32
#define SHAPES_KEPT        16 /* of blocks, so that launches in turn find them set up */
#define FRAME_KEPT_BYTES   ((size_t)256 * 1024) /* by an idle worker, for each block */

static const uint32_t hand_over_nothing = RT_HAND_OVER_NOTHING;

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

static bool has_threads(const struct sch_block *block, const uint32_t dims[3])
{
    return block->thread_count > 0 && memcmp(block->dims, dims, sizeof block->dims) == 0;
}

static size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) & ~(unit - 1);
}

/* Of its own: blocks of clusters have theirs there. */
static size_t shared_bytes_of(const struct sch_grid_op *grid)
{
    return grid->cluster_blocks > 1 ? 0 : grid->grid.launch.shared_bytes;
}

static size_t shared_align_of(const struct sch_grid_op *grid)
{
    size_t align = grid->grid.shared_align;
    return align > SHARED_ALIGN_BYTES ? align : SHARED_ALIGN_BYTES;
}

size_t sch_shared_page_bytes(const struct sch_grid_op *grid)
{
    size_t shared_bytes = grid->grid.launch.shared_bytes;
    size_t align = shared_align_of(grid);
    if (shared_bytes > 0 && align <= pxr_page_bytes())
        shared_bytes = round_up(shared_bytes, align) + SHARED_FRONT_BYTES;
    return pxr_round_to_pages(shared_bytes);
}

/* What is in front of shared memory in its pages. */
static size_t front_bytes(const struct sch_grid_op *grid)
{
    size_t align = shared_align_of(grid);
    if (align > pxr_page_bytes())
        return 0;
    return sch_shared_page_bytes(grid) - round_up(grid->grid.launch.shared_bytes, align);
}

uint8_t *sch_shared_begin(const struct sch_grid_op *grid, uint8_t *pages)
{
    return pages + front_bytes(grid);
}

bool sch_has_front_page(const struct sch_grid_op *grid)
{
    return front_bytes(grid) == pxr_page_bytes();
}

/* A page behind shared memory can be read, as GPUs let threads do: kernels that load a vector, or
 * one more element than there is, use what is there and nothing else. Each costs a mapping, of
 * which a process has so many: blocks that wait by the thousands do without. */
#define TAIL_PAGES_MAX 4096

static atomic_uint tail_pages;

static bool takes_tail_page(const struct sch_grid_op *grid)
{
    return shared_bytes_of(grid) > 0 && shared_align_of(grid) <= pxr_page_bytes() &&
           atomic_load_explicit(&tail_pages, memory_order_relaxed) < TAIL_PAGES_MAX;
}

static size_t tail_bytes(const struct sch_block *block)
{
    return block->has_tail_page ? pxr_page_bytes() : 0;
}

/* Guards are as near as pages allow only if the area has no spare page. */
static bool has_shared(const struct sch_block *block, const struct sch_grid_op *grid)
{
    size_t shared_bytes = shared_bytes_of(grid);
    return block->shared.base &&
           (shared_bytes == 0 ||
            (block->shared.size_bytes == sch_shared_page_bytes(grid) + tail_bytes(block) &&
             block->has_front_page == sch_has_front_page(grid) &&
             (block->has_tail_page || !takes_tail_page(grid)) &&
             ((uintptr_t)block->shared.base & (shared_align_of(grid) - 1)) == 0));
}

/* Room for the threads' entries, at least. */
static uint64_t frame_bytes_of(const struct sch_grid_op *grid, const struct sch_fit *fit)
{
    uint64_t warps = (grid->thread_count + RT_WARP_SIZE - 1) / RT_WARP_SIZE;
    uint64_t entries_bytes = warps * RT_WARP_SIZE * sizeof(uint16_t);
    uint64_t bytes = fit->code.frame_bytes;
    bytes = bytes > entries_bytes ? bytes : entries_bytes;
    return bytes > PTRDIFF_MAX - pxr_page_bytes() ? UINT64_MAX
                                                  : round_up((size_t)bytes, SCH_CACHE_LINE);
}

static bool has_frame(const struct sch_block *block, uint64_t frame_bytes)
{
    return block->frame.base && block->frame.size_bytes == pxr_round_to_pages((size_t)frame_bytes);
}

static bool has_shape(const struct sch_block *block, const struct sch_grid_op *grid,
                      const struct sch_fit *fit)
{
    return has_threads(block, grid->grid.launch.block) && has_shared(block, grid) &&
           (!fit->code.fused || has_frame(block, frame_bytes_of(grid, fit)));
}

static bool fit_threads(struct sch_block *block, const struct sch_grid_op *grid)
{
    const uint32_t *dims = grid->grid.launch.block;
    if (has_threads(block, dims))
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

bool sch_shared_open_front(const struct sch_grid_op *grid, uint8_t *pages)
{
    pages[0] = 0;
    return !sch_has_front_page(grid) || mprotect(pages, pxr_page_bytes(), PROT_READ) == 0;
}

static void unmap_shared(struct sch_block *block)
{
    pxr_area_unmap(&block->shared);
    atomic_fetch_sub_explicit(&tail_pages, block->has_tail_page, memory_order_relaxed);
    block->has_tail_page = false;
}

static bool open_tail(const struct sch_block *block)
{
    size_t bytes = tail_bytes(block);
    uint8_t *end = block->shared.base + block->shared.size_bytes;
    return bytes == 0 || mprotect(end - bytes, bytes, PROT_READ) == 0;
}

static bool map_shared(struct sch_block *block, const struct sch_grid_op *grid)
{
    size_t align = shared_align_of(grid);
    unmap_shared(block);
    block->has_front_page = sch_has_front_page(grid);
    block->has_tail_page = takes_tail_page(grid);
    atomic_fetch_add_explicit(&tail_pages, block->has_tail_page, memory_order_relaxed);
    size_t bytes = shared_bytes_of(grid) > 0 ? sch_shared_page_bytes(grid) + tail_bytes(block)
                                             : pxr_page_bytes();
    return pxr_area_map_aligned(&block->shared, bytes,
                                align > pxr_page_bytes() ? align : pxr_page_bytes()) &&
           sch_shared_open_front(grid, block->shared.base) && open_tail(block);
}

static bool fit_shared(struct sch_block *block, const struct sch_grid_op *grid)
{
    if (!has_shared(block, grid) && !map_shared(block, grid))
        return false;
    uint8_t *end = block->shared.base + block->shared.size_bytes;
    /* Without any, both ends are in the guard. */
    block->rt.shared = shared_bytes_of(grid) == 0 ? end + PXR_AREA_GUARD_BYTES / 2
                                                  : sch_shared_begin(grid, block->shared.base);
    return true;
}

static size_t written_bytes(const struct rt_launch *launch)
{
    return (launch->shared_bytes + RT_SHADOW_GRAIN - 1) / RT_SHADOW_GRAIN;
}

/* What has been written of shared memory, if the launch asks. */
static bool fit_written(struct sch_block *block, const struct sch_grid_op *grid)
{
    if (!sch_grid_asks_shared(grid))
        return true;
    if (!block->rt.shared_written)
        block->rt.shared_written = calloc(1, RT_SHARED_WRAP / RT_SHADOW_GRAIN + RT_SHADOW_SLACK);
    return block->rt.shared_written && grid->grid.launch.shared_bytes <= RT_SHARED_WRAP;
}

static void free_frame(struct sch_block *block)
{
    pxr_area_unmap(&block->frame);
    block->rt.frame = NULL;
    block->frame_bytes = 0;
}

/* Memory for values that live across sync points, likewise at the end of its area. */
static bool fit_frame(struct sch_block *block, uint64_t frame_bytes)
{
    if (frame_bytes == UINT64_MAX)
        return false;
    if (!has_frame(block, frame_bytes)) {
        free_frame(block);
        if (!pxr_area_map(&block->frame, (size_t)frame_bytes))
            return false;
    }
    block->frame_bytes = (size_t)frame_bytes;
    block->rt.frame = block->frame.base + block->frame.size_bytes - block->frame_bytes;
    return true;
}

void sch_warp_reset(struct sch_warp *warp, uint32_t live)
{
    warp->live = live;
    warp->runnable = live;
    warp->waiting = 0;
    warp->gathering = 0;
    warp->polled = 0;
    warp->certain = 0;
    warp->patience = 0;
    warp->passed = 0;
    warp->passed_over = 0;
    warp->meeting_count = 0;
    warp->brought = 0;
}

void sch_block_reset_barriers(struct sch_block *block)
{
    for (uint32_t id = 0; block->barriers_used != 0; id++, block->barriers_used >>= 1) {
        if (block->barriers_used & 1)
            memset(&block->barriers[id], 0, sizeof block->barriers[id]);
    }
}

void sch_block_reset_pollers(struct sch_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++)
        block->warps[w].pollers = 0;
}

/* Resets the block to the state before the first thread has started. */
static void reset_precise(struct sch_block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++) {
        uint32_t lanes = block->thread_count - w * RT_WARP_SIZE;
        sch_warp_reset(&block->warps[w], lanes >= RT_WARP_SIZE ? UINT32_MAX : SCH_LANE(lanes) - 1);
    }
    sch_block_reset_barriers(block);
    sch_block_reset_pollers(block);
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

static bool fit_block(struct sch_block *block, const struct sch_grid_op *grid,
                      const struct sch_fit *fit)
{
    return fit_threads(block, grid) && fit_shared(block, grid) && fit_written(block, grid) &&
           (!fit->code.fused || fit_frame(block, frame_bytes_of(grid, fit)));
}

/* Takes a block from the worker's free list, which begins with those used last: one of the grid's
 * shape, or else the one unused for longest. NULL if it is not worth losing that one's shape. */
static struct sch_block *find_free(struct sch_worker *worker, const struct sch_grid_op *grid,
                                   const struct sch_fit *fit)
{
    struct sch_block **link = &worker->free_blocks, **last = NULL;
    unsigned seen = 0;
    while (*link && seen < FREE_BLOCKS_KEPT && !has_shape(*link, grid, fit)) {
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

static struct sch_block *take_free(struct sch_worker *worker, const struct sch_grid_op *grid,
                                   const struct sch_fit *fit)
{
    struct sch_block *block = find_free(worker, grid, fit);
    if (block)
        return block;
    block = aligned_alloc(_Alignof(struct sch_block), sizeof *block);
    uint8_t *words = aligned_alloc(SCH_CACHE_LINE, (size_t)SCH_WARPS_MAX * RT_WARP_BYTES);
    if (!block || !words) {
        free(block);
        free(words);
        return NULL;
    }
    memset(block, 0, sizeof *block);
    block->rt.words = words;
    for (uint32_t w = 0; w < SCH_WARPS_MAX; w++)
        block->warps[w].words = words + (size_t)w * RT_WARP_BYTES;
    return block;
}

/* x changes fastest. */
static void split_index(uint64_t index, const uint32_t dims[3], uint32_t place[3])
{
    memset(place, 0, 3 * sizeof *place);
    if (index > 0) {
        place[0] = (uint32_t)(index % dims[0]);
        place[1] = (uint32_t)(index / dims[0] % dims[1]);
        place[2] = (uint32_t)(index / dims[0] / dims[1]);
    }
}

/* Blocks of a cluster have consecutive numbers. */
static void place_in_cluster(struct sch_block *block, uint64_t index)
{
    const struct rt_launch *launch = block->rt.launch;
    uint32_t clusters[3], inside[3];
    for (int i = 0; i < 3; i++)
        clusters[i] = launch->grid[i] / launch->cluster[i];
    split_index(index / block->grid->cluster_blocks, clusters, block->rt.ctaid);
    split_index(index % block->grid->cluster_blocks, launch->cluster, inside);
    for (int i = 0; i < 3; i++)
        block->rt.ctaid[i] = block->rt.ctaid[i] * launch->cluster[i] + inside[i];
}

void sch_block_place(struct sch_block *block, uint64_t index, uint32_t count)
{
    if (block->grid->cluster_blocks > 1)
        place_in_cluster(block, index);
    else
        split_index(index, block->rt.launch->grid, block->rt.ctaid);
    if (sch_grid_asks_shared(block->grid))
        memset(block->rt.shared_written, 0, written_bytes(block->rt.launch));
    block->rt.together = 1;
    block->rt.first_thread = 0;
    block->rt.blocks_left = 0;
    block->chunk = count;
    block->polled_at = 0;
    block->has_mixed = false;
}

uint64_t sch_block_index(const struct sch_block *block)
{
    const uint32_t *grid = block->rt.launch->grid, *at = block->rt.ctaid;
    return at[0] + (uint64_t)grid[0] * (at[1] + (uint64_t)grid[1] * at[2]);
}

void sch_block_go_on(struct sch_block *block, const struct sch_block *from)
{
    size_t shared_bytes = shared_bytes_of(block->grid);
    if (shared_bytes > 0)
        memcpy(block->rt.shared, from->rt.shared, shared_bytes);
    block->rt.first_thread = from->rt.first_thread;
}

struct sch_block *sch_block_acquire(struct sch_worker *worker, struct sch_grid_op *grid,
                                    const struct sch_fit *fit, uint64_t index, uint32_t count)
{
    struct sch_block *block = take_free(worker, grid, fit);
    if (!block)
        return NULL;
    block->worker = worker;
    if (!fit_block(block, grid, fit)) {
        block->next = worker->free_blocks;
        worker->free_blocks = block;
        return NULL;
    }
    block->grid = grid;
    block->fit = fit;
    block->rt.launch = &grid->grid.launch;
    block->rt.sm_id = worker->group_index;
    block->rt.hand_over = &hand_over_nothing;
    block->go_on = NULL;
    sch_block_place(block, index, count);
    sch_cluster_make_alone(block);
    if (!fit->code.fused)
        reset_precise(block);
    return block;
}

void sch_block_trim(struct sch_worker *worker)
{
    struct sch_block **link = &worker->free_blocks;
    for (unsigned i = 0; i < FREE_BLOCKS_KEPT && *link; i++, link = &(*link)->next) {
        if ((*link)->frame.size_bytes > FRAME_KEPT_BYTES)
            free_frame(*link);
    }
    struct sch_block *block = *link;
    *link = NULL;
    while (block) {
        struct sch_block *next = block->next;
        unmap_shared(block);
        free_frame(block);
        free(block->threads);
        free(block->rt.words);
        free(block->rt.shared_written);
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
    if (!block->fit->code.fused) {
        abandon_threads(block);
    } else if (block->carrier.fiber) {
        sch_fiber_put(&worker->fibers, block->carrier.fiber, false);
        block->carrier.fiber = NULL;
    }
    sch_cluster_part(block);
    block->grid = NULL;
    block->next = worker->free_blocks;
    worker->free_blocks = block;
}

SCH_IN_HANDLER static bool is_inside(uint64_t address, uint64_t bytes, const void *begin,
                                     uint64_t size_bytes)
{
    uint64_t place = address - (uint64_t)(uintptr_t)begin;
    return place < size_bytes && bytes <= size_bytes - place;
}

SCH_IN_HANDLER bool sch_is_local(const struct sch_thread *running, uint64_t address)
{
    const struct sch_fiber *fiber = running->fiber;
    const struct sch_block *block = sch_block_of(running);
    return is_inside(address, 1, fiber->low, (uint64_t)(fiber->top - fiber->low)) ||
           is_inside(address, 1, block->rt.frame, block->frame_bytes);
}

bool sch_is_private(const struct rt_thread *thread, uint64_t address, uint64_t bytes)
{
    const struct sch_block *block = (const struct sch_block *)thread->block;
    const uint8_t *low = thread->stack_limit - thread->block->launch->local_bytes;
    return is_inside(address, bytes, low, (uint64_t)(thread->stack_base - low)) ||
           is_inside(address, bytes, block->rt.frame, block->frame_bytes);
}

const struct rt_block *sch_find_block(const struct rt_thread *thread, uint64_t address,
                                      uint64_t bytes)
{
    const struct sch_block *block = (const struct sch_block *)thread->block;
    uint32_t size_bytes = thread->block->launch->shared_bytes;
    for (uint32_t rank = 0; rank < block->cluster->block_count; rank++) {
        const struct sch_block *other = block->cluster->blocks[rank];
        if (other && is_inside(address, bytes, other->rt.shared, size_bytes))
            return &other->rt;
    }
    return NULL;
}

bool sch_find_shared(const struct rt_thread *thread, uint64_t address, uint64_t bytes,
                     struct rt_checked *memory)
{
    const struct rt_block *block = sch_find_block(thread, address, bytes);
    if (block)
        *memory = (struct rt_checked){.begin = (uint64_t)(uintptr_t)block->shared,
                                      .size_bytes = block->launch->shared_bytes,
                                      .shadow = block->shared_written};
    return block != NULL;
}
