/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays, copies with them, batches of copies, managed memory and pools: prototypes of the runtime
 * API. An array's handle is the driver's own; descriptors of batches, locations and pools have one
 * layout in both APIs.
 */
#ifndef PTXRUN_CUDART_RUNTIME_CUDART_MEMORY_H
#define PTXRUN_CUDART_RUNTIME_CUDART_MEMORY_H

#include "cudart/runtime/cuda_runtime_types.h"

typedef CUarray cudaArray_t;
typedef CUmipmappedArray cudaMipmappedArray_t;

enum {
    cudaChannelFormatKindSigned = 0,
    cudaChannelFormatKindUnsigned = 1,
    cudaChannelFormatKindFloat = 2,
    cudaChannelFormatKindNone = 3,
    cudaChannelFormatKindNV12 = 4,
    cudaChannelFormatKindUnsignedNormalized8X1 = 5, /* then 8X2, 8X4, 16X1, 16X2, 16X4, … */
    cudaChannelFormatKindSignedNormalized16X4 = 16, /* … and the signed ones */
    cudaChannelFormatKindUnsignedBlockCompressed1 = 17,
    cudaChannelFormatKindUnsignedBlockCompressed7SRGB = 30,
    cudaChannelFormatKindUnsignedNormalized1010102 = 31
};

#pragma GCC visibility push(default)

/* array.c */
cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *channels,
                            size_t width, size_t height, unsigned flags);
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *channels,
                              struct cudaExtent extent, unsigned flags);
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmap,
                                     const struct cudaChannelFormatDesc *channels,
                                     struct cudaExtent extent, unsigned levels, unsigned flags);
cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap);
cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_t mipmap,
                                       unsigned level);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *channels, struct cudaExtent *extent,
                             unsigned *flags, cudaArray_t array);
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *channels, cudaArray_t array);
cudaError_t cudaArrayGetPlane(cudaArray_t *plane, cudaArray_t array, unsigned index);
cudaError_t cudaArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                           cudaArray_t array, int device);
cudaError_t cudaMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                                    cudaMipmappedArray_t mipmap, int device);
cudaError_t cudaArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                         cudaArray_t array);
cudaError_t cudaMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                                  cudaMipmappedArray_t mipmap);

/* memcpy_array.c: x in bytes, y in rows */
cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                     size_t pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2DToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void *from,
                                          size_t pitch, size_t width, size_t height,
                                          enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                                  size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArray_ptds(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                                       size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_t from, size_t x, size_t y,
                                       size_t width, size_t height, enum cudaMemcpyKind kind,
                                       cudaStream_t stream);
cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(void *to, size_t pitch, cudaArray_t from, size_t x,
                                            size_t y, size_t width, size_t height,
                                            enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                     size_t from_x, size_t from_y, size_t width, size_t height,
                                     enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y,
                                          cudaArray_t from, size_t from_x, size_t from_y,
                                          size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArray_ptds(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                   size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t to, size_t x, size_t y, const void *from,
                                        size_t bytes, enum cudaMemcpyKind kind,
                                        cudaStream_t stream);
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArray_ptds(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemcpyFromArrayAsync_ptsz(void *to, cudaArray_t from, size_t x, size_t y,
                                          size_t bytes, enum cudaMemcpyKind kind,
                                          cudaStream_t stream);
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                   size_t from_x, size_t from_y, size_t bytes,
                                   enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyArrayToArray_ptds(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_t from,
                                        size_t from_x, size_t from_y, size_t bytes,
                                        enum cudaMemcpyKind kind);

/* memcpy.c */
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *sizes,
                                 size_t count, CUmemcpyAttributes *attributes, size_t *firsts,
                                 size_t attribute_count, cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync_ptsz(void *const *to, const void *const *from, const size_t *sizes,
                                      size_t count, CUmemcpyAttributes *attributes, size_t *firsts,
                                      size_t attribute_count, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                   unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops,
                                        unsigned long long flags, cudaStream_t stream);

/* managed.c */
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, CUmemLocation location);
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, CUmemLocation location,
                                 unsigned flags, cudaStream_t stream);
cudaError_t cudaMemPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                      CUmemLocation *locations, size_t *firsts,
                                      size_t location_count, unsigned long long flags,
                                      cudaStream_t stream);
cudaError_t cudaMemPrefetchBatchAsync_ptsz(void **pointers, size_t *sizes, size_t count,
                                           CUmemLocation *locations, size_t *firsts,
                                           size_t location_count, unsigned long long flags,
                                           cudaStream_t stream);
cudaError_t cudaMemDiscardBatchAsync(void **pointers, size_t *sizes, size_t count,
                                     unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardBatchAsync_ptsz(void **pointers, size_t *sizes, size_t count,
                                          unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **pointers, size_t *sizes, size_t count,
                                                CUmemLocation *locations, size_t *firsts,
                                                size_t location_count, unsigned long long flags,
                                                cudaStream_t stream);
cudaError_t cudaMemDiscardAndPrefetchBatchAsync_ptsz(void **pointers, size_t *sizes, size_t count,
                                                     CUmemLocation *locations, size_t *firsts,
                                                     size_t location_count,
                                                     unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemRangeGetAttribute(void *data, size_t bytes, int attribute, const void *pointer,
                                     size_t range_bytes);
cudaError_t cudaMemRangeGetAttributes(void **data, size_t *bytes, int *attributes, size_t count,
                                      const void *pointer, size_t range_bytes);

/* pool.c */
cudaError_t cudaMallocAsync(void **result, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void **result, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);
cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, CUmemLocation *location, int type);
cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, CUmemLocation *location, int type);
cudaError_t cudaMemSetMemPool(CUmemLocation *location, int type, cudaMemPool_t pool);
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const CUmemPoolProps *properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const CUmemAccessDesc *access, size_t count);
cudaError_t cudaMemPoolGetAccess(int *flags, cudaMemPool_t pool, CUmemLocation *location);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value);
cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool, int type,
                                               unsigned flags);
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle, int type,
                                                 unsigned flags);
cudaError_t cudaMemPoolExportPointer(CUmemPoolPtrExportData *data, void *pointer);
cudaError_t cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool,
                                     CUmemPoolPtrExportData *data);

#pragma GCC visibility pop

#endif
