/* SPDX-License-Identifier: Apache-2.0
 *
 * What programs of toolkits 12 and 11 pass and call where it differs from toolkit 13.
 *
 * Not verified: these layouts and signatures come from public bindings of those toolkits, and have
 * not been compared with the toolkits themselves.
 */
#ifndef PTXRUN_CUDART_RUNTIME_OLDER_OLDER_H
#define PTXRUN_CUDART_RUNTIME_OLDER_OLDER_H

#include "cudart/runtime/runtime.h"

/* The old names are free again: runtime.h has declared toolkit 13's forms under other ones. */
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaMemPrefetchAsync_ptsz
#undef cudaGraphAddNode
#undef cudaGraphAddDependencies
#undef cudaGraphRemoveDependencies
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaGraphNodeGetDependentNodes
#undef cudaStreamGetCaptureInfo
#undef cudaStreamGetCaptureInfo_ptsz
#undef cudaStreamUpdateCaptureDependencies
#undef cudaStreamUpdateCaptureDependencies_ptsz
#undef cudaGetDeviceProperties
#undef cudaChooseDevice
#undef cudaPointerGetAttributes
#undef cudaMemcpyBatchAsync
#undef cudaMemcpyBatchAsync_ptsz
#undef cudaMemcpy3DBatchAsync
#undef cudaMemcpy3DBatchAsync_ptsz
#undef cudaFuncGetAttributes
#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPoint_ptsz
#undef cudaGraphInstantiate
#undef cudaGraphExecUpdate
#undef cudaGraphKernelNodeGetAttribute
#undef cudaGraphKernelNodeSetAttribute
#undef cudaStreamGetAttribute
#undef cudaStreamGetAttribute_ptsz
#undef cudaStreamSetAttribute
#undef cudaStreamSetAttribute_ptsz

/* cudaDeviceProp of toolkit 12. Toolkit 11's ends before hostRegisterSupported. */
struct older_device_prop {
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem;
    size_t sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock;
    int maxThreadsDim[3];
    int maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int kernelExecTimeoutEnabled;
    int integrated;
    int canMapHostMemory;
    int computeMode;
    int maxTexture1D;
    int maxTexture1DMipmap;
    int maxTexture1DLinear;
    int maxTexture2D[2];
    int maxTexture2DMipmap[2];
    int maxTexture2DLinear[3];
    int maxTexture2DGather[2];
    int maxTexture3D[3];
    int maxTexture3DAlt[3];
    int maxTextureCubemap;
    int maxTexture1DLayered[2];
    int maxTexture2DLayered[3];
    int maxTextureCubemapLayered[2];
    int maxSurface1D;
    int maxSurface2D[2];
    int maxSurface3D[3];
    int maxSurface1DLayered[2];
    int maxSurface2DLayered[3];
    int maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID;
    int pciDeviceID;
    int pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryClockRate;
    int memoryBusWidth;
    int l2CacheSize;
    int persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported;
    int localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard;
    int multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    int cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int reserved[63];
};

#define OLDER_PROP_BYTES_11 offsetof(struct older_device_prop, hostRegisterSupported)

/* cudaPointerAttributes, without what toolkit 13 added. */
struct older_pointer_attributes {
    int type;
    int device;
    void *devicePointer;
    void *hostPointer;
};

/* cudaFuncAttributes of toolkit 11. */
struct older_func_attributes {
    size_t sharedSizeBytes;
    size_t constSizeBytes;
    size_t localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion;
    int binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
};

/* Value of a stream's or node's attribute before toolkit 11.8. */
struct older_attribute_value {
    char bytes[32];
};

