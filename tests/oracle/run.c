/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch: blocks and their threads, and the schedule. Passes go over the blocks that have begun;
 * in each, threads that can run do some steps one after the other. Seed 0: blocks and threads in
 * order, in long turns. Another seed: in a random order, in turns of random length, and some are
 * left out.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/machine.h"

#define TURN_STEPS           1000 /* of a thread with seed 0 */
#define MAX_RESIDENT_THREADS 16384
#define SHARED_ALIGN         128

struct grid {
    struct oracle *oracle;
    struct oracle_cluster **clusters; /* that have begun and not ended */
    uint32_t cluster_count;
    uint32_t capacity;
    uint64_t started; /* of total, in the order of `stride` */
    uint64_t total;
    uint64_t stride;
    uint64_t first;
    uint64_t passes;             /* since a cluster has begun */
    uint64_t passes_per_cluster; /* before one more begins beside those that run */
};

/* ---- random orders ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* first, first + stride, … modulo count comes to every number once; with seed 0 in order. */
static void choose_order(struct oracle *oracle, uint64_t count, uint64_t *first, uint64_t *stride)
{
    *first = 0;
    *stride = 1;
    if (oracle->launch->seed == 0)
        return;
    *first = oracle_random(oracle) % count;
    do {
        *stride = oracle_random(oracle) % count + 1;
    } while (common_divisor(*stride, count) != 1);
}

static uint64_t turn_steps(struct oracle *oracle)
{
    static const uint16_t choices[] = {0, 1, 1, 2, 3, 7, 30, TURN_STEPS};

    return oracle->launch->seed ? choices[oracle_random(oracle) >> 61] : TURN_STEPS;
}

/* ---- blocks ---- */

static void destroy_block(struct oracle_block *block)
{
    if (!block)
        return;
    for (uint32_t i = 0; block->threads && i < block->thread_count; i++) {
        free(block->threads[i].slots);
        free(block->threads[i].frames);
        free(block->threads[i].local);
    }
    free(block->threads);
    free(block->shared);
    free(block);
}

static enum pxr_status begin_threads(struct oracle_block *block)
{
    const uint32_t *dims = block->oracle->launch->block;

