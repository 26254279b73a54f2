/* SPDX-License-Identifier: Apache-2.0
 *
 * The approximate instructions of PTX, each within the manual's bound and with its table of special
 * values; polynomials are minimax fits. No calls, no tables, and branches only around rare cases,
 * so that lanes can run side by side. Compiled to bitcode.
 */
#include "translator/rt/bits.h"

static float fma_f32(float a, float b, float c)
{
    return __builtin_elementwise_fma(a, b, c);
}

/* PTX ISA "div": div.approx is a * (1/b). "For |b| in [2^126, 2^128], if a is infinity, the result
 * is NaN, otherwise 0": the reciprocal is subnormal there and flushed. Below, 2 ulp. */
float rt_div_approx_f32(float a, float b)
{
    float flushed = a * f32_of(bits_f32(b) & SIGN_F32);
    float quotient = a / b;
    return __builtin_fabsf(b) > 0x1p126f ? flushed : quotient;
}

/* PTX ISA "rsqrt.approx": a relative error of at most 2^-22.9; here 2^-23.6. Halves the exponent by
 * integer arithmetic, which is right within 7 % of a * y * y, then applies a polynomial and a step
 * of Newton's: less than half the time that vectors of square roots and divisions take. Other
 * values than positive normal numbers take those, behind a rare branch. */
float rt_rsqrt_f32(float a)
{
    float y = f32_of(0x5f375000u - (bits_f32(a) >> 1));
    float square = a * y * y;
    float p = 3.756285949e-01f;
    p = fma_f32(p, square, -1.252351148e+00f);
    p = fma_f32(p, square, 1.876722936e+00f);
    y = y * p;
    float rest = fma_f32(-(a * y), y, 1.0f);
    y = fma_f32(0.5f * y, rest, y);
    if (__builtin_expect(bits_f32(a) - 0x00800000u >= INF_F32 - 0x00800000u, 0))
        y = 1.0f / __builtin_elementwise_sqrt(a);
    return y;
}

/* 1 / sqrt(a), corrected by the exact remainders of both steps: within 1 ulp, as the library
 * function that is this instruction promises. Zeros, infinity and NaN have no remainders; those of
 * tiny arguments would underflow without the scaling. */
double rt_rsqrt_f64(double a)
{
    int is_tiny = a < 0x1p-900;
    double scaled = a * (is_tiny ? 0x1p600 : 1.0);
    double root = __builtin_elementwise_sqrt(scaled);
    double inverse = 1.0 / root;
    double root_rest = __builtin_elementwise_fma(-root, root, scaled);
    double inverse_rest = __builtin_elementwise_fma(-inverse, root, 1.0);
    double correction = inverse_rest - 0.5 * root_rest * inverse * inverse;
    double corrected = __builtin_elementwise_fma(inverse, correction, inverse);
    int is_regular = (a > 0) & (a < __builtin_inf());
    return (is_regular ? corrected : inverse) * (is_tiny ? 0x1p300 : 1.0);
}

static double ftz_f64(double a)
{
    uint64_t bits = bits_f64(a);
    uint64_t sign = bits & SIGN_F64;
    return f64_of((bits & INF_F64) == 0 ? sign : bits);
}

/* The upper word of a double, the lower one zero. */
static double upper_word(double a)
{
    return f64_of(bits_f64(a) & 0xffffffff00000000u);
}

/* PTX ISA "rcp.approx.ftz.f64": a gross approximation from the upper word of a, "ignore the
 * least-significant 32 bits of a"; "zero the least significant 32 mantissa bits of d"; subnormal
 * inputs and results are flushed. */
double rt_rcp_ftz_f64(double a)
{
    double upper = upper_word(ftz_f64(a));
    double result = ftz_f64(upper_word(1.0 / upper));
    double nan = f64_of(0x7fffffff00000000u);
    return upper != upper ? nan : result;
}

/* PTX ISA "rsqrt.approx.ftz.f64": likewise. */
double rt_rsqrt_ftz_f64(double a)
{
    double upper = upper_word(ftz_f64(a));
    double result = upper_word(1.0 / __builtin_elementwise_sqrt(upper));
    double nan = f64_of(0x7fffffff00000000u);
    return result != result ? nan : result;
}

/* An angle in quarter turns: quadrant (-2..2) and the rest, in [-0.5, 0.5]. */
struct angle {
    double quadrant;
    float rest;
};

#define ROUNDER_F64 0x1.8p52 /* adding and subtracting it rounds to an integer */

/* Beyond 2^48 the manual promises nothing; the angle counts as 0 there (infinity: NaN). */
static struct angle reduce(float a)
{
    double turns = (double)a * 0x1.45f306dc9c883p-3; /* 1 / (2 pi) */
    double zero = (double)(a - a);
    turns = __builtin_fabsf(a) < 0x1p48f ? turns : zero;
    turns -= (turns + ROUNDER_F64) - ROUNDER_F64;
    double quarters = turns * 4.0;
    double quadrant = (quarters + ROUNDER_F64) - ROUNDER_F64;
    return (struct angle){.quadrant = quadrant, .rest = (float)(quarters - quadrant)};
}

/* sin and cos of u quarter turns. */
static float sin_quarter(float u)
{
    float v = u * u;
    float p = -4.602145426e-03f;
    p = fma_f32(p, v, 7.968021820e-02f);
    p = fma_f32(p, v, -6.459634779e-01f);
    p = fma_f32(p, v, 1.570796322e+00f);
    return p * u;
}

