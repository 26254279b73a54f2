/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/float.c against the host's arithmetic in each rounding mode, on every pair or triple of edge
 * values and on random ones.
 */
#include "rt_samples.h"

#include <math.h>

#include <criterion/criterion.h>

#define RANDOM_COUNT 100000u
#define MODE_COUNT   4u /* from 1: to nearest is the host's own arithmetic */

typedef float (*oracle_f32)(volatile float a, volatile float b, volatile float c);
typedef double (*oracle_f64)(volatile double a, volatile double b, volatile double c);
typedef float (*tested_f32)(float a, float b, float c, uint32_t mode);
typedef double (*tested_f64)(double a, double b, double c, uint32_t mode);

static void check_f32(const char *name, unsigned arity, oracle_f32 oracle, tested_f32 tested)
{
    uint64_t state = 1;
    uint32_t edges = 2 * F32_EDGE_COUNT;
    uint32_t all = arity == 1 ? edges : arity == 2 ? edges * edges : edges * edges * edges;
    for (uint32_t i = 0; i < all + RANDOM_COUNT; i++) {
        bool is_edge = i < all;
        float a = sample_f32(is_edge ? i % edges : UINT32_MAX, &state);
        float b = sample_f32(is_edge ? i / edges % edges : UINT32_MAX, &state);
        float c = sample_f32(is_edge ? i / (edges * edges) : UINT32_MAX, &state);
        for (uint32_t mode = 1; mode < MODE_COUNT; mode++) {
            fesetround(host_modes[mode]);
            volatile float expected = oracle(a, b, c);
            fesetround(FE_TONEAREST);
            float actual = tested(a, b, c, mode);
            if (!same_f32(actual, expected))
                cr_assert_fail("%s(%a, %a, %a) mode %u: %a, not %a", name, (double)a, (double)b,
                               (double)c, mode, (double)actual, (double)expected);
        }
    }
}

static void check_f64(const char *name, unsigned arity, oracle_f64 oracle, tested_f64 tested)
{
    uint64_t state = 2;
    uint32_t edges = 2 * F64_EDGE_COUNT;
    uint32_t all = arity == 1 ? edges : arity == 2 ? edges * edges : edges * edges * edges;
    for (uint32_t i = 0; i < all + RANDOM_COUNT; i++) {
        bool is_edge = i < all;
        double a = sample_f64(is_edge ? i % edges : UINT32_MAX, &state);
        double b = sample_f64(is_edge ? i / edges % edges : UINT32_MAX, &state);
        double c = sample_f64(is_edge ? i / (edges * edges) : UINT32_MAX, &state);
        for (uint32_t mode = 1; mode < MODE_COUNT; mode++) {
            fesetround(host_modes[mode]);
            volatile double expected = oracle(a, b, c);
            fesetround(FE_TONEAREST);
            double actual = tested(a, b, c, mode);
            if (!same_f64(actual, expected))
                cr_assert_fail("%s(%a, %a, %a) mode %u: %a, not %a", name, a, b, c, mode, actual,
                               expected);
        }
    }
}

static float host_add(volatile float a, volatile float b, volatile float c)
{
    (void)c;
    return a + b;
}
static float host_mul(volatile float a, volatile float b, volatile float c)
{
    (void)c;
    return a * b;
}
static float host_div(volatile float a, volatile float b, volatile float c)
{
    (void)c;
    return a / b;
}
static float host_fma(volatile float a, volatile float b, volatile float c)
{
    return fmaf(a, b, c);
}
static float host_sqrt(volatile float a, volatile float b, volatile float c)
{
    (void)b;
    (void)c;
    return sqrtf(a);
}
static float our_add(float a, float b, float c, uint32_t mode)
{
    (void)c;
    return rt_add_f32(a, b, mode);
}
static float our_mul(float a, float b, float c, uint32_t mode)
{
    (void)c;
    return rt_mul_f32(a, b, mode);
}
static float our_div(float a, float b, float c, uint32_t mode)
{
    (void)c;
    return rt_div_f32(a, b, mode);
}
static float our_fma(float a, float b, float c, uint32_t mode)
{
    return rt_fma_f32(a, b, c, mode);
}
static float our_sqrt(float a, float b, float c, uint32_t mode)
{
    (void)b;
    (void)c;
    return rt_sqrt_f32(a, mode);
}

