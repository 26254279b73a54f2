/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/texture.c on random images and coordinates, with edges, negative and huge ones and what is no
 * number, against the formulas of the programming guide in doubles.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_abi/image_shape.h"
#include "kernel_abi/rt.h"
#include "translator/rt/sampler.h"

#define ROUNDS     200000
#define SIDE_MAX   9
#define TOLERANCE  1e-4
#define FIXED_STEP (1.0 / 256)

static float pixels[SIDE_MAX * SIDE_MAX * SIDE_MAX];

static uint64_t state = 1;

static uint32_t next_random(void)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(state >> 33);
}

static void fill_pixels(void)
{
    for (size_t i = 0; i < sizeof pixels / sizeof pixels[0]; i++)
        pixels[i] = (float)(next_random() % 2000) / 16.0f - 60.0f;
}

static struct rt_texture random_texture(void)
{
    static const uint8_t kinds[] = {RT_TEXTURE_1D, RT_TEXTURE_2D, RT_TEXTURE_3D};
    struct rt_texture texture = {
        .mark = RT_TEXTURE_MARK,
        .kind = kinds[next_random() % 3],
        .texel = RT_TEXEL_F32,
        .channels = 1,
        .elem_bytes = 4,
        .gives_floats = true,
        .is_normalised = next_random() % 2,
        .is_linear = next_random() % 2,
        .level_count = 1,
        .border = {7.0f, 7.0f, 7.0f, 7.0f},
    };
    uint32_t dimensions = rt_texture_dimensions(texture.kind);
    struct rt_texture_level *level = &texture.levels[0];
    level->base = (uintptr_t)pixels;
    level->width = 1 + next_random() % SIDE_MAX;
    level->height = dimensions > 1 ? 1 + next_random() % SIDE_MAX : 1;
    level->depth = dimensions > 2 ? 1 + next_random() % SIDE_MAX : 1;
    level->layers = 1;
    level->pitch_bytes = 4 * level->width;
    level->slice_bytes = level->pitch_bytes * level->height;
    for (int i = 0; i < 3; i++)
        texture.address[i] = (uint8_t)(next_random() % RT_TEXTURE_ADDRESSES);
    return texture;
}

static float random_coordinate(const struct rt_texture *texture, uint32_t size)
{
    static const float odd[] = {0.0f,     -0.0f,  INFINITY, -INFINITY, NAN,  1e30f,
                                -3.4e38f, 1e-40f, 0.5f,     1.0f,      -1.0f};
    if (next_random() % 8 == 0)
        return odd[next_random() % (sizeof odd / sizeof odd[0])];
    float place = ((float)(next_random() % 4096) / 1024.0f - 1.5f) * (float)size;
    return texture->is_normalised ? place / (float)size : place;
}

/* ---- the guide's formulas ---- */

static double wanted_pixel(const struct rt_texture *texture, const int64_t index[3])
{
    const struct rt_texture_level *level = &texture->levels[0];
    const int64_t sizes[3] = {level->width, level->height, level->depth};
    int64_t place[3] = {0};
    for (uint32_t i = 0; i < rt_texture_dimensions(texture->kind); i++) {
        bool is_periodic = texture->address[i] == RT_TEXTURE_WRAP && texture->is_normalised;
        place[i] = index[i];
        if (texture->address[i] == RT_TEXTURE_BORDER && (index[i] < 0 || index[i] >= sizes[i]))
            return 7;
        if (is_periodic)
            place[i] = (index[i] % sizes[i] + sizes[i]) % sizes[i];
        else
            place[i] = index[i] < 0 ? 0 : index[i] >= sizes[i] ? sizes[i] - 1 : index[i];
    }
    return (double)pixels[(place[2] * sizes[1] + place[1]) * sizes[0] + place[0]];
}

/* The place in elements. Products are rounded as floats, which decides what is near an edge. */
static double wanted_place(const struct rt_texture *texture, uint32_t i, float at, uint32_t size)
{
    float part = at - floorf(at);
    part = isfinite(part) ? part : 0.0f;
    if (texture->is_normalised) {
        bool is_mirrored = texture->address[i] == RT_TEXTURE_MIRROR;
        bool is_odd = isfinite(at) && fmod((double)fabsf(floorf(at)), 2) == 1;
        if (texture->address[i] == RT_TEXTURE_WRAP)
            at = part;
        else if (is_mirrored)
            at = is_odd ? 1.0f - part : part;
        at *= (float)size;
    }
    return isnan(at) ? 0 : fmin(fmax((double)at, -1e6), 1e6);
}

