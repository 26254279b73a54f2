/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/small.c against the formats' definitions (PTX ISA "Alternate Floating-Point Data Formats"):
 * every code is decoded, and values are encoded by a search among all codes.
 */
#include "rt_samples.h"

#include <math.h>

#include <criterion/criterion.h>

struct format {
    uint32_t id;
    unsigned exponent_bits;
    unsigned mantissa_bits;
    int bias;
    uint32_t most; /* largest finite magnitude */
};

static const struct format formats[] = {
    {RT_SMALL_E4M3, 4, 3, 7, 0x7e}, {RT_SMALL_E5M2, 5, 2, 15, 0x7b}, {RT_SMALL_E2M3, 2, 3, 1, 0x1f},
    {RT_SMALL_E3M2, 3, 2, 3, 0x1f}, {RT_SMALL_E2M1, 2, 1, 1, 0x07},
};
#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

/* The value of a magnitude, finite codes only. */
static double value_of(uint32_t magnitude, const struct format *format)
{
    int exponent = (int)(magnitude >> format->mantissa_bits);
    double mantissa = magnitude & ((1u << format->mantissa_bits) - 1);
    if (exponent != 0)
        mantissa += 1 << format->mantissa_bits;
    return ldexp(mantissa,
                 (exponent == 0 ? 1 : exponent) - format->bias - (int)format->mantissa_bits);
}

static uint32_t sign_of(const struct format *format)
{
    return 1u << (format->exponent_bits + format->mantissa_bits);
}

/* The nearest code, the even one of two. */
static uint32_t model(float a, const struct format *format, bool relu)
{
    bool is_negative = (float_bits(a) & 0x80000000u) != 0;
    uint32_t best = 0;
    if (a != a)
        return format->bias == 7 || format->bias == 15 ? 0x7f : format->most;
    if (relu && is_negative)
        return 0;
    for (uint32_t code = 1; code <= format->most; code++) {
        double distance = fabs(fabs((double)a) - value_of(code, format));
        double least = fabs(fabs((double)a) - value_of(best, format));
        if (distance < least || (distance == least && code % 2 == 0))
            best = code;
    }
    if (fabs((double)a) >= value_of(format->most, format))
        best = format->most;
    return best | (is_negative ? sign_of(format) : 0);
}

Test(rt_small, every_code_decodes_to_its_value)
{
    for (size_t f = 0; f < FORMAT_COUNT; f++) {
        const struct format *format = &formats[f];
        uint32_t sign = sign_of(format);
        for (uint32_t code = 0; code < 2 * sign; code++) {
            uint32_t bits = rt_small_to_f16(code, format->id, 0);
            double expected = value_of(code & (sign - 1), format);
            if ((code & (sign - 1)) > format->most)
                continue;
            expected = code & sign ? -expected : expected;
            cr_expect_eq(double_bits((double)rt_f16_to_f32(bits)), double_bits(expected),
                         "format %u code %02x: %04x", format->id, code, bits);
            uint32_t clamped = code & sign ? 0 : bits;
            cr_expect_eq(rt_small_to_f16(code, format->id, 1), clamped);
        }
    }
}

Test(rt_small, infinity_and_nan_of_the_8_bit_formats)
{
    cr_assert_eq(rt_small_to_f16(0x7f, RT_SMALL_E4M3, 0), 0x7fff);
    cr_assert_eq(rt_small_to_f16(0xff, RT_SMALL_E4M3, 1), 0x7fff);
    cr_assert_eq(rt_small_to_f16(0x7c, RT_SMALL_E5M2, 0), 0x7c00);
    cr_assert_eq(rt_small_to_f16(0xfc, RT_SMALL_E5M2, 0), 0xfc00);
    cr_assert_eq(rt_small_to_f16(0xfc, RT_SMALL_E5M2, 1), 0);
    cr_assert_eq(rt_small_to_f16(0x7d, RT_SMALL_E5M2, 0), 0x7fff);
    cr_assert_eq(rt_small_to_f16(0xfe, RT_SMALL_E5M2, 1), 0x7fff);
}

