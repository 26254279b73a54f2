/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: device, managed, host and pitched allocations, and what a pointer is. Copies and fills
 * are in memcpy.c, stream-ordered allocations in pool.c.
 */
#include "cudart/runtime/runtime.h"

#define PITCH_ELEMENT_BYTES 4

static CUdeviceptr device_pointer(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

/* Stores the address of a successful allocation. Asking for no bytes is a success, with a null
 * pointer, in all functions. */
static cudaError_t deliver(void **result, cudaError_t error, CUdeviceptr address)
{
    if (!error)
        *result = (void *)(uintptr_t)address;
    return crt_done(error);
}

cudaError_t cudaMalloc(void **result, size_t bytes)
{
    CUdeviceptr address = 0;
    cudaError_t error = result ? crt_enter() : cudaErrorInvalidValue;
    if (!error && bytes)
        error = cuMemAlloc_v2(&address, bytes);
    return deliver(result, error, address);
}

cudaError_t cudaFree(void *pointer)
{
    return crt_done(crt_enter() ?: cuMemFree_v2(device_pointer(pointer)));
}

cudaError_t cudaMallocManaged(void **result, size_t bytes, unsigned flags)
{
    CUdeviceptr address = 0;
    cudaError_t error = result ? crt_enter() : cudaErrorInvalidValue;
    if (!error && bytes)
        error = cuMemAllocManaged(&address, bytes, flags);
    return deliver(result, error, address);
}

cudaError_t cudaMallocPitch(void **result, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr address = 0;
    cudaError_t error = result && pitch ? crt_enter() : cudaErrorInvalidValue;
    if (!error && width && height)
        error = cuMemAllocPitch_v2(&address, pitch, width, height, PITCH_ELEMENT_BYTES);
    return deliver(result, error, address);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *result, struct cudaExtent extent)
{
    size_t rows = 0;
    if (!result || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return crt_done(cudaErrorInvalidValue);
    *result = (struct cudaPitchedPtr){.xsize = extent.width, .ysize = extent.height};
    return cudaMallocPitch(&result->ptr, &result->pitch, extent.width, rows);
}

cudaError_t cudaHostAlloc(void **result, size_t bytes, unsigned flags)
{
    cudaError_t error = result ? crt_enter() : cudaErrorInvalidValue;
    if (!error)
        *result = NULL;
    if (!error && bytes)
        error = cuMemHostAlloc(result, bytes, flags);
    return crt_done(error);
}

cudaError_t cudaMallocHost(void **result, size_t bytes)
{
    return cudaHostAlloc(result, bytes, 0);
}

cudaError_t cudaFreeHost(void *pointer)
{
    cudaError_t error = crt_enter();
    if (!error && pointer)
        error = cuMemFreeHost(pointer);
    return crt_done(error);
}

cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    return crt_done(crt_enter() ?: cuMemHostRegister_v2(pointer, bytes, flags));
}

cudaError_t cudaHostUnregister(void *pointer)
{
    return crt_done(crt_enter() ?: cuMemHostUnregister(pointer));
}

cudaError_t cudaHostGetDevicePointer(void **result, void *pointer, unsigned flags)
{
    CUdeviceptr address = 0;
    cudaError_t error = result ? crt_enter() : cudaErrorInvalidValue;
    return deliver(result, error ?: cuMemHostGetDevicePointer_v2(&address, pointer, flags),
                   address);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *pointer)
{
    return crt_done(crt_enter() ?: cuMemHostGetFlags(flags, pointer));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    return crt_done(crt_enter() ?: cuMemGetInfo_v2(free_bytes, total_bytes));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned flags)
{
    return crt_done(crt_enter()
                        ?: cuStreamAttachMemAsync(stream, device_pointer(pointer), bytes, flags));
}

static int memory_type(unsigned driver_type, unsigned is_managed)
{
    if (is_managed)
        return cudaMemoryTypeManaged;
    switch (driver_type) {
    case CU_MEMORYTYPE_HOST:
        return cudaMemoryTypeHost;
    case CU_MEMORYTYPE_DEVICE:
        return cudaMemoryTypeDevice;
    default:
        return cudaMemoryTypeUnregistered;
    }
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *result, const void *pointer)
{
    unsigned driver_type = 0;
    unsigned is_managed = 0;
    CUdeviceptr on_device = 0;
    void *on_host = NULL;
    int ordinal = CUDA_INVALID_DEVICE_ID;
    CUpointer_attribute names[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER,   CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    };
    void *values[] = {&driver_type, &on_device, &on_host, &is_managed, &ordinal};
    cudaError_t error = result ? crt_enter() : cudaErrorInvalidValue;
    error = error
                ?: cuPointerGetAttributes(sizeof names / sizeof *names, names, values,
                                          device_pointer(pointer));
    if (error)
        return crt_done(error);
    int type = memory_type(driver_type, is_managed);
    *result = (struct cudaPointerAttributes){
        .type = type,
        .device = type == cudaMemoryTypeUnregistered ? CUDA_INVALID_DEVICE_ID : ordinal,
        .devicePointer = (void *)(uintptr_t)on_device,
        .hostPointer = on_host,
    };
    return cudaSuccess;
}
