/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays, copies with arrays, batches of copies, managed memory, and pools: types of the
 * driver API's ABI and prototypes. The layouts are asserted.
 */
#ifndef PTXRUN_CUDART_DRIVER_CUDA_MEMORY_H
#define PTXRUN_CUDART_DRIVER_CUDA_MEMORY_H

#include "cudart/driver/cuda_types.h"

typedef struct crt_mipmap *CUmipmappedArray;
typedef int CUarray_format;
typedef int CUmemAllocationType;
typedef int CUmemAllocationHandleType;

#define CU_DEVICE_CPU     (-1)
#define CU_DEVICE_INVALID (-2)

enum {
    CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
    CU_MEM_ADVISE_UNSET_READ_MOSTLY,
    CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
    CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
    CU_MEM_ADVISE_SET_ACCESSED_BY,
    CU_MEM_ADVISE_UNSET_ACCESSED_BY
};

enum {
    CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY = 1,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
    CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
    CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
    CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID
};

typedef struct {
    size_t Width;
    size_t Height;
    CUarray_format Format;
    unsigned NumChannels;
} CUDA_ARRAY_DESCRIPTOR;
_Static_assert(sizeof(CUDA_ARRAY_DESCRIPTOR) == 24, "size of the array descriptor");

typedef struct {
    size_t Width;
    size_t Height;
    size_t Depth;
    CUarray_format Format;
    unsigned NumChannels;
    unsigned Flags;
} CUDA_ARRAY3D_DESCRIPTOR;
_Static_assert(sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40, "size of the 3D array descriptor");
_Static_assert(offsetof(CUDA_ARRAY3D_DESCRIPTOR, Flags) == 32, "place of its flags");

typedef struct {
    struct {
        unsigned width;
        unsigned height;
        unsigned depth;
    } tileExtent;
    unsigned miptailFirstLevel;
    unsigned long long miptailSize;
    unsigned flags;
    unsigned reserved[4];
} CUDA_ARRAY_SPARSE_PROPERTIES;
_Static_assert(sizeof(CUDA_ARRAY_SPARSE_PROPERTIES) == 48, "size of the sparse properties");

typedef struct {
    size_t size;
    size_t alignment;
    unsigned reserved[4];
} CUDA_ARRAY_MEMORY_REQUIREMENTS;
_Static_assert(sizeof(CUDA_ARRAY_MEMORY_REQUIREMENTS) == 32, "size of the requirements");

/* When the source of a copy may be read. */
enum {
    CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 1,
    CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL = 2,
    CU_MEMCPY_SRC_ACCESS_ORDER_ANY = 3
};

typedef struct {
    int srcAccessOrder;
    CUmemLocation srcLocHint;
    CUmemLocation dstLocHint;
    unsigned flags;
} CUmemcpyAttributes;
_Static_assert(sizeof(CUmemcpyAttributes) == 24, "size of the copy attributes");

enum { CU_MEMCPY_OPERAND_TYPE_POINTER = 1, CU_MEMCPY_OPERAND_TYPE_ARRAY = 2 };

typedef struct {
    size_t x;
    size_t y;
    size_t z;
} CUoffset3D;

typedef struct {
    size_t width;
    size_t height;
    size_t depth;
} CUextent3D;

typedef struct {
    int type;
    union {
        struct {
            CUdeviceptr ptr;
            size_t rowLength;
            size_t layerHeight;
            CUmemLocation locHint;
        } ptr;
        struct {
            CUarray array;
            CUoffset3D offset;
        } array;
    } op;
} CUmemcpy3DOperand;
_Static_assert(sizeof(CUmemcpy3DOperand) == 40, "size of an operand");
_Static_assert(offsetof(CUmemcpy3DOperand, op) == 8, "place of its pointer or array");

typedef struct {
    CUmemcpy3DOperand src;
    CUmemcpy3DOperand dst;
    CUextent3D extent;
    int srcAccessOrder;
    unsigned flags;
} CUDA_MEMCPY3D_BATCH_OP;
_Static_assert(sizeof(CUDA_MEMCPY3D_BATCH_OP) == 112, "size of a copy of a batch");
_Static_assert(offsetof(CUDA_MEMCPY3D_BATCH_OP, flags) == 108, "place of its flags");

typedef struct {
    unsigned char reserved[64];
} CUmemPoolPtrExportData;

#pragma GCC visibility push(default)

