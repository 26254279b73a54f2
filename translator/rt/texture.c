/* SPDX-License-Identifier: Apache-2.0
 *
 * Fetches from textures (CUDA C++ Programming Guide, "Texture Fetching"; PTX ISA "tex", "tld4").
 * Not part of kernels but of the process: it is long, and would be compiled with each.
 */
#include "kernel_abi/image_shape.h"
#include "kernel_abi/rt.h"
#include "translator/rt/bits.h"
#include "translator/rt/texel.h"

#define COORDINATES   3
#define CHANNELS      4
#define FRACTION_BITS 8 /* "9-bit fixed point format with 8 bits of fractional value" */
#define FRACTION_ONE  (1 << FRACTION_BITS)
#define FRACTION_MASK (FRACTION_ONE - 1)
#define FAR           0x1p22f /* beyond every image, and small enough for fixed point */
#define OUTSIDE       INT32_MIN
/* Of seamless cubes, whose edges have other faces behind them. */
#define ACROSS_EDGES RT_TEXTURE_ADDRESSES

/* One fetch: the image of one descriptor, the way of sampling of another, or of the same. */
struct fetch {
    const struct rt_texture *image;
    const struct rt_texture *sampler;
    uint64_t request;
    uint32_t kind;
    uint32_t dimensions;
    bool is_float;
    bool is_linear;
    float at[COORDINATES]; /* floats; of a cube, the place on the face */
    int32_t index[COORDINATES];
    uint32_t slice; /* the layer or face; 0 of others */
    float depth;
};

/* Two neighbours along a dimension, and the weight of the second. */
struct span {
    int32_t index[2]; /* OUTSIDE: the border */
    float weight;
};

static float make_finite(float value)
{
    if (value != value)
        return 0.0f;
    return value > FAR ? FAR : value < -FAR ? -FAR : value;
}

static float fraction(float value)
{
    float part = value - __builtin_floorf(value);
    return part != part ? 0.0f : part;
}

/* ---- faces of cubes ---- */

/* CUDA C++ Programming Guide, "Cubemap Textures": face, and m, s, t for a direction. */
struct direction {
    uint32_t face;
    float m, s, t;
};

static uint32_t find_face(const float at[COORDINATES])
{
    float x = __builtin_fabsf(at[0]);
    float y = __builtin_fabsf(at[1]);
    float z = __builtin_fabsf(at[2]);
    if (x >= y && x >= z)
        return at[0] >= 0.0f ? 0 : 1;
    if (y >= z)
        return at[1] >= 0.0f ? 2 : 3;
    return at[2] >= 0.0f ? 4 : 5;
}

static struct direction project(uint32_t face, const float at[COORDINATES])
{
    float x = at[0];
    float y = at[1];
    float z = at[2];
    switch (face) {
    case 0:
        return (struct direction){face, x, -z, -y};
    case 1:
        return (struct direction){face, -x, z, -y};
    case 2:
        return (struct direction){face, y, x, z};
    case 3:
        return (struct direction){face, -y, x, -z};
    case 4:
        return (struct direction){face, z, x, -y};
    default:
        return (struct direction){face, -z, -x, -y};
    }
}

/* The way back, with an m of 1. */
static void find_direction(uint32_t face, float s, float t, float at[COORDINATES])
{
    const float directions[RT_CUBE_FACES][COORDINATES] = {{1.0f, -t, -s}, {-1.0f, -t, s},
                                                          {s, 1.0f, t},   {s, -1.0f, -t},
                                                          {s, -t, 1.0f},  {-s, -t, -1.0f}};
    for (uint32_t i = 0; i < COORDINATES; i++)
        at[i] = directions[face][i];
}

static float place_on_face(float along, float m)
{
    return (along / m + 1.0f) / 2.0f;
}

/* ---- along one dimension ---- */

static uint32_t address_mode(const struct fetch *fetch, uint32_t i)
{
    uint32_t mode = fetch->sampler->address[i];
    if (rt_texture_is_cube(fetch->kind))
        return fetch->is_linear && fetch->sampler->is_seamless ? ACROSS_EDGES : RT_TEXTURE_CLAMP;
    /* "Wrap and mirror are only supported for normalised coordinates"; otherwise clamp is meant. */
    bool needs_normalised = mode == RT_TEXTURE_WRAP || mode == RT_TEXTURE_MIRROR;
    bool is_normalised = fetch->sampler->is_normalised && fetch->is_float;
    return needs_normalised && !is_normalised ? RT_TEXTURE_CLAMP : mode;
}