#define OLDER_OFFSET(field, offset)                                                                \
    _Static_assert(offsetof(struct older_device_prop, field) == (offset), "offset of " #field)
OLDER_OFFSET(totalGlobalMem, 288);
OLDER_OFFSET(clockRate, 348);
OLDER_OFFSET(totalConstMem, 352);
OLDER_OFFSET(major, 360);
OLDER_OFFSET(minor, 364);
OLDER_OFFSET(multiProcessorCount, 388);
OLDER_OFFSET(computeMode, 404);
OLDER_OFFSET(memoryBusWidth, 612);
OLDER_OFFSET(reservedSharedMemPerBlock, 720);
#undef OLDER_OFFSET
_Static_assert(OLDER_PROP_BYTES_11 == 728, "size of cudaDeviceProp of toolkit 11");
_Static_assert(sizeof(struct older_device_prop) == 1032, "size of cudaDeviceProp of toolkit 12");
_Static_assert(sizeof(struct older_pointer_attributes) == 24, "size of cudaPointerAttributes");
_Static_assert(sizeof(struct older_func_attributes) == 56, "size of cudaFuncAttributes");

static inline cudaStream_t older_own(cudaStream_t stream)
{
    return stream ? stream : CUDA_STREAM_PER_THREAD;
}

#pragma GCC visibility push(default)

/* properties.c */
cudaError_t cudaGetDeviceProperties(void *result, int device);
cudaError_t cudaChooseDevice(int *device, const void *wish);

/* changed.c */
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device);
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                 cudaStream_t stream);
cudaError_t cudaMemPrefetchAsync_ptsz(const void *pointer, size_t bytes, int device,
                                      cudaStream_t stream);
cudaError_t cudaPointerGetAttributes(struct older_pointer_attributes *result, const void *pointer);
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, size_t count);
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, size_t count);
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                              size_t *count);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                         size_t *count);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                           size_t *count);
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, CUstreamCaptureStatus *status,
                                        unsigned long long *id, cudaGraph_t *graph,
                                        const cudaGraphNode_t **nodes, size_t *count);
cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status,
                                             unsigned long long *id, cudaGraph_t *graph,
                                             const cudaGraphNode_t **nodes, size_t *count);
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                size_t count, unsigned flags);
cudaError_t cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream, cudaGraphNode_t *nodes,
                                                     size_t count, unsigned flags);
cudaError_t cudaThreadSynchronize(void);
cudaError_t cudaThreadExit(void);
cudaError_t cudaThreadSetLimit(int limit, size_t value);
cudaError_t cudaThreadGetLimit(size_t *value, int limit);
cudaError_t cudaThreadSetCacheConfig(int config);
cudaError_t cudaThreadGetCacheConfig(int *config);
cudaError_t cudaSetDoubleForDevice(double *value);
cudaError_t cudaSetDoubleForHost(double *value);

#if CUDART_VERSION >= 12000
/* only12.c */
cudaError_t cudaGetDeviceProperties_v2(struct older_device_prop *result, int device);
cudaError_t cudaEventElapsedTime_v2(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *deps,
                             size_t count, struct cudaGraphNodeParams *params);
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attributes, size_t *firsts,
                                 size_t attribute_count, size_t *failed, cudaStream_t stream);
cudaError_t cudaMemcpyBatchAsync_ptsz(void **to, void **from, size_t *sizes, size_t count,
                                      CUmemcpyAttributes *attributes, size_t *firsts,
                                      size_t attribute_count, size_t *failed, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                   unsigned long long flags, cudaStream_t stream);
cudaError_t cudaMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP *ops, size_t *failed,
                                        unsigned long long flags, cudaStream_t stream);
#else
/* only11.c */
cudaError_t cudaFuncGetAttributes(struct older_func_attributes *result, const void *stub);
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags);
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **function,
                                         unsigned long long flags);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *node,
                                 char *log, size_t log_bytes);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node,
                                CUgraphExecUpdateResult *result);
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, int attribute,
                                            struct older_attribute_value *value);
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, int attribute,
                                            const struct older_attribute_value *value);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, int id,
                                   struct older_attribute_value *value);
cudaError_t cudaStreamGetAttribute_ptsz(cudaStream_t stream, int id,
                                        struct older_attribute_value *value);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, int id,
                                   const struct older_attribute_value *value);
cudaError_t cudaStreamSetAttribute_ptsz(cudaStream_t stream, int id,
                                        const struct older_attribute_value *value);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, CUstreamCaptureStatus *status,
                                     unsigned long long *id);
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, CUstreamCaptureStatus *status,
                                          unsigned long long *id);
#endif

#pragma GCC visibility pop

#endif
