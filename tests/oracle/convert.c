/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions (PTX ISA, "Data Movement and Conversion Instructions: cvt" and "cvt.pack").
 */
#include "tests/oracle/scalar.h"
#include "tests/oracle/softfloat.h"

static enum oracle_round rounding(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_ROUND)) {
    case PTX_MOD_RNA:
        return ORACLE_ROUND_NEAREST_AWAY;
    case PTX_MOD_RZ:
    case PTX_MOD_RZI:
        return ORACLE_ROUND_ZERO;
    case PTX_MOD_RM:
    case PTX_MOD_RMI:
        return ORACLE_ROUND_DOWN;
    case PTX_MOD_RP:
    case PTX_MOD_RPI:
        return ORACLE_ROUND_UP;
    default:
        return ORACLE_ROUND_NEAREST_EVEN;
    }
}

static bool rounds_to_integral(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_ROUND)) {
    case PTX_MOD_RNI:
    case PTX_MOD_RZI:
    case PTX_MOD_RMI:
    case PTX_MOD_RPI:
        return true;
    default:
        return false;
    }
}

static __int128 smallest(enum ptx_type type)
{
    return ptx_type_is_signed(type) ? -((__int128)1 << (ptx_type_bits(type) - 1)) : 0;
}

static __int128 largest(enum ptx_type type)
{
    unsigned bits = ptx_type_bits(type);

    return ((__int128)1 << (ptx_type_is_signed(type) ? bits - 1 : bits)) - 1;
}

static __int128 clamp(__int128 value, enum ptx_type type)
{
    if (value < smallest(type))
        return smallest(type);
    return value > largest(type) ? largest(type) : value;
}

/* "Modifier .ftz ... applies only to single precision (.f32) inputs and results." */
static uint64_t flushed(const struct ptx_inst *inst, enum ptx_type type, uint64_t bits)
{
    if (type == PTX_TYPE_F32 && ptx_inst_has(inst, PTX_GROUP_FTZ))
        return oracle_flush(oracle_format(type), bits);
    return bits;
}

/* "NaN input results in: 1. Zero if source is not .f64 and destination is not .s64, .u64.
 * 2. Otherwise 1 << (BitWidth(dst) - 1)". Beyond the range, and for infinity, "the result is
 * clamped to the destination range by default". */
static uint64_t float_to_integer(const struct ptx_inst *inst, enum ptx_type to, enum ptx_type from,
                                 uint64_t bits)
{
    struct oracle_number number = oracle_unpack(oracle_format(from), flushed(inst, from, bits));
    __int128 value;

    if (number.class == ORACLE_NAN) {
        if (from != PTX_TYPE_F64 && ptx_type_bits(to) != 64)
            return 0;
        return UINT64_C(1) << (ptx_type_bits(to) - 1);
    }
    number = oracle_round_to_integral(number, rounding(inst));
    if (number.class == ORACLE_ZERO)
        return 0;
    if (number.class == ORACLE_INFINITE || oracle_log2_floor(number) > 64)
        return (uint64_t)(number.is_negative ? smallest(to) : largest(to));
    value = (__int128)(number.significand << number.exponent);
    return (uint64_t)clamp(number.is_negative ? -value : value, to);
}

static uint64_t integer_to_integer(const struct ptx_inst *inst, enum ptx_type to,
                                   enum ptx_type from, uint64_t bits)
{
    __int128 value = oracle_integer(bits, from);

    return (uint64_t)(ptx_inst_has(inst, PTX_GROUP_SAT) ? clamp(value, to) : value);
}

/* Applies the modifiers to a floating-point result. */
static uint64_t finish(const struct ptx_inst *inst, enum ptx_type to, uint64_t bits)
{
    const struct oracle_format *format = oracle_format(to);

    bits = flushed(inst, to, bits);
    if (ptx_inst_has(inst, PTX_GROUP_SAT))
        bits = oracle_saturate(format, bits);
    if (ptx_inst_has(inst, PTX_GROUP_RELU))
        bits = oracle_clamp_negative(format, bits);
    /* "If the absolute value of input is greater than MAX_NORM of the specified destination
     * format, then the result is sign-preserved MAX_NORM": also for an infinite one. */
    if (ptx_inst_has(inst, PTX_GROUP_SATFINITE) && format->has_infinity &&
        (bits & ~oracle_sign_bit(format)) == oracle_infinity(format))
        bits = (bits & oracle_sign_bit(format)) | oracle_largest(format);
    return bits;
}

/* A NaN converted to another floating-point format. The manual leaves its bits open, except for
 * .relu and the formats of eight bits. sm_90 only moves it when there is nothing to convert, keeps
 * as many bits as possible to and from .f64, and gives the canonical one otherwise. */
