/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer
 * Arithmetic Instructions"). All of it in 128 bits, of which the result keeps the low ones.
 */
#include "tests/oracle/scalar.h"

static __int128 smallest(enum ptx_type type)
{
    return ptx_type_is_signed(type) ? -((__int128)1 << (ptx_type_bits(type) - 1)) : 0;
}

static __int128 largest(enum ptx_type type)
{
    unsigned bits = ptx_type_bits(type);

    return ((__int128)1 << (ptx_type_is_signed(type) ? bits - 1 : bits)) - 1;
}

static __int128 clamp(__int128 value, __int128 low, __int128 high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

/* The n-th source as a number. */
static __int128 source(const struct oracle_scalar *scalar, unsigned n, enum ptx_type type)
{
    return oracle_integer(scalar->in[n].u64, type);
}

static void result(struct oracle_scalar *scalar, __int128 value)
{
    scalar->out.u128 = (unsigned __int128)value;
}

static __int128 add(__int128 a, __int128 b)
{
    return a + b;
}

static __int128 subtract(__int128 a, __int128 b)
{
    return a - b;
}

static __int128 minimum(__int128 a, __int128 b)
{
    return a < b ? a : b;
}

static __int128 maximum(__int128 a, __int128 b)
{
    return a > b ? a : b;
}

/* One operation for every element of a packed type. "add": .sat limits to MININT..MAXINT; "min":
 * .relu clamps to 0 if negative. */
static void each_lane(const struct ptx_inst *inst, struct oracle_scalar *scalar,
                      __int128 (*operation)(__int128 a, __int128 b))
{
    enum ptx_type type = oracle_lane_type(inst->types[0]);
    unsigned bits = ptx_type_bits(type);

    scalar->out.u128 = 0;
    for (unsigned i = 0; i < oracle_lane_count(inst->types[0]); i++) {
        __int128 a = oracle_integer(oracle_lane(scalar->in[0], i, bits), type);
        __int128 b = oracle_integer(oracle_lane(scalar->in[1], i, bits), type);
        __int128 value = operation(a, b);

        if (ptx_inst_has(inst, PTX_GROUP_SAT))
            value = clamp(value, smallest(type), largest(type));
        if (ptx_inst_has(inst, PTX_GROUP_RELU) && value < 0)
            value = 0;
        oracle_set_lane(&scalar->out, i, bits, (uint64_t)value);
    }
}

void oracle_eval_add_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    each_lane(inst, scalar, add);
}

void oracle_eval_add_packed(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    each_lane(inst, scalar, add);
}

void oracle_eval_sub_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    each_lane(inst, scalar, subtract);
}

void oracle_eval_min_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    each_lane(inst, scalar, minimum);
}

void oracle_eval_max_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    each_lane(inst, scalar, maximum);
}

/* "add.cc": carry-out written to CC.CF, the same for signed and unsigned. "addc": d = a + b +
 * CC.CF. add.cc has no carry-in; the row's name tells. */
static bool takes_carry(const struct ptx_inst *inst)
{
    const char *name = ptx_op_name(inst->op);

    while (name[1] != '\0')
        name++;
    return *name == 'c'; /* addc, subc, madc */
}

static void add_with_carry(const struct ptx_inst *inst, struct oracle_scalar *scalar, uint64_t a,
                           uint64_t b)
{
    unsigned bits = ptx_type_bits(inst->types[0]);
    unsigned __int128 sum = (unsigned __int128)a + b;

    if (takes_carry(inst))
        sum += scalar->carry;
    scalar->out.u128 = oracle_low_bits(sum, bits);
    if (ptx_inst_has(inst, PTX_GROUP_CC))
        scalar->carry = (sum >> bits & 1) != 0;
}

void oracle_eval_add_carry(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    add_with_carry(inst, scalar, scalar->in[0].u64, scalar->in[1].u64);
}

/* "subc". Manual: d = a - (b + CC.CF), where CC.CF is a borrow. sm_90 adds the complement of b, so
 * that CC.CF is 1 when there is no borrow: an addc after a sub.cc, or a subc after an add.cc,
 * tells. */
void oracle_eval_sub_carry(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    __int128 difference = (__int128)scalar->in[0].u64 - scalar->in[1].u64;

    if (takes_carry(inst))
        difference -= !scalar->carry;
    result(scalar, difference);
    if (ptx_inst_has(inst, PTX_GROUP_CC))
        scalar->carry = difference >= 0;
}

/* The half of a product of two n-bit numbers that the modifier names, or all of it. */
static __int128 product_part(const struct ptx_inst *inst, const struct oracle_scalar *scalar)
{
    enum ptx_type type = inst->types[0];
    unsigned bits = ptx_type_bits(type);
    __int128 product;

    /* Unsigned 64-bit numbers need all 128 bits, so they count as a bit pattern. */
    if (ptx_type_is_signed(type))
        product = source(scalar, 0, type) * source(scalar, 1, type);
    else
        product = (__int128)((unsigned __int128)scalar->in[0].u64 * scalar->in[1].u64);

    switch (ptx_inst_mod(inst, PTX_GROUP_HALF)) {
    case PTX_MOD_HI:
        return (__int128)oracle_low_bits((unsigned __int128)product >> bits, bits);
    case PTX_MOD_LO:
        return (__int128)oracle_low_bits((unsigned __int128)product, bits);
    default:
        return product;
    }
}

