/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management. None of these functions needs a context.
 */
#include "cudart/core/memory/vmm.h"

#include "cudart/driver/internal.h"

/* Handles are pointers to physical allocations. */
static struct crt_physical *physical_of(CUmemGenericAllocationHandle handle)
{
    return (struct crt_physical *)(uintptr_t)handle;
}

static struct crt_location location_of(const CUmemLocation *location)
{
    return (struct crt_location){location->type, location->id};
}

/* What can be asked of memory at all. */
static CUresult check_prop(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || prop->requestedHandleTypes < 0 ||
        prop->allocFlags.usage > CU_MEM_CREATE_USAGE_TILE_POOL)
        return CRT_INVALID_VALUE;
    CUresult result =
        crt_physical_check(location_of(&prop->location), (unsigned)prop->requestedHandleTypes);
    if (result == CRT_SUCCESS && prop->win32HandleMetaData)
        return CRT_INVALID_VALUE;
    if (result == CRT_SUCCESS && prop->allocFlags.usage)
        return crt_not_supported("memory for sparse arrays");
    return result;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       int option)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!granularity || (option != 0 && option != 1)) /* minimum, recommended */
        return CRT_INVALID_VALUE;
    result = check_prop(prop);
    if (result == CRT_SUCCESS)
        *granularity = CRT_GRANULARITY;
    return result;
}

CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t size, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!pointer || flags)
        return CRT_INVALID_VALUE;
    uintptr_t base;
    result = crt_vmm_reserve(size, alignment, (uintptr_t)hint, &base);
    if (result == CRT_SUCCESS)
        *pointer = base;
    return result;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t size)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_vmm_free((uintptr_t)pointer, size) : result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *prop, unsigned long long flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!handle || flags)
        return CRT_INVALID_VALUE;
    result = check_prop(prop);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_physical *physical;
    result = crt_physical_create(size, location_of(&prop->location),
                                 (unsigned)prop->requestedHandleTypes, &physical);
    if (result == CRT_SUCCESS)
        *handle = (uintptr_t)physical;
    return result;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_physical_release(physical_of(handle)) : result;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return flags ? CRT_INVALID_VALUE
                 : crt_vmm_map((uintptr_t)pointer, size, offset, physical_of(handle));
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t size)
{
    CUresult result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_vmm_unmap((uintptr_t)pointer, size) : result;
}

/* The grants that descriptors mean have the same layout. */
_Static_assert(sizeof(struct crt_grant) == sizeof(CUmemAccessDesc) &&
                   offsetof(struct crt_grant, access) == offsetof(CUmemAccessDesc, flags),
               "crt_grant is CUmemAccessDesc");

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t size, const CUmemAccessDesc *access,
                        size_t count)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!access || count == 0)
        return CRT_INVALID_VALUE;
    return crt_vmm_set_access((uintptr_t)pointer, size, (const struct crt_grant *)access, count);
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr pointer)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!flags || !location)
        return CRT_INVALID_VALUE;
    int access;
    result = crt_vmm_get_access((uintptr_t)pointer, location_of(location), &access);
    if (result == CRT_SUCCESS)
        *flags = (unsigned long long)access;
    return result;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *pointer)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_physical *physical;
    result = handle ? crt_vmm_retain((uintptr_t)pointer, &physical) : CRT_INVALID_VALUE;
    if (result == CRT_SUCCESS)
        *handle = (uintptr_t)physical;
    return result;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                CUmemGenericAllocationHandle handle)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_physical *physical = physical_of(handle);
    if (!prop || !crt_physical_is_valid(physical))
        return CRT_INVALID_VALUE;
    *prop = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = (int)physical->share_types,
        .location = {.type = physical->location.type, .id = physical->location.id}};
    return CRT_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle,
                                      int type, unsigned long long flags)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!shareable || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return CRT_INVALID_VALUE; /* no allocation has been made for another type */
    return crt_physical_export(physical_of(handle), shareable);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable,
                                        int type)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (!handle)
        return CRT_INVALID_VALUE;
    switch (type) {
    case CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
        break;
    case CU_MEM_HANDLE_TYPE_WIN32:
    case CU_MEM_HANDLE_TYPE_WIN32_KMT:
    case CU_MEM_HANDLE_TYPE_FABRIC:
        return crt_not_supported("importing memory but by a file descriptor");
    default:
        return CRT_INVALID_VALUE;
    }
    struct crt_physical *physical;
    result = crt_physical_import((int)(intptr_t)shareable, &physical);
    if (result == CRT_SUCCESS)
        *handle = (uintptr_t)physical;
    return result;
}
