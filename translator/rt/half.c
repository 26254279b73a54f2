/* SPDX-License-Identifier: Apache-2.0
 *
 * f16 and bf16 arithmetic of PTX: done in f32 or double, where it is exact or rounded to odd, and
 * rounded once to 16 bits. Subnormals are kept unless the instruction says .ftz. Compiled to
 * bitcode.
 */
#include "translator/rt/bits.h"

#define NAN_HALF 0x7fffu /* of both formats */

static uint32_t infinity_of(uint32_t format)
{
    return format == RT_HALF_F16 ? 0x7c00 : 0x7f80;
}

float rt_half_to_f32(uint32_t a, uint32_t format)
{
    return format == RT_HALF_F16 ? rt_f16_to_f32(a) : rt_bf16_to_f32(a);
}

uint32_t rt_half_from_f32(float a, uint32_t format)
{
    return format == RT_HALF_F16 ? rt_f32_to_f16(a, RT_ROUND_NEAREST)
                                 : rt_f32_to_bf16(a, RT_ROUND_NEAREST);
}

static uint32_t half_from_f64(double a, uint32_t format)
{
    return format == RT_HALF_F16 ? rt_f64_to_f16(a, RT_ROUND_NEAREST)
                                 : rt_f64_to_bf16(a, RT_ROUND_NEAREST);
}

/* .ftz: subnormals become zero with their sign. */
uint32_t rt_half_ftz(uint32_t a, uint32_t format)
{
    uint32_t sign = a & 0x8000;
    uint32_t bits = a & 0xffff;
    return (a & infinity_of(format)) == 0 ? sign : bits;
}

/* .sat: into [+0.0, 1.0], NaN to +0.0. */
uint32_t rt_half_sat(uint32_t a, uint32_t format)
{
    uint32_t one = format == RT_HALF_F16 ? 0x3c00 : 0x3f80;
    uint32_t low = a > infinity_of(format) ? 0 : a; /* every negative value and NaN */
    return low > one ? one : low;
}

/* .relu: negative values become 0, NaN the canonical one. */
uint32_t rt_half_relu(uint32_t a, uint32_t format)
{
    uint32_t clamped = (a & 0x8000) != 0 ? 0 : a;
    return (a & 0x7fff) > infinity_of(format) ? NAN_HALF : clamped;
}

/* .satfinite: infinity becomes the largest finite value; NaN stays. */
uint32_t rt_half_satfinite(uint32_t a, uint32_t format)
{
    uint32_t most = (a & 0x8000) | (infinity_of(format) - 1);
    return (a & 0x7fff) == infinity_of(format) ? most : a;
}

/* A sum of two 11-bit or 8-bit mantissas rounded to 24 bits and then again is as good as rounded
 * once (24 >= 2 * 11 + 2); a product is exact in f32, or for bf16 below its range, in double. */
uint32_t rt_half_add(uint32_t a, uint32_t b, uint32_t format)
{
    return rt_half_from_f32(rt_half_to_f32(a, format) + rt_half_to_f32(b, format), format);
}

uint32_t rt_half_sub(uint32_t a, uint32_t b, uint32_t format)
{
    return rt_half_from_f32(rt_half_to_f32(a, format) - rt_half_to_f32(b, format), format);
}

uint32_t rt_half_mul(uint32_t a, uint32_t b, uint32_t format)
{
    float x = rt_half_to_f32(a, format);
    float y = rt_half_to_f32(b, format);
    return format == RT_HALF_F16 ? rt_half_from_f32(x * y, format)
                                 : half_from_f64((double)x * (double)y, format);
}

/* The product is exact in double. The sum is rounded to 53 bits, which f16 does not notice: an
 * addend too small for them leaves a product that is no tie, or a sum that is exact. For bf16, with
 * its wider range, an inexact sum is made odd, so that what was cut still breaks ties. */
uint32_t rt_half_fma(uint32_t a, uint32_t b, uint32_t c, uint32_t format)
{
    double product = (double)rt_half_to_f32(a, format) * (double)rt_half_to_f32(b, format);
    struct sum_f64 exact = two_sum(product, (double)rt_half_to_f32(c, format));
    uint64_t bits = bits_f64(exact.sum);
    int toward_zero = (exact.error < 0) != ((bits & SIGN_F64) != 0);
    double odd = f64_of((bits - (uint64_t)toward_zero) | 1);
    int is_inexact = (format == RT_HALF_BF16) & ((exact.error < 0) | (exact.error > 0));
    return half_from_f64(is_inexact ? odd : exact.sum, format);
}

/* As rt_minmax_f32, and exact there: f32 holds every value of both formats. */
uint32_t rt_half_minmax(uint32_t a, uint32_t b, uint32_t format, uint32_t flags)
{
    float chosen = rt_minmax_f32(rt_half_to_f32(a, format), rt_half_to_f32(b, format), flags);
    return rt_half_from_f32(chosen, format);
}

uint32_t rt_half_ex2(uint32_t a, uint32_t format)
{
    return rt_half_from_f32(rt_ex2_f32(rt_half_to_f32(a, format)), format);
}

uint32_t rt_half_tanh(uint32_t a, uint32_t format)
{
    return rt_half_from_f32(rt_tanh_f32(rt_half_to_f32(a, format)), format);
}

/* PTX ISA "fma": .oob forces the result to +0 when a or b is the out-of-bounds NaN of tensor
 * copies. Its pattern is not in the manual; this is the one devices take for it, in both formats.
 */
uint32_t rt_half_oob(uint32_t result, uint32_t a, uint32_t b)
{
    int is_outside = ((a & 0x7fff) == 0x7ff7) | ((b & 0x7fff) == 0x7ff7);
    return is_outside ? 0 : result;
}
