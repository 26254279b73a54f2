/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of any kind, described by one struct.
 */
#include <string.h>

#include "cudart/core/graph/graph_memory.h"
#include "cudart/driver/graph_node.h"

static bool is_reserved_clear(const CUgraphNodeParams *params)
{
    return !params->reserved0[0] && !params->reserved0[1] && !params->reserved0[2] &&
           !params->reserved2;
}

static CUresult read_fill(const CUDA_MEMSET_NODE_PARAMS_v2 *params, struct crt_work *work)
{
    CUDA_MEMSET_NODE_PARAMS narrow;
    if (params->ctx && !is_context(params->ctx))
        return CRT_INVALID_CONTEXT;
    memcpy(&narrow, params, sizeof narrow);
    return read_memset_node(&narrow, work);
}

static CUresult read_copy(const CUDA_MEMCPY_NODE_PARAMS *params, struct crt_work *work)
{
    if (params->flags)
        return CRT_INVALID_VALUE;
    if (params->copyCtx && !is_context(params->copyCtx))
        return CRT_INVALID_CONTEXT;
    return read_memcpy_node(&params->copyParams, work);
}

/* Work that can be given to a node that exists, too. */
static CUresult read_work(const CUgraphNodeParams *params, struct crt_work *work)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return read_kernel_node(&params->kernel, work);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return read_copy(&params->memcpy, work);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return read_fill(&params->memset, work);
    case CU_GRAPH_NODE_TYPE_HOST:
        return read_host_node(&params->host, work);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return read_event_node(CRT_NODE_WAIT_EVENT, params->event.event, work);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return read_event_node(CRT_NODE_RECORD_EVENT, params->event.event, work);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
        return read_mem_op_node(&params->memOp, work);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return crt_not_supported("external semaphores");
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return CRT_NOT_SUPPORTED;
    default:
        return CRT_INVALID_VALUE;
    }
}

static CUresult read_conditional(CUgraph graph, const CUDA_CONDITIONAL_NODE_PARAMS *params,
                                 struct crt_work *work)
{
    if (params->ctx && !is_context(params->ctx))
        return CRT_INVALID_CONTEXT;
    if (params->type < CU_GRAPH_COND_TYPE_IF || params->type > CU_GRAPH_COND_TYPE_SWITCH)
        return CRT_INVALID_VALUE;
    return crt_work_conditional(graph, (struct crt_conditional *)(uintptr_t)params->handle,
                                (enum crt_condition_kind)params->type, params->size, work);
}

static CUresult read_new_work(CUgraph graph, const CUgraphNode *deps, size_t count,
                              const CUgraphNodeParams *params, struct crt_work *work)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
        if (params->graph.ownership != 0 && params->graph.ownership != 1)
            return CRT_INVALID_VALUE;
        return crt_work_child(params->graph.graph, params->graph.ownership == 1, work);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        *work = (struct crt_work){.kind = CRT_NODE_EMPTY};
        return CRT_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return read_alloc_node(graph, deps, count, &params->alloc, work);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return crt_work_free_memory(graph, (uintptr_t)params->free.dptr, work);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return read_conditional(graph, &params->conditional, work);
    default:
        return read_work(params, work);
    }
}

/* What a new node tells of itself. */
static void write_outputs(CUgraphNode node, CUgraphNodeParams *params)
{
    if (node->work.kind == CRT_NODE_ALLOC)
        params->alloc.dptr = node->work.memory.base;
    if (node->work.kind == CRT_NODE_CONDITIONAL)
        params->conditional.phGraph_out = node->work.condition.bodies;
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                           const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!node || !crt_graph_is_valid(graph) || !params || !is_reserved_clear(params) ||
        (count && !deps))
        return CRT_INVALID_VALUE;
    struct crt_work work;
    CUgraphNode created;
    result = check_edges(deps, data, count);
    if (result == CRT_SUCCESS)
        result = read_new_work(graph, deps, count, params, &work);
    if (result == CRT_INVALID_CONTEXT)
        return result;
    result = add_node(result, &created, graph, deps, count, &work);
    if (result != CRT_SUCCESS)
        return result;
    for (size_t i = 0; i < count && data; i++)
        created->edges[i] = read_edge(&data[i]);
    write_outputs(created, params);
    *node = created;
    return CRT_SUCCESS;
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                        CUgraphNodeParams *params)
{
    return cuGraphAddNode_v2(node, graph, deps, NULL, count, params);
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!params || !is_reserved_clear(params) || !crt_node_is_valid(node) ||
        (int)node->work.kind != params->type)
        return CRT_INVALID_VALUE;
    struct crt_work work;
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL)
        return cuGraphKernelNodeSetParams_v2(node, &params->kernel);
    return change_node(read_work(params, &work), node, &work);
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUgraphNode mine = crt_graph_exec_find(exec, node);
    if (!params || !is_reserved_clear(params) || !mine || (int)mine->work.kind != params->type)
        return CRT_INVALID_VALUE;
    struct crt_work work;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphExecKernelNodeSetParams_v2(exec, node, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return cuGraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams,
                                              params->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cuGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
    default:
        return change_exec_node(read_work(params, &work), exec, node, &work);
    }
}
