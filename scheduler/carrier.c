/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs fused kernels: one fiber, the carrier, for a whole chunk of blocks. Only rt_block_mix, when
 * all remaining threads poll, and faults leave it in the middle.
 */
#include <string.h>

#include "scheduler/float_mode.h"
#include "scheduler/turns.h"

/* Sets the bounds of the stack that the threads run on: the same for all, and usually as last
 * time. */
static void set_limits(struct sch_block *block, const struct sch_fiber *fiber)
{
    if (block->limits_of == fiber)
        return;
    for (uint32_t i = 0; i < block->thread_count; i++) {
        struct rt_thread *thread = &block->threads[i].rt;
        thread->poll_budget = SCH_POLL_BUDGET;
        thread->stack_limit = fiber->low;
        thread->stack_base = fiber->top;
    }
    block->limits_of = fiber;
}

void sch_carrier_leave(struct sch_block *block, enum sch_block_state state)
{
    struct sch_thread *carrier = &block->carrier;
    block->state = state;
    block->stepping = NULL;
    sch_switch_to(block->worker, NULL, &carrier->fiber->ctx, &carrier->sp,
                  state != SCH_BLOCK_WAITING);
}

/* Where the worker continues. */
static void *end_carrier(struct sch_block *block)
{
#if defined(SCH_ASAN) || defined(SCH_TSAN)
    /* Sanitizers follow the calls of each stack, and would see the end of these on the next. */
    sch_carrier_leave(block, SCH_BLOCK_ENDED);
#endif
    block->state = SCH_BLOCK_ENDED;
    block->stepping = NULL;
    block->worker->current = NULL;
    return block->worker->scheduler.sp;
}

/* The polls left to the previous block's threads say nothing of these. */
static void renew_budgets(struct sch_block *block)
{
    for (uint32_t i = 0; block->fit->code.may_wait && i < block->thread_count; i++)
        block->threads[i].rt.poll_budget = SCH_POLL_BUDGET;
}

static bool goes_on(struct sch_block *block)
{
    if (!block->go_on)
        return false;
    block->chunk = block->go_on(block->go_on_arg);
    return block->chunk > 0;
}

/* -fsanitize=function looks for a type in front of a function; generated code has none. */
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
static void *carrier_main(void *arg)
{
    struct sch_block *block = arg;
    sch_context_arrived(&block->carrier.fiber->ctx);
    do {
        renew_budgets(block);
        block->fit->code.fused(&block->rt, block->chunk);
    } while (goes_on(block));
    return end_carrier(block);
}

/* Fresh memory is full of zeros, which a program might rely on by mistake. */
static void spoil_frame(struct sch_block *block)
{
    if (block->worker->chaos != 0)
        memset(block->rt.frame, (int)(1 + sch_chaos_below(block->worker, 255)), block->frame_bytes);
}

static void prepare_carrier(struct sch_block *block)
{
    struct sch_fiber *fiber = block->carrier.fiber;
    sch_fiber_prepare(fiber, carrier_main, block);
    spoil_frame(block);
    block->carrier.sp = fiber->ctx.sp;
    block->stepping = NULL;
    block->has_progressed = true;
}

static bool start_carrier(struct sch_block *block)
{
    struct sch_fiber_pool *fibers = &block->worker->fibers;
    uint32_t size_class = block->fit->stack_class;
    struct sch_fiber *fiber = sch_fiber_take(fibers, size_class);
    if (!fiber && sch_fiber_grow(fibers, size_class))
        fiber = sch_fiber_take(fibers, size_class);
    if (!fiber)
        return false;
    set_limits(block, fiber);
    block->carrier.rt.block = &block->rt;
    block->carrier.rt.warp = SCH_WARPS_MAX; /* none */
    block->carrier.fiber = fiber;
    prepare_carrier(block);
    return true;
}

enum sch_block_state sch_fused_run(struct sch_block *block)
{
    struct sch_worker *worker = block->worker;
    sch_block_begin_turn(block);
    if (sch_block_is_cancelled(block))
        return SCH_BLOCK_FAILED;
    if (!block->carrier.fiber && !start_carrier(block))
        return sch_block_fail(block, &(struct sch_fault){.status = PXR_OUT_OF_MEMORY});
    sch_begin_flushes(&block->fit->code);
    bool is_right = sch_switch_from_worker(worker, &block->carrier);
    sch_end_flushes(&block->fit->code);
    return is_right ? block->state : sch_block_fail(block, &worker->fault);
}

void sch_fused_renew(struct sch_block *block, uint64_t index, uint32_t count)
{
    sch_block_place(block, index, count);
    prepare_carrier(block);
}
