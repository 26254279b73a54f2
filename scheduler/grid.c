/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of a grid: handing them out, and noticing when all are finished.
 *
 * Where blocks may wait for each other, chunks are handed out in index order, at the grid's cursor.
 * A block may wait for blocks before it (decoupled look-back scans do): the first unfinished block
 * of the grid has always been claimed, and the worker that claimed it starts blocks in order and
 * sets aside those that wait, so it runs.
 *
 * Of all others a small part is handed out in this order, too, as on a GPU, which begins blocks in
 * the order of their numbers: many programs add up in place, block by block, and get away with it.
 * The rest is dealt out as ranges (ranges.h) before workers see the grid. The cursor then stays
 * where the ranges began, and says in the end that nothing is left.
 *
 * Of a split grid the rest waits until the first slice has ended: its blocks set results to 0 when
 * they begin, and all blocks add to them.
 */
#include "scheduler/cluster.h"
#include "scheduler/worker_pool.h"

/* Sums in place let block n write what block n / 256 or so has read, or n / 64: those that are read
 * from begin before any of the rest. */
#define HEAD_SHARE      64
#define CHUNKS_OF_SHARE 4 /* a worker claims such a part of its share of what is left */

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
        fit->stack_class >= SCH_STACK_CLASSES || workers == 0 || !sch_cluster_fits(grid))
        return false;
    fit->parked_max = parked_max(grid, code);
    uint64_t share = (grid->block_count + workers - 1) / workers;
    fit->parked_share = share < fit->parked_max ? (unsigned)share : fit->parked_max;
    fit->is_free = !code->may_wait && !grid->grid.is_cooperative && grid->cluster_blocks == 1 &&
                   !sch_grid_asks_shared(grid);
    fit->has_chunks = fit->is_free && code->fused;
    return true;
}

static uint32_t expected_block_ns(const struct sch_fit *fit)
{
    return fit->has_chunks ? sch_pace(&fit->code) : 0;
}

/* No blocks in some direction: one, as in a launch that knows nothing of clusters. */
static void complete_cluster(struct sch_grid_op *grid)
{
    uint32_t *cluster = grid->grid.launch.cluster;
    for (int i = 0; i < 3; i++)
        cluster[i] = cluster[i] != 0 ? cluster[i] : 1;
    uint64_t blocks = volume(cluster, RT_CLUSTER_BLOCKS_MAX);
    grid->cluster_blocks = blocks != 0 ? (uint32_t)blocks : UINT32_MAX;
    grid->grid.launch.cluster_blocks = grid->cluster_blocks;
}

/* How many blocks are alike but for their index in the slowest direction; 0: there is one only. */
static uint64_t slice_blocks(const uint32_t grid[3])
{
    if (grid[2] > 1)
        return (uint64_t)grid[0] * grid[1];
    return grid[1] > 1 ? grid[0] : 0;
}

void sch_grid_init(struct sch_grid_op *grid)
{
    const struct rt_launch *launch = &grid->grid.launch;
    complete_cluster(grid);
    grid->block_count = volume(launch->grid, UINT64_MAX / 2);
    grid->thread_count = (uint32_t)volume(launch->block, SCH_BLOCK_THREADS_MAX);
    struct sch_fit *first = &grid->fits[0];
    bool is_valid = fit_code(grid, &grid->grid.code, first);
    if (!is_valid) {
        /* Runs no block, and reports the fault when it is the grid's turn. */
        grid->block_count = 0;
        grid->fault = (struct sch_fault){.status = PXR_OUT_OF_RESOURCES, .launch = launch};
    }
    grid->fit_count = 1;
    grid->is_changing = (atomic_flag)ATOMIC_FLAG_INIT;
    atomic_init(&grid->fit, first);
    atomic_init(&grid->rival, NULL);
    grid->hand_over = RT_HAND_OVER_NOTHING;
    atomic_init(&grid->watched_ns, 0);
    atomic_init(&grid->end_ns, 0);
    atomic_init(&grid->is_cancelled, false);
    atomic_init(&grid->is_fault_taken, !is_valid);
    atomic_init(&grid->chunk_max, grid->grid.is_cooperative ? 1 : UNTIMED_CHUNK_MAX);
    atomic_init(&grid->block_ns, expected_block_ns(first));
    atomic_init(&grid->cursor, 0);
    atomic_init(&grid->blocks_left, grid->block_count);
    atomic_init(&grid->holds, 1);
    grid->ranges = NULL;
    grid->ordered_end = grid->block_count;
    grid->slice_end = grid->grid.is_split && !grid->grid.is_cooperative && grid->cluster_blocks == 1
                          ? slice_blocks(launch->grid)
                          : 0;
}

