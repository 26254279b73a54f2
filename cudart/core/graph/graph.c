/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: nodes, dependencies, copies, order. The work of nodes is in graph_work.c.
 */
#include "cudart/core/graph/graph.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/base/process.h"
#include "cudart/core/code/conditional.h"
#include "cudart/core/graph/user_object.h"

bool crt_graph_is_valid(const struct crt_graph *graph)
{
    return crt_object_is(graph, CRT_KIND_GRAPH);
}

bool crt_node_is_valid(const struct crt_node *node)
{
    return crt_object_is(node, CRT_KIND_NODE);
}

/* ---- nodes ---- */

static bool owns_all(const struct crt_graph *graph, struct crt_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!crt_node_is_valid(nodes[i]) || nodes[i]->graph != graph)
            return false;
        for (size_t j = 0; j < i; j++)
            if (nodes[j] == nodes[i])
                return false;
    }
    return true;
}

/* Room for one dependency more than there are. */
static bool grow_deps(struct crt_node *node, size_t count)
{
    struct crt_node **deps = realloc(node->deps, (count + 1) * sizeof deps[0]);
    if (deps)
        node->deps = deps;
    struct crt_edge *edges = realloc(node->edges, (count + 1) * sizeof edges[0]);
    if (edges)
        node->edges = edges;
    return deps && edges;
}

static void free_node(struct crt_node *node)
{
    crt_work_free(&node->work);
    free(node->deps);
    free(node->edges);
    node->deps = NULL;
    node->edges = NULL;
    crt_object_destroy(CRT_KIND_NODE, node);
}

/* Graphs inside a node belong to it. */
static void adopt(struct crt_node *node)
{
    if (node->work.kind == CRT_NODE_CHILD) {
        node->work.child->owner = node;
        crt_leak_forget(node->work.child);
    }
    for (unsigned i = 0;
         node->work.kind == CRT_NODE_CONDITIONAL && i < node->work.condition.body_count; i++) {
        node->work.condition.bodies[i]->owner = node;
        crt_leak_forget(node->work.condition.bodies[i]);
    }
}

static struct crt_node *create_node(struct crt_work *work)
{
    struct crt_node *node = crt_object_create(CRT_KIND_NODE, sizeof *node);
    if (!node) {
        crt_work_free(work);
        return NULL;
    }
    node->id = crt_next_number();
    node->work = *work;
    adopt(node);
    return node;
}

static void append_node(struct crt_graph *graph, struct crt_node *node)
{
    node->graph = graph;
    DL_APPEND(graph->nodes, node);
    graph->node_count++;
}

enum crt_result crt_graph_add_edges(struct crt_graph *graph, struct crt_node *const *deps,
                                    const struct crt_edge *edges, size_t dep_count,
                                    struct crt_work *work, struct crt_node **node)
{
    if (!crt_graph_is_valid(graph) || (dep_count && !deps) || !owns_all(graph, deps, dep_count)) {
        crt_work_free(work);
        return CRT_INVALID_VALUE;
    }
    struct crt_node *created = create_node(work);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    if (!grow_deps(created, dep_count)) {
        free_node(created);
        return CRT_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < dep_count; i++) {
        created->deps[i] = deps[i];
        created->edges[i] = edges ? edges[i] : (struct crt_edge){0};
    }
    created->dep_count = dep_count;
    append_node(graph, created);
    *node = created;
    return CRT_SUCCESS;
}

enum crt_result crt_graph_add(struct crt_graph *graph, struct crt_node *const *deps,
                              size_t dep_count, struct crt_work *work, struct crt_node **node)
{
    return crt_graph_add_edges(graph, deps, NULL, dep_count, work, node);
}

enum crt_result crt_node_set_work(struct crt_node *node, struct crt_work *work)
{
    if (!crt_node_is_valid(node) || node->work.kind != work->kind) {
        crt_work_free(work);
        return CRT_INVALID_VALUE;
    }
    if (work->kind == CRT_NODE_KERNEL && !work->launch.attributes) {
        work->launch.attributes = node->work.launch.attributes;
        node->work.launch.attributes = NULL;
    }
    crt_work_free(&node->work);
    node->work = *work;
    adopt(node);
    return CRT_SUCCESS;
}

