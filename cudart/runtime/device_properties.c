/* SPDX-License-Identifier: Apache-2.0
 *
 * cudaGetDeviceProperties, cudaDeviceGetAttribute: one table says which driver attribute fills
 * which field.
 */
#include "cudart/runtime/runtime.h"

#include <string.h>

struct property {
    unsigned short attribute; /* number of CUdevice_attribute and of cudaDeviceAttr */
    unsigned short offset;
    unsigned short bytes; /* 4 or 8 */
};

#define FIELD(number, field)                                                                       \
    {(number), offsetof(struct cudaDeviceProp, field), sizeof(((struct cudaDeviceProp *)0)->field)}

static const struct property properties[] = {
    FIELD(1, maxThreadsPerBlock),
    FIELD(2, maxThreadsDim[0]),
    FIELD(3, maxThreadsDim[1]),
    FIELD(4, maxThreadsDim[2]),
    FIELD(5, maxGridSize[0]),
    FIELD(6, maxGridSize[1]),
    FIELD(7, maxGridSize[2]),
    FIELD(8, sharedMemPerBlock),
    FIELD(9, totalConstMem),
    FIELD(10, warpSize),
    FIELD(11, memPitch),
    FIELD(12, regsPerBlock),
    FIELD(14, textureAlignment),
    FIELD(16, multiProcessorCount),
    FIELD(18, integrated),
    FIELD(19, canMapHostMemory),
    FIELD(21, maxTexture1D),
    FIELD(22, maxTexture2D[0]),
    FIELD(23, maxTexture2D[1]),
    FIELD(24, maxTexture3D[0]),
    FIELD(25, maxTexture3D[1]),
    FIELD(26, maxTexture3D[2]),
    FIELD(27, maxTexture2DLayered[0]),
    FIELD(28, maxTexture2DLayered[1]),
    FIELD(29, maxTexture2DLayered[2]),
    FIELD(30, surfaceAlignment),
    FIELD(31, concurrentKernels),
    FIELD(32, ECCEnabled),
    FIELD(33, pciBusID),
    FIELD(34, pciDeviceID),
    FIELD(35, tccDriver),
    FIELD(37, memoryBusWidth),
    FIELD(38, l2CacheSize),
    FIELD(39, maxThreadsPerMultiProcessor),
    FIELD(40, asyncEngineCount),
    FIELD(41, unifiedAddressing),
    FIELD(42, maxTexture1DLayered[0]),
    FIELD(43, maxTexture1DLayered[1]),
    FIELD(45, maxTexture2DGather[0]),
    FIELD(46, maxTexture2DGather[1]),
    FIELD(47, maxTexture3DAlt[0]),
    FIELD(48, maxTexture3DAlt[1]),
    FIELD(49, maxTexture3DAlt[2]),
    FIELD(50, pciDomainID),
    FIELD(51, texturePitchAlignment),
    FIELD(52, maxTextureCubemap),
    FIELD(53, maxTextureCubemapLayered[0]),
    FIELD(54, maxTextureCubemapLayered[1]),
    FIELD(55, maxSurface1D),
    FIELD(56, maxSurface2D[0]),
    FIELD(57, maxSurface2D[1]),
    FIELD(58, maxSurface3D[0]),
    FIELD(59, maxSurface3D[1]),
    FIELD(60, maxSurface3D[2]),
    FIELD(61, maxSurface1DLayered[0]),
    FIELD(62, maxSurface1DLayered[1]),
    FIELD(63, maxSurface2DLayered[0]),
    FIELD(64, maxSurface2DLayered[1]),
    FIELD(65, maxSurface2DLayered[2]),
    FIELD(66, maxSurfaceCubemap),
    FIELD(67, maxSurfaceCubemapLayered[0]),
    FIELD(68, maxSurfaceCubemapLayered[1]),
    FIELD(70, maxTexture2DLinear[0]),
    FIELD(71, maxTexture2DLinear[1]),
    FIELD(72, maxTexture2DLinear[2]),
    FIELD(73, maxTexture2DMipmap[0]),
    FIELD(74, maxTexture2DMipmap[1]),
    FIELD(75, major),
    FIELD(76, minor),
    FIELD(77, maxTexture1DMipmap),
    FIELD(78, streamPrioritiesSupported),
    FIELD(79, globalL1CacheSupported),
    FIELD(80, localL1CacheSupported),
    FIELD(81, sharedMemPerMultiprocessor),
    FIELD(82, regsPerMultiprocessor),
    FIELD(83, managedMemory),
    FIELD(84, isMultiGpuBoard),
    FIELD(85, multiGpuBoardGroupID),
    FIELD(86, hostNativeAtomicSupported),
    FIELD(88, pageableMemoryAccess),
    FIELD(89, concurrentManagedAccess),
    FIELD(90, computePreemptionSupported),
    FIELD(91, canUseHostPointerForRegisteredMem),
    FIELD(95, cooperativeLaunch),
    FIELD(97, sharedMemPerBlockOptin),
    FIELD(99, hostRegisterSupported),
    FIELD(100, pageableMemoryAccessUsesHostPageTables),
    FIELD(101, directManagedMemAccessFromHost),
    FIELD(106, maxBlocksPerMultiProcessor),
    FIELD(108, persistingL2CacheMaxSize),
    FIELD(109, accessPolicyMaxWindowSize),
    FIELD(111, reservedSharedMemPerBlock),
    FIELD(112, sparseCudaArraySupported),
    FIELD(113, hostRegisterReadOnlySupported),
    FIELD(114, timelineSemaphoreInteropSupported),
    FIELD(115, memoryPoolsSupported),
    FIELD(116, gpuDirectRDMASupported),
    FIELD(117, gpuDirectRDMAFlushWritesOptions),
    FIELD(118, gpuDirectRDMAWritesOrdering),
    FIELD(119, memoryPoolSupportedHandleTypes),
    FIELD(120, clusterLaunch),
    FIELD(121, deferredMappingCudaArraySupported),
    FIELD(125, ipcEventSupported),
    FIELD(129, unifiedFunctionPointers),
    FIELD(130, deviceNumaConfig),
    FIELD(131, deviceNumaId),
    FIELD(133, mpsEnabled),
    FIELD(134, hostNumaId),
    FIELD(139, gpuPciDeviceID),
    FIELD(140, gpuPciSubsystemID),
    FIELD(143, hostNumaMultinodeIpcSupported),
};

