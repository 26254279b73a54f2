/* SPDX-License-Identifier: Apache-2.0
 *
 * Types and prototypes of green.c: green contexts, and the resources that they get.
 */
#ifndef PTXRUN_CUDART_DRIVER_CUDA_GREEN_H
#define PTXRUN_CUDART_DRIVER_CUDA_GREEN_H

#include "cudart/driver/cuda_types.h"

typedef struct cu_resource_desc *CUdevResourceDesc;

enum { CU_GREEN_CTX_DEFAULT_STREAM = 1 };

enum {
    CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING = 1,
    CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE = 2,
};

typedef int CUdevResourceType;

enum { CU_DEV_RESOURCE_TYPE_INVALID, CU_DEV_RESOURCE_TYPE_SM };

typedef struct {
    unsigned smCount;
    unsigned minSmPartitionSize;
    unsigned smCoscheduledAlignment;
} CUdevSmResource;

typedef struct {
    CUdevResourceType type;
    unsigned char internal[92];
    union {
        CUdevSmResource sm;
        unsigned char bytes[48];
    };
} CUdevResource;

_Pragma("GCC visibility push(default)")

    CUresult
    cuDeviceGetDevResource(CUdevice device, CUdevResource *resource, CUdevResourceType type);
CUresult cuCtxGetDevResource(CUcontext ctx, CUdevResource *resource, CUdevResourceType type);
CUresult cuGreenCtxGetDevResource(CUgreenCtx green, CUdevResource *resource,
                                  CUdevResourceType type);
CUresult cuDevSmResourceSplitByCount(CUdevResource *groups, unsigned *count,
                                     const CUdevResource *input, CUdevResource *remaining,
                                     unsigned flags, unsigned least);
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *desc, CUdevResource *resources,
                                   unsigned count);
CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc desc, CUdevice device,
                          unsigned flags);
CUresult cuGreenCtxDestroy(CUgreenCtx green);
CUresult cuCtxFromGreenCtx(CUcontext *ctx, CUgreenCtx green);
CUresult cuGreenCtxRecordEvent(CUgreenCtx green, CUevent event);
CUresult cuGreenCtxWaitEvent(CUgreenCtx green, CUevent event);
CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned flags, int priority);
CUresult cuGreenCtxGetId(CUgreenCtx green, unsigned long long *id);

_Pragma("GCC visibility pop")

#endif
