/* SPDX-License-Identifier: Apache-2.0
 *
 * Alloc and free nodes, and what the memory of graphs amounts to on a device.
 */
#include "cudart/core/graph/graph_memory.h"

#include <string.h>

#include "cudart/core/memory/graph_blocks.h"
#include "cudart/driver/graph_node.h"

#define ALLOCATION_TYPE_PINNED 1
#define LOCATION_DEVICE        1

static CUresult check_props(const CUmemPoolProps *props)
{
    if (props->allocType != ALLOCATION_TYPE_PINNED || props->location.type != LOCATION_DEVICE)
        return CRT_INVALID_VALUE;
    if (props->handleTypes)
        return CRT_INVALID_VALUE; /* memory of graphs cannot be shared with processes */
    return check_device(props->location.id);
}

/* Memory of another device than that of the current context belongs to its primary context. */
static CUcontext owner_of(CUdevice device)
{
    CUcontext ctx = crt_context_get_current();
    struct crt_device *wanted = crt_device_at(device);
    return ctx && ctx->device == wanted ? ctx : crt_primary_get(wanted);
}

CUresult read_alloc_node(CUgraph graph, const CUgraphNode *deps, size_t count,
                         const CUDA_MEM_ALLOC_NODE_PARAMS *params, struct crt_work *work)
{
    if (!params || !params->bytesize || (params->accessDescCount && !params->accessDescs))
        return CRT_INVALID_VALUE;
    CUresult result = check_props(&params->poolProps);
    if (result == CRT_INVALID_DEVICE)
        result = CRT_INVALID_VALUE;
    for (size_t i = 0; i < params->accessDescCount && result == CRT_SUCCESS; i++)
        result = check_device(params->accessDescs[i].location.id);
    if (result != CRT_SUCCESS)
        return result;
    return crt_work_alloc(graph, deps, count, owner_of(params->poolProps.location.id),
                          params->bytesize, work);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    if (!node)
        return CRT_INVALID_VALUE;
    result = read_alloc_node(graph, deps, count, params, &work);
    uintptr_t base = result == CRT_SUCCESS ? work.memory.base : 0;
    result = add_node(result, node, graph, deps, count, &work);
    if (result == CRT_SUCCESS)
        params->dptr = base;
    return result;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!params || !has_kind(node, CRT_NODE_ALLOC))
        return CRT_INVALID_VALUE;
    *params = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = ALLOCATION_TYPE_PINNED,
                      .location = {.type = LOCATION_DEVICE, .id = node->work.memory.device}},
        .bytesize = node->work.memory.size_bytes,
        .dptr = node->work.memory.base};
    return CRT_SUCCESS;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                               size_t count, CUdeviceptr pointer)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return add_node(crt_work_free_memory(graph, (uintptr_t)pointer, &work), node, graph, deps,
                    count, &work);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *pointer)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!pointer || !has_kind(node, CRT_NODE_FREE))
        return CRT_INVALID_VALUE;
    *pointer = node->work.memory.base;
    return CRT_SUCCESS;
}

CUresult cuDeviceGraphMemTrim(CUdevice device)
{
    CUresult result = check_device(device);
    if (result == CRT_SUCCESS)
        crt_graph_memory_trim(device);
    return result;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
    CUresult result = check_device_output(device, value);
    if (result != CRT_SUCCESS)
        return result;
    if (attribute < 0 || attribute >= CRT_GRAPH_MEMORY_ATTRIBUTES)
        return CRT_INVALID_VALUE;
    cuuint64_t bytes = crt_graph_memory_get(device, (enum crt_graph_memory_attribute)attribute);
    memcpy(value, &bytes, sizeof bytes);
    return CRT_SUCCESS;
}

/* Only the high marks can be set, and only to 0. */
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
    CUresult result = check_device_output(device, value);
    if (result != CRT_SUCCESS)
        return result;
    cuuint64_t bytes;
    memcpy(&bytes, value, sizeof bytes);
    bool is_mark =
        attribute == CRT_GRAPH_MEMORY_USED_HIGH || attribute == CRT_GRAPH_MEMORY_RESERVED_HIGH;
    if (!is_mark || bytes)
        return CRT_INVALID_VALUE;
    crt_graph_memory_reset_high(device, (enum crt_graph_memory_attribute)attribute);
    return CRT_SUCCESS;
}