    for (uint32_t i = 0; i < block->thread_count; i++) {
        struct oracle_thread *thread = &block->threads[i];
        enum pxr_status status;

        thread->oracle = block->oracle;
        thread->block = block;
        thread->tid[0] = i % dims[0];
        thread->tid[1] = i / dims[0] % dims[1];
        thread->tid[2] = i / dims[0] / dims[1];
        thread->lane = i % ORACLE_WARP_SIZE;
        thread->warp = i / ORACLE_WARP_SIZE;
        status = oracle_enter_kernel(thread);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

static struct oracle_block *make_block(struct oracle *oracle)
{
    const uint32_t *dims = oracle->launch->block;
    struct oracle_block *block = calloc(1, sizeof(*block));
    size_t shared_bytes = (oracle->shared_bytes + SHARED_ALIGN) / SHARED_ALIGN * SHARED_ALIGN;

    if (!block)
        return NULL;
    block->oracle = oracle;
    block->thread_count = dims[0] * dims[1] * dims[2];
    block->warp_count = (block->thread_count + ORACLE_WARP_SIZE - 1) / ORACLE_WARP_SIZE;
    block->threads = calloc(block->thread_count, sizeof(*block->threads));
    block->shared = aligned_alloc(SHARED_ALIGN, shared_bytes);
    if (block->threads && block->shared)
        return block;
    destroy_block(block);
    return NULL;
}

/* Makes a block the one at that place of the grid, about to begin. Register files and stacks of
 * the threads that it had before are used again. */
static enum pxr_status begin_block(struct oracle_block *block, const uint32_t ctaid[3])
{
    memcpy(block->ctaid, ctaid, sizeof(block->ctaid));
    block->live_count = block->thread_count;
    memset(block->warp_steps, 0, sizeof(block->warp_steps));
    memset(block->barriers, 0, sizeof(block->barriers));
    oracle_fill_pattern(block->oracle, block->shared, block->oracle->shared_bytes);
    for (uint32_t i = 0; i < block->thread_count; i++) {
        block->threads[i].state = ORACLE_RUNNABLE;
        block->threads[i].has_arrived = false;
    }
    return begin_threads(block);
}

/* ---- clusters ---- */

static void destroy_cluster(struct oracle_cluster *cluster)
{
    for (uint32_t i = 0; cluster && i < cluster->block_count; i++)
        destroy_block(cluster->blocks[i]);
    free(cluster);
}

static uint32_t blocks_per_cluster(const struct oracle *oracle)
{
    return oracle->cluster[0] * oracle->cluster[1] * oracle->cluster[2];
}

static struct oracle_cluster *make_cluster(struct oracle *oracle)
{
    struct oracle_cluster *cluster = calloc(1, sizeof(*cluster));

    for (uint32_t rank = 0; cluster && rank < blocks_per_cluster(oracle); rank++) {
        struct oracle_block *block = make_block(oracle);

        if (!block) {
            destroy_cluster(cluster);
            return NULL;
        }
        block->cluster = cluster;
        block->rank = rank;
        cluster->blocks[cluster->block_count++] = block;
    }
    return cluster;
}

/* The place in a box of these dimensions, x fastest. */
static void split(uint64_t number, const uint32_t dims[3], uint32_t place[3])
{
    place[0] = (uint32_t)(number % dims[0]);
    place[1] = (uint32_t)(number / dims[0] % dims[1]);
    place[2] = (uint32_t)(number / dims[0] / dims[1]);
}

static enum pxr_status begin_cluster(struct oracle_cluster *cluster, uint64_t number)
{
    const struct oracle *oracle = cluster->blocks[0]->oracle;
    enum pxr_status status = PXR_OK;
    uint32_t clusters[3];
    uint32_t place[3];

    for (int i = 0; i < 3; i++)
        clusters[i] = oracle->launch->grid[i] / oracle->cluster[i];
    split(number, clusters, place);
    cluster->live_threads = cluster->block_count * cluster->blocks[0]->thread_count;
    cluster->arrived_threads = 0;
    cluster->vain_asks = 0;
    for (uint32_t rank = 0; rank < cluster->block_count && status == PXR_OK; rank++) {
        uint32_t ctaid[3];

        split(rank, oracle->cluster, ctaid);
        for (int i = 0; i < 3; i++)
            ctaid[i] += place[i] * oracle->cluster[i];
        status = begin_block(cluster->blocks[rank], ctaid);
    }
    return status;
}

static enum pxr_status start_next(struct grid *grid, struct oracle_cluster *cluster)
{
    uint64_t place = (grid->first + grid->started++ % grid->total * grid->stride) % grid->total;

    return begin_cluster(cluster, place);
}

static enum pxr_status add_cluster(struct grid *grid)
{
    struct oracle_cluster *cluster = make_cluster(grid->oracle);

    if (!cluster)
        return pxr_fail(grid->oracle->err, PXR_OUT_OF_MEMORY, "not enough memory for a block");
    grid->clusters[grid->cluster_count++] = cluster;
    return start_next(grid, cluster);
}

/* ---- the schedule ---- */

/* The whole cluster waits for itself; most are one block. */
static enum pxr_status fail_deadlock(struct oracle_cluster *cluster)
{
    for (uint32_t rank = 0; rank < cluster->block_count; rank++) {
        const struct oracle_block *block = cluster->blocks[rank];

        for (uint32_t i = 0; i < block->thread_count; i++) {
            struct oracle_thread *thread = &block->threads[i];

            if (thread->state != ORACLE_EXITED)
                return oracle_fail(thread, thread->wait_inst, PXR_FAULT_DEADLOCK,
                                   "every thread of the block waits for another");
        }
    }
    return PXR_OK;
}

static enum pxr_status take_turn(struct oracle_thread *thread, uint64_t max_steps)
{
    struct oracle *oracle = thread->oracle;
    uint64_t before = thread->steps;
    enum pxr_status status;

    if (oracle->launch->max_steps && oracle->steps >= oracle->launch->max_steps)
        return oracle_fail(thread, NULL, PXR_OUT_OF_RESOURCES, "no end after %llu steps",
                           (unsigned long long)oracle->launch->max_steps);
    status = oracle_run_thread(thread, max_steps);
    oracle->steps += thread->steps - before;
    thread->block->warp_steps[thread->warp] += thread->steps - before;
    return status;
}

/* One turn for each thread that can run. */
static enum pxr_status pass_block(struct oracle_block *block, bool *progress)
{
    struct oracle *oracle = block->oracle;
    uint64_t first;
    uint64_t stride;
    enum pxr_status status = PXR_OK;

    choose_order(oracle, block->thread_count, &first, &stride);
    for (uint64_t i = 0; status == PXR_OK && i < block->thread_count; i++) {
        struct oracle_thread *thread = &block->threads[(first + i * stride) % block->thread_count];

        if (thread->state != ORACLE_RUNNABLE)
            continue;
        *progress = true;
        status = take_turn(thread, turn_steps(oracle));
    }
    if (status == PXR_OK && block->live_count > 0)
        status = oracle_release_groups(block, progress);
    return status;
}

static enum pxr_status pass_cluster(struct oracle_cluster *cluster)
{
    enum pxr_status status = PXR_OK;
    bool progress = false;
    uint64_t first = 0;
    uint64_t stride = 1;

    if (cluster->block_count > 1)
        choose_order(cluster->blocks[0]->oracle, cluster->block_count, &first, &stride);
    for (uint64_t i = 0; status == PXR_OK && i < cluster->block_count; i++) {
        struct oracle_block *block = cluster->blocks[(first + i * stride) % cluster->block_count];

        if (block->live_count > 0)
            status = pass_block(block, &progress);
    }
    if (status == PXR_OK && cluster->live_threads > 0 && !progress)
        status = fail_deadlock(cluster);
    return status;
}

/* A cluster that has ended is the next one of the grid, or goes. */
static enum pxr_status replace_cluster(struct grid *grid, uint32_t index)
{
    if (grid->started < grid->total)
        return start_next(grid, grid->clusters[index]);
    destroy_cluster(grid->clusters[index]);
    grid->clusters[index] = grid->clusters[--grid->cluster_count];
    return PXR_OK;
}

/* Blocks that wait for other blocks are given them: from time to time one more begins, sooner each
 * time. */
static bool is_time_for_another(struct grid *grid)
{
    if (grid->started == grid->total || grid->cluster_count == grid->capacity)
        return false;
    if (grid->cluster_count == 0)
        return true;
    if (++grid->passes < grid->passes_per_cluster)
        return false;
    grid->passes = 0;
    grid->passes_per_cluster /= 2;
    return true;
}

static enum pxr_status pass_grid(struct grid *grid)
{
    enum pxr_status status = PXR_OK;

    if (is_time_for_another(grid))
        status = add_cluster(grid);
    for (uint32_t i = grid->cluster_count; status == PXR_OK && i-- > 0;) {
        status = pass_cluster(grid->clusters[i]);
        if (status == PXR_OK && grid->clusters[i]->live_threads == 0)
            status = replace_cluster(grid, i);
    }
    return status;
}

static enum pxr_status run_grid(struct oracle *oracle)
{
    const struct oracle_launch *launch = oracle->launch;
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    uint32_t blocks = blocks_per_cluster(oracle);
    struct grid grid = {
        .oracle = oracle,
        .total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] / blocks,
        .capacity = MAX_RESIDENT_THREADS / (threads * blocks),
    };
    enum pxr_status status = PXR_OK;

    if (grid.capacity > grid.total)
        grid.capacity = (uint32_t)grid.total;
    grid.clusters = calloc(grid.capacity, sizeof(struct oracle_cluster *));
    if (!grid.clusters)
        return pxr_fail(oracle->err, PXR_OUT_OF_MEMORY, "not enough memory for the grid");
    choose_order(oracle, grid.total, &grid.first, &grid.stride);
    grid.passes_per_cluster = launch->seed ? UINT64_C(1) << oracle_random(oracle) % 12 : 64;
    while (status == PXR_OK && (grid.started < grid.total || grid.cluster_count > 0))
        status = pass_grid(&grid);
    while (grid.cluster_count > 0)
        destroy_cluster(grid.clusters[--grid.cluster_count]);
    free(grid.clusters);
    return status;
}

/* ---- the launch ---- */

static enum pxr_status check_launch(const struct oracle *oracle, struct pxr_error *err)
{
    const struct oracle_launch *launch = oracle->launch;
    uint64_t threads = 1;
    uint64_t blocks = 1;

