/* SPDX-License-Identifier: Apache-2.0
 *
 * Fetches from textures of a known shape: texture.c for one shape, bit for bit, in a form of which
 * loops over vectors of threads can be made: no branches on data. All that depends on the shape
 * folds away. Indices are inside before anything is read; the border takes the place of what was.
 */
#include "translator/rt/sampler.h"
#include "kernel_abi/image_shape.h"

#define CHANNELS      4
#define FRACTION_BITS 8 /* as in texture.c */
#define FRACTION_ONE  (1 << FRACTION_BITS)
#define FRACTION_MASK (FRACTION_ONE - 1)
#define FAR           0x1p22f
#define ONE_BITS      0x3f800000u
/* 1 / 255 in two parts: the product with a byte, rounded once, is the quotient. */
#define PART_HIGH 0x1.010102p-8f
#define PART_LOW  -0x1.fdfdfep-33f

/* A value whose channels are function(0, …) and so on. No loop, as nothing unrolls those of
 * helpers. */
#define VALUE_OF(function, ...)                                                                    \
    ((struct value){{function(0, __VA_ARGS__), function(1, __VA_ARGS__), function(2, __VA_ARGS__), \
                     function(3, __VA_ARGS__)}})

/* An image along one dimension. */
struct axis {
    float at;      /* the coordinate … */
    int32_t index; /* … or this */
    int32_t size;
};

/* An element's place along one dimension. */
struct place {
    int32_t index;
    bool is_inside;
};

struct span {
    struct place place[2];
    float weight; /* of the second */
};

struct value {
    uint32_t bits[CHANNELS];
};

