/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointer attributes.
 */
#include <string.h>

#include "cudart/core/memory/memory.h"
#include "cudart/core/memory/pool.h"
#include "cudart/driver/internal.h"

#define CU_MEMHOSTREGISTER_READ_ONLY 8u

static CUmemorytype memory_type(const struct crt_allocation *allocation)
{
    return crt_allocation_is_host(allocation) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

/* Bytes that an attribute's value takes; 0 for an attribute that does not exist. */
static size_t value_bytes(CUpointer_attribute attribute)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return 8;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: /* the static runtime reads an int that it has not set */
        return 4;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return 1;
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
        return 16;
    default:
        return 0;
    }
}

static bool is_device_only(const struct crt_allocation *allocation)
{
    return !crt_allocation_is_host(allocation) && allocation->kind != CRT_MEMORY_MANAGED;
}

static uint64_t access_flags(const struct crt_allocation *allocation)
{
    bool is_read_only = allocation->kind == CRT_MEMORY_REGISTERED &&
                        (allocation->flags & CU_MEMHOSTREGISTER_READ_ONLY);
    return is_read_only ? CRT_ACCESS_READ : allocation->access;
}

/* The attribute of an address that lies in an allocation. */
static uint64_t known_value(const struct crt_allocation *allocation, CUpointer_attribute attribute,
                            CUdeviceptr pointer)
{
    bool is_pooled = allocation->flags & CRT_ALLOCATION_POOLED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return (uintptr_t)allocation->ctx;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return memory_type(allocation);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return pointer;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return is_device_only(allocation) ? 0 : pointer;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        return crt_memory_is_sync(allocation->id);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return allocation->id;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return allocation->kind == CRT_MEMORY_MANAGED;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return (uint64_t)allocation->device;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return allocation->kind == CRT_MEMORY_DEVICE && !is_pooled;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return allocation->base;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return allocation->size_bytes;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return 1;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return access_flags(allocation);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return is_pooled ? (uintptr_t)crt_pool_of(allocation->base) : 0;
    default:
        return 0;
    }
}

/* "Unless there exists some direct address space mapping between host and device, ptr must be …
 * otherwise CUDA_ERROR_INVALID_VALUE is returned". */
static bool has_attribute(const struct crt_allocation *allocation, CUpointer_attribute attribute)
{
    return attribute != CU_POINTER_ATTRIBUTE_HOST_POINTER || !is_device_only(allocation);
}

static void store(void *value, uint64_t bits, size_t bytes)
{
    memset(value, 0, bytes);
    memcpy(value, &bits, bytes < sizeof bits ? bytes : sizeof bits);
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr pointer)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    size_t bytes = value_bytes(attribute);
    struct crt_allocation allocation;
    if (!value || !bytes || !crt_memory_find((uintptr_t)pointer, &allocation) ||
        !has_attribute(&allocation, attribute))
        return CRT_INVALID_VALUE;
    store(value, known_value(&allocation, attribute, pointer), bytes);
    return CRT_SUCCESS;
}

/* Succeeds for any address: memory the API does not know gives zeros, and -2 as its device
 * (the ordinal that means "none"). */
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **values,
                                CUdeviceptr pointer)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!count || !attributes || !values)
        return CRT_INVALID_VALUE;
    struct crt_allocation allocation;
    bool is_known = crt_memory_find((uintptr_t)pointer, &allocation);
    for (unsigned i = 0; i < count; i++) {
        size_t bytes = value_bytes(attributes[i]);
        if (!values[i] || !bytes)
            return CRT_INVALID_VALUE;
        uint64_t bits = 0;
        if (is_known)
            bits = known_value(&allocation, attributes[i], pointer);
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            bits = (uint64_t)INT64_C(-2);
        store(values[i], bits, bytes);
    }
    return CRT_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute,
                               CUdeviceptr pointer)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_allocation allocation;
    bool can_set = attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    if (!value || !can_set || !crt_memory_find((uintptr_t)pointer, &allocation))
        return CRT_INVALID_VALUE;
    unsigned is_sync;
    memcpy(&is_sync, value, sizeof is_sync);
    return crt_memory_set_sync(allocation.id, is_sync != 0);
}
