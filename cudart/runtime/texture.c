/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects: descriptors of the runtime as those of the driver, and back.
 */
#include "cudart/runtime/runtime.h"

#include <string.h>

/* The descriptor of toolkits before 12 has no last member. */
#if defined(CUDART_VERSION) && CUDART_VERSION < 12000
#define HAS_SEAMLESS 0
#else
#define HAS_SEAMLESS 1
#endif

static cudaError_t to_driver(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *to)
{
    CUDA_ARRAY3D_DESCRIPTOR format;
    cudaError_t error = cudaSuccess;
    *to = (CUDA_RESOURCE_DESC){.type = from->resType, .flags = from->flags};
    switch (from->resType) {
    case CRT_RESOURCE_ARRAY:
        to->array = from->res.array;
        return cudaSuccess;
    case CRT_RESOURCE_MIPMAP:
        to->mipmap = from->res.mipmap;
        return cudaSuccess;
    case CRT_RESOURCE_LINEAR:
        error = crt_channel_format(&from->res.linear.desc, &format);
        to->address = (uintptr_t)from->res.linear.devPtr;
        to->size_bytes = from->res.linear.sizeInBytes;
        break;
    case CRT_RESOURCE_PITCH2D:
        error = crt_channel_format(&from->res.pitch2D.desc, &format);
        to->address = (uintptr_t)from->res.pitch2D.devPtr;
        to->width = from->res.pitch2D.width;
        to->height = from->res.pitch2D.height;
        to->pitch_bytes = from->res.pitch2D.pitchInBytes;
        break;
    default:
        return cudaErrorInvalidValue;
    }
    if (error)
        return error;
    to->format = format.Format;
    to->channels = format.NumChannels;
    return cudaSuccess;
}

static void to_runtime(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *to)
{
    CUDA_ARRAY3D_DESCRIPTOR format = {.Format = from->format, .NumChannels = from->channels};
    memset(to, 0, sizeof *to);
    to->resType = from->type;
    to->flags = from->flags;
    switch (from->type) {
    case CRT_RESOURCE_ARRAY:
        to->res.array = from->array;
        break;
    case CRT_RESOURCE_MIPMAP:
        to->res.mipmap = from->mipmap;
        break;
    case CRT_RESOURCE_LINEAR:
        to->res.linear.devPtr = (void *)(uintptr_t)from->address;
        to->res.linear.desc = crt_format_channels(&format);
        to->res.linear.sizeInBytes = from->size_bytes;
        break;
    default:
        to->res.pitch2D.devPtr = (void *)(uintptr_t)from->address;
        to->res.pitch2D.desc = crt_format_channels(&format);
        to->res.pitch2D.width = from->width;
        to->res.pitch2D.height = from->height;
        to->res.pitch2D.pitchInBytes = from->pitch_bytes;
        break;
    }
}

static CUDA_TEXTURE_DESC sampling_of(const struct cudaTextureDesc *from, bool has_seamless)
{
    CUDA_TEXTURE_DESC to = {
        .filter = from->filterMode,
        .max_anisotropy = from->maxAnisotropy,
        .mip_filter = from->mipmapFilterMode,
        .lod_bias = from->mipmapLevelBias,
        .lod_min = from->minMipmapLevelClamp,
        .lod_max = from->maxMipmapLevelClamp,
    };
    if (from->readMode == cudaReadModeElementType)
        to.flags |= CRT_SAMPLING_AS_INTEGER;
    if (from->normalizedCoords)
        to.flags |= CRT_SAMPLING_NORMALISED;
    if (from->sRGB)
        to.flags |= CRT_SAMPLING_SRGB;
    if (from->disableTrilinearOptimization)
        to.flags |= CRT_SAMPLING_NO_TRILINEAR;
    if (has_seamless && from->seamlessCubemap)
        to.flags |= CRT_SAMPLING_SEAMLESS;
    memcpy(to.address, from->addressMode, sizeof to.address);
    memcpy(to.border, from->borderColor, sizeof to.border);
    return to;
}

/* All of it but the last member, which the program's may not have. */
static void show_sampling(const CUDA_TEXTURE_DESC *from, struct cudaTextureDesc *to,
                          bool has_seamless)
{
    memcpy(to->addressMode, from->address, sizeof to->addressMode);
    memcpy(to->borderColor, from->border, sizeof to->borderColor);
    to->filterMode = from->filter;
    to->readMode = from->flags & CRT_SAMPLING_AS_INTEGER ? cudaReadModeElementType
                                                         : cudaReadModeNormalizedFloat;
    to->sRGB = (from->flags & CRT_SAMPLING_SRGB) != 0;
    to->normalizedCoords = (from->flags & CRT_SAMPLING_NORMALISED) != 0;
    to->maxAnisotropy = from->max_anisotropy;
    to->mipmapFilterMode = from->mip_filter;
    to->mipmapLevelBias = from->lod_bias;
    to->minMipmapLevelClamp = from->lod_min;
    to->maxMipmapLevelClamp = from->lod_max;
    to->disableTrilinearOptimization = (from->flags & CRT_SAMPLING_NO_TRILINEAR) != 0;
    if (has_seamless)
        to->seamlessCubemap = (from->flags & CRT_SAMPLING_SEAMLESS) != 0;
}

