/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the threads of one block as fibers. Threads that can run go first, then threads that have
 * not been started (so warps tend to run one after another and few stacks are in use), then
 * threads that poll. A thread that ends hands its stack to the next one to be started: a kernel
 * without meeting points runs all its threads on one warm stack.
 */
#include <string.h>
#include <time.h>

#include "kernel_abi/placeholders.h"
#include "scheduler/float_mode.h"
#include "scheduler/turns.h"
#include "util/log.h"

/* Turns in which an interrupted block lets others go first: some of them should come to an end. */
#define REST_TURNS 16

/* ---- starting ---- */

static bool has_unstarted(const struct sch_block *block)
{
    return block->unstarted_first < block->unstarted_end;
}

/* Whether other code is to go on with the threads that have not been started, when all others have
 * ended. Under chaos they are not started in their order. */
static bool hands_over(const struct sch_block *block)
{
    return __atomic_load_n(block->rt.hand_over, __ATOMIC_RELAXED) >= RT_HAND_OVER_THREADS &&
           block->worker->chaos == 0 && has_unstarted(block) &&
           block->live_count == block->unstarted_end - block->unstarted_first;
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
    sch_block_progresses(block);
    return thread;
}

static void *fiber_main(void *arg);

/* Starts the next thread, on a stack from the free list; NULL if there is no thread or no stack. */
static struct sch_thread *start_next(struct sch_block *block)
{
    if (!has_unstarted(block))
        return NULL;
    struct sch_fiber *fiber = sch_fiber_take(&block->worker->fibers, block->fit->stack_class);
    if (!fiber)
        return NULL;
    if (!fiber->is_reusable)
        sch_fiber_prepare(fiber, fiber_main, fiber);
    return start_on(block, fiber);
}

/* ---- switching ---- */

/* Under chaos threads do not wait with their start until all others stand still. */
static struct sch_thread *start_early(struct sch_block *block)
{
    struct sch_worker *worker = block->worker;
    bool is_early = worker->chaos != 0 && has_unstarted(block) && sch_chaos_below(worker, 2) == 1;
    return is_early && !sch_block_is_cancelled(block) ? start_next(block) : NULL;
}

/* Leaves the running thread for the next one that can run, or for the scheduler. */
static void switch_away(struct sch_thread *thread)
{
    struct sch_block *block = sch_block_of(thread);
    struct sch_thread *next = start_early(block);
    if (!next)
        next = sch_block_pop_ready(block);
    if (!next && !sch_block_is_cancelled(block))
        next = start_next(block);
    if (next != thread)
        sch_switch_to(block->worker, next, &thread->fiber->ctx, &thread->sp, false);
}

void sch_thread_wait(struct sch_thread *thread)
{
    if (sch_thread_is_waiting(thread))
        switch_away(thread);
}

void sch_thread_yield(struct sch_thread *thread)
{
    sch_set_add(&sch_block_of(thread)->ready, thread->rt.warp, SCH_LANE(thread->rt.lane));
    switch_away(thread);
}

void sch_thread_interrupt(struct rt_thread *rt)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_block *block = sch_block_of(thread);
    struct sch_worker *worker = block->worker;
    if (worker->chaos == 0 || block->fit->code.fused ||
        sch_chaos_below(worker, worker->chaos_odds) != 0)
        return;
    if (sch_chaos_below(worker, 2) == 1) {
        sch_thread_yield(thread);
        return;
    }
    sch_set_add(&block->ready, rt->warp, SCH_LANE(rt->lane));
    block->gives_way = true;
    block->rest_turns = 1 + sch_chaos_below(worker, REST_TURNS);
    sch_switch_to(worker, NULL, &thread->fiber->ctx, &thread->sp, false);
}

/* ---- ending ---- */

/* Ends the running thread. Returns when the fiber has another thread to run, its new owner; never
 * if !is_reusable. Not inlined, so that stopped threads have fewer registers on their stacks: these
 * should be few cache lines. */
__attribute__((noinline)) static void end_thread(struct sch_thread *thread, bool is_reusable)
{
    sch_thread_end(thread);
    struct sch_block *block = sch_block_of(thread);
    struct sch_worker *worker = block->worker;
    struct sch_fiber *fiber = thread->fiber;
    thread->fiber = NULL;
    struct sch_thread *next = sch_block_pop_ready(block);
    if (!next && is_reusable && has_unstarted(block) && !sch_block_is_cancelled(block) &&
        !hands_over(block)) {
        worker->current = start_on(block, fiber);
        return;
    }
    sch_fiber_put(&worker->fibers, fiber, is_reusable);
    sch_switch_to(worker, next, &fiber->ctx, &fiber->ctx.sp, !is_reusable);
}

/* -fsanitize=function looks for a type in front of a function; generated code has none. */
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
__attribute__((noreturn)) static void fiber_loop(void *arg)
{
    struct sch_fiber *fiber = arg;
    for (;;) {
        struct sch_thread *thread = fiber->owner;
        sch_block_of(thread)->fit->code.entry(&thread->rt);
        end_thread(thread, true);
    }
}

static void *fiber_main(void *arg)
{
    struct sch_fiber *fiber = arg;
    sch_context_arrived(&fiber->ctx);
    fiber_loop(fiber);
}