static double wanted(const struct rt_texture *texture, const float at[3])
{
    const struct rt_texture_level *level = &texture->levels[0];
    const uint32_t sizes[3] = {level->width, level->height, level->depth};
    uint32_t dimensions = rt_texture_dimensions(texture->kind);
    double sum = 0;
    for (uint32_t corner = 0; corner < 1u << dimensions; corner++) {
        int64_t index[3] = {0};
        double weight = 1;
        for (uint32_t i = 0; i < dimensions; i++) {
            double place = wanted_place(texture, i, at[i], sizes[i]);
            uint32_t side = corner >> i & 1;
            if (texture->is_linear) {
                double fixed = rint(place / FIXED_STEP) * FIXED_STEP - 0.5;
                double fraction = fixed - floor(fixed);
                weight *= side ? fraction : 1 - fraction;
                index[i] = (int64_t)floor(fixed) + side;
            } else {
                weight *= side ? 0 : 1;
                index[i] = (int64_t)floor(place);
            }
        }
        if (weight != 0)
            sum += weight * wanted_pixel(texture, index);
    }
    return sum;
}

Test(rt_texture, fetches_are_what_the_guide_says)
{
    fill_pixels();
    for (int round = 0; round < ROUNDS; round++) {
        struct rt_texture texture = random_texture();
        const struct rt_texture_level *level = &texture.levels[0];
        float at[3] = {random_coordinate(&texture, level->width),
                       random_coordinate(&texture, level->height),
                       random_coordinate(&texture, level->depth)};
        uint64_t words[2] = {0};
        memcpy(words, at, sizeof at);
        uint64_t handle = (uintptr_t)&texture;
        unsigned __int128 result = rt_texture_fetch(NULL, handle, handle, words[0], words[1], 0,
                                                    UINT64_C(1) << RT_FETCH_IS_FLOAT);
        uint32_t bits = (uint32_t)result;
        float got;
        memcpy(&got, &bits, sizeof got);
        double should_be = wanted(&texture, at);
        cr_assert(fabs((double)got - should_be) < TOLERANCE * (1 + fabs(should_be)),
                  "round %d, kind %u: %a %a %a gives %f, should be %f", round, texture.kind,
                  (double)at[0], (double)at[1], (double)at[2], (double)got, should_be);
    }
}

/* Linear memory has no address modes. */
Test(rt_texture, outside_of_linear_memory_are_zeros)
{
    struct rt_texture texture = {.mark = RT_TEXTURE_MARK,
                                 .kind = RT_TEXTURE_LINEAR,
                                 .texel = RT_TEXEL_F32,
                                 .channels = 1,
                                 .elem_bytes = 4,
                                 .gives_floats = true,
                                 .level_count = 1,
                                 .levels = {{.base = (uintptr_t)pixels, .width = 5}}};
    uint64_t handle = (uintptr_t)&texture;
    for (int i = -3; i < 9; i++) {
        uint32_t bits;
        pixels[i < 0 ? 0 : i] = 3.5f;
        bits = (uint32_t)rt_texture_fetch(NULL, handle, handle, (uint32_t)i, 0, 0, 0);
        cr_expect_eq(bits, i >= 0 && i < 5 ? 0x40600000u : 0u, "%d: %x", i, bits);
    }
}

/* ---- fetches for a known shape ---- */

struct format {
    uint8_t texel;
    uint8_t bytes;
    bool gives_floats;
};

static struct rt_texture random_shape(bool *is_float)
{
    static const struct format formats[] = {{RT_TEXEL_F32, 4, true},
                                            {RT_TEXEL_U32, 4, false},
                                            {RT_TEXEL_S32, 4, false},
                                            {RT_TEXEL_U8, 1, true},
                                            {RT_TEXEL_U8, 1, false}};
    const struct format *format = &formats[next_random() % 5];
    struct rt_texture texture = random_texture();
    struct rt_texture_level *level = &texture.levels[0];
    texture.kind = (uint8_t)(next_random() % (RT_TEXTURE_2D + 1));
    texture.texel = format->texel;
    texture.gives_floats = format->gives_floats;
    texture.channels = (uint8_t)(1u << next_random() % 3);
    texture.elem_bytes = (uint8_t)(format->bytes * texture.channels);
    texture.address[1] = texture.address[0];
    texture.border[1] = -1.5f;
    level->height = texture.kind == RT_TEXTURE_2D ? 1 + next_random() % SIDE_MAX : 1;
    level->pitch_bytes = (uint64_t)texture.elem_bytes * level->width;
    *is_float = texture.kind != RT_TEXTURE_LINEAR && next_random() % 4 != 0;
    return texture;
}

