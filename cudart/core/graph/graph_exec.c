/* SPDX-License-Identifier: Apache-2.0
 *
 * Executable graphs: making, launching, changing single nodes. Updates from a whole graph are in
 * graph_update.c.
 */
#include "cudart/core/graph/graph_exec.h"

#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/base/process.h"
#include "cudart/core/code/conditional.h"
#include "cudart/core/graph/graph_capture.h"
#include "cudart/core/graph/graph_launch.h"
#include "cudart/core/graph/graph_plan.h"
#include "cudart/core/streams/capture.h"
#include "cudart/core/streams/context.h"

bool crt_graph_exec_is_valid(const struct crt_graph_exec *exec)
{
    return crt_object_is(exec, CRT_KIND_GRAPH_EXEC);
}

/* ---- what launches in flight still use ---- */

/* Freed when the last launch that may use it has ended. */
struct remains {
    struct crt_graph *graph;
    struct crt_plan *plan;
};

static void free_remains(void *arg, const struct sch_fault *fault)
{
    struct remains *remains = arg;
    (void)fault;
    crt_plan_destroy(remains->plan);
    if (remains->graph)
        crt_graph_free(remains->graph);
    free(remains);
}

static bool is_running(const struct crt_graph_exec *exec)
{
    return exec->last && !sch_op_is_done(exec->last);
}

static void retire(const struct crt_graph_exec *exec, struct crt_graph *graph,
                   struct crt_plan *plan)
{
    if (!is_running(exec)) {
        crt_plan_destroy(plan);
        if (graph)
            crt_graph_free(graph);
        return;
    }
    struct remains *remains = malloc(sizeof *remains);
    struct sch_op *op = remains ? sch_op_marker(free_remains, remains) : NULL;
    if (!op || sch_op_depend(op, exec->last) != PXR_OK) {
        /* They are still in use, and there is no memory for remembering them. */
        sch_op_release(op);
        free(remains);
        return;
    }
    *remains = (struct remains){.graph = graph, .plan = plan};
    sch_op_submit(op);
    sch_op_release(op);
}

void crt_graph_exec_forget_plan(struct crt_graph_exec *exec)
{
    retire(exec, NULL, exec->plan);
    exec->plan = NULL;
}

/* ---- instantiation ---- */

static bool has_unused_variable(const struct crt_graph *graph)
{
    const struct crt_conditional *variable;
    LL_FOREACH(graph->conditionals, variable)
    if (!variable->is_used)
        return true;
    return false;
}

/* The kinds that CUDA allows in the body of a conditional node. */
static bool is_body_kind(enum crt_node_kind kind)
{
    return kind == CRT_NODE_KERNEL || kind == CRT_NODE_EMPTY || kind == CRT_NODE_CHILD ||
           kind == CRT_NODE_FILL || kind == CRT_NODE_COPY || kind == CRT_NODE_CONDITIONAL;
}

/* A node in some body that must not be there, or NULL. */
static struct crt_node *find_misplaced(const struct crt_graph *graph, bool is_body)
{
    struct crt_node *found = NULL;
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        const struct crt_work *work = &node->work;
        if (is_body && !is_body_kind(work->kind))
            return node;
        if (work->kind == CRT_NODE_CHILD)
            found = find_misplaced(work->child, is_body);
        for (unsigned i = 0;
             work->kind == CRT_NODE_CONDITIONAL && !found && i < work->condition.body_count; i++)
            found = find_misplaced(work->condition.bodies[i], true);
        if (found)
            return found;
    }
    return NULL;
}

static bool has_single_instance(const struct crt_graph *graph)
{
    return crt_graph_contains(graph, CRT_NODE_ALLOC) || crt_graph_contains(graph, CRT_NODE_FREE) ||
           crt_graph_contains(graph, CRT_NODE_CONDITIONAL);
}

/* A node that graphs for kernels to launch must not have, or NULL. */
static struct crt_node *find_unlaunchable(const struct crt_graph *graph)
{
    struct crt_node *found = NULL;
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        enum crt_node_kind kind = node->work.kind;
        if (kind == CRT_NODE_CHILD)
            found = find_unlaunchable(node->work.child);
        else if (kind != CRT_NODE_KERNEL && kind != CRT_NODE_COPY && kind != CRT_NODE_FILL)
            found = node;
        if (found)
            return found;
    }
    return NULL;
}

