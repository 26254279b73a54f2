/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of images (CUDA C++ Programming Guide, "Texture Fetching"; driver API, CUarray_format).
 */
#include "translator/rt/texel.h"
#include "translator/rt/bits.h"
#include "translator/rt/blocks.h"

#define CHANNELS 4
#define NAN_HALF 0x7fff /* PTX ISA "cvt" */
#define ONE_BITS 0x3f800000u

static float half_to_float(uint16_t half)
{
    _Float16 value;
    __builtin_memcpy(&value, &half, sizeof value);
    return (float)value;
}

uint16_t rt_half_of_float(float value)
{
    _Float16 half = (_Float16)value;
    uint16_t bits;
    __builtin_memcpy(&bits, &half, sizeof bits);
    return value != value ? NAN_HALF : bits;
}

/* IEC 61966-2-1. */
static float srgb_to_linear(float value)
{
    return value <= 0.04045f ? value / 12.92f : __builtin_powf((value + 0.055f) / 1.055f, 2.4f);
}

/* "[-1.0, 1.0]": the two lowest integers are both -1. */
static float signed_part(int32_t value, float most)
{
    float part = (float)value / most;
    return part < -1.0f ? -1.0f : part;
}

static uint32_t channel_bytes(uint32_t texel)
{
    switch (texel) {
    case RT_TEXEL_U8:
    case RT_TEXEL_S8:
        return 1;
    case RT_TEXEL_U16:
    case RT_TEXEL_S16:
    case RT_TEXEL_F16:
        return 2;
    default:
        return 4;
    }
}

static uint32_t read_integer(uint32_t texel, uint32_t raw)
{
    switch (texel) {
    case RT_TEXEL_S8:
        return (uint32_t)(int32_t)(int8_t)raw;
    case RT_TEXEL_S16:
        return (uint32_t)(int32_t)(int16_t)raw;
    case RT_TEXEL_F16:
        return bits_f32(half_to_float((uint16_t)raw));
    default:
        return raw;
    }
}

static uint32_t read_part(uint32_t texel, uint32_t raw)
{
    switch (texel) {
    case RT_TEXEL_U8:
        return bits_f32((float)raw / 255.0f);
    case RT_TEXEL_U16:
        return bits_f32((float)raw / 65535.0f);
    case RT_TEXEL_S8:
        return bits_f32(signed_part((int8_t)raw, 127.0f));
    case RT_TEXEL_S16:
        return bits_f32(signed_part((int16_t)raw, 32767.0f));
    default:
        return read_integer(texel, raw);
    }
}

static struct rt_texel_value read_packed(const uint8_t *at)
{
    uint32_t raw;
    struct rt_texel_value value;
    __builtin_memcpy(&raw, at, sizeof raw);
    for (uint32_t i = 0; i < 3; i++)
        value.bits[i] = bits_f32((float)(raw >> 10 * i & 0x3ff) / 1023.0f);
    value.bits[3] = bits_f32((float)(raw >> 30) / 3.0f);
    return value;
}

/* Channels that an image does not have are 0, the fourth is 1. */
static struct rt_texel_value read_channels(const struct rt_texture *texture, const uint8_t *at)
{
    uint32_t bytes = channel_bytes(texture->texel);
    struct rt_texel_value value = {{0, 0, 0, texture->gives_floats ? ONE_BITS : 1}};
    for (uint32_t i = 0; i < texture->channels; i++) {
        uint32_t raw = 0;
        __builtin_memcpy(&raw, at + (uint64_t)i * bytes, bytes);
        value.bits[i] = texture->gives_floats ? read_part(texture->texel, raw)
                                              : read_integer(texture->texel, raw);
        if (texture->is_srgb && i < 3)
            value.bits[i] = bits_f32(srgb_to_linear(f32_of(value.bits[i])));
    }
    return value;
}

/* The row's blocks lie where elements would. */
static struct rt_texel_value read_block(const struct rt_texture *texture,
                                        const struct rt_texture_level *level, uint32_t x,
                                        uint32_t y, uint32_t slice)
{
    struct rt_texel_value value;
    float parts[CHANNELS];
    const uint8_t *block =
        (const uint8_t *)(uintptr_t)(level->base + slice * level->slice_bytes +
                                     y / RT_BLOCK_SIDE * level->pitch_bytes +
                                     (uint64_t)(x / RT_BLOCK_SIDE) * texture->elem_bytes);
    rt_block_read(texture->texel, block, x % RT_BLOCK_SIDE, y % RT_BLOCK_SIDE, parts);
    for (uint32_t i = 0; i < CHANNELS; i++)
        value.bits[i] = bits_f32(texture->is_srgb && i < 3 ? srgb_to_linear(parts[i]) : parts[i]);
    return value;
}

struct rt_texel_value rt_texel_read(const struct rt_texture *texture,
                                    const struct rt_texture_level *level, uint32_t x, uint32_t y,
                                    uint32_t slice)
{
    if (texture->texel >= RT_TEXEL_BC1)
        return read_block(texture, level, x, y, slice);
    const uint8_t *at =
        (const uint8_t *)(uintptr_t)(level->base + slice * level->slice_bytes +
                                     y * level->pitch_bytes + (uint64_t)x * texture->elem_bytes);
    return texture->texel == RT_TEXEL_1010102 ? read_packed(at) : read_channels(texture, at);
}

struct rt_texel_value rt_texel_border(const struct rt_texture *texture)
{
    struct rt_texel_value value;
    for (uint32_t i = 0; i < CHANNELS; i++)
        value.bits[i] = bits_f32(texture->border[i]);
    return value;
}
