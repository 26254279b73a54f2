/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of graphs that copy: boxes, rows, and variables by their host addresses.
 */
#include "cudart/runtime/runtime.h"

/* Addresses of variables are known when the node is made. */
static cudaError_t locate(const void *symbol, size_t bytes, size_t offset, void **address)
{
    CUdeviceptr base = 0;
    size_t size_bytes = 0;
    cudaError_t error = crt_variable_of(symbol, &base, &size_bytes);
    if (error)
        return error;
    if (offset > size_bytes || bytes > size_bytes - offset)
        return cudaErrorInvalidValue;
    *address = (void *)(uintptr_t)(base + offset);
    return cudaSuccess;
}

static CUmemorytype type_of(enum cudaMemcpyKind kind, enum cudaMemcpyKind other_with_host)
{
    if (kind == cudaMemcpyDefault)
        return CU_MEMORYTYPE_UNIFIED;
    return kind == cudaMemcpyHostToHost || kind == other_with_host ? CU_MEMORYTYPE_HOST
                                                                   : CU_MEMORYTYPE_DEVICE;
}

static cudaError_t describe_row(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                CUDA_MEMCPY3D *result)
{
    if ((int)kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!to || !from || !bytes)
        return cudaErrorInvalidValue;
    *result = (CUDA_MEMCPY3D){.srcMemoryType = type_of(kind, cudaMemcpyHostToDevice),
                              .srcHost = from,
                              .srcDevice = (CUdeviceptr)(uintptr_t)from,
                              .srcPitch = bytes,
                              .srcHeight = 1,
                              .dstMemoryType = type_of(kind, cudaMemcpyDeviceToHost),
                              .dstHost = to,
                              .dstDevice = (CUdeviceptr)(uintptr_t)to,
                              .dstPitch = bytes,
                              .dstHeight = 1,
                              .WidthInBytes = bytes,
                              .Height = 1,
                              .Depth = 1};
    return cudaSuccess;
}

static cudaError_t describe_to_symbol(const void *symbol, const void *from, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind,
                                      CUDA_MEMCPY3D *result)
{
    void *to = NULL;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return locate(symbol, bytes, offset, &to) ?: describe_row(to, from, bytes, kind, result);
}

static cudaError_t describe_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                        enum cudaMemcpyKind kind, CUDA_MEMCPY3D *result)
{
    void *from = NULL;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return locate(symbol, bytes, offset, &from) ?: describe_row(to, from, bytes, kind, result);
}

/* ---- making ---- */

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *deps, size_t count,
                                   const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: crt_describe_3d(params, &copy);
    return crt_done(error ?: cuGraphAddMemcpyNode(node, graph, deps, count, &copy, NULL));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *deps, size_t count, void *to,
                                     const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_row(to, from, bytes, kind, &copy);
    return crt_done(error ?: cuGraphAddMemcpyNode(node, graph, deps, count, &copy, NULL));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *deps, size_t count,
                                           const void *symbol, const void *from, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_to_symbol(symbol, from, bytes, offset, kind, &copy);
    return crt_done(error ?: cuGraphAddMemcpyNode(node, graph, deps, count, &copy, NULL));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *deps, size_t count, void *to,
                                             const void *symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_from_symbol(to, symbol, bytes, offset, kind, &copy);
    return crt_done(error ?: cuGraphAddMemcpyNode(node, graph, deps, count, &copy, NULL));
}

/* ---- changing ---- */

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: crt_describe_3d(params, &copy);
    return crt_done(error ?: cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           size_t bytes, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_row(to, from, bytes, kind, &copy);
    return crt_done(error ?: cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, size_t bytes, size_t offset,
                                                 enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_to_symbol(symbol, from, bytes, offset, kind, &copy);
    return crt_done(error ?: cuGraphMemcpyNodeSetParams(node, &copy));
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, size_t bytes, size_t offset,
                                                   enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_from_symbol(to, symbol, bytes, offset, kind, &copy);
    return crt_done(error ?: cuGraphMemcpyNodeSetParams(node, &copy));
}

/* ---- changing executable ones ---- */

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: crt_describe_3d(params, &copy);
    return crt_done(error ?: cuGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                               const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_row(to, from, bytes, kind, &copy);
    return crt_done(error ?: cuGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void *symbol, const void *from,
                                                     size_t bytes, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_to_symbol(symbol, from, bytes, offset, kind, &copy);
    return crt_done(error ?: cuGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void *to, const void *symbol, size_t bytes,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY3D copy;
    cudaError_t error = crt_enter() ?: describe_from_symbol(to, symbol, bytes, offset, kind, &copy);
    return crt_done(error ?: cuGraphExecMemcpyNodeSetParams(exec, node, &copy, NULL));
}

/* ---- reading ---- */

static enum cudaMemcpyKind kind_of(const CUDA_MEMCPY3D *copy)
{
    if (copy->srcMemoryType == CU_MEMORYTYPE_UNIFIED ||
        copy->dstMemoryType == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    bool from_host = copy->srcMemoryType == CU_MEMORYTYPE_HOST;
    bool to_host = copy->dstMemoryType == CU_MEMORYTYPE_HOST;
    if (from_host)
        return to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
    return to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

/* Positions and extents are in texels when an array takes part. */
static cudaError_t find_elements(const CUDA_MEMCPY3D *copy, struct crt_array_elements *elements)
{
    CUarray array = copy->dstArray ? copy->dstArray : copy->srcArray;
    *elements = (struct crt_array_elements){.bytes = 1, .side = 1};
    return array ? crt_array_elements(array, elements) : cudaSuccess;
}

static struct cudaPitchedPtr pitched(const void *pointer, size_t pitch, size_t width, size_t height)
{
    return (struct cudaPitchedPtr){(void *)(uintptr_t)pointer, pitch, width, height};
}

/* A place in bytes and rows as one in texels, of an array. */
static struct cudaPos position(CUarray array, size_t x, size_t y, size_t z,
                               const struct crt_array_elements *elements)
{
    if (!array)
        return (struct cudaPos){x, y, z};
    return (struct cudaPos){x / elements->bytes * elements->side, y * elements->side, z};
}

static void write_box(const CUDA_MEMCPY3D *copy, const struct crt_array_elements *elements,
                      struct cudaMemcpy3DParms *box)
{
    *box = (struct cudaMemcpy3DParms){
        .srcArray = copy->srcArray,
        .dstArray = copy->dstArray,
        .srcPos = position(copy->srcArray, copy->srcXInBytes, copy->srcY, copy->srcZ, elements),
        .dstPos = position(copy->dstArray, copy->dstXInBytes, copy->dstY, copy->dstZ, elements),
        .extent = {copy->WidthInBytes / elements->bytes * elements->side,
                   copy->Height * elements->side, copy->Depth},
        .kind = kind_of(copy)};
    if (!copy->srcArray)
        box->srcPtr = pitched(copy->srcHost, copy->srcPitch, copy->WidthInBytes, copy->srcHeight);
    if (!copy->dstArray)
        box->dstPtr = pitched(copy->dstHost, copy->dstPitch, copy->WidthInBytes, copy->dstHeight);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, struct cudaMemcpy3DParms *params)
{
    CUDA_MEMCPY3D copy;
    struct crt_array_elements elements;
    if (!params)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_enter() ?: cuGraphMemcpyNodeGetParams(node, &copy)
                                           ?: find_elements(&copy, &elements);
    if (!error)
        write_box(&copy, &elements, params);
    return crt_done(error);
}
