/* SPDX-License-Identifier: Apache-2.0
 *
 * Advice about managed memory, prefetches, and their attributes.
 */
#include "cudart/runtime/runtime.h"

/* Addresses are 64 bits wide in both APIs. */
_Static_assert(sizeof(void *) == sizeof(CUdeviceptr), "pointers of both APIs have one size");

static CUdeviceptr device_pointer(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static CUdeviceptr *device_pointers(void **pointers)
{
    return (CUdeviceptr *)(void *)pointers;
}

static cudaStream_t own(cudaStream_t stream)
{
    return stream ? stream : CUDA_STREAM_PER_THREAD;
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, CUmemLocation location)
{
    return crt_done(
        crt_enter()
            ?: cuMemAdvise_v2(device_pointer(pointer), bytes, (CUmem_advise)advice, location));
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, CUmemLocation location,
                                 unsigned flags, cudaStream_t stream)
{
    return crt_done(
        crt_enter()
            ?: cuMemPrefetchAsync_v2(device_pointer(pointer), bytes, location, flags, stream));
}

cudaError_t cudaMemPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                      CUmemLocation *locations, size_t *firsts,
                                      size_t location_count, unsigned long long flags,
                                      cudaStream_t stream)
{
    return crt_done(crt_enter()
                        ?: cuMemPrefetchBatchAsync(device_pointers(pointers), sizes, count,
                                                   locations, firsts, location_count, flags,
                                                   stream));
}

cudaError_t cudaMemPrefetchBatchAsync_ptsz(void **pointers, size_t *sizes, size_t count,
                                           CUmemLocation *locations, size_t *firsts,
                                           size_t location_count, unsigned long long flags,
                                           cudaStream_t stream)
{
    return cudaMemPrefetchBatchAsync(pointers, sizes, count, locations, firsts, location_count,
                                     flags, own(stream));
}

cudaError_t cudaMemDiscardBatchAsync(void **pointers, size_t *sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream)
{
    return crt_done(
        crt_enter()
            ?: cuMemDiscardBatchAsync(device_pointers(pointers), sizes, count, flags, stream));
}

cudaError_t cudaMemDiscardBatchAsync_ptsz(void **pointers, size_t *sizes, size_t count,
                                          unsigned long long flags, cudaStream_t stream)
{
    return cudaMemDiscardBatchAsync(pointers, sizes, count, flags, own(stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                                CUmemLocation *locations, size_t *firsts,
                                                size_t location_count, unsigned long long flags,
                                                cudaStream_t stream)
{
    return crt_done(crt_enter()
                        ?: cuMemDiscardAndPrefetchBatchAsync(device_pointers(pointers), sizes,
                                                             count, locations, firsts,
                                                             location_count, flags, stream));
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void **pointers, size_t *sizes, size_t count,
                                                     CUmemLocation *locations, size_t *firsts,
                                                     size_t location_count,
                                                     unsigned long long flags, cudaStream_t stream)
{
    return cudaMemDiscardAndPrefetchBatchAsync(pointers, sizes, count, locations, firsts,
                                               location_count, flags, own(stream));
}

/* attribute: the numbers of CUmem_range_attribute. */
cudaError_t cudaMemRangeGetAttribute(void *data, size_t bytes, int attribute, const void *pointer,
                                     size_t range_bytes)
{
    return crt_done(crt_enter()
                        ?: cuMemRangeGetAttribute(data, bytes, attribute, device_pointer(pointer),
                                                  range_bytes));
}

cudaError_t cudaMemRangeGetAttributes(void **data, size_t *bytes, int *attributes, size_t count,
                                      const void *pointer, size_t range_bytes)
{
    return crt_done(crt_enter()
                        ?: cuMemRangeGetAttributes(data, bytes, attributes, count,
                                                   device_pointer(pointer), range_bytes));
}