static int32_t place_index(int32_t index, int32_t size, uint32_t mode)
{
    if (index >= 0 && index < size)
        return index;
    switch (mode) {
    case RT_TEXTURE_BORDER:
        return OUTSIDE;
    case RT_TEXTURE_WRAP:
        index %= size;
        return index < 0 ? index + size : index;
    case ACROSS_EDGES:
        return index < 0 ? -1 : size;
    default:
        return index < 0 ? 0 : size - 1;
    }
}

/* The coordinate in elements of the level. */
static float scale(const struct fetch *fetch, uint32_t i, int32_t size, uint32_t mode)
{
    float at = fetch->at[i];
    if (!fetch->sampler->is_normalised && !rt_texture_is_cube(fetch->kind))
        return make_finite(at);
    if (mode == RT_TEXTURE_WRAP) {
        at = fraction(at);
    } else if (mode == RT_TEXTURE_MIRROR) {
        float part = fraction(at);
        bool is_odd = fraction(__builtin_floorf(at) * 0.5f) != 0.0f;
        at = is_odd ? 1.0f - part : part;
    }
    return make_finite(at * (float)size);
}

static int32_t offset_of(const struct fetch *fetch, uint32_t i)
{
    int32_t offset = (int32_t)(fetch->request >> RT_FETCH_OFFSET_SHIFT(i) & 15);
    return offset >= 8 ? offset - 16 : offset;
}

static struct span find_span(const struct fetch *fetch, uint32_t i, int32_t size)
{
    uint32_t mode = address_mode(fetch, i);
    int32_t offset = offset_of(fetch, i);
    if (!fetch->is_float) {
        int64_t index = (int64_t)fetch->index[i] + offset;
        index = index < INT32_MIN ? INT32_MIN : index > INT32_MAX ? INT32_MAX : index;
        int32_t place = place_index((int32_t)index, size, mode);
        return (struct span){{place, place}, 0.0f};
    }
    float at = scale(fetch, i, size, mode);
    if (!fetch->is_linear) {
        int32_t index = place_index((int32_t)__builtin_floorf(at) + offset, size, mode);
        return (struct span){{index, index}, 0.0f};
    }
    int32_t fixed = (int32_t)__builtin_rintf(at * FRACTION_ONE) - FRACTION_ONE / 2;
    int32_t first = (fixed >> FRACTION_BITS) + offset;
    return (struct span){
        {place_index(first, size, mode), place_index(first + 1, size, mode)},
        (float)(fixed & FRACTION_MASK) / FRACTION_ONE,
    };
}

/* ---- within a level ---- */

/* Behind an edge of a face lies another face: where the direction of the element's middle goes. */
static struct rt_texel_value read_across(const struct fetch *fetch,
                                         const struct rt_texture_level *level, int32_t x, int32_t y)
{
    uint32_t face = fetch->slice % RT_CUBE_FACES;
    float size = (float)level->width;
    float at[COORDINATES];
    find_direction(face, (2.0f * (float)x + 1.0f) / size - 1.0f,
                   (2.0f * (float)y + 1.0f) / size - 1.0f, at);
    struct direction to = project(find_face(at), at);
    return rt_texel_read(fetch->image, level, (uint32_t)(place_on_face(to.s, to.m) * size),
                         (uint32_t)(place_on_face(to.t, to.m) * size),
                         fetch->slice - face + to.face);
}

static bool is_on_face(const struct rt_texture_level *level, int32_t x, int32_t y)
{
    return x >= 0 && y >= 0 && (uint32_t)x < level->width && (uint32_t)y < level->height;
}

