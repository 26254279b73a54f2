/* SPDX-License-Identifier: Apache-2.0
 *
 * It follows what scheduler/barrier.c and scheduler/warp.c do, from the calls of the threads alone:
 * so it works wherever loops have taken the place of those.
 */
#include "cudart/core/meetings/meetings.h"

#include <string.h>

#define LANE(lane) (UINT32_C(1) << (lane))

static void tell(const struct meet_listener *listener, struct meet_found found)
{
    listener->found(listener->arg, &found);
}

void meet_block_begin(struct meet_block *block, uint32_t threads)
{
    memset(block, 0, sizeof *block);
    block->threads = threads;
    block->warp_count = (threads + RT_WARP_SIZE - 1) / RT_WARP_SIZE;
    if (threads % RT_WARP_SIZE != 0)
        block->warps[block->warp_count - 1].exited = UINT32_MAX << threads % RT_WARP_SIZE;
}

/* ---- barriers ---- */

/* A number that only all threads of the block can make up is as none. */
static bool is_for_all(const struct meet_block *block, const struct meet_barrier *barrier)
{
    return barrier->count == 0 ||
           (barrier->count >= block->threads && barrier->count <= block->warp_count * RT_WARP_SIZE);
}

static bool is_complete(const struct meet_block *block, const struct meet_barrier *barrier)
{
    if (barrier->arrivals == 0)
        return false;
    if (!is_for_all(block, barrier))
        return barrier->arrivals * RT_WARP_SIZE >= barrier->count;
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (!(barrier->arrived_warps & LANE(w)) && block->warps[w].exited != UINT32_MAX)
            return false;
    return true;
}

/* Whether too few warps are left to come to it. */
static bool is_out_of_reach(const struct meet_block *block, const struct meet_barrier *barrier)
{
    uint32_t warps = barrier->arrivals;
    for (uint32_t w = 0; w < block->warp_count; w++)
        warps += !(barrier->arrived_warps & LANE(w)) && block->warps[w].exited != UINT32_MAX;
    return !is_for_all(block, barrier) && barrier->arrivals > 0 &&
           warps * RT_WARP_SIZE < barrier->count;
}

static bool is_waited_at(const struct meet_block *block, const struct meet_barrier *barrier)
{
    bool is_waited = barrier->arrivals > 0;
    for (uint32_t w = 0; w < block->warp_count; w++)
        is_waited |= barrier->lanes[w] != 0;
    return is_waited;
}

/* The warp arrives if all its lanes that are left have come. */
static void look_at_warp(struct meet_block *block, uint32_t id, uint32_t w,
                         const struct meet_listener *listener)
{
    struct meet_barrier *barrier = &block->barriers[id];
    if (barrier->lanes[w] != 0 && (barrier->lanes[w] | block->warps[w].exited) == UINT32_MAX) {
        barrier->lanes[w] = 0;
        barrier->arrived_warps |= LANE(w);
        barrier->arrivals++;
    }
    bool is_over = is_out_of_reach(block, barrier);
    if (!is_complete(block, barrier) && !is_over)
        return;
    if ((is_over || is_for_all(block, barrier)) && block->exited > 0 && !barrier->has_counts)
        tell(listener, (struct meet_found){.defect = MEET_BARRIER_EXITED,
                                           .thread = barrier->thread,
                                           .line = barrier->line,
                                           .id = id,
                                           .number = block->exited});
    barrier->arrivals = 0;
    barrier->arrived_warps = 0;
}

void meet_barrier(struct meet_block *block, uint32_t thread, uint32_t id, uint32_t count,
                  bool is_aligned, uint32_t line, const struct meet_listener *listener)
{
    struct meet_barrier *barrier = &block->barriers[id];
    uint32_t w = thread / RT_WARP_SIZE;
    struct meet_found found = {.thread = thread, .line = line, .id = id};
    if (!is_waited_at(block, barrier)) {
        barrier->count = count;
        barrier->thread = thread;
        barrier->line = line;
    } else if (barrier->count != count) {
        found.defect = MEET_BARRIER_COUNT;
        found.number = barrier->count;
        found.other_line = barrier->line;
        tell(listener, found);
        barrier->has_counts = true;
    }
    if (barrier->lanes[w] == 0) {
        barrier->lines[w] = line;
    } else if (is_aligned && barrier->lines[w] != line) {
        found.defect = MEET_DIVERGENT;
        found.other_line = barrier->lines[w];
        tell(listener, found);
    }
    barrier->lanes[w] |= LANE(thread % RT_WARP_SIZE);
    look_at_warp(block, id, w, listener);
}

/* ---- operations of lanes ---- */

/* Those that wait in the same meeting as this one. */
static uint32_t lanes_with(const struct meet_warp *warp, uint32_t lane)
{
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < RT_WARP_SIZE; l++)
        if ((warp->waiting & LANE(l)) && warp->mask[l] == warp->mask[lane] &&
            warp->kind[l] == warp->kind[lane])
            lanes |= LANE(l);
    return lanes;
}

static void let_go_if_complete(struct meet_warp *warp, uint32_t lane)
{
    uint32_t lanes = lanes_with(warp, lane);
    if ((warp->mask[lane] & ~warp->exited & ~lanes) == 0)
        warp->waiting &= ~lanes;
}

