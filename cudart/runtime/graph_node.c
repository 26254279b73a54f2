/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of graphs but copies: kernels by their host stubs, fills, host functions, children, events,
 * memory.
 */
#include <string.h>

#include "cudart/runtime/runtime.h"

/* ---- kernels ---- */

cudaError_t crt_kernel_node(const struct cudaKernelNodeParams *params,
                            CUDA_KERNEL_NODE_PARAMS *result)
{
    CUkernel kernel = NULL;
    if (!params)
        return cudaErrorInvalidValue;
    cudaError_t error = crt_kernel_of(params->func, &kernel);
    if (error)
        return error;
    *result = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)kernel,
                                        .gridDimX = params->gridDim.x,
                                        .gridDimY = params->gridDim.y,
                                        .gridDimZ = params->gridDim.z,
                                        .blockDimX = params->blockDim.x,
                                        .blockDimY = params->blockDim.y,
                                        .blockDimZ = params->blockDim.z,
                                        .sharedMemBytes = params->sharedMemBytes,
                                        .kernelParams = params->kernelParams,
                                        .extra = params->extra};
    return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS own;
    return crt_done(crt_enter() ?: crt_kernel_node(params, &own)
                        ?: cuGraphAddKernelNode_v2(node, graph, deps, count, &own));
}

/* func is the kernel's handle, which serves as well as the stub. */
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS own;
    if (!params)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_enter() ?: cuGraphKernelNodeGetParams_v2(node, &own);
    if (!error)
        *params =
            (struct cudaKernelNodeParams){.func = own.kern,
                                          .gridDim = {own.gridDimX, own.gridDimY, own.gridDimZ},
                                          .blockDim = {own.blockDimX, own.blockDimY, own.blockDimZ},
                                          .sharedMemBytes = own.sharedMemBytes,
                                          .kernelParams = own.kernelParams,
                                          .extra = own.extra};
    return crt_done(error);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS own;
    return crt_done(crt_enter() ?: crt_kernel_node(params, &own)
                        ?: cuGraphKernelNodeSetParams_v2(node, &own));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS own;
    return crt_done(crt_enter() ?: crt_kernel_node(params, &own)
                        ?: cuGraphExecKernelNodeSetParams_v2(exec, node, &own));
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    return crt_done(crt_enter() ?: cuGraphKernelNodeCopyAttributes(to, from));
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int attribute,
                                            CUlaunchAttributeValue *value)
{
    return crt_done(crt_enter() ?: cuGraphKernelNodeGetAttribute(node, attribute, value));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int attribute,
                                            const CUlaunchAttributeValue *value)
{
    return crt_done(crt_enter() ?: cuGraphKernelNodeSetAttribute(node, attribute, value));
}

/* ---- fills ---- */

static cudaError_t describe_fill(const struct cudaMemsetParams *params,
                                 CUDA_MEMSET_NODE_PARAMS *result)
{
    _Static_assert(sizeof *params == sizeof *result, "both APIs have one layout");
    if (!params)
        return cudaErrorInvalidValue;
    memcpy(result, params, sizeof *result);
    return cudaSuccess;
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaMemsetParams *params)
{
    CUDA_MEMSET_NODE_PARAMS own;
    return crt_done(crt_enter() ?: describe_fill(params, &own)
                        ?: cuGraphAddMemsetNode(node, graph, deps, count, &own, NULL));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params)
{
    CUDA_MEMSET_NODE_PARAMS own;
    if (!params)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_enter() ?: cuGraphMemsetNodeGetParams(node, &own);
    if (!error)
        memcpy(params, &own, sizeof own);
    return crt_done(error);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemsetParams *params)
{
    CUDA_MEMSET_NODE_PARAMS own;
    return crt_done(crt_enter() ?: describe_fill(params, &own)
                        ?: cuGraphMemsetNodeSetParams(node, &own));
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *params)
{
    CUDA_MEMSET_NODE_PARAMS own;
    return crt_done(crt_enter() ?: describe_fill(params, &own)
                        ?: cuGraphExecMemsetNodeSetParams(exec, node, &own, NULL));
}

/* ---- what both APIs describe alike ---- */

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *deps, size_t count,
                                 const CUDA_HOST_NODE_PARAMS *params)
{
    return crt_done(crt_enter() ?: cuGraphAddHostNode(node, graph, deps, count, params));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, CUDA_HOST_NODE_PARAMS *params)
{
    return crt_done(crt_enter() ?: cuGraphHostNodeGetParams(node, params));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const CUDA_HOST_NODE_PARAMS *params)
{
    return crt_done(crt_enter() ?: cuGraphHostNodeSetParams(node, params));
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const CUDA_HOST_NODE_PARAMS *params)
{
    return crt_done(crt_enter() ?: cuGraphExecHostNodeSetParams(exec, node, params));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps, size_t count)
{
    return crt_done(crt_enter() ?: cuGraphAddEmptyNode(node, graph, deps, count));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *deps, size_t count, cudaGraph_t child)
{
    return crt_done(crt_enter() ?: cuGraphAddChildGraphNode(node, graph, deps, count, child));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child)
{
    return crt_done(crt_enter() ?: cuGraphChildGraphNodeGetGraph(node, child));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child)
{
    return crt_done(crt_enter() ?: cuGraphExecChildGraphNodeSetParams(exec, node, child));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *deps, size_t count,
                                        cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuGraphAddEventRecordNode(node, graph, deps, count, event));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return crt_done(crt_enter() ?: cuGraphEventRecordNodeGetEvent(node, event));
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                      const cudaGraphNode_t *deps, size_t count, cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuGraphAddEventWaitNode(node, graph, deps, count, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    return crt_done(crt_enter() ?: cuGraphEventWaitNodeGetEvent(node, event));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event)
{
    return crt_done(crt_enter() ?: cuGraphExecEventWaitNodeSetEvent(exec, node, event));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *deps, size_t count,
                                     CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    return crt_done(crt_enter() ?: cuGraphAddMemAllocNode(node, graph, deps, count, params));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    return crt_done(crt_enter() ?: cuGraphMemAllocNodeGetParams(node, params));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *deps, size_t count, void *pointer)
{
    return crt_done(
        crt_enter()
            ?: cuGraphAddMemFreeNode(node, graph, deps, count, (CUdeviceptr)(uintptr_t)pointer));
}

/* pointer: where the address goes. */
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer)
{
    return crt_done(crt_enter() ?: cuGraphMemFreeNodeGetParams(node, pointer));
}
