/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the threads of one block as fibers. Threads that can run go first, then threads that have
 * not been started (so warps tend to run one after another and few stacks are in use), then
 * threads that poll. A thread that ends hands its stack to the next one to be started: a kernel
 * without meeting points runs all its threads on one warm stack.
 */
#include <time.h>

#include "scheduler/precise.h"
#include "util/log.h"

/* Turns of every polling thread before the worker looks for other work. */
#define POLL_ROUNDS 4

static void add_threads(struct sch_thread_set *set, uint32_t warp_index, uint32_t lanes)
{
    set->lanes[warp_index] |= lanes;
    set->warps |= SCH_LANE(warp_index);
}

static bool is_empty(const struct sch_thread_set *set)
{
    return (set->warps | set->turn_lanes) == 0;
}

static uint32_t count_threads(const struct sch_thread_set *set)
{
    uint32_t count = (uint32_t)__builtin_popcount(set->turn_lanes);
    for (uint32_t warps = set->warps; warps != 0; warps &= warps - 1)
        count += (uint32_t)__builtin_popcount(set->lanes[__builtin_ctz(warps)]);
    return count;
}

/* Not if the set is empty. */
static void begin_turn(struct sch_block *block, struct sch_thread_set *set)
{
    uint32_t later = set->warps & ~((SCH_LANE(set->turn_warp) << 1) - 1);
    if (sch_chaos_below(block->worker, 2) == 1)
        later = 0;
    uint32_t w = (uint32_t)__builtin_ctz(later != 0 ? later : set->warps);
    set->turn_warp = w;
    set->turn_lanes = set->lanes[w];
    set->warps &= ~SCH_LANE(w);
    set->lanes[w] = 0;
}

static struct sch_thread *take_thread(struct sch_block *block, struct sch_thread_set *set)
{
    if (set->turn_lanes == 0) {
        if (set->warps == 0)
            return NULL;
        begin_turn(block, set);
    }
    uint32_t lanes = set->turn_lanes;
    uint32_t lane = (uint32_t)__builtin_ctz(lanes);
    if (sch_chaos_below(block->worker, 2) == 1)
        lane = RT_WARP_SIZE - 1 - (uint32_t)__builtin_clz(lanes);
    lanes &= ~SCH_LANE(lane);
    set->turn_lanes = lanes;
    struct sch_thread *warp_threads = &block->threads[set->turn_warp * RT_WARP_SIZE];
    /* The stacks of a block are more than the first cache level holds. */
    if (lanes != 0)
        __builtin_prefetch(warp_threads[__builtin_ctz(lanes)].sp);
    return &warp_threads[lane];
}

static bool is_cancelled(const struct sch_block *block)
{
    return atomic_load_explicit(&block->grid->is_cancelled, memory_order_relaxed);
}

static void note_progress(struct sch_block *block)
{
    block->fruitless_polls = 0;
    block->has_progressed = true;
}

/* ---- starting ---- */

static bool has_unstarted(const struct sch_block *block)
{
    return block->unstarted_first < block->unstarted_end;
}

static struct sch_thread *start_on(struct sch_block *block, struct sch_fiber *fiber)
{
    bool from_end = sch_chaos_below(block->worker, 2) == 1;
    uint32_t index = from_end ? --block->unstarted_end : block->unstarted_first++;
    struct sch_thread *thread = &block->threads[index];
    thread->fiber = fiber;
    thread->sp = fiber->ctx.sp;
    thread->rt.poll_budget = SCH_POLL_BUDGET;
    thread->rt.stack_limit = fiber->low + block->rt.launch->local_bytes;
    thread->rt.stack_base = fiber->top;
    fiber->owner = thread;
    note_progress(block);
    return thread;
}

static void fiber_main(void *arg);

/* The next thread, on a stack from the free list; NULL if there is none of either. */
static struct sch_thread *start_next(struct sch_block *block)
{
    if (!has_unstarted(block))
        return NULL;
    struct sch_fiber *fiber = sch_fiber_take(&block->worker->fibers, block->grid->stack_class);
    if (!fiber)
        return NULL;
    if (!fiber->is_reusable)
        sch_fiber_prepare(fiber, fiber_main, fiber);
    return start_on(block, fiber);
}

/* A thread whose turn it is to poll. */
static struct sch_thread *pop_polling(struct sch_block *block)
{
    struct sch_thread *thread = take_thread(block, &block->polling);
    if (thread)
        sch_warp_of(thread)->runnable |= SCH_LANE(thread->rt.lane);
    return thread;
}

/* A thread that can run without a new stack; NULL also when the grid is cancelled. */
static struct sch_thread *pop_ready(struct sch_block *block)
{
    if (is_cancelled(block))
        return NULL;
    if (sch_chaos_below(block->worker, 8) == 1 && !is_empty(&block->polling))
        return pop_polling(block);
    return take_thread(block, &block->ready);
}

/* ---- switching ---- */

