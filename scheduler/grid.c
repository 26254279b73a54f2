/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of a grid: handing them out, and noticing when all are finished.
 *
 * Chunks are handed out in index order. A block may wait for blocks before it (decoupled look-back
 * scans do): the first unfinished block of the grid has always been claimed, and the worker that
 * claimed it starts blocks in order and sets aside those that wait, so it runs.
 */
#include "scheduler/worker_pool.h"

#define CHUNK_MAX         64
#define CHUNKS_PER_WORKER 4

/* Chunks of fused kernels, whose blocks may take 10 ns or 10 ms: before one has been timed, and
 * after. Claiming one costs up to half a microsecond; workers should not finish further apart than
 * a launch takes. */
#define UNTIMED_CHUNK_MAX 16
#define TIMED_CHUNK_MAX   4096
#define CHUNK_MIN_NS      2000
#define CHUNK_MAX_NS      100000

/* One step raises the known time of a block at most by this factor. */
#define PACE_GROWTH    2
#define PACE_GROWTH_NS 200

#define PARKED_MIN     2
#define PARKED_MAX     64

/* Limits the stacks of waiting blocks per worker: most threads touch two or three pages, those with
 * large frames all of them. */
#define PARKED_BUDGET_BYTES ((uint64_t)256 * 1024 * 1024)
#define STACK_COST_MIN      ((uint64_t)16 * 1024)

static unsigned parked_max(const struct sch_grid_op *grid, const struct sch_code *code)
{
    if (grid->grid.is_cooperative)
        return UINT32_MAX;
    uint64_t stack_bytes = code->stack_bytes;
    if (stack_bytes < STACK_COST_MIN)
        stack_bytes = STACK_COST_MIN;
    uint64_t block_bytes = grid->grid.launch.shared_bytes;
    if (!code->fused)
        block_bytes += stack_bytes * grid->thread_count;
    else if (code->frame_bytes < PARKED_BUDGET_BYTES)
        block_bytes += stack_bytes + code->frame_bytes;
    else
        return PARKED_MIN;
    if (block_bytes <= PARKED_BUDGET_BYTES / PARKED_MAX)
        return PARKED_MAX;
    uint64_t blocks = PARKED_BUDGET_BYTES / block_bytes;
    return blocks < PARKED_MIN ? PARKED_MIN : (unsigned)blocks;
}

/* Product of three dimensions; 0 when it is 0 or above max. */
static uint64_t volume(const uint32_t dims[3], uint64_t max)
{
    uint64_t product = 1;
    for (int i = 0; i < 3; i++) {
        if (dims[i] == 0 || __builtin_mul_overflow(product, dims[i], &product) || product > max)
            return 0;
    }
    return product;
}

/* False: the grid cannot be run with this code. */
static bool fit_code(const struct sch_grid_op *grid, const struct sch_code *code,
                     struct sch_fit *fit)
{
    uint64_t workers = sch_group_workers(grid->grid.group);
    *fit = (struct sch_fit){.code = *code, .stack_class = sch_stack_class(code->stack_bytes)};
    if (grid->block_count == 0 || grid->thread_count == 0 || (!code->entry && !code->fused) ||
        fit->stack_class >= SCH_STACK_CLASSES || workers == 0)
        return false;
    fit->parked_max = parked_max(grid, code);
    uint64_t share = (grid->block_count + workers - 1) / workers;
    fit->parked_share = share < fit->parked_max ? (unsigned)share : fit->parked_max;
    fit->has_chunks = code->fused && !code->may_wait && !grid->grid.is_cooperative;
    return true;
}

static uint32_t expected_block_ns(const struct sch_fit *fit)
{
    return fit->has_chunks ? sch_pace(&fit->code) : 0;
}

void sch_grid_init(struct sch_grid_op *grid)
{
    const struct rt_launch *launch = &grid->grid.launch;
    grid->block_count = volume(launch->grid, UINT64_MAX / 2);
    grid->thread_count = (uint32_t)volume(launch->block, SCH_BLOCK_THREADS_MAX);
    bool is_valid = fit_code(grid, &grid->grid.code, &grid->first);
    if (!is_valid) {
        /* Runs no block, and reports the fault when it is the grid's turn. */
        grid->block_count = 0;
        grid->fault = (struct sch_fault){.status = PXR_OUT_OF_RESOURCES, .launch = launch};
    }
    atomic_init(&grid->fit, &grid->first);
    atomic_init(&grid->is_better_taken, false);
    atomic_init(&grid->watched_ns, 0);
    atomic_init(&grid->end_ns, 0);
    atomic_init(&grid->is_cancelled, false);
    atomic_init(&grid->is_fault_taken, !is_valid);
    unsigned chunk_max = grid->first.has_chunks ? UNTIMED_CHUNK_MAX : CHUNK_MAX;
    atomic_init(&grid->chunk_max, grid->grid.is_cooperative ? 1 : chunk_max);
    atomic_init(&grid->block_ns, expected_block_ns(&grid->first));
    atomic_init(&grid->cursor, 0);
    atomic_init(&grid->blocks_left, grid->block_count);
}

