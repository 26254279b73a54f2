/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters: their shared memories, which lie at one distance from each other, and their barrier
 * (PTX ISA "barrier.cluster"): arriving and waiting are for each thread, and threads that have
 * exited are not waited for.
 */
#include "scheduler/cluster.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scheduler/turns.h"
#include "util/pages.h"

#define DISTANCE_BYTES     ((size_t)1 << RT_CLUSTER_DISTANCE_LOG2)
#define FREE_CLUSTERS_KEPT 8

_Static_assert(sizeof((struct sch_cluster_seat){0}.phases) == SCH_WARPS_MAX * sizeof(uint32_t),
               "a word for each warp");

/* ---- memory ---- */

/* As much between shared memories as there is around those of blocks without clusters. */
bool sch_cluster_fits(const struct sch_grid_op *grid)
{
    const struct rt_launch *launch = &grid->grid.launch;
    if (grid->cluster_blocks == 1)
        return true;
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] % launch->cluster[i] != 0)
            return false;
    return grid->cluster_blocks <= RT_CLUSTER_BLOCKS_MAX &&
           sch_shared_page_bytes(grid) + 2 * PXR_AREA_GUARD_BYTES <= DISTANCE_BYTES;
}

static size_t memory_bytes(const struct sch_cluster *cluster)
{
    return cluster->block_count * DISTANCE_BYTES;
}

static void free_cluster(struct sch_cluster *cluster)
{
    if (cluster->memory)
        pxr_unreserve(cluster->memory, memory_bytes(cluster), PXR_AREA_GUARD_BYTES);
    free(cluster);
}

static bool open_slot(struct sch_cluster *cluster, const struct sch_grid_op *grid, uint32_t rank)
{
    uint8_t *pages = cluster->memory + rank * DISTANCE_BYTES;
    return cluster->shared_bytes == 0 ||
           (mprotect(pages, cluster->shared_bytes, PROT_READ | PROT_WRITE) == 0 &&
            sch_shared_open_front(grid, pages));
}

static bool open_all(struct sch_cluster *cluster, const struct sch_grid_op *grid)
{
    for (; cluster->closed != 0; cluster->closed &= cluster->closed - 1)
        if (!open_slot(cluster, grid, (uint32_t)__builtin_ctz(cluster->closed)))
            return false;
    return true;
}

static struct sch_cluster *create_cluster(const struct sch_grid_op *grid, size_t shared_bytes)
{
    struct sch_cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster)
        return NULL;
    cluster->block_count = grid->cluster_blocks;
    cluster->shared_bytes = shared_bytes;
    cluster->has_front_page = sch_has_front_page(grid);
    cluster->closed = SCH_LANE(grid->cluster_blocks) - 1;
    cluster->memory = pxr_reserve(memory_bytes(cluster), DISTANCE_BYTES, PXR_AREA_GUARD_BYTES);
    if (cluster->memory && open_all(cluster, grid))
        return cluster;
    free_cluster(cluster);
    return NULL;
}

struct sch_cluster *sch_cluster_acquire(struct sch_worker *worker, const struct sch_grid_op *grid)
{
    size_t shared_bytes = sch_shared_page_bytes(grid);
    for (struct sch_cluster **link = &worker->free_clusters; *link; link = &(*link)->next) {
        struct sch_cluster *cluster = *link;
        if (cluster->block_count != grid->cluster_blocks || cluster->shared_bytes != shared_bytes ||
            cluster->has_front_page != sch_has_front_page(grid))
            continue;
        *link = cluster->next;
        if (open_all(cluster, grid))
            return cluster;
        free_cluster(cluster);
        return NULL;
    }
    return create_cluster(grid, shared_bytes);
}

/* Frees all but the first so many, which are those used last. */
static void keep_free(struct sch_worker *worker, unsigned count)
{
    struct sch_cluster **link = &worker->free_clusters;
    for (; *link && count > 0; count--)
        link = &(*link)->next;
    while (*link) {
        struct sch_cluster *cluster = *link;
        *link = cluster->next;
        free_cluster(cluster);
    }
}

void sch_cluster_drop(struct sch_worker *worker, struct sch_cluster *cluster)
{
    cluster->next = worker->free_clusters;
    worker->free_clusters = cluster;
    keep_free(worker, FREE_CLUSTERS_KEPT);
}

void sch_cluster_trim(struct sch_worker *worker)
{
    keep_free(worker, 0);
}

/* ---- who is in it ---- */

static void take_seat(struct sch_cluster *cluster, struct sch_block *block, uint32_t rank)
{
    cluster->blocks[rank] = block;
    cluster->live_count++;
    block->cluster = cluster;
    block->rt.progress = &cluster->progress;
    block->progress = cluster->progress;
    struct sch_cluster_seat *seat = &block->seat;
    block->rt.cluster_rank = rank;
    seat->arrivals = 0;
    seat->waiting_warps = 0;
    seat->is_stuck = false;
    memset(seat->waiting, 0, block->warp_count * sizeof seat->waiting[0]);
    memset(seat->phases, 0xff, block->warp_count * sizeof seat->phases[0]);
}

void sch_cluster_join(struct sch_cluster *cluster, struct sch_block *block, uint32_t rank)
{
    block->rt.shared = sch_shared_begin(block->grid, cluster->memory + rank * DISTANCE_BYTES);
    take_seat(cluster, block, rank);
}

