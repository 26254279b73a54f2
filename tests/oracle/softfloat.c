/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats, packing and rounding in integers, also products and sums that fit; others, and
 * functions, by MPFR, rounded toward zero to far more bits than any format has, with the remainder
 * kept as one flag. Rounding such a result again is the same as rounding the exact value.
 */
#include "tests/oracle/softfloat.h"

#include <mpfr.h>

/* PTX ISA, "Fundamental Types" and "Alternate Floating-Point Data Formats". The canonical NaNs are
 * those that CUDA's documentation names for the types, and for f64 the one that sm_90 makes. */
static const struct oracle_format no_format = {0};
static const struct oracle_format f16 = {16, 5, 10, 0, 15, true, true, 0x7fff};
static const struct oracle_format bf16 = {16, 8, 7, 0, 127, true, true, 0x7fff};
static const struct oracle_format tf32 = {32, 8, 10, 13, 127, true, true, 0x7fffe000};
static const struct oracle_format f32 = {32, 8, 23, 0, 127, true, true, 0x7fffffff};
static const struct oracle_format f64 = {64, 11, 52, 0, 1023, true, true, 0xfff8000000000000};
static const struct oracle_format upper_f64 = {64,   11,   20,   32,
                                               1023, true, true, 0x7fffffff00000000};
static const struct oracle_format e4m3 = {8, 4, 3, 0, 7, false, true, 0x7f};
static const struct oracle_format e5m2 = {8, 5, 2, 0, 15, true, true, 0x7f};
static const struct oracle_format e2m1 = {4, 2, 1, 0, 1, false, false, 0};
static const struct oracle_format e2m3 = {8, 2, 3, 0, 1, false, false, 0};
static const struct oracle_format e3m2 = {8, 3, 2, 0, 3, false, false, 0};

const struct oracle_format *oracle_upper_f64(void)
{
    return &upper_f64;
}

const struct oracle_format *oracle_format(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_F16:
    case PTX_TYPE_F16X2:
        return &f16;
    case PTX_TYPE_BF16:
    case PTX_TYPE_BF16X2:
        return &bf16;
    case PTX_TYPE_TF32:
        return &tf32;
    case PTX_TYPE_F32:
    case PTX_TYPE_F32X2:
        return &f32;
    case PTX_TYPE_F64:
        return &f64;
    case PTX_TYPE_E4M3:
    case PTX_TYPE_E4M3X2:
        return &e4m3;
    case PTX_TYPE_E5M2:
    case PTX_TYPE_E5M2X2:
        return &e5m2;
    case PTX_TYPE_E2M1:
    case PTX_TYPE_E2M1X2:
        return &e2m1;
    case PTX_TYPE_E2M3:
    case PTX_TYPE_E2M3X2:
        return &e2m3;
    case PTX_TYPE_E3M2:
    case PTX_TYPE_E3M2X2:
        return &e3m2;
    default:
        return &no_format;
    }
}

