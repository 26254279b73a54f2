/* SPDX-License-Identifier: Apache-2.0
 *
 * What descriptors of textures and surfaces say of the image and of sampling, and which of them
 * make sense (driver API, cuTexObjectCreate).
 */
#include "cudart/core/memory/texture.h"

#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/streams/context.h"

#define ATTRIBUTE_ALIGNMENT       14
#define ATTRIBUTE_PITCH_ALIGNMENT 51
#define ATTRIBUTE_LINEAR_WIDTH    69
#define ATTRIBUTE_PITCH_WIDTH     70
#define ATTRIBUTE_PITCH_HEIGHT    71
#define ATTRIBUTE_PITCH_BYTES     72

#define KNOWN_FLAGS                                                                                \
    (CRT_SAMPLING_AS_INTEGER | CRT_SAMPLING_NORMALISED | CRT_SAMPLING_SRGB |                       \
     CRT_SAMPLING_NO_TRILINEAR | CRT_SAMPLING_SEAMLESS)
#define VIEW_FORMATS 0x18 /* then come block-compressed ones … */
#define VIEW_BC7     0x22 /* … up to this */

static size_t limit_of(const struct crt_context *ctx, int attribute)
{
    int limit = 0;
    crt_device_attribute(ctx->device, attribute, &limit);
    return (size_t)limit;
}

/* ---- formats ---- */

struct element {
    uint8_t texel;
    uint8_t bytes; /* of one channel, of 1010102: of all */
    bool is_part;  /* always of 1 */
    bool is_float;
};

static bool find_element(int format, struct element *element)
{
    static const struct element fixed[] = {{RT_TEXEL_U8, 1, true, false},
                                           {RT_TEXEL_U16, 2, true, false},
                                           {RT_TEXEL_S8, 1, true, false},
                                           {RT_TEXEL_S16, 2, true, false}};
    switch (format) {
    case CRT_FORMAT_U8:
        *element = (struct element){RT_TEXEL_U8, 1, false, false};
        return true;
    case CRT_FORMAT_U16:
        *element = (struct element){RT_TEXEL_U16, 2, false, false};
        return true;
    case CRT_FORMAT_U32:
        *element = (struct element){RT_TEXEL_U32, 4, false, false};
        return true;
    case CRT_FORMAT_S8:
        *element = (struct element){RT_TEXEL_S8, 1, false, false};
        return true;
    case CRT_FORMAT_S16:
        *element = (struct element){RT_TEXEL_S16, 2, false, false};
        return true;
    case CRT_FORMAT_S32:
        *element = (struct element){RT_TEXEL_S32, 4, false, false};
        return true;
    case CRT_FORMAT_HALF:
        *element = (struct element){RT_TEXEL_F16, 2, false, true};
        return true;
    case CRT_FORMAT_FLOAT:
        *element = (struct element){RT_TEXEL_F32, 4, false, true};
        return true;
    case CRT_FORMAT_UNORM_101010_2:
        *element = (struct element){RT_TEXEL_1010102, 1, true, false};
        return true;
    default:
        if (format < CRT_FORMAT_UNORM8X1 || format > CRT_FORMAT_SNORM16X4)
            return false;
        *element = fixed[(format - CRT_FORMAT_UNORM8X1) / 3];
        return true;
    }
}

static bool has_srgb(uint8_t texel)
{
    return texel <= RT_TEXEL_BC3 || texel == RT_TEXEL_BC7;
}

static void set_blocks(struct rt_texture *descriptor, uint8_t texel, unsigned flags)
{
    bool is_half = texel == RT_TEXEL_BC1 || texel == RT_TEXEL_BC4 || texel == RT_TEXEL_BC4_SIGNED;
    descriptor->texel = texel;
    descriptor->channels = 4;
    descriptor->elem_bytes = is_half ? 8 : 16;
    descriptor->gives_floats = true;
    descriptor->is_srgb = has_srgb(texel) && (flags & CRT_SAMPLING_SRGB);
}

static void set_array_blocks(struct rt_texture *descriptor, unsigned format, unsigned flags)
{
    static const uint8_t texels[] = {
        RT_TEXEL_BC1,  RT_TEXEL_BC1,         RT_TEXEL_BC2,        RT_TEXEL_BC2, RT_TEXEL_BC3,
        RT_TEXEL_BC3,  RT_TEXEL_BC4,         RT_TEXEL_BC4_SIGNED, RT_TEXEL_BC5, RT_TEXEL_BC5_SIGNED,
        RT_TEXEL_BC6H, RT_TEXEL_BC6H_SIGNED, RT_TEXEL_BC7,        RT_TEXEL_BC7};
    uint8_t texel = texels[format - CRT_FORMAT_BC1];
    bool is_srgb_format = has_srgb(texel) && (format - CRT_FORMAT_BC1) % 2 == 1;
    set_blocks(descriptor, texel, is_srgb_format ? flags | CRT_SAMPLING_SRGB : flags);
}