/* Three faces meet at a corner: what would be the fourth is the mean of their elements there. */
static struct rt_texel_value read_cube(const struct fetch *fetch,
                                       const struct rt_texture_level *level, int32_t x, int32_t y)
{
    int32_t inner_x = place_index(x, (int32_t)level->width, RT_TEXTURE_CLAMP);
    int32_t inner_y = place_index(y, (int32_t)level->height, RT_TEXTURE_CLAMP);
    if (is_on_face(level, x, y))
        return rt_texel_read(fetch->image, level, (uint32_t)x, (uint32_t)y, fetch->slice);
    if (x == inner_x || y == inner_y)
        return read_across(fetch, level, x, y);
    struct rt_texel_value sum =
        rt_texel_read(fetch->image, level, (uint32_t)inner_x, (uint32_t)inner_y, fetch->slice);
    if (!fetch->image->gives_floats)
        return sum; /* of numbers that are gathered there is no mean */
    struct rt_texel_value others[2] = {read_across(fetch, level, x, inner_y),
                                       read_across(fetch, level, inner_x, y)};
    for (uint32_t i = 0; i < CHANNELS; i++)
        sum.bits[i] = bits_f32(
            (f32_of(sum.bits[i]) + f32_of(others[0].bits[i]) + f32_of(others[1].bits[i])) / 3.0f);
    return sum;
}

static struct rt_texel_value read_one(const struct fetch *fetch,
                                      const struct rt_texture_level *level, int32_t x, int32_t y,
                                      int32_t z)
{
    if (x == OUTSIDE || y == OUTSIDE || z == OUTSIDE)
        return rt_texel_border(fetch->sampler);
    if (rt_texture_is_cube(fetch->kind))
        return read_cube(fetch, level, x, y);
    return rt_texel_read(fetch->image, level, (uint32_t)x, (uint32_t)y,
                         fetch->dimensions == 3 ? (uint32_t)z : fetch->slice);
}

/* "Each element … is compared against the value given": 1.0 or 0.0 in the place of the element. */
static struct rt_texel_value compare(const struct fetch *fetch, struct rt_texel_value value)
{
    if (!RT_FETCH_BIT(fetch->request, RT_FETCH_HAS_DEPTH))
        return value;
    float result = fetch->depth <= f32_of(value.bits[0]) ? 1.0f : 0.0f;
    for (uint32_t i = 0; i < CHANNELS; i++)
        value.bits[i] = bits_f32(result);
    return value;
}

static void find_spans(const struct fetch *fetch, const struct rt_texture_level *level,
                       struct span spans[COORDINATES])
{
    const uint32_t sizes[COORDINATES] = {level->width, level->height, level->depth};
    for (uint32_t i = 0; i < COORDINATES; i++)
        spans[i] =
            i < fetch->dimensions ? find_span(fetch, i, (int32_t)sizes[i]) : (struct span){0};
}

/* The sum of up to eight elements, each with the product of its weights. */
static struct rt_texel_value blend(const struct fetch *fetch, const struct rt_texture_level *level,
                                   const struct span spans[COORDINATES])
{
    float sums[CHANNELS] = {0};
    for (uint32_t corner = 0; corner < 1u << fetch->dimensions; corner++) {
        float weight = 1.0f;
        int32_t index[COORDINATES] = {0};
        for (uint32_t i = 0; i < fetch->dimensions; i++) {
            uint32_t side = corner >> i & 1;
            weight *= side ? spans[i].weight : 1.0f - spans[i].weight;
            index[i] = spans[i].index[side];
        }
        struct rt_texel_value value =
            compare(fetch, read_one(fetch, level, index[0], index[1], index[2]));
        for (uint32_t i = 0; i < CHANNELS && weight != 0.0f; i++)
            sums[i] += weight * f32_of(value.bits[i]);
    }
    struct rt_texel_value result;
    for (uint32_t i = 0; i < CHANNELS; i++)
        result.bits[i] = bits_f32(sums[i]);
    return result;
}

static struct rt_texel_value sample_level(const struct fetch *fetch, uint32_t number)
{
    const struct rt_texture_level *level = &fetch->image->levels[number];
    struct span spans[COORDINATES];
    find_spans(fetch, level, spans);
    if (fetch->is_linear)
        return blend(fetch, level, spans);
    return compare(fetch,
                   read_one(fetch, level, spans[0].index[0], spans[1].index[0], spans[2].index[0]));
}

/* tld4: one channel of the four elements that a linear filter would read, from the lower left one
 * on and counterclockwise. */
