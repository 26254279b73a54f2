/* SPDX-License-Identifier: Apache-2.0
 *
 * Executable graphs; and nodes of any kind, described by one struct.
 */
#include "cudart/runtime/runtime.h"

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    return crt_done(crt_enter() ?: cuGraphInstantiateWithFlags(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
    return crt_done(crt_enter() ?: cuGraphInstantiateWithFlags(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return crt_done(crt_enter() ?: cuGraphInstantiateWithParams(exec, graph, params));
}

cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return crt_done(crt_enter() ?: cuGraphInstantiateWithParams_ptsz(exec, graph, params));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return crt_done(crt_enter() ?: cuGraphExecDestroy(exec));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    cuuint64_t own = 0;
    cudaError_t error = flags ? crt_enter() : cudaErrorInvalidValue;
    error = error ?: cuGraphExecGetFlags(exec, &own);
    if (!error)
        *flags = own;
    return crt_done(error);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                CUgraphExecUpdateResultInfo *info)
{
    return crt_done(crt_enter() ?: cuGraphExecUpdate_v2(exec, graph, info));
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned is_enabled)
{
    return crt_done(crt_enter() ?: cuGraphNodeSetEnabled(exec, node, is_enabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                    unsigned *is_enabled)
{
    return crt_done(crt_enter() ?: cuGraphNodeGetEnabled(exec, node, is_enabled));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuGraphUpload(exec, stream));
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuGraphUpload_ptsz(exec, stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuGraphLaunch(exec, stream));
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuGraphLaunch_ptsz(exec, stream));
}

/* ---- nodes of any kind ---- */

static cudaError_t describe_copy(const struct cudaMemcpyNodeParams *params,
                                 CUDA_MEMCPY_NODE_PARAMS *result)
{
    *result = (CUDA_MEMCPY_NODE_PARAMS){.flags = params->flags};
    if (params->reserved[0] || params->reserved[1] || params->reserved[2])
        return cudaErrorInvalidValue;
    return crt_describe_3d(&params->copyParams, &result->copyParams);
}

static cudaError_t describe_fill(const struct cudaMemsetParams *params,
                                 CUDA_MEMSET_NODE_PARAMS_v2 *result)
{
    *result = (CUDA_MEMSET_NODE_PARAMS_v2){.dst = (CUdeviceptr)(uintptr_t)params->dst,
                                           .pitch = params->pitch,
                                           .value = params->value,
                                           .elementSize = params->elementSize,
                                           .width = params->width,
                                           .height = params->height};
    return cudaSuccess;
}

static cudaError_t describe_node(const struct cudaGraphNodeParams *params,
                                 CUgraphNodeParams *result)
{
    if (!params)
        return cudaErrorInvalidValue;
    *result = (CUgraphNodeParams){.type = params->type, .reserved2 = params->reserved2};
    for (int i = 0; i < 3; i++)
        result->reserved0[i] = params->reserved0[i];
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return crt_kernel_node(&params->kernel, &result->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return describe_copy(&params->memcpy, &result->memcpy);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return describe_fill(&params->memset, &result->memset);
    case CU_GRAPH_NODE_TYPE_HOST:
        result->host = params->host;
        return cudaSuccess;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        result->graph = params->graph;
        return cudaSuccess;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        result->event = params->event;
        return cudaSuccess;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        result->alloc = params->alloc;
        return cudaSuccess;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        result->free = params->free;
        return cudaSuccess;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        result->conditional = (CUDA_CONDITIONAL_NODE_PARAMS){.handle = params->conditional.handle,
                                                             .type = params->conditional.type,
                                                             .size = params->conditional.size};
        return cudaSuccess;
    default:
        return cudaSuccess; /* nothing to describe, or the driver refuses it */
    }
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                             const CUgraphEdgeData *data, size_t count,
                             struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams own;
    cudaError_t error = crt_enter() ?: describe_node(params, &own);
    error = error ?: cuGraphAddNode_v2(node, graph, deps, data, count, &own);
    if (!error && params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        params->alloc.dptr = own.alloc.dptr;
    if (!error && params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        params->conditional.phGraph_out = own.conditional.phGraph_out;
    return crt_done(error);
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams own;
    return crt_done(crt_enter() ?: describe_node(params, &own) ?: cuGraphNodeSetParams(node, &own));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams own;
    return crt_done(crt_enter() ?: describe_node(params, &own)
                        ?: cuGraphExecNodeSetParams(exec, node, &own));
}
