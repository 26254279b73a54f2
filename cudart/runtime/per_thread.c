/* SPDX-License-Identifier: Apache-2.0
 *
 * The variants of programs built with --default-stream per-thread: `_ptsz` functions take the
 * stream 0 for the calling thread's own stream, `_ptds` functions run in that stream and wait for
 * it.
 */
#include "cudart/runtime/runtime.h"

static cudaStream_t own(cudaStream_t stream)
{
    return stream ? stream : CUDA_STREAM_PER_THREAD;
}

/* Ends a synchronous function that was done in the thread's own stream. */
static cudaError_t wait_after(cudaError_t error)
{
    return error ?: cudaStreamSynchronize(CUDA_STREAM_PER_THREAD);
}

/* ---- launches ---- */

cudaError_t cudaLaunchKernel_ptsz(const void *stub, struct cuda_dim3 grid, struct cuda_dim3 block,
                                  void **args, size_t shared_bytes, cudaStream_t stream)
{
    return cudaLaunchKernel(stub, grid, block, args, shared_bytes, own(stream));
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, struct cuda_dim3 grid,
                                    struct cuda_dim3 block, void **args, size_t shared_bytes,
                                    cudaStream_t stream)
{
    return __cudaLaunchKernel(kernel, grid, block, args, shared_bytes, own(stream));
}

cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *stub, struct cuda_dim3 grid,
                                             struct cuda_dim3 block, void **args,
                                             size_t shared_bytes, cudaStream_t stream)
{
    return cudaLaunchCooperativeKernel(stub, grid, block, args, shared_bytes, own(stream));
}

cudaError_t cudaLaunchKernelExC_ptsz(const struct cudaLaunchConfig *config, const void *stub,
                                     void **args)
{
    if (!config)
        return crt_done(cudaErrorInvalidValue);
    struct cudaLaunchConfig changed = *config;
    changed.stream = own(config->stream);
    return cudaLaunchKernelExC(&changed, stub, args);
}

cudaError_t cudaLaunchHostFunc_ptsz(cudaStream_t stream, void (*function)(void *), void *user_data)
{
    return cudaLaunchHostFunc(own(stream), function, user_data);
}

/* ---- copies and fills ---- */

cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, kind, own(stream));
}

cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return wait_after(cudaMemcpyAsync_ptsz(to, from, bytes, kind, NULL));
}

cudaError_t cudaMemcpy2DAsync_ptsz(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                   size_t width, size_t height, enum cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, own(stream));
}

cudaError_t cudaMemcpy2D_ptds(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return wait_after(
        cudaMemcpy2DAsync_ptsz(to, to_pitch, from, from_pitch, width, height, kind, NULL));
}

cudaError_t cudaMemcpy3DAsync_ptsz(const struct cudaMemcpy3DParms *box, cudaStream_t stream)
{
    return cudaMemcpy3DAsync(box, own(stream));
}

cudaError_t cudaMemcpy3D_ptds(const struct cudaMemcpy3DParms *box)
{
    return wait_after(cudaMemcpy3DAsync_ptsz(box, NULL));
}

cudaError_t cudaMemcpy3DPeerAsync_ptsz(const struct cudaMemcpy3DPeerParms *box, cudaStream_t stream)
{
    return cudaMemcpy3DPeerAsync(box, own(stream));
}

cudaError_t cudaMemcpy3DPeer_ptds(const struct cudaMemcpy3DPeerParms *box)
{
    return wait_after(cudaMemcpy3DPeerAsync_ptsz(box, NULL));
}

cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void *symbol, const void *from, size_t bytes,
                                         size_t offset, enum cudaMemcpyKind kind,
                                         cudaStream_t stream)
{
    return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, own(stream));
}

cudaError_t cudaMemcpyToSymbol_ptds(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind)
{
    return wait_after(cudaMemcpyToSymbolAsync_ptsz(symbol, from, bytes, offset, kind, NULL));
}

cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void *to, const void *symbol, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    return cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, own(stream));
}

cudaError_t cudaMemcpyFromSymbol_ptds(void *to, const void *symbol, size_t bytes, size_t offset,
                                      enum cudaMemcpyKind kind)
{
    return wait_after(cudaMemcpyFromSymbolAsync_ptsz(to, symbol, bytes, offset, kind, NULL));
}

cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(to, value, bytes, own(stream));
}