    for (int i = 0; i < 3; i++) {
        if (launch->block[i] == 0 || launch->block[i] > 1024 || launch->grid[i] == 0 ||
            launch->grid[i] > INT32_MAX)
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "a dimension of the launch is out of range");
        threads *= launch->block[i];
        blocks *= launch->grid[i];
        if (blocks > INT32_MAX)
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "the grid has too many blocks");
    }
    if (threads > ORACLE_MAX_WARPS * ORACLE_WARP_SIZE)
        return pxr_fail(err, PXR_OUT_OF_RESOURCES, "a block has more than 1024 threads");
    if (oracle->kernel->param_bytes > 0 && !launch->params)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "kernel '%s' has parameters",
                        oracle->kernel->name);
    if (oracle->is_out_of_memory)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory for the list of memory");
    return PXR_OK;
}

/* PTX ISA, ".reqnctapercluster". */
static enum pxr_status choose_cluster(struct oracle *oracle, struct pxr_error *err)
{
    uint64_t blocks = 1;

    for (int i = 0; i < 3; i++) {
        uint32_t wanted = oracle->kernel->cluster_blocks[i];

        oracle->cluster[i] = wanted != 0 ? wanted : 1;
        blocks *= oracle->cluster[i];
        if (blocks > ORACLE_CLUSTER_BLOCKS || oracle->launch->grid[i] % oracle->cluster[i] != 0)
            return pxr_fail(err, PXR_OUT_OF_RESOURCES, "no grid of such clusters");
    }
    return PXR_OK;
}

enum pxr_status oracle_run(struct oracle *oracle, const struct oracle_launch *launch,
                           struct pxr_error *err)
{
    enum pxr_status status;

    oracle->launch = launch;
    oracle->err = err;
    oracle->random = launch->seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
    oracle->grid_id++;
    oracle->kernel = ptx_find_entry(oracle->module, launch->kernel);
    if (!oracle->kernel)
        return pxr_fail(err, PXR_NOT_FOUND, "there is no kernel '%s'", launch->kernel);
    status = check_launch(oracle, err);
    if (status == PXR_OK)
        status = choose_cluster(oracle, err);
    if (status == PXR_OK)
        status = oracle_place_shared(oracle, err);
    if (status == PXR_OK)
        status = run_grid(oracle);
    return status;
}