static struct rt_texel_value gather(const struct fetch *fetch, uint32_t channel)
{
    static const uint8_t columns[CHANNELS] = {0, 1, 1, 0};
    static const uint8_t rows[CHANNELS] = {1, 1, 0, 0};
    const struct rt_texture_level *level = &fetch->image->levels[0];
    struct fetch linear = *fetch;
    struct span spans[COORDINATES];
    struct rt_texel_value result;
    linear.is_linear = true;
    find_spans(&linear, level, spans);
    for (uint32_t i = 0; i < CHANNELS; i++) {
        struct rt_texel_value value = compare(
            fetch, read_one(fetch, level, spans[0].index[columns[i]], spans[1].index[rows[i]], 0));
        result.bits[i] = value.bits[channel];
    }
    return result;
}

/* ---- levels ---- */

static float clamp_lod(const struct fetch *fetch, float lod)
{
    const struct rt_texture *sampler = fetch->sampler;
    float last = (float)(fetch->image->level_count - 1);
    lod += sampler->lod_bias;
    lod = lod != lod ? 0.0f : lod;
    lod = lod > sampler->lod_max ? sampler->lod_max : lod;
    lod = lod < sampler->lod_min ? sampler->lod_min : lod;
    return lod > last ? last : lod > 0.0f ? lod : 0.0f;
}

static struct rt_texel_value sample(const struct fetch *fetch, float lod)
{
    if (fetch->image->level_count == 1 || RT_FETCH_BIT(fetch->request, RT_FETCH_IS_BASE))
        return sample_level(fetch, 0);
    lod = clamp_lod(fetch, lod);
    if (!fetch->sampler->is_mip_linear || !fetch->image->gives_floats)
        return sample_level(fetch, (uint32_t)__builtin_floorf(lod + 0.5f));
    uint32_t fixed = (uint32_t)__builtin_rintf(lod * FRACTION_ONE);
    uint32_t level = fixed >> FRACTION_BITS;
    float weight = (float)(fixed & FRACTION_MASK) / FRACTION_ONE;
    struct rt_texel_value fine = sample_level(fetch, level);
    if (weight == 0.0f)
        return fine;
    struct rt_texel_value coarse = sample_level(fetch, level + 1);
    for (uint32_t i = 0; i < CHANNELS; i++)
        fine.bits[i] =
            bits_f32((1.0f - weight) * f32_of(fine.bits[i]) + weight * f32_of(coarse.bits[i]));
    return fine;
}

/* ---- coordinates ---- */

static uint32_t clamp_layer(const struct fetch *fetch, uint32_t layer)
{
    uint32_t faces = rt_texture_is_cube(fetch->kind) ? RT_CUBE_FACES : 1;
    uint32_t layers = fetch->image->levels[0].layers / faces;
    int32_t wanted = (int32_t)layer;
    return wanted < 0 ? 0 : layer >= layers ? layers - 1 : layer;
}

static void set_place(struct fetch *fetch, uint32_t layer)
{
    if (rt_texture_is_layered(fetch->kind))
        fetch->slice = clamp_layer(fetch, layer);
    if (!rt_texture_is_cube(fetch->kind))
        return;
    struct direction to = project(find_face(fetch->at), fetch->at);
    fetch->slice = fetch->slice * RT_CUBE_FACES + to.face;
    fetch->at[0] = place_on_face(to.s, to.m);
    fetch->at[1] = place_on_face(to.t, to.m);
}

static const struct rt_texture *descriptor_of(uint64_t handle)
{
    return (const struct rt_texture *)(uintptr_t)rt_handle_address(handle);
}

static struct fetch make_fetch(uint64_t texture, uint64_t sampler, uint64_t c01, uint64_t c23,
                               uint64_t request)
{
    const uint32_t bits[COORDINATES] = {(uint32_t)c01, (uint32_t)(c01 >> 32), (uint32_t)c23};
    struct fetch fetch = {
        .image = descriptor_of(texture),
        .sampler = descriptor_of(sampler),
        .request = request,
        .is_float = RT_FETCH_BIT(request, RT_FETCH_IS_FLOAT),
    };
    fetch.kind = fetch.image->kind;
    fetch.dimensions = rt_texture_dimensions(fetch.kind);
    fetch.is_linear = fetch.is_float && fetch.sampler->is_linear && fetch.image->gives_floats;
    for (uint32_t i = 0; i < COORDINATES; i++) {
        fetch.at[i] = fetch.is_float ? f32_of(bits[i]) : 0.0f;
        fetch.index[i] = (int32_t)bits[i];
    }
    set_place(&fetch, (uint32_t)(c23 >> 32));
    return fetch;
}

