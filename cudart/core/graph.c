/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: nodes, copies of graphs, and launching them.
 */
#include "cudart/core/graph.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/event.h"
#include "cudart/core/module.h"

bool crt_graph_is_valid(const struct crt_graph *graph)
{
    return crt_object_is(graph, CRT_KIND_GRAPH);
}

bool crt_node_is_valid(const struct crt_node *node)
{
    return crt_object_is(node, CRT_KIND_NODE);
}

bool crt_graph_exec_is_valid(const struct crt_graph_exec *exec)
{
    return crt_object_is(exec, CRT_KIND_GRAPH_EXEC);
}

/* ---- work ---- */

enum crt_result crt_work_launch(struct crt_kernel *kernel, const struct crt_launch_config *config,
                                void *const *params, void *const *extra, struct crt_work *work)
{
    if (!crt_kernel_is_valid(kernel))
        return CRT_INVALID_HANDLE;
    const struct ptx_func *func = kernel->func;
    size_t pointers = (func->param_count + 2) / 2 * 2 * sizeof(void *); /* keeps 16 bytes aligned */
    void **block = calloc(1, pointers + func->param_bytes);
    if (!block)
        return CRT_OUT_OF_MEMORY;
    uint8_t *values = (uint8_t *)block + pointers;
    enum crt_result result = crt_launch_copy_params(kernel, params, extra, values);
    if (result != CRT_SUCCESS) {
        free(block);
        return result;
    }
    for (uint32_t i = 0; i < func->param_count; i++)
        block[i] = values + func->params[i]->param_offset_bytes;
    *work = (struct crt_work){.kind = CRT_NODE_KERNEL,
                              .launch = {.kernel = kernel, .config = *config, .params = block}};
    return CRT_SUCCESS;
}

static void free_work(struct crt_work *work)
{
    if (work->kind == CRT_NODE_KERNEL)
        free(work->launch.params);
    else if (work->kind == CRT_NODE_CHILD && work->child)
        crt_graph_destroy(work->child);
}

static enum crt_result copy_work(const struct crt_work *work, struct crt_work *copy)
{
    *copy = *work;
    if (work->kind == CRT_NODE_KERNEL)
        return crt_work_launch(work->launch.kernel, &work->launch.config, work->launch.params, NULL,
                               copy);
    if (work->kind == CRT_NODE_CHILD)
        return crt_graph_clone(work->child, &copy->child);
    return CRT_SUCCESS;
}

/* ---- nodes ---- */

static bool owns_all(const struct crt_graph *graph, struct crt_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!crt_node_is_valid(nodes[i]) || nodes[i]->graph != graph)
            return false;
    return true;
}

enum crt_result crt_graph_add(struct crt_graph *graph, struct crt_node *const *deps,
                              size_t dep_count, struct crt_work *work, struct crt_node **node)
{
    enum crt_result result = CRT_INVALID_VALUE;
    if (!crt_graph_is_valid(graph) || (dep_count && !deps) || !owns_all(graph, deps, dep_count))
        goto free_work;
    result = CRT_OUT_OF_MEMORY;
    struct crt_node *created = crt_object_create(CRT_KIND_NODE, sizeof *created);
    if (!created)
        goto free_work;
    created->deps = malloc((dep_count + 1) * sizeof created->deps[0]);
    if (!created->deps)
        goto destroy_node;
    if (dep_count)
        memcpy(created->deps, deps, dep_count * sizeof deps[0]);
    created->dep_count = dep_count;
    created->graph = graph;
    created->work = *work;
    DL_APPEND(graph->nodes, created);
    graph->node_count++;
    *node = created;
    return CRT_SUCCESS;

destroy_node:
    crt_object_destroy(CRT_KIND_NODE, created);
free_work:
    free_work(work);
    return result;
}

enum crt_result crt_node_set_work(struct crt_node *node, struct crt_work *work)
{
    if (!crt_node_is_valid(node) || node->work.kind != work->kind) {
        free_work(work);
        return CRT_INVALID_VALUE;
    }
    free_work(&node->work);
    node->work = *work;
    return CRT_SUCCESS;
}

bool crt_node_depends_on(const struct crt_node *node, const struct crt_node *dep)
{
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->deps[i] == dep)
            return true;
    return false;
}

enum crt_result crt_node_depend(struct crt_node *node, struct crt_node *dep)
{
    if (!crt_node_is_valid(node) || !crt_node_is_valid(dep) || node->graph != dep->graph ||
        node == dep || crt_node_depends_on(node, dep))
        return CRT_INVALID_VALUE;
    struct crt_node **deps = realloc(node->deps, (node->dep_count + 1) * sizeof deps[0]);
    if (!deps)
        return CRT_OUT_OF_MEMORY;
    node->deps = deps;
    deps[node->dep_count++] = dep;
    return CRT_SUCCESS;
}

