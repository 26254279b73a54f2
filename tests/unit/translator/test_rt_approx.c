/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/approx.c: the largest error found stays under the manual's bound, and the tables of special
 * values hold.
 */
#include "rt_samples.h"

#include <math.h>

#include <criterion/criterion.h>

/* Distance from the exact value in units of the last place of f32 there. */
static double ulps(float actual, long double exact)
{
    int exponent = ilogbl(exact);
    long double unit = ldexpl(1, (exponent < -126 ? -126 : exponent) - 23);
    return (double)(fabsl((long double)actual - exact) / unit);
}

Test(rt_approx, ex2_is_within_1_ulp_subnormals_included)
{
    double worst = 0;
    for (uint32_t i = 0; i <= 4000000; i++) {
        float a = -150.0f + 278.0f * (float)i / 4000000.0f;
        if (a < 128.0f)
            worst = fmax(worst, ulps(rt_ex2_f32(a), exp2l((long double)a)));
    }
    cr_assert_leq(worst, 1.0, "%g ulp", worst);
    cr_assert_gt(worst, 0.0);
}

Test(rt_approx, ex2_special_values)
{
    cr_assert_eq(rt_ex2_f32(-INFINITY), 0.0f);
    cr_assert_eq(rt_ex2_f32(INFINITY), INFINITY);
    cr_assert_eq(rt_ex2_f32(128.0f), INFINITY);
    cr_assert_eq(rt_ex2_f32(-200.0f), 0.0f);
    cr_assert_eq(rt_ex2_f32(float_of(0x80000001)), 1.0f);
    cr_assert_eq(rt_ex2_f32(-149.0f), 0x1p-149f);
    cr_assert(isnan(rt_ex2_f32(NAN)));
    for (int i = -149; i < 128; i++)
        cr_assert_eq(rt_ex2_f32((float)i), ldexpf(1.0f, i));
}

Test(rt_approx, lg2_is_within_its_absolute_and_relative_bounds)
{
    double absolute = 0;
    double relative = 0;
    for (uint32_t bits = 1; bits < 0x7f800000; bits += 397) {
        float a = float_of(bits);
        double exact = log2((double)a);
        double error = fabs((double)rt_lg2_f32(a) - exact);
        if (a > 0.5f && a < 2.0f)
            absolute = fmax(absolute, error);
        else
            relative = fmax(relative, error / fabs(exact));
    }
    cr_assert_leq(absolute, 0x1p-22, "%a", absolute);
    cr_assert_leq(relative, 0x1p-22, "%a", relative);
}

Test(rt_approx, lg2_special_values)
{
    cr_assert_eq(rt_lg2_f32(0.0f), -INFINITY);
    cr_assert_eq(rt_lg2_f32(-0.0f), -INFINITY);
    cr_assert_eq(rt_lg2_f32(INFINITY), INFINITY);
    cr_assert(isnan(rt_lg2_f32(-1.0f)));
    cr_assert(isnan(rt_lg2_f32(-INFINITY)));
    cr_assert(isnan(rt_lg2_f32(NAN)));
    for (int i = -149; i < 128; i++)
        cr_assert_eq(rt_lg2_f32(ldexpf(1.0f, i)), (float)i);
}

static void check_trigonometry(double range, double bound)
{
    double worst = 0;
    for (uint32_t i = 0; i <= 3000000; i++) {
        float a = (float)(-range + 2 * range * (double)i / 3000000);
        if (fabs((double)a) > range)
            continue;
        worst = fmax(worst, fabs((double)rt_sin_f32(a) - sin((double)a)));
        worst = fmax(worst, fabs((double)rt_cos_f32(a) - cos((double)a)));
    }
    cr_assert_leq(worst, bound, "%a in %g", worst, range);
}

Test(rt_approx, sin_and_cos_are_within_their_bounds)
{
    check_trigonometry(2 * M_PI, 0x1.6ap-21);
    check_trigonometry(100 * M_PI, 0x1.3ap-15);
}

Test(rt_approx, sin_and_cos_special_values)
{
    cr_assert_eq(float_bits(rt_sin_f32(-0.0f)), 0x80000000u);
    cr_assert_eq(float_bits(rt_sin_f32(0.0f)), 0u);
    cr_assert_eq(rt_cos_f32(-0.0f), 1.0f);
    cr_assert(isnan(rt_sin_f32(INFINITY)));
    cr_assert(isnan(rt_cos_f32(-INFINITY)));
    cr_assert(isnan(rt_sin_f32(NAN)));
    for (uint32_t bits = 0; bits < 0x7f800000; bits += 9973) {
        cr_assert_leq(fabsf(rt_sin_f32(float_of(bits))), 1.0f);
        cr_assert_leq(fabsf(rt_cos_f32(float_of(bits))), 1.0f);
    }
}

Test(rt_approx, tanh_is_within_its_relative_bound)
{
    double worst = 0;
    for (uint32_t bits = 0x00800000; bits < 0x7f800000; bits += 997) {
        float a = float_of(bits);
        worst = fmax(worst, fabs((double)rt_tanh_f32(a) / tanh((double)a) - 1));
        cr_assert_eq(rt_tanh_f32(-a), -rt_tanh_f32(a));
    }
    cr_assert_leq(worst, 0x1p-11, "%a", worst);
    cr_assert_eq(rt_tanh_f32(-INFINITY), -1.0f);
    cr_assert_eq(float_bits(rt_tanh_f32(-0.0f)), 0x80000000u);
    cr_assert(isnan(rt_tanh_f32(NAN)));
}

