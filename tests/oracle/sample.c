/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of textures, and what filters make of them (CUDA C++ Programming Guide, "Texture
 * Fetching").
 */
#include <math.h>
#include <string.h>

#include "tests/oracle/texture.h"

#define STEPS 256.0 /* of a fraction: "8 bits of fractional value" */

/* ---- elements ---- */

static unsigned texel_bits(uint32_t texel)
{
    static const uint8_t bits[] = {8, 16, 32, 8, 16, 32, 16, 32, 8};

    return bits[texel];
}

static double float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(double number)
{
    float value = (float)number;
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double half_of(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = bits & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);

    if (exponent == 31)
        size = fraction == 0 ? INFINITY : NAN;
    return bits & 0x8000 ? -size : size;
}

static void set_channel(const struct rt_texture *texture, uint32_t raw, uint32_t *bits)
{
    unsigned width = texel_bits(texture->texel);
    bool is_signed = texture->texel >= RT_TEXEL_S8 && texture->texel <= RT_TEXEL_S32;
    int64_t integer = is_signed ? (int64_t)((uint64_t)raw << (64 - width)) >> (64 - width) : raw;
    double most = ldexp(1, (int)width - is_signed) - 1;

    if (texture->texel == RT_TEXEL_F16)
        *bits = bits_of(half_of(raw));
    else if (texture->texel == RT_TEXEL_F32 || !texture->gives_floats || width == 32)
        *bits = (uint32_t)integer;
    else
        *bits = bits_of(fmax((double)(float)integer / most, -1));
}

static void read_packed(const uint8_t *bytes, struct oracle_element *element)
{
    uint32_t raw;

    memcpy(&raw, bytes, 4);
    for (int i = 0; i < 4; i++)
        element->raw[i] = bits_of(i < 3 ? (raw >> 10 * i & 1023) / 1023.0 : (raw >> 30) / 3.0);
}

struct oracle_element oracle_read_element(struct oracle_fetch *fetch,
                                          const struct rt_texture_level *level, const int64_t at[3],
                                          bool is_border)
{
    const struct rt_texture *texture = &fetch->image.descriptor;
    uint64_t slice = rt_texture_dimensions(texture->kind) == 3 ? (uint64_t)at[2] : fetch->slice;
    uint64_t address = level->base + slice * level->slice_bytes +
                       (uint64_t)at[1] * level->pitch_bytes + (uint64_t)at[0] * texture->elem_bytes;
    struct oracle_element element = {.raw = {0, 0, 0, texture->gives_floats ? bits_of(1) : 1}};
    const uint8_t *bytes = NULL;

    if (!is_border)
        bytes = oracle_image_bytes(&fetch->image, address, texture->elem_bytes, ORACLE_LOAD);
    if (bytes != NULL && texture->texel == RT_TEXEL_1010102)
        read_packed(bytes, &element);
    for (unsigned i = 0; i < 4; i++) {
        unsigned size = texel_bits(texture->texel) / 8;
        uint32_t raw = 0;

        if (is_border)
            element.raw[i] = bits_of((double)fetch->sampler.border[i]);
        if (bytes != NULL && i < texture->channels && texture->texel != RT_TEXEL_1010102) {
            memcpy(&raw, bytes + i * size, size);
            set_channel(texture, raw, &element.raw[i]);
        }
    }
    if (fetch->compares) {
        double result = fetch->reference <= float_of(element.raw[0]);

        for (unsigned i = 0; i < 4; i++)
            element.raw[i] = bits_of(result);
    }
    for (unsigned i = 0; i < 4; i++)
        element.number[i] = float_of(element.raw[i]);
    return element;
}

/* ---- indices ---- */

bool oracle_fetch_has_floats(const struct oracle_fetch *fetch)
{
    return fetch->coordinate_type == PTX_TYPE_F32;
}

bool oracle_fetch_is_cube(const struct oracle_fetch *fetch)
{
    return rt_texture_is_cube(fetch->image.descriptor.kind);
}

/* "cudaAddressModeWrap and cudaAddressModeMirror are only supported for normalized coordinates" */
static uint32_t mode_of(const struct oracle_fetch *fetch, unsigned i)
{
    uint32_t mode = fetch->sampler.address[i];
    bool is_periodic = mode == RT_TEXTURE_WRAP || mode == RT_TEXTURE_MIRROR;

    if (oracle_fetch_is_cube(fetch))
        return RT_TEXTURE_CLAMP;
    return is_periodic && !(fetch->sampler.is_normalised && oracle_fetch_has_floats(fetch))
               ? RT_TEXTURE_CLAMP
               : mode;
}

/* The place in elements, after the address mode's change of the coordinate. */
static double element_place(const struct oracle_fetch *fetch, unsigned i, double size)
{
    double at = fetch->at[i];
    double part = at - floor(at);

    if (isinf(at) && (fetch->sampler.is_normalised || oracle_fetch_is_cube(fetch)))
        part = 0;
    if (fetch->sampler.is_normalised || oracle_fetch_is_cube(fetch)) {
        if (mode_of(fetch, i) == RT_TEXTURE_WRAP)
            at = part;
        else if (mode_of(fetch, i) == RT_TEXTURE_MIRROR)
            at = !isinf(at) && fmod(fabs(floor(at)), 2) == 1 ? 1 - part : part;
        at *= size;
    }
    if (isnan(at))
        return 0;
    return fmin(fmax(at, -4194304), 4194304);
}

/* False: the border. */
static bool find_index(const struct oracle_fetch *fetch, unsigned i, int64_t size, int64_t *index)
{
    switch (mode_of(fetch, i)) {
    case RT_TEXTURE_BORDER:
        return *index >= 0 && *index < size;
    case RT_TEXTURE_WRAP:
        *index = (*index % size + size) % size;
        return true;
    default:
        *index = *index < 0 ? 0 : *index >= size ? size - 1 : *index;
        return true;
    }
}

/* ---- one level ---- */

static bool filters(const struct oracle_fetch *fetch)
{
    return fetch->sampler.is_linear && oracle_fetch_has_floats(fetch) &&
           fetch->image.descriptor.gives_floats;
}

void oracle_level_sizes(const struct rt_texture_level *level, int64_t sizes[3])
{
    sizes[0] = level->width;
    sizes[1] = level->height;
    sizes[2] = level->depth;
}

static struct oracle_element nearest(struct oracle_fetch *fetch,
                                     const struct rt_texture_level *level)
{
    unsigned dimensions = rt_texture_dimensions(fetch->image.descriptor.kind);
    int64_t sizes[3];
    int64_t index[3] = {0};
    bool is_inside = true;

    oracle_level_sizes(level, sizes);
    for (unsigned i = 0; i < dimensions; i++) {
        double at = oracle_fetch_has_floats(fetch) ? element_place(fetch, i, (double)sizes[i])
                                                   : fetch->at[i];

        index[i] = (int64_t)floor(at) + fetch->offset[i];
        is_inside = find_index(fetch, i, sizes[i], &index[i]) && is_inside;
    }
    return oracle_read_element(fetch, level, index, !is_inside);
}

/* i = floor(x - 0.5), and the fraction in steps of 1/256, rounded to the nearest; `side` chooses
 * i or i + 1. */
bool oracle_linear_index(const struct oracle_fetch *fetch, unsigned i, int64_t size, unsigned side,
                         int64_t *index, double *weight)
{
    double steps = nearbyint(element_place(fetch, i, (double)size) * STEPS) - STEPS / 2;
    double fraction = steps / STEPS - floor(steps / STEPS);

    *weight *= side ? fraction : 1 - fraction;
    *index = (int64_t)floor(steps / STEPS) + side + fetch->offset[i];
    return find_index(fetch, i, size, index);
}

static struct oracle_element linear(struct oracle_fetch *fetch,
                                    const struct rt_texture_level *level)
{
    unsigned dimensions = rt_texture_dimensions(fetch->image.descriptor.kind);
    struct oracle_element sum = {0};
    int64_t sizes[3];

    oracle_level_sizes(level, sizes);
    for (unsigned corner = 0; corner < 1U << dimensions; corner++) {
        int64_t index[3] = {0};
        double weight = 1;
        bool is_inside = true;

        for (unsigned i = 0; i < dimensions; i++)
            is_inside =
                oracle_linear_index(fetch, i, sizes[i], corner >> i & 1, &index[i], &weight) &&
                is_inside;
        if (weight == 0)
            continue;
        struct oracle_element one = oracle_read_element(fetch, level, index, !is_inside);

        for (unsigned i = 0; i < 4; i++)
            sum.number[i] += weight * one.number[i];
    }
    for (unsigned i = 0; i < 4; i++)
        sum.raw[i] = bits_of(sum.number[i]);
    return sum;
}

static struct oracle_element sample(struct oracle_fetch *fetch, unsigned level)
{
    const struct rt_texture_level *image = &fetch->image.descriptor.levels[level];

    return filters(fetch) ? linear(fetch, image) : nearest(fetch, image);
}

/* ---- levels ---- */

struct oracle_element oracle_sample(struct oracle_fetch *fetch, double lod)
{
    const struct rt_texture *sampler = &fetch->sampler;
    unsigned count = fetch->image.descriptor.level_count;

    if (count == 1 || oracle_has(fetch->image.inst, PTX_MOD_BASE))
        return sample(fetch, 0);
    lod = isnan(lod) ? 0 : lod + (double)sampler->lod_bias;
    lod = fmax(fmin(lod, (double)sampler->lod_max), (double)sampler->lod_min);
    lod = fmax(fmin(lod, count - 1), 0);
    if (!sampler->is_mip_linear || !fetch->image.descriptor.gives_floats)
        return sample(fetch, (unsigned)floor(lod + 0.5));

    double steps = nearbyint(lod * STEPS);
    double weight = steps / STEPS - floor(steps / STEPS);
    struct oracle_element fine = sample(fetch, (unsigned)floor(steps / STEPS));

    if (weight != 0) {
        struct oracle_element coarse = sample(fetch, (unsigned)floor(steps / STEPS) + 1);

        for (unsigned i = 0; i < 4; i++) {
            fine.number[i] = (1 - weight) * fine.number[i] + weight * coarse.number[i];
            fine.raw[i] = bits_of(fine.number[i]);
        }
    }
    return fine;
}