static cudaError_t fill_table(struct cudaDeviceProp *result, CUdevice device)
{
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        const struct property *property = &properties[i];
        int value = 0;
        cudaError_t error =
            cuDeviceGetAttribute(&value, (CUdevice_attribute)property->attribute, device);
        if (error)
            return error;
        size_t wide = (unsigned)value;
        char *field = (char *)result + property->offset;
        memcpy(field, property->bytes == sizeof wide ? (void *)&wide : (void *)&value,
               property->bytes);
    }
    return cudaSuccess;
}

static cudaError_t fill_properties(struct cudaDeviceProp *result, CUdevice device)
{
    CUuuid uuid;
    memset(result, 0, sizeof *result);
    cudaError_t error = cuDeviceGetName(result->name, sizeof result->name, device)
                            ?: cuDeviceGetUuid(&uuid, device)
                            ?: cuDeviceTotalMem_v2(&result->totalGlobalMem, device)
                            ?: fill_table(result, device);
    if (!error)
        memcpy(result->uuid, &uuid, sizeof result->uuid);
    return error;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *result, int device)
{
    cudaError_t error = crt_initialize();
    if (!error && !result)
        error = cudaErrorInvalidValue;
    if (!error && !crt_is_device(device))
        error = cudaErrorInvalidDevice;
    return crt_done(error ?: fill_properties(result, crt_device(device)));
}

cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    cudaError_t error = crt_initialize();
    if (!error && !crt_is_device(device))
        error = cudaErrorInvalidDevice;
    return crt_done(
        error ?: cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, crt_device(device)));
}
