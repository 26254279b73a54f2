/* SPDX-License-Identifier: Apache-2.0
 *
 * The structure of graphs: nodes and edges, and copies.
 */
#include "cudart/core/graph/graph.h"

#include <string.h>

#include "cudart/core/graph/graph_capture.h"
#include "cudart/core/streams/capture.h"
#include "cudart/driver/graph_node.h"

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return graph && !flags ? crt_graph_create(graph) : CRT_INVALID_VALUE;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    /* CUDA: while it is captured into, anything but destroying and removing nodes is allowed. */
    if (crt_graph_is_valid(graph) && crt_capture_is_target(graph))
        return CRT_INVALID_VALUE;
    return crt_graph_destroy(graph);
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags)
{
    return crt_check_ready() ?: crt_graph_print(graph, path, flags);
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return clone ? crt_graph_clone(graph, clone) : CRT_INVALID_VALUE;
}

/* Collects nodes or edges the way all the queries do: *count is the room on entry and the number
 * stored on return; without an array, the number there is. */
struct collector {
    CUgraphNode *first;
    CUgraphNode *second; /* edges: where they lead */
    CUgraphEdgeData *data;
    size_t cap;
    size_t found;
    bool is_lossy; /* an edge has data that the caller does not ask for */
};

static void collect(struct collector *collector, CUgraphNode first, CUgraphNode second,
                    const struct crt_edge *edge)
{
    bool is_ordinary = !edge || (!edge->from_port && !edge->to_port && !edge->type);
    if (!is_ordinary && !collector->data)
        collector->is_lossy = true;
    size_t index = collector->found++;
    if (index >= collector->cap)
        return;
    if (collector->first)
        collector->first[index] = first;
    if (collector->second)
        collector->second[index] = second;
    if (collector->data)
        collector->data[index] = is_ordinary ? (CUgraphEdgeData){0}
                                             : (CUgraphEdgeData){.from_port = edge->from_port,
                                                                 .to_port = edge->to_port,
                                                                 .type = edge->type};
}

static CUresult finish_collection(const struct collector *collector, size_t *count)
{
    bool has_array = collector->first || collector->second;
    if (has_array && collector->is_lossy)
        return CRT_LOSSY_QUERY;
    for (size_t i = collector->found; has_array && i < *count; i++)
        if (collector->first)
            collector->first[i] = NULL;
    *count = has_array && collector->found > collector->cap ? collector->cap : collector->found;
    return CRT_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_is_valid(graph) || !count)
        return CRT_INVALID_VALUE;
    struct collector collector = {.first = nodes, .cap = nodes ? *count : 0};
    for (CUgraphNode node = graph->nodes; node; node = node->next)
        collect(&collector, node, NULL, NULL);
    return finish_collection(&collector, count);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_is_valid(graph) || !count)
        return CRT_INVALID_VALUE;
    struct collector collector = {.first = nodes, .cap = nodes ? *count : 0};
    for (CUgraphNode node = graph->nodes; node; node = node->next)
        if (node->dep_count == 0)
            collect(&collector, node, NULL, NULL);
    return finish_collection(&collector, count);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *data, size_t *count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_is_valid(graph) || !count || !from != !to)
        return CRT_INVALID_VALUE;
    struct collector collector = {
        .first = from, .second = to, .data = data, .cap = from ? *count : 0};
    for (CUgraphNode node = graph->nodes; node; node = node->next)
        for (size_t i = 0; i < node->dep_count; i++)
            collect(&collector, node->deps[i], node, &node->edges[i]);
    return finish_collection(&collector, count);
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
                                       size_t *count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_node_is_valid(node) || !count)
        return CRT_INVALID_VALUE;
    struct collector collector = {.first = nodes, .data = data, .cap = nodes ? *count : 0};
    for (size_t i = 0; i < node->dep_count; i++)
        collect(&collector, node->deps[i], NULL, &node->edges[i]);
    return finish_collection(&collector, count);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                         CUgraphEdgeData *data, size_t *count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_node_is_valid(node) || !count)
        return CRT_INVALID_VALUE;
    struct collector collector = {.first = nodes, .data = data, .cap = nodes ? *count : 0};
    for (CUgraphNode other = node->graph->nodes; other; other = other->next)
        for (size_t i = 0; i < other->dep_count; i++)
            if (other->deps[i] == node)
                collect(&collector, other, NULL, &other->edges[i]);
    return finish_collection(&collector, count);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}

