/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of plans.
 *
 * Operations are made in the order of the steps and depend on those of earlier ones, or on the
 * first operation, which is put into the stream together with the last one: so nothing can come in
 * between. When nothing holds up the launch, small steps run ahead of all this, here and one after
 * the other, up to the first that is not small. A conditional node is two operations: one that
 * decides, starts a body, and decides again when the body has ended, and one that successors wait
 * for, which is submitted when nothing is left to decide. Both happen in done functions, on
 * whichever thread ended the last operation.
 */
#include "cudart/core/graph/graph_launch.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/process.h"
#include "cudart/core/base/stats.h"
#include "cudart/core/code/conditional.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/graph/graph_exec.h"
#include "cudart/core/graph/graph_plan.h"
#include "cudart/core/graph/graph_run.h"
#include "cudart/core/memory/copy.h"
#include "cudart/core/memory/mem_op.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/event.h"

/* The numbers of launches order their output. A plan with conditional nodes takes many, so that
 * there is room between the steps for launches of the bodies. */
#define NUMBERS_FOR_BODIES (UINT64_C(1) << 24)

#define RUN_ALIGN          CRT_PARAMS_ALIGN_MAX

/* A conditional node that is being decided. */
struct crt_loop {
    const struct crt_step *step;
    struct crt_context *ctx;
    struct crt_stream *stream;
    int priority;
    bool has_own_priorities;
    struct sch_op *exit;
    bool has_had_turn;
    _Atomic uint64_t own_counter;
    _Atomic uint64_t *counter; /* own_counter, or that of the loop around */
};

static void decide(void *arg, const struct sch_fault *fault);

static size_t round_up(size_t bytes)
{
    return (bytes + RUN_ALIGN - 1) & ~(RUN_ALIGN - 1);
}

/* One block: the run, the launches, the host calls and the exits. */
struct crt_run *crt_run_create(struct crt_plan *plan)
{
    size_t head = round_up(sizeof(struct crt_run));
    size_t calls = round_up(plan->host_count * sizeof(struct crt_host_call));
    size_t exits = round_up(plan->count * sizeof(struct sch_op *));
    uint8_t *block = atomic_exchange(&plan->spare, NULL);
    if (!block)
        block = aligned_alloc(RUN_ALIGN, head + round_up(plan->launch_bytes) + calls + exits);
    if (!block)
        return NULL;
    struct crt_run *run = (struct crt_run *)(void *)block;
    uint8_t *after = block + head + round_up(plan->launch_bytes);
    *run = (struct crt_run){.plan = plan,
                            .launches = block + head,
                            .calls = (struct crt_host_call *)(void *)after,
                            .exits = (struct sch_op **)(void *)(after + calls)};
    if (plan->launch_bytes)
        memcpy(run->launches, plan->launches, plan->launch_bytes);
    run->submit_ns = crt_now_ns();
    return run;
}

/* Large blocks come from the system and go back to it: the plan keeps one. */
void crt_run_free(struct crt_run *run)
{
    if (run)
        free(atomic_exchange(&run->plan->spare, run));
}

static void end_run(void *arg, const struct sch_fault *fault)
{
    struct crt_run *run = arg;
    struct crt_loop *loop = run->loop;
    (void)fault;
    crt_graph_memory_end(&run->memory);
    if (run->exit) {
        crt_run_go_on(run);
        return;
    }
    if (!run->is_incomplete)
        crt_run_free(run);
    if (loop)
        decide(loop, NULL);
}

/* ---- operations ---- */

static void run_copy(void *arg)
{
    const struct crt_step *step = arg;
    crt_copy_run(&step->work.copy, NULL);
}

static void run_fill(void *arg)
{
    const struct crt_step *step = arg;
    crt_fill_run(&step->work.fill, NULL);
}

static void run_host(void *arg)
{
    const struct crt_host_call *call = arg;
    const struct crt_work *work = &call->step->work;
    enum crt_result sticky = crt_context_sticky(call->run->ctx);
    if (work->host.callback)
        work->host.callback(call->run->stream, sticky, work->host.arg);
    else if (sticky == CRT_SUCCESS)
        work->host.fn(work->host.arg);
}

static struct sch_op *host_operation(struct crt_run *run, const struct crt_step *step)
{
    struct crt_host_call *call = &run->calls[run->call_count++];
    *call = (struct crt_host_call){.run = run, .step = step};
    return sch_op_host(run_host, NULL, call);
}

static uint64_t number_of(const struct crt_run *run, size_t index)
{
    return run->stride ? run->number + index * run->stride : atomic_fetch_add(run->counter, 1);
}

