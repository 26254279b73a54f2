/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects: layouts and prototypes of the runtime API.
 */
#ifndef PTXRUN_CUDART_RUNTIME_CUDART_TEXTURE_H
#define PTXRUN_CUDART_RUNTIME_CUDART_TEXTURE_H

#include "cudart/driver/cuda_texture.h"
#include "cudart/runtime/cudart_memory.h"

typedef CUtexObject cudaTextureObject_t;
typedef CUsurfObject cudaSurfaceObject_t;

enum { cudaReadModeElementType, cudaReadModeNormalizedFloat };

struct cudaResourceDesc {
    int resType; /* numbers of CUresourcetype */
    union {
        cudaArray_t array;
        cudaMipmappedArray_t mipmap;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width;
            size_t height;
            size_t pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned flags;
};

/* What toolkits before 12 have ends before seamlessCubemap. */
struct cudaTextureDesc {
    int addressMode[3];
    int filterMode;
    int readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap;
};

#pragma GCC visibility push(default)

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *sampling,
                                    const CUDA_RESOURCE_VIEW_DESC *view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *sampling,
                                            cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view,
                                                 cudaTextureObject_t object);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
                                    const struct cudaResourceDesc *resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaSurfaceObject_t object);

#if defined(CUDART_VERSION) && CUDART_VERSION < 12000
/* With seamlessCubemap, which the forms above do not have there. */
cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t *object,
                                       const struct cudaResourceDesc *resource,
                                       const struct cudaTextureDesc *sampling,
                                       const CUDA_RESOURCE_VIEW_DESC *view);
cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc *sampling,
                                               cudaTextureObject_t object);
#endif

#pragma GCC visibility pop

#endif
