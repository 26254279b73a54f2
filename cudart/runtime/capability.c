/* SPDX-License-Identifier: Apache-2.0
 *
 * What devices can do, beyond their properties: linear textures, atomics, clusters.
 */
#include "cudart/runtime/runtime.h"

static cudaError_t check_device(int device)
{
    return crt_initialize() ?: (crt_is_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}

/* The driver's number of a channel format, 0 for one that linear textures cannot have; channels
 * gets how many there are. */
static CUarray_format array_format(const struct cudaChannelFormatDesc *format, unsigned *channels)
{
    enum { KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT, KINDS };
    static const CUarray_format formats[KINDS][3] = {
        [KIND_SIGNED] = {0x08, 0x09, 0x0a},
        [KIND_UNSIGNED] = {0x01, 0x02, 0x03},
        [KIND_FLOAT] = {0, 0x10, 0x20},
    };
    const int bits[] = {format->x, format->y, format->z, format->w};
    *channels = 0;
    for (unsigned i = 0; i < 4 && bits[i]; i++)
        *channels = i + 1;
    for (unsigned i = 0; i < *channels; i++)
        if (bits[i] != bits[0])
            return 0;
    int size = bits[0] == 8 ? 0 : bits[0] == 16 ? 1 : bits[0] == 32 ? 2 : -1;
    return size < 0 || format->f < 0 || format->f >= KINDS ? 0 : formats[format->f][size];
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width,
                                                 const struct cudaChannelFormatDesc *format,
                                                 int device)
{
    unsigned channels = 0;
    cudaError_t error = check_device(device);
    if (error || !format)
        return crt_done(error ?: cudaErrorInvalidValue);
    CUarray_format number = array_format(format, &channels);
    return crt_done(
        cuDeviceGetTexture1DLinearMaxWidth(width, number, channels, crt_device(device)));
}

/* operations: the numbers of CUatomicOperation. */
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned *capabilities, const int *operations,
                                                unsigned count, int device)
{
    return crt_done(check_device(device)
                        ?: cuDeviceGetHostAtomicCapabilities(capabilities, operations, count,
                                                             crt_device(device)));
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned *capabilities, const int *operations,
                                               unsigned count, int source, int destination)
{
    return crt_done(check_device(source) ?: check_device(destination)
                        ?: cuDeviceGetP2PAtomicCapabilities(capabilities, operations, count,
                                                            crt_device(source),
                                                            crt_device(destination)));
}

/* ---- clusters ---- */

/* What the occupancy of clusters depends on. */
static cudaError_t prepare(const void *stub, const struct cudaLaunchConfig *config,
                           CUkernel *kernel, CUlaunchConfig *description)
{
    if (!config || config->dynamicSmemBytes > UINT32_MAX)
        return cudaErrorInvalidValue;
    *description = (CUlaunchConfig){.gridDimX = config->gridDim.x,
                                    .gridDimY = config->gridDim.y,
                                    .gridDimZ = config->gridDim.z,
                                    .blockDimX = config->blockDim.x,
                                    .blockDimY = config->blockDim.y,
                                    .blockDimZ = config->blockDim.z,
                                    .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                                    .attrs = config->attrs,
                                    .numAttrs = config->numAttrs};
    return crt_enter() ?: crt_kernel_of(stub, kernel);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *stub,
                                                 const struct cudaLaunchConfig *config)
{
    CUkernel kernel = NULL;
    CUlaunchConfig description;
    return crt_done(
        prepare(stub, config, &kernel, &description)
            ?: cuOccupancyMaxPotentialClusterSize(size, (CUfunction)kernel, &description));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *stub,
                                           const struct cudaLaunchConfig *config)
{
    CUkernel kernel = NULL;
    CUlaunchConfig description;
    return crt_done(
        prepare(stub, config, &kernel, &description)
            ?: cuOccupancyMaxActiveClusters(clusters, (CUfunction)kernel, &description));
}