static float cos_quarter(float u)
{
    float v = u * u;
    float p = 9.036255008e-04f;
    p = fma_f32(p, v, -2.086006861e-02f);
    p = fma_f32(p, v, 2.536692036e-01f);
    p = fma_f32(p, v, -1.233700541e+00f);
    return fma_f32(p, v, 1.0f);
}

/* PTX ISA "sin": absolute error at most 2^-20.5 in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi];
 * sin(-0) is -0, of infinity NaN. */
float rt_sin_f32(float a)
{
    struct angle angle = reduce(a);
    double quadrant = angle.quadrant;
    int is_odd = (quadrant == 1.0) | (quadrant == -1.0);
    uint32_t is_negative = (quadrant == -1.0) | (quadrant == 2.0) | (quadrant == -2.0);
    float sine = sin_quarter(angle.rest);
    float cosine = cos_quarter(angle.rest);
    float value = is_odd ? cosine : sine;
    value = f32_of(bits_f32(value) ^ is_negative << 31);
    return a == 0 ? a : value;
}

float rt_cos_f32(float a)
{
    struct angle angle = reduce(a);
    double quadrant = angle.quadrant;
    int is_odd = (quadrant == 1.0) | (quadrant == -1.0);
    uint32_t is_negative = (quadrant == 1.0) | (quadrant == 2.0) | (quadrant == -2.0);
    float sine = sin_quarter(angle.rest);
    float cosine = cos_quarter(angle.rest);
    float value = is_odd ? sine : cosine;
    return f32_of(bits_f32(value) ^ is_negative << 31);
}

/* PTX ISA "lg2": absolute error at most 2^-22 in (0.5, 2), relative error 2^-22 elsewhere; -inf
 * for zeros, NaN for negative values. The mantissa is taken from [sqrt(1/2), sqrt(2)). */
float rt_lg2_f32(float a)
{
    int is_subnormal = a < 0x1p-126f;
    float scaled = a * (is_subnormal ? 0x1p23f : 1.0f);
    int32_t bits = (int32_t)(bits_f32(scaled) & ~SIGN_F32);
    int32_t exponent = (bits - 0x3f3504f3) >> 23;
    float f = f32_of((uint32_t)bits - ((uint32_t)exponent << 23)) - 1.0f;
    float p = 1.258642987e-01f;
    p = fma_f32(p, f, -2.073007842e-01f);
    p = fma_f32(p, f, 2.157200545e-01f);
    p = fma_f32(p, f, -2.389410451e-01f);
    p = fma_f32(p, f, 2.879154661e-01f);
    p = fma_f32(p, f, -3.607038123e-01f);
    p = fma_f32(p, f, 4.809106669e-01f);
    p = fma_f32(p, f, -7.213473457e-01f);
    p = fma_f32(p, f, 1.442695004e+00f);
    float value = fma_f32(p, f, (float)(exponent - (is_subnormal ? 23 : 0)));
    value = a < __builtin_inff() ? value : a; /* infinity and NaN */
    float nan = f32_of(NAN_F32);
    value = a < 0 ? nan : value;
    return a == 0 ? -__builtin_inff() : value;
}

#define ROUNDER_F32 0x1.8p23f

/* PTX ISA "ex2": at most 2 ulp, subnormal results included; here 1. 2^a = 2^n * 2^f with |f| <=
 * 0.5; 2^n is applied in two halves so that neither leaves the range before the result does. */
float rt_ex2_f32(float a)
{
    float bounded = a < 129.0f ? a : 129.0f;
    bounded = bounded > -152.0f ? bounded : -152.0f;
    float rounded = bounded + ROUNDER_F32;
    int32_t n = (int32_t)(bits_f32(rounded) - bits_f32(ROUNDER_F32));
    float f = bounded - (rounded - ROUNDER_F32);
    float p = 1.547630867e-04f;
    p = fma_f32(p, f, 1.340026195e-03f);
    p = fma_f32(p, f, 9.618003878e-03f);
    p = fma_f32(p, f, 5.550327843e-02f);
    p = fma_f32(p, f, 2.402265135e-01f);
    p = fma_f32(p, f, 6.931472062e-01f);
    p = fma_f32(p, f, 1.0f);
    int32_t half = n >> 1;
    float first = f32_of((uint32_t)(half + 127) << 23);
    float second = f32_of((uint32_t)(n - half + 127) << 23);
    float value = p * first * second;
    float nan = f32_of(NAN_F32);
    return a != a ? nan : value;
}

/* PTX ISA "tanh": relative error at most 2^-11. Small arguments by a polynomial, since
 * 1 - 2 / (e^2a + 1) cancels there; very small ones, "subnormal inputs" too, are passed through. */
float rt_tanh_f32(float a)
{
    float magnitude = __builtin_fabsf(a);
    float v = a * a;
    float p = 1.550465005e-02f;
    p = fma_f32(p, v, -5.212255546e-02f);
    p = fma_f32(p, v, 1.331064897e-01f);
    p = fma_f32(p, v, -3.333234432e-01f);
    p = fma_f32(p, v, 9.999999308e-01f);
    float exponential = rt_ex2_f32(magnitude * 2.885390082f); /* 2 / ln 2 */
    float large = __builtin_copysignf(1.0f - 2.0f / (exponential + 1.0f), a);
    float small = p * a;
    float value = magnitude < 0.6f ? small : large;
    value = magnitude < 0x1p-12f ? a : value;
    float nan = f32_of(NAN_F32);
    return a != a ? nan : value;
}