/* ---- arrays ---- */
CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor);
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array);
CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array);
CUresult cuArrayDestroy(CUarray array);
CUresult cuArrayGetPlane(CUarray *plane, CUarray array, unsigned index);
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUarray array,
                                      CUdevice device);
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUarray array);
CUresult cuMipmappedArrayCreate(CUmipmappedArray *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned levels);
CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level);
CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap);
CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                               CUmipmappedArray mipmap, CUdevice device);
CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                             CUmipmappedArray mipmap);

/* ---- copies of bytes from and to arrays ---- */
CUresult cuMemcpyAtoA_v2(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                         size_t bytes);
CUresult cuMemcpyAtoA_v2_ptds(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                              size_t bytes);
CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes);
CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr dst, CUarray src, size_t offset, size_t bytes);
CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes);
CUresult cuMemcpyDtoA_v2_ptds(CUarray dst, size_t offset, CUdeviceptr src, size_t bytes);
CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t offset, size_t bytes);
CUresult cuMemcpyAtoH_v2_ptds(void *dst, CUarray src, size_t offset, size_t bytes);
CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void *src, size_t bytes);
CUresult cuMemcpyHtoA_v2_ptds(CUarray dst, size_t offset, const void *src, size_t bytes);
CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t offset, size_t bytes, CUstream stream);
CUresult cuMemcpyAtoHAsync_v2_ptsz(void *dst, CUarray src, size_t offset, size_t bytes,
                                   CUstream stream);
CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void *src, size_t bytes,
                              CUstream stream);
CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray dst, size_t offset, const void *src, size_t bytes,
                                   CUstream stream);

/* ---- batches of copies; the forms without _v2 also say which one is wrong ---- */
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *firsts,
                               size_t attribute_count, CUstream stream);
CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
                                    size_t count, CUmemcpyAttributes *attributes, size_t *firsts,
                                    size_t attribute_count, CUstream stream);
CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attributes, size_t *firsts, size_t attribute_count,
                            size_t *failed, CUstream stream);
CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attributes, size_t *firsts,
                                 size_t attribute_count, size_t *failed, CUstream stream);
CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                 unsigned long long flags, CUstream stream);
CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                      unsigned long long flags, CUstream stream);
CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                              unsigned long long flags, CUstream stream);
CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                   unsigned long long flags, CUstream stream);

/* ---- managed memory ---- */
CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice, CUdevice device);
CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, CUmem_advise advice,
                        CUmemLocation location);
CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream);
CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr pointer, size_t bytes, CUdevice device,
                                 CUstream stream);
CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation location,
                               unsigned flags, CUstream stream);
CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr pointer, size_t bytes, CUmemLocation location,
                                    unsigned flags, CUstream stream);
CUresult cuMemPrefetchBatchAsync(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                 CUmemLocation *locations, size_t *firsts, size_t location_count,
                                 unsigned long long flags, CUstream stream);
CUresult cuMemPrefetchBatchAsync_ptsz(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                      CUmemLocation *locations, size_t *firsts,
                                      size_t location_count, unsigned long long flags,
                                      CUstream stream);
CUresult cuMemDiscardBatchAsync(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                unsigned long long flags, CUstream stream);
CUresult cuMemDiscardBatchAsync_ptsz(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                     unsigned long long flags, CUstream stream);
CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                           CUmemLocation *locations, size_t *firsts,
                                           size_t location_count, unsigned long long flags,
                                           CUstream stream);
CUresult cuMemDiscardAndPrefetchBatchAsync_ptsz(CUdeviceptr *pointers, size_t *sizes, size_t count,
                                                CUmemLocation *locations, size_t *firsts,
                                                size_t location_count, unsigned long long flags,
                                                CUstream stream);
CUresult cuMemRangeGetAttribute(void *data, size_t bytes, CUmem_range_attribute attribute,
                                CUdeviceptr pointer, size_t range_bytes);
CUresult cuMemRangeGetAttributes(void **data, size_t *bytes, CUmem_range_attribute *attributes,
                                 size_t count, CUdeviceptr pointer, size_t range_bytes);

/* ---- pools ---- */
CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                CUmemAllocationType type);
CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, CUmemAllocationType type);
CUresult cuMemSetMemPool(CUmemLocation *location, CUmemAllocationType type, CUmemoryPool pool);
CUresult cuMemPoolExportToShareableHandle(void *handle, CUmemoryPool pool,
                                          CUmemAllocationHandleType type, unsigned long long flags);
CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *pool, void *handle,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags);
CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *data, CUdeviceptr pointer);
CUresult cuMemPoolImportPointer(CUdeviceptr *pointer, CUmemoryPool pool,
                                CUmemPoolPtrExportData *data);

#pragma GCC visibility pop

#endif
