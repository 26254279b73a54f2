/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA arrays: shapes, their limits, and the memory behind them.
 */
#include "cudart/core/memory/array.h"

#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/base/device.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/memory.h"
#include "cudart/core/memory/planar.h"
#include "cudart/core/streams/context.h"

#define PITCH_ALIGN    64
#define FACES          6
#define KNOWN_FLAGS    0x1ffu
#define REFUSED_FLAGS  (CRT_ARRAY_SPARSE | CRT_ARRAY_DEFERRED)
#define CHANNELS_OF(n) (1u << (n) % 3) /* of normalised formats: 1, 2, 4, 1, 2, 4 */

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_array *arrays;
    struct crt_mipmap *mipmaps;
} live = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Bytes of one channel of the formats that leave the number of channels open; 0 for others. */
static unsigned channel_bytes(unsigned format)
{
    switch (format) {
    case CRT_FORMAT_U8:
    case CRT_FORMAT_S8:
        return 1;
    case CRT_FORMAT_U16:
    case CRT_FORMAT_S16:
    case CRT_FORMAT_HALF:
        return 2;
    case CRT_FORMAT_U32:
    case CRT_FORMAT_S32:
    case CRT_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

bool crt_format_is_blocks(unsigned format)
{
    return format >= CRT_FORMAT_BC1 && format <= CRT_FORMAT_BC7_SRGB;
}

/* YUY2, Y210, Y216, AYUV, Y410 and Y416. */
static bool is_packed_format(unsigned format)
{
    return (format >= 0xa5 && format <= 0xa9) || format == 0xb1;
}

/* Of a block: 4 bits for each texel in BC1 and BC4, 8 in the others. */
static unsigned block_bytes(unsigned format)
{
    unsigned number = (format - CRT_FORMAT_BC1) / 2;
    return number == 0 || number == 3 ? 8 : 16;
}

static enum crt_result find_elem_bytes(const struct crt_array_shape *shape, unsigned *elem_bytes)
{
    unsigned format = shape->format;
    unsigned channels = shape->channels;
    if (channel_bytes(format)) {
        *elem_bytes = channel_bytes(format) * channels;
        return channels == 1 || channels == 2 || channels == 4 ? CRT_SUCCESS : CRT_INVALID_VALUE;
    }
    if (format == CRT_FORMAT_UNORM_101010_2) {
        *elem_bytes = 4;
        return channels == 4 ? CRT_SUCCESS : CRT_INVALID_VALUE;
    }
    if (format >= CRT_FORMAT_UNORM8X1 && format <= CRT_FORMAT_SNORM16X4) {
        unsigned index = (format - CRT_FORMAT_UNORM8X1) % 6;
        *elem_bytes = CHANNELS_OF(index) * (index < 3 ? 1 : 2);
        return channels == CHANNELS_OF(index) ? CRT_SUCCESS : CRT_INVALID_VALUE;
    }
    if (crt_format_is_blocks(format)) {
        *elem_bytes = block_bytes(format);
        return shape->height && channels >= 1 && channels <= 4 ? CRT_SUCCESS : CRT_INVALID_VALUE;
    }
    if (is_packed_format(format))
        return crt_not_supported("arrays of packed pictures");
    const struct crt_planar *planar = crt_planar_of(format);
    if (!planar)
        return CRT_INVALID_VALUE;
    *elem_bytes = channel_bytes(planar->channel_format);
    return channels == 3 ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

/* The device attributes that limit width, height and depth of a kind of array, with and without
 * surfaces; 0: the array has no such extent. */
struct limits {
    int texture[3];
    int surface[3];
};

static const struct limits linear_1d = {{21, 0, 0}, {55, 0, 0}};
static const struct limits plane_2d = {{22, 23, 0}, {56, 57, 0}};
static const struct limits volume_3d = {{24, 25, 26}, {58, 59, 60}};
static const struct limits gather_2d = {{45, 46, 0}, {45, 46, 0}};
static const struct limits layered_1d = {{42, 0, 43}, {61, 0, 62}};
static const struct limits layered_2d = {{27, 28, 29}, {63, 64, 65}};
static const struct limits cube = {{52, 52, 0}, {66, 66, 0}};
static const struct limits layered_cube = {{53, 53, 54}, {67, 67, 68}};
static const struct limits mipmapped_1d = {{77, 0, 0}, {55, 0, 0}};
static const struct limits mipmapped_2d = {{73, 74, 0}, {56, 57, 0}};

static const struct limits *limits_of(const struct crt_array_shape *shape, bool is_mipmapped)
{
    bool is_layered = shape->flags & CRT_ARRAY_LAYERED;
    if (shape->flags & CRT_ARRAY_CUBEMAP)
        return is_layered ? &layered_cube : &cube;
    if (is_layered)
        return shape->height ? &layered_2d : &layered_1d;
    if (shape->depth)
        return &volume_3d;
    if (shape->flags & CRT_ARRAY_GATHER)
        return &gather_2d;
    if (shape->height)
        return is_mipmapped ? &mipmapped_2d : &plane_2d;
    return is_mipmapped ? &mipmapped_1d : &linear_1d;
}

static bool is_within(const struct crt_device *device, const struct crt_array_shape *shape,
                      bool is_mipmapped)
{
    const struct limits *limits = limits_of(shape, is_mipmapped);
    const size_t extents[3] = {shape->width, shape->height, shape->depth};
    for (int i = 0; i < 3; i++) {
        int limit = 0;
        int attribute = shape->flags & CRT_ARRAY_SURFACE ? limits->surface[i] : limits->texture[i];
        if (attribute && crt_device_attribute(device, attribute, &limit) == CRT_SUCCESS &&
            extents[i] > (size_t)limit)
            return false;
    }
    return true;
}

static bool is_cube(const struct crt_array_shape *shape)
{
    bool is_layered = shape->flags & CRT_ARRAY_LAYERED;
    return shape->width == shape->height && shape->depth &&
           (is_layered ? shape->depth % FACES == 0 : shape->depth == FACES);
}

/* Whether a planar array can have this shape. */
static bool is_picture(const struct crt_planar *planar, const struct crt_array_shape *shape)
{
    bool is_plain = !(shape->flags & (CRT_ARRAY_LAYERED | CRT_ARRAY_CUBEMAP | CRT_ARRAY_GATHER));
    return is_plain && shape->height && !shape->depth &&
           !(planar->is_half_wide && shape->width % 2) &&
           !(planar->is_half_high && shape->height % 2);
}

static enum crt_result check_shape(const struct crt_context *ctx,
                                   const struct crt_array_shape *shape, bool is_mipmapped)
{
    bool is_layered = shape->flags & CRT_ARRAY_LAYERED;
    if ((shape->flags & ~KNOWN_FLAGS) || shape->width == 0)
        return CRT_INVALID_VALUE;
    if (is_layered && shape->depth == 0)
        return CRT_INVALID_VALUE;
    if (!is_layered && shape->depth && shape->height == 0)
        return CRT_INVALID_VALUE;
    /* "Texture gather can only be performed on 2D CUDA arrays." */
    if ((shape->flags & CRT_ARRAY_GATHER) && (shape->height == 0 || shape->depth))
        return CRT_INVALID_VALUE;
    if ((shape->flags & CRT_ARRAY_CUBEMAP) && !is_cube(shape))
        return CRT_INVALID_VALUE;
    if (!is_within(ctx->device, shape, is_mipmapped))
        return CRT_INVALID_VALUE;
    const struct crt_planar *planar = crt_planar_of(shape->format);
    if (planar && (is_mipmapped || !is_picture(planar, shape)))
        return CRT_INVALID_VALUE;
    if (shape->flags & REFUSED_FLAGS)
        return crt_not_supported("sparse arrays and arrays mapped later");
    return CRT_SUCCESS;
}

/* How many elements there are, and how far apart rows and slices. */
static void set_extents(struct crt_array *array)
{
    const struct crt_array_shape *shape = &array->shape;
    const struct crt_planar *planar = crt_planar_of(shape->format);
    unsigned side = crt_format_is_blocks(shape->format) ? CRT_ARRAY_BLOCK_SIDE : 1;
    array->block_side = side;
    array->columns = (shape->width + side - 1) / side;
    array->rows = shape->height ? (shape->height + side - 1) / side : 1;
    array->slices = shape->depth ? shape->depth : 1;
    for (unsigned i = 1; planar && i < planar->planes; i++) {
        struct crt_array_shape plane = crt_planar_shape(planar, shape, i);
        array->rows += plane.height;
        if (plane.width * plane.channels > array->columns)
            array->columns = plane.width * plane.channels;
    }
    size_t row_bytes = array->columns * array->elem_bytes;
    array->pitch_bytes = (row_bytes + PITCH_ALIGN - 1) & ~(size_t)(PITCH_ALIGN - 1);
    array->slice_bytes = array->pitch_bytes * array->rows;
}

/* The planes share the memory and the distance of rows. */
static enum crt_result add_planes(struct crt_array *whole)
{
    const struct crt_planar *planar = crt_planar_of(whole->shape.format);
    uintptr_t base = whole->base;
    for (unsigned i = 0; planar && i < planar->planes; i++) {
        struct crt_array *plane = crt_object_create(CRT_KIND_ARRAY, sizeof *plane);
        if (!plane)
            return CRT_OUT_OF_MEMORY;
        plane->ctx = whole->ctx;
        plane->shape = crt_planar_shape(planar, &whole->shape, i);
        plane->elem_bytes = whole->elem_bytes * plane->shape.channels;
        set_extents(plane);
        plane->base = base;
        plane->pitch_bytes = whole->pitch_bytes;
        plane->slice_bytes = whole->pitch_bytes * plane->rows;
        plane->whole = whole;
        base += plane->slice_bytes;
        whole->planes[i] = plane;
    }
    return CRT_SUCCESS;
}

static void end_array(struct crt_array *array)
{
    for (unsigned i = 0; i < CRT_ARRAY_PLANES_MAX; i++)
        if (array->planes[i])
            crt_object_destroy(CRT_KIND_ARRAY, array->planes[i]);
    if (array->base)
        crt_arena_free(array->base, CRT_MEMORY_ARRAY);
    crt_object_destroy(CRT_KIND_ARRAY, array);
}

/* The array without its place in a list. */
static enum crt_result make_array(struct crt_context *ctx, const struct crt_array_shape *shape,
                                  struct crt_array **made)
{
    unsigned elem_bytes;
    enum crt_result result = find_elem_bytes(shape, &elem_bytes);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_array *array = crt_object_create(CRT_KIND_ARRAY, sizeof *array);
    if (!array)
        return CRT_OUT_OF_MEMORY;
    array->ctx = ctx;
    array->shape = *shape;
    array->elem_bytes = elem_bytes;
    set_extents(array);
    result = crt_memory_alloc(ctx, array->slice_bytes * array->slices, CRT_MEMORY_ARRAY, 0,
                              &array->base);
    if (result == CRT_SUCCESS)
        result = add_planes(array);
    if (result == CRT_SUCCESS)
        *made = array;
    else
        end_array(array);
    return result;
}

enum crt_result crt_array_create(struct crt_context *ctx, const struct crt_array_shape *shape,
                                 struct crt_array **array)
{
    struct crt_array *made;
    enum crt_result result = check_shape(ctx, shape, false);
    if (result == CRT_SUCCESS)
        result = make_array(ctx, shape, &made);
    if (result != CRT_SUCCESS)
        return result;
    pthread_mutex_lock(&live.lock);
    DL_APPEND(live.arrays, made);
    pthread_mutex_unlock(&live.lock);
    *array = made;
    return CRT_SUCCESS;
}

enum crt_result crt_array_destroy(struct crt_array *array)
{
    if (!crt_array_is_valid(array) || array->mipmap || array->whole)
        return CRT_INVALID_HANDLE;
    enum crt_result result = crt_context_wait(array->ctx);
    if (result == CRT_NOT_PERMITTED)
        return result;
    pthread_mutex_lock(&live.lock);
    DL_DELETE(live.arrays, array);
    pthread_mutex_unlock(&live.lock);
    end_array(array);
    return result;
}

/* "The maximum number of levels is 1 + floor(log2(max(width, height, depth)))", layers and faces
 * not counted. */
static unsigned max_levels(const struct crt_array_shape *shape)
{
    size_t longest = shape->width > shape->height ? shape->width : shape->height;
    if (!(shape->flags & (CRT_ARRAY_LAYERED | CRT_ARRAY_CUBEMAP)) && shape->depth > longest)
        longest = shape->depth;
    unsigned levels = 1;
    while (longest >>= 1)
        levels++;
    return levels;
}

static size_t halve(size_t extent)
{
    return extent > 1 ? extent / 2 : extent;
}

static void end_mipmap(struct crt_mipmap *mipmap)
{
    for (unsigned i = 0; i < mipmap->level_count; i++)
        if (mipmap->levels[i])
            end_array(mipmap->levels[i]);
    free(mipmap->levels);
    crt_object_destroy(CRT_KIND_MIPMAP, mipmap);
}

static enum crt_result make_levels(struct crt_mipmap *mipmap)
{
    struct crt_array_shape shape = mipmap->shape;
    for (unsigned i = 0; i < mipmap->level_count; i++) {
        enum crt_result result = make_array(mipmap->ctx, &shape, &mipmap->levels[i]);
        if (result != CRT_SUCCESS)
            return result;
        mipmap->levels[i]->mipmap = mipmap;
        shape.width = halve(shape.width);
        shape.height = halve(shape.height);
        if (!(shape.flags & (CRT_ARRAY_LAYERED | CRT_ARRAY_CUBEMAP)))
            shape.depth = halve(shape.depth);
    }
    return CRT_SUCCESS;
}

enum crt_result crt_mipmap_create(struct crt_context *ctx, const struct crt_array_shape *shape,
                                  unsigned level_count, struct crt_mipmap **mipmap)
{
    enum crt_result result = check_shape(ctx, shape, true);
    if (result != CRT_SUCCESS)
        return result;
    if (level_count > max_levels(shape))
        level_count = max_levels(shape);
    if (level_count == 0)
        level_count = 1;
    struct crt_mipmap *made = crt_object_create(CRT_KIND_MIPMAP, sizeof *made);
    if (!made)
        return CRT_OUT_OF_MEMORY;
    made->ctx = ctx;
    made->shape = *shape;
    made->levels = calloc(level_count, sizeof(struct crt_array *));
    made->level_count = made->levels ? level_count : 0;
    result = made->levels ? make_levels(made) : CRT_OUT_OF_MEMORY;
    if (result != CRT_SUCCESS) {
        end_mipmap(made);
        return result;
    }
    pthread_mutex_lock(&live.lock);
    DL_APPEND(live.mipmaps, made);
    pthread_mutex_unlock(&live.lock);
    *mipmap = made;
    return CRT_SUCCESS;
}

enum crt_result crt_mipmap_destroy(struct crt_mipmap *mipmap)
{
    if (!crt_mipmap_is_valid(mipmap))
        return CRT_INVALID_HANDLE;
    enum crt_result result = crt_context_wait(mipmap->ctx);
    if (result == CRT_NOT_PERMITTED)
        return result;
    pthread_mutex_lock(&live.lock);
    DL_DELETE(live.mipmaps, mipmap);
    pthread_mutex_unlock(&live.lock);
    end_mipmap(mipmap);
    return result;
}

void crt_array_destroy_all(const struct crt_context *ctx)
{
    struct crt_array *array;
    struct crt_array *next_array;
    struct crt_mipmap *mipmap;
    struct crt_mipmap *next_mipmap;
    pthread_mutex_lock(&live.lock);
    DL_FOREACH_SAFE(live.arrays, array, next_array)
    {
        if (array->ctx == ctx) {
            DL_DELETE(live.arrays, array);
            end_array(array);
        }
    }
    DL_FOREACH_SAFE(live.mipmaps, mipmap, next_mipmap)
    {
        if (mipmap->ctx == ctx) {
            DL_DELETE(live.mipmaps, mipmap);
            end_mipmap(mipmap);
        }
    }
    pthread_mutex_unlock(&live.lock);
}

bool crt_array_is_valid(const struct crt_array *array)
{
    return crt_object_is(array, CRT_KIND_ARRAY);
}

bool crt_mipmap_is_valid(const struct crt_mipmap *mipmap)
{
    return crt_object_is(mipmap, CRT_KIND_MIPMAP);
}