/* How many of the blocks come first, in order. */
static uint64_t head_blocks(uint64_t blocks)
{
    return 1 + blocks / HEAD_SHARE;
}

void sch_grid_deal(struct sch_grid_op *grid)
{
    unsigned workers = sch_group_workers(grid->grid.group);
    uint64_t at = atomic_load_explicit(&grid->cursor, memory_order_relaxed);
    uint64_t first = at + head_blocks(grid->block_count - at);
    first = first > grid->slice_end ? first : grid->slice_end;
    if (!grid->fits[0].has_chunks || workers == 1 || grid->block_count <= first + workers ||
        grid->block_count > SCH_RANGE_BLOCKS_MAX)
        return;
    /* Without memory for them the cursor does. */
    grid->ranges = sch_ranges_deal(first, grid->block_count, workers,
                                   atomic_load_explicit(&grid->block_ns, memory_order_relaxed));
    if (grid->ranges)
        grid->ordered_end = first;
}

/* ---- claiming ---- */

/* Large chunks first, small ones at the end, so that all workers finish together. share: of what is
 * left, the claimer's. Where blocks may wait for those before them, the first of the next chunk
 * waits until the last of this one has got far enough: none is larger than claiming it costs. */
static uint64_t chunk_size(const struct sch_grid_op *grid, uint64_t share, uint64_t block_ns,
                           uint64_t max_ns)
{
    uint64_t size = sch_grid_fit(grid)->has_chunks ? share / CHUNKS_OF_SHARE : 1;
    uint64_t min = 1;
    uint64_t max = atomic_load_explicit(&grid->chunk_max, memory_order_relaxed);
    if (block_ns > 0 && max > 1) {
        min += CHUNK_MIN_NS / block_ns;
        max = 1 + max_ns / block_ns;
        max = max < TIMED_CHUNK_MAX ? max : TIMED_CHUNK_MAX;
    }
    return size < min ? min : size > max ? max : size;
}

/* Blocks of a cluster run together. */
static uint64_t whole_clusters(const struct sch_grid_op *grid, uint64_t blocks)
{
    uint64_t rest = blocks % grid->cluster_blocks;
    return rest == 0 ? blocks : blocks + grid->cluster_blocks - rest;
}

/* Under chaos blocks begin in any order: for that a worker has to have some (take_index). */
static uint64_t claim_size(const struct sch_grid_op *grid, uint64_t left, uint64_t max_ns)
{
    uint64_t share = left / sch_group_workers(grid->grid.group);
    uint64_t block_ns = atomic_load_explicit(&grid->block_ns, memory_order_relaxed);
    if (sch_chaos_seed() == 0 || grid->fits[0].has_chunks)
        return chunk_size(grid, share, block_ns, max_ns);
    uint64_t max = grid->fits[0].parked_max;
    return share < 1 ? 1 : share > max ? max : share;
}

/* Whether blocks of the first slice, which the rest waits for, have not ended. Acquire: what they
 * did comes before the rest. */
static bool is_slice_running(const struct sch_grid_op *grid)
{
    return grid->slice_end > 0 && atomic_load_explicit(&grid->blocks_left, memory_order_acquire) >
                                      grid->block_count - grid->slice_end;
}

/* Where the blocks end that are claimed at the cursor now. */
static uint64_t open_end(const struct sch_grid_op *grid)
{
    return is_slice_running(grid) ? grid->slice_end : grid->ordered_end;
}

