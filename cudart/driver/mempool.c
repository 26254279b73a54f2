/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream-ordered allocation. Memory comes from the same place whatever the pool; a pool only keeps
 * its attributes.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/memory.h"
#include "cudart/driver/internal.h"

#define POOL_MAGIC      UINT32_C(0x706f6f6c)
#define ATTRIBUTE_COUNT 9

enum {
    POOL_ATTRIBUTE_RELEASE_THRESHOLD = 4,
    POOL_ATTRIBUTE_RESERVED_CURRENT = 5,
    POOL_ATTRIBUTE_RESERVED_HIGH = 6,
    POOL_ATTRIBUTE_USED_CURRENT = 7,
    POOL_ATTRIBUTE_USED_HIGH = 8
};

struct cu_memory_pool {
    uint32_t magic;
    bool is_default;
    _Atomic uint64_t attributes[ATTRIBUTE_COUNT]; /* by number; 1..3 are 32 bits wide */
};

static struct cu_memory_pool default_pool = {
    .magic = POOL_MAGIC, .is_default = true, .attributes = {0, 1, 1, 1}};

/* The pool that cuMemAllocAsync uses; NULL: the default one. */
static _Atomic(CUmemoryPool) current_pool;

static bool is_pool(CUmemoryPool pool)
{
    return pool && pool->magic == POOL_MAGIC;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUresult result = check_device_output(device, pool);
    if (result != CRT_SUCCESS)
        return result;
    *pool = &default_pool;
    return CRT_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    CUresult result = cuDeviceGetDefaultMemPool(pool, device);
    CUmemoryPool current = current_pool;
    if (result == CRT_SUCCESS && current)
        *pool = current;
    return result;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    if (!is_pool(pool))
        return CRT_INVALID_VALUE;
    current_pool = pool;
    return CRT_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!pool || !properties)
        return CRT_INVALID_VALUE;
    if (properties->handleTypes)
        return crt_not_supported("shareable memory pools");
    struct cu_memory_pool *created = calloc(1, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    created->magic = POOL_MAGIC;
    for (int i = 1; i <= 3; i++)
        created->attributes[i] = 1;
    *pool = created;
    return CRT_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    if (!is_pool(pool) || pool->is_default)
        return CRT_INVALID_VALUE;
    CUmemoryPool expected = pool;
    atomic_compare_exchange_strong(&current_pool, &expected, NULL);
    pool->magic = 0;
    free(pool);
    return CRT_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
    (void)bytes; /* freed memory is given back at once: there is nothing to trim */
    return is_pool(pool) ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

static bool is_wide(CUmemPool_attribute attribute)
{
    return attribute >= POOL_ATTRIBUTE_RELEASE_THRESHOLD;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    if (!is_pool(pool) || !value || attribute < 1 || attribute >= ATTRIBUTE_COUNT)
        return CRT_INVALID_VALUE;
    uint64_t bits = 0;
    memcpy(&bits, value, is_wide(attribute) ? 8 : 4);
    bool is_counter = attribute >= POOL_ATTRIBUTE_RESERVED_CURRENT;
    bool is_mark =
        attribute == POOL_ATTRIBUTE_RESERVED_HIGH || attribute == POOL_ATTRIBUTE_USED_HIGH;
    if (is_counter && (!is_mark || bits))
        return CRT_INVALID_VALUE; /* high marks can only be reset, counters not at all */
    pool->attributes[attribute] = bits;
    return CRT_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    if (!is_pool(pool) || !value || attribute < 1 || attribute >= ATTRIBUTE_COUNT)
        return CRT_INVALID_VALUE;
    uint64_t bits = pool->attributes[attribute];
    memcpy(value, &bits, is_wide(attribute) ? 8 : 4);
    return CRT_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    return is_pool(pool) && (access || !count) ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

CUresult cuMemPoolGetAccess(int *flags, CUmemoryPool pool, CUmemLocation *location)
{
    if (!flags || !is_pool(pool) || !location)
        return CRT_INVALID_VALUE;
    *flags = 3; /* read and write */
    return CRT_SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                 CUstream stream)
{
    if (!is_pool(pool))
        return CRT_INVALID_VALUE;
    return cuMemAllocAsync(pointer, bytes, stream);
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream handle)
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
    uintptr_t base;
    result = crt_memory_alloc(stream->ctx, bytes, CRT_MEMORY_DEVICE, 0, &base);
    if (result == CRT_SUCCESS)
        *pointer = base;
    return result;
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    return result == CRT_SUCCESS ? crt_memory_free_async(stream, (uintptr_t)pointer) : result;
}