enum crt_result crt_node_forget(struct crt_node *node, struct crt_node *dep)
{
    if (!crt_node_is_valid(node))
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < node->dep_count; i++) {
        if (node->deps[i] != dep)
            continue;
        node->dep_count--;
        memmove(&node->deps[i], &node->deps[i + 1], (node->dep_count - i) * sizeof node->deps[0]);
        return CRT_SUCCESS;
    }
    return CRT_INVALID_VALUE;
}

static void free_node(struct crt_node *node)
{
    free_work(&node->work);
    free(node->deps);
    crt_object_destroy(CRT_KIND_NODE, node);
}

enum crt_result crt_node_destroy(struct crt_node *node)
{
    if (!crt_node_is_valid(node))
        return CRT_INVALID_VALUE;
    struct crt_graph *graph = node->graph;
    struct crt_node *other;
    DL_FOREACH(graph->nodes, other)
    crt_node_forget(other, node);
    DL_DELETE(graph->nodes, node);
    graph->node_count--;
    free_node(node);
    return CRT_SUCCESS;
}

/* ---- graphs ---- */

enum crt_result crt_graph_create(struct crt_graph **graph)
{
    struct crt_graph *created = crt_object_create(CRT_KIND_GRAPH, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    *graph = created;
    return CRT_SUCCESS;
}

enum crt_result crt_graph_destroy(struct crt_graph *graph)
{
    if (!crt_graph_is_valid(graph))
        return CRT_INVALID_VALUE;
    struct crt_node *node;
    struct crt_node *next;
    DL_FOREACH_SAFE(graph->nodes, node, next)
    free_node(node);
    crt_object_destroy(CRT_KIND_GRAPH, graph);
    return CRT_SUCCESS;
}

static struct crt_node *find_clone(const struct crt_graph *clone, const struct crt_node *origin)
{
    struct crt_node *node;
    DL_FOREACH(clone->nodes, node)
    if (node->origin == origin)
        return node;
    return NULL;
}

static enum crt_result clone_nodes(const struct crt_graph *graph, struct crt_graph *clone)
{
    struct crt_node *node;
    struct crt_node *copy;
    DL_FOREACH(graph->nodes, node)
    {
        struct crt_work work;
        enum crt_result result = copy_work(&node->work, &work);
        if (result == CRT_SUCCESS)
            result = crt_graph_add(clone, NULL, 0, &work, &copy);
        if (result != CRT_SUCCESS)
            return result;
        copy->origin = node;
    }
    DL_FOREACH(clone->nodes, copy)
    {
        for (size_t i = 0; i < copy->origin->dep_count; i++) {
            enum crt_result result =
                crt_node_depend(copy, find_clone(clone, copy->origin->deps[i]));
            if (result != CRT_SUCCESS)
                return result;
        }
    }
    return CRT_SUCCESS;
}

enum crt_result crt_graph_clone(const struct crt_graph *graph, struct crt_graph **clone)
{
    if (!crt_graph_is_valid(graph))
        return CRT_INVALID_VALUE;
    struct crt_graph *created;
    enum crt_result result = crt_graph_create(&created);
    if (result != CRT_SUCCESS)
        return result;
    result = clone_nodes(graph, created);
    if (result != CRT_SUCCESS) {
        crt_graph_destroy(created);
        return result;
    }
    *clone = created;
    return CRT_SUCCESS;
}

/* ---- executable graphs ---- */

static bool is_placed(const struct crt_node *node)
{
    return node->order != SIZE_MAX;
}

static bool is_ready(const struct crt_node *node)
{
    for (size_t i = 0; i < node->dep_count; i++)
        if (!is_placed(node->deps[i]))
            return false;
    return true;
}

/* Places the nodes after what they depend on. Nodes are usually added in such an order, and then
 * one sweep does it; each sweep places at least one, or there is a cycle. */
static enum crt_result sort_nodes(struct crt_graph_exec *exec)
{
    size_t placed = 0;
    struct crt_node *node;
    DL_FOREACH(exec->graph->nodes, node)
    node->order = SIZE_MAX;
    while (placed < exec->graph->node_count) {
        size_t before = placed;
        DL_FOREACH(exec->graph->nodes, node)
        {
            if (is_placed(node) || !is_ready(node))
                continue;
            node->order = placed;
            exec->order[placed++] = node;
        }
        if (placed == before)
            return CRT_INVALID_VALUE;
    }
    return CRT_SUCCESS;
}

enum crt_result crt_graph_instantiate(const struct crt_graph *graph, uint64_t flags,
                                      struct crt_graph_exec **exec)
{
    struct crt_graph_exec *created = crt_object_create(CRT_KIND_GRAPH_EXEC, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    created->flags = flags;
    enum crt_result result = crt_graph_clone(graph, &created->graph);
    if (result == CRT_SUCCESS) {
        created->order = malloc((graph->node_count + 1) * sizeof created->order[0]);
        result = created->order ? sort_nodes(created) : CRT_OUT_OF_MEMORY;
    }
    if (result != CRT_SUCCESS) {
        crt_graph_exec_destroy(created);
        return result;
    }
    *exec = created;
    return CRT_SUCCESS;
}

enum crt_result crt_graph_exec_destroy(struct crt_graph_exec *exec)
{
    if (!crt_graph_exec_is_valid(exec))
        return CRT_INVALID_VALUE;
    if (exec->graph)
        crt_graph_destroy(exec->graph);
    free(exec->order);
    crt_object_destroy(CRT_KIND_GRAPH_EXEC, exec);
    return CRT_SUCCESS;
}

struct crt_node *crt_graph_exec_find(const struct crt_graph_exec *exec,
                                     const struct crt_node *origin)
{
    return find_clone(exec->graph, origin);
}

static enum crt_result issue_child(struct crt_stream *stream, const struct crt_graph *child)
{
    struct crt_graph_exec *exec;
    enum crt_result result = crt_graph_instantiate(child, 0, &exec);
    if (result != CRT_SUCCESS)
        return result;
    result = crt_graph_exec_launch(exec, stream);
    crt_graph_exec_destroy(exec);
    return result;
}

/* Does what a node does, as if the program had called the function itself. */
static enum crt_result issue(struct crt_stream *stream, const struct crt_work *work)
{
    switch (work->kind) {
    case CRT_NODE_KERNEL:
        return crt_launch_kernel(work->launch.kernel, stream, &work->launch.config,
                                 work->launch.params, NULL);
    case CRT_NODE_COPY:
        return crt_copy(stream, &work->copy, true);
    case CRT_NODE_FILL:
        return crt_fill(stream, &work->fill, true);
    case CRT_NODE_HOST:
        if (work->host.callback)
            return crt_stream_callback(stream, stream, work->host.callback, work->host.arg);
        return crt_stream_host_function(stream, work->host.fn, work->host.arg);
    case CRT_NODE_CHILD:
        return issue_child(stream, work->child);
    case CRT_NODE_WAIT_EVENT:
        return crt_stream_wait_event(stream, work->event);
    case CRT_NODE_RECORD_EVENT:
        return crt_event_record(work->event, stream);
    case CRT_NODE_EMPTY:
        break;
    }
    return CRT_SUCCESS;
}

enum crt_result crt_graph_exec_launch(struct crt_graph_exec *exec, struct crt_stream *stream)
{
    for (size_t i = 0; i < exec->graph->node_count; i++) {
        enum crt_result result = issue(stream, &exec->order[i]->work);
        if (result != CRT_SUCCESS)
            return result;
    }
    return CRT_SUCCESS;
}

/* Whether two nodes at the same place of their graphs do the same kind of thing after the same
 * others. */
static bool has_same_shape(const struct crt_node *node, const struct crt_node *other)
{
    if (node->work.kind != other->work.kind || node->dep_count != other->dep_count)
        return false;
    return node->work.kind != CRT_NODE_CHILD ||
           node->work.child->node_count == other->work.child->node_count;
}

enum crt_result crt_graph_exec_update(struct crt_graph_exec *exec, const struct crt_graph *graph,
                                      struct crt_node **culprit)
{
    *culprit = NULL;
    if (exec->graph->node_count != graph->node_count)
        return CRT_GRAPH_EXEC_UPDATE_FAILURE;
    struct crt_node *mine = exec->graph->nodes;
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        if (!has_same_shape(mine, node)) {
            *culprit = node;
            return CRT_GRAPH_EXEC_UPDATE_FAILURE;
        }
        mine = mine->next;
    }
    mine = exec->graph->nodes;
    DL_FOREACH(graph->nodes, node)
    {
        struct crt_work work;
        enum crt_result result = copy_work(&node->work, &work);
        if (result != CRT_SUCCESS)
            return result;
        crt_node_set_work(mine, &work);
        mine->origin = node;
        mine = mine->next;
    }
    return CRT_SUCCESS;
}
