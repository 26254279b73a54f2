/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions of PTX to and from floating-point formats of 4, 6 and 8 bits (PTX ISA "Alternate
 * Floating-Point Data Formats"). `format` is a constant at every call. Compiled to bitcode.
 */
#include "translator/rt/bits.h"

struct layout {
    uint32_t mantissa_bits;
    uint32_t bias;
    uint32_t sign;
    uint32_t most; /* largest finite magnitude */
    uint32_t nan;  /* what NaN becomes; formats without NaN: the largest magnitude */
};

static struct layout layout_of(uint32_t format)
{
    switch (format) {
    case RT_SMALL_E4M3:
        return (struct layout){3, 7, 0x80, 0x7e, 0x7f};
    case RT_SMALL_E5M2:
        return (struct layout){2, 15, 0x80, 0x7b, 0x7f};
    case RT_SMALL_E2M3:
        return (struct layout){3, 1, 0x20, 0x1f, 0x1f};
    case RT_SMALL_E3M2:
        return (struct layout){2, 3, 0x20, 0x1f, 0x1f};
    default: /* e2m1 */
        return (struct layout){1, 1, 0x08, 0x07, 0x07};
    }
}

static float power_of_two(uint32_t exponent) /* biased */
{
    return f32_of(exponent << 23);
}

/* .satfinite and .relu. bits: what was rounded; code: what its magnitude became. */
static uint32_t finish_small(uint32_t bits, uint32_t code, struct layout layout, uint32_t relu)
{
    uint32_t limited = code > layout.most ? layout.most : code;
    uint32_t is_negative = bits >> 31;
    uint32_t is_zeroed = is_negative & (relu != 0);
    uint32_t with_sign = limited | is_negative * layout.sign;
    uint32_t kept = is_zeroed ? 0 : with_sign;
    return (bits & ~SIGN_F32) > INF_F32 ? layout.nan : kept;
}

/* .rn.satfinite: nearest, ties to even; too large becomes the largest, NaN what the layout says.
 * Values below the format's normal range are rounded as whole numbers of its smallest step. */
uint32_t rt_f32_to_small(float a, uint32_t format, uint32_t relu)
{
    struct layout layout = layout_of(format);
    uint32_t bits = bits_f32(a);
    uint32_t magnitude = bits & ~SIGN_F32;
    uint32_t cut = 23 - layout.mantissa_bits;
    uint32_t half = (1u << (cut - 1)) - 1;
    uint32_t rounded = (magnitude + half + (magnitude >> cut & 1)) >> cut;
    uint32_t normal = rounded - ((127 - layout.bias) << layout.mantissa_bits);
    float steps = f32_of(magnitude) * power_of_two(126 + layout.bias + layout.mantissa_bits);
    uint32_t subnormal = bits_f32(steps + 0x1p23f) - 0x4b000000u;
    uint32_t code = magnitude < (128 - layout.bias) << 23 ? subnormal : normal;
    return finish_small(bits, code, layout, relu);
}

/* .rs.satfinite: 16 random bits are added below the result's last place; a subnormal result cuts
 * more bits, of which these are the highest. */
uint32_t rt_f32_to_small_random(float a, uint32_t format, uint32_t relu, uint32_t random)
{
    struct layout layout = layout_of(format);
    uint32_t bits = bits_f32(a);
    uint32_t magnitude = bits & ~SIGN_F32;
    uint32_t exponent = magnitude >> 23;
    uint32_t least = 128 - layout.bias;
    uint32_t cut = 23 - layout.mantissa_bits;
    uint64_t added = (uint64_t)(random & 0xffff) << (cut - 16);
    uint32_t normal =
        (uint32_t)((magnitude + added) >> cut) - ((127 - layout.bias) << layout.mantissa_bits);
    uint32_t missing = exponent < least ? least - exponent : 0;
    uint32_t shift = missing > 24 ? 24 : missing;
    uint64_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    uint32_t subnormal = (uint32_t)((mantissa + (added << shift)) >> (cut + shift));
    uint32_t code = exponent < least ? subnormal : normal;
    return finish_small(bits, code, layout, relu);
}

/* Exact. The magnitude is put where f32 has its exponent and mantissa, and scaled. */
uint32_t rt_small_to_f16(uint32_t a, uint32_t format, uint32_t relu)
{
    struct layout layout = layout_of(format);
    uint32_t magnitude = a & (layout.sign - 1);
    uint32_t is_negative = (a & layout.sign) != 0;
    float value =
        f32_of(magnitude << (23 - layout.mantissa_bits)) * power_of_two(254 - layout.bias);
    uint32_t infinity = 0x7c00;
    uint32_t result = rt_f32_to_f16(value, RT_ROUND_NEAREST);
    uint32_t is_infinite = (format == RT_SMALL_E5M2) & (magnitude == 0x7c);
    result = is_infinite ? infinity : result;
    uint32_t is_nan = ((format == RT_SMALL_E5M2) & (magnitude > 0x7c)) |
                      ((format == RT_SMALL_E4M3) & (magnitude == 0x7f));
    uint32_t is_zeroed = is_negative & (relu != 0);
    uint32_t with_sign = result | is_negative << 15;
    uint32_t kept = is_zeroed ? 0 : with_sign;
    return is_nan ? 0x7fff : kept;
}

/* ue8m0: a power of two, the sign is ignored. Its smallest value is 2^-127, 0xff is NaN. */
uint32_t rt_f32_to_ue8m0(float a, uint32_t mode, uint32_t satfinite)
{
    uint32_t magnitude = bits_f32(a) & ~SIGN_F32;
    uint32_t exponent = magnitude >> 23;
    uint32_t has_rest = (magnitude & 0x007fffff) != 0;
    uint32_t goes_up = (mode == RT_ROUND_UP) & has_rest & (magnitude > 0x00400000);
    uint32_t code = exponent + goes_up;
    uint32_t most = satfinite ? 254 : 255;
    uint32_t limited = code > most ? most : code;
    return magnitude > INF_F32 ? 255 : limited;
}

uint32_t rt_ue8m0_to_bf16(uint32_t a)
{
    uint32_t code = a & 0xff;
    uint32_t result = code == 0 ? 0x0040 : code << 7;
    return code == 255 ? 0x7fff : result;
}
