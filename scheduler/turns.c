/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses what a block does next, and handles threads that are released, poll or exit.
 */
#include <string.h>

#include "scheduler/turns.h"

/* Turns of every polling thread before the worker looks for other work, if it has none at hand. */
#define POLL_ROUNDS 4

/* How long threads of a block poll before the worker looks for other work in any case, and how many
 * polls there are from one look at the clock to the next. */
#define STAY_NS        1000000
#define POLLS_PER_LOOK 64

static uint32_t count_threads(const struct sch_thread_set *set)
{
    uint32_t count = (uint32_t)__builtin_popcount(set->turn_lanes);
    for (uint32_t warps = set->warps; warps != 0; warps &= warps - 1)
        count += (uint32_t)__builtin_popcount(set->lanes[__builtin_ctz(warps)]);
    return count;
}

/* ---- turns ---- */

/* Warps of the set with lanes that gather: these wait until the others have had their turns. */
static uint32_t warps_waited_for(const struct sch_block *block, const struct sch_thread_set *set)
{
    uint32_t waited_for = 0;
    for (uint32_t warps = set->warps; warps != 0; warps &= warps - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(warps);
        waited_for |= block->warps[w].gathering != 0 ? SCH_LANE(w) : 0;
    }
    return waited_for;
}

/* The warps of which one has the next turn. Every second turn is one's that others wait for; not
 * each, for what they wait for may have to be done by a warp that nobody waits for. */
static uint32_t candidates(struct sch_block *block, const struct sch_thread_set *set)
{
    block->is_turn_of_all = !block->is_turn_of_all;
    uint32_t waited_for = block->is_turn_of_all ? 0 : warps_waited_for(block, set);
    return waited_for != 0 ? waited_for : set->warps;
}

/* Not if the set is empty. */
static void begin_turn(struct sch_block *block, struct sch_thread_set *set)
{
    uint32_t warps = candidates(block, set);
    uint32_t later = warps & ~((SCH_LANE(set->turn_warp) << 1) - 1);
    if (sch_chaos_below(block->worker, 2) == 1)
        later = 0;
    uint32_t w = (uint32_t)__builtin_ctz(later != 0 ? later : warps);
    set->turn_warp = w;
    set->turn_lanes = set->lanes[w];
    set->warps &= ~SCH_LANE(w);
    set->lanes[w] = 0;
}

/* NULL if the set is empty. */
static struct sch_thread *take_thread(struct sch_block *block, struct sch_thread_set *set)
{
    if (set->turn_lanes == 0) {
        if (set->warps == 0)
            return NULL;
        begin_turn(block, set);
    }
    uint32_t lane = (uint32_t)__builtin_ctz(set->turn_lanes);
    if (sch_chaos_below(block->worker, 2) == 1)
        lane = RT_WARP_SIZE - 1 - (uint32_t)__builtin_clz(set->turn_lanes);
    return sch_set_take_lane(block, set, lane);
}

/* A polling thread whose turn it is. */
static struct sch_thread *pop_polling(struct sch_block *block)
{
    struct sch_thread *thread = take_thread(block, &block->polling);
    if (thread)
        sch_warp_of(thread)->runnable |= SCH_LANE(thread->rt.lane);
    return thread;
}

struct sch_thread *sch_block_pop_slowly(struct sch_block *block)
{
    if (sch_chaos_below(block->worker, 8) == 1 && !sch_set_is_empty(&block->polling))
        return pop_polling(block);
    return take_thread(block, &block->ready);
}

/* ---- threads ---- */

void sch_lanes_release(struct sch_block *block, uint32_t warp_index, uint32_t lanes)
{
    struct sch_warp *warp = &block->warps[warp_index];
    const struct sch_thread *current = block->worker->current;
    warp->runnable |= lanes;
    warp->waiting &= ~lanes;
    /* The running thread just goes on. (A carrier is of no warp: it takes the thread from the
     * set.) It may be one of another block of the cluster. */
    if (current && current->rt.warp == warp_index && sch_block_of(current) == block)
        lanes &= ~SCH_LANE(current->rt.lane);
    if (lanes != 0)
        sch_set_add(&block->ready, warp_index, lanes);
}

void sch_lanes_ready(struct sch_block *block, uint32_t warp_index, uint32_t lanes)
{
    sch_block_progresses(block);
    sch_lanes_release(block, warp_index, lanes);
}

/* Whoever the thread waits for may be among those of its block that can run, poll, or have gathered
 * and wait for this one: then they come next, and asking again before they have been is in vain. */
static bool has_others_to_ask(const struct sch_block *block, const struct sch_warp *warp)
{
    return !sch_set_is_empty(&block->ready) || !sch_set_is_empty(&block->polling) ||
           warp->gathering != 0;
}

/* Threads that poll, with a barrier after each look, always have something to do. What they wait
 * for may be a block that has not begun, or is parked here: it gets its turn after a while. */
static void look_at_clock(struct sch_block *block)
{
    if (++block->polls % POLLS_PER_LOOK != 0)
        return;
    uint64_t now_ns = sch_now_ns();
    if (block->polls_since_ns == 0)
        block->polls_since_ns = now_ns;
    block->has_stayed = now_ns - block->polls_since_ns > STAY_NS;
}

void sch_block_begin_turn(struct sch_block *block)
{
    block->has_progressed = false;
    block->has_stayed = false;
    block->polls = 0;
    block->polls_since_ns = 0;
}

