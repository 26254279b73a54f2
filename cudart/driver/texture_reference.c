/* SPDX-License-Identifier: Apache-2.0
 *
 * Texture and surface references, of programs from before CUDA 12 (driver API, "Texture Reference
 * Management [DEPRECATED]", "Surface Reference Management [DEPRECATED]"). Setters keep what they
 * are given and have the whole bound anew.
 */
#include "cudart/core/code/module.h"
#include "cudart/driver/internal.h"

#include <string.h>

#define OVERRIDE_FORMAT 1u   /* CU_TRSA_OVERRIDE_FORMAT */
#define DEFAULT_UNIT    (-1) /* CU_PARAM_TR_DEFAULT */
#define ADDRESS_MODES   4
#define DIMENSIONS      3
#define IMAGE_ALIGN     512u
#define KNOWN_FLAGS                                                                                \
    (CRT_SAMPLING_AS_INTEGER | CRT_SAMPLING_NORMALISED | CRT_SAMPLING_SRGB |                       \
     CRT_SAMPLING_NO_TRILINEAR)

/* ---- references ---- */

static CUresult get_reference(CUtexref *reference, CUmodule module, const char *name, uint32_t mark)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!reference || !name)
        return CRT_INVALID_VALUE;
    if (!crt_module_is_valid(module))
        return CRT_INVALID_HANDLE;
    return crt_module_get_reference(module, mark, name, reference);
}

CUresult cuModuleGetTexRef(CUtexref *reference, CUmodule module, const char *name)
{
    return get_reference(reference, module, name, RT_TEXTURE_MARK);
}

CUresult cuModuleGetSurfRef(CUsurfref *reference, CUmodule module, const char *name)
{
    return get_reference(reference, module, name, RT_SURFACE_MARK);
}

CUresult cuTexRefCreate(CUtexref *reference)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    return reference ? crt_reference_get(ctx, RT_TEXTURE_MARK, NULL, NULL, reference)
                     : CRT_INVALID_VALUE;
}

/* Whether the reference can be asked, with a place for the answer. */
static CUresult check(const struct crt_reference *reference, const void *output)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    return output && crt_reference_is(reference, RT_TEXTURE_MARK) ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

CUresult cuTexRefDestroy(CUtexref reference)
{
    CUresult result = check(reference, reference);
    return result == CRT_SUCCESS ? crt_reference_destroy(reference) : result;
}

/* All textures that kernels name are theirs. */
CUresult cuParamSetTexRef(CUfunction function, int unit, CUtexref reference)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    return crt_kernel_is_valid(function) && unit == DEFAULT_UNIT ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

/* ---- images ---- */

static CUresult bind(CUtexref reference, const struct crt_resource *resource)
{
    reference->resource = *resource;
    reference->is_bound = true;
    return crt_reference_apply(reference);
}

CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned flags)
{
    struct crt_resource resource = {.type = CRT_RESOURCE_ARRAY, .array = array};
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if (flags != OVERRIDE_FORMAT || !crt_array_is_valid(array))
        return CRT_INVALID_VALUE;
    reference->format = (int)array->shape.format;
    reference->channels = array->shape.channels;
    return bind(reference, &resource);
}

CUresult cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray mipmap, unsigned flags)
{
    struct crt_resource resource = {.type = CRT_RESOURCE_MIPMAP, .mipmap = mipmap};
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if (flags != OVERRIDE_FORMAT || !crt_mipmap_is_valid(mipmap))
        return CRT_INVALID_VALUE;
    reference->format = (int)mipmap->shape.format;
    reference->channels = mipmap->shape.channels;
    return bind(reference, &resource);
}

/* "The byte offset … must be applied to texture fetches", as images begin at multiples of their
 * alignment. Address 0 binds nothing. */
CUresult cuTexRefSetAddress_v2(size_t *offset, CUtexref reference, CUdeviceptr address,
                               size_t bytes)
{
    size_t beyond = address % IMAGE_ALIGN;
    struct crt_resource resource = {
        .type = CRT_RESOURCE_LINEAR, .address = address - beyond, .size_bytes = bytes + beyond};
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if (beyond && !offset)
        return CRT_INVALID_VALUE;
    if (offset)
        *offset = beyond;
    if (address)
        return bind(reference, &resource);
    reference->is_bound = false;
    return crt_reference_apply(reference);
}

CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *shape,
                                 CUdeviceptr address, size_t pitch)
{
    struct rt_texture descriptor;
    CUresult result = check(reference, shape);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_resource resource = {.type = CRT_RESOURCE_PITCH2D,
                                    .address = address,
                                    .format = shape->Format,
                                    .channels = shape->NumChannels,
                                    .width = shape->Width,
                                    .height = shape->Height,
                                    .pitch_bytes = pitch};
    result =
        crt_texture_describe(reference->ctx, &resource, &reference->sampling, NULL, &descriptor);
    if (result != CRT_SUCCESS)
        return result;
    reference->format = (int)shape->Format;
    reference->channels = shape->NumChannels;
    return bind(reference, &resource);
}

CUresult cuTexRefSetAddress2D_v2(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR *shape,
                                 CUdeviceptr address, size_t pitch)
{
    return cuTexRefSetAddress2D_v3(reference, shape, address, pitch);
}

/* ---- how it is read ---- */

CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if (channels != 1 && channels != 2 && channels != 4)
        return CRT_INVALID_VALUE;
    reference->format = (int)format;
    reference->channels = (unsigned)channels;
    return crt_reference_apply(reference);
}

CUresult cuTexRefSetFlags(CUtexref reference, unsigned flags)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if (flags & ~KNOWN_FLAGS)
        return CRT_INVALID_VALUE;
    reference->sampling.flags = flags;
    return crt_reference_apply(reference);
}