/* ---- edges ---- */

#define EDGE_TYPES        2
#define KERNEL_FROM_PORTS 3

/* Ports and programmatic edges let a node start before another one has ended: they are hints to
 * schedule by, and full dependencies are always right. Only kernels have ports. */
CUresult check_edges(const CUgraphNode *from, const CUgraphEdgeData *data, size_t count)
{
    static const unsigned char reserved[sizeof data->reserved];
    for (size_t i = 0; data && i < count; i++) {
        bool has_data = data[i].from_port || data[i].type;
        if (data[i].to_port || data[i].type >= EDGE_TYPES ||
            data[i].from_port >= KERNEL_FROM_PORTS ||
            memcmp(data[i].reserved, reserved, sizeof reserved) != 0 ||
            (has_data && !has_kind(from[i], CRT_NODE_KERNEL)))
            return CRT_INVALID_VALUE;
    }
    return CRT_SUCCESS;
}

struct crt_edge read_edge(const CUgraphEdgeData *data)
{
    return (struct crt_edge){
        .from_port = data->from_port, .to_port = data->to_port, .type = data->type};
}

static bool owns_pair(CUgraph graph, CUgraphNode from, CUgraphNode to)
{
    return crt_node_is_valid(from) && crt_node_is_valid(to) && from->graph == graph &&
           to->graph == graph;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_is_valid(graph) || (count && (!from || !to)))
        return CRT_INVALID_VALUE;
    result = check_edges(from, data, count);
    for (size_t i = 0; i < count && result == CRT_SUCCESS; i++) {
        struct crt_edge edge = data ? read_edge(&data[i]) : (struct crt_edge){0};
        result = owns_pair(graph, from[i], to[i]) ? crt_node_depend(to[i], from[i], &edge)
                                                  : CRT_INVALID_VALUE;
    }
    return result;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count)
{
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

/* CUDA: dependencies and nodes stay in a graph that has memory nodes. */
static bool is_fixed(const struct crt_graph *graph)
{
    return crt_graph_contains(graph, CRT_NODE_ALLOC) || crt_graph_contains(graph, CRT_NODE_FREE);
}

/* An edge is only removed by the data it has. */
static bool has_edge(CUgraphNode from, CUgraphNode to, const CUgraphEdgeData *data)
{
    struct crt_edge wanted = data ? read_edge(data) : (struct crt_edge){0};
    for (size_t i = 0; i < to->dep_count; i++)
        if (to->deps[i] == from)
            return memcmp(&to->edges[i], &wanted, sizeof wanted) == 0;
    return false;
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_graph_is_valid(graph) || (count && (!from || !to)))
        return CRT_INVALID_VALUE;
    if (is_fixed(graph))
        return CRT_NOT_SUPPORTED;
    for (size_t i = 0; i < count; i++) {
        if (!owns_pair(graph, from[i], to[i]) || !has_edge(from[i], to[i], data ? &data[i] : NULL))
            return CRT_INVALID_VALUE;
        crt_node_forget(to[i], from[i]);
    }
    return CRT_SUCCESS;
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t count)
{
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

/* ---- nodes ---- */

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_node_is_valid(node) || !type)
        return CRT_INVALID_VALUE;
    *type = (int)node->work.kind;
    return CRT_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *found, CUgraphNode node, CUgraph clone)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!found || !crt_node_is_valid(node) || !crt_graph_is_valid(clone))
        return CRT_INVALID_VALUE;
    for (CUgraphNode copy = clone->nodes; copy; copy = copy->next) {
        if (copy->origin == node && copy->origin_id == node->id) {
            *found = copy;
            return CRT_SUCCESS;
        }
    }
    return CRT_INVALID_VALUE;
}

CUresult cuGraphDestroyNode(CUgraphNode node)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_node_is_valid(node) || crt_capture_is_target(node->graph))
        return CRT_INVALID_VALUE;
    return is_fixed(node->graph) ? CRT_NOT_SUPPORTED : crt_node_destroy(node);
}
