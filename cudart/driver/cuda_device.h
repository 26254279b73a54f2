/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and prototypes of capability.c and of what occupancy.c knows of clusters.
 */
#ifndef PTXRUN_CUDART_DRIVER_CUDA_DEVICE_H
#define PTXRUN_CUDART_DRIVER_CUDA_DEVICE_H

#include "cudart/driver/cuda_memory.h"
#include "cudart/driver/cuda_types.h"

typedef int CUexecAffinityType;
typedef int CUatomicOperation;

#define CU_EXEC_AFFINITY_TYPE_SM_COUNT 0
#define CU_EXEC_AFFINITY_TYPE_COUNT    1

/* Numbers of CUatomicOperation: integers (0-4), bits (5-7), exchanges (8, 9), floats (10-12). */
#define CU_ATOMIC_OPERATION_COUNT 13

_Pragma("GCC visibility push(default)")

    CUresult
    cuDeviceGetExecAffinitySupport(int *is_supported, CUexecAffinityType type, CUdevice device);
CUresult cuCtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type);
CUresult cuDeviceGetLuid(char *luid, unsigned *node_mask, CUdevice device);
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format, unsigned channels,
                                            CUdevice device);
CUresult cuDeviceGetHostAtomicCapabilities(unsigned *capabilities,
                                           const CUatomicOperation *operations, unsigned count,
                                           CUdevice device);
CUresult cuDeviceGetP2PAtomicCapabilities(unsigned *capabilities,
                                          const CUatomicOperation *operations, unsigned count,
                                          CUdevice source, CUdevice target);
CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function,
                                            const CUlaunchConfig *config);
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                      const CUlaunchConfig *config);

_Pragma("GCC visibility pop")

#endif