/* The last operation of the previous step, for statistics. */
static struct sch_op *previous_of(const struct crt_run *run, const struct crt_step *step)
{
    if (!crt_stats_are_on())
        return NULL;
    const size_t *deps = &run->plan->deps[step->first_dep];
    return sch_op_retain(step->dep_count ? run->exits[deps[step->dep_count - 1]] : run->begin);
}

/* What kernels know as the graph that they belong to: only one that kernels may launch. */
static uint64_t handle_of(const struct crt_graph_exec *exec)
{
    bool is_known = exec && (exec->flags & CRT_INSTANTIATE_DEVICE_LAUNCH);
    return is_known ? (uint64_t)(uintptr_t)exec : 0;
}

static struct sch_op *kernel_operation(struct crt_run *run, const struct crt_step *step,
                                       size_t index)
{
    struct crt_launch *launch = crt_step_launch(step, run->launches);
    struct sch_grid grid = step->grid;
    crt_launch_renew(launch, &grid);
    launch->number = number_of(run, index);
    launch->race_work = 0;
    launch->submit_ns = run->submit_ns;
    if (grid.is_cooperative) {
        launch->workspace = crt_launch_create_workspace();
        if (!launch->workspace)
            return NULL;
    }
    bool has_priority = run->has_own_priorities && step->has_priority;
    grid.priority = has_priority ? step->priority : run->priority;
    grid.launch.params = launch->params;
    grid.launch.grid_id = launch->number;
    grid.launch.grid_workspace = (uint64_t)(uintptr_t)launch->workspace;
    grid.launch.graph_exec = handle_of(run->exec);
    launch->graph_run = run->exit ? run : NULL;
    struct sch_op *op = sch_op_grid(&grid, crt_launch_finish, launch);
    if (!op) {
        free(launch->workspace);
        launch->workspace = NULL;
        return NULL;
    }
    launch->previous = previous_of(run, step);
    return op;
}

/* From now on the event stands for this place of the graph. */
static struct sch_op *record_operation(const struct crt_step *step)
{
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (op && crt_event_is_valid(step->work.event))
        crt_event_set_operation(step->work.event, sch_op_retain(op));
    return op;
}

static struct sch_op *wait_operation(const struct crt_step *step)
{
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (!op || !crt_event_is_valid(step->work.event))
        return op;
    struct sch_op *recorded = crt_event_operation(step->work.event);
    if (sch_op_depend(op, recorded) != PXR_OK) {
        sch_op_release(op);
        op = NULL;
    }
    sch_op_release(recorded);
    return op;
}

/* The operation that decides; *exit is the one that successors wait for. */
static struct sch_op *conditional_operation(struct crt_run *run, const struct crt_step *step,
                                            size_t index, struct sch_op **exit)
{
    struct crt_loop *loop = malloc(sizeof *loop);
    if (!loop)
        return NULL;
    *loop = (struct crt_loop){.step = step,
                              .ctx = run->ctx,
                              .stream = run->stream,
                              .priority = run->priority,
                              .has_own_priorities = run->has_own_priorities};
    atomic_init(&loop->own_counter, run->stride ? number_of(run, index) : 0);
    loop->counter = run->stride ? &loop->own_counter : run->counter;
    loop->exit = sch_op_marker(NULL, NULL);
    struct sch_op *op = loop->exit ? sch_op_marker(decide, loop) : NULL;
    if (!op) {
        sch_op_release(loop->exit);
        free(loop);
        return NULL;
    }
    *exit = sch_op_retain(loop->exit);
    return op;
}

/* The operation that does a step's work. *exit: when its successors do not wait for the same one,
 * a reference to the other. */
static struct sch_op *create_operation(struct crt_run *run, const struct crt_step *step,
                                       size_t index, struct sch_op **exit)
{
    struct sch_op *first = NULL;
    switch (step->work.kind) {
    case CRT_NODE_KERNEL:
        return kernel_operation(run, step, index);
    case CRT_NODE_COPY:
        return sch_op_task(run_copy, NULL, (void *)(uintptr_t)step);
    case CRT_NODE_FILL:
        return sch_op_task(run_fill, NULL, (void *)(uintptr_t)step);
    case CRT_NODE_HOST:
        return host_operation(run, step);
    case CRT_NODE_RECORD_EVENT:
        return record_operation(step);
    case CRT_NODE_WAIT_EVENT:
        return wait_operation(step);
    case CRT_NODE_MEM_OPS:
        if (crt_mem_ops_span(run->ctx, step->work.mem_ops.ops, step->work.mem_ops.count, &first,
                             exit) != CRT_SUCCESS)
            return NULL;
        return first;
    case CRT_NODE_CONDITIONAL:
        return conditional_operation(run, step, index, exit);
    case CRT_NODE_CHILD:
    case CRT_NODE_EMPTY:
    case CRT_NODE_ALLOC:
    case CRT_NODE_FREE:
        break;
    }
    return sch_op_marker(NULL, NULL);
}

