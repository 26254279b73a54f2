/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory: allocation, host memory, managed memory.
 */
#include "cudart/core/memory/memory.h"

#include "cudart/core/memory/pool.h"
#include "cudart/driver/internal.h"

#define HOST_ALLOC_FLAGS    7u   /* portable, device map, write combined */
#define HOST_REGISTER_FLAGS 0xfu /* portable, device map, I/O memory, read-only */
#define HOST_FLAG_DEVICEMAP 2u

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    size_t unused;
    crt_memory_info(crt_context_get_current()->device, free_bytes ? free_bytes : &unused,
                    total_bytes ? total_bytes : &unused);
    return CRT_SUCCESS;
}

/* The current context, for calls that a capture by this or another thread may forbid. */
static CUresult require_unsafe(CUcontext *ctx)
{
    CUresult result = crt_context_require(ctx);
    return result == CRT_SUCCESS ? crt_capture_check_unsafe() : result;
}

/* The same for calls that need no context. */
static CUresult check_unsafe(void)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_capture_check_unsafe() : result;
}

/* Device or managed memory of the current context. */
static CUresult allocate(CUdeviceptr *pointer, size_t bytes, enum crt_memory kind, unsigned flags)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!pointer || bytes == 0)
        return CRT_INVALID_VALUE;
    uintptr_t base;
    result = crt_memory_alloc(ctx, bytes, kind, flags, &base);
    if (result == CRT_SUCCESS)
        *pointer = base;
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    return allocate(pointer, bytes, CRT_MEMORY_DEVICE, 0);
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned flags)
{
    if (flags != 1 && flags != 2) /* attached to: global, host */
        return CRT_INVALID_VALUE;
    return allocate(pointer, bytes, CRT_MEMORY_MANAGED, flags);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                            unsigned element_bytes)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    bool is_element = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
    if (!pointer || !pitch || !is_element)
        return CRT_INVALID_VALUE;
    uintptr_t base;
    result = crt_memory_alloc_pitch(ctx, width, height, &base, pitch);
    if (result == CRT_SUCCESS)
        *pointer = base;
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    CUresult result = check_unsafe();
    return result == CRT_SUCCESS ? or_sticky(crt_memory_free((uintptr_t)pointer)) : result;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr pointer)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_allocation allocation;
    if (!crt_memory_find((uintptr_t)pointer, &allocation))
        return CRT_NOT_FOUND;
    store_range(base, size, allocation.base, allocation.size_bytes);
    return CRT_SUCCESS;
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!pointer || bytes == 0 || (flags & ~HOST_ALLOC_FLAGS))
        return CRT_INVALID_VALUE;
    uintptr_t base;
    result = crt_memory_alloc(ctx, bytes, CRT_MEMORY_HOST, flags | HOST_FLAG_DEVICEMAP, &base);
    if (result == CRT_SUCCESS)
        *pointer = (void *)base;
    return result;
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes)
{
    return cuMemHostAlloc(pointer, bytes, 0);
}

CUresult cuMemFreeHost(void *pointer)
{
    CUresult result = check_unsafe();
    return result == CRT_SUCCESS ? or_sticky(crt_memory_free_host((uintptr_t)pointer)) : result;
}

CUresult cuMemHostRegister_v2(void *pointer, size_t bytes, unsigned flags)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!pointer || bytes == 0 || (flags & ~HOST_REGISTER_FLAGS))
        return CRT_INVALID_VALUE;
    return crt_memory_register(ctx, pointer, bytes, flags | HOST_FLAG_DEVICEMAP);
}

CUresult cuMemHostUnregister(void *pointer)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    return result == CRT_SUCCESS ? crt_memory_unregister(pointer) : result;
}

static bool is_host_memory(const struct crt_allocation *allocation)
{
    return allocation->kind == CRT_MEMORY_HOST || allocation->kind == CRT_MEMORY_REGISTERED;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *host, unsigned flags)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_allocation allocation;
    if (!device || flags || !crt_memory_find((uintptr_t)host, &allocation) ||
        !is_host_memory(&allocation))
        return CRT_INVALID_VALUE;
    *device = (uintptr_t)host;
    return CRT_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *pointer)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_allocation allocation;
    if (!flags || !crt_memory_find((uintptr_t)pointer, &allocation) || !is_host_memory(&allocation))
        return CRT_INVALID_VALUE;
    *flags = allocation.flags & ~CRT_ALLOCATION_POOLED;
    return CRT_SUCCESS;
}