static uint32_t random_place(const struct rt_texture *texture, uint32_t size, bool is_float)
{
    static const uint32_t odd[] = {0, 0xffffffff, 0x7fffffff, 0x80000000};
    float place = random_coordinate(texture, size);
    uint32_t bits;
    memcpy(&bits, &place, sizeof bits);
    if (is_float)
        return bits;
    return next_random() % 8 == 0 ? odd[next_random() % 4] : next_random() % (3 * size) - size;
}

static bool is_same(unsigned __int128 got, unsigned __int128 wanted)
{
    for (unsigned i = 0; i < 4; i++) {
        uint32_t bits[2] = {(uint32_t)(got >> 32 * i), (uint32_t)(wanted >> 32 * i)};
        float values[2];
        memcpy(values, bits, sizeof values);
        if (bits[0] != bits[1] && !(isnan(values[0]) && isnan(values[1])))
            return false;
    }
    return true;
}

Test(rt_texture, fetches_for_a_shape_are_bit_for_bit_those_of_the_sampler)
{
    fill_pixels();
    for (size_t i = 0; i < 40; i++)
        pixels[next_random() % (sizeof pixels / sizeof pixels[0])] = i % 3 == 0   ? INFINITY
                                                                     : i % 3 == 1 ? NAN
                                                                                  : -0.0f;
    for (int round = 0; round < ROUNDS; round++) {
        bool is_float;
        struct rt_texture texture = random_shape(&is_float);
        uint32_t x = random_place(&texture, texture.levels[0].width, is_float);
        uint32_t y = random_place(&texture, texture.levels[0].height, is_float);
        uint64_t handle = rt_handle_of(&texture);
        uint64_t c01 = (uint64_t)y << 32 | x;
        cr_assert(rt_is_shape(rt_handle_shape(handle)), "round %d", round);
        unsigned __int128 got = rt_sample_shape(handle, rt_handle_shape(handle), is_float, c01);
        unsigned __int128 should_be = rt_texture_fetch(NULL, handle, handle, c01, 0, 0,
                                                       (uint64_t)is_float << RT_FETCH_IS_FLOAT);
        cr_assert(is_same(got, should_be), "round %d, shape %x: %08x %08x gives %08x, not %08x",
                  round, rt_handle_shape(handle), x, y, (unsigned)got, (unsigned)should_be);
    }
}

/* What the code for a shape does not know must not have one. */
Test(rt_texture, unusual_textures_have_no_shape)
{
    const struct rt_texture plain = {.mark = RT_TEXTURE_MARK,
                                     .kind = RT_TEXTURE_2D,
                                     .texel = RT_TEXEL_F32,
                                     .channels = 1,
                                     .elem_bytes = 4,
                                     .gives_floats = true,
                                     .level_count = 1,
                                     .levels = {{.width = 8, .height = 8, .pitch_bytes = 32}}};
    struct rt_texture odd[8];
    cr_expect_neq(rt_shape_of(&plain), 0);
    for (size_t i = 0; i < 8; i++)
        odd[i] = plain;
    odd[0].mark = RT_SURFACE_MARK;
    odd[1].kind = RT_TEXTURE_3D;
    odd[2].texel = RT_TEXEL_F16;
    odd[3].level_count = 2;
    odd[4].address[1] = RT_TEXTURE_BORDER;
    odd[5].levels[0].height = 1u << 26; /* 2 GiB */
    odd[6].texel = RT_TEXEL_U8;
    odd[6].is_srgb = true;
    odd[7].levels[0].width = (1u << 22) + 1;
    for (size_t i = 0; i < 8; i++)
        cr_expect_eq(rt_shape_of(&odd[i]), 0, "%zu", i);
    cr_expect_not(rt_is_shape(0));
    cr_expect_not(rt_is_shape(0xffff));
}

/* ---- blocks ---- */

/* Bits of a block, counted from its first byte's lowest. */
static unsigned bits_at(const uint8_t *block, unsigned from, unsigned count)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < count; i++)
        bits |= (unsigned)(block[(from + i) / 8] >> (from + i) % 8 & 1) << i;
    return bits;
}

