/* SPDX-License-Identifier: Apache-2.0
 *
 * Which thread of a block has the next turn, and how threads wait and are released: the same for
 * threads with fibers and for those that are taken step by step. Threads that can run go first,
 * then those that poll.
 */
#ifndef PTXRUN_SCHEDULER_TURNS_H
#define PTXRUN_SCHEDULER_TURNS_H

#include "scheduler/block.h"

/* ---- sets of threads ---- */

static inline void sch_set_add(struct sch_thread_set *set, uint32_t warp_index, uint32_t lanes)
{
    set->lanes[warp_index] |= lanes;
    set->warps |= SCH_LANE(warp_index);
}

static inline bool sch_set_is_empty(const struct sch_thread_set *set)
{
    return (set->warps | set->turn_lanes) == 0;
}

/* A lane of the warp whose turn it is; `lane` is one of turn_lanes. */
static inline struct sch_thread *sch_set_take_lane(struct sch_block *block,
                                                   struct sch_thread_set *set, uint32_t lane)
{
    uint32_t lanes = set->turn_lanes & ~SCH_LANE(lane);
    set->turn_lanes = lanes;
    struct sch_thread *warp_threads = &block->threads[set->turn_warp * RT_WARP_SIZE];
    /* The stacks of a block are more than the first cache level holds. */
    if (lanes != 0)
        __builtin_prefetch(warp_threads[__builtin_ctz(lanes)].sp);
    return &warp_threads[lane];
}

/* ---- the block ---- */

static inline bool sch_block_is_cancelled(const struct sch_block *block)
{
    return atomic_load_explicit(&block->grid->is_cancelled, memory_order_relaxed);
}

static inline void sch_block_progresses(struct sch_block *block)
{
    block->fruitless_polls = 0;
    block->has_progressed = true;
}

/* As sch_block_pop_ready, where a turn begins or chaos reigns. */
struct sch_thread *sch_block_pop_slowly(struct sch_block *block);

/* A thread that has been started and can run; NULL also when the grid is cancelled. */
static inline struct sch_thread *sch_block_pop_ready(struct sch_block *block)
{
    struct sch_thread_set *ready = &block->ready;
    if (sch_block_is_cancelled(block))
        return NULL;
    if (block->worker->chaos != 0 || (ready->turn_lanes == 0 && ready->warps != 0))
        return sch_block_pop_slowly(block);
    if (ready->turn_lanes == 0)
        return NULL;
    return sch_set_take_lane(block, ready, (uint32_t)__builtin_ctz(ready->turn_lanes));
}

/* The block's worker has come to it. */
void sch_block_begin_turn(struct sch_block *block);

/* Chooses what the block does next: *thread if it is not NULL; else the block's new state. All its
 * threads have been started. */
enum sch_block_state sch_block_choose(struct sch_block *block, struct sch_thread **thread);

/* Reports the fault with all that is known of the block: SCH_BLOCK_FAILED. */
enum sch_block_state sch_block_fail(struct sch_block *block, struct sch_fault *fault);

/* Continues with `next`, or the worker's loop if it is NULL, and saves `from` in *sp. */
static inline void sch_switch_to(struct sch_worker *worker, struct sch_thread *next,
                                 struct sch_context *from, void **sp, bool is_last)
{
    worker->current = next;
    sch_context_announce(from, next ? &next->fiber->ctx : &worker->scheduler, is_last);
    sch_context_swap(sp, next ? next->sp : worker->scheduler.sp);
    sch_context_arrived(from);
}

/* From the worker's loop: continues with `next`, or the carrier, until there is a switch back.
 * False if that was due to a fault, which worker->fault describes. */
static inline bool sch_switch_from_worker(struct sch_worker *worker, struct sch_thread *next)
{
    worker->current = next;
    sch_context_announce(&worker->scheduler, &next->fiber->ctx, false);
    sch_context_swap(&worker->scheduler.sp, next->sp);
    sch_context_returned(&worker->scheduler);
    worker->current = NULL;
    bool is_fault = worker->has_fault;
    worker->has_fault = false;
    return !is_fault;
}

/* ---- threads: what does not depend on how they are run ---- */

/* Lanes cannot go on: others of their warp may have waited for that. */
static inline void sch_lanes_stop(struct sch_block *block, uint32_t warp_index, uint32_t lanes)
{
    struct sch_warp *warp = &block->warps[warp_index];
    warp->runnable &= ~lanes;
    if (warp->gathering != 0)
        sch_warp_gathered(block, warp_index);
}

static inline void sch_thread_stop(struct sch_thread *thread)
{
    sch_lanes_stop(sch_block_of(thread), thread->rt.warp, SCH_LANE(thread->rt.lane));
}

static inline bool sch_thread_is_waiting(const struct sch_thread *thread)
{
    return (sch_warp_of(thread)->waiting & SCH_LANE(thread->rt.lane)) != 0;
}

/* The running thread has come to a meeting point … */
static inline void sch_thread_arrive(struct sch_thread *thread)
{
    struct sch_warp *warp = sch_warp_of(thread);
    warp->waiting |= SCH_LANE(thread->rt.lane);
    warp->polled &= ~SCH_LANE(thread->rt.lane);
}

/* … and stays there, unless it was released meanwhile. */
static inline void sch_thread_stay(struct sch_thread *thread)
{
    if (sch_thread_is_waiting(thread))
        sch_thread_stop(thread);
}

/* The running thread polls: threads that can run go first. */
void sch_thread_poll(struct sch_thread *thread);

/* The same for one that waits for a phase of an mbarrier; is_certain: for nothing else. */
void sch_thread_give_way(struct sch_thread *thread, bool is_certain);

/* The running thread has exited. */
static inline void sch_thread_end(struct sch_thread *thread)
{
    struct sch_block *block = sch_block_of(thread);
    struct sch_warp *warp = sch_warp_of(thread);
    warp->live &= ~SCH_LANE(thread->rt.lane);
    block->live_count--;
    sch_block_progresses(block);
    if (warp->live == 0)
        block->live_warps &= ~SCH_LANE(thread->rt.warp);
    if (block->barriers_used != 0)
        sch_barrier_exit(block, thread->rt.warp);
    if (warp->meeting_count != 0)
        sch_warp_exit(block, thread->rt.warp);
    sch_thread_stop(thread);
}

/* Releases lanes from their meeting point. */
void sch_lanes_ready(struct sch_block *block, uint32_t warp_index, uint32_t lanes);

/* The same where going on is not progress: the program may spin there. */
void sch_lanes_release(struct sch_block *block, uint32_t warp_index, uint32_t lanes);

#endif