static uint64_t claim_in_order(struct sch_grid_op *grid, uint64_t max_ns, uint64_t *first)
{
    uint64_t at = atomic_load_explicit(&grid->cursor, memory_order_relaxed);
    uint64_t count;
    uint64_t end = open_end(grid);
    do {
        uint64_t left = at < end ? end - at : 0;
        if (left == 0)
            return 0;
        count = whole_clusters(grid, claim_size(grid, left, max_ns));
        count = count < left ? count : left;
    } while (!atomic_compare_exchange_weak_explicit(&grid->cursor, &at, at + count,
                                                    memory_order_relaxed, memory_order_relaxed));
    *first = at;
    return count;
}

static uint64_t claim_of_range(struct sch_grid_op *grid, uint32_t index, uint64_t max_ns,
                               uint64_t *first)
{
    struct sch_ranges *ranges = grid->ranges;
    uint32_t left = sch_ranges_left(ranges, index);
    if (left == 0)
        return 0;
    uint64_t block_ns = atomic_load_explicit(&ranges->range[index].block_ns, memory_order_relaxed);
    uint64_t size = chunk_size(grid, left, block_ns, max_ns);
    return sch_ranges_take(ranges, index, size < left ? (uint32_t)size : left, first);
}

/* Steals from a range whose worker is no farther away than that. */
static bool steal_within(struct sch_ranges *ranges, struct sch_worker *worker,
                         enum sch_distance distance)
{
    uint32_t skipped = sch_chaos_below(worker, ranges->count);
    for (uint32_t i = 1; i <= ranges->count; i++) {
        uint32_t victim = (worker->group_index + skipped + i) % ranges->count;
        int cpu = atomic_load_explicit(&ranges->range[victim].cpu, memory_order_relaxed);
        bool is_near = distance == SCH_FAR || sch_cpu_distance(worker->cpu, cpu) <= distance;
        if (victim != worker->group_index && is_near &&
            sch_ranges_steal(ranges, worker->group_index, victim, sch_chaos_below(worker, 2)))
            return true;
    }
    return false;
}

/* Of those that are nearest. */
static bool steal_near(struct sch_ranges *ranges, struct sch_worker *worker)
{
    unsigned distance = ranges->count > 2 ? SCH_SAME_CACHE : SCH_FAR;
    while (distance < SCH_FAR && !steal_within(ranges, worker, distance))
        distance++;
    return distance < SCH_FAR || steal_within(ranges, worker, SCH_FAR);
}

/* Returns how many blocks are left. */
static uint64_t retire(struct sch_grid_op *grid, uint64_t count)
{
    /* Acquire and release: the last one sees everything that the blocks of others wrote. */
    uint64_t before = atomic_fetch_sub_explicit(&grid->blocks_left, count, memory_order_acq_rel);
    if (before == count)
        sch_op_let_go(&grid->op);
    return before - count;
}

/* Gets the worker's range blocks of another's. False: nobody has unclaimed ones any more. */
static bool steal(struct sch_grid_op *grid, struct sch_worker *worker)
{
    struct sch_ranges *ranges = grid->ranges;
    while (!steal_near(ranges, worker)) {
        if (sch_ranges_are_empty(ranges)) {
            atomic_store_explicit(&grid->cursor, grid->block_count, memory_order_relaxed);
            return false;
        }
        sch_cpu_pause(); /* a thief has some in its hands */
    }
    /* Whoever has cancelled the grid may have looked while they were on their way. */
    if (atomic_load(&grid->is_cancelled)) {
        uint32_t dropped = sch_ranges_drop(ranges, worker->group_index);
        if (dropped > 0)
            retire(grid, dropped);
    }
    return true;
}

/* Says where the worker is that has this range: the line is its own. */
static void note_cpu(struct sch_range *range, int cpu)
{
    if (atomic_load_explicit(&range->cpu, memory_order_relaxed) != cpu)
        atomic_store_explicit(&range->cpu, cpu, memory_order_relaxed);
}

uint64_t sch_grid_claim(struct sch_grid_op *grid, struct sch_worker *worker, uint64_t *first)
{
    uint64_t count = claim_in_order(grid, CHUNK_MAX_NS, first);
    if (count > 0 || !grid->ranges || is_slice_running(grid))
        return count;
    note_cpu(&grid->ranges->range[worker->group_index], worker->cpu);
    do
        count = claim_of_range(grid, worker->group_index, CHUNK_MAX_NS, first);
    while (count == 0 && steal(grid, worker));
    return count;
}

