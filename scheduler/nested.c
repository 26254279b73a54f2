/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels launch: holds on their grids, and calls for which their stacks are too small.
 */
#include "scheduler/turns.h"

/* Enough for a compilation's part on the calling thread: paths, messages, a look into the cache. */
#define ASIDE_STACK_BYTES ((size_t)256 * 1024)

/* ---- holds ---- */

struct sch_op *sch_op_of(const struct rt_launch *launch)
{
    uintptr_t grid = (uintptr_t)launch - offsetof(struct sch_grid_op, grid.launch);
    return &((struct sch_grid_op *)grid)->op;
}

void sch_op_hold(struct sch_op *op)
{
    atomic_fetch_add_explicit(&sch_grid_of(op)->holds, 1, memory_order_relaxed);
}

static bool has_fault(const struct sch_grid_op *grid)
{
    return atomic_load_explicit(&grid->is_fault_taken, memory_order_relaxed);
}

bool sch_grid_is_alone(const struct sch_grid_op *grid)
{
    return atomic_load_explicit(&grid->holds, memory_order_acquire) == 1;
}

/* True for the last one. Acquire and release: it sees what all others have written. */
static bool drop_hold(struct sch_grid_op *grid)
{
    return sch_grid_is_alone(grid) ||
           atomic_fetch_sub_explicit(&grid->holds, 1, memory_order_acq_rel) == 1;
}

/* Whether something comes behind the blocks and all that they have launched. The caller has the
 * only hold meanwhile. */
static bool goes_on(struct sch_grid_op *grid)
{
    atomic_store_explicit(&grid->holds, 1, memory_order_relaxed);
    return grid->grid.last && !has_fault(grid) && grid->grid.last(grid->op.arg);
}

void sch_op_let_go(struct sch_op *op)
{
    struct sch_grid_op *grid = sch_grid_of(op);
    do {
        if (!drop_hold(grid))
            return;
    } while (goes_on(grid));
    sch_op_finish(op, has_fault(grid) ? &grid->fault : NULL);
}

void sch_grid_nest(struct sch_grid *grid, const struct sch_op *parent)
{
    const struct sch_grid *outer = &((const struct sch_grid_op *)(const void *)parent)->grid;
    grid->priority = outer->priority;
    grid->group = outer->group;
    grid->goes_first = true;
}

/* ---- calls on another stack ---- */

struct aside {
    void (*work)(void *arg);
    void *arg;
    struct sch_fiber *fiber; /* that it runs on */
    struct sch_fiber *caller;
};

static void *run_aside(void *arg)
{
    const struct aside *aside = arg;
    sch_context_arrived(&aside->fiber->ctx);
    aside->work(aside->arg);
    sch_context_switch(&aside->fiber->ctx, &aside->caller->ctx, true);
    __builtin_unreachable();
}

bool sch_call_aside(void (*work)(void *arg), void *arg)
{
    struct sch_worker *worker = sch_this_worker;
    struct sch_thread *thread = worker->current;
    uint32_t size_class = sch_stack_class(ASIDE_STACK_BYTES);
    struct sch_fiber *fiber = sch_fiber_take(&worker->fibers, size_class);
    if (!fiber && sch_fiber_grow(&worker->fibers, size_class))
        fiber = sch_fiber_take(&worker->fibers, size_class);
    if (!fiber)
        return false;
    struct aside aside = {work, arg, fiber, thread->fiber};
    sch_fiber_prepare(fiber, run_aside, &aside);
    /* A fault there is not the kernel's. */
    worker->current = NULL;
    sch_context_switch(&thread->fiber->ctx, &fiber->ctx, false);
    worker->current = thread;
    sch_fiber_put(&worker->fibers, fiber, false);
    return true;
}
