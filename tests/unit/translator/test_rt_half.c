/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/half.c: 16-bit arithmetic against sums and products that are exact in a wide enough type.
 */
#include "rt_samples.h"

#include <float.h>
#include <math.h>

#include <criterion/criterion.h>

#if LDBL_MANT_DIG == 113
typedef long double quad;
#else
typedef __float128 quad;
#endif

static const uint32_t infinities[] = {[RT_HALF_F16] = 0x7c00, [RT_HALF_BF16] = 0x7f80};

/* Nearest, ties to even, from a quad-precision value: exact for all that is asked here. */
static uint32_t nearest(quad a, uint32_t format)
{
    uint32_t infinity = infinities[format];
    if (a != a)
        return 0x7fff;
    bool is_negative = a < 0;
    quad magnitude = is_negative ? -a : a;
    uint32_t low = 0;
    uint32_t high = infinity;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if ((quad)rt_half_to_f32(middle, format) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    quad lower = rt_half_to_f32(low, format);
    quad upper = high == infinity ? 2 * lower - (quad)rt_half_to_f32(low - 1, format)
                                  : (quad)rt_half_to_f32(high, format);
    quad below = magnitude - lower;
    quad above = upper - magnitude;
    bool up = below > above || (below == above && (low & 1));
    return (is_negative ? 0x8000u : 0) | (low + up);
}

static bool same(uint32_t a, uint32_t b, uint32_t format)
{
    bool both_nan = (a & 0x7fff) > infinities[format] && (b & 0x7fff) > infinities[format];
    bool both_zero = ((a | b) & 0x7fff) == 0; /* the model has no signed zero */
    return a == b || both_nan || both_zero;
}

static uint32_t sample(uint32_t index, uint64_t *state)
{
    static const uint16_t edges[] = {0x0000, 0x0001, 0x03ff, 0x0400, 0x0401, 0x3bff, 0x3c00,
                                     0x3c01, 0x7bff, 0x7c00, 0x7e00, 0x007f, 0x0080, 0x3f80,
                                     0x3f81, 0x7f7f, 0x7f80, 0x1400, 0x6400, 0x0001};
    size_t count = sizeof edges / sizeof edges[0];
    if (index < 2 * count)
        return edges[index / 2] ^ (index % 2 ? 0x8000u : 0);
    uint64_t bits = random_bits(state);
    return bits >> 63 ? ((uint32_t)bits & 0x83ff) | 0x3c00 : (uint32_t)bits & 0xffff;
}

static void check(uint32_t a, uint32_t b, uint32_t c, uint32_t format)
{
    quad x = rt_half_to_f32(a, format);
    quad y = rt_half_to_f32(b, format);
    quad z = rt_half_to_f32(c, format);
    cr_assert(same(rt_half_add(a, b, format), nearest(x + y, format), format), "%x + %x", a, b);
    cr_assert(same(rt_half_sub(a, b, format), nearest(x - y, format), format), "%x - %x", a, b);
    cr_assert(same(rt_half_mul(a, b, format), nearest(x * y, format), format), "%x * %x", a, b);
    /* Quad precision holds any f16 fma; of bf16 those whose parts are not too far apart. */
    quad product = x * y;
    quad sum = product + z;
    if (format == RT_HALF_F16 || (sum - product == z && sum - z == product))
        cr_assert(same(rt_half_fma(a, b, c, format), nearest(sum, format), format),
                  "fma(%x, %x, %x)", a, b, c);
    cr_assert_eq(rt_half_mad(a, b, c, format), rt_half_fma(a, b, c, format), "mad(%x, %x, %x)", a,
                 b, c);
}

Test(rt_half, arithmetic_rounds_once)
{
    uint64_t state = 8;
    for (uint32_t format = 0; format < 2; format++) {
        for (uint32_t i = 0; i < 40 * 40; i++)
            check(sample(i % 40, &state), sample(i / 40, &state), sample(i % 37, &state), format);
        for (uint32_t i = 0; i < 100000; i++)
            check(sample(UINT32_MAX, &state), sample(UINT32_MAX, &state),
                  sample(UINT32_MAX, &state), format);
    }
}

/* The product is halfway between two bf16 values, the addend far below. */
Test(rt_half, fma_breaks_ties_by_a_distant_addend)
{
    uint32_t x = 0x3f81; /* 1 + 2^-7 */
    uint32_t y = 0x3fc0; /* 1.5: product 1.51171875, a tie */
    cr_assert_eq(rt_half_fma(x, y, 0x0001, RT_HALF_BF16), 0x3fc2u);
    cr_assert_eq(rt_half_fma(x, y, 0x8001, RT_HALF_BF16), 0x3fc1u);
    cr_assert_eq(rt_half_fma(x, y, 0x0000, RT_HALF_BF16), 0x3fc2u);
}

/* Products that f32 cannot hold. */
Test(rt_half, products_of_bf16_may_be_too_large_or_too_small)
{
    static const struct {
        uint32_t a, b, c, result;
    } cases[] = {
        {0x7f00, 0x4000, 0xff00, 0x7f00}, /* 2^127 * 2 - 2^127 */
        {0x7f00, 0x4000, 0x7f00, 0x7f80},
        {0x7f7f, 0x7f7f, 0xff80, 0xff80}, /* minus infinity wins */
        {0x0080, 0x8080, 0x0000, 0x8000}, /* -2^-252 + 0 */
        {0x0001, 0x3f00, 0x0000, 0x0000}, /* half the smallest: a tie */
        {0x0003, 0x3f00, 0x0000, 0x0002},
        {0x0001, 0x3f01, 0x0000, 0x0001},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(rt_half_fma(cases[i].a, cases[i].b, cases[i].c, RT_HALF_BF16), cases[i].result,
                     "fma %zu", i);
        cr_expect_eq(rt_half_mad(cases[i].a, cases[i].b, cases[i].c, RT_HALF_BF16), cases[i].result,
                     "mad %zu", i);
    }
}

/* Rounded to f32, the sum lies halfway between two f16; the exact one is below or above. */
Test(rt_half, fma_of_f16_rounds_once)
{
    cr_assert_eq(rt_half_fma(0x3801, 0x3bfe, 0x6401, RT_HALF_F16), 0x6401u);
    cr_assert_eq(rt_half_fma(0x3816, 0x3bd5, 0x6400, RT_HALF_F16), 0x6401u);
    cr_assert_eq(rt_half_fma(0x3800, 0x3c00, 0x6401, RT_HALF_F16), 0x6402u);
}

Test(rt_half, zeros_keep_their_signs)
{
    cr_assert_eq(rt_half_add(0x8000, 0x8000, RT_HALF_F16), 0x8000u);
    cr_assert_eq(rt_half_add(0x8000, 0x0000, RT_HALF_F16), 0x0000u);
    cr_assert_eq(rt_half_mul(0x8000, 0x3c00, RT_HALF_F16), 0x8000u);
    cr_assert_eq(rt_half_fma(0x8000, 0x3c00, 0x8000, RT_HALF_F16), 0x8000u);
}

Test(rt_half, subnormals_stay_unless_flushed)
{
    cr_assert_eq(rt_half_add(0x0001, 0x0001, RT_HALF_F16), 0x0002u);
    cr_assert_eq(rt_half_mul(0x0400, 0x3800, RT_HALF_F16), 0x0200u);
    cr_assert_eq(rt_half_ftz(0x83ff, RT_HALF_F16), 0x8000u);
    cr_assert_eq(rt_half_ftz(0x0400, RT_HALF_F16), 0x0400u);
    cr_assert_eq(rt_half_ftz(0x007f, RT_HALF_BF16), 0x0000u);
    cr_assert_eq(rt_half_ftz(0x0080, RT_HALF_BF16), 0x0080u);
}

Test(rt_half, sat_and_relu_clamp_every_value)
{
    for (uint32_t format = 0; format < 2; format++) {
        uint32_t one = format == RT_HALF_F16 ? 0x3c00 : 0x3f80;
        for (uint32_t a = 0; a < 0x10000; a++) {
            float value = rt_half_to_f32(a, format);
            uint32_t sat = value != value || !(value > 0) ? 0 : value > 1 ? one : a;
            uint32_t relu = value != value ? 0x7fff : a & 0x8000 ? 0 : a;
            cr_assert_eq(rt_half_sat(a, format), sat, "%x", a);
            cr_assert_eq(rt_half_relu(a, format), relu, "%x", a);
        }
    }
}

Test(rt_half, min_and_max_follow_f32)
{
    cr_assert_eq(rt_half_minmax(0x8000, 0x0000, RT_HALF_F16, 0), 0x8000u);
    cr_assert_eq(rt_half_minmax(0x7e00, 0x3c00, RT_HALF_F16, 0), 0x3c00u);
    cr_assert_eq(rt_half_minmax(0x7e00, 0x3c00, RT_HALF_F16, RT_MINMAX_NAN), 0x7fffu);
    cr_assert_eq(rt_half_minmax(0xfe00, 0x7e01, RT_HALF_F16, RT_MINMAX_MAX), 0x7fffu);
    cr_assert_eq(rt_half_minmax(0x3f80, 0x4000, RT_HALF_BF16, RT_MINMAX_MAX), 0x4000u);
}

Test(rt_half, exponential_and_tanh_stay_within_the_bounds)
{
    for (uint32_t a = 0; a < 0x10000; a++) {
        float x = rt_half_to_f32(a, RT_HALF_F16);
        if (x != x || fabsf(x) > 15)
            continue;
        double exp2_error =
            (double)rt_half_to_f32(rt_half_ex2(a, RT_HALF_F16), RT_HALF_F16) / exp2((double)x) - 1;
        double tanh_error =
            (double)rt_half_to_f32(rt_half_tanh(a, RT_HALF_F16), RT_HALF_F16) - tanh((double)x);
        if (x >= -14) /* subnormal results have fewer bits */
            cr_assert_leq(fabs(exp2_error), 0x1.12p-10 * 2, "%a", (double)x);
        cr_assert_leq(fabs(tanh_error), 0x1.03p-11, "%a", (double)x);
    }
}