static inline float float_of(uint32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float make_finite(float value)
{
    float number = value != value ? 0.0f : value;
    float below = number > FAR ? FAR : number;
    return below < -FAR ? -FAR : below;
}

static inline float fraction(float value)
{
    float part = value - __builtin_floorf(value);
    return part != part ? 0.0f : part;
}

/* ---- along one dimension ---- */

static inline uint32_t address_mode(uint32_t shape, uint32_t is_float)
{
    uint32_t mode = rt_shape_address(shape);
    bool needs_normalised = mode == RT_TEXTURE_WRAP || mode == RT_TEXTURE_MIRROR;
    bool is_normalised = (shape & RT_SHAPE_IS_NORMALISED) && is_float;
    return needs_normalised && !is_normalised ? RT_TEXTURE_CLAMP : mode;
}

/* The coordinate in elements. */
static inline float scale(uint32_t shape, uint32_t mode, const struct axis *axis)
{
    float at = axis->at;
    if (mode == RT_TEXTURE_WRAP)
        at = fraction(at);
    if (mode == RT_TEXTURE_MIRROR) {
        float part = fraction(at);
        float back = 1.0f - part;
        at = fraction(__builtin_floorf(at) * 0.5f) != 0.0f ? back : part;
    }
    return shape & RT_SHAPE_IS_NORMALISED ? at * (float)axis->size : at;
}

static inline int32_t clamp(int32_t index, int32_t size)
{
    int32_t below = index < 0 ? 0 : index;
    return below < size ? below : size - 1;
}

/* What is wrapped is at most one step outside: the coordinate was a part of 1. */
static inline struct place place_index(int32_t index, int32_t size, uint32_t mode)
{
    if (mode == RT_TEXTURE_WRAP) {
        int32_t first = index < 0 ? size - 1 : index;
        return (struct place){first >= size ? first - size : first, true};
    }
    bool is_inside = (uint32_t)index < (uint32_t)size;
    return (struct place){clamp(index, size), mode != RT_TEXTURE_BORDER || is_inside};
}

/* Clamped as a float, which also makes 0 of what is no number; the float's integer part is its
 * floor then. */
static inline struct place nearest(uint32_t shape, uint32_t mode, const struct axis *axis)
{
    float at = scale(shape, mode, axis);
    if (mode == RT_TEXTURE_WRAP) {
        int32_t index = (int32_t)at;
        return (struct place){index >= axis->size ? 0 : index, true};
    }
    float last = (float)(axis->size - 1);
    bool is_outside = at < 0.0f || at >= (float)axis->size;
    float first = at > 0.0f ? at : 0.0f;
    float clamped = first < last ? first : last;
    return (struct place){(int32_t)clamped, mode != RT_TEXTURE_BORDER || !is_outside};
}

static inline struct place find_place(uint32_t shape, uint32_t is_float, const struct axis *axis)
{
    uint32_t mode = address_mode(shape, is_float);
    if (!is_float)
        return place_index(axis->index, axis->size, mode);
    return nearest(shape, mode, axis);
}

static inline struct span find_span(uint32_t shape, const struct axis *axis)
{
    uint32_t mode = address_mode(shape, 1);
    float at = make_finite(scale(shape, mode, axis));
    int32_t fixed = (int32_t)__builtin_rintf(at * FRACTION_ONE) - FRACTION_ONE / 2;
    int32_t first = fixed >> FRACTION_BITS;
    return (struct span){
        {place_index(first, axis->size, mode), place_index(first + 1, axis->size, mode)},
        (float)(fixed & FRACTION_MASK) / FRACTION_ONE,
    };
}

/* ---- elements ---- */

static inline uint32_t channel_bytes(uint32_t shape)
{
    return rt_shape_format(shape) >= RT_SHAPE_PARTS ? 1 : 4;
}

static inline float part_of_one(uint32_t byte)
{
    float number = (float)(int32_t)byte;
    return __builtin_fmaf(number, PART_HIGH, number * PART_LOW);
}

/* All bytes of an element at once. Without noise from aliasing: memory is bytes. */
static inline uint32_t read_bytes(const uint8_t *at, uint32_t count)
{
    uint16_t two;
    uint32_t four;
    if (count == 1)
        return *at;
    if (count == 2) {
        __builtin_memcpy(&two, __builtin_assume_aligned(at, sizeof two), sizeof two);
        return two;
    }
    __builtin_memcpy(&four, __builtin_assume_aligned(at, sizeof four), sizeof four);
    return four;
}

/* Channels that an image does not have are 0, the fourth is 1. */
static inline uint32_t read_channel(uint32_t i, uint32_t shape, const uint8_t *at, uint32_t bytes)
{
    uint32_t format = rt_shape_format(shape);
    bool gives_floats = format == RT_SHAPE_F32 || format == RT_SHAPE_PARTS;
    uint32_t byte = bytes >> 8 * i & 0xff;
    if (i >= rt_shape_channels(shape))
        return i < CHANNELS - 1 ? 0 : gives_floats ? ONE_BITS : 1;
    return format == RT_SHAPE_PARTS   ? bits_of(part_of_one(byte))
           : format == RT_SHAPE_BYTES ? byte
                                      : read_bytes(at + 4 * i, 4);
}

static inline struct value read_element(uint32_t shape, const uint8_t *at)
{
    uint32_t bytes = channel_bytes(shape) == 1 ? read_bytes(at, rt_shape_channels(shape)) : 0;
    return VALUE_OF(read_channel, shape, at, bytes);
}

static inline uint32_t channel_inside(uint32_t i, bool is_inside, const struct value *value,
                                      const float *border)
{
    return is_inside ? value->bits[i] : bits_of(border[i]);
}

/* Offsets are computed without a sign, so that nobody takes the sum apart for 64 bits: gathers have
 * an index of 32. */
static inline struct value read_place(const struct rt_texture *texture, uint32_t shape,
                                      struct place x, struct place y)
{
    const struct rt_texture_level *level = &texture->levels[0];
    uint32_t bytes = channel_bytes(shape) * rt_shape_channels(shape);
    uint32_t offset = (uint32_t)x.index * bytes;
    if (rt_shape_kind(shape) == RT_TEXTURE_2D)
        offset += (uint32_t)y.index * (uint32_t)level->pitch_bytes;
    const uint8_t *at = (const uint8_t *)(uintptr_t)level->base + (int32_t)offset;
    struct value value = read_element(shape, at);
    bool is_inside = x.is_inside && y.is_inside;
    return VALUE_OF(channel_inside, is_inside, &value, texture->border);
}

/* ---- fetches ---- */

static inline uint32_t add_channel(uint32_t i, const struct value *sum, const struct value *corner,
                                   float weight)
{
    float more = float_of(sum->bits[i]) + weight * float_of(corner->bits[i]);
    return weight != 0.0f ? bits_of(more) : sum->bits[i];
}

/* A corner's weight is the product of those of its sides, of which it is the first or the second.
 */
static inline float weight_of(const struct span *span, uint32_t side)
{
    return side ? span->weight : 1.0f - span->weight;
}

static inline struct value add_corner(struct value sum, const struct rt_texture *texture,
                                      uint32_t shape, const struct span spans[2], uint32_t x,
                                      uint32_t y)
{
    float weight = weight_of(&spans[0], x);
    if (rt_shape_kind(shape) == RT_TEXTURE_2D)
        weight *= weight_of(&spans[1], y);
    struct value corner = read_place(texture, shape, spans[0].place[x], spans[1].place[y]);
    return VALUE_OF(add_channel, &sum, &corner, weight);
}

static inline struct value blend(const struct rt_texture *texture, uint32_t shape,
                                 const struct axis axes[2])
{
    bool is_2d = rt_shape_kind(shape) == RT_TEXTURE_2D;
    struct span spans[2] = {find_span(shape, &axes[0]), {{{0, true}, {0, true}}, 0.0f}};
    struct value sum = {{0}};
    if (is_2d)
        spans[1] = find_span(shape, &axes[1]);
    sum = add_corner(sum, texture, shape, spans, 0, 0);
    sum = add_corner(sum, texture, shape, spans, 1, 0);
    if (!is_2d)
        return sum;
    sum = add_corner(sum, texture, shape, spans, 0, 1);
    return add_corner(sum, texture, shape, spans, 1, 1);
}

/* Linear memory has no address modes: what lies outside of it reads as 0. */
static inline struct value read_linear(const struct rt_texture *texture, uint32_t shape,
                                       const struct axis *axis)
{
    static const float nothing[CHANNELS] = {0};
    bool is_inside = (uint32_t)axis->index < (uint32_t)axis->size;
    struct value value =
        read_place(texture, shape, (struct place){clamp(axis->index, axis->size), true},
                   (struct place){0, true});
    return VALUE_OF(channel_inside, is_inside, &value, nothing);
}

static inline struct value fetch(const struct rt_texture *texture, uint32_t shape,
                                 uint32_t is_float, const struct axis axes[2])
{
    if (rt_shape_kind(shape) == RT_TEXTURE_LINEAR)
        return read_linear(texture, shape, &axes[0]);
    if ((shape & RT_SHAPE_IS_LINEAR) && is_float)
        return blend(texture, shape, axes);
    struct place y = {0, true};
    if (rt_shape_kind(shape) == RT_TEXTURE_2D)
        y = find_place(shape, is_float, &axes[1]);
    return read_place(texture, shape, find_place(shape, is_float, &axes[0]), y);
}

unsigned __int128 rt_sample_shape(uint64_t texture, uint32_t shape, uint32_t is_float, uint64_t c01)
{
    const struct rt_texture *image =
        (const struct rt_texture *)(uintptr_t)rt_handle_address(texture);
    const struct rt_texture_level *level = &image->levels[0];
    const struct axis axes[2] = {
        {float_of((uint32_t)c01), (int32_t)(uint32_t)c01, (int32_t)level->width},
        {float_of((uint32_t)(c01 >> 32)), (int32_t)(c01 >> 32), (int32_t)level->height},
    };
    struct value value = fetch(image, shape, is_float, axes);
    uint64_t low = (uint64_t)value.bits[1] << 32 | value.bits[0];
    uint64_t high = (uint64_t)value.bits[3] << 32 | value.bits[2];
    return (unsigned __int128)high << 64 | low;
}