/* Goes on with `next`, or the scheduler's loop if it is NULL, and keeps in *sp where `from` is. */
static inline void switch_to(struct sch_worker *worker, struct sch_thread *next,
                             struct sch_context *from, void **sp, bool is_last)
{
    worker->current = next;
    sch_context_announce(from, next ? &next->fiber->ctx : &worker->scheduler, is_last);
    sch_context_swap(sp, next ? next->sp : worker->scheduler.sp);
    sch_context_arrived(from);
}

/* Leaves the running thread for the next one that can run, or for the scheduler. */
static void switch_away(struct sch_thread *thread)
{
    struct sch_block *block = sch_block_of(thread);
    struct sch_thread *next = pop_ready(block);
    if (!next && !is_cancelled(block))
        next = start_next(block);
    if (next != thread)
        switch_to(block->worker, next, &thread->fiber->ctx, &thread->sp, false);
}

/* The running thread cannot go on: others of its warp may have waited for just that. */
static void stop_running(struct sch_thread *thread)
{
    struct sch_warp *warp = sch_warp_of(thread);
    warp->runnable &= ~SCH_LANE(thread->rt.lane);
    if (warp->gathering != 0)
        sch_warp_gathered(sch_block_of(thread), thread->rt.warp);
}

void sch_thread_arrive(struct sch_thread *thread)
{
    struct sch_warp *warp = sch_warp_of(thread);
    warp->waiting |= SCH_LANE(thread->rt.lane);
    warp->polled &= ~SCH_LANE(thread->rt.lane);
}

void sch_thread_wait(struct sch_thread *thread)
{
    const struct sch_warp *warp = sch_warp_of(thread);
    uint32_t lane = SCH_LANE(thread->rt.lane);
    if (!(warp->waiting & lane))
        return;
    stop_running(thread);
    if (warp->waiting & lane)
        switch_away(thread);
}

void sch_lanes_release(struct sch_block *block, uint32_t warp_index, uint32_t lanes)
{
    struct sch_warp *warp = &block->warps[warp_index];
    const struct sch_thread *current = block->worker->current;
    warp->runnable |= lanes;
    warp->waiting &= ~lanes;
    if (current && current->rt.warp == warp_index)
        lanes &= ~SCH_LANE(current->rt.lane);
    if (lanes != 0)
        add_threads(&block->ready, warp_index, lanes);
}

void sch_lanes_ready(struct sch_block *block, uint32_t warp_index, uint32_t lanes)
{
    note_progress(block);
    sch_lanes_release(block, warp_index, lanes);
}

/* ---- ending ---- */

static void end_thread(struct sch_thread *thread)
{
    struct sch_block *block = sch_block_of(thread);
    struct sch_warp *warp = sch_warp_of(thread);
    warp->live &= ~SCH_LANE(thread->rt.lane);
    block->live_count--;
    note_progress(block);
    if (warp->live == 0)
        block->live_warps &= ~SCH_LANE(thread->rt.warp);
    if (block->barriers_used != 0)
        sch_barrier_exit(block, thread->rt.warp);
    if (warp->meeting_count != 0)
        sch_warp_exit(block, thread->rt.warp);
    stop_running(thread);
}

/* After end_thread: comes back when the fiber has another thread to run, its new owner. Not at all
 * if !is_reusable. */
static void find_next_owner(struct sch_thread *thread, bool is_reusable)
{
    struct sch_block *block = sch_block_of(thread);
    struct sch_worker *worker = block->worker;
    struct sch_fiber *fiber = thread->fiber;
    thread->fiber = NULL;
    struct sch_thread *next = pop_ready(block);
    if (!next && is_reusable && has_unstarted(block) && !is_cancelled(block)) {
        worker->current = start_on(block, fiber);
        return;
    }
    sch_fiber_put(&worker->fibers, fiber, is_reusable);
    switch_to(worker, next, &fiber->ctx, &fiber->ctx.sp, !is_reusable);
}

/* -fsanitize=function looks for a type in front of a function; generated code has none. */
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
static void
fiber_loop(void *arg)
{
    struct sch_fiber *fiber = arg;
    for (;;) {
        struct sch_thread *thread = fiber->owner;
        sch_block_of(thread)->grid->grid.entry(&thread->rt);
        end_thread(thread);
        find_next_owner(thread, true);
    }
}

static void fiber_main(void *arg)
{
    struct sch_fiber *fiber = arg;
    sch_context_arrived(&fiber->ctx);
    fiber_loop(fiber);
}

void rt_exit(struct rt_thread *rt)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_fiber *fiber = thread->fiber;
    end_thread(thread);
#ifdef SCH_TSAN
    /* The frames that are dropped would stay on the shadow call stack: use a new one. */
    find_next_owner(thread, false);
#else
    find_next_owner(thread, true);
#endif
    sch_fiber_restart(fiber, fiber_loop, fiber);
}

