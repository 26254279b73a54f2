/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions of PTX between floating-point formats and from 64-bit integers, in every rounding
 * mode. Conversions that are one LLVM instruction are left to the emitter. Compiled to bitcode.
 */
#include "translator/rt/bits.h"

#define NAN_F16  0x7fffu
#define NAN_BF16 0x7fffu
#define NAN_TF32 0x7fffe000u

static uint32_t bits_f16(_Float16 a)
{
    uint16_t bits;
    __builtin_memcpy(&bits, &a, sizeof(bits));
    return bits;
}

float rt_f16_to_f32(uint32_t a)
{
    uint16_t bits = (uint16_t)a;
    _Float16 value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    return (float)value;
}

float rt_bf16_to_f32(uint32_t a)
{
    return f32_of(a << 16);
}

/* The neighbour of an f16 towards minus infinity. */
static uint32_t step_down_f16(uint32_t bits)
{
    uint32_t next = bits + ((bits & 0x8000) != 0 ? 1u : UINT32_MAX);
    uint32_t low = next & 0xffff;
    return (bits & 0x7fff) == 0 ? 0x8001 : low;
}

/* The nearest value, moved when it lies on the wrong side of a. */
uint32_t rt_f32_to_f16(float a, uint32_t mode)
{
    uint32_t bits = bits_f16((_Float16)a);
    float nearest = rt_f16_to_f32(bits);
    int negative = (bits & 0x8000) != 0;
    uint32_t down = step_down_f16(bits);
    uint32_t up = step_down_f16(bits ^ 0x8000) ^ 0x8000;
    uint32_t result = rounds_down(nearest > a, negative, mode) ? down : bits;
    result = rounds_up(nearest < a, negative, mode) ? up : result;
    return a != a ? NAN_F16 : result;
}

/* bf16 is the upper half of an f32: adding to the lower half carries into it. */
uint32_t rt_f32_to_bf16(float a, uint32_t mode)
{
    uint32_t bits = bits_f32(a);
    int negative = (bits & SIGN_F32) != 0;
    int away = mode == (negative ? RT_ROUND_DOWN : RT_ROUND_UP);
    uint32_t increment = mode == RT_ROUND_NEAREST ? 0x7fff + (bits >> 16 & 1) : away ? 0xffff : 0;
    uint32_t rounded = (bits + increment) >> 16;
    return a != a ? NAN_BF16 : rounded;
}

/* tf32: f32 with 10 bits of mantissa; the other 13 are zero. With .rna a device cuts NaN, too. */
uint32_t rt_f32_to_tf32(float a, uint32_t mode)
{
    uint32_t bits = bits_f32(a);
    uint32_t increment = mode == RT_ROUND_NEAREST ? 0xfff + (bits >> 13 & 1)
                         : mode == RT_ROUND_AWAY  ? 0x1000
                                                  : 0;
    uint32_t rounded = (bits + increment) & ~UINT32_C(0x1fff);
    uint32_t cut = bits & ~UINT32_C(0x1fff);
    uint32_t nan = mode == RT_ROUND_AWAY ? cut : NAN_TF32;
    return a != a ? nan : rounded;
}

/* .relu: negative values become 0; NaN is canonical already. */
uint32_t rt_relu_tf32(uint32_t a)
{
    return (a & SIGN_F32) != 0 ? 0 : a;
}

/* .satfinite: infinity becomes the largest finite value, the one before it. With .rna a device
 * takes one step from NaN, too. */
uint32_t rt_satfinite_tf32(uint32_t a, uint32_t mode)
{
    uint32_t magnitude = a & ~SIGN_F32;
    uint32_t step = a - 0x2000;
    uint32_t is_beyond = mode == RT_ROUND_AWAY ? magnitude >= INF_F32 : magnitude == INF_F32;
    return is_beyond ? step : a;
}

/* PTX ISA "cvt": .rs rounds away from zero when adding the random bits to the bits that are cut
 * carries out of them. */
uint32_t rt_f32_to_bf16_random(float a, uint32_t random)
{
    uint32_t bits = bits_f32(a);
    uint32_t rounded = (bits + (random & 0xffff)) >> 16;
    uint32_t infinite = bits >> 16;
    uint32_t result = (bits & ~SIGN_F32) == INF_F32 ? infinite : rounded;
    return a != a ? NAN_BF16 : result;
}

