/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels as objects: attributes, names, occupancy.
 */
#include "cudart/runtime/runtime.h"

/* Numbers of CUfunction_attribute and of cudaFuncAttribute. */
enum {
    ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    ATTRIBUTE_SHARED_SIZE_BYTES,
    ATTRIBUTE_CONST_SIZE_BYTES,
    ATTRIBUTE_LOCAL_SIZE_BYTES,
    ATTRIBUTE_NUM_REGS,
    ATTRIBUTE_PTX_VERSION,
    ATTRIBUTE_BINARY_VERSION,
    ATTRIBUTE_CACHE_MODE_CA,
    ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET,
    ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
    ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
    ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
    ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    ATTRIBUTE_COUNT
};

/* Asking for the function makes a context that has failed say so. */
static cudaError_t kernel_and_device(const void *stub, CUkernel *kernel, CUdevice *device)
{
    CUfunction function = NULL;
    cudaError_t error =
        crt_enter() ?: crt_kernel_of(stub, kernel) ?: cuKernelGetFunction(&function, *kernel);
    if (!error)
        *device = crt_device(crt_current_device());
    return error;
}

static cudaError_t read_attributes(struct cudaFuncAttributes *result, CUkernel kernel,
                                   CUdevice device)
{
    int values[ATTRIBUTE_COUNT] = {0};
    for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
        cudaError_t error =
            cuKernelGetAttribute(&values[i], (CUfunction_attribute)i, kernel, device);
        if (error)
            return error;
    }
    *result = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)values[ATTRIBUTE_SHARED_SIZE_BYTES],
        .constSizeBytes = (size_t)values[ATTRIBUTE_CONST_SIZE_BYTES],
        .localSizeBytes = (size_t)values[ATTRIBUTE_LOCAL_SIZE_BYTES],
        .maxThreadsPerBlock = values[ATTRIBUTE_MAX_THREADS_PER_BLOCK],
        .numRegs = values[ATTRIBUTE_NUM_REGS],
        .ptxVersion = values[ATTRIBUTE_PTX_VERSION],
        .binaryVersion = values[ATTRIBUTE_BINARY_VERSION],
        .cacheModeCA = values[ATTRIBUTE_CACHE_MODE_CA],
        .maxDynamicSharedSizeBytes = values[ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES],
        .preferredShmemCarveout = values[ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT],
        .clusterDimMustBeSet = values[ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET],
        .requiredClusterWidth = values[ATTRIBUTE_REQUIRED_CLUSTER_WIDTH],
        .requiredClusterHeight = values[ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT],
        .requiredClusterDepth = values[ATTRIBUTE_REQUIRED_CLUSTER_DEPTH],
        .clusterSchedulingPolicyPreference = values[ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE],
        .nonPortableClusterSizeAllowed = values[ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED],
    };
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *result, const void *stub)
{
    CUkernel kernel = NULL;
    CUdevice device = 0;
    if (!result)
        return crt_done(cudaErrorInvalidValue);
    return crt_done(kernel_and_device(stub, &kernel, &device)
                        ?: read_attributes(result, kernel, device));
}

/* attribute: the numbers of CUfunction_attribute. */
cudaError_t cudaFuncSetAttribute(const void *stub, int attribute, int value)
{
    CUkernel kernel = NULL;
    CUdevice device = 0;
    return crt_done(
        kernel_and_device(stub, &kernel, &device)
            ?: cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel, device));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t handle, int attribute, int value,
                                            int device)
{
    CUkernel kernel = NULL;
    cudaError_t error = crt_enter() ?: crt_kernel_of(handle, &kernel);
    if (!error && !crt_is_device(device))
        error = cudaErrorInvalidDevice;
    return crt_done(error
                        ?: cuKernelSetAttribute((CUfunction_attribute)attribute, value, kernel,
                                                crt_device(device)));
}

cudaError_t cudaFuncSetCacheConfig(const void *stub, int config)
{
    CUkernel kernel = NULL;
    CUdevice device = 0;
    return crt_done(kernel_and_device(stub, &kernel, &device)
                        ?: cuKernelSetCacheConfig(kernel, (CUfunc_cache)config, device));
}

/* Banks of shared memory have one width: accepted, without effect. */
cudaError_t cudaFuncSetSharedMemConfig(const void *stub, int config)
{
    CUkernel kernel = NULL;
    (void)config;
    return crt_done(crt_enter() ?: crt_kernel_of(stub, &kernel));
}

cudaError_t cudaFuncGetName(const char **name, const void *stub)
{
    return crt_done(crt_initialize() ?: crt_kernel_name_of(stub, name));
}

cudaError_t cudaFuncGetParamInfo(const void *stub, size_t index, size_t *offset, size_t *size_bytes)
{
    CUkernel kernel = NULL;
    return crt_done(crt_enter() ?: crt_kernel_of(stub, &kernel)
                        ?: cuKernelGetParamInfo(kernel, index, offset, size_bytes));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *stub)
{
    CUkernel kernel = NULL;
    return crt_done(crt_enter() ?: crt_kernel_of(stub, &kernel)
                        ?: cuKernelGetFunction(function, kernel));
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    if (!kernel)
        return crt_done(cudaErrorInvalidValue);
    return crt_done(crt_enter() ?: crt_kernel_of(stub, kernel));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *stub,
                                                                   int block_size,
                                                                   size_t shared_bytes,
                                                                   unsigned flags)
{
    CUkernel kernel = NULL;
    return crt_done(crt_enter() ?: crt_kernel_of(stub, &kernel)
                        ?: cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                               blocks, (CUfunction)kernel, block_size, shared_bytes, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *stub,
                                                          int block_size, size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, stub, block_size,
                                                                  shared_bytes, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared_bytes, const void *stub,
                                                      int blocks, int block_size)
{
    CUkernel kernel = NULL;
    return crt_done(crt_enter() ?: crt_kernel_of(stub, &kernel)
                        ?: cuOccupancyAvailableDynamicSMemPerBlock(shared_bytes, (CUfunction)kernel,
                                                                   blocks, block_size));
}
