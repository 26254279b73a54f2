/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions of 16-bit floats, in integers: compilers would turn a conversion in C into a call of
 * the very function being defined.
 */
#include <stdint.h>
#include <string.h>

#include "jit/library_calls.h"

#define DOUBLE_FRACTION_BITS 52
#define DOUBLE_BIAS          1023
#define DOUBLE_SPECIAL       0x7ff /* exponent of infinity and NaN */
#define HALF_FRACTION_BITS   10
#define HALF_BIAS            15
#define HALF_SPECIAL         0x1f
#define SINGLE_FRACTION_BITS 23
#define SINGLE_BIAS          127

/* A float of 16 bits. */
struct format {
    unsigned fraction_bits;
    int bias;
};

static const struct format half_format = {HALF_FRACTION_BITS, HALF_BIAS};
static const struct format bfloat_format = {7, SINGLE_BIAS};

static _Float16 from_bits(uint32_t bits)
{
    uint16_t narrow = (uint16_t)bits;
    _Float16 value;
    memcpy(&value, &narrow, sizeof value);
    return value;
}

static uint32_t infinity_of(const struct format *format)
{
    return 0x7fffu >> format->fraction_bits << format->fraction_bits;
}

/* The number shifted right, rounded to nearest, ties to even. shift is 1 to 63. */
static uint64_t shift_rounded(uint64_t number, unsigned shift)
{
    uint64_t cut = number & ((UINT64_C(1) << shift) - 1);
    uint64_t tie = UINT64_C(1) << (shift - 1);
    uint64_t kept = number >> shift;
    return kept + (cut > tie || (cut == tie && (kept & 1) != 0));
}

/* For a positive finite number. Rounding may carry into the exponent, and rightly so: the result is
 * the next power of two, or infinity. */
static uint32_t narrow_finite(uint64_t bits, const struct format *format)
{
    int exponent = (int)(bits >> DOUBLE_FRACTION_BITS) - DOUBLE_BIAS + format->bias;
    uint64_t fraction = bits & ((UINT64_C(1) << DOUBLE_FRACTION_BITS) - 1);
    unsigned shift = DOUBLE_FRACTION_BITS - format->fraction_bits;
    if (exponent >= (int)(0x7fffu >> format->fraction_bits))
        return infinity_of(format);
    if (exponent > 0)
        return (uint32_t)shift_rounded((uint64_t)exponent << DOUBLE_FRACTION_BITS | fraction,
                                       shift);
    /* Subnormal: the leading one becomes visible, and moves right. Beyond 63 nothing is left. */
    unsigned more = (unsigned)(1 - exponent);
    if (bits >> DOUBLE_FRACTION_BITS == 0 || shift + more > 63)
        return 0;
    return (uint32_t)shift_rounded(UINT64_C(1) << DOUBLE_FRACTION_BITS | fraction, shift + more);
}

static _Float16 narrow(double value, const struct format *format)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
    bits &= INT64_MAX;
    if (bits <= (uint64_t)DOUBLE_SPECIAL << DOUBLE_FRACTION_BITS)
        return from_bits(sign | narrow_finite(bits, format));
    uint32_t upper = (uint32_t)(bits >> (DOUBLE_FRACTION_BITS - format->fraction_bits)) & 0x7fff;
    uint32_t quiet = 1u << (format->fraction_bits - 1);
    return from_bits(sign | infinity_of(format) | upper | quiet);
}

_Float16 jit_double_to_half(double value)
{
    return narrow(value, &half_format);
}

_Float16 jit_float_to_half(float value)
{
    return narrow((double)value, &half_format);
}

_Float16 jit_double_to_bfloat(double value)
{
    return narrow(value, &bfloat_format);
}

_Float16 jit_float_to_bfloat(float value)
{
    return narrow((double)value, &bfloat_format);
}

float jit_extend_half(_Float16 value)
{
    uint16_t half;
    memcpy(&half, &value, sizeof half);
    uint32_t exponent = (half >> HALF_FRACTION_BITS) & HALF_SPECIAL;
    uint32_t fraction = half & ((1u << HALF_FRACTION_BITS) - 1);
    uint32_t sign = (uint32_t)(half & 0x8000) << 16;
    float subnormal = (float)fraction * 0x1p-24f; /* exact */
    uint32_t bits;
    memcpy(&bits, &subnormal, sizeof bits);
    fraction <<= SINGLE_FRACTION_BITS - HALF_FRACTION_BITS;
    if (exponent == HALF_SPECIAL) {
        uint32_t quiet = fraction != 0 ? 1u << (SINGLE_FRACTION_BITS - 1) : 0;
        bits = 0xffu << SINGLE_FRACTION_BITS | fraction | quiet;
    } else if (exponent != 0) {
        bits = (exponent + SINGLE_BIAS - HALF_BIAS) << SINGLE_FRACTION_BITS | fraction;
    }
    bits |= sign;
    float single;
    memcpy(&single, &bits, sizeof single);
    return single;
}

/* ---- 128-bit integers ---- */

#define HALF_RANGE 0x1p16f

/* A finite half is less than 2^16. */
__int128 jit_half_to_i128(_Float16 value)
{
    float single = jit_extend_half(value);
    return single > -HALF_RANGE && single < HALF_RANGE ? (int32_t)single : 0;
}

unsigned __int128 jit_half_to_u128(_Float16 value)
{
    return (unsigned __int128)jit_half_to_i128(value);
}

/* From 2^17 on, which is infinity in a half, larger numbers make no difference. */
_Float16 jit_u128_to_half(unsigned __int128 value)
{
    return jit_double_to_half(value > 1u << 17 ? 0x1p17 : (double)(uint32_t)value);
}

_Float16 jit_i128_to_half(__int128 value)
{
    if (value < 0)
        return jit_double_to_half(value < -(1 << 17) ? -0x1p17 : (double)(int32_t)value);
    return jit_u128_to_half((unsigned __int128)value);
}
