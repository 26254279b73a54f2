/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface objects.
 */
#include "cudart/driver/internal.h"

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *sampling, const CUDA_RESOURCE_VIEW_DESC *view)
{
    CUcontext ctx;
    uint64_t handle;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!object || !resource || !sampling)
        return CRT_INVALID_VALUE;
    result = crt_texture_create(ctx, resource, sampling, view, &handle);
    if (result == CRT_SUCCESS)
        *object = handle;
    return result;
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource)
{
    CUcontext ctx;
    uint64_t handle;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!object || !resource)
        return CRT_INVALID_VALUE;
    result = crt_surface_create(ctx, resource, &handle);
    if (result == CRT_SUCCESS)
        *object = handle;
    return result;
}

/* The object behind a handle; CRT_INVALID_VALUE if there is none or no place for the answer. */
static CUresult find(const void *output, uint64_t handle, uint32_t mark,
                     struct crt_texture **texture)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    *texture = crt_texture_find(handle, mark);
    return output && *texture ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

/* 0 is no object, which programs destroy that have made only some of theirs: as with `free`. */
static CUresult destroy(uint64_t handle, uint32_t mark)
{
    struct crt_texture *texture = NULL;
    if (handle == 0)
        return check_context();
    CUresult result = find(&texture, handle, mark, &texture);
    return result == CRT_SUCCESS ? crt_texture_destroy(texture) : result;
}

CUresult cuTexObjectDestroy(CUtexObject object)
{
    return destroy(object, RT_TEXTURE_MARK);
}

CUresult cuSurfObjectDestroy(CUsurfObject object)
{
    return destroy(object, RT_SURFACE_MARK);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject object)
{
    struct crt_texture *texture;
    CUresult result = find(resource, object, RT_TEXTURE_MARK, &texture);
    if (result == CRT_SUCCESS)
        *resource = texture->resource;
    return result;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *sampling, CUtexObject object)
{
    struct crt_texture *texture;
    CUresult result = find(sampling, object, RT_TEXTURE_MARK, &texture);
    if (result == CRT_SUCCESS)
        *sampling = texture->sampling;
    return result;
}

/* An object that was made without a view has none to show. */
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject object)
{
    struct crt_texture *texture;
    CUresult result = find(view, object, RT_TEXTURE_MARK, &texture);
    if (result != CRT_SUCCESS)
        return result;
    if (!texture->has_view)
        return CRT_INVALID_VALUE;
    *view = texture->view;
    return CRT_SUCCESS;
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject object)
{
    struct crt_texture *texture;
    CUresult result = find(resource, object, RT_SURFACE_MARK, &texture);
    if (result == CRT_SUCCESS)
        *resource = texture->resource;
    return result;
}