static bool gives_integers(const CUDA_ARRAY3D_DESCRIPTOR *shape, const CUDA_TEXTURE_DESC *way)
{
    struct cudaChannelFormatDesc channels = crt_format_channels(shape);
    bool is_integer =
        channels.f == cudaChannelFormatKindSigned || channels.f == cudaChannelFormatKindUnsigned;
    return is_integer && ((way->flags & CRT_SAMPLING_AS_INTEGER) || channels.x == 32);
}

/* Drivers read integers unfiltered; the runtime refuses a filter for them. */
static cudaError_t check_filter(const CUDA_RESOURCE_DESC *image, const CUDA_TEXTURE_DESC *way)
{
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Format = image->format, .NumChannels = image->channels};
    CUarray array = image->array;
    cudaError_t error = cudaSuccess;
    if (!way->filter || image->type == CRT_RESOURCE_LINEAR)
        return cudaSuccess;
    if (image->type == CRT_RESOURCE_MIPMAP)
        error = cuMipmappedArrayGetLevel(&array, image->mipmap, 0);
    if (image->type != CRT_RESOURCE_PITCH2D)
        error = error ?: cuArray3DGetDescriptor_v2(&shape, array);
    if (!error && gives_integers(&shape, way))
        error = cudaErrorInvalidFilterSetting;
    return error;
}

static cudaError_t create_texture(cudaTextureObject_t *object,
                                  const struct cudaResourceDesc *resource,
                                  const struct cudaTextureDesc *sampling, bool has_seamless,
                                  const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUDA_RESOURCE_DESC image;
    CUDA_TEXTURE_DESC way;
    if (!object || !resource || !sampling)
        return crt_done(cudaErrorInvalidValue);
    cudaError_t error = crt_enter() ?: to_driver(resource, &image);
    if (error)
        return crt_done(error);
    way = sampling_of(sampling, has_seamless);
    if (!view)
        error = check_filter(&image, &way);
    return crt_done(error ?: cuTexObjectCreate(object, &image, &way, view));
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *sampling,
                                    const CUDA_RESOURCE_VIEW_DESC *view)
{
    return create_texture(object, resource, sampling, HAS_SEAMLESS, view);
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    return crt_done(crt_enter() ?: cuTexObjectDestroy(object));
}

cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaTextureObject_t object)
{
    CUDA_RESOURCE_DESC image;
    cudaError_t error = crt_enter() ?: cuTexObjectGetResourceDesc(resource ? &image : NULL, object);
    if (!error)
        to_runtime(&image, resource);
    return crt_done(error);
}

static cudaError_t get_sampling(struct cudaTextureDesc *sampling, cudaTextureObject_t object,
                                bool has_seamless)
{
    CUDA_TEXTURE_DESC way;
    cudaError_t error = crt_enter() ?: cuTexObjectGetTextureDesc(sampling ? &way : NULL, object);
    if (!error)
        show_sampling(&way, sampling, has_seamless);
    return crt_done(error);
}

cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *sampling,
                                            cudaTextureObject_t object)
{
    return get_sampling(sampling, object, HAS_SEAMLESS);
}

#if !HAS_SEAMLESS
/* Toolkit 11.8's own forms with the last member. */
cudaError_t cudaCreateTextureObject_v2(cudaTextureObject_t *object,
                                       const struct cudaResourceDesc *resource,
                                       const struct cudaTextureDesc *sampling,
                                       const CUDA_RESOURCE_VIEW_DESC *view)
{
    return create_texture(object, resource, sampling, true, view);
}

cudaError_t cudaGetTextureObjectTextureDesc_v2(struct cudaTextureDesc *sampling,
                                               cudaTextureObject_t object)
{
    return get_sampling(sampling, object, true);
}
#endif

cudaError_t cudaGetTextureObjectResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view,
                                                 cudaTextureObject_t object)
{
    return crt_done(crt_enter() ?: cuTexObjectGetResourceViewDesc(view, object));
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
                                    const struct cudaResourceDesc *resource)
{
    CUDA_RESOURCE_DESC image;
    if (!object || !resource)
        return crt_done(cudaErrorInvalidValue);
    return crt_done(crt_enter() ?: to_driver(resource, &image)
                        ?: cuSurfObjectCreate(object, &image));
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    return crt_done(crt_enter() ?: cuSurfObjectDestroy(object));
}

cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                             cudaSurfaceObject_t object)
{
    CUDA_RESOURCE_DESC image;
    cudaError_t error =
        crt_enter() ?: cuSurfObjectGetResourceDesc(resource ? &image : NULL, object);
    if (!error)
        to_runtime(&image, resource);
    return crt_done(error);
}