static enum pxr_status depend_on_deps(const struct crt_run *run, const struct crt_step *step,
                                      struct sch_op *op)
{
    const size_t *deps = &run->plan->deps[step->first_dep];
    enum pxr_status status = PXR_OK;
    bool has_waited = false;
    for (size_t i = 0; i < step->dep_count && status == PXR_OK; i++) {
        has_waited = has_waited || run->exits[deps[i]];
        status = sch_op_depend(op, run->exits[deps[i]]);
    }
    return has_waited ? status : sch_op_depend(op, run->begin);
}

/* True: the step needs no operation, since its work has been done. */
static bool run_ahead(const struct crt_step *step)
{
    switch (step->work.kind) {
    case CRT_NODE_COPY:
        if (!crt_copy_is_small(&step->work.copy))
            return false;
        crt_copy_run(&step->work.copy, NULL);
        return true;
    case CRT_NODE_FILL:
        if (!crt_fill_is_small(&step->work.fill))
            return false;
        crt_fill_run(&step->work.fill, NULL);
        return true;
    case CRT_NODE_CHILD:
    case CRT_NODE_EMPTY:
    case CRT_NODE_ALLOC:
    case CRT_NODE_FREE:
        return true;
    default:
        return false;
    }
}

/* True: the operation has been submitted, since no worker is needed for it. */
static bool try_ahead(const struct crt_step *step, struct sch_op *op)
{
    enum crt_node_kind kind = step->work.kind;
    if (kind != CRT_NODE_RECORD_EVENT && kind != CRT_NODE_WAIT_EVENT)
        return sch_op_try(op);
    bool is_free = sch_op_is_free(op);
    if (is_free)
        sch_op_submit(op);
    return is_free;
}

static enum pxr_status issue_step(struct crt_run *run, size_t index, struct sch_op *end)
{
    const struct crt_step *step = &run->plan->steps[index];
    run->exits[index] = NULL;
    if (run->is_ahead && crt_stats_are_on())
        run->submit_ns = crt_now_ns(); /* not before the last step has ended */
    if (run->is_ahead && run_ahead(step))
        return PXR_OK;
    struct sch_op *exit = NULL;
    struct sch_op *op = create_operation(run, step, index, &exit);
    if (!op)
        return PXR_OUT_OF_MEMORY;
    bool is_submitted = run->is_ahead && try_ahead(step, op);
    run->is_ahead = is_submitted && sch_op_is_done(op);
    if (run->is_ahead) {
        sch_op_release(op);
        return PXR_OK;
    }
    run->exits[index] = exit ? exit : sch_op_retain(op);
    enum pxr_status status = is_submitted ? PXR_OK : depend_on_deps(run, step, op);
    if (status == PXR_OK && !step->has_successor)
        status = sch_op_depend(end, run->exits[index]);
    /* Submitted whatever happened: the parts that exist must not wait for ever. */
    if (!is_submitted)
        sch_op_submit(op);
    sch_op_release(op);
    if (status != PXR_OK)
        sch_op_release(run->exits[index]);
    return status;
}

/* Issues every step; end waits for all of them. */
static enum crt_result issue_steps(struct crt_run *run, struct sch_op *end)
{
    enum pxr_status status = PXR_OK;
    size_t issued = 0;
    while (issued < run->plan->count && status == PXR_OK) {
        status = issue_step(run, issued, end);
        issued += status == PXR_OK;
    }
    if (status != PXR_OK) {
        run->is_incomplete = true;
        crt_context_poison(run->ctx, CRT_OUT_OF_MEMORY);
    }
    for (size_t i = 0; i < issued; i++)
        sch_op_release(run->exits[i]);
    return crt_result_from_status(status);
}

/* ---- conditional nodes ---- */

static void end_loop(struct crt_loop *loop)
{
    sch_op_submit(loop->exit);
    sch_op_release(loop->exit);
    free(loop);
}

/* The first operations wait for one of their own, so that all begin in the pool: a thread of the
 * program that came here must not run kernels that may wait for it. */