cudaError_t cudaMemset_ptds(void *to, int value, size_t bytes)
{
    return wait_after(cudaMemsetAsync_ptsz(to, value, bytes, NULL));
}

cudaError_t cudaMemset2DAsync_ptsz(void *to, size_t pitch, int value, size_t width, size_t height,
                                   cudaStream_t stream)
{
    return cudaMemset2DAsync(to, pitch, value, width, height, own(stream));
}

cudaError_t cudaMemset2D_ptds(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return wait_after(cudaMemset2DAsync_ptsz(to, pitch, value, width, height, NULL));
}

cudaError_t cudaMemset3DAsync_ptsz(struct cudaPitchedPtr to, int value, struct cudaExtent extent,
                                   cudaStream_t stream)
{
    return cudaMemset3DAsync(to, value, extent, own(stream));
}

cudaError_t cudaMemset3D_ptds(struct cudaPitchedPtr to, int value, struct cudaExtent extent)
{
    return wait_after(cudaMemset3DAsync_ptsz(to, value, extent, NULL));
}

/* ---- memory ---- */

cudaError_t cudaMallocAsync_ptsz(void **result, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync(result, bytes, own(stream));
}

cudaError_t cudaFreeAsync_ptsz(void *pointer, cudaStream_t stream)
{
    return cudaFreeAsync(pointer, own(stream));
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void **result, size_t bytes, cudaMemPool_t pool,
                                         cudaStream_t stream)
{
    return cudaMallocFromPoolAsync(result, bytes, pool, own(stream));
}

cudaError_t cudaMemPrefetchAsync_ptsz(const void *pointer, size_t bytes, CUmemLocation location,
                                      unsigned flags, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(pointer, bytes, location, flags, own(stream));
}

cudaError_t cudaStreamAttachMemAsync_ptsz(cudaStream_t stream, void *pointer, size_t bytes,
                                          unsigned flags)
{
    return cudaStreamAttachMemAsync(own(stream), pointer, bytes, flags);
}

/* ---- streams and events ---- */

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
    return cudaStreamSynchronize(own(stream));
}

cudaError_t cudaSignalExternalSemaphoresAsync_ptsz(const cudaExternalSemaphore_t *semaphores,
                                                   const cudaExternalSemaphoreParams *params,
                                                   unsigned count, cudaStream_t stream)
{
    return cudaSignalExternalSemaphoresAsync(semaphores, params, count, own(stream));
}

cudaError_t cudaWaitExternalSemaphoresAsync_ptsz(const cudaExternalSemaphore_t *semaphores,
                                                 const cudaExternalSemaphoreParams *params,
                                                 unsigned count, cudaStream_t stream)
{
    return cudaWaitExternalSemaphoresAsync(semaphores, params, count, own(stream));
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream)
{
    return cudaStreamQuery(own(stream));
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    return cudaStreamWaitEvent(own(stream), event, flags);
}

cudaError_t cudaStreamAddCallback_ptsz(cudaStream_t stream, CUstreamCallback callback,
                                       void *user_data, unsigned flags)
{
    return cudaStreamAddCallback(own(stream), callback, user_data, flags);
}

cudaError_t cudaStreamGetFlags_ptsz(cudaStream_t stream, unsigned *flags)
{
    return cudaStreamGetFlags(own(stream), flags);
}

cudaError_t cudaStreamGetPriority_ptsz(cudaStream_t stream, int *priority)
{
    return cudaStreamGetPriority(own(stream), priority);
}

cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long *id)
{
    return cudaStreamGetId(own(stream), id);
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int *device)
{
    return cudaStreamGetDevice(own(stream), device);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecord(event, own(stream));
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    return cudaEventRecordWithFlags(event, own(stream), flags);
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status)
{
    return cudaStreamIsCapturing(own(stream), status);
}

/* ---- the driver's entry points of the same kind ---- */

#define PER_THREAD_DEFAULT_STREAM 2ULL

static unsigned long long own_flags(unsigned long long flags)
{
    return flags ? flags : PER_THREAD_DEFAULT_STREAM;
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **function,
                                                  unsigned version, unsigned long long flags,
                                                  int *status)
{
    return cudaGetDriverEntryPointByVersion(name, function, version, own_flags(flags), status);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **function,
                                         unsigned long long flags, int *status)
{
    return cudaGetDriverEntryPoint(name, function, own_flags(flags), status);
}
