/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates of executable graphs from a whole graph: nodes are paired in the order in which they were
 * added. All pairs are compared first, so that a failure changes nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/code/conditional.h"
#include "cudart/core/graph/graph_exec.h"

static bool disagree(struct crt_update_info *info, enum crt_update_answer answer,
                     struct crt_node *node, struct crt_node *from)
{
    *info = (struct crt_update_info){.answer = answer, .node = node, .from = from};
    return false;
}

static bool is_row(const struct crt_copy *copy)
{
    return copy->height == 1 && copy->depth == 1;
}

static bool has_same_extent(const struct crt_copy *a, const struct crt_copy *b)
{
    return a->width_bytes == b->width_bytes && a->height == b->height && a->depth == b->depth;
}

/* CUDA lets only copies of one row change their size, and fills only when both are of one row. */
static bool is_change_allowed(const struct crt_work *mine, const struct crt_work *wanted)
{
    switch (wanted->kind) {
    case CRT_NODE_COPY:
        return has_same_extent(&mine->copy, &wanted->copy) ||
               (is_row(&mine->copy) && is_row(&wanted->copy));
    case CRT_NODE_FILL:
        return (mine->fill.height == 1) == (wanted->fill.height == 1);
    case CRT_NODE_ALLOC:
        return mine->memory.size_bytes == wanted->memory.size_bytes &&
               mine->memory.base == wanted->memory.base;
    case CRT_NODE_FREE:
        return mine->memory.base == wanted->memory.base;
    case CRT_NODE_CONDITIONAL:
        return mine->condition.kind == wanted->condition.kind &&
               mine->condition.body_count == wanted->condition.body_count;
    default:
        return true;
    }
}

static bool compare_graphs(struct crt_graph *mine, struct crt_graph *wanted,
                           struct crt_update_info *info);

static bool compare_work(struct crt_node *mine, struct crt_node *wanted,
                         struct crt_update_info *info)
{
    if (mine->work.kind != wanted->work.kind)
        return disagree(info, CRT_UPDATE_KIND_CHANGED, wanted, NULL);
    if (!is_change_allowed(&mine->work, &wanted->work))
        return disagree(info, CRT_UPDATE_PARAMETERS_CHANGED, wanted, NULL);
    if (wanted->work.kind == CRT_NODE_KERNEL && mine->work.ctx && wanted->work.ctx &&
        mine->work.ctx != wanted->work.ctx)
        return disagree(info, CRT_UPDATE_FUNCTION_UNSUPPORTED, wanted, NULL);
    if (wanted->work.kind == CRT_NODE_CHILD)
        return compare_graphs(mine->work.child, wanted->work.child, info);
    if (wanted->work.kind == CRT_NODE_CONDITIONAL)
        for (unsigned i = 0; i < wanted->work.condition.body_count; i++)
            if (!compare_graphs(mine->work.condition.bodies[i], wanted->work.condition.bodies[i],
                                info))
                return false;
    return true;
}

static bool has_dep_at(const struct crt_node *node, size_t index)
{
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->deps[i]->index == index)
            return true;
    return false;
}

static bool compare_deps(const struct crt_node *mine, struct crt_node *wanted,
                         struct crt_update_info *info)
{
    for (size_t i = 0; i < wanted->dep_count; i++)
        if (!has_dep_at(mine, wanted->deps[i]->index))
            return disagree(info, CRT_UPDATE_TOPOLOGY_CHANGED, wanted, wanted->deps[i]);
    if (mine->dep_count != wanted->dep_count)
        return disagree(info, CRT_UPDATE_TOPOLOGY_CHANGED, wanted, NULL);
    return true;
}

static void number_nodes(struct crt_graph *graph)
{
    size_t index = 0;
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    node->index = index++;
}