void sch_thread_poll(struct sch_thread *thread)
{
    look_at_clock(sch_block_of(thread));
    struct sch_warp *warp = sch_warp_of(thread);
    uint32_t lane = SCH_LANE(thread->rt.lane);
    bool is_hasty = has_others_to_ask(sch_block_of(thread), warp);
    thread->rt.poll_budget = is_hasty ? 0 : SCH_POLL_BUDGET;
    /* Lanes that run in step must not be torn apart because one of them has used up its budget:
     * those that have come to a meeting point since the last poll may come to another. */
    if (warp->polled & lane)
        sch_thread_stop(thread);
    warp->polled |= lane;
    warp->pollers |= lane;
    warp->certain &= ~lane;
    sch_set_add(&sch_block_of(thread)->polling, thread->rt.warp, lane);
}

void sch_thread_give_way(struct sch_thread *thread, bool is_certain)
{
    sch_thread_poll(thread);
    if (is_certain)
        sch_warp_of(thread)->certain |= SCH_LANE(thread->rt.lane);
}

/* ---- the block ---- */

enum sch_block_state sch_block_fail(struct sch_block *block, struct sch_fault *fault)
{
    fault->launch = block->rt.launch;
    fault->shared = (uintptr_t)block->rt.shared;
    fault->together = block->rt.together;
    for (int i = 0; i < 3; i++)
        fault->ctaid[i] = block->rt.ctaid[i];
    sch_grid_fail(block->grid, fault);
    return SCH_BLOCK_FAILED;
}

/* The first thread that has not exited. */
static void name_thread(const struct sch_block *block, struct sch_fault *fault)
{
    uint32_t warp = (uint32_t)__builtin_ctz(block->live_warps);
    uint32_t lane = (uint32_t)__builtin_ctz(block->warps[warp].live);
    const struct sch_thread *thread = &block->threads[warp * RT_WARP_SIZE + lane];
    memcpy(fault->tid, thread->rt.tid, sizeof fault->tid);
    fault->has_thread = true;
}

static enum sch_block_state fail_deadlock(struct sch_block *block)
{
    struct sch_fault fault = {.status = PXR_FAULT_DEADLOCK};
    name_thread(block, &fault);
    return sch_block_fail(block, &fault);
}

enum sch_block_state sch_block_rest(struct sch_block *block, bool has_thread)
{
    if (!sch_cluster_is_stuck(block))
        return SCH_BLOCK_WAITING;
    struct sch_fault fault = {.status = PXR_FAULT_DEADLOCK, .pc = block->polled_at};
    if (has_thread)
        name_thread(block, &fault);
    return sch_block_fail(block, &fault);
}

/* Whether all that poll wait for mbarriers and have asked in vain since any changed: only another
 * block of the cluster could help. Lanes that gather may be waiting for these turns. */
static bool is_stuck(const struct sch_block *block)
{
    const struct sch_thread_set *polling = &block->polling;
    uint32_t others = 0;
    if (polling->turn_lanes != 0)
        others = polling->turn_lanes & ~block->warps[polling->turn_warp].certain;
    for (uint32_t warps = polling->warps; warps != 0; warps &= warps - 1) {
        uint32_t w = (uint32_t)__builtin_ctz(warps);
        others |= polling->lanes[w] & ~block->warps[w].certain;
    }
    for (uint32_t warps = block->live_warps; warps != 0; warps &= warps - 1)
        others |= block->warps[__builtin_ctz(warps)].gathering;
    return others == 0;
}

/* Where other blocks wait for this worker, what these threads wait for is likely to be theirs. */
static uint32_t poll_rounds(const struct sch_block *block)
{
    return block->worker->parked_count > 0 ? 1 : POLL_ROUNDS;
}

/* The next thread that polls; NULL when all have had their turns without effect. */
static struct sch_thread *next_polling(struct sch_block *block)
{
    if (*block->rt.progress != block->progress) {
        block->progress = *block->rt.progress;
        for (uint32_t w = 0; w < block->warp_count; w++) {
            block->warps[w].certain = 0;
            block->warps[w].patience = 0;
        }
        sch_block_progresses(block);
    }
    if (block->fruitless_polls == 0 && is_stuck(block))
        return NULL;
    if (block->fruitless_polls == 0)
        block->poll_turns = poll_rounds(block) * count_threads(&block->polling);
    if (block->fruitless_polls >= block->poll_turns) {
        block->fruitless_polls = 0;
        return NULL;
    }
    block->fruitless_polls++;
    return pop_polling(block);
}

enum sch_block_state sch_block_choose(struct sch_block *block, struct sch_thread **thread)
{
    for (;;) {
        *thread = NULL;
        if (sch_block_is_cancelled(block))
            return SCH_BLOCK_FAILED;
        *thread = sch_block_pop_ready(block);
        if (!*thread && !sch_set_is_empty(&block->polling)) {
            *thread = next_polling(block);
            return !*thread && is_stuck(block) ? sch_block_rest(block, true) : SCH_BLOCK_WAITING;
        }
        if (*thread || block->live_count == 0)
            return SCH_BLOCK_ENDED;
        if (sch_barrier_release_stuck(block))
            continue;
        return block->seat.waiting_warps != 0 ? sch_block_rest(block, true) : fail_deadlock(block);
    }
}