void rt_exit(struct rt_thread *rt)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_fiber *fiber = thread->fiber;
#ifdef SCH_TSAN
    /* The dropped frames would stay on the shadow call stack: use a new one. */
    end_thread(thread, false);
#else
    end_thread(thread, true);
#endif
    sch_fiber_restart(fiber, fiber_loop, fiber);
}

/* Inside the call: the code behind it may belong to another line, or end there. */
static uintptr_t call_before(const void *return_address)
{
    return (uintptr_t)return_address - 1;
}

__attribute__((noreturn)) static void leave_with(struct rt_thread *rt,
                                                 const struct sch_fault *fault)
{
    struct sch_worker *worker = sch_block_of(sch_thread_of(rt))->worker;
    struct sch_thread *running = worker->current;
    worker->fault = *fault;
    worker->fault.is_local = fault->is_local || sch_is_local(running, fault->address);
    worker->fault.has_thread = true;
    memcpy(worker->fault.tid, rt->tid, sizeof rt->tid);
    worker->has_fault = true;
    sch_switch_to(worker, NULL, &running->fiber->ctx, &running->sp, true);
    __builtin_unreachable();
}

void sch_thread_fault(struct rt_thread *rt, enum pxr_status status, uint64_t address,
                      const void *return_address)
{
    leave_with(rt, &(struct sch_fault){
                       .status = status, .address = address, .pc = call_before(return_address)});
}

void rt_fault(struct rt_thread *thread, uint32_t status, uint64_t address)
{
    leave_with(thread, &(struct sch_fault){.status = (enum pxr_status)(status & ~RT_FAULT_LOCAL),
                                           .address = address,
                                           .pc = call_before(__builtin_return_address(0)),
                                           .is_local = (status & RT_FAULT_LOCAL) != 0});
}

void rt_unsupported(struct rt_thread *thread, const char *message)
{
    pxr_log(PXR_LOG_ERROR, "%s", message);
    sch_thread_fault(thread, PXR_FAULT_INSTRUCTION, 0, __builtin_return_address(0));
}

/* ---- progress ---- */

/* Leaves a thread that has polled. */
static void leave_poll(struct sch_thread *thread)
{
    struct sch_block *block = sch_block_of(thread);
    if (block->has_stayed)
        sch_switch_to(block->worker, NULL, &thread->fiber->ctx, &thread->sp, false);
    else
        switch_away(thread);
}

static void poll_at(struct sch_thread *thread, const void *return_address)
{
    sch_limit_poll(thread, return_address);
    sch_thread_poll(thread);
    leave_poll(thread);
}

void rt_poll(struct rt_thread *rt)
{
    poll_at(sch_thread_of(rt), __builtin_return_address(0));
}

void rt_give_way(struct rt_thread *rt, uint32_t is_certain)
{
    struct sch_thread *thread = sch_thread_of(rt);
    sch_limit_poll(thread, __builtin_return_address(0));
    sch_thread_give_way(thread, is_certain != 0);
    leave_poll(thread);
}

void rt_line_up(struct rt_thread *rt)
{
    (void)rt;
}

void rt_nanosleep(struct rt_thread *rt, uint32_t ns)
{
    /* PTX allows any duration from 0 to twice the one asked for: giving way once will do. */
    (void)ns;
    poll_at(sch_thread_of(rt), __builtin_return_address(0));
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

/* As sch_block_choose, while there may be threads that have not been started. */
static enum sch_block_state choose(struct sch_block *block, struct sch_thread **thread)
{
    while (has_unstarted(block) && !sch_block_is_cancelled(block)) {
        bool is_early = sch_chaos_below(block->worker, 2) == 1;
        *thread = is_early ? NULL : sch_block_pop_ready(block);
        if (!*thread)
            *thread = start_next(block);
        if (*thread)
            return SCH_BLOCK_ENDED;
        if (!sch_fiber_grow(&block->worker->fibers, block->fit->stack_class))
            return sch_block_fail(block, &(struct sch_fault){.status = PXR_OUT_OF_MEMORY});
    }
    return sch_block_choose(block, thread);
}

static enum sch_block_state run_threads(struct sch_block *block)
{
    struct sch_worker *worker = block->worker;
    sch_block_begin_turn(block);
    for (;;) {
        struct sch_thread *thread;
        if (hands_over(block)) {
            block->rt.first_thread = block->unstarted_first;
            block->rt.blocks_left = 1;
            return SCH_BLOCK_ENDED;
        }
        enum sch_block_state state = choose(block, &thread);
        if (!thread)
            return state;
        if (!sch_switch_from_worker(worker, thread))
            return sch_block_fail(block, &worker->fault);
        if (block->has_stayed) {
            block->has_progressed = false;
            return SCH_BLOCK_WAITING;
        }
        if (block->gives_way) {
            block->gives_way = false;
            block->has_progressed = true;
            return SCH_BLOCK_WAITING;
        }
    }
}

enum sch_block_state sch_precise_run(struct sch_block *block)
{
    const struct sch_code *code = &block->fit->code;
    sch_begin_flushes(code);
    enum sch_block_state state = run_threads(block);
    sch_end_flushes(code);
    return state;
}
