/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered allocation and memory pools.
 */
#include "cudart/core/memory/pool.h"

#include <string.h>

#include "cudart/driver/internal.h"

#define HANDLE_TYPE_POSIX_FD 1
#define USAGE_HW_DECOMPRESS  2

/* For calls that a capture by this or another thread may forbid. */
static CUresult check_unsafe(void)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_capture_check_unsafe() : result;
}

static struct crt_location location_of(const CUmemLocation *location)
{
    return (struct crt_location){.type = location->type, .id = location->id};
}

static struct crt_location device_location(CUdevice device)
{
    return (struct crt_location){.type = CRT_LOCATION_DEVICE, .id = device};
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUresult result = check_device_output(device, pool);
    if (result == CRT_SUCCESS)
        *pool = crt_pool_default(device_location(device), CRT_POOL_PINNED);
    return result;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUresult result = check_device_output(device, pool);
    if (result == CRT_SUCCESS)
        *pool = crt_pool_current(device_location(device), CRT_POOL_PINNED);
    return result;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    return crt_pool_set_current(device_location(device), CRT_POOL_PINNED, pool);
}

/* Whether there can be a pool of this type in this place. */
static CUresult check_place(const CUmemLocation *location, CUmemAllocationType type)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!location || (type != CRT_POOL_PINNED && type != CRT_POOL_MANAGED))
        return CRT_INVALID_VALUE;
    if (location->type == CRT_LOCATION_DEVICE && !crt_device_at(location->id))
        return CRT_INVALID_DEVICE;
    return crt_pool_default(location_of(location), type) ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                CUmemAllocationType type)
{
    CUresult result = check_place(location, type);
    if (result != CRT_SUCCESS || !pool)
        return result != CRT_SUCCESS ? result : CRT_INVALID_VALUE;
    *pool = crt_pool_default(location_of(location), type);
    return CRT_SUCCESS;
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type)
{
    CUresult result = check_place(location, type);
    if (result != CRT_SUCCESS || !pool)
        return result != CRT_SUCCESS ? result : CRT_INVALID_VALUE;
    *pool = crt_pool_current(location_of(location), type);
    return CRT_SUCCESS;
}

CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool)
{
    CUresult result = check_place(location, type);
    if (result != CRT_SUCCESS)
        return result;
    return crt_pool_set_current(location_of(location), type, pool);
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    CUresult result = check_unsafe();
    if (result != CRT_SUCCESS)
        return result;
    if (!pool || !properties || (properties->usage & ~USAGE_HW_DECOMPRESS))
        return CRT_INVALID_VALUE;
    result = check_place(&properties->location, properties->allocType);
    if (result != CRT_SUCCESS)
        return result;
    if (properties->handleTypes)
        return crt_not_supported("shareable memory pools");
    return crt_pool_create(location_of(&properties->location), properties->allocType,
                           properties->maxSize, pool);
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    CUresult result = check_unsafe();
    return result == CRT_SUCCESS ? crt_pool_destroy(pool) : result;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
    CUresult result = check_unsafe();
    return result == CRT_SUCCESS ? crt_pool_trim(pool, bytes) : result;
}

/* The first three attributes are ints, the others 64 bits wide. */
static size_t value_bytes(CUmemPool_attribute attribute)
{
    return attribute >= CRT_POOL_RELEASE_THRESHOLD ? 8 : 4;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!value)
        return CRT_INVALID_VALUE;
    uint64_t bits = 0;
    memcpy(&bits, value, value_bytes(attribute));
    return crt_pool_set_attribute(pool, attribute, bits);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    uint64_t bits;
    CUresult result = crt_check_ready();
    if (result == CRT_SUCCESS)
        result = value ? crt_pool_get_attribute(pool, attribute, &bits) : CRT_INVALID_VALUE;
    if (result == CRT_SUCCESS)
        memcpy(value, &bits, value_bytes(attribute));
    return result;
}

/* Nothing changes when one of the descriptions is wrong. */
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_pool_is_valid(pool) || (!access && count))
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != CRT_LOCATION_DEVICE)
            return CRT_INVALID_VALUE;
        if (!crt_device_at(access[i].location.id))
            return CRT_INVALID_DEVICE;
    }
    for (size_t i = 0; i < count && result == CRT_SUCCESS; i++)
        result = crt_pool_set_access(pool, access[i].location.id, access[i].flags);
    return result;
}

CUresult cuMemPoolGetAccess(int *flags, CUmemoryPool pool, CUmemLocation *location)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!flags || !location || location->type != CRT_LOCATION_DEVICE)
        return CRT_INVALID_VALUE;
    return crt_pool_get_access(pool, location->id, flags);
}

/* pool NULL: the current one of the stream's device. */
static CUresult allocate(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!pointer)
        return CRT_INVALID_VALUE;
    if (bytes == 0) {
        *pointer = 0;
        return CRT_SUCCESS;
    }
    if (!pool)
        pool = crt_pool_current(device_location(stream->ctx->device->index), CRT_POOL_PINNED);
    uintptr_t base;
    result = crt_pool_alloc(pool, stream, bytes, &base);
    if (result == CRT_SUCCESS)
        *pointer = base;
    return result;
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    return allocate(pointer, bytes, NULL, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                 CUstream stream)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return crt_pool_is_valid(pool) ? allocate(pointer, bytes, pool, stream) : CRT_INVALID_VALUE;
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    return crt_memory_free_async(stream, (uintptr_t)pointer);
}

/* ---- sharing with other processes, for which no pool is made ---- */

/* "Given an IPC capable mempool …" */
CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool pool,
                                          CUmemAllocationHandleType type, unsigned long long flags)
{
    (void)handle;
    (void)pool;
    (void)type;
    (void)flags;
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? CRT_INVALID_VALUE : result;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    (void)handle; /* a file descriptor: every value may be one */
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    bool is_wrong = !pool || flags || type < HANDLE_TYPE_POSIX_FD;
    return is_wrong ? CRT_INVALID_VALUE : crt_not_supported("shareable memory pools");
}

/* The pointer must be of a pool that can be shared. */
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr pointer)
{
    (void)data;
    (void)pointer;
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? CRT_INVALID_VALUE : result;
}

/* The pool must have been imported. */
CUresult cuMemPoolImportPointer(CUdeviceptr *pointer, CUmemoryPool pool,
                                CUmemPoolPtrExportData *data)
{
    (void)pointer;
    (void)pool;
    (void)data;
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? CRT_INVALID_VALUE : result;
}
