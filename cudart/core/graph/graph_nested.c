/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs that kernels launch. One that is to run at once holds the grid that has launched it. One
 * that is to come last is a tail of the run that its kernel belongs to: such runs have an exit, an
 * operation that is submitted when the steps and all tails have ended. The tails of a tail become
 * its owner's, before those that are left, so that a graph may launch itself without end.
 */
#include "cudart/core/base/process.h"
#include "cudart/core/code/children.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/graph/graph_exec.h"
#include "cudart/core/graph/graph_plan.h"
#include "cudart/core/graph/graph_run.h"
#include "cudart/core/streams/context.h"
#include "scheduler/scheduler.h"

/* Streams of kernels for graphs, as CUDA numbers them. */
#define STREAM_TAIL            UINT64_C(0x0100000000000000)
#define STREAM_FIRE_AND_FORGET UINT64_C(0x0200000000000000)

/* ---- the end of a run ---- */

static void end_exit(void *arg, const struct sch_fault *fault)
{
    struct crt_run *run = arg;
    struct sch_op *parent_op = run->parent_op;
    bool is_nested = parent_op || run->owner;
    (void)fault;
    if (is_nested)
        atomic_fetch_sub(&run->exec->nested, 1);
    if (!run->is_incomplete)
        crt_run_free(run);
    if (parent_op)
        sch_op_let_go(parent_op);
}

struct sch_op *crt_run_create_exit(struct crt_run *run)
{
    run->exit = sch_op_marker(end_exit, run);
    return run->exit;
}

static void finish(struct crt_run *run)
{
    struct sch_op *exit = run->exit;
    sch_op_submit(exit);
    sch_op_release(exit);
}

static struct crt_run *take_first(struct crt_run_list *list)
{
    struct crt_run *run = list->first;
    if (run)
        list->first = run->next;
    return run;
}

static void append(struct crt_run_list *list, struct crt_run *run)
{
    run->next = NULL;
    if (list->first)
        list->last->next = run;
    else
        list->first = run;
    list->last = run;
}

/* Starts the next tail; without one, or with a context that has failed, all is over. */
static void start_next(struct crt_run *run)
{
    struct crt_run *tail;
    while ((tail = take_first(&run->tails))) {
        bool may_start = crt_context_sticky(run->ctx) == CRT_SUCCESS;
        if (may_start && crt_run_start(tail) == CRT_SUCCESS)
            return;
        if (may_start)
            crt_context_poison(run->ctx, CRT_OUT_OF_MEMORY);
        finish(tail);
    }
    finish(run);
}

void crt_run_go_on(struct crt_run *run)
{
    struct crt_run *owner = run->owner;
    struct crt_run *tail;
    if (!owner) {
        start_next(run);
        return;
    }
    struct crt_run_list rest = owner->tails;
    owner->tails = (struct crt_run_list){0};
    while ((tail = take_first(&run->tails)))
        append(&owner->tails, tail);
    while ((tail = take_first(&rest)))
        append(&owner->tails, tail);
    finish(run);
    start_next(owner);
}

/* ---- launches ---- */

/* Around lists of tails, while kernels add to them. */
static pthread_mutex_t tails_lock = PTHREAD_MUTEX_INITIALIZER;

static void add_tail(struct crt_run *from, struct crt_run *tail)
{
    pthread_mutex_lock(&tails_lock);
    append(&from->tails, tail);
    pthread_mutex_unlock(&tails_lock);
}

/* A kernel may launch a graph that is not on its way already, or, as a tail, its own. */
static bool may_launch(const struct crt_graph_exec *exec, const struct crt_run *from, bool is_tail)
{
    bool is_own = from && from->exec == exec;
    return (exec->flags & CRT_INSTANTIATE_DEVICE_LAUNCH) && exec->plan &&
           (is_own ? is_tail : atomic_load(&exec->nested) == 0);
}

/* The plan must live as long as the run: whoever ends the executable graph waits for its last
 * launch. The run at the root of a chain of tails outlives them. */
static void note_last(struct crt_graph_exec *exec, const struct crt_run *root, struct crt_run *run)
{
    if (root && root->exec == exec)
        return;
    sch_op_release(exec->last);
    exec->last = sch_op_retain(run->exit);
}

static struct crt_run *create_nested(struct crt_graph_exec *exec, struct crt_context *ctx,
                                     const struct crt_run *root)
{
    if (crt_graph_exec_prepare(exec, ctx) != CRT_SUCCESS)
        return NULL;
    struct crt_run *run = crt_run_create(exec->plan);
    if (!run || !crt_run_create_exit(run)) {
        crt_run_free(run);
        return NULL;
    }
    run->ctx = ctx;
    run->exec = exec;
    run->stride = 1;
    run->number = crt_next_numbers(exec->plan->count + 1);
    atomic_fetch_add(&exec->nested, 1);
    note_last(exec, root, run);
    return run;
}

static uint32_t launch_locked(struct crt_graph_exec *exec, const struct rt_launch *launch,
                              bool is_tail)
{
    const struct crt_launch *kernel = crt_launch_of(launch);
    struct crt_run *from = kernel->graph_run;
    if (!may_launch(exec, from, is_tail) || (is_tail && !from))
        return CRT_CHILD_INVALID_VALUE;
    struct crt_run *root = from && from->owner ? from->owner : from;
    struct crt_run *run = create_nested(exec, kernel->ctx, is_tail ? root : NULL);
    if (!run)
        return CRT_CHILD_OUT_OF_MEMORY;
    if (is_tail) {
        run->owner = root;
        add_tail(from, run);
        return CRT_CHILD_SUCCESS;
    }
    run->parent_op = sch_op_of(launch);
    sch_op_hold(run->parent_op);
    if (crt_run_start(run) == CRT_SUCCESS)
        return CRT_CHILD_SUCCESS;
    finish(run);
    return CRT_CHILD_OUT_OF_MEMORY;
}

uint32_t crt_run_launch_nested(struct rt_thread *thread, uint64_t graph, uint64_t stream)
{
    struct crt_graph_exec *exec = (struct crt_graph_exec *)(uintptr_t)graph;
    bool is_tail = stream == STREAM_TAIL;
    if (!crt_graph_exec_is_valid(exec) || (!is_tail && stream != STREAM_FIRE_AND_FORGET))
        return CRT_CHILD_INVALID_VALUE;
    pthread_mutex_lock(&exec->lock);
    uint32_t error = launch_locked(exec, thread->block->launch, is_tail);
    pthread_mutex_unlock(&exec->lock);
    return error;
}