bool crt_node_depends_on(const struct crt_node *node, const struct crt_node *dep)
{
    for (size_t i = 0; i < node->dep_count; i++)
        if (node->deps[i] == dep)
            return true;
    return false;
}

enum crt_result crt_node_depend(struct crt_node *node, struct crt_node *dep,
                                const struct crt_edge *edge)
{
    if (!crt_node_is_valid(node) || !crt_node_is_valid(dep) || node->graph != dep->graph ||
        node == dep || crt_node_depends_on(node, dep))
        return CRT_INVALID_VALUE;
    if (!grow_deps(node, node->dep_count))
        return CRT_OUT_OF_MEMORY;
    node->deps[node->dep_count] = dep;
    node->edges[node->dep_count++] = edge ? *edge : (struct crt_edge){0};
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
        memmove(&node->edges[i], &node->edges[i + 1],
                (node->dep_count - i) * sizeof node->edges[0]);
        return CRT_SUCCESS;
    }
    return CRT_INVALID_VALUE;
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
    created->id = crt_next_number();
    *graph = created;
    return CRT_SUCCESS;
}

static void let_go(struct crt_instances *instances)
{
    if (instances && atomic_fetch_sub(&instances->holders, 1) == 1)
        free(instances);
}

struct crt_instances *crt_instances_join(struct crt_graph *graph)
{
    if (!graph->instances) {
        graph->instances = calloc(1, sizeof *graph->instances);
        if (!graph->instances)
            return NULL;
        atomic_store(&graph->instances->holders, 1);
    }
    atomic_fetch_add(&graph->instances->live, 1);
    atomic_fetch_add(&graph->instances->holders, 1);
    return graph->instances;
}

void crt_instances_leave(struct crt_instances *instances)
{
    atomic_fetch_sub(&instances->live, 1);
    let_go(instances);
}

bool crt_graph_has_instances(const struct crt_graph *graph)
{
    return graph->instances && atomic_load(&graph->instances->live) > 0;
}

void crt_graph_free(struct crt_graph *graph)
{
    struct crt_node *node;
    struct crt_node *next;
    DL_FOREACH_SAFE(graph->nodes, node, next)
    free_node(node);
    struct crt_conditional *variable;
    struct crt_conditional *next_variable;
    LL_FOREACH_SAFE(graph->conditionals, variable, next_variable)
    crt_conditional_release(variable);
    crt_user_references_drop(&graph->users);
    let_go(graph->instances);
    crt_object_destroy(CRT_KIND_GRAPH, graph);
}

enum crt_result crt_graph_destroy(struct crt_graph *graph)
{
    if (!crt_graph_is_valid(graph) || graph->owner)
        return CRT_INVALID_VALUE;
    crt_graph_free(graph);
    return CRT_SUCCESS;
}

bool crt_graph_contains(const struct crt_graph *graph, enum crt_node_kind kind)
{
    const struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        const struct crt_work *work = &node->work;
        if (work->kind == kind)
            return true;
        if (work->kind == CRT_NODE_CHILD && crt_graph_contains(work->child, kind))
            return true;
        for (unsigned i = 0; work->kind == CRT_NODE_CONDITIONAL && i < work->condition.body_count;
             i++)
            if (crt_graph_contains(work->condition.bodies[i], kind))
                return true;
    }
    return false;
}

/* ---- copies ---- */

static enum crt_result copy_nodes(const struct crt_graph *graph, struct crt_graph *copy)
{
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        struct crt_work work;
        enum crt_result result = crt_work_copy(&node->work, &work);
        if (result != CRT_SUCCESS)
            return result;
        struct crt_node *created = create_node(&work);
        if (!created)
            return CRT_OUT_OF_MEMORY;
        created->origin = node;
        created->origin_id = node->id;
        created->is_disabled = node->is_disabled;
        node->copy = created;
        append_node(copy, created);
        if (!grow_deps(created, node->dep_count))
            return CRT_OUT_OF_MEMORY;
    }
    return CRT_SUCCESS;
}

static void copy_dependencies(const struct crt_graph *graph)
{
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        struct crt_node *copy = node->copy;
        for (size_t i = 0; i < node->dep_count; i++) {
            copy->deps[i] = node->deps[i]->copy;
            copy->edges[i] = node->edges[i];
        }
        copy->dep_count = node->dep_count;
    }
}

