/* SPDX-License-Identifier: Apache-2.0
 *
 * Pointer attributes.
 */
#include <string.h>

#include "cudart/core/memory.h"
#include "cudart/driver/internal.h"

static CUmemorytype memory_type(const struct crt_allocation *allocation)
{
    bool is_host = allocation->kind == CRT_MEMORY_HOST || allocation->kind == CRT_MEMORY_REGISTERED;
    return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
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
        return 4;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
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

/* The attribute of an address that lies in an allocation. */
static uint64_t known_value(const struct crt_allocation *allocation, CUpointer_attribute attribute,
                            CUdeviceptr pointer)
{
    bool is_device_only =
        allocation->kind == CRT_MEMORY_DEVICE || allocation->kind == CRT_MEMORY_MODULE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return (uintptr_t)allocation->ctx;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return memory_type(allocation);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return pointer;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        return is_device_only ? 0 : pointer;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        return allocation->id;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return allocation->kind == CRT_MEMORY_MANAGED;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        return allocation->base;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        return allocation->size_bytes;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return 1;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return 3; /* read and write */
    default:
        return 0;
    }
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
    if (!value || !bytes || !crt_memory_find((uintptr_t)pointer, &allocation))
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
    return CRT_SUCCESS;
}
