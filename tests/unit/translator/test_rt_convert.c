/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/convert.c against exact models: 16-bit results are searched in the list of all values of the
 * format, wider ones come from the host in the rounding mode asked for.
 */
#include "rt_samples.h"

#include <math.h>

#include <criterion/criterion.h>

struct format {
    unsigned mantissa_bits;
    uint32_t infinity; /* bits */
    long double
        values[0x8000]; /* of patterns without a sign, which are looked at millions of times */
};

static struct format f16 = {10, 0x7c00, {0}};
static struct format bf16 = {7, 0x7f80, {0}};

/* The value of a 16-bit pattern without a sign, NaN excluded. Infinity as the next power of two, as
 * rounding to nearest sees it. */
static long double compute_value(uint32_t bits, const struct format *format)
{
    int bias = (int)(format->infinity >> format->mantissa_bits) / 2;
    int exponent = (int)(bits >> format->mantissa_bits);
    uint32_t mantissa = bits & ((1u << format->mantissa_bits) - 1);
    if (exponent != 0)
        mantissa |= 1u << format->mantissa_bits;
    int scale = (exponent == 0 ? 1 : exponent) - bias - (int)format->mantissa_bits;
    return ldexpl((long double)mantissa, scale);
}

static void fill_values(void)
{
    for (uint32_t bits = 0; bits < 0x8000; bits++) {
        f16.values[bits] = compute_value(bits, &f16);
        bf16.values[bits] = compute_value(bits, &bf16);
    }
}

TestSuite(rt_convert, .init = fill_values);

static long double value_of(uint32_t bits, const struct format *format)
{
    long double magnitude = format->values[bits & 0x7fff];
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* a rounded to the format. a_is_negative: the sign when a is zero. */
static uint32_t model(long double a, bool a_is_negative, const struct format *format, uint32_t mode)
{
    uint32_t sign = a_is_negative ? 0x8000 : 0;
    long double magnitude = fabsl(a);
    if (isinf(magnitude))
        return sign | format->infinity;
    uint32_t low = 0; /* largest pattern not above the magnitude */
    uint32_t high = format->infinity;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (value_of(middle, format) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    if (value_of(high, format) <= magnitude)
        low = high;
    if (low == format->infinity) /* beyond the largest value */
        low = format->infinity - 1, magnitude = value_of(format->infinity, format);
    else if (value_of(low, format) == magnitude)
        return sign | low;
    long double below = magnitude - value_of(low, format);
    long double above = value_of(low + 1, format) - magnitude;
    bool up = mode == RT_ROUND_NEAREST ? below > above || (below == above && (low & 1))
              : mode == RT_ROUND_ZERO  ? false
                                       : mode == (a_is_negative ? RT_ROUND_DOWN : RT_ROUND_UP);
    return sign | (low + up);
}

Test(rt_convert, every_f16_and_bf16_widens_exactly)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        if ((bits & 0x7fff) < f16.infinity)
            cr_assert_eq(rt_f16_to_f32(bits), (float)value_of(bits, &f16));
        if ((bits & 0x7fff) < bf16.infinity)
            cr_assert_eq(rt_bf16_to_f32(bits), (float)value_of(bits, &bf16));
    }
    cr_assert(isnan(rt_f16_to_f32(0xfe00)));
    cr_assert(isnan(rt_bf16_to_f32(0x7f81)));
    cr_assert_eq(rt_f16_to_f32(0xfc00), -INFINITY);
}

static void check_narrow(double a)
{
    float single = (float)a;
    for (uint32_t mode = 0; mode < 4; mode++) {
        cr_assert_eq(rt_f64_to_f16(a, mode), model(a, signbit(a), &f16, mode), "f16 %a mode %u", a,
                     mode);
        cr_assert_eq(rt_f64_to_bf16(a, mode), model(a, signbit(a), &bf16, mode), "bf16 %a mode %u",
                     a, mode);
        cr_assert_eq(rt_f32_to_f16(single, mode), model(single, signbit(a), &f16, mode),
                     "f16 %a mode %u", (double)single, mode);
        cr_assert_eq(rt_f32_to_bf16(single, mode), model(single, signbit(a), &bf16, mode),
                     "bf16 %a mode %u", (double)single, mode);
    }
}

Test(rt_convert, every_f16_and_its_neighbourhood_rounds_once)
{
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        double low = (double)value_of(bits, &f16);
        double middle = (low + (double)value_of(bits + 1, &f16)) / 2;
        double tries[] = {low, middle, nextafter(middle, INFINITY), nextafter(middle, 0),
                          (double)nextafterf((float)middle, 0.0f)};
        for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
            check_narrow(tries[i]);
            check_narrow(-tries[i]);
        }
    }
}

Test(rt_convert, every_bf16_and_its_neighbourhood_rounds_once)
{
    for (uint32_t bits = 0; bits < 0x7f80; bits++) {
        double low = (double)value_of(bits, &bf16);
        double middle = (low + (double)value_of(bits + 1, &bf16)) / 2;
        check_narrow(middle);
        check_narrow(-nextafter(middle, INFINITY));
        check_narrow(nextafter(middle, 0));
    }
}