/* Linear memory has no address modes: what lies outside of it reads as 0. */
static struct rt_texel_value read_linear(const struct fetch *fetch)
{
    int32_t index =
        fetch->is_float ? (int32_t)__builtin_floorf(make_finite(fetch->at[0])) : fetch->index[0];
    if (index < 0 || (uint32_t)index >= fetch->image->levels[0].width)
        return (struct rt_texel_value){0};
    return rt_texel_read(fetch->image, &fetch->image->levels[0], (uint32_t)index, 0, 0);
}

static unsigned __int128 pack(struct rt_texel_value value, bool is_half)
{
    unsigned __int128 result = 0;
    for (uint32_t i = 0; i < CHANNELS; i++) {
        uint32_t bits = is_half ? rt_half_of_float(f32_of(value.bits[i])) : value.bits[i];
        result |= (unsigned __int128)bits << (is_half ? 16 : 32) * i;
    }
    return result;
}

unsigned __int128 rt_texture_fetch(struct rt_thread *thread, uint64_t texture, uint64_t sampler,
                                   uint64_t c01, uint64_t c23, uint64_t lod_and_depth,
                                   uint64_t request)
{
    struct fetch fetch = make_fetch(texture, sampler, c01, c23, request);
    uint32_t gathered = (uint32_t)(request >> RT_FETCH_GATHER_SHIFT & 7);
    struct rt_texel_value value;
    (void)thread;
    fetch.depth = f32_of((uint32_t)(lod_and_depth >> 32));
    if (fetch.kind == RT_TEXTURE_LINEAR)
        value = read_linear(&fetch);
    else if (gathered != 0)
        value = gather(&fetch, gathered - 1);
    else
        value = sample(&fetch, f32_of((uint32_t)lod_and_depth));
    return pack(value, RT_FETCH_BIT(request, RT_FETCH_IS_HALF));
}

/* ---- gradients ---- */

/* Of a cube: what the direction's change does to the place on its face, by the quotient's rule. */
static void project_gradient(const float at[COORDINATES], float gradient[COORDINATES])
{
    uint32_t face = find_face(at);
    struct direction to = project(face, at);
    struct direction change = project(face, gradient);
    float square = 2.0f * to.m * to.m;
    gradient[0] = (change.s * to.m - to.s * change.m) / square;
    gradient[1] = (change.t * to.m - to.t * change.m) / square;
    gradient[2] = 0.0f;
}

static float length_in_elements(const struct rt_texture *image, const struct rt_texture *sampler,
                                const float gradient[COORDINATES])
{
    const struct rt_texture_level *level = &image->levels[0];
    const uint32_t sizes[COORDINATES] = {level->width, level->height, level->depth};
    bool is_scaled = sampler->is_normalised || rt_texture_is_cube(image->kind);
    float sum = 0.0f;
    for (uint32_t i = 0; i < rt_texture_dimensions(image->kind); i++) {
        float length = gradient[i] * (is_scaled ? (float)sizes[i] : 1.0f);
        sum += length * length;
    }
    return __builtin_sqrtf(sum);
}

uint32_t rt_texture_lod(struct rt_thread *thread, uint64_t texture, uint64_t sampler, uint64_t f01,
                        uint64_t f23, uint64_t f45, uint64_t f67, uint64_t f8)
{
    const struct rt_texture *image = descriptor_of(texture);
    const uint64_t given[] = {f01, f23, f45, f67, f8};
    float at[3][COORDINATES];
    float longest = 0.0f;
    (void)thread;
    __builtin_memcpy(at, given, sizeof at);
    for (uint32_t i = 1; i < 3; i++) {
        if (rt_texture_is_cube(image->kind))
            project_gradient(at[0], at[i]);
        float length = length_in_elements(image, descriptor_of(sampler), at[i]);
        longest = length > longest ? length : longest;
    }
    return bits_f32(longest > 0.0f ? __builtin_log2f(longest) : -FAR);
}