static bool compare_graphs(struct crt_graph *mine, struct crt_graph *wanted,
                           struct crt_update_info *info)
{
    if (mine->node_count != wanted->node_count)
        return disagree(info, CRT_UPDATE_TOPOLOGY_CHANGED, NULL, NULL);
    number_nodes(mine);
    number_nodes(wanted);
    struct crt_node *my_node = mine->nodes;
    struct crt_node *node;
    DL_FOREACH(wanted->nodes, node)
    {
        if (!compare_deps(my_node, node, info) || !compare_work(my_node, node, info))
            return false;
        my_node = my_node->next;
    }
    return true;
}

static enum crt_result take_over(struct crt_graph *mine, const struct crt_graph *wanted);

static enum crt_result take_bodies(struct crt_condition *mine, const struct crt_condition *wanted)
{
    enum crt_result result = CRT_SUCCESS;
    for (unsigned i = 0; i < wanted->body_count && result == CRT_SUCCESS; i++)
        result = take_over(mine->bodies[i], wanted->bodies[i]);
    struct crt_conditional *before = mine->variable;
    mine->variable = crt_conditional_retain(wanted->variable);
    crt_conditional_release(before);
    return result;
}

static enum crt_result take_work(struct crt_node *mine, const struct crt_node *wanted)
{
    struct crt_work work;
    if (wanted->work.kind == CRT_NODE_CHILD)
        return take_over(mine->work.child, wanted->work.child);
    if (wanted->work.kind == CRT_NODE_CONDITIONAL)
        return take_bodies(&mine->work.condition, &wanted->work.condition);
    enum crt_result result = crt_work_copy(&wanted->work, &work);
    return result == CRT_SUCCESS ? crt_node_set_work(mine, &work) : result;
}

static enum crt_result take_over(struct crt_graph *mine, const struct crt_graph *wanted)
{
    enum crt_result result = CRT_SUCCESS;
    struct crt_node *my_node = mine->nodes;
    struct crt_node *node;
    DL_FOREACH(wanted->nodes, node)
    {
        if (result == CRT_SUCCESS)
            result = take_work(my_node, node);
        my_node->twin = node;
        my_node->twin_id = node->id;
        my_node = my_node->next;
    }
    return result;
}

/* The first node whose work could not be launched, or NULL. */
static struct crt_node *find_bad(const struct crt_graph *graph, enum crt_result *result)
{
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        *result = crt_work_check(&node->work);
        if (*result != CRT_SUCCESS)
            return node;
    }
    return NULL;
}

enum crt_result crt_graph_exec_update(struct crt_graph_exec *exec, struct crt_graph *graph,
                                      struct crt_update_info *info)
{
    enum crt_result result = CRT_SUCCESS;
    *info = (struct crt_update_info){.answer = CRT_UPDATED};
    struct crt_node *bad = find_bad(graph, &result);
    if (bad) {
        disagree(info, CRT_UPDATE_ERROR, bad, NULL);
        return CRT_GRAPH_EXEC_UPDATE_FAILURE;
    }
    pthread_mutex_lock(&exec->lock);
    if (!compare_graphs(exec->graph, graph, info)) {
        result = CRT_GRAPH_EXEC_UPDATE_FAILURE;
    } else {
        result = take_over(exec->graph, graph);
        if (result != CRT_SUCCESS)
            info->answer = CRT_UPDATE_ERROR;
    }
    /* Comparing has used the numbers by which the plan knows its nodes. */
    crt_graph_exec_forget_plan(exec);
    pthread_mutex_unlock(&exec->lock);
    return result;
}

enum crt_result crt_graph_exec_update_child(struct crt_graph_exec *exec,
                                            const struct crt_node *origin, struct crt_graph *child)
{
    struct crt_update_info info;
    struct crt_node *node = crt_graph_exec_find(exec, origin);
    if (!node || node->work.kind != CRT_NODE_CHILD || !crt_graph_is_valid(child))
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&exec->lock);
    enum crt_result result = CRT_INVALID_VALUE;
    if (compare_graphs(node->work.child, child, &info))
        result = take_over(node->work.child, child);
    crt_graph_exec_forget_plan(exec);
    pthread_mutex_unlock(&exec->lock);
    return result;
}
