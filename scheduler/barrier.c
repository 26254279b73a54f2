/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers of a block, PTX ISA "Parallel Synchronization and Communication Instructions: bar,
 * barrier": the instruction "causes executing thread to wait for all non-exited threads from its
 * warp and marks warps' arrival at barrier". So lanes gather first, also for bar.arrive, and
 * barriers count warps: each adds 32 threads however many lanes it has. Lanes may gather from
 * different program points; only the barrier's number counts.
 */
#include "kernel_abi/lanes.h"
#include "scheduler/turns.h"

/* Whether all threads that the barrier waits for have arrived. Exited warps count as arrived where
 * all of the block take part. More threads than the block has can never arrive. */
static bool is_complete(const struct sch_block *block, const struct sch_barrier *barrier)
{
    if (barrier->arrivals == 0)
        return false;
    uint32_t expected = barrier->expected;
    if (expected != 0 && (uint64_t)barrier->arrivals * RT_WARP_SIZE >= expected)
        return true;
    if (expected != 0 &&
        (expected < block->thread_count || expected > block->warp_count * RT_WARP_SIZE))
        return false;
    return (block->live_warps & ~barrier->arrived_warps) == 0;
}

/* Releases the waiting lanes and starts the barrier's next phase: it can be used again at once.
 * Lanes that have already gathered for that phase stay. */
static void complete(struct sch_block *block, struct sch_barrier *barrier)
{
    block->let_go = 0;
    for (uint32_t warps = barrier->waiting_warps; warps != 0; warps &= warps - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(warps);
        uint32_t lanes = barrier->waiting[w];
        block->let_go += (uint32_t)__builtin_popcount(lanes);
        for (uint32_t red = lanes & barrier->red[w]; red != 0; red &= red - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(red);
            block->warps[w].result[lane] = rt_barrier_reduction(
                block->warps[w].b[lane], barrier->red_threads, barrier->red_true);
        }
        barrier->waiting[w] = 0;
        barrier->red[w] &= ~lanes;
        sch_lanes_ready(block, w, lanes);
    }
    barrier->arrivals = 0;
    barrier->arrived_warps = 0;
    barrier->waiting_warps = 0;
    barrier->red_threads = 0;
    barrier->red_true = 0;
}

/* Called when all live lanes of the warp have gathered. */
static void warp_arrives(struct sch_block *block, struct sch_barrier *barrier, uint32_t w)
{
    uint32_t lanes = barrier->lanes[w];
    uint32_t waiting = lanes & ~barrier->no_wait[w];
    uint32_t red = lanes & barrier->red[w];
    barrier->red_threads += (uint32_t)__builtin_popcount(red);
    barrier->red_true += (uint32_t)__builtin_popcount(red & barrier->predicate[w]);
    barrier->arrivals++;
    barrier->arrived_warps |= SCH_LANE(w);
    if (waiting != 0) {
        barrier->waiting[w] |= waiting;
        barrier->waiting_warps |= SCH_LANE(w);
    }
    barrier->lanes[w] = 0;
    barrier->no_wait[w] = 0;
    barrier->predicate[w] = 0;
    if (lanes != waiting)
        sch_lanes_ready(block, w, lanes & ~waiting);
    if (is_complete(block, barrier))
        complete(block, barrier);
}

/* ---- arriving ---- */

/* Barriers are numbered 0 to 15; a number of threads is a multiple of the warp size, and bar.arrive
 * cannot do without one. */
static void check_operands(struct rt_thread *rt, uint32_t id, uint32_t count, bool needs_count,
                           const void *return_address)
{
    if (id >= SCH_BARRIERS || count % RT_WARP_SIZE != 0 || (needs_count && count == 0))
        sch_thread_fault(rt, PXR_FAULT_INSTRUCTION, 0, return_address);
}

static void join(struct sch_thread *thread, uint32_t id, uint32_t count)
{
    struct sch_block *block = sch_block_of(thread);
    struct sch_barrier *barrier = &block->barriers[id];
    uint32_t w = thread->rt.warp;
    block->barriers_used |= SCH_LANE(id);
    barrier->expected = count;
    barrier->lanes[w] |= SCH_LANE(thread->rt.lane);
    sch_thread_arrive(thread);
    if (barrier->lanes[w] == block->warps[w].live)
        warp_arrives(block, barrier, w);
    sch_thread_stay(thread);
}