void oracle_eval_mul_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    result(scalar, product_part(inst, scalar));
}

/* "mad": .sat limits the result to MININT..MAXINT, mad.hi.sat.s32 only. */
void oracle_eval_mad_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum ptx_type type = inst->types[0];
    __int128 part = product_part(inst, scalar);

    if (ptx_inst_has(inst, PTX_GROUP_SAT)) {
        part = oracle_integer((uint64_t)part, type) + source(scalar, 2, type);
        result(scalar, clamp(part, smallest(type), largest(type)));
    } else {
        result(scalar, part + scalar->in[2].u64);
    }
}

void oracle_eval_mad_carry(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    add_with_carry(inst, scalar, (uint64_t)product_part(inst, scalar), scalar->in[2].u64);
}

/* "mul24": two 24-bit values held in 32-bit registers; the 48-bit product's bits 47..16 or 31..0.
 * What bits 31..24 of a source do is not said: they are taken to be ignored, the value being that
 * of the low 24 bits. */
static __int128 product24(const struct ptx_inst *inst, const struct oracle_scalar *scalar)
{
    __int128 factors[2];
    __int128 product;

    for (unsigned i = 0; i < 2; i++) {
        factors[i] = scalar->in[i].u32 & 0xffffff;
        if (ptx_type_is_signed(inst->types[0]) && factors[i] >= 0x800000)
            factors[i] -= 0x1000000;
    }
    product = factors[0] * factors[1];
    if (ptx_inst_mod(inst, PTX_GROUP_HALF) == PTX_MOD_HI)
        product >>= 16;
    return oracle_integer((uint64_t)product, inst->types[0]);
}

void oracle_eval_mul24(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    result(scalar, product24(inst, scalar));
}

/* "mad24": .sat limits the 32-bit signed addition of mad24.hi.sat.s32. */
void oracle_eval_mad24(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum ptx_type type = inst->types[0];
    __int128 sum = product24(inst, scalar) + source(scalar, 2, type);

    if (ptx_inst_has(inst, PTX_GROUP_SAT))
        sum = clamp(sum, smallest(type), largest(type));
    result(scalar, sum);
}

/* "sad": d = c + ((a<b) ? b-a : a-b). */
void oracle_eval_sad(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum ptx_type type = inst->types[0];
    __int128 a = source(scalar, 0, type);
    __int128 b = source(scalar, 1, type);

    result(scalar, source(scalar, 2, type) + (a < b ? b - a : a - b));
}

/* "div": division by zero yields an unspecified, machine-specific value: on sm_90 all ones. The
 * quotient is cut off toward zero, as in C, which describes the semantics; the smallest number
 * divided by -1, of which the manual says nothing, is itself on sm_90. */
void oracle_eval_div_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    __int128 a = source(scalar, 0, inst->types[0]);
    __int128 b = source(scalar, 1, inst->types[0]);

    result(scalar, b == 0 ? -1 : a / b);
}

/* "rem": by zero as for div. */
void oracle_eval_rem(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    __int128 a = source(scalar, 0, inst->types[0]);
    __int128 b = source(scalar, 1, inst->types[0]);

    result(scalar, b == 0 ? -1 : a % b);
}

/* |MININT| and -MININT do not fit; their low bits are MININT again. */
void oracle_eval_abs_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    __int128 a = source(scalar, 0, inst->types[0]);

    result(scalar, a < 0 ? -a : a);
}

void oracle_eval_neg_int(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    result(scalar, -source(scalar, 0, inst->types[0]));
}

static enum ptx_type part_type(enum ptx_type type, unsigned bits)
{
    if (ptx_type_is_signed(type))
        return bits == 8 ? PTX_TYPE_S8 : PTX_TYPE_S16;
    return bits == 8 ? PTX_TYPE_U8 : PTX_TYPE_U16;
}

/* The i-th part of a register, sign- or zero-extended as the type says. */
static __int128 extract(union oracle_value value, unsigned i, unsigned bits, enum ptx_type type)
{
    return oracle_integer(oracle_lane(value, i, bits), part_type(type, bits));
}

void oracle_eval_dp4a(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    __int128 sum = scalar->in[2].u32;

    for (unsigned i = 0; i < 4; i++)
        sum += extract(scalar->in[0], i, 8, inst->types[0]) *
               extract(scalar->in[1], i, 8, inst->types[1]);
    result(scalar, sum);
}

/* "dp2a": .lo takes the lower, .hi the upper two bytes of b. */
void oracle_eval_dp2a(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned first = ptx_inst_mod(inst, PTX_GROUP_HALF) == PTX_MOD_LO ? 0 : 2;
    __int128 sum = scalar->in[2].u32;

    for (unsigned i = 0; i < 2; i++)
        sum += extract(scalar->in[0], i, 16, inst->types[0]) *
               extract(scalar->in[1], first + i, 8, inst->types[1]);
    result(scalar, sum);
}
