/* SPDX-License-Identifier: Apache-2.0
 *
 * Surfaces, and what textures say of themselves.
 */
#include "translator/rt/surface.h"

#define NOT_INLINED __attribute__((noinline))

/* ---- places ---- */

struct place {
    int64_t at[4]; /* bytes of the row; row; plane; layer */
    int64_t most[4];
};

static inline int64_t clamp(int64_t value, int64_t most)
{
    return value < 0 ? 0 : value > most ? most : value;
}

uint64_t rt_surface_address(const struct rt_texture *surface, uint32_t mode, uint32_t is_formatted,
                            int32_t x, int32_t y, int32_t z, int32_t layer, uint32_t bytes)
{
    const struct rt_texture_level *level = &surface->levels[0];
    uint32_t size = is_formatted ? surface->elem_bytes : bytes;
    int64_t column = (int64_t)x * (is_formatted ? surface->elem_bytes : 1);
    int64_t last = (int64_t)level->width * surface->elem_bytes - size;
    int64_t rows = level->height - 1;
    int64_t planes = level->depth - 1;
    int64_t layers = level->layers - 1;
    if (last < 0)
        return 0;
    if (mode == RT_SURFACE_CLAMP) {
        column = clamp(column, last);
        y = (int32_t)clamp(y, rows);
        z = (int32_t)clamp(z, planes);
        layer = (int32_t)clamp(layer, layers);
    }
    if (column < 0 || column > last || y < 0 || y > rows || z < 0 || z > planes || layer < 0 ||
        layer > layers)
        return 0;
    return level->base + (uint64_t)column + (uint32_t)y * level->pitch_bytes +
           ((uint64_t)(uint32_t)z + (uint32_t)layer) * level->slice_bytes;
}

/* ---- formatted stores ---- */

static inline float to_float(uint32_t bits)
{
    float value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
}

/* The part of 1 as an integer up to `most`, rounded to nearest. */
static inline int32_t scaled(uint32_t bits, float least, float most)
{
    float value = to_float(bits);
    value = value != value ? 0.0f : value < least ? least : value > 1.0f ? 1.0f : value;
    value *= most;
    return (int32_t)(value < 0.0f ? value - 0.5f : value + 0.5f);
}

static inline uint32_t half_bits(uint32_t bits)
{
    _Float16 half = (_Float16)to_float(bits);
    uint16_t result;
    __builtin_memcpy(&result, &half, sizeof result);
    return result;
}

static inline uint32_t clamp_signed(uint32_t bits, int32_t most)
{
    int32_t value = (int32_t)bits;
    return (uint32_t)(value > most ? most : value < -most - 1 ? -most - 1 : value);
}

static uint32_t channel_value(const struct rt_texture *surface, uint32_t bits)
{
    bool is_part = surface->gives_floats;
    switch (surface->texel) {
    case RT_TEXEL_U8:
        return is_part ? (uint32_t)scaled(bits, 0.0f, 255.0f) : bits > 255 ? 255 : bits;
    case RT_TEXEL_U16:
        return is_part ? (uint32_t)scaled(bits, 0.0f, 65535.0f) : bits > 65535 ? 65535 : bits;
    case RT_TEXEL_S8:
        return is_part ? (uint32_t)scaled(bits, -1.0f, 127.0f) : clamp_signed(bits, 127);
    case RT_TEXEL_S16:
        return is_part ? (uint32_t)scaled(bits, -1.0f, 32767.0f) : clamp_signed(bits, 32767);
    case RT_TEXEL_F16:
        return half_bits(bits);
    default:
        return bits;
    }
}

NOT_INLINED void rt_surface_store(const struct rt_texture *surface, uint8_t *at, uint32_t count,
                                  uint64_t c01, uint64_t c23)
{
    uint32_t bytes = surface->elem_bytes / surface->channels;
    uint32_t written = count < surface->channels ? count : surface->channels;
    for (uint32_t i = 0; i < written; i++) {
        uint32_t bits = (uint32_t)((i < 2 ? c01 : c23) >> 32 * (i % 2));
        uint32_t value = channel_value(surface, bits);
        uint8_t *to = at + i * bytes;
        if (bytes == 1)
            *to = (uint8_t)value;
        else if (bytes == 2)
            __builtin_memcpy(to, &value, 2);
        else
            __builtin_memcpy(to, &value, 4);
    }
}

/* ---- reductions ---- */