/* The palette of a channel's block, all of it. */
static double wanted_channel(const uint8_t *block, unsigned element, bool is_signed)
{
    double palette[8];
    int raw[2] = {is_signed ? (int8_t)block[0] : block[0], is_signed ? (int8_t)block[1] : block[1]};
    double most = is_signed ? 127 : 255;
    int mixed = raw[0] > raw[1] ? 6 : 4;
    for (int i = 0; i < 2; i++)
        palette[i] = fmax(raw[i] / most, -1);
    for (int i = 1; i <= mixed; i++)
        palette[i + 1] = palette[0] + (palette[1] - palette[0]) * i / (mixed + 1);
    if (mixed == 4) {
        palette[6] = is_signed ? -1 : 0;
        palette[7] = 1;
    }
    return palette[bits_at(block, 16 + 3 * element, 3)];
}

static void wanted_colour(const uint8_t *block, unsigned element, bool has_clear, double wanted[4])
{
    static const unsigned from[3] = {11, 5, 0};
    static const unsigned width[3] = {5, 6, 5};
    unsigned code = bits_at(block, 32 + 2 * element, 2);
    bool has_three = has_clear && bits_at(block, 0, 16) <= bits_at(block, 16, 16);
    static const double four[] = {0, 1, 1.0 / 3, 2.0 / 3};
    static const double three[] = {0, 1, 0.5, 0};
    wanted[3] = has_three && code == 3 ? 0 : 1;
    for (unsigned i = 0; i < 3; i++) {
        double most = (1u << width[i]) - 1;
        double a = bits_at(block, from[i], width[i]) / most;
        double b = bits_at(block, 16 + from[i], width[i]) / most;
        wanted[i] = a + (b - a) * (has_three ? three[code] : four[code]);
        if (wanted[3] == 0)
            wanted[i] = 0;
    }
}

static void wanted_block(uint8_t texel, const uint8_t *block, unsigned element, double wanted[4])
{
    bool is_signed = texel == RT_TEXEL_BC4_SIGNED || texel == RT_TEXEL_BC5_SIGNED;
    bool has_colours = texel <= RT_TEXEL_BC3;
    memset(wanted, 0, 4 * sizeof wanted[0]);
    wanted[3] = 1;
    if (has_colours)
        wanted_colour(texel == RT_TEXEL_BC1 ? block : block + 8, element, texel == RT_TEXEL_BC1,
                      wanted);
    else
        wanted[0] = wanted_channel(block, element, is_signed);
    if (texel == RT_TEXEL_BC2)
        wanted[3] = bits_at(block, 4 * element, 4) / 15.0;
    if (texel == RT_TEXEL_BC3)
        wanted[3] = wanted_channel(block, element, false);
    if (texel == RT_TEXEL_BC5 || texel == RT_TEXEL_BC5_SIGNED)
        wanted[1] = wanted_channel(block + 8, element, is_signed);
}

Test(rt_texture, blocks_are_what_their_formats_say)
{
    enum { ACROSS = 3, DOWN = 2 };
    static uint8_t blocks[ACROSS * DOWN * 16];
    for (int round = 0; round < 4000; round++) {
        uint8_t texel = (uint8_t)(RT_TEXEL_BC1 + (unsigned)round % (RT_TEXEL_BC6H - RT_TEXEL_BC1));
        bool is_half =
            texel == RT_TEXEL_BC1 || texel == RT_TEXEL_BC4 || texel == RT_TEXEL_BC4_SIGNED;
        uint8_t bytes = is_half ? 8 : 16;
        for (size_t i = 0; i < sizeof blocks; i++)
            blocks[i] = (uint8_t)next_random();
        struct rt_texture texture = {.mark = RT_TEXTURE_MARK,
                                     .kind = RT_TEXTURE_2D,
                                     .texel = texel,
                                     .channels = 4,
                                     .elem_bytes = bytes,
                                     .gives_floats = true,
                                     .level_count = 1,
                                     .levels = {{.base = (uintptr_t)blocks,
                                                 .pitch_bytes = ACROSS * bytes,
                                                 .width = 4 * ACROSS,
                                                 .height = 4 * DOWN,
                                                 .depth = 1,
                                                 .layers = 1}}};
        uint32_t x = next_random() % (4 * ACROSS);
        uint32_t y = next_random() % (4 * DOWN);
        uint64_t handle = rt_handle_of(&texture);
        double wanted[4];
        unsigned __int128 got =
            rt_texture_fetch(NULL, handle, handle, (uint64_t)y << 32 | x, 0, 0, 0);
        cr_assert_eq(rt_handle_shape(handle), 0, "no code for a shape knows blocks");
        wanted_block(texel, blocks + (y / 4 * ACROSS + x / 4) * bytes, y % 4 * 4 + x % 4, wanted);
        for (unsigned i = 0; i < 4; i++) {
            uint32_t bits = (uint32_t)(got >> 32 * i);
            float value;
            memcpy(&value, &bits, sizeof value);
            cr_assert(fabs((double)value - wanted[i]) < 1e-6,
                      "format %u, channel %u, %u %u: %f, should be %f", texel - RT_TEXEL_BC1, i, x,
                      y, (double)value, wanted[i]);
        }
    }
}