uint64_t sch_grid_claim_as_guest(struct sch_grid_op *grid, uint64_t max_ns, uint64_t *first)
{
    uint64_t count = claim_in_order(grid, max_ns, first);
    if (!grid->ranges || is_slice_running(grid))
        return count;
    for (uint32_t i = grid->ranges->count; i > 0 && count == 0; i--)
        count = claim_of_range(grid, i - 1, max_ns, first);
    return count;
}

/* ---- what blocks have taken ---- */

/* Blocks of a grid may differ: all count. A machine that takes the CPU away for a while must not
 * make a small grid look large, so the known time grows in bounded steps. Threads that do this at
 * the same time lose little. */
static void note_pace(const struct sch_grid_op *grid, const struct sch_code *code, uint64_t count,
                      int64_t block_ns)
{
    int64_t before = sch_pace(code);
    if (before > 0) {
        int64_t max = PACE_GROWTH * before + PACE_GROWTH_NS;
        int64_t more = (block_ns < max ? block_ns : max) - before;
        int64_t step =
            count < grid->block_count ? more * (int64_t)count / (int64_t)grid->block_count : more;
        block_ns = before + (step != 0 ? step : (more > 0) - (more < 0));
    }
    atomic_store_explicit(code->pace, (uint32_t)block_ns, memory_order_relaxed);
}

static uint32_t block_time(uint64_t count, uint64_t ran_ns)
{
    uint64_t block_ns = ran_ns / count;
    return block_ns < 1 ? 1 : block_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)block_ns;
}

void sch_grid_note_chunk(struct sch_grid_op *grid, const struct sch_worker *worker,
                         const struct sch_fit *fit, uint64_t count, uint64_t ran_ns)
{
    /* What is left will run with other code if this has been replaced. */
    if (fit != sch_grid_fit(grid))
        return;
    /* A few short blocks must not make the next chunk a long one, so the time falls slowly. */
    _Atomic(uint32_t) *block_ns = worker && grid->ranges
                                      ? &grid->ranges->range[worker->group_index].block_ns
                                      : &grid->block_ns;
    uint64_t last_ns = block_time(count, ran_ns);
    uint64_t before_ns = atomic_load_explicit(block_ns, memory_order_relaxed);
    uint64_t mean_ns = before_ns > 0 ? (3 * before_ns + last_ns) / 4 : 0;
    atomic_store_explicit(block_ns, (uint32_t)(last_ns > mean_ns ? last_ns : mean_ns),
                          memory_order_relaxed);
}

void sch_grid_learn(const struct sch_grid_op *grid, const struct sch_fit *fit, uint64_t count,
                    uint64_t ran_ns)
{
    if (fit->code.pace)
        note_pace(grid, &fit->code, count, block_time(count, ran_ns));
}

static void expect_block_ns(struct sch_grid_op *grid, uint32_t block_ns)
{
    atomic_store_explicit(&grid->block_ns, block_ns, memory_order_relaxed);
    for (uint32_t i = 0; grid->ranges && i < grid->ranges->count; i++)
        atomic_store_explicit(&grid->ranges->range[i].block_ns, block_ns, memory_order_relaxed);
}

/* ---- other code ---- */

static bool is_same_code(const struct sch_code *a, const struct sch_code *b)
{
    return a->entry == b->entry && a->fused == b->fused;
}

/* NULL: with this code the grid would fail, as it asks for more than there is; or there has been
 * too much. */
static const struct sch_fit *find_fit(struct sch_grid_op *grid, const struct sch_code *code)
{
    for (unsigned i = 0; i < grid->fit_count; i++)
        if (is_same_code(&grid->fits[i].code, code))
            return &grid->fits[i];
    if (grid->fit_count == SCH_FITS_MAX || !fit_code(grid, code, &grid->fits[grid->fit_count]))
        return NULL;
    return &grid->fits[grid->fit_count++];
}

/* Blocks with provisional code are not to go on for longer than need be. */
static void ask_for_blocks(struct sch_grid_op *grid, const struct sch_fit *fit)
{
    enum rt_hand_over wanted = fit->code.begins_inside ? RT_HAND_OVER_THREADS : RT_HAND_OVER_BLOCKS;
    if (sch_grid_may_hand_over(grid))
        __atomic_store_n(&grid->hand_over, (uint32_t)wanted, __ATOMIC_RELAXED);
}

