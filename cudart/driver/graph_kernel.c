/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernel nodes: parameters in both versions, and attributes.
 */
#include "cudart/core/code/cluster.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/driver/graph_node.h"

CUresult read_kernel_node(const CUDA_KERNEL_NODE_PARAMS *params, struct crt_work *work)
{
    if (!params)
        return CRT_INVALID_VALUE;
    if (params->ctx && !is_context(params->ctx))
        return CRT_INVALID_CONTEXT;
    CUfunction function = params->func ? params->func : params->kern;
    if (!function)
        return CRT_INVALID_VALUE;
    struct crt_launch_config config = {
        .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .dynamic_shared_bytes = params->sharedMemBytes};
    if (crt_kernel_is_valid(function) && !crt_cluster_scale_grid(function, config.grid))
        return CRT_INVALID_VALUE;
    CUresult result = crt_work_launch(function, &config, params->kernelParams, params->extra, work);
    if (result == CRT_SUCCESS)
        work->ctx = params->ctx ? crt_context_behind(params->ctx) : crt_context_get_current();
    return result;
}

/* The first version has neither kern nor ctx. */
static const CUDA_KERNEL_NODE_PARAMS *widen(const CUDA_KERNEL_NODE_PARAMS_v1 *params,
                                            CUDA_KERNEL_NODE_PARAMS *wide)
{
    if (!params)
        return NULL;
    *wide = (CUDA_KERNEL_NODE_PARAMS){.func = params->func,
                                      .gridDimX = params->gridDimX,
                                      .gridDimY = params->gridDimY,
                                      .gridDimZ = params->gridDimZ,
                                      .blockDimX = params->blockDimX,
                                      .blockDimY = params->blockDimY,
                                      .blockDimZ = params->blockDimZ,
                                      .sharedMemBytes = params->sharedMemBytes,
                                      .kernelParams = params->kernelParams,
                                      .extra = params->extra};
    return wide;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return add_node(read_kernel_node(params, &work), node, graph, deps, count, &work);
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUDA_KERNEL_NODE_PARAMS wide;
    return cuGraphAddKernelNode_v2(node, graph, deps, count, widen(params, &wide));
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!params || !has_kind(node, CRT_NODE_KERNEL))
        return CRT_INVALID_VALUE;
    const struct crt_launch_config *config = &node->work.launch.config;
    *params = (CUDA_KERNEL_NODE_PARAMS){.func = node->work.launch.kernel,
                                        .gridDimX = config->grid[0],
                                        .gridDimY = config->grid[1],
                                        .gridDimZ = config->grid[2],
                                        .blockDimX = config->block[0],
                                        .blockDimY = config->block[1],
                                        .blockDimZ = config->block[2],
                                        .sharedMemBytes = (unsigned)config->dynamic_shared_bytes,
                                        .kernelParams = node->work.launch.params,
                                        .kern = node->work.launch.kernel,
                                        .ctx = node->work.ctx};
    return CRT_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUDA_KERNEL_NODE_PARAMS wide;
    result = params ? cuGraphKernelNodeGetParams_v2(node, &wide) : CRT_INVALID_VALUE;
    if (result == CRT_SUCCESS)
        *params = (CUDA_KERNEL_NODE_PARAMS_v1){.func = wide.func,
                                               .gridDimX = wide.gridDimX,
                                               .gridDimY = wide.gridDimY,
                                               .gridDimZ = wide.gridDimZ,
                                               .blockDimX = wide.blockDimX,
                                               .blockDimY = wide.blockDimY,
                                               .blockDimZ = wide.blockDimZ,
                                               .sharedMemBytes = wide.sharedMemBytes,
                                               .kernelParams = wide.kernelParams};
    return result;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    result = read_kernel_node(params, &work);
    if (result == CRT_SUCCESS && has_kind(node, CRT_NODE_KERNEL))
        crt_launch_keep_attributes(&work.launch.config, &node->work.launch.config);
    return change_node(result, node, &work);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUDA_KERNEL_NODE_PARAMS wide;
    return cuGraphKernelNodeSetParams_v2(node, widen(params, &wide));
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    result = read_kernel_node(params, &work);
    CUgraphNode mine = crt_graph_exec_find(exec, node);
    if (result == CRT_SUCCESS && has_kind(mine, CRT_NODE_KERNEL))
        crt_launch_keep_attributes(&work.launch.config, &mine->work.launch.config);
    return change_exec_node(result, exec, node, &work);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    CUDA_KERNEL_NODE_PARAMS wide;
    return cuGraphExecKernelNodeSetParams_v2(exec, node, widen(params, &wide));
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       CUlaunchAttributeValue *value)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    _Static_assert(sizeof *value == CRT_NODE_ATTRIBUTE_BYTES, "one size of attributes");
    if (!crt_node_is_valid(node))
        return CRT_INVALID_HANDLE;
    return value ? crt_node_get_attribute(node, attribute, value) : CRT_INVALID_VALUE;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                       const CUlaunchAttributeValue *value)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_node_is_valid(node))
        return CRT_INVALID_HANDLE;
    return value ? crt_node_set_attribute(node, attribute, value) : CRT_INVALID_VALUE;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    return crt_check_ready() ?: crt_node_copy_attributes(dst, src);
}
