/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of graphs: making them, reading and changing what they do.
 */
#include "cudart/core/event.h"
#include "cudart/core/graph.h"
#include "cudart/driver/internal.h"

CUresult cuGraphNodeGetType(CUgraphNode node, int *type)
{
    if (!crt_node_is_valid(node) || !type)
        return CRT_INVALID_VALUE;
    *type = (int)node->work.kind;
    return CRT_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode *found, CUgraphNode node, CUgraph clone)
{
    if (!found || !crt_node_is_valid(node) || !crt_graph_is_valid(clone))
        return CRT_INVALID_VALUE;
    for (CUgraphNode copy = clone->nodes; copy; copy = copy->next) {
        if (copy->origin == node) {
            *found = copy;
            return CRT_SUCCESS;
        }
    }
    return CRT_INVALID_VALUE;
}

CUresult cuGraphDestroyNode(CUgraphNode node)
{
    return crt_node_destroy(node);
}

static CUresult add_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                         struct crt_work *work)
{
    CUgraphNode created;
    CUresult result = crt_graph_add(graph, deps, count, work, &created);
    if (result == CRT_SUCCESS && node)
        *node = created;
    return result;
}

/* The node of an executable graph that stands for a node of the graph it was made from. */
static CUgraphNode find_in_exec(CUgraphExec exec, CUgraphNode node)
{
    return crt_graph_exec_is_valid(exec) ? crt_graph_exec_find(exec, node) : NULL;
}

static bool has_kind(CUgraphNode node, enum crt_node_kind kind)
{
    return crt_node_is_valid(node) && node->work.kind == kind;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                             size_t count)
{
    struct crt_work work = {.kind = CRT_NODE_EMPTY};
    return add_node(node, graph, deps, count, &work);
}

/* ---- kernels ---- */

static CUresult read_kernel_params(const CUDA_KERNEL_NODE_PARAMS *params, struct crt_work *work)
{
    if (!params)
        return CRT_INVALID_VALUE;
    struct crt_launch_config config = {
        .grid = {params->gridDimX, params->gridDimY, params->gridDimZ},
        .block = {params->blockDimX, params->blockDimY, params->blockDimZ},
        .dynamic_shared_bytes = params->sharedMemBytes};
    CUfunction function = params->func ? params->func : params->kern;
    return crt_work_launch(function, &config, params->kernelParams, params->extra, work);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct crt_work work;
    CUresult result = read_kernel_params(params, &work);
    return result == CRT_SUCCESS ? add_node(node, graph, deps, count, &work) : result;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
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
                                        .kern = node->work.launch.kernel};
    return CRT_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct crt_work work;
    CUresult result = read_kernel_params(params, &work);
    return result == CRT_SUCCESS ? crt_node_set_work(node, &work) : result;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    return cuGraphKernelNodeSetParams_v2(find_in_exec(exec, node), params);
}

/* ---- copies ---- */

static CUresult read_copy(const CUDA_MEMCPY3D *copy, struct crt_work *work)
{
    if (!copy)
        return CRT_INVALID_VALUE;
    *work = (struct crt_work){.kind = CRT_NODE_COPY};
    return describe_copy_3d(copy, &work->copy);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                              size_t count, const CUDA_MEMCPY3D *copy, CUcontext ctx)
{
    (void)ctx;
    struct crt_work work;
    CUresult result = read_copy(copy, &work);
    return result == CRT_SUCCESS ? add_node(node, graph, deps, count, &work) : result;
}

static CUmemorytype memory_type(enum crt_place place)
{
    if (place == CRT_PLACE_HOST)
        return CU_MEMORYTYPE_HOST;
    return place == CRT_PLACE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
}

/* A descriptor of the same copy; offsets have become part of the addresses. */
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy)
{
    if (!copy || !has_kind(node, CRT_NODE_COPY))
        return CRT_INVALID_VALUE;
    const struct crt_copy *work = &node->work.copy;
    *copy = (CUDA_MEMCPY3D){
        .srcMemoryType = memory_type(work->src.place),
        .srcHost = (const void *)work->src.base,
        .srcDevice = work->src.base,
        .srcPitch = work->src.pitch_bytes,
        .srcHeight = work->src.pitch_bytes ? work->src.slice_bytes / work->src.pitch_bytes : 0,
        .dstMemoryType = memory_type(work->dst.place),
        .dstHost = (void *)work->dst.base,
        .dstDevice = work->dst.base,
        .dstPitch = work->dst.pitch_bytes,
        .dstHeight = work->dst.pitch_bytes ? work->dst.slice_bytes / work->dst.pitch_bytes : 0,
        .WidthInBytes = work->width_bytes,
        .Height = work->height,
        .Depth = work->depth};
    return CRT_SUCCESS;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *copy)
{
    struct crt_work work;
    CUresult result = read_copy(copy, &work);
    return result == CRT_SUCCESS ? crt_node_set_work(node, &work) : result;
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *copy, CUcontext ctx)
{
    (void)ctx;
    return cuGraphMemcpyNodeSetParams(find_in_exec(exec, node), copy);
}