static uint64_t converted_nan(const struct ptx_inst *inst, enum ptx_type to, enum ptx_type from,
                              uint64_t bits)
{
    bool is_ftz = ptx_inst_has(inst, PTX_GROUP_FTZ);
    struct oracle_number nan = {.class = ORACLE_NAN};

    if (from == PTX_TYPE_BF16 && to == PTX_TYPE_F32 && !is_ftz)
        return bits << 16;
    if (from == to && (to == PTX_TYPE_F32 || to == PTX_TYPE_F64) && !is_ftz &&
        !ptx_inst_has(inst, PTX_GROUP_ROUND))
        return bits;
    if (from == PTX_TYPE_F32 && is_ftz)
        bits = oracle_format(from)->canonical_nan;
    if (from == PTX_TYPE_F64 || to == PTX_TYPE_F64)
        return oracle_convert_nan(oracle_format(to), oracle_format(from), bits);
    return oracle_pack(oracle_format(to), nan, ORACLE_ROUND_NEAREST_EVEN);
}

/* cvt.rna.tf32. Manual: NaN gives NaN, .satfinite the largest number for infinity. sm_90 rounds
 * finite numbers only and cuts off the low bits of others, so that a NaN with nothing but low bits
 * becomes infinity; .satfinite takes one unit off whatever then has the top exponent, which makes
 * infinity the largest number, and of a NaN the next lower one. */
static uint64_t to_tf32_away(const struct ptx_inst *inst, uint64_t bits)
{
    const struct oracle_format *format = oracle_format(PTX_TYPE_TF32);
    uint64_t unit = UINT64_C(1) << format->padding_bits;
    uint64_t sign = bits & oracle_sign_bit(format);
    uint64_t magnitude = bits & ~oracle_sign_bit(format);

    if (magnitude < oracle_infinity(format))
        magnitude += unit / 2;
    magnitude &= ~(unit - 1);
    if (ptx_inst_has(inst, PTX_GROUP_SATFINITE) && magnitude >= oracle_infinity(format))
        magnitude -= unit;
    return sign | magnitude;
}

static uint64_t to_float(const struct ptx_inst *inst, enum ptx_type to, enum ptx_type from,
                         uint64_t bits)
{
    struct oracle_number number;

    if (ptx_type_is_float(from)) {
        /* Manual: .ftz flushes .f32 inputs. sm_90 does not flush the input of a conversion to
         * .f16, of which only .rm and .rp let anything show. */
        if (to != PTX_TYPE_F16)
            bits = flushed(inst, from, bits);
        number = oracle_unpack(oracle_format(from), bits);
        if (number.class == ORACLE_NAN)
            return finish(inst, to, converted_nan(inst, to, from, bits));
        if (rounds_to_integral(inst))
            number = oracle_round_to_integral(number, rounding(inst));
    } else {
        __int128 value = oracle_integer(bits, from);

        number = oracle_from_integer((unsigned __int128)(value < 0 ? -value : value), value < 0);
    }
    if (to == PTX_TYPE_F32 && ptx_inst_has(inst, PTX_GROUP_FTZ) && number.class == ORACLE_FINITE &&
        oracle_is_tiny(oracle_format(to), number, rounding(inst)))
        number.class = ORACLE_ZERO;
    return finish(inst, to, oracle_pack(oracle_format(to), number, rounding(inst)));
}

/* ---- ue8m0: eight bits of exponent, no sign, no zero, no infinity ---- */

/* "cvt.{rz,rp}{.satfinite}.ue8m0x2": the exponent of a power of two. The manual is silent about
 * zero, negative and too large numbers without .satfinite: here the sign is dropped, the smallest
 * value stands for smaller ones, and NaN for numbers above the largest. */
static uint64_t to_exponent(const struct ptx_inst *inst, struct oracle_number number)
{
    uint64_t too_large = ptx_inst_has(inst, PTX_GROUP_SATFINITE) ? 0xfe : 0xff;
    int exponent;

    if (number.class == ORACLE_NAN)
        return 0xff;
    if (number.class == ORACLE_INFINITE)
        return too_large;
    if (number.class == ORACLE_ZERO)
        return 0;
    exponent = oracle_log2_floor(number);
    if (rounding(inst) == ORACLE_ROUND_UP && (number.significand & (number.significand - 1)) != 0)
        exponent++;
    if (exponent < -127)
        return 0;
    return exponent > 127 ? too_large : (uint64_t)(exponent + 127);
}

static struct oracle_number from_exponent(uint64_t bits)
{
    struct oracle_number number = oracle_from_integer(1, false);

    number.exponent = (int)bits - 127;
    if (bits == 0xff)
        number.class = ORACLE_NAN;
    return number;
}

/* ---- elements ---- */

static uint64_t convert(const struct ptx_inst *inst, enum ptx_type to, enum ptx_type from,
                        uint64_t bits)
{
    if (to == PTX_TYPE_TF32 && rounding(inst) == ORACLE_ROUND_NEAREST_AWAY)
        return to_tf32_away(inst, bits);
    if (to == PTX_TYPE_UE8M0X2)
        return to_exponent(inst, oracle_unpack(oracle_format(from), bits));
    if (from == PTX_TYPE_UE8M0X2)
        return oracle_pack(oracle_format(to), from_exponent(bits), ORACLE_ROUND_NEAREST_EVEN);
    if (ptx_type_is_float(to))
        return to_float(inst, to, from, bits);
    if (ptx_type_is_float(from))
        return float_to_integer(inst, to, from, bits);
    return integer_to_integer(inst, to, from, bits);
}

