/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point arithmetic of PTX: flush to zero, saturation, minimum and maximum, and the
 * rounding modes .rz, .rm and .rp. The thread's rounding mode is never changed: other lanes of the
 * same code may need another one (bits.h says how it is done). Compiled to bitcode.
 *
 * NaN results keep whatever payload the host gives, as PTX ISA "Floating Point Instructions" leaves
 * single-precision payloads open; only min and max, which promise the canonical NaN, make it.
 */
#include "translator/rt/bits.h"

/* .ftz: "subnormal inputs and results are flushed to sign-preserving zero". */
float rt_ftz_f32(float a)
{
    uint32_t bits = bits_f32(a);
    uint32_t sign = bits & SIGN_F32;
    return f32_of((bits & INF_F32) == 0 ? sign : bits);
}

/* 1 / a; like a device it flushes a result that only rounding up makes the smallest normal
 * number. */
float rt_flush_reciprocal_f32(float reciprocal, float a)
{
    float zero = f32_of(bits_f32(reciprocal) & SIGN_F32);
    return __builtin_fabsf(a) > 0x1p126f ? zero : reciprocal;
}

/* .sat: "clamps the result to [0.0, 1.0]. NaN results are flushed to +0.0f". */
float rt_sat_f32(float a)
{
    float low = a > 0.0f ? a : 0.0f;
    return low < 1.0f ? low : 1.0f;
}

double rt_sat_f64(double a)
{
    double low = a > 0.0 ? a : 0.0;
    return low < 1.0 ? low : 1.0;
}

/* PTX ISA "min", "max": -0 < +0; a NaN operand is ignored, or with .NaN is the result; NaN results
 * are canonical; .xorsign.abs compares magnitudes and xors the signs of the inputs. */
float rt_minmax_f32(float a, float b, uint32_t flags)
{
    uint32_t sign = (bits_f32(a) ^ bits_f32(b)) & SIGN_F32;
    uint32_t keep = flags & RT_MINMAX_ABS ? ~SIGN_F32 : UINT32_MAX;
    uint32_t x = bits_f32(a) & keep;
    uint32_t y = bits_f32(b) & keep;
    uint32_t equal = flags & RT_MINMAX_MAX ? x & y : x | y;
    int a_wins = flags & RT_MINMAX_MAX ? f32_of(x) > f32_of(y) : f32_of(x) < f32_of(y);
    uint32_t result = a_wins ? x : y;
    result = f32_of(x) == f32_of(y) ? equal : result;
    if (flags & RT_MINMAX_NAN) {
        result = ((a != a) | (b != b)) ? NAN_F32 : result;
    } else {
        result = b != b ? x : result;
        result = ((a != a) & (b != b)) ? NAN_F32 : result;
    }
    uint32_t magnitude = result & ~SIGN_F32;
    uint32_t added = magnitude > INF_F32 ? 0 : sign;
    return f32_of(flags & RT_MINMAX_XORSIGN ? result | added : result);
}

double rt_minmax_f64(double a, double b, uint32_t flags)
{
    uint64_t x = bits_f64(a);
    uint64_t y = bits_f64(b);
    uint64_t equal = flags & RT_MINMAX_MAX ? x & y : x | y;
    int a_wins = flags & RT_MINMAX_MAX ? a > b : a < b;
    uint64_t result = a_wins ? x : y;
    result = a == b ? equal : result;
    result = b != b ? x : result;
    return f64_of(result);
}

/* PTX ISA "testp": "positive and negative zero are considered normal numbers". */
uint32_t rt_testp_f32(float a, uint32_t test)
{
    uint32_t magnitude = bits_f32(a) & ~SIGN_F32;
    switch (test) {
    case RT_TESTP_FINITE:
        return magnitude < INF_F32;
    case RT_TESTP_INFINITE:
        return magnitude == INF_F32;
    case RT_TESTP_NUMBER:
        return magnitude <= INF_F32;
    case RT_TESTP_NOTANUMBER:
        return magnitude > INF_F32;
    case RT_TESTP_NORMAL:
        return (magnitude == 0) | ((magnitude >= 0x00800000u) & (magnitude < INF_F32));
    default:
        return (magnitude != 0) & (magnitude < 0x00800000u);
    }
}