static enum crt_result set_format(struct rt_texture *descriptor, int format, unsigned channels,
                                  unsigned flags)
{
    struct element element;
    if (crt_format_is_blocks((unsigned)format)) {
        set_array_blocks(descriptor, (unsigned)format, flags);
        return CRT_SUCCESS;
    }
    if (!find_element(format, &element) || (channels != 1 && channels != 2 && channels != 4))
        return CRT_INVALID_VALUE;
    bool may_be_part = element.bytes < 4 && !(flags & CRT_SAMPLING_AS_INTEGER);
    descriptor->texel = element.texel;
    descriptor->channels = (uint8_t)channels;
    descriptor->elem_bytes = (uint8_t)(element.bytes * channels);
    descriptor->gives_floats = element.is_float || element.is_part || may_be_part;
    descriptor->is_srgb =
        (flags & CRT_SAMPLING_SRGB) && element.texel == RT_TEXEL_U8 && descriptor->gives_floats;
    return CRT_SUCCESS;
}

/* ---- images ---- */

static uint8_t kind_of(const struct crt_array_shape *shape)
{
    bool is_layered = shape->flags & CRT_ARRAY_LAYERED;
    if (shape->flags & CRT_ARRAY_CUBEMAP)
        return is_layered ? RT_TEXTURE_ACUBE : RT_TEXTURE_CUBE;
    if (is_layered)
        return shape->height ? RT_TEXTURE_A2D : RT_TEXTURE_A1D;
    return shape->depth ? RT_TEXTURE_3D : shape->height ? RT_TEXTURE_2D : RT_TEXTURE_1D;
}

static void set_level(struct rt_texture *descriptor, unsigned number, const struct crt_array *array)
{
    bool is_3d = descriptor->kind == RT_TEXTURE_3D;
    descriptor->levels[number] = (struct rt_texture_level){
        .base = array->base,
        .pitch_bytes = array->pitch_bytes,
        .slice_bytes = array->slice_bytes,
        .width = (uint32_t)array->shape.width,
        .height = array->shape.height ? (uint32_t)array->shape.height : 1,
        .depth = is_3d ? (uint32_t)array->slices : 1,
        .layers = is_3d ? 1 : (uint32_t)array->slices,
    };
}

static enum crt_result describe_array(const struct crt_array *array, unsigned flags,
                                      struct rt_texture *descriptor)
{
    if (!crt_array_is_valid(array))
        return CRT_INVALID_VALUE;
    descriptor->kind = kind_of(&array->shape);
    descriptor->level_count = 1;
    set_level(descriptor, 0, array);
    return set_format(descriptor, (int)array->shape.format, array->shape.channels, flags);
}

static enum crt_result describe_mipmap(const struct crt_mipmap *mipmap, unsigned flags,
                                       struct rt_texture *descriptor)
{
    if (!crt_mipmap_is_valid(mipmap) || mipmap->level_count > RT_TEXTURE_LEVELS_MAX)
        return CRT_INVALID_VALUE;
    descriptor->kind = kind_of(&mipmap->shape);
    descriptor->level_count = (uint8_t)mipmap->level_count;
    for (unsigned i = 0; i < mipmap->level_count; i++)
        set_level(descriptor, i, mipmap->levels[i]);
    return set_format(descriptor, (int)mipmap->shape.format, mipmap->shape.channels, flags);
}

static bool is_memory_aligned(const struct crt_context *ctx, uint64_t address)
{
    size_t align = limit_of(ctx, ATTRIBUTE_ALIGNMENT);
    return address && (align == 0 || address % align == 0);
}

static enum crt_result describe_linear(const struct crt_context *ctx,
                                       const struct crt_resource *resource, unsigned flags,
                                       struct rt_texture *descriptor)
{
    enum crt_result result = set_format(descriptor, resource->format, resource->channels, flags);
    if (result != CRT_SUCCESS)
        return result;
    size_t width = resource->size_bytes / descriptor->elem_bytes;
    if (!is_memory_aligned(ctx, resource->address) || width == 0 ||
        width > limit_of(ctx, ATTRIBUTE_LINEAR_WIDTH))
        return CRT_INVALID_VALUE;
    descriptor->kind = RT_TEXTURE_LINEAR;
    descriptor->level_count = 1;
    descriptor->levels[0] = (struct rt_texture_level){
        .base = resource->address, .width = (uint32_t)width, .height = 1, .depth = 1, .layers = 1};
    return CRT_SUCCESS;
}