/* .rs: "two 16-bit values are provided from rbits", the upper for a, the lower for b; of them "13
 * LSBs" for .f16x2, all for .bf16x2. */
static uint64_t convert_random(const struct ptx_inst *inst, enum ptx_type to, uint64_t bits,
                               uint32_t random)
{
    unsigned random_bits = to == PTX_TYPE_F16 ? 13 : 16;
    struct oracle_number number = oracle_unpack(oracle_format(inst->types[1]), bits);

    random &= (UINT32_C(1) << random_bits) - 1;
    return finish(inst, to, oracle_pack_random(oracle_format(to), number, random, random_bits));
}

/* "the value converted from input a is stored in the upper half of d and the value converted from
 * input b is stored in the lower half"; of a packed source, the upper half goes to the upper. */
static void convert_pair(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum ptx_type to = oracle_lane_type(inst->types[0]);
    enum ptx_type from = oracle_lane_type(inst->types[1]);
    bool is_random = ptx_inst_mod(inst, PTX_GROUP_ROUND) == PTX_MOD_RS;

    scalar->out.u128 = 0;
    for (unsigned i = 0; i < 2; i++) {
        uint64_t source;
        uint64_t value;

        if (oracle_lane_count(inst->types[1]) == 2)
            source = oracle_lane(scalar->in[0], i, oracle_lane_bits(inst->types[1]));
        else
            source = scalar->in[i == 1 ? 0 : 1].u64;
        if (is_random)
            value = convert_random(inst, to, source, scalar->in[2].u32 >> (16 * i));
        else
            value = convert(inst, to, from, source);
        oracle_set_lane(&scalar->out, i, oracle_lane_bits(inst->types[0]), value);
    }
}

static enum ptx_type format_of_four(enum ptx_type type)
{
    return type == PTX_TYPE_E4M3X4   ? PTX_TYPE_E4M3X2
           : type == PTX_TYPE_E5M2X4 ? PTX_TYPE_E5M2X2
           : type == PTX_TYPE_E2M3X4 ? PTX_TYPE_E2M3X2
           : type == PTX_TYPE_E3M2X4 ? PTX_TYPE_E3M2X2
                                     : PTX_TYPE_E2M1X2;
}

/* "For .e4m3x4 …: the lower 16 bits of rbits are used for e, f and the upper 16 bits for a, b"; for
 * .e2m1x4 "lower 8 bits from both 16-bit halves" and the upper 8 bits. */
static uint32_t random_of(enum ptx_type to, uint32_t rbits, bool is_upper)
{
    unsigned byte = is_upper ? 1 : 0;

    if (to != PTX_TYPE_E2M1X4)
        return is_upper ? rbits >> 16 : rbits & 0xffff;
    return (rbits >> (16 + 8 * byte) & 0xff) << 8 | (rbits >> (8 * byte) & 0xff);
}

/* cvt.rs d, {a, b, e, f}, rbits: "stored in each 8 bits starting from the upper bits of d". */
void oracle_eval_cvt_four(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum ptx_type to = format_of_four(inst->types[0]);
    unsigned bits = ptx_type_bits(inst->types[0]) / 4;

    scalar->out.u128 = 0;
    for (unsigned i = 0; i < 4; i++) {
        struct oracle_number number = oracle_unpack(oracle_format(PTX_TYPE_F32), scalar->in[i].u32);
        uint32_t random = random_of(inst->types[0], scalar->in[4].u32, i < 2);
        uint64_t value =
            finish(inst, to, oracle_pack_random(oracle_format(to), number, random, 16));

        oracle_set_lane(&scalar->out, 3 - i, bits, value);
    }
}

void oracle_eval_cvt(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    if (oracle_lane_count(inst->types[0]) == 2)
        convert_pair(inst, scalar);
    else
        scalar->out.u128 = convert(inst, inst->types[0], inst->types[1], scalar->in[0].u64);
}

/* "cvt.pack": a above b in the lower bits of d, the rest from the lower bits of c. */
void oracle_eval_cvt_pack(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned size = ptx_type_bits(inst->types[0]);
    uint64_t a = (uint64_t)clamp(scalar->in[0].s32, inst->types[0]);
    uint64_t b = (uint64_t)clamp(scalar->in[1].s32, inst->types[0]);
    uint64_t c = scalar->in_count > 2 ? scalar->in[2].u32 : 0;

    scalar->out.u128 = 0;
    oracle_set_lane(&scalar->out, 0, size, b);
    oracle_set_lane(&scalar->out, 1, size, a);
    scalar->out.u64 |= c << (2 * size);
}