/* Samples around every code and every tie, besides the usual ones. */
Test(rt_small, values_go_to_the_nearest_code)
{
    for (size_t f = 0; f < FORMAT_COUNT; f++) {
        const struct format *format = &formats[f];
        uint64_t state = f;
        for (uint32_t i = 0; i < 2000; i++) {
            float a = sample_f32(i, &state);
            cr_expect_eq(rt_f32_to_small(a, format->id, 0), model(a, format, false), "%a of %zu",
                         (double)a, f);
            cr_expect_eq(rt_f32_to_small(a, format->id, 1), model(a, format, true));
        }
        for (uint32_t code = 0; code < format->most; code++) {
            double tie = (value_of(code, format) + value_of(code + 1, format)) / 2;
            for (int step = -1; step <= 1; step++) {
                float a = float_of(float_bits((float)tie) + (uint32_t)step);
                cr_expect_eq(rt_f32_to_small(-a, format->id, 0), model(-a, format, false),
                             "%a of %zu", (double)a, f);
            }
        }
    }
}

/* 16 random bits are added to the highest of those that are cut. */
Test(rt_small, random_bits_decide_about_the_last_place)
{
    static const struct {
        float a;
        uint32_t format;
        uint32_t random;
        uint32_t code;
    } rows[] = {
        {1.0f, RT_SMALL_E4M3, 0xffff, 0x38},     {1.0625f, RT_SMALL_E4M3, 0x7fff, 0x38},
        {1.0625f, RT_SMALL_E4M3, 0x8000, 0x39},  {-1.0625f, RT_SMALL_E4M3, 0x8000, 0xb9},
        {0x1p-10f, RT_SMALL_E4M3, 0x7fff, 0},    {0x1p-10f, RT_SMALL_E4M3, 0x8000, 1},
        {0x1p-25f, RT_SMALL_E4M3, 0xffff, 1},    {0x1p-26f, RT_SMALL_E4M3, 0xffff, 0},
        {3.5f, RT_SMALL_E2M1, 0x7fff, 5},        {3.5f, RT_SMALL_E2M1, 0x8000, 6},
        {3.875f, RT_SMALL_E2M1, 0xffff, 6},      {1e9f, RT_SMALL_E4M3, 0, 0x7e},
        {-INFINITY, RT_SMALL_E5M2, 0, 0xfb},     {NAN, RT_SMALL_E5M2, 0, 0x7f},
        {NAN, RT_SMALL_E2M3, 0, 0x1f},           {7.5f, RT_SMALL_E2M3, 0xffff, 0x1f},
        {0x1.4p0f, RT_SMALL_E3M2, 0x1ffff, 0xd},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect_eq(rt_f32_to_small_random(rows[i].a, rows[i].format, 0, rows[i].random),
                     rows[i].code, "%a with 0x%x", rows[i].a, rows[i].random);
    cr_expect_eq(rt_f32_to_small_random(-1, RT_SMALL_E4M3, 1, 0), 0);
}

Test(rt_small, scales_are_powers_of_two)
{
    static const struct {
        uint32_t bits, zero, up, up_finite;
    } cases[] = {
        {0x3f800000, 127, 127, 127}, {0xbf800000, 127, 127, 127}, /* the sign is ignored */
        {0x3f800001, 127, 128, 128}, {0x3fffffff, 127, 128, 128},
        {0x00000000, 0, 0, 0},       {0x00000001, 0, 0, 0},
        {0x00400000, 0, 0, 0},       {0x00400001, 0, 1, 1}, /* 2^-127 and above it */
        {0x00800000, 1, 1, 1},       {0x7f000000, 254, 254, 254},
        {0x7f000001, 254, 255, 254}, {0x7fc00000, 255, 255, 255},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float a = float_of(cases[i].bits);
        cr_expect_eq(rt_f32_to_ue8m0(a, RT_ROUND_ZERO, 0), cases[i].zero, "%08x", cases[i].bits);
        cr_expect_eq(rt_f32_to_ue8m0(a, RT_ROUND_UP, 0), cases[i].up, "%08x", cases[i].bits);
        cr_expect_eq(rt_f32_to_ue8m0(a, RT_ROUND_UP, 1), cases[i].up_finite, "%08x", cases[i].bits);
    }
    cr_assert_eq(rt_f32_to_ue8m0(INFINITY, RT_ROUND_ZERO, 0), 255);
    cr_assert_eq(rt_f32_to_ue8m0(-INFINITY, RT_ROUND_ZERO, 1), 254);
    for (uint32_t code = 0; code < 255; code++)
        cr_expect_eq((double)rt_bf16_to_f32(rt_ue8m0_to_bf16(code)), ldexp(1.0, (int)code - 127));
    cr_assert_eq(rt_ue8m0_to_bf16(255), 0x7fff);
}
