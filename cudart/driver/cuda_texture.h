/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects: prototypes of the driver API. Layouts are those of the objects
 * themselves.
 */
#ifndef PTXRUN_CUDART_DRIVER_CUDA_TEXTURE_H
#define PTXRUN_CUDART_DRIVER_CUDA_TEXTURE_H

#include "cudart/core/memory/texture.h"
#include "cudart/driver/cuda_types.h"

typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct crt_resource CUDA_RESOURCE_DESC;
typedef struct crt_sampling CUDA_TEXTURE_DESC;
typedef struct crt_view CUDA_RESOURCE_VIEW_DESC;

_Pragma("GCC visibility push(default)")

    CUresult
    cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                      const CUDA_TEXTURE_DESC *sampling, const CUDA_RESOURCE_VIEW_DESC *view);
CUresult cuTexObjectDestroy(CUtexObject object);
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject object);
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *sampling, CUtexObject object);
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject object);
CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource);
CUresult cuSurfObjectDestroy(CUsurfObject object);
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject object);

_Pragma("GCC visibility pop")

#endif
