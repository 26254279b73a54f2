/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered allocation and memory pools.
 */
#include "cudart/runtime/runtime.h"

/* Stores the address of a successful allocation. */
static cudaError_t deliver(void **result, cudaError_t error, CUdeviceptr address)
{
    if (!error)
        *result = (void *)(uintptr_t)address;
    return crt_done(error);
}

cudaError_t cudaMallocAsync(void **result, size_t bytes, cudaStream_t stream)
{
    CUdeviceptr address = 0;
    cudaError_t error = result ? crt_enter() : cudaErrorInvalidValue;
    if (!error && bytes)
        error = cuMemAllocAsync(&address, bytes, stream);
    return deliver(result, error, address);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    return crt_done(crt_enter() ?: cuMemFreeAsync((uintptr_t)pointer, stream));
}

cudaError_t cudaMallocFromPoolAsync(void **result, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    CUdeviceptr address = 0;
    cudaError_t error = result ? crt_enter() : cudaErrorInvalidValue;
    return deliver(result, error ?: cuMemAllocFromPoolAsync(&address, bytes, pool, stream),
                   address);
}

static cudaError_t check_device(int device)
{
    return crt_enter() ?: (crt_is_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    return crt_done(check_device(device) ?: cuDeviceGetDefaultMemPool(pool, crt_device(device)));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return crt_done(check_device(device) ?: cuDeviceGetMemPool(pool, crt_device(device)));
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    return crt_done(check_device(device) ?: cuDeviceSetMemPool(crt_device(device), pool));
}

/* The descriptions of pools and of access to them have one layout in both APIs. */
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const CUmemPoolProps *properties)
{
    return crt_done(crt_enter() ?: cuMemPoolCreate(pool, properties));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return crt_done(crt_enter() ?: cuMemPoolDestroy(pool));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const CUmemAccessDesc *access, size_t count)
{
    return crt_done(crt_enter() ?: cuMemPoolSetAccess(pool, access, count));
}

cudaError_t cudaMemPoolGetAccess(int *flags, cudaMemPool_t pool, CUmemLocation *location)
{
    return crt_done(crt_enter() ?: cuMemPoolGetAccess(flags, pool, location));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep)
{
    return crt_done(crt_enter() ?: cuMemPoolTrimTo(pool, bytes_to_keep));
}

/* attribute: the numbers of CUmemPool_attribute. */
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value)
{
    return crt_done(crt_enter()
                        ?: cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value)
{
    return crt_done(crt_enter()
                        ?: cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

/* ---- pools by place ---- */

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, CUmemLocation *location, int type)
{
    return crt_done(crt_enter() ?: cuMemGetDefaultMemPool(pool, location, type));
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, CUmemLocation *location, int type)
{
    return crt_done(crt_enter() ?: cuMemGetMemPool(pool, location, type));
}

cudaError_t cudaMemSetMemPool(CUmemLocation *location, int type, cudaMemPool_t pool)
{
    return crt_done(crt_enter() ?: cuMemSetMemPool(location, type, pool));
}

/* ---- sharing ---- */

cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool, int type,
                                               unsigned flags)
{
    return crt_done(crt_enter() ?: cuMemPoolExportToShareableHandle(handle, pool, type, flags));
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle, int type,
                                                 unsigned flags)
{
    return crt_done(crt_enter() ?: cuMemPoolImportFromShareableHandle(pool, handle, type, flags));
}

cudaError_t cudaMemPoolExportPointer(CUmemPoolPtrExportData *data, void *pointer)
{
    return crt_done(crt_enter() ?: cuMemPoolExportPointer(data, (uintptr_t)pointer));
}

cudaError_t cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool,
                                     CUmemPoolPtrExportData *data)
{
    CUdeviceptr address = 0;
    cudaError_t error = pointer ? crt_enter() : cudaErrorInvalidValue;
    return deliver(pointer, error ?: cuMemPoolImportPointer(&address, pool, data), address);
}
