/* SPDX-License-Identifier: Apache-2.0
 *
 * What code with checks of races calls (kernel_abi/placeholders.def): what threads do, told to
 * core/races.
 */
#include "cudart/core/code/race_access.h"
#include "cudart/core/code/race_copies.h"
#include "cudart/core/code/schedules.h"
#include "cudart/core/races/syncs.h"

/* ---- what orders threads ---- */

void rt_race_arrive(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_barrier_arrive(&running->races, crt_thread_number(thread), id, count);
}

void rt_race_leave(struct rt_thread *thread, uint32_t id)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_barrier_leave(&running->races, crt_thread_number(thread), id);
}

void rt_race_lanes(struct rt_thread *thread, uint32_t mask)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_lanes_met(&running->races, crt_thread_number(thread), mask);
}

void rt_race_fence(struct rt_thread *thread)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_fence(&running->races, crt_thread_number(thread));
}

/* A barrier of a cluster has places of its own, at which no object can be: one for each of two
 * phases, as a block may have come to the next one before another has left. */
static uintptr_t place_of(const struct crt_running_block *running, const struct rt_thread *thread,
                          uint64_t address)
{
    const struct rt_block *block = thread->block;
    uint64_t distance = (uint64_t)block->cluster_rank << RT_CLUSTER_DISTANCE_LOG2;
    unsigned phase = running->cluster_phases[thread->warp] >> thread->lane & 1;
    return address ? (uintptr_t)address : (uintptr_t)block->shared - distance + 1 + phase;
}

static void release(struct crt_running_block *running, const struct rt_thread *thread,
                    uint64_t address, bool is_ordered)
{
    if (address == 0)
        running->cluster_phases[thread->warp] ^= UINT32_C(1) << thread->lane;
    race_sync_release(&running->races, crt_thread_number(thread), is_ordered,
                      place_of(running, thread, address));
}

static void acquire(struct crt_running_block *running, const struct rt_thread *thread,
                    uint64_t address, bool is_ordered)
{
    race_sync_acquire(&running->races, crt_thread_number(thread), is_ordered,
                      place_of(running, thread, address));
}

void rt_race_release(struct rt_thread *thread, uint64_t address, uint32_t is_ordered)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        release(running, thread, address, is_ordered);
}

void rt_race_acquire(struct rt_thread *thread, uint64_t address, uint32_t is_ordered)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        acquire(running, thread, address, is_ordered);
}

/* ---- the same of lanes ---- */

void rt_race_arrive_row(struct rt_thread *thread, uint32_t id, uint32_t count, uint64_t lanes)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_barrier_arrive_lanes(&running->races, crt_thread_number(thread), lanes, id, count);
}

void rt_race_leave_row(struct rt_thread *thread, uint32_t id, uint64_t lanes)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_barrier_leave_lanes(&running->races, crt_thread_number(thread), lanes, id);
}

void rt_race_lanes_row(struct rt_thread *thread, uint32_t mask, uint64_t lanes)
{
    struct crt_running_block *running = crt_running_of(thread);
    uint32_t number = crt_thread_number(thread);
    for (; running && lanes != 0; lanes &= lanes - 1)
        race_lanes_met(&running->races, number + (uint32_t)__builtin_ctzll(lanes), mask);
}

void rt_race_fence_row(struct rt_thread *thread, uint64_t lanes)
{
    struct crt_running_block *running = crt_running_of(thread);
    uint32_t number = crt_thread_number(thread);
    for (; running && lanes != 0; lanes &= lanes - 1)
        race_fence(&running->races, number + (uint32_t)__builtin_ctzll(lanes));
}

void rt_race_copies(struct rt_thread *thread, uint32_t groups)
{
    rt_race_copies_row(thread, groups, 1);
}

void rt_race_copies_row(struct rt_thread *thread, uint32_t groups, uint64_t lanes)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running && groups == RT_RACE_COMMIT)
        crt_race_copies_commit(running, crt_thread_number(thread), lanes);
    else if (running)
        crt_race_copies_wait(running, crt_thread_number(thread), lanes, groups);
}

static const struct rt_thread *thread_of_lane(const struct rt_thread *thread, unsigned lane)
{
    return (const struct rt_thread *)((const char *)thread + (size_t)lane * RT_THREAD_STRIDE);
}

void rt_race_release_row(struct rt_thread *thread, const char *addresses, uint32_t is_ordered,
                         uint64_t lanes)
{
    struct crt_running_block *running = crt_running_of(thread);
    for (; running && lanes != 0; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        release(running, thread_of_lane(thread, lane), ((const uint64_t *)addresses)[lane],
                is_ordered);
    }
}

void rt_race_acquire_row(struct rt_thread *thread, const char *addresses, uint32_t is_ordered,
                         uint64_t lanes)
{
    struct crt_running_block *running = crt_running_of(thread);
    for (; running && lanes != 0; lanes &= lanes - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(lanes);
        acquire(running, thread_of_lane(thread, lane), ((const uint64_t *)addresses)[lane],
                is_ordered);
    }
}