/* Lanes that the block does not have are not missed: masks of whole warps are usual. */
static uint32_t ended_lanes(const struct meet_block *block, uint32_t w, uint32_t mask)
{
    uint32_t lanes = block->threads - w * RT_WARP_SIZE;
    uint32_t existing = lanes >= RT_WARP_SIZE ? UINT32_MAX : LANE(lanes) - 1;
    return mask & existing & block->warps[w].exited;
}

void meet_lanes(struct meet_block *block, uint32_t thread, uint32_t mask, uint32_t kind,
                bool is_aligned, uint32_t line, const struct meet_listener *listener)
{
    uint32_t w = thread / RT_WARP_SIZE;
    uint32_t lane = thread % RT_WARP_SIZE;
    struct meet_warp *warp = &block->warps[w];
    struct meet_found found = {.thread = thread, .line = line, .id = mask};
    if (!(mask & LANE(lane))) {
        found.defect = MEET_NO_CALLER;
        found.number = mask;
        tell(listener, found);
        return;
    }
    warp->waiting |= LANE(lane);
    warp->mask[lane] = mask;
    warp->kind[lane] = kind;
    warp->line[lane] = line;
    uint32_t others = lanes_with(warp, lane) & ~LANE(lane);
    uint32_t first = others ? (uint32_t)__builtin_ctz(others) : lane;
    if (is_aligned && warp->line[first] != line) {
        found.defect = MEET_DIVERGENT;
        found.other_line = warp->line[first];
        tell(listener, found);
    }
    found.number = ended_lanes(block, w, mask);
    if (found.number != 0) {
        found.defect = MEET_MASK_EXITED;
        tell(listener, found);
    }
    let_go_if_complete(warp, lane);
}

void meet_source(const struct meet_block *block, uint32_t thread, uint32_t mask, uint32_t source,
                 uint32_t line, const struct meet_listener *listener)
{
    uint32_t w = thread / RT_WARP_SIZE;
    bool exists = w * RT_WARP_SIZE + source < block->threads;
    if (!exists || !(mask & LANE(source)))
        tell(listener, (struct meet_found){.defect = MEET_NO_SOURCE,
                                           .thread = thread,
                                           .line = line,
                                           .id = mask,
                                           .number = source});
}

/* ---- ends ---- */

static void leave_lanes(struct meet_block *block, uint32_t w, uint32_t lane,
                        const struct meet_listener *listener)
{
    struct meet_warp *warp = &block->warps[w];
    for (uint32_t l = 0; l < RT_WARP_SIZE; l++) {
        if (!(warp->waiting & LANE(l)) || !(warp->mask[l] & LANE(lane)))
            continue;
        tell(listener, (struct meet_found){.defect = MEET_MASK_EXITED,
                                           .thread = w * RT_WARP_SIZE + l,
                                           .line = warp->line[l],
                                           .id = warp->mask[l],
                                           .number = LANE(lane)});
        let_go_if_complete(warp, l);
    }
}

void meet_end(struct meet_block *block, uint32_t thread, const struct meet_listener *listener)
{
    uint32_t w = thread / RT_WARP_SIZE;
    uint32_t lane = thread % RT_WARP_SIZE;
    block->exited++;
    block->warps[w].exited |= LANE(lane);
    leave_lanes(block, w, lane, listener);
    for (uint32_t id = 0; id < MEET_BARRIERS; id++)
        if (is_waited_at(block, &block->barriers[id]))
            look_at_warp(block, id, w, listener);
}

/* ---- nobody goes on ---- */

static uint32_t threads_at(const struct meet_block *block, const struct meet_barrier *barrier)
{
    uint32_t threads = barrier->arrivals * RT_WARP_SIZE;
    for (uint32_t w = 0; w < block->warp_count; w++)
        threads += (uint32_t)__builtin_popcount(barrier->lanes[w]);
    return threads;
}

static bool stuck_lanes(const struct meet_block *block, uint32_t w,
                        const struct meet_listener *listener)
{
    const struct meet_warp *warp = &block->warps[w];
    for (uint32_t rest = warp->waiting; rest != 0;) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        uint32_t lanes = lanes_with(warp, lane);
        tell(listener, (struct meet_found){.defect = MEET_STUCK_LANES,
                                           .thread = w * RT_WARP_SIZE + lane,
                                           .line = warp->line[lane],
                                           .id = warp->mask[lane],
                                           .number = lanes});
        rest &= ~lanes;
    }
    return warp->waiting != 0;
}

bool meet_stuck(const struct meet_block *block, const struct meet_listener *listener)
{
    bool is_stuck = false;
    for (uint32_t id = 0; id < MEET_BARRIERS; id++) {
        const struct meet_barrier *barrier = &block->barriers[id];
        if (!is_waited_at(block, barrier))
            continue;
        is_stuck = true;
        tell(listener, (struct meet_found){.defect = MEET_STUCK_BARRIER,
                                           .thread = barrier->thread,
                                           .line = barrier->line,
                                           .id = id,
                                           .number = threads_at(block, barrier)});
    }
    for (uint32_t w = 0; w < block->warp_count; w++)
        is_stuck |= stuck_lanes(block, w, listener);
    return is_stuck;
}