/* ---- fills ---- */

static CUresult read_fill(const CUDA_MEMSET_NODE_PARAMS *params, struct crt_work *work)
{
    if (!params)
        return CRT_INVALID_VALUE;
    unsigned bytes = params->elementSize;
    if (bytes != 1 && bytes != 2 && bytes != 4)
        return CRT_INVALID_VALUE;
    *work = (struct crt_work){.kind = CRT_NODE_FILL,
                              .fill = {.base = (uintptr_t)params->dst,
                                       .pitch_bytes = params->pitch,
                                       .width = params->width,
                                       .height = params->height,
                                       .value = params->value,
                                       .elem_bytes = bytes}};
    return CRT_SUCCESS;
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
{
    (void)ctx;
    struct crt_work work;
    CUresult result = read_fill(params, &work);
    return result == CRT_SUCCESS ? add_node(node, graph, deps, count, &work) : result;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
    if (!params || !has_kind(node, CRT_NODE_FILL))
        return CRT_INVALID_VALUE;
    const struct crt_fill *fill = &node->work.fill;
    *params = (CUDA_MEMSET_NODE_PARAMS){.dst = fill->base,
                                        .pitch = fill->pitch_bytes,
                                        .value = fill->value,
                                        .elementSize = fill->elem_bytes,
                                        .width = fill->width,
                                        .height = fill->height};
    return CRT_SUCCESS;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params)
{
    struct crt_work work;
    CUresult result = read_fill(params, &work);
    return result == CRT_SUCCESS ? crt_node_set_work(node, &work) : result;
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
{
    (void)ctx;
    return cuGraphMemsetNodeSetParams(find_in_exec(exec, node), params);
}

/* ---- host functions ---- */

static CUresult read_host(const CUDA_HOST_NODE_PARAMS *params, struct crt_work *work)
{
    if (!params || !params->fn)
        return CRT_INVALID_VALUE;
    *work = (struct crt_work){.kind = CRT_NODE_HOST,
                              .host = {.fn = params->fn, .arg = params->userData}};
    return CRT_SUCCESS;
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params)
{
    struct crt_work work;
    CUresult result = read_host(params, &work);
    return result == CRT_SUCCESS ? add_node(node, graph, deps, count, &work) : result;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
    if (!params || !has_kind(node, CRT_NODE_HOST))
        return CRT_INVALID_VALUE;
    *params = (CUDA_HOST_NODE_PARAMS){.fn = node->work.host.fn, .userData = node->work.host.arg};
    return CRT_SUCCESS;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
    struct crt_work work;
    CUresult result = read_host(params, &work);
    return result == CRT_SUCCESS ? crt_node_set_work(node, &work) : result;
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *params)
{
    return cuGraphHostNodeSetParams(find_in_exec(exec, node), params);
}

/* ---- child graphs and events ---- */

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                  size_t count, CUgraph child)
{
    struct crt_work work = {.kind = CRT_NODE_CHILD};
    CUresult result = crt_graph_clone(child, &work.child);
    return result == CRT_SUCCESS ? add_node(node, graph, deps, count, &work) : result;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *child)
{
    if (!child || !has_kind(node, CRT_NODE_CHILD))
        return CRT_INVALID_VALUE;
    *child = node->work.child;
    return CRT_SUCCESS;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                   size_t count, CUevent event)
{
    struct crt_work work = {.kind = CRT_NODE_RECORD_EVENT, .event = event};
    if (!crt_event_is_valid(event))
        return CRT_INVALID_HANDLE;
    return add_node(node, graph, deps, count, &work);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                 size_t count, CUevent event)
{
    struct crt_work work = {.kind = CRT_NODE_WAIT_EVENT, .event = event};
    if (!crt_event_is_valid(event))
        return CRT_INVALID_HANDLE;
    return add_node(node, graph, deps, count, &work);
}