void sch_cluster_begin(struct sch_cluster *cluster)
{
    cluster->expected = cluster->block_count * cluster->blocks[0]->thread_count;
    cluster->pending = cluster->expected;
    cluster->phase = 0;
}

void sch_cluster_make_alone(struct sch_block *block)
{
    struct sch_cluster *cluster = &block->alone;
    cluster->block_count = 1;
    cluster->live_count = 0;
    take_seat(cluster, block, 0);
    sch_cluster_begin(cluster);
}

void sch_cluster_part(struct sch_block *block)
{
    struct sch_cluster *cluster = block->cluster;
    uint32_t rank = block->rt.cluster_rank;
    cluster->blocks[rank] = NULL;
    block->cluster = NULL;
    if (--cluster->live_count == 0) {
        if (cluster != &block->alone)
            sch_cluster_drop(block->worker, cluster);
        return;
    }
    if (cluster->shared_bytes > 0 &&
        mprotect(cluster->memory + rank * DISTANCE_BYTES, cluster->shared_bytes, PROT_NONE) == 0)
        cluster->closed |= SCH_LANE(rank);
}

bool sch_cluster_is_stuck(struct sch_block *block)
{
    const struct sch_cluster *cluster = block->cluster;
    block->seat.is_stuck = true;
    block->seat.stuck_at = cluster->progress;
    for (uint32_t rank = 0; rank < cluster->block_count; rank++) {
        const struct sch_block *other = cluster->blocks[rank];
        if (other && !(other->seat.is_stuck && other->seat.stuck_at == cluster->progress))
            return false;
    }
    return true;
}

/* ---- the barrier ---- */

static bool has_arrived(const struct sch_thread *thread)
{
    const struct sch_block *block = sch_block_of(thread);
    uint32_t differ = block->seat.phases[thread->rt.warp] ^ block->cluster->phase;
    return (differ & SCH_LANE(thread->rt.lane)) == 0;
}

static void release(struct sch_block *block)
{
    struct sch_cluster_seat *seat = &block->seat;
    seat->arrivals = 0;
    if (seat->waiting_warps == 0)
        return;
    block->let_go = 0;
    for (; seat->waiting_warps != 0; seat->waiting_warps &= seat->waiting_warps - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(seat->waiting_warps);
        uint32_t lanes = seat->waiting[w];
        seat->waiting[w] = 0;
        block->let_go += (uint32_t)__builtin_popcount(lanes);
        sch_lanes_ready(block, w, lanes);
    }
}

static void count_arrival(struct sch_cluster *cluster)
{
    if (--cluster->pending != 0)
        return;
    cluster->pending = cluster->expected;
    cluster->phase = ~cluster->phase;
    cluster->progress++;
    for (uint32_t rank = 0; rank < cluster->block_count; rank++)
        if (cluster->blocks[rank])
            release(cluster->blocks[rank]);
}

void rt_cluster_arrive(struct rt_thread *rt)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_block *block = sch_block_of(thread);
    if (has_arrived(thread))
        sch_thread_fault(rt, PXR_FAULT_INSTRUCTION, 0, __builtin_return_address(0));
    block->seat.phases[rt->warp] ^= SCH_LANE(rt->lane);
    block->seat.arrivals++;
    count_arrival(block->cluster);
}

void rt_cluster_leave(struct rt_thread *rt)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_block *block = sch_block_of(thread);
    if (--block->cluster->expected == 0) {
        /* Nobody is left; in a chunk the next block begins. */
        if (block->cluster == &block->alone)
            sch_cluster_make_alone(block);
        return;
    }
    if (has_arrived(thread))
        block->seat.arrivals--;
    else
        count_arrival(block->cluster);
}

/* Whoever need not wait counts as let go by this barrier, too. */
static void wait_here(struct sch_thread *thread, const void *return_address)
{
    struct sch_block *block = sch_block_of(thread);
    uint32_t w = thread->rt.warp;
    uint32_t lane = SCH_LANE(thread->rt.lane);
    sch_limit_poll(thread, return_address);
    if (!has_arrived(thread)) {
        block->let_go++;
        sch_lanes_release(block, w, lane);
        return;
    }
    block->seat.waiting[w] |= lane;
    block->seat.waiting_warps |= SCH_LANE(w);
    sch_thread_arrive(thread);
    sch_thread_stay(thread);
}

void rt_arrive_cluster_wait(struct rt_thread *rt)
{
    wait_here(sch_thread_of(rt), __builtin_return_address(0));
}

void rt_cluster_wait(struct rt_thread *rt)
{
    struct sch_thread *thread = sch_thread_of(rt);
    wait_here(thread, __builtin_return_address(0));
    sch_thread_wait(thread);
}

/* All threads of the block have come: those that have arrived have done so in this phase, and while
 * they wait none arrives in the next. */
void rt_block_cluster_wait(struct rt_block *rt)
{
    struct sch_block *block = (struct sch_block *)(void *)rt;
    if (block->seat.arrivals == 0)
        return;
    block->polled_at = (uintptr_t)__builtin_return_address(0) - 1;
    while (block->seat.arrivals != 0)
        sch_carrier_leave(block, sch_block_rest(block, false));
    sch_block_progresses(block);
}