static enum crt_result check_graph(const struct crt_graph *graph, uint64_t flags,
                                   struct crt_instantiate_info *info)
{
    info->answer = CRT_INSTANTIATE_ERROR;
    if (flags & ~(uint64_t)(CRT_INSTANTIATE_AUTO_FREE | CRT_INSTANTIATE_UPLOAD |
                            CRT_INSTANTIATE_DEVICE_LAUNCH | CRT_INSTANTIATE_NODE_PRIORITY))
        return CRT_INVALID_VALUE;
    if (flags & CRT_INSTANTIATE_DEVICE_LAUNCH) {
        if (flags & CRT_INSTANTIATE_AUTO_FREE)
            return CRT_INVALID_VALUE;
        info->culprit = find_unlaunchable(graph);
        info->answer = CRT_INSTANTIATE_UNSUPPORTED_NODE;
        if (info->culprit)
            return CRT_NOT_SUPPORTED;
        info->answer = CRT_INSTANTIATE_ERROR;
    }
    if (graph->owner || crt_capture_is_target(graph))
        return CRT_INVALID_VALUE;
    if (crt_graph_has_instances(graph) && has_single_instance(graph))
        return CRT_NOT_SUPPORTED;
    if (has_unused_variable(graph)) {
        info->answer = CRT_INSTANTIATE_UNUSED_CONDITIONAL;
        return CRT_INVALID_VALUE;
    }
    info->culprit = find_misplaced(graph, false);
    if (info->culprit) {
        info->answer = CRT_INSTANTIATE_INVALID_STRUCTURE;
        return CRT_INVALID_VALUE;
    }
    return CRT_SUCCESS;
}

/* *culprit becomes the node of the program's graph that was copied to it. */
static enum crt_result make_plan(struct crt_graph_exec *exec, struct crt_context *ctx,
                                 struct crt_instantiate_info *info)
{
    struct crt_node *culprit = NULL;
    enum crt_result result = crt_plan_create(exec->graph, &exec->plan, &culprit);
    if (result == CRT_INVALID_VALUE)
        info->answer = CRT_INSTANTIATE_INVALID_STRUCTURE;
    if (result == CRT_SUCCESS && ctx)
        result = crt_plan_prepare(exec->plan, ctx, &culprit);
    if (result != CRT_SUCCESS)
        info->culprit = culprit ? culprit->origin : NULL;
    return result;
}

enum crt_result crt_graph_instantiate(struct crt_graph *graph, uint64_t flags,
                                      struct crt_graph_exec **exec,
                                      struct crt_instantiate_info *info)
{
    *info = (struct crt_instantiate_info){.answer = CRT_INSTANTIATE_ERROR};
    if (!crt_graph_is_valid(graph))
        return CRT_INVALID_VALUE;
    enum crt_result result = check_graph(graph, flags, info);
    if (result != CRT_SUCCESS)
        return result;
    info->answer = CRT_INSTANTIATE_ERROR;
    struct crt_graph_exec *created = crt_object_create(CRT_KIND_GRAPH_EXEC, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    pthread_mutex_init(&created->lock, NULL);
    created->flags = flags;
    struct crt_context *ctx;
    if (crt_context_require(&ctx) != CRT_SUCCESS)
        ctx = NULL;
    created->instances = crt_instances_join(graph);
    result = created->instances ? crt_graph_copy(graph, &created->graph) : CRT_OUT_OF_MEMORY;
    if (result == CRT_SUCCESS) {
        crt_leak_forget(created->graph);
        result = make_plan(created, ctx, info);
    }
    if (result != CRT_SUCCESS) {
        crt_graph_exec_destroy(created);
        return result;
    }
    info->answer = CRT_INSTANTIATED;
    *exec = created;
    return CRT_SUCCESS;
}

enum crt_result crt_graph_exec_destroy(struct crt_graph_exec *exec)
{
    if (!crt_graph_exec_is_valid(exec))
        return CRT_INVALID_VALUE;
    if (exec->instances)
        crt_instances_leave(exec->instances);
    retire(exec, exec->graph, exec->plan);
    sch_op_release(exec->last);
    pthread_mutex_destroy(&exec->lock);
    crt_object_destroy(CRT_KIND_GRAPH_EXEC, exec);
    return CRT_SUCCESS;
}

/* ---- launches ---- */

/* CUDA: the launch of a graph in a stream that captures becomes a child graph. */
static enum crt_result capture_launch(struct crt_graph_exec *exec, struct crt_stream *stream)
{
    struct crt_work work;
    pthread_mutex_lock(&exec->lock); /* copying a graph writes into it */
    enum crt_result result = crt_work_child(exec->graph, false, &work);
    pthread_mutex_unlock(&exec->lock);
    return result == CRT_SUCCESS ? crt_capture_add(stream, &work) : result;
}

/* Bodies of a running plan are read while they run, so that it cannot be prepared again. */
enum crt_result crt_graph_exec_prepare(struct crt_graph_exec *exec, struct crt_context *ctx)
{
    struct crt_instantiate_info info;
    if (exec->plan && exec->plan->condition_count && is_running(exec))
        crt_graph_exec_forget_plan(exec);
    if (!exec->plan)
        return make_plan(exec, ctx, &info);
    struct crt_node *culprit;
    return crt_plan_prepare(exec->plan, ctx, &culprit);
}

static enum crt_result launch_locked(struct crt_graph_exec *exec, struct crt_stream *stream)
{
    enum crt_result result = crt_graph_exec_prepare(exec, stream->ctx);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_graph_memory_run run;
    result = crt_graph_memory_begin(exec->plan->memory, exec->plan->memory_count,
                                    exec->flags & CRT_INSTANTIATE_AUTO_FREE, stream->id, &run);
    if (result != CRT_SUCCESS)
        return result;
    struct sch_op *last;
    result = crt_plan_launch(exec->plan, stream, exec, &run, &last);
    if (last) {
        sch_op_release(exec->last);
        exec->last = last;
    } else {
        crt_graph_memory_end(&run);
    }
    return result;
}

enum crt_result crt_graph_exec_launch(struct crt_graph_exec *exec, struct crt_stream *stream)
{
    if (!crt_graph_exec_is_valid(exec))
        return CRT_INVALID_VALUE;
    if (stream->captured.capture)
        return capture_launch(exec, stream);
    enum crt_result result = crt_start_workers();
    if (result != CRT_SUCCESS)
        return result;
    pthread_mutex_lock(&exec->lock);
    result = launch_locked(exec, stream);
    pthread_mutex_unlock(&exec->lock);
    if (result != CRT_SUCCESS)
        return result;
    return crt_environment_get()->launches_block ? crt_stream_synchronize(stream) : CRT_SUCCESS;
}

enum crt_result crt_graph_exec_upload(struct crt_graph_exec *exec, struct crt_stream *stream)
{
    if (!crt_graph_exec_is_valid(exec))
        return CRT_INVALID_VALUE;
    if (stream->captured.capture)
        return crt_capture_refuse(stream);
    pthread_mutex_lock(&exec->lock);
    enum crt_result result = crt_graph_exec_prepare(exec, stream->ctx);
    pthread_mutex_unlock(&exec->lock);
    return result;
}

/* ---- single nodes ---- */

static bool is_made_from(const struct crt_node *node, const struct crt_node *origin)
{
    return (node->origin == origin && node->origin_id == origin->id) ||
           (node->twin == origin && node->twin_id == origin->id);
}

static struct crt_node *find_in(const struct crt_graph *graph, const struct crt_node *origin)
{
    struct crt_node *found = NULL;
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        const struct crt_work *work = &node->work;
        if (is_made_from(node, origin))
            return node;
        if (work->kind == CRT_NODE_CHILD)
            found = find_in(work->child, origin);
        for (unsigned i = 0;
             work->kind == CRT_NODE_CONDITIONAL && !found && i < work->condition.body_count; i++)
            found = find_in(work->condition.bodies[i], origin);
        if (found)
            return found;
    }
    return NULL;
}