/* ---- accesses ---- */

static uint8_t flags_of(uint32_t what)
{
    bool is_write = (what & RT_ACCESS_MASK) != RT_ACCESS_READ;
    return (uint8_t)((is_write ? RACE_WRITES : 0) | (what & RT_RACE_STRONG ? RACE_STRONG : 0) |
                     (what & RT_RACE_STRONG && what & RT_RACE_BLOCK ? RACE_BLOCK : 0) |
                     (what & RT_RACE_STRONG && what & RT_RACE_SYSTEM ? RACE_SYSTEM : 0) |
                     (what & RT_RACE_VALUE ? RACE_VALUE : 0) |
                     (what & RT_RACE_COPY ? RACE_PENDING : 0));
}

static void begin_row(struct crt_race_row *row, const struct rt_thread *thread,
                      struct crt_running_block *running, uint64_t bytes, uint32_t what,
                      uint32_t line)
{
    row->is_known_unsettled = false;
    row->access = (struct crt_race_access){
        .thread = thread,
        .running = running,
        .race = {.block = running->races.index,
                 .stamp = running->races.now,
                 .line = line,
                 .thread = (uint16_t)crt_thread_number(thread),
                 .flags = flags_of(what)},
        .bytes = bytes,
        .what = what,
    };
}

static void tell(struct crt_race_row *row)
{
    if (row->access.what & RT_RACE_COPY)
        crt_race_copies_add(row);
    crt_race_access_row(row);
}

void rt_race_access(struct rt_thread *thread, uint64_t address, uint64_t bytes, uint64_t value,
                    uint32_t what, uint32_t line)
{
    struct crt_race_row row;
    crt_schedules_access(thread, 1, __builtin_return_address(0));
    struct crt_running_block *running = crt_running_of(thread);
    if (!running || crt_race_is_settled(running, thread, 1, address, bytes, what))
        return;
    begin_row(&row, thread, running, bytes, what, line);
    row.access.address = address;
    row.lanes = 1;
    row.stride = 0;
    row.addresses = NULL;
    row.values = what & RT_RACE_VALUE ? (const char *)&value : NULL;
    row.is_known_unsettled = true;
    tell(&row);
}

void rt_race_row(struct rt_thread *thread, uint64_t address, uint64_t bytes, uint64_t stride,
                 const char *values, uint64_t lanes, uint32_t what, uint32_t line)
{
    struct crt_race_row row;
    crt_schedules_access(thread, lanes, __builtin_return_address(0));
    struct crt_running_block *running = crt_running_of(thread);
    if (lanes == 0 || !running)
        return;
    uint64_t first = address + (unsigned)__builtin_ctzll(lanes) * stride;
    uint64_t span = (63 - (unsigned)__builtin_clzll(lanes)) * stride + address - first + bytes;
    if (stride < RACE_STRIP_BYTES && crt_race_is_settled(running, thread, lanes, first, span, what))
        return;
    begin_row(&row, thread, running, bytes, what, line);
    row.access.address = address;
    row.lanes = lanes;
    row.stride = stride;
    row.addresses = NULL;
    row.values = values;
    tell(&row);
}

void rt_race_scatter(struct rt_thread *thread, const char *addresses, uint64_t bytes,
                     const char *values, uint64_t lanes, uint32_t what, uint32_t line)
{
    struct crt_race_row row;
    crt_schedules_access(thread, lanes, __builtin_return_address(0));
    struct crt_running_block *running = crt_running_of(thread);
    if (lanes == 0 || !running)
        return;
    begin_row(&row, thread, running, bytes, what, line);
    row.lanes = lanes;
    row.addresses = (const uint64_t *)addresses;
    row.values = values;
    tell(&row);
}

/* ---- all iterations of a loop ---- */

void rt_race_loop_row(struct rt_thread *thread, const char *addresses, uint64_t bytes,
                      const char *steps, const char *turns, const char *floors, uint64_t period,
                      uint64_t lanes, uint32_t what, uint32_t line, uint32_t lines)
{
    struct crt_race_loop loop = {.steps = (const uint64_t *)steps,
                                 .turns = (const uint64_t *)turns,
                                 .floors = (const uint64_t *)floors,
                                 .period = period,
                                 .lines = (int32_t)lines};
    struct crt_running_block *running = crt_running_of(thread);
    if (lanes == 0 || !running)
        return;
    begin_row(&loop.row, thread, running, bytes, what, line);
    loop.row.lanes = lanes;
    loop.row.addresses = (const uint64_t *)addresses;
    loop.row.values = NULL;
    crt_race_access_loop(&loop);
}

void rt_race_loop(struct rt_thread *thread, uint64_t address, uint64_t bytes, uint64_t step,
                  uint64_t turns, uint64_t floor, uint64_t period, uint32_t what, uint32_t line,
                  uint32_t lines)
{
    rt_race_loop_row(thread, (const char *)&address, bytes, (const char *)&step,
                     (const char *)&turns, (const char *)&floor, period, 1, what, line, lines);
}