CUresult cuTexRefSetAddressMode(CUtexref reference, int dimension, CUaddress_mode mode)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if (dimension < 0 || dimension >= DIMENSIONS || (unsigned)mode >= ADDRESS_MODES)
        return CRT_INVALID_VALUE;
    reference->sampling.address[dimension] = (int)mode;
    return crt_reference_apply(reference);
}

static CUresult set_filter(CUtexref reference, CUfilter_mode mode, bool is_between_levels)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if ((unsigned)mode > 1)
        return CRT_INVALID_VALUE;
    *(is_between_levels ? &reference->sampling.mip_filter : &reference->sampling.filter) =
        (int)mode;
    return crt_reference_apply(reference);
}

CUresult cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode)
{
    return set_filter(reference, mode, false);
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref reference, CUfilter_mode mode)
{
    return set_filter(reference, mode, true);
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref reference, float bias)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    reference->sampling.lod_bias = bias;
    return crt_reference_apply(reference);
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref reference, float least, float most)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    reference->sampling.lod_min = least;
    reference->sampling.lod_max = most;
    return crt_reference_apply(reference);
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref reference, unsigned most)
{
    CUresult result = check(reference, reference);
    if (result == CRT_SUCCESS)
        reference->sampling.max_anisotropy = most;
    return result;
}

CUresult cuTexRefSetBorderColor(CUtexref reference, float *border)
{
    CUresult result = check(reference, border);
    if (result != CRT_SUCCESS)
        return result;
    memcpy(reference->sampling.border, border, sizeof reference->sampling.border);
    return crt_reference_apply(reference);
}

/* ---- what is set ---- */

static bool is_bound(const struct crt_reference *reference, enum crt_resource_type type)
{
    return reference->is_bound && reference->resource.type == (int)type;
}

CUresult cuTexRefGetArray(CUarray *array, CUtexref reference)
{
    CUresult result = check(reference, array);
    if (result != CRT_SUCCESS)
        return result;
    if (!is_bound(reference, CRT_RESOURCE_ARRAY))
        return CRT_INVALID_VALUE;
    *array = reference->resource.array;
    return CRT_SUCCESS;
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray *mipmap, CUtexref reference)
{
    CUresult result = check(reference, mipmap);
    if (result != CRT_SUCCESS)
        return result;
    if (!is_bound(reference, CRT_RESOURCE_MIPMAP))
        return CRT_INVALID_VALUE;
    *mipmap = reference->resource.mipmap;
    return CRT_SUCCESS;
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr *address, CUtexref reference)
{
    CUresult result = check(reference, address);
    if (result != CRT_SUCCESS)
        return result;
    if (!is_bound(reference, CRT_RESOURCE_LINEAR) && !is_bound(reference, CRT_RESOURCE_PITCH2D))
        return CRT_INVALID_VALUE;
    *address = reference->resource.address;
    return CRT_SUCCESS;
}

CUresult cuTexRefGetAddressMode(CUaddress_mode *mode, CUtexref reference, int dimension)
{
    CUresult result = check(reference, mode);
    if (result != CRT_SUCCESS)
        return result;
    if (dimension < 0 || dimension >= DIMENSIONS)
        return CRT_INVALID_VALUE;
    *mode = reference->sampling.address[dimension];
    return CRT_SUCCESS;
}

CUresult cuTexRefGetFormat(CUarray_format *format, int *channels, CUtexref reference)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if (format)
        *format = reference->format;
    if (channels)
        *channels = (int)reference->channels;
    return CRT_SUCCESS;
}

CUresult cuTexRefGetMipmapLevelClamp(float *least, float *most, CUtexref reference)
{
    CUresult result = check(reference, reference);
    if (result != CRT_SUCCESS)
        return result;
    if (least)
        *least = reference->sampling.lod_min;
    if (most)
        *most = reference->sampling.lod_max;
    return CRT_SUCCESS;
}

CUresult cuTexRefGetBorderColor(float *border, CUtexref reference)
{
    CUresult result = check(reference, border);
    if (result == CRT_SUCCESS)
        memcpy(border, reference->sampling.border, sizeof reference->sampling.border);
    return result;
}

#define GETTER(name, type, member)                                                                 \
    CUresult name(type *value, CUtexref reference)                                                 \
    {                                                                                              \
        CUresult result = check(reference, value);                                                 \
        if (result == CRT_SUCCESS)                                                                 \
            *value = (type)reference->sampling.member;                                             \
        return result;                                                                             \
    }
GETTER(cuTexRefGetFilterMode, CUfilter_mode, filter)
GETTER(cuTexRefGetMipmapFilterMode, CUfilter_mode, mip_filter)
GETTER(cuTexRefGetMipmapLevelBias, float, lod_bias)
GETTER(cuTexRefGetMaxAnisotropy, int, max_anisotropy)
GETTER(cuTexRefGetFlags, unsigned, flags)

/* ---- surfaces ---- */

CUresult cuSurfRefSetArray(CUsurfref reference, CUarray array, unsigned flags)
{
    struct crt_resource resource = {.type = CRT_RESOURCE_ARRAY, .array = array};
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_reference_is(reference, RT_SURFACE_MARK) || flags || !crt_array_is_valid(array) ||
        !(array->shape.flags & CRT_ARRAY_SURFACE))
        return CRT_INVALID_VALUE;
    return bind(reference, &resource);
}

CUresult cuSurfRefGetArray(CUarray *array, CUsurfref reference)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!array || !crt_reference_is(reference, RT_SURFACE_MARK) || !reference->is_bound)
        return CRT_INVALID_VALUE;
    *array = reference->resource.array;
    return CRT_SUCCESS;
}
