/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that toolkits 12 and 11 have in common and toolkit 13 changed or dropped.
 */
#include "cudart/runtime/older/older.h"

static CUdeviceptr device_pointer(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

/* ---- managed memory: places were numbers of devices, -1 the host ---- */

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device)
{
    return crt_done(
        crt_enter() ?: cuMemAdvise(device_pointer(pointer), bytes, (CUmem_advise)advice, device));
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device, cudaStream_t stream)
{
    return crt_done(crt_enter()
                        ?: cuMemPrefetchAsync(device_pointer(pointer), bytes, device, stream));
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void *pointer, size_t bytes, int device,
                                      cudaStream_t stream)
{
    return cudaMemPrefetchAsync(pointer, bytes, device, older_own(stream));
}

cudaError_t cudaPointerGetAttributes(struct older_pointer_attributes *result, const void *pointer)
{
    struct cudaPointerAttributes now;
    cudaError_t error = crt13_pointer_get_attributes(result ? &now : NULL, pointer);
    if (!error && result)
        *result = (struct older_pointer_attributes){.type = now.type,
                                                    .device = now.device,
                                                    .devicePointer = now.devicePointer,
                                                    .hostPointer = now.hostPointer};
    return error;
}

/* ---- graphs: edges had no data ---- */

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphAddDependencies_v2(graph, from, to, NULL, count);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, size_t count)
{
    return cudaGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              size_t *count)
{
    return cudaGraphGetEdges_v2(graph, from, to, NULL, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         size_t *count)
{
    return cudaGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           size_t *count)
{
    return cudaGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}

/* ---- capture ---- */

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, CUstreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **nodes, size_t *count)
{
    return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, NULL, count);
}

cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status,
                                             unsigned long long *id, cudaGraph_t *graph,
                                             const cudaGraphNode_t **nodes, size_t *count)
{
    return cudaStreamGetCaptureInfo_v2(older_own(stream), status, id, graph, nodes, count);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                size_t count, unsigned flags)
{
    return cudaStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, count, flags);
}

cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                     size_t count, unsigned flags)
{
    return cudaStreamUpdateCaptureDependencies(older_own(stream), nodes, count, flags);
}

/* ---- the first names of what devices do now ---- */

cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
}

cudaError_t cudaThreadSetLimit(int limit, size_t value)
{
    return cudaDeviceSetLimit(limit, value);
}

cudaError_t cudaThreadGetLimit(size_t *value, int limit)
{
    return cudaDeviceGetLimit(value, limit);
}

cudaError_t cudaThreadSetCacheConfig(int config)
{
    return cudaDeviceSetCacheConfig(config);
}

cudaError_t cudaThreadGetCacheConfig(int *config)
{
    return cudaDeviceGetCacheConfig(config);
}

/* Devices have double precision since long: nothing is converted. */
cudaError_t cudaSetDoubleForDevice(double *value)
{
    return crt_done(value ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaSetDoubleForHost(double *value)
{
    return crt_done(value ? cudaSuccess : cudaErrorInvalidValue);
}
