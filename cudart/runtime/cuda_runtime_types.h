/* SPDX-License-Identifier: Apache-2.0
 *
 * Types of the CUDA 13 runtime API as programs pass them to libcudart.so.13: layouts and numbers
 * only. Offsets are asserted below; they are part of the binary interface.
 */
#ifndef PTXRUN_CUDART_RUNTIME_CUDA_RUNTIME_TYPES_H
#define PTXRUN_CUDART_RUNTIME_CUDA_RUNTIME_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "cudart/driver/cuda_driver.h"

/* The libraries for older toolkits are compiled with theirs (older/). */
#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif

/* An error is a plain int here: the numbers of both APIs agree and pass through unchanged. */
typedef int cudaError_t;

enum {
#define CUDA_ERROR_ROW(name, number, text) name = number,
#include "cudart/core/base/errors.def"
#undef CUDA_ERROR_ROW
};

/* Handles are the driver's own: both APIs can be mixed. */
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUkernel cudaKernel_t;
typedef CUfunction cudaFunction_t;
typedef CUlibrary cudaLibrary_t;
typedef CUmemoryPool cudaMemPool_t;

/* The calling thread's own default stream. */
#define CUDA_STREAM_PER_THREAD ((cudaStream_t)2)

struct cuda_dim3 {
    unsigned x;
    unsigned y;
    unsigned z;
};

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4,
};

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3,
};

#define CUDA_INVALID_DEVICE_ID (-2)

struct cudaPointerAttributes {
    int type;
    int device;
    void *devicePointer;
    void *hostPointer;
    long reserved[8];
};

struct cudaFuncAttributes {
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
    int clusterDimMustBeSet;
    int requiredClusterWidth;
    int requiredClusterHeight;
    int requiredClusterDepth;
    int clusterSchedulingPolicyPreference;
    int nonPortableClusterSizeAllowed;
    int reserved[16];
};

struct cudaExtent {
    size_t width;
    size_t height;
    size_t depth;
};

struct cudaPos {
    size_t x;
    size_t y;
    size_t z;
};

struct cudaPitchedPtr {
    void *ptr;
    size_t pitch;
    size_t xsize;
    size_t ysize;
};

struct cudaMemcpy3DParms {
    void *srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    void *dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    enum cudaMemcpyKind kind;
};

struct cudaMemcpy3DPeerParms {
    void *srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    int srcDevice;
    void *dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    int dstDevice;
    struct cudaExtent extent;
};

struct cudaChannelFormatDesc {
    int x;
    int y;
    int z;
    int w;
    int f;
};

struct cudaLaunchConfig {
    struct cuda_dim3 gridDim;
    struct cuda_dim3 blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    CUlaunchAttribute *attrs; /* same layout in both APIs */
    unsigned numAttrs;
};

struct cudaDeviceProp {
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
    size_t totalConstMem;
    int major;
    int minor;
    size_t textureAlignment;
    size_t texturePitchAlignment;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int maxTexture1D;
    int maxTexture1DMipmap;
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
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
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
    int deviceNumaConfig;
    int deviceNumaId;
    int mpsEnabled;
    int hostNumaId;
    unsigned gpuPciDeviceID;
    unsigned gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported;
    int reserved[56];
};

#define CUDA_OFFSET(field, offset)                                                                 \
    _Static_assert(offsetof(struct cudaDeviceProp, field) == (offset), "offset of " #field)
CUDA_OFFSET(uuid, 256);
CUDA_OFFSET(luidDeviceNodeMask, 280);
CUDA_OFFSET(totalGlobalMem, 288);
CUDA_OFFSET(memPitch, 312);
CUDA_OFFSET(maxThreadsDim, 324);
CUDA_OFFSET(totalConstMem, 352);
CUDA_OFFSET(major, 360);
CUDA_OFFSET(multiProcessorCount, 384);
CUDA_OFFSET(maxTexture2DLinear, 420);
CUDA_OFFSET(maxTextureCubemap, 464);
CUDA_OFFSET(maxSurface1D, 496);
CUDA_OFFSET(surfaceAlignment, 552);
CUDA_OFFSET(pciBusID, 568);
CUDA_OFFSET(memoryBusWidth, 592);
CUDA_OFFSET(maxThreadsPerMultiProcessor, 604);
CUDA_OFFSET(sharedMemPerMultiprocessor, 624);
CUDA_OFFSET(managedMemory, 636);
CUDA_OFFSET(cooperativeLaunch, 668);
CUDA_OFFSET(sharedMemPerBlockOptin, 672);
CUDA_OFFSET(reservedSharedMemPerBlock, 696);
CUDA_OFFSET(memoryPoolSupportedHandleTypes, 736);
CUDA_OFFSET(clusterLaunch, 748);
CUDA_OFFSET(hostNumaMultinodeIpcSupported, 780);
#undef CUDA_OFFSET
_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "size of cudaDeviceProp");
_Static_assert(sizeof(struct cudaFuncAttributes) == 144, "size of cudaFuncAttributes");
_Static_assert(sizeof(struct cudaPointerAttributes) == 88, "size of cudaPointerAttributes");
_Static_assert(sizeof(struct cudaMemcpy3DParms) == 160, "size of cudaMemcpy3DParms");
_Static_assert(sizeof(struct cudaMemcpy3DPeerParms) == 168, "size of cudaMemcpy3DPeerParms");
_Static_assert(sizeof(struct cudaLaunchConfig) == 56, "size of cudaLaunchConfig");

#endif