uint32_t rt_testp_f64(double a, uint32_t test)
{
    uint64_t magnitude = bits_f64(a) & ~SIGN_F64;
    switch (test) {
    case RT_TESTP_FINITE:
        return magnitude < INF_F64;
    case RT_TESTP_INFINITE:
        return magnitude == INF_F64;
    case RT_TESTP_NUMBER:
        return magnitude <= INF_F64;
    case RT_TESTP_NOTANUMBER:
        return magnitude > INF_F64;
    case RT_TESTP_NORMAL:
        return (magnitude == 0) | ((magnitude > MANTISSA_F64) & (magnitude < INF_F64));
    default:
        return (magnitude != 0) & (magnitude <= MANTISSA_F64);
    }
}

/* ---- f32: exact or nearly so in double, then narrowed ---- */

float rt_add_f32(float a, float b, uint32_t mode)
{
    struct sum_f64 exact = two_sum((double)a, (double)b);
    double sum = fix_zero_sum(exact.sum, (double)a, (double)b, mode);
    return narrow_f32(sum, exact.error, mode);
}

float rt_mul_f32(float a, float b, uint32_t mode)
{
    return narrow_f32((double)a * (double)b, 0.0, mode);
}

/* The product of two 24-bit mantissas is exact in double. */
float rt_fma_f32(float a, float b, float c, uint32_t mode)
{
    double product = (double)a * (double)b;
    struct sum_f64 exact = two_sum(product, (double)c);
    double sum = fix_zero_sum(exact.sum, product, (double)c, mode);
    return narrow_f32(sum, exact.error, mode);
}

/* A quotient or root of 24-bit mantissas that is no f32 differs from every f32 by far more than
 * double's rounding error, so the double decides the direction as well as the exact value would. */
float rt_div_f32(float a, float b, uint32_t mode)
{
    return narrow_f32((double)a / (double)b, 0.0, mode);
}

float rt_sqrt_f32(float a, uint32_t mode)
{
    return narrow_f32(__builtin_elementwise_sqrt((double)a), 0.0, mode);
}

/* ---- f64 ---- */

double rt_add_f64(double a, double b, uint32_t mode)
{
    struct sum_f64 exact = two_sum(a, b);
    return adjust_f64(fix_zero_sum(exact.sum, a, b, mode), exact.error, mode);
}

/* The error of a product is exact by fma unless it underflows: then the smaller factor is scaled,
 * and a product that vanished altogether leaves only its sign. */
double rt_mul_f64(double a, double b, uint32_t mode)
{
    double product = a * b;
    int is_tiny = __builtin_fabs(product) < 0x1p-900;
    int a_small = __builtin_fabs(a) < __builtin_fabs(b);
    double small = a_small ? a : b;
    double large = a_small ? b : a;
    double scale = is_tiny ? 0x1p1000 : 1.0;
    double error = __builtin_elementwise_fma(small * scale, large, -(product * scale));
    int vanished = (product == 0) & (a != 0) & (b != 0);
    double direction = __builtin_copysign(1.0, product);
    error = vanished ? direction : error;
    return adjust_f64(product, error, mode);
}

/* A finite nonzero magnitude as mantissa * 2^exponent, mantissa in [2^52, 2^53). */
struct unpacked {
    uint64_t mantissa;
    int32_t exponent;
};

static struct unpacked unpack_f64(double a)
{
    uint64_t magnitude = bits_f64(a) & ~SIGN_F64;
    if (magnitude > MANTISSA_F64) {
        return (struct unpacked){.mantissa = (magnitude & MANTISSA_F64) | (MANTISSA_F64 + 1),
                                 .exponent = (int32_t)(magnitude >> 52) - 1075};
    }
    int32_t shift = __builtin_clzll(magnitude | 1) - 11;
    return (struct unpacked){.mantissa = magnitude << shift, .exponent = -1074 - shift};
}

/* Rounds mantissa * 2^exponent, whose lowest bit also stands for all bits dropped before, in a
 * directed mode. */
static double pack_f64(int negative, uint64_t mantissa, int32_t exponent, uint32_t mode)
{
    uint64_t sign = negative ? SIGN_F64 : 0;
    int away = mode == (negative ? RT_ROUND_DOWN : RT_ROUND_UP);
    int32_t leading = __builtin_clzll(mantissa);
    mantissa <<= leading;
    int32_t biased = exponent - leading + 63 + 1023; /* of a normal result */
    if (biased >= 2047) {
        return f64_of(sign | (away ? INF_F64 : INF_F64 - 1));
    }
    int32_t drop = biased >= 1 ? 11 : 12 - biased;
    uint64_t kept = drop > 63 ? 0 : mantissa >> drop;
    int is_exact = drop > 63 ? 0 : kept << drop == mantissa;
    uint64_t base = biased >= 1 ? (uint64_t)(biased - 1) << 52 : 0;
    return f64_of(sign | (base + kept + (uint64_t)(away && !is_exact)));
}