struct crt_node *crt_graph_exec_find(const struct crt_graph_exec *exec,
                                     const struct crt_node *origin)
{
    if (!crt_graph_exec_is_valid(exec) || !crt_node_is_valid(origin))
        return NULL;
    return find_in(exec->graph, origin);
}

/* Whether the plan's steps include those of this node: bodies are plans of their own. */
static bool is_in_plan(const struct crt_node *node)
{
    for (const struct crt_graph *graph = node->graph; graph->owner; graph = graph->owner->graph)
        if (graph->owner->work.kind == CRT_NODE_CONDITIONAL)
            return false;
    return true;
}

/* The lock is held. */
static void follow_change(struct crt_graph_exec *exec, const struct crt_node *node)
{
    if (!exec->plan)
        return;
    if (is_running(exec) || !is_in_plan(node) || !crt_plan_change(exec->plan, node))
        crt_graph_exec_forget_plan(exec);
}

enum crt_result crt_graph_exec_set_work(struct crt_graph_exec *exec, const struct crt_node *origin,
                                        struct crt_work *work)
{
    struct crt_node *node = crt_graph_exec_find(exec, origin);
    enum crt_result result =
        node && node->work.kind == work->kind ? crt_work_check(work) : CRT_INVALID_VALUE;
    if (result != CRT_SUCCESS) {
        crt_work_free(work);
        return result;
    }
    pthread_mutex_lock(&exec->lock);
    if (!work->ctx)
        work->ctx = node->work.ctx;
    result = crt_node_set_work(node, work);
    if (result == CRT_SUCCESS)
        follow_change(exec, node);
    pthread_mutex_unlock(&exec->lock);
    return result;
}

enum crt_result crt_graph_exec_enable(struct crt_graph_exec *exec, const struct crt_node *origin,
                                      bool is_enabled)
{
    struct crt_node *node = crt_graph_exec_find(exec, origin);
    if (!node)
        return CRT_INVALID_VALUE;
    enum crt_node_kind kind = node->work.kind;
    if (kind != CRT_NODE_KERNEL && kind != CRT_NODE_COPY && kind != CRT_NODE_FILL)
        return CRT_INVALID_VALUE;
    if (node->is_disabled != is_enabled)
        return CRT_SUCCESS;
    pthread_mutex_lock(&exec->lock);
    node->is_disabled = !is_enabled;
    crt_graph_exec_forget_plan(exec);
    pthread_mutex_unlock(&exec->lock);
    return CRT_SUCCESS;
}