static double host_add64(volatile double a, volatile double b, volatile double c)
{
    (void)c;
    return a + b;
}
static double host_mul64(volatile double a, volatile double b, volatile double c)
{
    (void)c;
    return a * b;
}
static double host_div64(volatile double a, volatile double b, volatile double c)
{
    (void)c;
    return a / b;
}
static double host_fma64(volatile double a, volatile double b, volatile double c)
{
    return fma(a, b, c);
}
static double host_sqrt64(volatile double a, volatile double b, volatile double c)
{
    (void)b;
    (void)c;
    return sqrt(a);
}
static double our_add64(double a, double b, double c, uint32_t mode)
{
    (void)c;
    return rt_add_f64(a, b, mode);
}
static double our_mul64(double a, double b, double c, uint32_t mode)
{
    (void)c;
    return rt_mul_f64(a, b, mode);
}
static double our_div64(double a, double b, double c, uint32_t mode)
{
    (void)c;
    return rt_div_f64(a, b, mode);
}
static double our_fma64(double a, double b, double c, uint32_t mode)
{
    return rt_fma_f64(a, b, c, mode);
}
static double our_sqrt64(double a, double b, double c, uint32_t mode)
{
    (void)b;
    (void)c;
    return rt_sqrt_f64(a, mode);
}

Test(rt_float, f32_addition_rounds_as_told)
{
    check_f32("add", 2, host_add, our_add);
}
Test(rt_float, f32_multiplication_rounds_as_told)
{
    check_f32("mul", 2, host_mul, our_mul);
}
Test(rt_float, f32_division_rounds_as_told_in_directed_modes)
{
    check_f32("div", 2, host_div, our_div);
}
Test(rt_float, f32_square_root_rounds_as_told)
{
    check_f32("sqrt", 1, host_sqrt, our_sqrt);
}
Test(rt_float, f32_fma_rounds_once_as_told)
{
    check_f32("fma", 3, host_fma, our_fma);
}
Test(rt_float, f64_addition_rounds_as_told)
{
    check_f64("add", 2, host_add64, our_add64);
}
Test(rt_float, f64_multiplication_rounds_as_told)
{
    check_f64("mul", 2, host_mul64, our_mul64);
}
Test(rt_float, f64_division_rounds_as_told)
{
    check_f64("div", 2, host_div64, our_div64);
}
Test(rt_float, f64_square_root_rounds_as_told)
{
    check_f64("sqrt", 1, host_sqrt64, our_sqrt64);
}
Test(rt_float, f64_fma_rounds_once_as_told)
{
    check_f64("fma", 3, host_fma64, our_fma64);
}

Test(rt_float, ftz_flushes_subnormals_and_keeps_their_sign)
{
    cr_assert_eq(float_bits(rt_ftz_f32(float_of(0x007fffff))), 0u);
    cr_assert_eq(float_bits(rt_ftz_f32(float_of(0x80000001))), 0x80000000u);
    cr_assert_eq(float_bits(rt_ftz_f32(float_of(0x80800000))), 0x80800000u);
    cr_assert_eq(float_bits(rt_ftz_f32(float_of(0x7fc00000))), 0x7fc00000u);
}

Test(rt_float, sat_clamps_and_iterations_nan_to_plus_zero)
{
    cr_assert_eq(float_bits(rt_sat_f32(NAN)), 0u);
    cr_assert_eq(float_bits(rt_sat_f32(-0.0f)), 0u);
    cr_assert_eq(float_bits(rt_sat_f32(-INFINITY)), 0u);
    cr_assert_eq(rt_sat_f32(0.25f), 0.25f);
    cr_assert_eq(rt_sat_f32(1.5f), 1.0f);
    cr_assert_eq(double_bits(rt_sat_f64(-NAN)), 0u);
    cr_assert_eq(rt_sat_f64(INFINITY), 1.0);
}