static int is_finite_f64(double a)
{
    return (bits_f64(a) & ~SIGN_F64) < INF_F64;
}

/* A term of a sum: mantissa * 2^exponent, mantissa below 2^126. */
struct term {
    unsigned __int128 mantissa;
    int32_t exponent;
    int negative;
};

/* The sum of two nonzero terms, rounded. The one with the smaller exponent is aligned to the other;
 * what falls off is kept in its lowest bit. */
static double add_terms(struct term a, struct term b, uint32_t mode)
{
    struct term high = a.exponent >= b.exponent ? a : b;
    struct term low = a.exponent >= b.exponent ? b : a;
    uint32_t distance = (uint32_t)(high.exponent - low.exponent);
    uint32_t shift = distance > 127 ? 127 : distance;
    unsigned __int128 aligned = low.mantissa >> shift;
    aligned |= aligned << shift != low.mantissa;
    int negative = high.negative;
    unsigned __int128 sum;
    if (high.negative == low.negative) {
        sum = high.mantissa + aligned;
    } else if (high.mantissa >= aligned) {
        sum = high.mantissa - aligned;
    } else {
        sum = aligned - high.mantissa;
        negative = low.negative;
    }
    if (sum == 0) {
        return mode == RT_ROUND_DOWN ? -0.0 : 0.0;
    }
    uint64_t top = (uint64_t)(sum >> 64);
    int32_t leading = top != 0 ? __builtin_clzll(top) : 64 + __builtin_clzll((uint64_t)sum);
    sum <<= leading;
    uint64_t mantissa = (uint64_t)(sum >> 64) | ((uint64_t)sum != 0);
    return pack_f64(negative, mantissa, high.exponent - leading + 64, mode);
}

/* In integers: the exact product takes 106 bits. */
double rt_fma_f64(double a, double b, double c, uint32_t mode)
{
    if (mode == RT_ROUND_NEAREST || !is_finite_f64(a) || !is_finite_f64(b) || !is_finite_f64(c)) {
        return __builtin_elementwise_fma(a, b, c);
    }
    if (a == 0 || b == 0) {
        return rt_add_f64(a * b, c, mode);
    }
    if (c == 0) {
        return rt_mul_f64(a, b, mode);
    }
    struct unpacked x = unpack_f64(a);
    struct unpacked y = unpack_f64(b);
    struct unpacked z = unpack_f64(c);
    struct term product = {.mantissa = (unsigned __int128)x.mantissa * y.mantissa << 20,
                           .exponent = x.exponent + y.exponent - 20,
                           .negative = ((bits_f64(a) ^ bits_f64(b)) & SIGN_F64) != 0};
    struct term addend = {.mantissa = (unsigned __int128)z.mantissa << 72,
                          .exponent = z.exponent - 72,
                          .negative = (bits_f64(c) & SIGN_F64) != 0};
    return add_terms(product, addend, mode);
}

/* The quotient of the mantissas to nearest, its remainder exactly, and both together as a 64-bit
 * mantissa with a sticky bit. */
double rt_div_f64(double a, double b, uint32_t mode)
{
    if (mode == RT_ROUND_NEAREST || !is_finite_f64(a) || !is_finite_f64(b) || a == 0 || b == 0) {
        return a / b;
    }
    struct unpacked x = unpack_f64(a);
    struct unpacked y = unpack_f64(b);
    double numerator = (double)x.mantissa;
    double denominator = (double)y.mantissa;
    double quotient = numerator / denominator;
    double remainder = __builtin_elementwise_fma(-quotient, denominator, numerator);
    uint64_t mantissa = (uint64_t)(quotient * 0x1p62); /* in (2^61, 2^63), exact */
    mantissa = remainder < 0 ? (mantissa - 1) | 1 : remainder > 0 ? mantissa | 1 : mantissa;
    int negative = ((bits_f64(a) ^ bits_f64(b)) & SIGN_F64) != 0;
    return pack_f64(negative, mantissa, x.exponent - y.exponent - 62, mode);
}

/* Small arguments are scaled so that the remainder does not underflow; roots never do. */
double rt_sqrt_f64(double a, uint32_t mode)
{
    int is_tiny = a < 0x1p-900;
    double scaled = a * (is_tiny ? 0x1p600 : 1.0);
    double root = __builtin_elementwise_sqrt(scaled);
    double remainder = __builtin_elementwise_fma(-root, root, scaled);
    double adjusted = adjust_f64(root, remainder, mode);
    double unscaled = adjusted * 0x1p-300;
    return is_tiny ? unscaled : adjusted;
}