static enum crt_result describe_pitch(const struct crt_context *ctx,
                                      const struct crt_resource *resource, unsigned flags,
                                      struct rt_texture *descriptor)
{
    size_t grain = limit_of(ctx, ATTRIBUTE_PITCH_ALIGNMENT);
    enum crt_result result = set_format(descriptor, resource->format, resource->channels, flags);
    if (result != CRT_SUCCESS)
        return result;
    if (!is_memory_aligned(ctx, resource->address) || resource->width == 0 ||
        resource->height == 0 || resource->width > limit_of(ctx, ATTRIBUTE_PITCH_WIDTH) ||
        resource->height > limit_of(ctx, ATTRIBUTE_PITCH_HEIGHT) ||
        resource->pitch_bytes > limit_of(ctx, ATTRIBUTE_PITCH_BYTES) ||
        (grain && resource->pitch_bytes % grain) ||
        resource->pitch_bytes < resource->width * descriptor->elem_bytes)
        return CRT_INVALID_VALUE;
    descriptor->kind = RT_TEXTURE_2D;
    descriptor->level_count = 1;
    descriptor->levels[0] = (struct rt_texture_level){
        .base = resource->address,
        .pitch_bytes = resource->pitch_bytes,
        .width = (uint32_t)resource->width,
        .height = (uint32_t)resource->height,
        .depth = 1,
        .layers = 1,
    };
    return CRT_SUCCESS;
}

static enum crt_result describe_image(const struct crt_context *ctx,
                                      const struct crt_resource *resource, unsigned flags,
                                      struct rt_texture *descriptor)
{
    if (resource->flags)
        return CRT_INVALID_VALUE;
    switch (resource->type) {
    case CRT_RESOURCE_ARRAY:
        return describe_array(resource->array, flags, descriptor);
    case CRT_RESOURCE_MIPMAP:
        return describe_mipmap(resource->mipmap, flags, descriptor);
    case CRT_RESOURCE_LINEAR:
        return describe_linear(ctx, resource, flags, descriptor);
    case CRT_RESOURCE_PITCH2D:
        return describe_pitch(ctx, resource, flags, descriptor);
    default:
        return CRT_INVALID_VALUE;
    }
}

/* ---- views ---- */

/* Formats in threes: of 1, 2 and 4 channels. */
static bool is_block_format(const struct crt_view *view)
{
    return view->format > VIEW_FORMATS && view->format <= VIEW_BC7;
}

/* "If the resource view format is a block compressed format, then the format of the array has to be
 * CU_AD_FORMAT_UNSIGNED_INT32", with two channels for BC1 and BC4, with four for the others; sizes
 * are four times the array's. An array of this very format can be looked at, too. */
static enum crt_result view_blocks(const struct crt_view *view, unsigned flags,
                                   struct rt_texture *descriptor)
{
    uint8_t texel = (uint8_t)(RT_TEXEL_BC1 + view->format - VIEW_FORMATS - 1);
    uint32_t dimensions = rt_texture_dimensions(descriptor->kind);
    unsigned bytes = descriptor->elem_bytes;
    if (descriptor->texel == texel)
        return CRT_SUCCESS;
    if (descriptor->texel != RT_TEXEL_U32 || dimensions < 2)
        return CRT_INVALID_VALUE;
    set_blocks(descriptor, texel, flags);
    if (descriptor->elem_bytes != bytes)
        return CRT_INVALID_VALUE;
    for (unsigned i = 0; i < descriptor->level_count; i++) {
        uint32_t width = (uint32_t)(view->width >> (view->first_level + i));
        uint32_t height = (uint32_t)(view->height >> (view->first_level + i));
        descriptor->levels[i].width = width ? width : 1;
        descriptor->levels[i].height = height ? height : 1;
    }
    return CRT_SUCCESS;
}