Test(rt_float, min_and_max_prefer_numbers_and_order_zeros)
{
    cr_assert_eq(float_bits(rt_minmax_f32(-0.0f, 0.0f, 0)), 0x80000000u);
    cr_assert_eq(float_bits(rt_minmax_f32(0.0f, -0.0f, 0)), 0x80000000u);
    cr_assert_eq(float_bits(rt_minmax_f32(-0.0f, 0.0f, RT_MINMAX_MAX)), 0u);
    cr_assert_eq(float_bits(rt_minmax_f32(0.0f, -0.0f, RT_MINMAX_MAX)), 0u);
    cr_assert_eq(rt_minmax_f32(NAN, 3.0f, 0), 3.0f);
    cr_assert_eq(rt_minmax_f32(3.0f, NAN, RT_MINMAX_MAX), 3.0f);
    cr_assert_eq(float_bits(rt_minmax_f32(-NAN, float_of(0xffc12345), 0)), 0x7fffffffu);
    cr_assert_eq(float_bits(rt_minmax_f32(1.0f, -NAN, RT_MINMAX_NAN)), 0x7fffffffu);
    cr_assert_eq(rt_minmax_f32(-2.0f, 3.0f, 0), -2.0f);
    cr_assert_eq(rt_minmax_f32(-2.0f, 3.0f, RT_MINMAX_MAX), 3.0f);
    cr_assert_eq(rt_minmax_f64(NAN, -3.0, RT_MINMAX_MAX), -3.0);
    cr_assert_eq(rt_minmax_f64(-3.0, NAN, 0), -3.0);
    cr_assert_eq(double_bits(rt_minmax_f64(0.0, -0.0, 0)), 0x8000000000000000u);
    cr_assert(isnan(rt_minmax_f64(NAN, NAN, 0)));
}

Test(rt_float, reciprocals_below_the_normal_range_are_flushed_before_rounding)
{
    cr_assert_eq(float_bits(rt_flush_reciprocal_f32(0x1p-126f, 0x1.000002p126f)), 0u);
    cr_assert_eq(float_bits(rt_flush_reciprocal_f32(-0x1p-126f, -INFINITY)), 0x80000000u);
    cr_assert_eq(rt_flush_reciprocal_f32(0x1p-126f, 0x1p126f), 0x1p-126f);
}

Test(rt_float, xorsign_compares_magnitudes_and_xors_signs)
{
    cr_assert_eq(rt_minmax_f32(-2.0f, 3.0f, RT_MINMAX_XORSIGN | RT_MINMAX_ABS), -2.0f);
    cr_assert_eq(rt_minmax_f32(-2.0f, -3.0f, RT_MINMAX_XORSIGN | RT_MINMAX_ABS), 2.0f);
    uint32_t max_flags = RT_MINMAX_XORSIGN | RT_MINMAX_ABS | RT_MINMAX_MAX;
    cr_assert_eq(rt_minmax_f32(2.0f, -3.0f, max_flags), -3.0f);
    cr_assert_eq(rt_minmax_f32(-2.0f, -3.0f, RT_MINMAX_ABS), 2.0f);
    cr_assert_eq(rt_minmax_f32(-2.0f, NAN, RT_MINMAX_ABS), 2.0f);
}

Test(rt_float, testp_classifies)
{
    static const struct {
        uint32_t bits;
        uint8_t finite, infinite, number, nan, normal, subnormal;
    } cases[] = {
        {0x00000000, 1, 0, 1, 0, 1, 0}, {0x80000000, 1, 0, 1, 0, 1, 0}, /* zeros are normal */
        {0x00000001, 1, 0, 1, 0, 0, 1}, {0x807fffff, 1, 0, 1, 0, 0, 1},
        {0x00800000, 1, 0, 1, 0, 1, 0}, {0xff7fffff, 1, 0, 1, 0, 1, 0},
        {0xff800000, 0, 1, 1, 0, 0, 0}, {0x7fc00000, 0, 0, 0, 1, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float a = float_of(cases[i].bits);
        cr_assert_eq(rt_testp_f32(a, RT_TESTP_FINITE), cases[i].finite);
        cr_assert_eq(rt_testp_f32(a, RT_TESTP_INFINITE), cases[i].infinite);
        cr_assert_eq(rt_testp_f32(a, RT_TESTP_NUMBER), cases[i].number);
        cr_assert_eq(rt_testp_f32(a, RT_TESTP_NOTANUMBER), cases[i].nan);
        cr_assert_eq(rt_testp_f32(a, RT_TESTP_NORMAL), cases[i].normal);
        cr_assert_eq(rt_testp_f32(a, RT_TESTP_SUBNORMAL), cases[i].subnormal);
    }
    cr_assert(rt_testp_f64(0x1p-1060, RT_TESTP_SUBNORMAL));
    cr_assert_not(rt_testp_f64(0.0, RT_TESTP_SUBNORMAL));
    cr_assert(rt_testp_f64(-0.0, RT_TESTP_NORMAL));
    cr_assert(rt_testp_f64(0x1p-1022, RT_TESTP_NORMAL));
    cr_assert(rt_testp_f64(-INFINITY, RT_TESTP_INFINITE));
    cr_assert(rt_testp_f64(NAN, RT_TESTP_NOTANUMBER));
}