/* Large chunks first, small ones at the end, so that all workers finish together. */
static uint64_t chunk_size(const struct sch_grid_op *grid, unsigned workers, uint64_t max_ns,
                           uint64_t left)
{
    uint64_t size = left / ((uint64_t)workers * CHUNKS_PER_WORKER);
    uint64_t min = 1;
    uint64_t max = atomic_load_explicit(&grid->chunk_max, memory_order_relaxed);
    uint64_t block_ns = atomic_load_explicit(&grid->block_ns, memory_order_relaxed);
    if (block_ns > 0 && max > 1) {
        min += CHUNK_MIN_NS / block_ns;
        max = 1 + max_ns / block_ns;
        max = max < TIMED_CHUNK_MAX ? max : TIMED_CHUNK_MAX;
    }
    size = size < min ? min : size > max ? max : size;
    return size < left ? size : left;
}

uint64_t sch_grid_claim_short(struct sch_grid_op *grid, unsigned workers, uint64_t max_ns,
                              uint64_t *first)
{
    uint64_t at = atomic_load_explicit(&grid->cursor, memory_order_relaxed);
    uint64_t count;
    do {
        if (at == grid->block_count)
            return 0;
        count = chunk_size(grid, workers, max_ns, grid->block_count - at);
    } while (!atomic_compare_exchange_weak_explicit(&grid->cursor, &at, at + count,
                                                    memory_order_relaxed, memory_order_relaxed));
    *first = at;
    return count;
}

uint64_t sch_grid_claim(struct sch_grid_op *grid, unsigned workers, uint64_t *first)
{
    return sch_grid_claim_short(grid, workers, CHUNK_MAX_NS, first);
}

/* Blocks of a grid may differ: all count. A machine that takes the CPU away for a while must not
 * make a small grid look large, so the known time grows in bounded steps. Threads that do this at
 * the same time lose little. */
static void note_pace(const struct sch_grid_op *grid, const struct sch_code *code, uint32_t count,
                      int64_t block_ns)
{
    int64_t before = sch_pace(code);
    if (before > 0) {
        int64_t max = PACE_GROWTH * before + PACE_GROWTH_NS;
        int64_t more = (block_ns < max ? block_ns : max) - before;
        int64_t step = count < grid->block_count ? more * count / (int64_t)grid->block_count : more;
        block_ns = before + (step != 0 ? step : (more > 0) - (more < 0));
    }
    atomic_store_explicit(code->pace, (uint32_t)block_ns, memory_order_relaxed);
}

void sch_grid_learn(struct sch_grid_op *grid, const struct sch_fit *fit, uint32_t count,
                    uint64_t chunk_ns)
{
    uint64_t block_ns = chunk_ns / count;
    block_ns = block_ns < 1 ? 1 : block_ns > UINT32_MAX ? UINT32_MAX : block_ns;
    /* What is left will run with other code if this has been replaced. */
    if (fit == sch_grid_fit(grid))
        atomic_store_explicit(&grid->block_ns, (uint32_t)block_ns, memory_order_relaxed);
    if (fit->code.pace)
        note_pace(grid, &fit->code, count, (int64_t)block_ns);
}

static void replace_code(struct sch_grid_op *grid, const struct sch_code *code)
{
    /* With code that asks for more than there is the grid would fail. */
    struct sch_fit fit;
    if (!fit_code(grid, code, &fit) ||
        atomic_exchange_explicit(&grid->is_better_taken, true, memory_order_relaxed))
        return;
    grid->better = fit;
    atomic_store_explicit(&grid->block_ns, expected_block_ns(&fit), memory_order_relaxed);
    atomic_store_explicit(&grid->fit, &grid->better, memory_order_release);
    if (sch_pool_left_cpus() > 0)
        sch_pool_call(sch_group_workers(grid->grid.group));
}

void sch_grid_tell(struct sch_grid_op *grid, const struct sch_fit *fit, uint64_t count,
                   uint64_t ran_ns)
{
    if (!grid->grid.watch || fit != &grid->first)
        return;
    uint64_t others_ns = atomic_fetch_add_explicit(&grid->watched_ns, ran_ns, memory_order_relaxed);
    uint64_t left = atomic_load_explicit(&grid->blocks_left, memory_order_relaxed) - count;
    struct sch_progress progress = {.ran_ns = ran_ns,
                                    .grid_ns = others_ns + ran_ns,
                                    .blocks_done = grid->block_count - left,
                                    .blocks_left = left};
    struct sch_code better;
    if (grid->grid.watch(grid->op.arg, &progress, &better))
        replace_code(grid, &better);
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