enum crt_result crt_graph_copy(const struct crt_graph *graph, struct crt_graph **copy)
{
    struct crt_graph *created;
    enum crt_result result = crt_graph_create(&created);
    if (result != CRT_SUCCESS)
        return result;
    result = copy_nodes(graph, created);
    if (result == CRT_SUCCESS)
        result = crt_user_references_copy(graph->users, &created->users);
    if (result != CRT_SUCCESS) {
        crt_graph_free(created);
        return result;
    }
    copy_dependencies(graph);
    *copy = created;
    return CRT_SUCCESS;
}

/* CUDA: a graph with memory or conditional nodes cannot be cloned. */
enum crt_result crt_graph_clone(const struct crt_graph *graph, struct crt_graph **clone)
{
    if (!crt_graph_is_valid(graph))
        return CRT_INVALID_VALUE;
    if (crt_graph_contains(graph, CRT_NODE_ALLOC) || crt_graph_contains(graph, CRT_NODE_FREE) ||
        crt_graph_contains(graph, CRT_NODE_CONDITIONAL))
        return CRT_NOT_SUPPORTED;
    return crt_graph_copy(graph, clone);
}

/* ---- order ---- */

/* For each node, the nodes that depend on it: those of node i are next[first[i]] to next[first[i +
 * 1] - 1]. */
struct successors {
    size_t *first;
    size_t *next;
};

static void list_successors(struct crt_node *const *nodes, size_t count, struct successors *list)
{
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < nodes[i]->dep_count; d++)
            list->first[nodes[i]->deps[d]->index + 1]++;
    for (size_t i = 0; i < count; i++)
        list->first[i + 1] += list->first[i];
    for (size_t i = count; i-- > 0;)
        for (size_t d = 0; d < nodes[i]->dep_count; d++)
            list->next[--list->first[nodes[i]->deps[d]->index + 1]] = i;
    /* Each entry has gone down to where the node before it begins: back by one place. */
    for (size_t i = 0; i < count; i++)
        list->first[i] = list->first[i + 1];
}

/* Takes nodes whose dependencies have all been taken, in the order in which they become free. */
static size_t take_in_order(struct crt_node *const *nodes, size_t count, size_t edge_count,
                            const struct successors *list, size_t *waits, struct crt_node **order)
{
    size_t taken = 0;
    for (size_t i = 0; i < count; i++) {
        waits[i] = nodes[i]->dep_count;
        if (!waits[i])
            order[taken++] = nodes[i];
    }
    for (size_t i = 0; i < taken; i++) {
        size_t index = order[i]->index;
        size_t end = index + 1 < count ? list->first[index + 1] : edge_count;
        for (size_t s = list->first[index]; s < end; s++)
            if (--waits[list->next[s]] == 0)
                order[taken++] = nodes[list->next[s]];
    }
    return taken;
}

enum crt_result crt_graph_sort(struct crt_graph *graph, struct crt_node **order,
                               struct crt_node **culprit)
{
    size_t count = graph->node_count;
    size_t edge_count = 0;
    size_t i = 0;
    struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    edge_count += node->dep_count;
    struct crt_node **nodes = malloc((count + 1) * sizeof nodes[0]);
    size_t *waits = malloc((count + 1) * sizeof waits[0]);
    struct successors list = {.first = calloc(count + 2, sizeof list.first[0]),
                              .next = malloc((edge_count + 1) * sizeof list.next[0])};
    enum crt_result result = CRT_OUT_OF_MEMORY;
    if (!nodes || !waits || !list.first || !list.next)
        goto free_all;
    DL_FOREACH(graph->nodes, node)
    {
        node->index = i;
        nodes[i++] = node;
    }
    list_successors(nodes, count, &list);
    size_t taken = take_in_order(nodes, count, edge_count, &list, waits, order);
    result = taken == count ? CRT_SUCCESS : CRT_INVALID_VALUE;
    *culprit = NULL;
    for (i = 0; taken < count && !*culprit; i++)
        if (waits[i])
            *culprit = nodes[i];
    for (i = 0; i < taken; i++)
        order[i]->index = i;

free_all:
    free(nodes);
    free(waits);
    free(list.first);
    free(list.next);
    return result;
}