static enum crt_result view_format(const struct crt_view *view, unsigned flags,
                                   struct rt_texture *descriptor)
{
    static const int formats[] = {CRT_FORMAT_U8,   CRT_FORMAT_S8,   CRT_FORMAT_U16,
                                  CRT_FORMAT_S16,  CRT_FORMAT_U32,  CRT_FORMAT_S32,
                                  CRT_FORMAT_HALF, CRT_FORMAT_FLOAT};
    unsigned bytes = descriptor->elem_bytes;
    if (view->format == 0)
        return CRT_SUCCESS;
    if (is_block_format(view))
        return view_blocks(view, flags, descriptor);
    if (view->format < 0 || view->format > VIEW_BC7)
        return CRT_INVALID_VALUE;
    int index = view->format - 1;
    enum crt_result result = set_format(descriptor, formats[index / 3], 1u << index % 3, flags);
    if (result != CRT_SUCCESS)
        return result;
    return descriptor->elem_bytes == bytes ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

static bool has_view_size(const struct crt_view *view, const struct rt_texture *descriptor)
{
    const struct rt_texture_level *level = &descriptor->levels[0];
    uint32_t dimensions = rt_texture_dimensions(descriptor->kind);
    uint32_t depth = dimensions == 3 ? level->depth : level->layers;
    bool is_of_elements = is_block_format(view) && descriptor->texel < RT_TEXEL_BC1;
    size_t factor = is_of_elements ? CRT_ARRAY_BLOCK_SIDE : 1;
    return view->width == factor * level->width &&
           (dimensions < 2 || view->height == factor * level->height) &&
           (dimensions < 3 || view->depth == depth);
}

static enum crt_result apply_view(const struct crt_view *view, unsigned flags,
                                  struct rt_texture *descriptor)
{
    uint32_t layers = descriptor->levels[0].layers;
    if (!has_view_size(view, descriptor) || view->last_level < view->first_level ||
        view->last_level >= descriptor->level_count || view->last_layer < view->first_layer ||
        view->last_layer >= layers)
        return CRT_INVALID_VALUE;
    uint8_t count = (uint8_t)(view->last_level - view->first_level + 1);
    memmove(descriptor->levels, descriptor->levels + view->first_level,
            count * sizeof descriptor->levels[0]);
    descriptor->level_count = count;
    bool has_layers = rt_texture_is_layered(descriptor->kind);
    for (unsigned i = 0; i < count && has_layers; i++) {
        struct rt_texture_level *level = &descriptor->levels[i];
        level->base += view->first_layer * level->slice_bytes;
        level->layers = view->last_layer - view->first_layer + 1;
    }
    return view_format(view, flags, descriptor);
}

/* ---- sampling ---- */

static bool is_filter(int filter)
{
    return filter == 0 || filter == 1;
}

static enum crt_result apply_sampling(const struct crt_sampling *sampling,
                                      struct rt_texture *descriptor)
{
    if ((sampling->flags & ~KNOWN_FLAGS) || !is_filter(sampling->filter) ||
        !is_filter(sampling->mip_filter))
        return CRT_INVALID_VALUE;
    for (int i = 0; i < 3; i++) {
        if (sampling->address[i] < 0 || sampling->address[i] >= RT_TEXTURE_ADDRESSES)
            return CRT_INVALID_VALUE;
        descriptor->address[i] = (uint8_t)sampling->address[i];
    }
    descriptor->is_normalised = sampling->flags & CRT_SAMPLING_NORMALISED;
    descriptor->is_linear = sampling->filter;
    descriptor->is_mip_linear = sampling->mip_filter;
    descriptor->is_seamless = sampling->flags & CRT_SAMPLING_SEAMLESS;
    descriptor->lod_bias = sampling->lod_bias;
    descriptor->lod_min = sampling->lod_min;
    descriptor->lod_max = sampling->lod_max;
    memcpy(descriptor->border, sampling->border, sizeof descriptor->border);
    if (descriptor->kind == RT_TEXTURE_LINEAR)
        return CRT_SUCCESS; /* "ignored if … CU_RESOURCE_TYPE_LINEAR" */
    /* Levels need normalised coordinates. A filter would need floats: integers are read without. */
    if (descriptor->level_count > 1 && !descriptor->is_normalised)
        return CRT_INVALID_VALUE;
    return CRT_SUCCESS;
}

enum crt_result crt_texture_describe(const struct crt_context *ctx,
                                     const struct crt_resource *resource,
                                     const struct crt_sampling *sampling,
                                     const struct crt_view *view, struct rt_texture *descriptor)
{
    static const struct crt_sampling plain = {.flags = CRT_SAMPLING_AS_INTEGER};
    bool is_array = resource->type == CRT_RESOURCE_ARRAY || resource->type == CRT_RESOURCE_MIPMAP;
    unsigned flags = sampling ? sampling->flags : plain.flags;
    *descriptor = (struct rt_texture){0};
    if (view && !is_array)
        return CRT_INVALID_VALUE;
    enum crt_result result = describe_image(ctx, resource, flags, descriptor);
    if (result == CRT_SUCCESS && view)
        result = apply_view(view, flags, descriptor);
    if (result == CRT_SUCCESS)
        result = apply_sampling(sampling ? sampling : &plain, descriptor);
    descriptor->mark = sampling ? RT_TEXTURE_MARK : RT_SURFACE_MARK;
    return result;
}
