/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of a grid: who gets which, and when all are finished.
 *
 * Chunks are handed out in index order. A block may wait for blocks before it (decoupled
 * look-back scans do): the first unfinished block of the grid has always been claimed, and the
 * worker that claimed it starts blocks in order and sets aside those that wait, so it runs.
 */
#include "scheduler/internal.h"

#define CHUNK_MAX         64
#define CHUNKS_PER_WORKER 4
#define PARKED_MIN        2
#define PARKED_MAX        64

/* What the stacks of waiting blocks may cost per worker: most threads touch two or three pages,
 * those with large frames all of them. */
#define PARKED_BUDGET_BYTES ((uint64_t)256 * 1024 * 1024)
#define THREAD_COST_MIN     ((uint64_t)16 * 1024)

static unsigned parked_max(const struct sch_grid_op *grid)
{
    if (grid->grid.is_cooperative)
        return UINT32_MAX;
    uint64_t thread_bytes = grid->grid.stack_bytes;
    if (thread_bytes < THREAD_COST_MIN)
        thread_bytes = THREAD_COST_MIN;
    uint64_t block_bytes = thread_bytes * grid->thread_count + grid->grid.launch.shared_bytes;
    uint64_t blocks = PARKED_BUDGET_BYTES / block_bytes;
    if (blocks < PARKED_MIN)
        return PARKED_MIN;
    return blocks > PARKED_MAX ? PARKED_MAX : (unsigned)blocks;
}

/* Product of three dimensions; 0 when it is 0 or above max. */
static uint64_t volume(const uint32_t dims[3], uint64_t max)
{
    uint64_t product = 1;
    for (int i = 0; i < 3; i++) {
        if (dims[i] == 0 || product > max / dims[i])
            return 0;
        product *= dims[i];
    }
    return product;
}

void sch_grid_init(struct sch_grid_op *grid)
{
    const struct rt_launch *launch = &grid->grid.launch;
    grid->block_count = volume(launch->grid, UINT64_MAX / 2);
    grid->thread_count = (uint32_t)volume(launch->block, SCH_BLOCK_THREADS_MAX);
    grid->stack_class = sch_stack_class(grid->grid.stack_bytes);
    bool is_valid = grid->block_count > 0 && grid->thread_count > 0 && grid->grid.entry &&
                    grid->stack_class < SCH_STACK_CLASSES;
    if (!is_valid) {
        /* Runs no block and reports the fault when its turn has come. */
        grid->block_count = 0;
        grid->fault = (struct sch_fault){.status = PXR_OUT_OF_RESOURCES, .launch = launch};
    } else {
        grid->parked_max = parked_max(grid);
        uint64_t share = (grid->block_count + sch_worker_count() - 1) / sch_worker_count();
        grid->parked_share = share < grid->parked_max ? (unsigned)share : grid->parked_max;
    }
    atomic_init(&grid->is_cancelled, false);
    atomic_init(&grid->is_fault_taken, !is_valid);
    atomic_init(&grid->chunk_max, grid->grid.is_cooperative ? 1 : CHUNK_MAX);
    atomic_init(&grid->cursor, 0);
    atomic_init(&grid->blocks_left, grid->block_count);
}

uint64_t sch_grid_claim(struct sch_grid_op *grid, unsigned workers, uint64_t *first)
{
    uint64_t max = atomic_load_explicit(&grid->chunk_max, memory_order_relaxed);
    uint64_t at = atomic_load_explicit(&grid->cursor, memory_order_relaxed);
    uint64_t count;
    do {
        uint64_t left = grid->block_count - at;
        if (left == 0)
            return 0;
        /* Large chunks first, single blocks at the end, so that all workers finish together. */
        count = left / ((uint64_t)workers * CHUNKS_PER_WORKER);
        count = count < 1 ? 1 : count > max ? max : count;
    } while (!atomic_compare_exchange_weak_explicit(&grid->cursor, &at, at + count,
                                                    memory_order_relaxed, memory_order_relaxed));
    *first = at;
    return count;
}

void sch_grid_retire(struct sch_grid_op *grid, uint64_t count)
{
    /* Acquire and release: the last one sees everything that the blocks of others wrote. */
    if (atomic_fetch_sub_explicit(&grid->blocks_left, count, memory_order_acq_rel) != count)
        return;
    bool has_fault = atomic_load_explicit(&grid->is_fault_taken, memory_order_relaxed);
    sch_op_finish(&grid->op, has_fault ? &grid->fault : NULL);
}

void sch_grid_fail(struct sch_grid_op *grid, const struct sch_fault *fault)
{
    if (atomic_exchange_explicit(&grid->is_fault_taken, true, memory_order_relaxed))
        return;
    grid->fault = *fault;
    atomic_store_explicit(&grid->is_cancelled, true, memory_order_relaxed);
    uint64_t at = atomic_exchange_explicit(&grid->cursor, grid->block_count, memory_order_relaxed);
    /* The caller's own block has not been retired yet, so this does not finish the grid. */
    if (at < grid->block_count)
        sch_grid_retire(grid, grid->block_count - at);
}
