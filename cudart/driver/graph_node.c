/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes that copy, fill, call the host or do memory operations, and empty ones: making them,
 * reading and changing what they do.
 */
#include "cudart/driver/graph_node.h"

#include "cudart/core/memory/array.h"
#include "cudart/core/memory/mem_op.h"
#include "cudart/core/streams/event.h"

CUresult add_node(CUresult result, CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                  size_t count, struct crt_work *work)
{
    if (result != CRT_SUCCESS)
        return as_value(result);
    result = node && crt_graph_is_valid(graph) ? crt_work_check(work) : CRT_INVALID_VALUE;
    if (result != CRT_SUCCESS) {
        crt_work_free(work);
        return as_value(result);
    }
    CUgraphNode created;
    result = crt_graph_add(graph, deps, count, work, &created);
    if (result == CRT_SUCCESS)
        *node = created;
    return result;
}

CUresult change_node(CUresult result, CUgraphNode node, struct crt_work *work)
{
    if (result != CRT_SUCCESS)
        return result;
    result = has_kind(node, work->kind) ? crt_work_check(work) : CRT_INVALID_VALUE;
    if (result != CRT_SUCCESS) {
        crt_work_free(work);
        return result;
    }
    return crt_node_set_work(node, work);
}

CUresult change_exec_node(CUresult result, CUgraphExec exec, CUgraphNode node,
                          struct crt_work *work)
{
    return as_value(result == CRT_SUCCESS ? crt_graph_exec_set_work(exec, node, work) : result);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                             size_t count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work = {.kind = CRT_NODE_EMPTY};
    return add_node(CRT_SUCCESS, node, graph, deps, count, &work);
}

/* ---- copies ---- */

CUresult read_memcpy_node(const CUDA_MEMCPY3D *copy, struct crt_work *work)
{
    if (!copy)
        return CRT_INVALID_VALUE;
    *work = (struct crt_work){.kind = CRT_NODE_COPY};
    return describe_copy_3d(copy, &work->copy);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                              size_t count, const CUDA_MEMCPY3D *copy, CUcontext ctx)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    if (ctx && !is_context(ctx))
        return CRT_INVALID_VALUE;
    return add_node(read_memcpy_node(copy, &work), node, graph, deps, count, &work);
}

static CUmemorytype memory_type(const struct crt_side *side)
{
    if (side->array)
        return CU_MEMORYTYPE_ARRAY;
    if (side->place == CRT_PLACE_HOST)
        return CU_MEMORYTYPE_HOST;
    return side->place == CRT_PLACE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_UNIFIED;
}

static size_t rows_per_slice(const struct crt_side *side)
{
    return side->pitch_bytes ? side->slice_bytes / side->pitch_bytes : 0;
}

/* Where in its array a side begins; for linear memory, offsets have become part of the address. */
static void array_offset(const struct crt_side *side, size_t *x, size_t *y, size_t *z)
{
    size_t offset = side->base - side->array->base;
    *z = side->slice_bytes ? offset / side->slice_bytes : 0;
    offset -= *z * side->slice_bytes;
    *y = side->pitch_bytes ? offset / side->pitch_bytes : 0;
    *x = offset - *y * side->pitch_bytes;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!copy || !has_kind(node, CRT_NODE_COPY))
        return CRT_INVALID_VALUE;
    const struct crt_copy *work = &node->work.copy;
    const struct crt_side *src = &work->src;
    const struct crt_side *dst = &work->dst;
    *copy = (CUDA_MEMCPY3D){.srcMemoryType = memory_type(src),
                            .dstMemoryType = memory_type(dst),
                            .srcArray = src->array,
                            .dstArray = dst->array,
                            .WidthInBytes = work->width_bytes,
                            .Height = work->height,
                            .Depth = work->depth};
    if (src->array) {
        array_offset(src, &copy->srcXInBytes, &copy->srcY, &copy->srcZ);
    } else {
        copy->srcHost = (const void *)src->base;
        copy->srcDevice = src->base;
        copy->srcPitch = src->pitch_bytes;
        copy->srcHeight = rows_per_slice(src);
    }
    if (dst->array) {
        array_offset(dst, &copy->dstXInBytes, &copy->dstY, &copy->dstZ);
    } else {
        copy->dstHost = (void *)dst->base;
        copy->dstDevice = dst->base;
        copy->dstPitch = dst->pitch_bytes;
        copy->dstHeight = rows_per_slice(dst);
    }
    return CRT_SUCCESS;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *copy)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_node(read_memcpy_node(copy, &work), node, &work);
}