enum crt_result crt_run_start(struct crt_run *run)
{
    struct sch_op *begin = sch_op_marker(NULL, NULL);
    struct sch_op *end = begin ? sch_op_marker(end_run, run) : NULL;
    if (!end) {
        sch_op_release(begin);
        return CRT_OUT_OF_MEMORY;
    }
    run->begin = begin;
    issue_steps(run, end);
    sch_op_submit(end);
    sch_op_release(end);
    sch_op_submit(begin);
    sch_op_release(begin);
    return CRT_SUCCESS;
}

/* Starts a body. After its end, a while node decides again; the others have had their turn. */
static enum crt_result start_body(struct crt_loop *loop, struct crt_plan *body)
{
    struct crt_run *run = crt_run_create(body);
    if (!run)
        return CRT_OUT_OF_MEMORY;
    run->ctx = loop->ctx;
    run->stream = loop->stream;
    run->priority = loop->priority;
    run->has_own_priorities = loop->has_own_priorities;
    run->counter = loop->counter;
    run->loop = loop;
    enum crt_result result = crt_run_start(run);
    if (result != CRT_SUCCESS)
        crt_run_free(run);
    return result;
}

static void decide(void *arg, const struct sch_fault *fault)
{
    struct crt_loop *loop = arg;
    const struct crt_condition *condition = &loop->step->work.condition;
    (void)fault;
    bool may_turn = !loop->has_had_turn || condition->kind == CRT_CONDITION_WHILE;
    int body = -1;
    if (may_turn && crt_context_sticky(loop->ctx) == CRT_SUCCESS)
        body = crt_condition_choose(condition);
    loop->has_had_turn = true;
    if (body >= 0 && start_body(loop, loop->step->bodies[body]) == CRT_SUCCESS)
        return;
    end_loop(loop);
}

/* ---- launches ---- */

static void reset_conditions(const struct crt_plan *plan)
{
    for (size_t i = 0; i < plan->count && plan->condition_count; i++) {
        const struct crt_step *step = &plan->steps[i];
        if (step->work.kind != CRT_NODE_CONDITIONAL)
            continue;
        crt_conditional_reset(step->work.condition.variable);
        for (unsigned b = 0; b < step->work.condition.body_count; b++)
            reset_conditions(step->bodies[b]);
    }
}

static void begin_run(void *arg, const struct sch_fault *fault)
{
    const struct crt_run *run = arg;
    (void)fault;
    reset_conditions(run->plan);
}

/* Puts the run into the stream as one piece; *end: its last operation of its own. */
static enum crt_result append_run(struct crt_run *run, struct crt_stream *stream,
                                  struct sch_op *after, struct sch_op *begin, struct sch_op *end)
{
    if (run->plan->calls_runtime && !crt_run_create_exit(run))
        return CRT_OUT_OF_MEMORY;
    struct sch_op *last = run->exit ? run->exit : end;
    if (sch_op_depend(begin, after) != PXR_OK || sch_op_depend(end, begin) != PXR_OK)
        return CRT_OUT_OF_MEMORY;
    return crt_stream_append_span(stream, begin, last);
}

enum crt_result crt_plan_launch(struct crt_plan *plan, struct crt_stream *stream,
                                struct crt_graph_exec *exec,
                                const struct crt_graph_memory_run *memory, struct sch_op **last)
{
    *last = NULL;
    struct crt_run *run = crt_run_create(plan);
    struct sch_op *begin = run ? sch_op_marker(begin_run, run) : NULL;
    struct sch_op *end = begin ? sch_op_marker(end_run, run) : NULL;
    if (!end || append_run(run, stream, exec->last, begin, end) != CRT_SUCCESS) {
        sch_op_release(begin);
        sch_op_release(end);
        sch_op_release(run ? run->exit : NULL);
        crt_run_free(run);
        return CRT_OUT_OF_MEMORY;
    }
    run->ctx = stream->ctx;
    run->stream = stream;
    run->priority = stream->priority;
    run->has_own_priorities = (exec->flags & CRT_INSTANTIATE_NODE_PRIORITY) != 0;
    run->memory = *memory;
    run->exec = exec;
    run->begin = begin;
    run->stride = plan->condition_count ? NUMBERS_FOR_BODIES : 1;
    run->number = crt_next_numbers((plan->count + 1) * run->stride);
    /* Conditions get their values when the first operation begins: nothing may be ahead of it. */
    run->is_ahead = sch_op_is_free(begin) && !plan->condition_count && !sch_pasts_are_kept();
    *last = sch_op_retain(run->exit ? run->exit : end);
    enum crt_result result = issue_steps(run, end);
    sch_op_submit(end);
    sch_op_release(end);
    sch_op_submit(begin);
    sch_op_release(begin);
    return result;
}