/* ---- seamless cubes ---- */

static struct rt_texture cube_of(uint32_t side)
{
    return (struct rt_texture){.mark = RT_TEXTURE_MARK,
                               .kind = RT_TEXTURE_CUBE,
                               .texel = RT_TEXEL_F32,
                               .channels = 1,
                               .elem_bytes = 4,
                               .gives_floats = true,
                               .is_normalised = true,
                               .is_linear = true,
                               .is_seamless = true,
                               .level_count = 1,
                               .levels = {{.base = (uintptr_t)pixels,
                                           .pitch_bytes = 4 * side,
                                           .slice_bytes = 4 * side * side,
                                           .width = side,
                                           .height = side,
                                           .depth = 1,
                                           .layers = RT_CUBE_FACES}}};
}

static double fetch_direction(const struct rt_texture *cube, const double direction[3])
{
    uint32_t bits[3];
    float value;
    for (int i = 0; i < 3; i++) {
        float at = (float)direction[i];
        memcpy(&bits[i], &at, sizeof at);
    }
    uint64_t handle = rt_handle_of(cube);
    uint64_t request = RT_TEXTURE_CUBE << RT_FETCH_KIND_SHIFT | 1u << RT_FETCH_IS_FLOAT;
    unsigned __int128 got = rt_texture_fetch(
        NULL, handle, handle, (uint64_t)bits[1] << 32 | bits[0], bits[2], 0, request);
    uint32_t low = (uint32_t)got;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

/* Faces of one number each, in the guide's order +x, -x, +y, -y, +z, -z. */
Test(rt_texture, edges_of_a_seamless_cube_are_means_of_their_faces)
{
    enum { SIDE = 4 };
    static const double numbers[RT_CUBE_FACES] = {1, 10, 100, 1000, 10000, 100000};
    struct rt_texture cube = cube_of(SIDE);
    for (unsigned i = 0; i < RT_CUBE_FACES * SIDE * SIDE; i++)
        pixels[i] = (float)numbers[i / (SIDE * SIDE)];
    for (int x = -1; x <= 1; x++)
        for (int y = -1; y <= 1; y++)
            for (int z = -1; z <= 1; z++) {
                int count = abs(x) + abs(y) + abs(z);
                double sum = numbers[x < 0] * abs(x) + numbers[2 + (y < 0)] * abs(y) +
                             numbers[4 + (z < 0)] * abs(z);
                double got = fetch_direction(&cube, (double[3]){x, y, z});
                if (count > 0)
                    cr_expect_float_eq(got, sum / count, 1e-6 * sum, "%d %d %d: %f", x, y, z, got);
            }
}

/* Wherever two directions are near, what is found there is, too: also beyond an edge. */
Test(rt_texture, a_seamless_cube_has_no_steps)
{
    enum { SIDE = 5 };
    struct rt_texture cube = cube_of(SIDE);
    fill_pixels();
    for (int round = 0; round < 2000; round++) {
        double a[3];
        double b[3];
        for (int i = 0; i < 3; i++)
            a[i] = b[i] = (double)(next_random() % 2001) / 1000 - 1;
        unsigned first = next_random() % 3;
        unsigned second = (first + 1 + next_random() % 2) % 3;
        /* On both sides of an edge. */
        a[first] = b[first] = next_random() % 2 ? 1 : -1;
        a[second] = b[second] = next_random() % 2 ? 1 : -1;
        a[first] *= 1 + 1e-5;
        b[second] *= 1 + 1e-5;
        double difference = fabs(fetch_direction(&cube, a) - fetch_direction(&cube, b));
        cr_assert_lt(difference, 2 * 125.0 / 256, "%f %f %f", a[0], a[1], a[2]);
    }
}