static void replace_code(struct sch_grid_op *grid, const struct sch_fit *fit)
{
    atomic_store_explicit(&grid->rival, NULL, memory_order_relaxed);
    if (fit == sch_grid_fit(grid))
        return;
    expect_block_ns(grid, expected_block_ns(fit));
    atomic_store_explicit(&grid->fit, fit, memory_order_release);
    ask_for_blocks(grid, fit);
    if (sch_pool_left_cpus() > 0)
        sch_pool_call(sch_group_workers(grid->grid.group));
}

static void compare_code(struct sch_grid_op *grid, const struct sch_fit *fit)
{
    const struct sch_fit *present = sch_grid_fit(grid);
    if (fit != present && fit->has_chunks && present->has_chunks)
        atomic_store_explicit(&grid->rival, fit, memory_order_release);
}

/* Where another thread is about it this one need not be: its next chunk leads here again. */
static void follow(struct sch_grid_op *grid, enum sch_verdict verdict, const struct sch_code *code)
{
    if (atomic_flag_test_and_set_explicit(&grid->is_changing, memory_order_acquire))
        return;
    const struct sch_fit *fit = find_fit(grid, code);
    if (fit && verdict == SCH_REPLACE)
        replace_code(grid, fit);
    else if (fit)
        compare_code(grid, fit);
    atomic_flag_clear_explicit(&grid->is_changing, memory_order_release);
}

bool sch_grid_is_watched(const struct sch_grid_op *grid, const struct sch_fit *fit)
{
    return grid->grid.watch && fit->code.is_provisional;
}

/* How long provisional code has run in all. */
static uint64_t note_provisional(struct sch_grid_op *grid, uint64_t ran_ns)
{
    return ran_ns + atomic_fetch_add_explicit(&grid->watched_ns, ran_ns, memory_order_relaxed);
}

void sch_grid_tell(struct sch_grid_op *grid, const struct sch_fit *fit, uint64_t count,
                   uint64_t ran_ns, uint64_t running_ns)
{
    uint64_t left = atomic_load_explicit(&grid->blocks_left, memory_order_relaxed) - count;
    struct sch_progress progress = {
        .code = &fit->code,
        .ran_ns = ran_ns,
        .ran_blocks = count,
        .grid_ns = fit->code.is_provisional ? note_provisional(grid, ran_ns) : 0,
        .running_ns = running_ns,
        .blocks_done = grid->block_count - left,
        .blocks_left = left};
    struct sch_code other;
    enum sch_verdict verdict = grid->grid.watch(grid->op.arg, &progress, &other);
    if (verdict != SCH_GO_ON)
        follow(grid, verdict, &other);
}

void sch_grid_retire(struct sch_grid_op *grid, uint64_t count)
{
    if (count == 0)
        return;
    /* The grid may be gone as soon as its blocks are. */
    uint64_t rest = grid->block_count - grid->slice_end;
    unsigned workers = grid->slice_end > 0 ? sch_group_workers(grid->grid.group) : 0;
    uint64_t left = retire(grid, count);
    if (workers > 0 && left <= rest && left + count > rest)
        sch_pool_call(workers);
}

void sch_grid_fail(struct sch_grid_op *grid, const struct sch_fault *fault)
{
    if (atomic_exchange_explicit(&grid->is_fault_taken, true, memory_order_relaxed))
        return;
    grid->fault = *fault;
    /* Sequentially consistent, see steal. */
    atomic_store(&grid->is_cancelled, true);
    uint64_t at = atomic_exchange_explicit(&grid->cursor, grid->block_count, memory_order_relaxed);
    uint64_t unclaimed = at < grid->ordered_end ? grid->ordered_end - at : 0;
    for (uint32_t i = 0; grid->ranges && i < grid->ranges->count; i++)
        unclaimed += sch_ranges_drop(grid->ranges, i);
    /* The caller's own block has not been retired yet, so this does not finish the grid. */
    sch_grid_retire(grid, unclaimed);
}