/* CUDA: only copies of one row can be changed, and only to such. */
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *copy, CUcontext ctx)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    if (ctx && !is_context(ctx))
        return CRT_INVALID_VALUE;
    CUgraphNode mine = crt_graph_exec_find(exec, node);
    if (!has_kind(mine, CRT_NODE_COPY) || !copy)
        return CRT_INVALID_VALUE;
    bool was_row = mine->work.copy.height == 1 && mine->work.copy.depth == 1;
    if (!was_row || copy->Height != 1 || copy->Depth != 1)
        return CRT_INVALID_VALUE;
    return change_exec_node(read_memcpy_node(copy, &work), exec, node, &work);
}

/* ---- fills ---- */

CUresult read_memset_node(const CUDA_MEMSET_NODE_PARAMS *params, struct crt_work *work)
{
    if (!params)
        return CRT_INVALID_VALUE;
    unsigned bytes = params->elementSize;
    if ((bytes != 1 && bytes != 2 && bytes != 4) || !params->width || !params->height)
        return CRT_INVALID_VALUE;
    if (params->height > 1 && params->pitch / bytes < params->width)
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
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    if (ctx && !is_context(ctx))
        return CRT_INVALID_CONTEXT;
    return add_node(read_memset_node(params, &work), node, graph, deps, count, &work);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
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
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_node(read_memset_node(params, &work), node, &work);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    if (ctx && !is_context(ctx))
        return CRT_INVALID_VALUE;
    return change_exec_node(read_memset_node(params, &work), exec, node, &work);
}

/* ---- host functions ---- */

CUresult read_host_node(const CUDA_HOST_NODE_PARAMS *params, struct crt_work *work)
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
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return add_node(read_host_node(params, &work), node, graph, deps, count, &work);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!params || !has_kind(node, CRT_NODE_HOST))
        return CRT_INVALID_VALUE;
    *params = (CUDA_HOST_NODE_PARAMS){.fn = node->work.host.fn, .userData = node->work.host.arg};
    return CRT_SUCCESS;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_node(read_host_node(params, &work), node, &work);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_exec_node(read_host_node(params, &work), exec, node, &work);
}

/* ---- memory operations ---- */

static void write_mem_op(const struct crt_mem_op *op, CUstreamBatchMemOpParams *params)
{
    *params = (CUstreamBatchMemOpParams){0};
    params->operation = (int)op->kind;
    if (op->kind == CRT_MEM_OP_FLUSH || op->kind == CRT_MEM_OP_BARRIER) {
        params->memoryBarrier.flags = op->flags;
    } else {
        params->waitValue.flags = op->flags;
        params->waitValue.address = op->address;
        params->waitValue.value64 = op->value;
    }
}

CUresult read_mem_op_node(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params, struct crt_work *work)
{
    if (!params || !params->count || params->count > CRT_MEM_OPS_MAX || !params->paramArray ||
        params->flags)
        return CRT_INVALID_VALUE;
    struct crt_mem_op ops[CRT_MEM_OPS_MAX];
    for (unsigned i = 0; i < params->count; i++) {
        ops[i] = describe_mem_op(&params->paramArray[i]);
        CUresult result = crt_mem_op_check(&ops[i]);
        if (result != CRT_SUCCESS)
            return result;
    }
    return crt_work_mem_ops(ops, params->count, params->flags, work);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                  size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return add_node(read_mem_op_node(params, &work), node, graph, deps, count, &work);
}

/* The array is valid until the next call by this thread. */
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode node, CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    static _Thread_local CUstreamBatchMemOpParams shown[CRT_MEM_OPS_MAX];
    if (!params || !has_kind(node, CRT_NODE_MEM_OPS))
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < node->work.mem_ops.count; i++)
        write_mem_op(&node->work.mem_ops.ops[i], &shown[i]);
    *params = (CUDA_BATCH_MEM_OP_NODE_PARAMS){.ctx = node->work.ctx,
                                              .count = (unsigned)node->work.mem_ops.count,
                                              .paramArray = shown,
                                              .flags = node->work.mem_ops.flags};
    return CRT_SUCCESS;
}

CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode node,
                                        const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_node(read_mem_op_node(params, &work), node, &work);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_work work;
    return change_exec_node(read_mem_op_node(params, &work), exec, node, &work);
}
