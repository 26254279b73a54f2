/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays and mipmapped arrays.
 */
#include "cudart/core/memory/array.h"

#include "cudart/driver/internal.h"

/* The current context, for calls that a capture by this or another thread may forbid. */
static CUresult require_unsafe(CUcontext *ctx)
{
    CUresult result = crt_context_require(ctx);
    return result == CRT_SUCCESS ? crt_capture_check_unsafe() : result;
}

static CUresult create_array(CUarray *array, const struct crt_array_shape *shape)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    return crt_array_create(ctx, shape, array);
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!array || !descriptor)
        return CRT_INVALID_VALUE;
    struct crt_array_shape shape = {.width = descriptor->Width,
                                    .height = descriptor->Height,
                                    .format = (unsigned)descriptor->Format,
                                    .channels = descriptor->NumChannels};
    return create_array(array, &shape);
}

static struct crt_array_shape shape_of(const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    return (struct crt_array_shape){.width = descriptor->Width,
                                    .height = descriptor->Height,
                                    .depth = descriptor->Depth,
                                    .format = (unsigned)descriptor->Format,
                                    .channels = descriptor->NumChannels,
                                    .flags = descriptor->Flags};
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!array || !descriptor)
        return CRT_INVALID_VALUE;
    struct crt_array_shape shape = shape_of(descriptor);
    return create_array(array, &shape);
}

static CUresult check_array(const void *output, CUarray array)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_array_is_valid(array))
        return CRT_INVALID_HANDLE;
    return output ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

static CUresult check_mipmap(const void *output, CUmipmappedArray mipmap)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_mipmap_is_valid(mipmap))
        return CRT_INVALID_HANDLE;
    return output ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array)
{
    CUresult result = check_array(descriptor, array);
    if (result != CRT_SUCCESS)
        return result;
    *descriptor = (CUDA_ARRAY_DESCRIPTOR){.Width = array->shape.width,
                                          .Height = array->shape.height,
                                          .Format = (CUarray_format)array->shape.format,
                                          .NumChannels = array->shape.channels};
    return CRT_SUCCESS;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array)
{
    CUresult result = check_array(descriptor, array);
    if (result != CRT_SUCCESS)
        return result;
    *descriptor = (CUDA_ARRAY3D_DESCRIPTOR){.Width = array->shape.width,
                                            .Height = array->shape.height,
                                            .Depth = array->shape.depth,
                                            .Format = (CUarray_format)array->shape.format,
                                            .NumChannels = array->shape.channels,
                                            .Flags = array->shape.flags};
    return CRT_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    return result == CRT_SUCCESS ? crt_array_destroy(array) : result;
}

CUresult cuArrayGetPlane(CUarray *plane, CUarray array, unsigned index)
{
    CUresult result = check_array(plane, array);
    if (result != CRT_SUCCESS)
        return result;
    if (index >= CRT_ARRAY_PLANES_MAX || !array->planes[index])
        return CRT_INVALID_VALUE;
    *plane = array->planes[index];
    return CRT_SUCCESS;
}

/* "… must have been allocated with the flag CUDA_ARRAY3D_DEFERRED_MAPPING": none is. */
CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUarray array,
                                      CUdevice device)
{
    CUresult result = check_array(requirements, array);
    if (result == CRT_SUCCESS)
        result = check_device(device);
    return result == CRT_SUCCESS ? CRT_INVALID_VALUE : result;
}

/* Likewise for CUDA_ARRAY3D_SPARSE. */
CUresult cuArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties, CUarray array)
{
    CUresult result = check_array(properties, array);
    return result == CRT_SUCCESS ? CRT_INVALID_VALUE : result;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned levels)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!mipmap || !descriptor)
        return CRT_INVALID_VALUE;
    struct crt_array_shape shape = shape_of(descriptor);
    return crt_mipmap_create(ctx, &shape, levels, mipmap);
}

CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level)
{
    CUresult result = check_mipmap(array, mipmap);
    if (result != CRT_SUCCESS)
        return result;
    if (level >= mipmap->level_count)
        return CRT_INVALID_VALUE;
    *array = mipmap->levels[level];
    return CRT_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap)
{
    CUcontext ctx;
    CUresult result = require_unsafe(&ctx);
    return result == CRT_SUCCESS ? crt_mipmap_destroy(mipmap) : result;
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                               CUmipmappedArray mipmap, CUdevice device)
{
    CUresult result = check_mipmap(requirements, mipmap);
    if (result == CRT_SUCCESS)
        result = check_device(device);
    return result == CRT_SUCCESS ? CRT_INVALID_VALUE : result;
}

CUresult cuMipmappedArrayGetSparseProperties(CUDA_ARRAY_SPARSE_PROPERTIES *properties,
                                             CUmipmappedArray mipmap)
{
    CUresult result = check_mipmap(properties, mipmap);
    return result == CRT_SUCCESS ? CRT_INVALID_VALUE : result;
}