static inline uint64_t combine(uint64_t old, uint64_t value, uint32_t op, uint32_t bits,
                               bool is_signed)
{
    bool is_less =
        bits == 32 ? (is_signed ? (int32_t)value < (int32_t)old : (uint32_t)value < (uint32_t)old)
                   : (is_signed ? (int64_t)value < (int64_t)old : value < old);
    switch (op) {
    case RT_SURFACE_ADD:
        return old + value;
    case RT_SURFACE_MIN:
        return is_less ? value : old;
    case RT_SURFACE_MAX:
        return is_less ? old : value;
    case RT_SURFACE_AND:
        return old & value;
    default:
        return old | value;
    }
}

NOT_INLINED void rt_surface_reduce(const struct rt_texture *surface, uint8_t *at, uint32_t op,
                                   uint32_t bits, uint32_t is_signed, uint64_t value)
{
    bool signs = is_signed == RT_SURFACE_BY_FORMAT ? surface->texel == RT_TEXEL_S32 : is_signed;
    if (bits == 32) {
        uint32_t *word = (uint32_t *)at;
        uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(word, &old,
                                            (uint32_t)combine(old, value, op, bits, signs), false,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            ;
        return;
    }
    uint64_t *word = (uint64_t *)at;
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, combine(old, value, op, bits, signs), false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

/* ---- queries ---- */

/* PTX ISA "Channel Data Type and Channel Order Fields": OpenCL's numbers. */
static inline uint32_t data_type(const struct rt_texture *texture)
{
    switch (texture->texel) {
    case RT_TEXEL_S8:
        return texture->gives_floats ? 0x10d0 : 0x10d7;
    case RT_TEXEL_S16:
        return texture->gives_floats ? 0x10d1 : 0x10d8;
    case RT_TEXEL_U8:
        return texture->gives_floats ? 0x10d2 : 0x10da;
    case RT_TEXEL_U16:
        return texture->gives_floats ? 0x10d3 : 0x10db;
    case RT_TEXEL_1010102:
        return 0x10d6;
    case RT_TEXEL_S32:
        return 0x10d9;
    case RT_TEXEL_U32:
        return 0x10dc;
    case RT_TEXEL_F16:
        return 0x10dd;
    default:
        return 0x10de;
    }
}

static inline uint32_t channel_order(const struct rt_texture *texture)
{
    return texture->channels == 1 ? 0x10b0 : texture->channels == 2 ? 0x10b2 : 0x10b5;
}

/* "wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border" */
static inline uint32_t address_mode(uint32_t mode)
{
    switch (mode) {
    case RT_TEXTURE_WRAP:
        return 0;
    case RT_TEXTURE_MIRROR:
        return 1;
    case RT_TEXTURE_CLAMP:
        return 3;
    default:
        return 4;
    }
}

NOT_INLINED uint32_t rt_texture_query(const struct rt_texture *texture, uint32_t query,
                                      uint32_t level)
{
    uint32_t dimensions = rt_texture_dimensions(texture->kind);
    uint32_t faces = rt_texture_is_cube(texture->kind) ? RT_CUBE_FACES : 1;
    uint32_t last = texture->level_count - 1u;
    const struct rt_texture_level *size = &texture->levels[level < last ? level : last];
    switch (query) {
    case RT_QUERY_WIDTH:
        return size->width;
    case RT_QUERY_HEIGHT:
        return dimensions > 1 ? size->height : 0;
    case RT_QUERY_DEPTH:
        return dimensions > 2 ? size->depth : 0;
    case RT_QUERY_CHANNEL_DATA_TYPE:
        return data_type(texture);
    case RT_QUERY_CHANNEL_ORDER:
        return channel_order(texture);
    case RT_QUERY_NORMALIZED_COORDS:
        return texture->is_normalised;
    case RT_QUERY_ARRAY_SIZE:
        return rt_texture_is_layered(texture->kind) ? size->layers / faces : 0;
    case RT_QUERY_NUM_MIPMAP_LEVELS:
        return texture->level_count;
    case RT_QUERY_NUM_SAMPLES:
        return 1;
    case RT_QUERY_MEMORY_LAYOUT:
        return 0;
    case RT_QUERY_FORCE_UNNORMALIZED_COORDS:
        return !texture->is_normalised;
    case RT_QUERY_FILTER_MODE:
        return texture->is_linear;
    default:
        return address_mode(texture->address[(query - RT_QUERY_ADDR_MODE_0) % 3]);
    }
}
