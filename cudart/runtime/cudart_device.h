/* SPDX-License-Identifier: Apache-2.0
 *
 * Prototypes of capability.c: what devices can do, and clusters.
 */
#ifndef PTXRUN_CUDART_RUNTIME_CUDART_DEVICE_H
#define PTXRUN_CUDART_RUNTIME_CUDART_DEVICE_H

#include "cudart/runtime/cuda_runtime_types.h"

#pragma GCC visibility push(default)

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width,
                                                 const struct cudaChannelFormatDesc *format,
                                                 int device);
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned *capabilities, const int *operations,
                                                unsigned count, int device);
cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned *capabilities, const int *operations,
                                               unsigned count, int source, int destination);
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *stub,
                                                 const struct cudaLaunchConfig *config);
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *stub,
                                           const struct cudaLaunchConfig *config);

#pragma GCC visibility pop

#endif
