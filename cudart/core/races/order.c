/* SPDX-License-Identifier: Apache-2.0
 *
 * Knowledge passes at barriers, meetings of lanes, and through memory.
 */
#include "cudart/core/races/order.h"

#include <stdatomic.h>
#include <string.h>

/* ---- units of clocks: all of a block, or a warp of it ---- */

static uint64_t unit_of_block(uint32_t block)
{
    return (uint64_t)block << 6;
}

static uint64_t unit_of_warp(uint32_t block, uint32_t warp)
{
    return unit_of_block(block) + 1 + warp;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void raise(uint32_t *stamp, uint32_t to)
{
    if (*stamp < to)
        *stamp = to;
}

/* ---- rows ---- */

static void raise_warp(struct race_row *row, unsigned warp, uint32_t to)
{
    raise(&row->warps[warp], to);
    row->more |= UINT32_C(1) << warp;
}

static void join_row(struct race_row *row, const struct race_row *other)
{
    raise(&row->block, other->block);
    for (uint32_t rest = other->more; rest != 0; rest &= rest - 1) {
        unsigned warp = (unsigned)__builtin_ctz(rest);
        raise_warp(row, warp, other->warps[warp]);
    }
    race_clock_join(&row->others, &other->others);
}

static void clear_row(struct race_row *row)
{
    row->block = 0;
    row->more = 0;
    memset(row->warps, 0, sizeof row->warps);
    race_clock_clear(&row->others);
}

/* ---- the block ---- */

/* Each block takes some numbers at a time. */
#define TIMES 4096

static void change_time(struct race_block *block)
{
    static _Atomic uint64_t next;
    if (block->time % TIMES == 0)
        block->time = atomic_fetch_add_explicit(&next, TIMES, memory_order_relaxed);
    block->time++;
}

static uint32_t tick(struct race_block *block)
{
    change_time(block);
    return ++block->now;
}

void race_block_begin(struct race_block *block, uint64_t launch, uint32_t index, uint32_t threads)
{
    block->launch = launch;
    block->index = index;
    block->run++;
    block->threads = threads;
    block->now = 1;
    block->whole = 0;
    change_time(block);
    for (uint32_t w = 0; w * RT_WARP_SIZE < threads; w++) {
        struct race_warp *warp = &block->warps[w];
        clear_row(&warp->row);
        race_clock_clear(&warp->pending);
        if (warp->has_met)
            memset(warp->lanes, 0, sizeof warp->lanes);
        warp->has_met = false;
        warp->served = 0;
        warp->fenced = 0;
        warp->passed = 0;
        memset(warp->heard, 0, sizeof warp->heard);
    }
    for (unsigned id = 0; id < RACE_BARRIERS_MAX; id++) {
        struct race_barrier *barrier = &block->barriers[id];
        if (barrier->generation == 0 && barrier->warps == 0)
            continue; /* nobody has come to it */
        barrier->generation = barrier->arrived = barrier->warps = 0;
        barrier->is_whole = false;
        clear_row(&barrier->arriving);
        clear_row(&barrier->complete);
    }
}

void race_block_free(struct race_block *block)
{
    for (unsigned w = 0; w < RACE_WARPS_MAX; w++) {
        race_clock_free(&block->warps[w].row.others);
        race_clock_free(&block->warps[w].pending);
    }
    for (unsigned id = 0; id < RACE_BARRIERS_MAX; id++) {
        race_clock_free(&block->barriers[id].arriving.others);
        race_clock_free(&block->barriers[id].complete.others);
    }
}

static struct race_warp *warp_of(struct race_block *block, uint32_t thread)
{
    return &block->warps[thread / RT_WARP_SIZE];
}

bool race_is_before_in_other(const struct race_row *row, uint32_t other_block,
                             uint32_t other_thread, uint32_t stamp)
{
    return stamp < race_clock_of(&row->others, unit_of_block(other_block)) ||
           stamp <
               race_clock_of(&row->others, unit_of_warp(other_block, other_thread / RT_WARP_SIZE));
}

/* ---- memory ---- */

static void learn(struct race_block *block, struct race_warp *warp, const struct race_clock *clock)
{
    warp->changes++;
    race_clock_join(&warp->row.others, clock);
    raise(&warp->row.block, race_clock_of(clock, unit_of_block(block->index)));
    for (uint32_t w = 0; w * RT_WARP_SIZE < block->threads; w++)
        raise_warp(&warp->row, w, race_clock_of(clock, unit_of_warp(block->index, w)));
}

/* What was read holds from here on. A barrier counts, too: formally it is no fence for what other
 * blocks have written, but programs take it for one, and GPUs make it one. */
static void settle(struct race_block *block, struct race_warp *warp)
{
    if (warp->pending.count == 0 && !warp->pending.knows_all)
        return;
    learn(block, warp, &warp->pending);
    race_clock_clear(&warp->pending);
}

void race_fence(struct race_block *block, uint32_t thread)
{
    struct race_warp *warp = warp_of(block, thread);
    settle(block, warp);
    warp->fenced = tick(block);
}

void race_release(struct race_block *block, uint32_t thread, bool is_ordered,
                  struct race_clock *clock)
{
    struct race_warp *warp = warp_of(block, thread);
    const struct race_row *row = &warp->row;
    uint32_t limit = is_ordered ? tick(block) : warp->fenced;
    if (limit == 0)
        return;
    raise(&warp->passed, limit);
    race_clock_raise(clock, unit_of_block(block->index), least(row->block, limit));
    for (uint32_t w = 0; w * RT_WARP_SIZE < block->threads; w++)
        if (row->warps[w] > row->block)
            race_clock_raise(clock, unit_of_warp(block->index, w), least(row->warps[w], limit));
    race_clock_raise(clock, unit_of_warp(block->index, thread / RT_WARP_SIZE), limit);
    race_clock_join(clock, &row->others);
}

void race_acquire(struct race_block *block, uint32_t thread, bool is_ordered,
                  const struct race_clock *clock)
{
    struct race_warp *warp = warp_of(block, thread);
    if (is_ordered)
        learn(block, warp, clock);
    else
        race_clock_join(&warp->pending, clock);
}

/* ---- barriers ---- */

/* All that take part have arrived. Threads that have exited, too, if it is for the whole block. */
static void complete(struct race_block *block, struct race_barrier *barrier)
{
    uint32_t stamp = tick(block);
    struct race_row *row = &barrier->arriving;
    for (uint32_t w = 0; w * RT_WARP_SIZE < block->threads; w++) {
        bool takes_part = barrier->warps & (UINT32_C(1) << w);
        if (takes_part && !barrier->is_whole)
            raise_warp(row, w, stamp);
        if (takes_part || barrier->is_whole)
            block->warps[w].passed = stamp;
    }
    if (barrier->is_whole) {
        row->block = block->whole = stamp;
        row->more = 0;
    }
    struct race_row free_row = barrier->complete;
    barrier->complete = *row;
    barrier->arriving = free_row;
    clear_row(&barrier->arriving);
    barrier->generation++;
    barrier->arrived = 0;
    barrier->warps = 0;
    barrier->is_whole = false;
}

static bool are_side_by_side(uint64_t lanes)
{
    uint64_t moved = lanes >> __builtin_ctzll(lanes);
    return (moved & (moved + 1)) == 0;
}

static void note_generation(struct race_block *block, uint32_t thread, uint64_t lanes,
                            uint32_t generation)
{
    uint32_t *met = &block->met[thread + (uint32_t)__builtin_ctzll(lanes)];
    uint32_t count = (uint32_t)__builtin_popcountll(lanes);
    for (uint32_t i = 0; i < count && are_side_by_side(lanes); i++)
        met[i] = generation;
    for (uint64_t rest = are_side_by_side(lanes) ? 0 : lanes; rest != 0; rest &= rest - 1)
        block->met[thread + (uint32_t)__builtin_ctzll(rest)] = generation;
}

/* Lanes of one warp, the last of which may complete it. */
static void arrive(struct race_block *block, uint32_t thread, uint64_t lanes, uint32_t id,
                   uint32_t count)
{
    struct race_barrier *barrier = &block->barriers[id % RACE_BARRIERS_MAX];
    uint32_t number = (thread + (uint32_t)__builtin_ctzll(lanes)) / RT_WARP_SIZE;
    struct race_warp *warp = &block->warps[number];
    uint32_t own = UINT32_C(1) << number;
    settle(block, warp);
    /* Mostly what its first lanes have said. */
    if (!(barrier->warps & own) || warp->told[id % RACE_BARRIERS_MAX] != warp->changes)
        join_row(&barrier->arriving, &warp->row);
    warp->told[id % RACE_BARRIERS_MAX] = warp->changes;
    barrier->warps |= own;
    barrier->is_whole |= count == 0 || count >= block->threads;
    note_generation(block, thread, lanes, barrier->generation);
    if (count == 0)
        return;
    barrier->arrived += (uint32_t)__builtin_popcountll(lanes);
    if (barrier->arrived == count)
        complete(block, barrier);
}

void race_barrier_arrive(struct race_block *block, uint32_t thread, uint32_t id, uint32_t count)
{
    arrive(block, thread, 1, id, count);
}

/* Of lanes from this thread on, those of the first one's warp. */
static uint64_t lanes_of_warp(uint32_t thread, uint64_t lanes)
{
    uint32_t first = (uint32_t)__builtin_ctzll(lanes);
    uint32_t room = RT_WARP_SIZE - (thread + first) % RT_WARP_SIZE;
    return lanes & ((UINT64_C(1) << room) - 1) << first;
}

void race_barrier_arrive_lanes(struct race_block *block, uint32_t thread, uint64_t lanes,
                               uint32_t id, uint32_t count)
{
    const struct race_barrier *barrier = &block->barriers[id % RACE_BARRIERS_MAX];
    for (uint64_t together; lanes != 0; lanes &= ~together) {
        together = lanes_of_warp(thread, lanes);
        if (count != 0 && barrier->arrived + (uint32_t)__builtin_popcountll(together) > count)
            together = lanes & -lanes; /* some come to the next one */
        arrive(block, thread, together, id, count);
    }
}

/* Without a number nobody knows how many will come: the first one that goes on has seen them. */
void race_barrier_leave(struct race_block *block, uint32_t thread, uint32_t id)
{
    struct race_barrier *barrier = &block->barriers[id % RACE_BARRIERS_MAX];
    if (barrier->generation == block->met[thread])
        complete(block, barrier);
    struct race_warp *warp = warp_of(block, thread);
    uint32_t *heard = &warp->heard[id % RACE_BARRIERS_MAX];
    if (*heard == barrier->generation)
        return;
    *heard = barrier->generation;
    warp->changes++;
    join_row(&warp->row, &barrier->complete);
}

/* Whether the lanes, of one warp, are all from the first to the last, and wait for the same. */
static bool wait_together(const struct race_block *block, uint32_t thread, uint64_t lanes)
{
    const uint32_t *met = &block->met[thread + (uint32_t)__builtin_ctzll(lanes)];
    uint32_t count = (uint32_t)__builtin_popcountll(lanes);
    uint32_t others = 0;
    if (!are_side_by_side(lanes))
        return false;
    for (uint32_t i = 1; i < count; i++)
        others |= met[i] ^ met[0];
    return others == 0;
}

void race_barrier_leave_lanes(struct race_block *block, uint32_t thread, uint64_t lanes,
                              uint32_t id)
{
    for (uint64_t together; lanes != 0; lanes &= ~together) {
        together = lanes_of_warp(thread, lanes);
        if (!wait_together(block, thread, together))
            together = lanes & -lanes;
        race_barrier_leave(block, thread + (uint32_t)__builtin_ctzll(together), id);
    }
}

/* ---- lanes ---- */

/* The first lane that goes on notes it for all; the others stand still until they go on, too. What
 * all lanes know stands in the row. */
static void note_meeting(struct race_block *block, uint32_t number, uint32_t mask)
{
    struct race_warp *warp = &block->warps[number];
    uint32_t stamp = tick(block);
    warp->passed = stamp;
    if (mask == UINT32_MAX) {
        raise_warp(&warp->row, number, stamp);
        return;
    }
    warp->has_met = true;
    uint32_t joined[RT_WARP_SIZE] = {0};
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++) {
        bool is_in = mask & (UINT32_C(1) << lane);
        for (unsigned other = 0; is_in && other < RT_WARP_SIZE; other++)
            raise(&joined[other], warp->lanes[lane][other]);
    }
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++)
        if (mask & (UINT32_C(1) << lane))
            joined[lane] = stamp;
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++)
        if (mask & (UINT32_C(1) << lane))
            memcpy(warp->lanes[lane], joined, sizeof joined);
}

void race_lanes_met(struct race_block *block, uint32_t thread, uint32_t mask)
{
    struct race_warp *warp = warp_of(block, thread);
    uint32_t own = UINT32_C(1) << (thread % RT_WARP_SIZE);
    if (!(warp->served & own)) {
        note_meeting(block, thread / RT_WARP_SIZE, mask | own);
        warp->served |= mask;
    }
    warp->served &= ~own;
}