static uint64_t ones(unsigned count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

uint64_t oracle_sign_bit(const struct oracle_format *format)
{
    return UINT64_C(1) << (format->exponent_bits + format->fraction_bits + format->padding_bits);
}

uint64_t oracle_infinity(const struct oracle_format *format)
{
    return ones(format->exponent_bits) << (format->fraction_bits + format->padding_bits);
}

uint64_t oracle_largest(const struct oracle_format *format)
{
    uint64_t top = ones(format->exponent_bits + format->fraction_bits);

    if (format->has_infinity)
        return ((ones(format->exponent_bits) << format->fraction_bits) - 1) << format->padding_bits;
    return (format->has_nan ? top - 1 : top) << format->padding_bits;
}

static uint64_t magnitude_bits(const struct oracle_format *format, uint64_t bits)
{
    return bits & (oracle_sign_bit(format) - 1);
}

bool oracle_is_nan(const struct oracle_format *format, uint64_t bits)
{
    uint64_t magnitude = magnitude_bits(format, bits);

    if (!format->has_nan)
        return false;
    return magnitude > (format->has_infinity ? oracle_infinity(format) : oracle_largest(format));
}

bool oracle_is_zero(const struct oracle_format *format, uint64_t bits)
{
    return magnitude_bits(format, bits) == 0;
}

bool oracle_is_subnormal(const struct oracle_format *format, uint64_t bits)
{
    uint64_t magnitude = magnitude_bits(format, bits) >> format->padding_bits;

    return magnitude != 0 && magnitude < UINT64_C(1) << format->fraction_bits;
}

uint64_t oracle_nan_of(const struct oracle_format *format, uint64_t first, uint64_t second,
                       uint64_t third)
{
    uint64_t sources[3] = {first, second, third};

    for (unsigned i = 0; i < 3 && format == &f64; i++) {
        if (oracle_is_nan(format, sources[i]))
            return oracle_convert_nan(format, format, sources[i]);
    }
    return format->canonical_nan;
}

uint64_t oracle_convert_nan(const struct oracle_format *to, const struct oracle_format *from,
                            uint64_t bits)
{
    uint64_t sign = (bits & oracle_sign_bit(from)) != 0 ? oracle_sign_bit(to) : 0;
    uint64_t quiet = UINT64_C(1) << (to->fraction_bits - 1);
    uint64_t fraction = bits & ones(from->fraction_bits);

    if (to->fraction_bits > from->fraction_bits)
        fraction <<= to->fraction_bits - from->fraction_bits;
    else
        fraction >>= from->fraction_bits - to->fraction_bits;
    return sign | oracle_infinity(to) | quiet | fraction;
}

uint64_t oracle_flush(const struct oracle_format *format, uint64_t bits)
{
    return oracle_is_subnormal(format, bits) ? bits & oracle_sign_bit(format) : bits;
}

int64_t oracle_rank(const struct oracle_format *format, uint64_t bits)
{
    int64_t magnitude = (int64_t)(magnitude_bits(format, bits) >> format->padding_bits);

    return (bits & oracle_sign_bit(format)) != 0 ? -magnitude : magnitude;
}

struct oracle_number oracle_unpack(const struct oracle_format *format, uint64_t bits)
{
    struct oracle_number number = {.is_negative = (bits & oracle_sign_bit(format)) != 0};
    uint64_t magnitude = magnitude_bits(format, bits) >> format->padding_bits;
    uint64_t fraction = magnitude & ones(format->fraction_bits);
    int exponent = (int)(magnitude >> format->fraction_bits);

    if (oracle_is_nan(format, bits)) {
        number.class = ORACLE_NAN;
    } else if (format->has_infinity && exponent == (int)ones(format->exponent_bits)) {
        number.class = ORACLE_INFINITE;
    } else if (magnitude == 0) {
        number.class = ORACLE_ZERO;
    } else {
        number.class = ORACLE_FINITE;
        if (exponent == 0)
            exponent = 1; /* subnormal: the smallest exponent and no implicit one */
        else
            fraction |= UINT64_C(1) << format->fraction_bits;
        number.significand = fraction;
        number.exponent = exponent - format->bias - (int)format->fraction_bits;
    }
    return number;
}

static unsigned bit_length(unsigned __int128 value)
{
    uint64_t high = (uint64_t)(value >> 64);
    uint64_t low = (uint64_t)value;

    if (high != 0)
        return 128 - (unsigned)__builtin_clzll(high);
    return low == 0 ? 0 : 64 - (unsigned)__builtin_clzll(low);
}

int oracle_log2_floor(struct oracle_number a)
{
    return a.exponent + (int)bit_length(a.significand) - 1;
}

/* significand / 2^drop, rounded to an integer. */
static unsigned __int128 round_off(struct oracle_number number, int drop, enum oracle_round round)
{
    unsigned __int128 kept = drop >= 128 ? 0 : number.significand >> drop;
    unsigned __int128 rest = number.significand - (drop >= 128 ? 0 : kept << drop);
    bool is_half = false;
    bool is_above = false;
    bool is_inexact = rest != 0 || number.is_inexact;

    if (drop >= 1 && drop <= 128) {
        unsigned __int128 half = (unsigned __int128)1 << (drop - 1);

        is_half = rest == half && !number.is_inexact;
        is_above = rest > half || (rest == half && number.is_inexact);
    }
    switch (round) {
    case ORACLE_ROUND_NEAREST_EVEN:
        return kept + (is_above || (is_half && (kept & 1) != 0));
    case ORACLE_ROUND_NEAREST_AWAY:
        return kept + (is_above || is_half);
    case ORACLE_ROUND_ZERO:
        return kept;
    case ORACLE_ROUND_DOWN:
        return kept + (is_inexact && number.is_negative);
    case ORACLE_ROUND_UP:
        return kept + (is_inexact && !number.is_negative);
    }
    return kept;
}

uint64_t oracle_pack_random(const struct oracle_format *format, struct oracle_number number,
                            uint32_t random, unsigned random_bits)
{
    if (number.class == ORACLE_FINITE) {
        int lowest = 1 - format->bias - (int)format->fraction_bits;
        int unit = oracle_log2_floor(number) - (int)format->fraction_bits;
        int scale = (unit < lowest ? lowest : unit) - (int)random_bits;

        /* Random bits end where the kept bits begin; bits of the source below them are lost. */
        if (scale >= number.exponent) {
            number.significand = round_off(number, scale - number.exponent, ORACLE_ROUND_ZERO);
        } else {
            number.significand <<= number.exponent - scale;
        }
        number.exponent = scale;
        number.significand += random;
        if (number.significand == 0)
            number.class = ORACLE_ZERO;
    }
    if (number.class == ORACLE_FINITE && format->has_infinity &&
        oracle_log2_floor(number) > format->bias)
        number.class = ORACLE_INFINITE;
    return oracle_pack(format, number, ORACLE_ROUND_ZERO);
}

/* IEEE 754, 7.4: on overflow, rounding away from zero gives infinity, rounding toward zero the
 * largest finite number. */
static uint64_t overflow(const struct oracle_format *format, bool is_negative,
                         enum oracle_round round)
{
    bool is_infinite = round == ORACLE_ROUND_NEAREST_EVEN || round == ORACLE_ROUND_NEAREST_AWAY ||
                       (round == ORACLE_ROUND_DOWN && is_negative) ||
                       (round == ORACLE_ROUND_UP && !is_negative);

    return is_infinite && format->has_infinity ? oracle_infinity(format) : oracle_largest(format);
}

uint64_t oracle_pack(const struct oracle_format *format, struct oracle_number number,
                     enum oracle_round round)
{
    uint64_t sign = number.is_negative ? oracle_sign_bit(format) : 0;
    int lowest = 1 - format->bias - (int)format->fraction_bits; /* exponent of the last place */
    unsigned __int128 kept;
    uint64_t magnitude;
    int unit;

    if (number.class == ORACLE_NAN)
        return format->has_nan ? format->canonical_nan : oracle_largest(format);
    if (number.class == ORACLE_INFINITE)
        return sign | (format->has_infinity ? oracle_infinity(format) : oracle_largest(format));
    if (number.class == ORACLE_ZERO)
        return sign;

    unit = oracle_log2_floor(number) - (int)format->fraction_bits;
    if (unit < lowest)
        unit = lowest;
    if (unit >= number.exponent)
        kept = round_off(number, unit - number.exponent, round);
    else /* fewer bits than the format has: exact, or a caller's promise broken */
        kept = number.significand << (number.exponent - unit);
    if (unit + (int)bit_length(kept) - 1 > format->bias + (format->has_infinity ? 0 : 1))
        return sign | overflow(format, number.is_negative, round);
    /* The implicit one, when there is one, adds one to the exponent field; so does a carry out of
     * the fraction. */
    magnitude = ((uint64_t)(unit - lowest) << format->fraction_bits) + (uint64_t)kept;
    magnitude <<= format->padding_bits;
    if (magnitude > oracle_largest(format))
        return sign | overflow(format, number.is_negative, round);
    return sign | magnitude;
}

bool oracle_is_tiny(const struct oracle_format *format, struct oracle_number number,
                    enum oracle_round round)
{
    struct oracle_format finer = *format;

    /* One more bit of fraction makes the subnormal numbers below the smallest normal one as dense
     * as normal numbers of that size would be. */
    finer.fraction_bits++;
    return oracle_is_subnormal(&finer, oracle_pack(&finer, number, round));
}

uint64_t oracle_saturate(const struct oracle_format *format, uint64_t bits)
{
    uint64_t one = oracle_pack(format, oracle_from_integer(1, false), ORACLE_ROUND_NEAREST_EVEN);

    if (oracle_is_nan(format, bits) || (bits & oracle_sign_bit(format)) != 0)
        return 0;
    return oracle_rank(format, bits) > oracle_rank(format, one) ? one : bits;
}

uint64_t oracle_clamp_negative(const struct oracle_format *format, uint64_t bits)
{
    if (oracle_is_nan(format, bits))
        return format->canonical_nan;
    return (bits & oracle_sign_bit(format)) != 0 ? 0 : bits;
}

struct oracle_number oracle_from_integer(unsigned __int128 magnitude, bool is_negative)
{
    struct oracle_number number = {.class = magnitude == 0 ? ORACLE_ZERO : ORACLE_FINITE,
                                   .is_negative = is_negative && magnitude != 0,
                                   .significand = magnitude};

    return number;
}

struct oracle_number oracle_round_to_integral(struct oracle_number number, enum oracle_round round)
{
    if (number.class != ORACLE_FINITE || number.exponent >= 0)
        return number;
    number.significand = round_off(number, -number.exponent, round);
    number.exponent = 0;
    number.is_inexact = false;
    if (number.significand == 0)
        number.class = ORACLE_ZERO;
    return number;
}

/* ---- numbers and MPFR ---- */

#define WORK_BITS  120
#define WORK_LIMBS ((WORK_BITS + GMP_NUMB_BITS - 1) / GMP_NUMB_BITS)

/* An MPFR variable on the stack. */
struct work {
    mpfr_t value;
    mp_limb_t limbs[WORK_LIMBS];
};

static void work_init(struct work *work)
{
    mpfr_custom_init(work->limbs, WORK_BITS);
    mpfr_custom_init_set(work->value, MPFR_ZERO_KIND, 0, WORK_BITS, work->limbs);
}

static void work_set(struct work *work, struct oracle_number number)
{
    work_init(work);
    switch (number.class) {
    case ORACLE_ZERO:
        mpfr_set_zero(work->value, number.is_negative ? -1 : 1);
        break;
    case ORACLE_INFINITE:
        mpfr_set_inf(work->value, number.is_negative ? -1 : 1);
        break;
    case ORACLE_NAN:
        mpfr_set_nan(work->value);
        break;
    case ORACLE_FINITE: {
        unsigned shift = 128 - bit_length(number.significand);
        unsigned __int128 aligned = number.significand << shift;

        /* MPFR keeps a fraction in [1/2, 1), its most significant limb last. */
        mpfr_custom_init_set(work->value,
                             number.is_negative ? -MPFR_REGULAR_KIND : MPFR_REGULAR_KIND,
                             number.exponent + 128 - (int)shift, WORK_BITS, work->limbs);
        work->limbs[0] = (mp_limb_t)aligned;
        work->limbs[1] = (mp_limb_t)(aligned >> 64);
        break;
    }
    }
}

/* ternary: MPFR's word on the rounding toward zero that made the value; 0 when exact. */
static struct oracle_number work_get(const struct work *work, int ternary)
{
    struct oracle_number number = {.is_negative = mpfr_signbit(work->value) != 0};
    const mp_limb_t *limbs = mpfr_custom_get_significand(work->value);

    if (mpfr_nan_p(work->value)) {
        number.class = ORACLE_NAN;
        number.is_negative = false;
    } else if (mpfr_inf_p(work->value)) {
        number.class = ORACLE_INFINITE;
    } else if (mpfr_zero_p(work->value)) {
        number.class = ORACLE_ZERO;
    } else {
        number.class = ORACLE_FINITE;
        number.is_inexact = ternary != 0;
        number.significand = ((unsigned __int128)limbs[1] << 64 | limbs[0]) >> (128 - WORK_BITS);
        number.exponent = (int)mpfr_get_exp(work->value) - WORK_BITS;
    }
    return number;
}

struct oracle_number oracle_multiply(struct oracle_number a, struct oracle_number b)
{
    struct work wa;
    struct work wb;
    struct work result;
    int ternary;

    if (a.class == ORACLE_FINITE && b.class == ORACLE_FINITE && !a.is_inexact && !b.is_inexact &&
        bit_length(a.significand) + bit_length(b.significand) <= WORK_BITS) {
        a.significand *= b.significand;
        a.exponent += b.exponent;
        a.is_negative = a.is_negative != b.is_negative;
        return a;
    }
    work_set(&wa, a);
    work_set(&wb, b);
    work_init(&result);
    ternary = mpfr_mul(result.value, wa.value, wb.value, MPFR_RNDZ);
    return work_get(&result, ternary);
}

/* The sum of two finite numbers when it fits an integer of WORK_BITS bits in units of the lower
 * exponent. */
static bool add_integers(struct oracle_number a, struct oracle_number b, struct oracle_number *sum)
{
    struct oracle_number high = a.exponent >= b.exponent ? a : b;
    struct oracle_number low = a.exponent >= b.exponent ? b : a;
    int shift = high.exponent - low.exponent;
    __int128 value;

    if (a.class != ORACLE_FINITE || b.class != ORACLE_FINITE || a.is_inexact || b.is_inexact ||
        (int)bit_length(high.significand) + shift >= WORK_BITS ||
        bit_length(low.significand) >= WORK_BITS)
        return false;
    value = (__int128)(high.significand << shift);
    if (high.is_negative)
        value = -value;
    value += low.is_negative ? -(__int128)low.significand : (__int128)low.significand;
    *sum = oracle_from_integer((unsigned __int128)(value < 0 ? -value : value), value < 0);
    sum->exponent = low.exponent;
    return true;
}

struct oracle_number oracle_add(struct oracle_number a, struct oracle_number b,
                                enum oracle_round round)
{
    struct oracle_number sum;
    struct work wa;
    struct work wb;
    struct work result;
    int ternary;

    if (!add_integers(a, b, &sum)) {
        work_set(&wa, a);
        work_set(&wb, b);
        work_init(&result);
        ternary = mpfr_add(result.value, wa.value, wb.value, MPFR_RNDZ);
        sum = work_get(&result, ternary);
    }
    /* IEEE 754, 6.3: a zero that is the sum of different signs is +0, but -0 when rounding down. */
    if (sum.class == ORACLE_ZERO && a.is_negative != b.is_negative)
        sum.is_negative = round == ORACLE_ROUND_DOWN;
    return sum;
}

struct oracle_number oracle_multiply_add(struct oracle_number a, struct oracle_number b,
                                         struct oracle_number c, enum oracle_round round)
{
    return oracle_add(oracle_multiply(a, b), c, round); /* products are exact */
}

struct oracle_number oracle_divide(struct oracle_number a, struct oracle_number b)
{
    struct work wa;
    struct work wb;
    struct work result;
    int ternary;

    work_set(&wa, a);
    work_set(&wb, b);
    work_init(&result);
    ternary = mpfr_div(result.value, wa.value, wb.value, MPFR_RNDZ);
    return work_get(&result, ternary);
}

struct oracle_number oracle_square_root(struct oracle_number a)
{
    struct work wa;
    struct work result;
    int ternary;

    work_set(&wa, a);
    work_init(&result);
    ternary = mpfr_sqrt(result.value, wa.value, MPFR_RNDZ);
    return work_get(&result, ternary);
}

struct oracle_number oracle_apply(enum oracle_function function, struct oracle_number a)
{
    struct work wa;
    struct work result;
    int ternary = 0;

    work_set(&wa, a);
    work_init(&result);
    switch (function) {
    case ORACLE_RECIPROCAL_ROOT:
        /* rsqrt(-0) is -inf for PTX and +inf for MPFR. */
        if (a.class == ORACLE_ZERO)
            mpfr_set_inf(result.value, a.is_negative ? -1 : 1);
        else
            ternary = mpfr_rec_sqrt(result.value, wa.value, MPFR_RNDZ);
        break;
    case ORACLE_SINE:
        ternary = mpfr_sin(result.value, wa.value, MPFR_RNDZ);
        break;
    case ORACLE_COSINE:
        ternary = mpfr_cos(result.value, wa.value, MPFR_RNDZ);
        break;
    case ORACLE_LOG2:
        ternary = mpfr_log2(result.value, wa.value, MPFR_RNDZ);
        break;
    case ORACLE_EXP2:
        ternary = mpfr_exp2(result.value, wa.value, MPFR_RNDZ);
        break;
    case ORACLE_TANH:
        ternary = mpfr_tanh(result.value, wa.value, MPFR_RNDZ);
        break;
    }
    return work_get(&result, ternary);
}

double oracle_distance(struct oracle_number got, struct oracle_number exact, int unit_exponent)
{
    struct work wa;
    struct work wb;
    struct work difference;

    work_set(&wa, got);
    work_set(&wb, exact);
    work_init(&difference);
    mpfr_sub(difference.value, wa.value, wb.value, MPFR_RNDA);
    mpfr_abs(difference.value, difference.value, MPFR_RNDA);
    mpfr_mul_2si(difference.value, difference.value, -(long)unit_exponent, MPFR_RNDA);
    return mpfr_get_d(difference.value, MPFR_RNDN);
}