void sch_thread_fault(struct rt_thread *rt, enum pxr_status status, uint64_t address,
                      const void *return_address)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_worker *worker = sch_block_of(thread)->worker;
    worker->fault = (struct sch_fault){
        .status = status,
        .address = address,
        /* In the call: what follows it may belong to another line, or be the end of the code. */
        .pc = (uintptr_t)return_address - 1,
        .tid = {rt->tid[0], rt->tid[1], rt->tid[2]},
        .has_thread = true,
    };
    worker->has_fault = true;
    switch_to(worker, NULL, &thread->fiber->ctx, &thread->sp, true);
    __builtin_unreachable();
}

void rt_fault(struct rt_thread *thread, uint32_t status, uint64_t address)
{
    sch_thread_fault(thread, (enum pxr_status)status, address, __builtin_return_address(0));
}

void rt_unsupported(struct rt_thread *thread, const char *message)
{
    pxr_log(PXR_LOG_ERROR, "%s", message);
    sch_thread_fault(thread, PXR_FAULT_INSTRUCTION, 0, __builtin_return_address(0));
}

/* ---- progress ---- */

void rt_poll(struct rt_thread *rt)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_block *block = sch_block_of(thread);
    struct sch_warp *warp = sch_warp_of(thread);
    uint32_t lane = SCH_LANE(rt->lane);
    rt->poll_budget = SCH_POLL_BUDGET;
    /* Lanes that run in step must not be torn apart because one of them has used up its budget:
     * who has come to a meeting point since the last poll may come to another. */
    if (warp->polled & lane)
        stop_running(thread);
    warp->polled |= lane;
    add_threads(&block->polling, rt->warp, lane);
    switch_away(thread);
}

void rt_nanosleep(struct rt_thread *rt, uint32_t ns)
{
    /* PTX allows any duration from 0 to twice what is asked for: giving way once is in it. */
    (void)ns;
    rt_poll(rt);
}

uint64_t rt_clock(void)
{
    return sch_now_ns();
}

uint64_t rt_globaltimer(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the scheduler's side ---- */

static enum sch_block_state fail(struct sch_block *block, struct sch_fault *fault)
{
    fault->launch = block->rt.launch;
    fault->shared = (uintptr_t)block->rt.shared;
    for (int i = 0; i < 3; i++)
        fault->ctaid[i] = block->rt.ctaid[i];
    sch_grid_fail(block->grid, fault);
    return SCH_BLOCK_FAILED;
}

static enum sch_block_state fail_deadlock(struct sch_block *block)
{
    struct sch_fault fault = {.status = PXR_FAULT_DEADLOCK, .has_thread = true};
    uint32_t warp = (uint32_t)__builtin_ctz(block->live_warps);
    uint32_t lane = (uint32_t)__builtin_ctz(block->warps[warp].live);
    const struct sch_thread *thread = &block->threads[warp * RT_WARP_SIZE + lane];
    for (int i = 0; i < 3; i++)
        fault.tid[i] = thread->rt.tid[i];
    return fail(block, &fault);
}

/* The next thread that polls, NULL when all have had their turns without effect. */
static struct sch_thread *next_polling(struct sch_block *block)
{
    if (block->fruitless_polls == 0)
        block->poll_turns = POLL_ROUNDS * count_threads(&block->polling);
    if (block->fruitless_polls >= block->poll_turns) {
        block->fruitless_polls = 0;
        return NULL;
    }
    block->fruitless_polls++;
    return pop_polling(block);
}

/* What the block does next: *thread if it is not NULL; else the block's new state. */
static enum sch_block_state choose(struct sch_block *block, struct sch_thread **thread)
{
    struct sch_worker *worker = block->worker;
    for (;;) {
        *thread = NULL;
        if (is_cancelled(block))
            return SCH_BLOCK_FAILED;
        *thread = pop_ready(block);
        if (!*thread && has_unstarted(block)) {
            *thread = start_next(block);
            if (!*thread && sch_fiber_grow(&worker->fibers, block->grid->stack_class))
                continue;
            if (!*thread)
                return fail(block, &(struct sch_fault){.status = PXR_OUT_OF_MEMORY});
        }
        if (!*thread && !is_empty(&block->polling)) {
            *thread = next_polling(block);
            return SCH_BLOCK_WAITING;
        }
        if (*thread || block->live_count == 0)
            return SCH_BLOCK_ENDED;
        if (!sch_barrier_release_stuck(block))
            return fail_deadlock(block);
    }
}

enum sch_block_state sch_block_run(struct sch_block *block)
{
    struct sch_worker *worker = block->worker;
    block->has_progressed = false;
    for (;;) {
        struct sch_thread *thread;
        enum sch_block_state state = choose(block, &thread);
        if (!thread)
            return state;
        worker->current = thread;
        sch_context_announce(&worker->scheduler, &thread->fiber->ctx, false);
        sch_context_swap(&worker->scheduler.sp, thread->sp);
        sch_context_returned(&worker->scheduler);
        worker->current = NULL;
        if (worker->has_fault) {
            worker->has_fault = false;
            return fail(block, &worker->fault);
        }
    }
}