Test(rt_approx, rsqrt_is_within_its_relative_bound)
{
    double worst = 0;
    for (uint32_t bits = 1; bits < 0x7f800000; bits += 397) {
        float a = float_of(bits);
        worst = fmax(worst, fabs((double)rt_rsqrt_f32(a) * sqrt((double)a) - 1));
    }
    cr_assert_leq(worst, 0x1.12p-23, "%a", worst); /* 2^-22.9 */
    double normal = 0;
    for (uint32_t bits = 0x3f800000; bits < 0x40800000; bits++) { /* even and odd exponents */
        float a = float_of(bits);
        normal = fmax(normal, fabs((double)rt_rsqrt_f32(a) * sqrt((double)a) - 1));
    }
    cr_assert_leq(normal, 0x1.45p-24, "%a", normal); /* 2^-23.6 */
    for (int half = -74; half <= 63; half++)
        cr_assert_eq(rt_rsqrt_f32(ldexpf(1, 2 * half)), ldexpf(1, -half));
    cr_assert_eq(rt_rsqrt_f32(-0.0f), -INFINITY);
    cr_assert_eq(rt_rsqrt_f32(0.0f), INFINITY);
    cr_assert_eq(rt_rsqrt_f32(INFINITY), 0.0f);
    cr_assert(isnan(rt_rsqrt_f32(-1.0f)));
    cr_assert(isnan(rt_rsqrt_f32(-0x1p-149f)));
    cr_assert(isnan(rt_rsqrt_f32(-INFINITY)));
    cr_assert(isnan(rt_rsqrt_f32(NAN)));
}

Test(rt_approx, rsqrt_of_f64_is_within_1_ulp)
{
    uint64_t state = 11;
    for (uint32_t i = 0; i < 100000; i++) {
        double a = double_of(random_bits(&state) % 0x7ff0000000000000u);
        long double exact = 1 / sqrtl((long double)a);
        long double unit = ldexpl(1, ilogbl(exact) - 52);
        cr_assert_leq((double)(fabsl(rt_rsqrt_f64(a) - exact) / unit), 1.0, "%a", a);
    }
    cr_assert_eq(rt_rsqrt_f64(4.0), 0.5);
    cr_assert_eq(rt_rsqrt_f64(INFINITY), 0.0);
    cr_assert(isnan(rt_rsqrt_f64(-1.0)));
    cr_assert_eq(rt_rsqrt_f64(-0.0), -INFINITY);
}

Test(rt_approx, div_approx_gives_zero_for_huge_divisors)
{
    cr_assert_eq(rt_div_approx_f32(1.0f, 3.0f), 1.0f / 3.0f);
    cr_assert_eq(rt_div_approx_f32(0x1p127f, 0x1p126f), 2.0f);
    cr_assert_eq(rt_div_approx_f32(0x1p127f, 0x1p127f), 0.0f);
    cr_assert_eq(float_bits(rt_div_approx_f32(1.0f, -0x1.8p126f)), 0x80000000u);
    cr_assert(isnan(rt_div_approx_f32(INFINITY, 0x1p127f)));
    cr_assert_eq(rt_div_approx_f32(1.0f, INFINITY), 0.0f);
    cr_assert(isnan(rt_div_approx_f32(1.0f, NAN)));
    cr_assert_eq(rt_div_approx_f32(1.0f, 0.0f), INFINITY);
}

Test(rt_approx, gross_f64_approximations_use_the_upper_word)
{
    uint64_t state = 9;
    for (uint32_t i = 0; i < 100000; i++) {
        double a = double_of((random_bits(&state) & 0x1fffffffffffffffu) + 0x2000000000000000u);
        cr_assert_leq(fabs(rt_rcp_ftz_f64(a) * a - 1), 0x1p-18);
        cr_assert_leq(fabs(rt_rsqrt_ftz_f64(a) * sqrt(a) - 1), 0x1p-18);
        cr_assert_eq((uint32_t)double_bits(rt_rcp_ftz_f64(a)), 0u);
        cr_assert_eq((uint32_t)double_bits(rt_rsqrt_ftz_f64(a)), 0u);
    }
    cr_assert_eq(rt_rcp_ftz_f64(0x1p-1060), INFINITY);
    cr_assert_eq(rt_rcp_ftz_f64(-0x1p-1060), -INFINITY);
    cr_assert_eq(double_bits(rt_rcp_ftz_f64(-INFINITY)), 0x8000000000000000u);
    cr_assert_eq(double_bits(rt_rcp_ftz_f64(0x1p1023 * 1.5)), 0u);
    cr_assert_eq(double_bits(rt_rcp_ftz_f64(double_of(0xfff0000100000000u))), 0x7fffffff00000000u);
    cr_assert_eq(rt_rcp_ftz_f64(double_of(0x7ff0000000000001u)), 0.0, "the lower word is ignored");
    cr_assert_eq(rt_rsqrt_ftz_f64(0x1p-1060), INFINITY);
    cr_assert_eq(rt_rsqrt_ftz_f64(-0.0), -INFINITY);
    cr_assert_eq(double_bits(rt_rsqrt_ftz_f64(-4.0)), 0x7fffffff00000000u);
}