Test(rt_convert, random_doubles_round_once)
{
    uint64_t state = 5;
    for (uint32_t i = 0; i < 100000; i++) {
        double a = sample_f64(i, &state);
        if (a == a)
            check_narrow(a);
        float b = sample_f32(i, &state);
        if (b == b)
            check_narrow((double)b);
    }
}

Test(rt_convert, nan_becomes_the_canonical_one)
{
    for (uint32_t mode = 0; mode < 4; mode++) {
        cr_assert_eq(rt_f32_to_f16(float_of(0xffc12345), mode), 0x7fffu);
        cr_assert_eq(rt_f32_to_bf16(float_of(0xff800001), mode), 0x7fffu);
        cr_assert_eq(rt_f64_to_f16(-NAN, mode), 0x7fffu);
        cr_assert_eq(rt_f64_to_bf16(NAN, mode), 0x7fffu);
    }
    cr_assert_eq(rt_f32_to_tf32(-NAN, RT_ROUND_ZERO), 0x7fffe000u);
    cr_assert_eq(rt_f32_to_tf32(float_of(0x7f812345), RT_ROUND_AWAY), 0x7f812000u);
}

Test(rt_convert, tf32_keeps_ten_bits)
{
    cr_assert_eq(rt_f32_to_tf32(float_of(0x3f801000), RT_ROUND_AWAY), 0x3f802000u);
    cr_assert_eq(rt_f32_to_tf32(float_of(0xbf800fff), RT_ROUND_AWAY), 0xbf800000u);
    cr_assert_eq(rt_f32_to_tf32(float_of(0x3f801000), RT_ROUND_NEAREST), 0x3f800000u);
    cr_assert_eq(rt_f32_to_tf32(float_of(0x3f803000), RT_ROUND_NEAREST), 0x3f804000u);
    cr_assert_eq(rt_f32_to_tf32(float_of(0x3f803fff), RT_ROUND_ZERO), 0x3f802000u);
    cr_assert_eq(rt_f32_to_tf32(float_of(0x7f7fffff), RT_ROUND_AWAY), 0x7f800000u);
    cr_assert_eq(rt_f32_to_tf32(-INFINITY, RT_ROUND_AWAY), 0xff800000u);
    cr_assert_eq(rt_relu_tf32(0xbf800000), 0u);
    cr_assert_eq(rt_relu_tf32(0x3f800000), 0x3f800000u);
}

Test(rt_convert, doubles_narrow_to_f32_as_told)
{
    uint64_t state = 6;
    for (uint32_t i = 0; i < 200000; i++) {
        double a = sample_f64(i, &state);
        if (i > 100000) /* around f32 values */
            a = (double)sample_f32(UINT32_MAX, &state) * (1 + 0x1p-30 * (double)(i % 7 - 3.0));
        for (uint32_t mode = 0; mode < 4; mode++) {
            volatile double input = a;
            fesetround(host_modes[mode]);
            volatile float expected = (float)input;
            fesetround(FE_TONEAREST);
            cr_assert(same_f32(rt_f64_to_f32(a, mode), expected), "%a mode %u", a, mode);
        }
    }
}

static void check_integer(uint64_t bits)
{
    int64_t s = (int64_t)bits;
    for (uint32_t mode = 0; mode < 4; mode++) {
        cr_assert_eq(rt_s64_to_f16(s, mode), model(s, s < 0, &f16, mode));
        cr_assert_eq(rt_s64_to_bf16(s, mode), model(s, s < 0, &bf16, mode));
        cr_assert_eq(rt_u64_to_f16(bits, mode), model(bits, false, &f16, mode));
        cr_assert_eq(rt_u64_to_bf16(bits, mode), model(bits, false, &bf16, mode));
    }
    for (uint32_t mode = 1; mode < 4; mode++) { /* to nearest is the host's own conversion */
        volatile int64_t vs = s;
        volatile uint64_t vu = bits;
        fesetround(host_modes[mode]);
        volatile float s32 = (float)vs;
        volatile double s64 = (double)vs;
        fesetround(FE_TONEAREST);
        cr_assert(same_f32(rt_s64_to_f32(s, mode), s32), "%jd mode %u", (intmax_t)s, mode);
        cr_assert(same_f64(rt_s64_to_f64(s, mode), s64), "%jd mode %u", (intmax_t)s, mode);
        /* The host's long double holds every 64-bit integer. */
        volatile long double exact = vu;
        fesetround(host_modes[mode]);
        volatile float u32 = (float)exact;
        volatile double u64 = (double)exact;
        fesetround(FE_TONEAREST);
        cr_assert(same_f32(rt_u64_to_f32(vu, mode), u32), "%ju mode %u", (uintmax_t)vu, mode);
        cr_assert(same_f64(rt_u64_to_f64(vu, mode), u64), "%ju mode %u", (uintmax_t)vu, mode);
    }
}

Test(rt_convert, integers_convert_with_one_rounding)
{
    uint64_t state = 7;
    for (unsigned shift = 0; shift < 64; shift++) {
        for (int delta = -3; delta <= 3; delta++) {
            check_integer((UINT64_C(1) << shift) + (uint64_t)delta);
            check_integer((UINT64_C(3) << shift) + (uint64_t)delta);
            check_integer(0 - (UINT64_C(1) << shift) + (uint64_t)delta);
        }
    }
    for (uint32_t i = 0; i < 100000; i++)
        check_integer(random_bits(&state) >> (i % 64));
}
