/* SPDX-License-Identifier: Apache-2.0
 *
 * cudaGetDeviceProperties in the layouts of toolkits 12 and 11: what toolkit 13 has too is copied
 * field by field; what it dropped comes from the attributes of the same meaning.
 */
#include "cudart/runtime/older/older.h"

#include <string.h>

struct same_field {
    unsigned short to;
    unsigned short from;
    unsigned short bytes;
};

#define SAME(field)                                                                                \
    {offsetof(struct older_device_prop, field), offsetof(struct cudaDeviceProp, field),            \
     sizeof(((struct cudaDeviceProp *)0)->field)}

static const struct same_field same_fields[] = {
    SAME(name),
    SAME(uuid),
    SAME(luid),
    SAME(luidDeviceNodeMask),
    SAME(totalGlobalMem),
    SAME(sharedMemPerBlock),
    SAME(regsPerBlock),
    SAME(warpSize),
    SAME(memPitch),
    SAME(maxThreadsPerBlock),
    SAME(maxThreadsDim),
    SAME(maxGridSize),
    SAME(totalConstMem),
    SAME(major),
    SAME(minor),
    SAME(textureAlignment),
    SAME(texturePitchAlignment),
    SAME(multiProcessorCount),
    SAME(integrated),
    SAME(canMapHostMemory),
    SAME(maxTexture1D),
    SAME(maxTexture1DMipmap),
    SAME(maxTexture2D),
    SAME(maxTexture2DMipmap),
    SAME(maxTexture2DLinear),
    SAME(maxTexture2DGather),
    SAME(maxTexture3D),
    SAME(maxTexture3DAlt),
    SAME(maxTextureCubemap),
    SAME(maxTexture1DLayered),
    SAME(maxTexture2DLayered),
    SAME(maxTextureCubemapLayered),
    SAME(maxSurface1D),
    SAME(maxSurface2D),
    SAME(maxSurface3D),
    SAME(maxSurface1DLayered),
    SAME(maxSurface2DLayered),
    SAME(maxSurfaceCubemap),
    SAME(maxSurfaceCubemapLayered),
    SAME(surfaceAlignment),
    SAME(concurrentKernels),
    SAME(ECCEnabled),
    SAME(pciBusID),
    SAME(pciDeviceID),
    SAME(pciDomainID),
    SAME(tccDriver),
    SAME(asyncEngineCount),
    SAME(unifiedAddressing),
    SAME(memoryBusWidth),
    SAME(l2CacheSize),
    SAME(persistingL2CacheMaxSize),
    SAME(maxThreadsPerMultiProcessor),
    SAME(streamPrioritiesSupported),
    SAME(globalL1CacheSupported),
    SAME(localL1CacheSupported),
    SAME(sharedMemPerMultiprocessor),
    SAME(regsPerMultiprocessor),
    SAME(managedMemory),
    SAME(isMultiGpuBoard),
    SAME(multiGpuBoardGroupID),
    SAME(hostNativeAtomicSupported),
    SAME(pageableMemoryAccess),
    SAME(concurrentManagedAccess),
    SAME(computePreemptionSupported),
    SAME(canUseHostPointerForRegisteredMem),
    SAME(cooperativeLaunch),
    SAME(sharedMemPerBlockOptin),
    SAME(pageableMemoryAccessUsesHostPageTables),
    SAME(directManagedMemAccessFromHost),
    SAME(maxBlocksPerMultiProcessor),
    SAME(accessPolicyMaxWindowSize),
    SAME(reservedSharedMemPerBlock),
    SAME(hostRegisterSupported),
    SAME(sparseCudaArraySupported),
    SAME(hostRegisterReadOnlySupported),
    SAME(timelineSemaphoreInteropSupported),
    SAME(memoryPoolsSupported),
    SAME(gpuDirectRDMASupported),
    SAME(gpuDirectRDMAFlushWritesOptions),
    SAME(gpuDirectRDMAWritesOrdering),
    SAME(memoryPoolSupportedHandleTypes),
    SAME(deferredMappingCudaArraySupported),
    SAME(ipcEventSupported),
    SAME(clusterLaunch),
    SAME(unifiedFunctionPointers),
};

struct dropped_field {
    CUdevice_attribute attribute;
    size_t to;
};

#define DROPPED(number, field)                                                                     \
    {(CUdevice_attribute)(number), offsetof(struct older_device_prop, field)}

static const struct dropped_field dropped_fields[] = {
    DROPPED(13, clockRate),
    DROPPED(15, deviceOverlap),
    DROPPED(17, kernelExecTimeoutEnabled),
    DROPPED(20, computeMode),
    DROPPED(36, memoryClockRate),
    DROPPED(69, maxTexture1DLinear),
    DROPPED(87, singleToDoublePrecisionPerfRatio),
    DROPPED(96, cooperativeMultiDeviceLaunch),
};

static cudaError_t fill_dropped(struct older_device_prop *result, CUdevice device)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < sizeof dropped_fields / sizeof *dropped_fields && !error; i++) {
        int value = 0;
        error = cuDeviceGetAttribute(&value, dropped_fields[i].attribute, device);
        memcpy((char *)result + dropped_fields[i].to, &value, sizeof value);
    }
    return error;
}

static cudaError_t get_properties(struct older_device_prop *result, int device)
{
    struct cudaDeviceProp now;
    cudaError_t error = crt13_get_device_properties(&now, device);
    if (error)
        return error;
    memset(result, 0, sizeof *result);
    for (size_t i = 0; i < sizeof same_fields / sizeof *same_fields; i++)
        memcpy((char *)result + same_fields[i].to, (char *)&now + same_fields[i].from,
               same_fields[i].bytes);
    return crt_done(fill_dropped(result, crt_device(device)));
}

/* In toolkit 12 the plain name keeps the layout of toolkit 11. */
cudaError_t cudaGetDeviceProperties(void *result, int device)
{
    struct older_device_prop all;
    if (!result)
        return crt13_get_device_properties(NULL, device); /* which knows the error */
    cudaError_t error = get_properties(&all, device);
    if (!error)
        memcpy(result, &all, OLDER_PROP_BYTES_11);
    return error;
}

#if CUDART_VERSION >= 12000
cudaError_t cudaGetDeviceProperties_v2(struct older_device_prop *result, int device)
{
    return result ? get_properties(result, device) : crt13_get_device_properties(NULL, device);
}
#endif

/* All devices are alike: what is wished for makes no difference, nor does its layout. */
cudaError_t cudaChooseDevice(int *device, const void *wish)
{
    return crt13_choose_device(device, wish);
}