static void join_sync(struct rt_thread *rt, uint32_t id, uint32_t count, const void *return_address)
{
    check_operands(rt, id, count, false, return_address);
    join(sch_thread_of(rt), id, count);
}

static void join_arrive(struct rt_thread *rt, uint32_t id, uint32_t count,
                        const void *return_address)
{
    check_operands(rt, id, count, true, return_address);
    struct sch_thread *thread = sch_thread_of(rt);
    sch_block_of(thread)->barriers[id].no_wait[rt->warp] |= SCH_LANE(rt->lane);
    join(thread, id, count);
}

static void join_red(struct rt_thread *rt, uint32_t id, uint32_t count, uint32_t predicate,
                     uint32_t op, const void *return_address)
{
    check_operands(rt, id, count, false, return_address);
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_barrier *barrier = &sch_block_of(thread)->barriers[id];
    barrier->red[rt->warp] |= SCH_LANE(rt->lane);
    if (predicate != 0)
        barrier->predicate[rt->warp] |= SCH_LANE(rt->lane);
    sch_warp_of(thread)->b[rt->lane] = op;
    join(thread, id, count);
}

void rt_arrive_bar_sync(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    join_sync(thread, id, count, __builtin_return_address(0));
}

void rt_arrive_looped_bar_sync(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    join_sync(thread, id, count, __builtin_return_address(0));
    sch_block_of(sch_thread_of(thread))->looped_to = id;
}

void sch_barrier_join(struct sch_block *block, uint32_t id, uint32_t warp_index, uint32_t lanes)
{
    struct sch_barrier *barrier = &block->barriers[id];
    struct sch_warp *warp = &block->warps[warp_index];
    barrier->lanes[warp_index] |= lanes;
    warp->waiting |= lanes;
    warp->polled &= ~lanes;
    if (barrier->lanes[warp_index] == warp->live)
        warp_arrives(block, barrier, warp_index);
    sch_lanes_stop(block, warp_index, lanes & warp->waiting);
}

void rt_arrive_bar_arrive(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    join_arrive(thread, id, count, __builtin_return_address(0));
}

void rt_arrive_bar_red(struct rt_thread *thread, uint32_t id, uint32_t count, uint32_t predicate,
                       uint32_t op)
{
    join_red(thread, id, count, predicate, op, __builtin_return_address(0));
}

void rt_bar_sync(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    join_sync(thread, id, count, __builtin_return_address(0));
    sch_thread_wait(sch_thread_of(thread));
}

void rt_bar_arrive(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    join_arrive(thread, id, count, __builtin_return_address(0));
    sch_thread_wait(sch_thread_of(thread));
}

uint32_t rt_bar_red(struct rt_thread *thread, uint32_t id, uint32_t count, uint32_t predicate,
                    uint32_t op)
{
    join_red(thread, id, count, predicate, op, __builtin_return_address(0));
    sch_thread_wait(sch_thread_of(thread));
    return (uint32_t)rt_result(thread);
}

void sch_barrier_exit(struct sch_block *block, uint32_t warp_index)
{
    uint32_t live = block->warps[warp_index].live;
    for (uint32_t used = block->barriers_used; used != 0; used &= used - 1) {
        struct sch_barrier *barrier = &block->barriers[__builtin_ctz(used)];
        if (live != 0 && barrier->lanes[warp_index] == live)
            warp_arrives(block, barrier, warp_index);
        else if (live == 0 && is_complete(block, barrier))
            complete(block, barrier);
    }
}

bool sch_barrier_release_stuck(struct sch_block *block)
{
    bool is_released = false;
    uint32_t exited = block->warp_count - (uint32_t)__builtin_popcount(block->live_warps);
    for (uint32_t used = block->barriers_used; used != 0; used &= used - 1) {
        struct sch_barrier *barrier = &block->barriers[__builtin_ctz(used)];
        uint64_t arrived = (uint64_t)(barrier->arrivals + exited) * RT_WARP_SIZE;
        if (barrier->waiting_warps == 0 || barrier->expected == 0 || arrived < barrier->expected)
            continue;
        complete(block, barrier);
        is_released = true;
    }
    return is_released;
}