/* 13 random bits; a subnormal result cuts more bits, of which these are the highest. */
uint32_t rt_f32_to_f16_random(float a, uint32_t random)
{
    uint32_t bits = bits_f32(a);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & ~SIGN_F32;
    uint32_t exponent = magnitude >> 23;
    uint32_t added = random & 0x1fff;
    uint32_t normal = ((magnitude + added) >> 13) - (112u << 10);
    uint32_t missing = exponent < 113 ? 113 - exponent : 0;
    uint32_t shift = missing > 24 ? 24 : missing;
    uint64_t mantissa = (uint64_t)((magnitude & 0x7fffff) | 0x800000);
    uint32_t subnormal = (uint32_t)((mantissa + ((uint64_t)added << shift)) >> (13 + shift));
    subnormal = exponent < 89 ? 0 : subnormal;
    uint32_t result = exponent < 113 ? subnormal : normal;
    result = magnitude >= 0x47800000 ? 0x7c00 : result;
    return a != a ? NAN_F16 : sign | result;
}

/* Rounds to odd: truncates, and sets the lowest bit if anything was cut. A second rounding to a
 * format at least two bits shorter then gives the same as one rounding of the exact value. */
static float odd_f32(double a)
{
    float cut = narrow_f32(a, 0.0, RT_ROUND_ZERO);
    return f32_of(bits_f32(cut) | (((double)cut != a) & (a == a)));
}

float rt_f64_to_f32(double a, uint32_t mode)
{
    return narrow_f32(a, 0.0, mode);
}

uint32_t rt_f64_to_f16(double a, uint32_t mode)
{
    return rt_f32_to_f16(odd_f32(a), mode);
}

uint32_t rt_f64_to_bf16(double a, uint32_t mode)
{
    return rt_f32_to_bf16(odd_f32(a), mode);
}

/* A 64-bit integer as the sum of two doubles: its halves are exact. */
static struct sum_f64 sum_s64(int64_t a)
{
    double high = (double)(int32_t)(a >> 32) * 0x1p32;
    return two_sum(high, (double)(uint32_t)a);
}

static struct sum_f64 sum_u64(uint64_t a)
{
    double high = (double)(uint32_t)(a >> 32) * 0x1p32;
    return two_sum(high, (double)(uint32_t)a);
}

float rt_s64_to_f32(int64_t a, uint32_t mode)
{
    struct sum_f64 exact = sum_s64(a);
    return narrow_f32(exact.sum, exact.error, mode);
}

float rt_u64_to_f32(uint64_t a, uint32_t mode)
{
    struct sum_f64 exact = sum_u64(a);
    return narrow_f32(exact.sum, exact.error, mode);
}

double rt_s64_to_f64(int64_t a, uint32_t mode)
{
    struct sum_f64 exact = sum_s64(a);
    return adjust_f64(exact.sum, exact.error, mode);
}

double rt_u64_to_f64(uint64_t a, uint32_t mode)
{
    struct sum_f64 exact = sum_u64(a);
    return adjust_f64(exact.sum, exact.error, mode);
}

/* Rounds to odd in f32, so that the conversion to 16 bits is the only rounding. */
static float odd_sum(struct sum_f64 exact)
{
    float cut = narrow_f32(exact.sum, exact.error, RT_ROUND_ZERO);
    int is_exact = ((double)cut == exact.sum) & (exact.error == 0);
    return f32_of(bits_f32(cut) | !is_exact);
}

uint32_t rt_s64_to_f16(int64_t a, uint32_t mode)
{
    return rt_f32_to_f16(odd_sum(sum_s64(a)), mode);
}

uint32_t rt_u64_to_f16(uint64_t a, uint32_t mode)
{
    return rt_f32_to_f16(odd_sum(sum_u64(a)), mode);
}

uint32_t rt_s64_to_bf16(int64_t a, uint32_t mode)
{
    return rt_f32_to_bf16(odd_sum(sum_s64(a)), mode);
}

uint32_t rt_u64_to_bf16(uint64_t a, uint32_t mode)
{
    return rt_f32_to_bf16(odd_sum(sum_u64(a)), mode);
}
