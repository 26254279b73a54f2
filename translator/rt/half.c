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
 * once (24 >= 2 * 11 + 2). A product is exact in f32 but for tiny ones of bf16: to lie halfway
 * between two subnormals once its last bits are cut, it would have to have 17 bits. */
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
    return rt_half_from_f32(rt_half_to_f32(a, format) * rt_half_to_f32(b, format), format);
}

/* Rounds sum once, which is product + c rounded to f32: if that was not exact, to the neighbour
 * with an odd last bit, so that what was cut still breaks ties. Of bf16, products are exact but for
 * tiny ones that, as above, come nowhere near a tie, and infinite ones, whose finite sums are
 * exact. */
static uint32_t half_from_sum(float sum, float product, float c, uint32_t format)
{
    float added = sum - product;
    float error = (product - (sum - added)) + (c - added);
    uint32_t bits = bits_f32(sum);
    uint32_t toward_zero = (bits ^ bits_f32(error)) >> 31;
    uint32_t odd = (bits - toward_zero) | 1;
    int is_inexact = (error < 0) | (error > 0);
    return rt_half_from_f32(f32_of(is_inexact ? odd : bits), format);
}

/* For CPUs with fused operations. */
uint32_t rt_half_fma(uint32_t a, uint32_t b, uint32_t c, uint32_t format)
{
    float x = rt_half_to_f32(a, format);
    float y = rt_half_to_f32(b, format);
    float z = rt_half_to_f32(c, format);
    return half_from_sum(__builtin_elementwise_fma(x, y, z), x * y, z, format);
}

/* For all others. Products of f16 are neither too large nor too small for f32; where those of bf16
 * are, the sum is made from doubles. */
uint32_t rt_half_mad(uint32_t a, uint32_t b, uint32_t c, uint32_t format)
{
    float x = rt_half_to_f32(a, format);
    float y = rt_half_to_f32(b, format);
    float z = rt_half_to_f32(c, format);
    float product = x * y;
    float sum = product + z;
    uint32_t magnitude = bits_f32(product) & ~SIGN_F32;
    int is_cut = (format == RT_HALF_BF16) & ((magnitude == 0) | (magnitude == INF_F32));
    float wide = (float)((double)x * (double)y + (double)z);
    return half_from_sum(is_cut ? wide : sum, product, z, format);
}

/* A number's place among all numbers: -0 comes before +0. */
static int32_t order_of(uint32_t a)
{
    int32_t value = (int16_t)a;
    return value ^ (value >> 16 & 0x7fff);
}

/* As rt_minmax_f32: the same for both formats but for what is NaN. */
uint32_t rt_half_minmax(uint32_t a, uint32_t b, uint32_t format, uint32_t flags)
{
    uint32_t keep = flags & RT_MINMAX_ABS ? 0x7fff : 0xffff;
    uint32_t x = a & keep;
    uint32_t y = b & keep;
    int x_is_nan = (x & 0x7fff) > infinity_of(format);
    int y_is_nan = (y & 0x7fff) > infinity_of(format);
    int x_wins = flags & RT_MINMAX_MAX ? order_of(x) > order_of(y) : order_of(x) < order_of(y);
    uint32_t result = x_wins | y_is_nan ? x : y;
    result = x_is_nan ? y : result;
    int is_nan = flags & RT_MINMAX_NAN ? x_is_nan | y_is_nan : x_is_nan & y_is_nan;
    uint32_t sign = (a ^ b) & 0x8000;
    result = flags & RT_MINMAX_XORSIGN ? result | sign : result;
    return is_nan ? NAN_HALF : result;
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
