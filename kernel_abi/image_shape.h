/* SPDX-License-Identifier: Apache-2.0
 *
 * The shape of a texture: all that decides how a fetch from it is computed, but no address and no
 * size. Handles carry it above the descriptor's address, so that it is a fact of a launch which
 * parameters hold textures of which shape, and the code of a fetch can be made for it. A handle
 * without a shape is as good: its fetches read the descriptor.
 *
 *     63…60 RT_SHAPE_TAG   59 58 format   57 56 log2 of the channels   55…53 kind   52 51 address
 *     50 normalised coordinates   49 linear filter   48 zero
 */
#ifndef PTXRUN_KERNEL_ABI_IMAGE_SHAPE_H
#define PTXRUN_KERNEL_ABI_IMAGE_SHAPE_H

#include "kernel_abi/texture.h"

#define RT_HANDLE_ADDRESS_BITS 48
#define RT_HANDLE_ADDRESS_MASK ((UINT64_C(1) << RT_HANDLE_ADDRESS_BITS) - 1)

#define RT_SHAPE_TAG           10u /* no address has it, and no small integer, negative or not */
#define RT_SHAPE_TAG_SHIFT     12
#define RT_SHAPE_FORMAT_SHIFT  10
#define RT_SHAPE_COUNT_SHIFT   8
#define RT_SHAPE_KIND_SHIFT    5
#define RT_SHAPE_ADDRESS_SHIFT 3
#define RT_SHAPE_IS_NORMALISED 4u
#define RT_SHAPE_IS_LINEAR     2u
#define RT_SHAPE_IS_ZERO       1u

/* Offsets in images that have a shape are numbers of 31 bits. */
#define RT_SHAPE_MAX_BYTES INT32_MAX
/* Their sizes and the numbers between are exact as floats, and make_finite changes none. */
#define RT_SHAPE_MAX_SIDE (UINT32_C(1) << 22)

enum rt_shape_format {
    RT_SHAPE_F32,
    RT_SHAPE_WORD,  /* integers of 32 bits */
    RT_SHAPE_PARTS, /* bytes as parts of 1 */
    RT_SHAPE_BYTES  /* bytes as integers */
};

static inline uint64_t rt_handle_address(uint64_t handle)
{
    return handle & RT_HANDLE_ADDRESS_MASK;
}

static inline uint32_t rt_handle_shape(uint64_t handle)
{
    return (uint32_t)(handle >> RT_HANDLE_ADDRESS_BITS);
}

static inline uint32_t rt_shape_format(uint32_t shape)
{
    return shape >> RT_SHAPE_FORMAT_SHIFT & 3;
}

static inline uint32_t rt_shape_channels(uint32_t shape)
{
    return 1u << (shape >> RT_SHAPE_COUNT_SHIFT & 3);
}

static inline uint32_t rt_shape_kind(uint32_t shape)
{
    return shape >> RT_SHAPE_KIND_SHIFT & 7;
}

static inline uint32_t rt_shape_address(uint32_t shape)
{
    return shape >> RT_SHAPE_ADDRESS_SHIFT & 3;
}

/* Whether these are the upper bits of a handle with a shape. */
static inline bool rt_is_shape(uint32_t shape)
{
    return shape >> RT_SHAPE_TAG_SHIFT == RT_SHAPE_TAG && !(shape & RT_SHAPE_IS_ZERO) &&
           (shape >> RT_SHAPE_COUNT_SHIFT & 3) < 3 && rt_shape_kind(shape) <= RT_TEXTURE_2D;
}

static inline bool rt_find_shape_format(const struct rt_texture *texture, uint32_t *format)
{
    bool is_word = texture->texel == RT_TEXEL_U32 || texture->texel == RT_TEXEL_S32;
    bool is_plain = !texture->gives_floats;
    *format = texture->texel == RT_TEXEL_F32 ? RT_SHAPE_F32
              : is_word                      ? RT_SHAPE_WORD
              : is_plain                     ? RT_SHAPE_BYTES
                                             : RT_SHAPE_PARTS;
    if (texture->texel == RT_TEXEL_U8)
        return !texture->is_srgb;
    return (texture->texel == RT_TEXEL_F32 && !is_plain) || (is_word && is_plain);
}

/* The upper bits of the texture's handle; 0: it is none of the usual ones. */
static inline uint32_t rt_shape_of(const struct rt_texture *texture)
{
    const struct rt_texture_level *level = &texture->levels[0];
    bool is_2d = texture->kind == RT_TEXTURE_2D;
    uint64_t bytes =
        is_2d ? level->height * level->pitch_bytes : (uint64_t)level->width * texture->elem_bytes;
    uint32_t format;
    if (texture->mark != RT_TEXTURE_MARK || texture->kind > RT_TEXTURE_2D ||
        texture->level_count != 1 || !rt_find_shape_format(texture, &format) ||
        (is_2d && texture->address[1] != texture->address[0]) || bytes > RT_SHAPE_MAX_BYTES ||
        level->pitch_bytes > RT_SHAPE_MAX_BYTES ||
        (texture->kind != RT_TEXTURE_LINEAR && level->width > RT_SHAPE_MAX_SIDE) ||
        level->height > RT_SHAPE_MAX_SIDE)
        return 0;
    return RT_SHAPE_TAG << RT_SHAPE_TAG_SHIFT | format << RT_SHAPE_FORMAT_SHIFT |
           ((uint32_t)texture->channels >> 1) << RT_SHAPE_COUNT_SHIFT |
           (uint32_t)texture->kind << RT_SHAPE_KIND_SHIFT |
           (uint32_t)texture->address[0] << RT_SHAPE_ADDRESS_SHIFT |
           (texture->is_normalised ? RT_SHAPE_IS_NORMALISED : 0) |
           (texture->is_linear && texture->gives_floats ? RT_SHAPE_IS_LINEAR : 0);
}

static inline uint64_t rt_handle_of(const struct rt_texture *texture)
{
    return (uint64_t)rt_shape_of(texture) << RT_HANDLE_ADDRESS_BITS | (uintptr_t)texture;
}

#endif
