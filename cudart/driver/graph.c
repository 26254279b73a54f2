/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs: their structure, instantiation and launch. What nodes do is in graph_node.c.
 */
#include "cudart/core/graph.h"

#include <string.h>

#include "cudart/driver/internal.h"

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return graph && !flags ? crt_graph_create(graph) : CRT_INVALID_VALUE;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    return crt_graph_destroy(graph);
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph)
{
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
};

static void collect(struct collector *collector, CUgraphNode first, CUgraphNode second)
{
    size_t index = collector->found++;
    if (index >= collector->cap)
        return;
    if (collector->first)
        collector->first[index] = first;
    if (collector->second)
        collector->second[index] = second;
    if (collector->data)
        memset(&collector->data[index], 0, sizeof collector->data[0]);
}

static CUresult finish_collection(const struct collector *collector, size_t *count)
{
    bool has_array = collector->first || collector->second;
    for (size_t i = collector->found; has_array && i < *count; i++)
        if (collector->first)
            collector->first[i] = NULL;
    *count = has_array && collector->found > collector->cap ? collector->cap : collector->found;
    return CRT_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    if (!crt_graph_is_valid(graph) || !count)
        return CRT_INVALID_VALUE;
    struct collector collector = {.first = nodes, .cap = nodes ? *count : 0};
    for (CUgraphNode node = graph->nodes; node; node = node->next)
        collect(&collector, node, NULL);
    return finish_collection(&collector, count);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    if (!crt_graph_is_valid(graph) || !count)
        return CRT_INVALID_VALUE;
    struct collector collector = {.first = nodes, .cap = nodes ? *count : 0};
    for (CUgraphNode node = graph->nodes; node; node = node->next)
        if (node->dep_count == 0)
            collect(&collector, node, NULL);
    return finish_collection(&collector, count);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *data, size_t *count)
{
    if (!crt_graph_is_valid(graph) || !count || !from != !to)
        return CRT_INVALID_VALUE;
    struct collector collector = {
        .first = from, .second = to, .data = data, .cap = from ? *count : 0};
    for (CUgraphNode node = graph->nodes; node; node = node->next)
        for (size_t i = 0; i < node->dep_count; i++)
            collect(&collector, node->deps[i], node);
    return finish_collection(&collector, count);
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data,
                                       size_t *count)
{
    if (!crt_node_is_valid(node) || !count)
        return CRT_INVALID_VALUE;
    struct collector collector = {.first = nodes, .data = data, .cap = nodes ? *count : 0};
    for (size_t i = 0; i < node->dep_count; i++)
        collect(&collector, node->deps[i], NULL);
    return finish_collection(&collector, count);
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes,
                                         CUgraphEdgeData *data, size_t *count)
{
    if (!crt_node_is_valid(node) || !count)
        return CRT_INVALID_VALUE;
    struct collector collector = {.first = nodes, .data = data, .cap = nodes ? *count : 0};
    for (CUgraphNode other = node->graph->nodes; other; other = other->next)
        if (crt_node_depends_on(other, node))
            collect(&collector, other, NULL);
    return finish_collection(&collector, count);
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count)
{
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}

/* Ports and programmatic edges let a node start before another has ended: they are hints to
 * schedule by, and full dependencies are always right. */
CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *data, size_t count)
{
    (void)data;
    if (!crt_graph_is_valid(graph) || (count && (!from || !to)))
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        CUresult result = crt_node_depend(to[i], from[i]);
        if (result != CRT_SUCCESS)
            return result;
    }
    return CRT_SUCCESS;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count)
{
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *data, size_t count)
{
    (void)data;
    if (!crt_graph_is_valid(graph) || (count && (!from || !to)))
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        CUresult result = crt_node_forget(to[i], from[i]);
        if (result != CRT_SUCCESS)
            return result;
    }
    return CRT_SUCCESS;
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   size_t count)
{
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    if (!exec || !crt_graph_is_valid(graph))
        return CRT_INVALID_VALUE;
    return crt_graph_instantiate(graph, flags, exec);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *culprit, char *log,
                               size_t log_bytes)
{
    if (culprit)
        *culprit = NULL;
    if (log && log_bytes)
        log[0] = '\0';
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *culprit, char *log,
                            size_t log_bytes)
{
    return cuGraphInstantiate_v2(exec, graph, culprit, log, log_bytes);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (!params)
        return CRT_INVALID_VALUE;
    params->hErrNode_out = NULL;
    CUresult result = cuGraphInstantiateWithFlags(exec, graph, params->flags);
    params->result_out = result != CRT_SUCCESS; /* 0: success, 1: error */
    return result;
}

/* Nothing is uploaded, so the stream does not matter. */
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return cuGraphInstantiateWithParams(exec, graph, params);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    return crt_graph_exec_destroy(exec);
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags)
{
    if (!crt_graph_exec_is_valid(exec) || !flags)
        return CRT_INVALID_VALUE;
    *flags = exec->flags;
    return CRT_SUCCESS;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    if (!crt_graph_exec_is_valid(exec) || !crt_graph_is_valid(graph) || !info)
        return CRT_INVALID_VALUE;
    CUgraphNode culprit;
    CUresult result = crt_graph_exec_update(exec, graph, &culprit);
    int answer = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    if (result == CRT_GRAPH_EXEC_UPDATE_FAILURE)
        answer = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    else if (result != CRT_SUCCESS)
        answer = CU_GRAPH_EXEC_UPDATE_ERROR;
    *info = (CUgraphExecUpdateResultInfo){.result = answer, .errorNode = culprit};
    return result;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    return crt_graph_exec_is_valid(exec) ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    return crt_graph_exec_is_valid(exec) ? crt_graph_exec_launch(exec, stream) : CRT_INVALID_VALUE;
}
