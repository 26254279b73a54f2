/* SPDX-License-Identifier: Apache-2.0
 *
 * Floating-point arithmetic that is exact up to one rounding (PTX ISA,
 * "Floating-Point Instructions", "Half Precision Floating-Point Instructions",
 * "Mixed Precision Floating-Point Instructions").
 */
#include "tests/oracle/scalar.h"
#include "tests/oracle/softfloat.h"

enum oracle_round oracle_rounding(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_ROUND)) {
    case PTX_MOD_RZ:
        return ORACLE_ROUND_ZERO;
    case PTX_MOD_RM:
        return ORACLE_ROUND_DOWN;
    case PTX_MOD_RP:
        return ORACLE_ROUND_UP;
    default:
        return ORACLE_ROUND_NEAREST_EVEN;
    }
}

/* ".ftz flushes subnormal inputs and results to sign-preserving zero." */
static uint64_t flushed(const struct ptx_inst *inst, const struct oracle_format *format,
                        uint64_t bits)
{
    return ptx_inst_has(inst, PTX_GROUP_FTZ) ? oracle_flush(format, bits) : bits;
}

/* Saturation and relu of a result (each instruction's Notes). */
static uint64_t finish(const struct ptx_inst *inst, const struct oracle_format *format,
                       uint64_t bits)
{
    if (ptx_inst_has(inst, PTX_GROUP_SAT))
        bits = oracle_saturate(format, bits);
    if (ptx_inst_has(inst, PTX_GROUP_RELU))
        bits = oracle_clamp_negative(format, bits);
    return bits;
}

/* "fma.oob ... clamps the result to 0 if either of the operands is OOB NaN
 * value." The manual does not give the encoding of OOB NaN; in f16 and in bf16
 * it is this one on sm_90, of either sign, and the operands are the factors. */
static bool is_out_of_bounds(const struct ptx_inst *inst, uint64_t a, uint64_t b)
{
    return ptx_inst_has(inst, PTX_GROUP_OOB) && ((a & 0x7fff) == 0x7ff7 || (b & 0x7fff) == 0x7ff7);
}

/* A NaN by the order in which sm_90 looks at f64 sources. */
static uint64_t nan_of(const struct oracle_format *format, enum oracle_operation operation,
                       uint64_t a, uint64_t b, uint64_t c)
{
    switch (operation) {
    case ORACLE_OP_SQRT:
        return oracle_nan_of(format, a, a, a);
    case ORACLE_OP_DIV:
        return oracle_nan_of(format, a, b, b);
    case ORACLE_OP_FMA:
        return oracle_nan_of(format, b, c, a);
    default:
        return oracle_nan_of(format, b, a, a);
    }
}

/* One operation on each element of the sources: of one, two or three of them. */
static void operate(const struct ptx_inst *inst, struct oracle_scalar *scalar,
                    enum oracle_operation operation)
{
    enum ptx_type type = inst->types[0];
    const struct oracle_format *format = oracle_format(type);
    unsigned bits = ptx_type_bits(oracle_lane_type(type));

    scalar->out.u128 = 0;
    for (unsigned i = 0; i < oracle_lane_count(type); i++) {
        uint64_t a = flushed(inst, format, oracle_lane(scalar->in[0], i, bits));
        uint64_t b = flushed(inst, format, oracle_lane(scalar->in[1], i, bits));
        uint64_t c = flushed(inst, format, oracle_lane(scalar->in[2], i, bits));
        uint64_t value = ptx_inst_has(inst, PTX_GROUP_FTZ)
                             ? oracle_operate_ftz(format, operation, oracle_rounding(inst), a, b, c)
                             : oracle_operate(format, operation, oracle_rounding(inst), a, b, c);

        if (oracle_is_nan(format, value))
            value = nan_of(format, operation, a, b, c);
        if (is_out_of_bounds(inst, a, b))
            value = 0;
        oracle_set_lane(&scalar->out, i, bits, finish(inst, format, value));
    }
}

/* Mixed precision: "Converts input operand from .atype into .f32 type", which
 * is exact. A source that is not converted has the first type. */
static void widen_mixed(const struct ptx_inst *inst, struct oracle_scalar *scalar, unsigned count)
{
    if (inst->type_count < 2)
        return;
    for (unsigned i = 0; i < count; i++) {
        struct oracle_number number =
            oracle_unpack(oracle_format(inst->types[1]), scalar->in[i].u64);

        scalar->in[i].u128 =
            oracle_pack(oracle_format(inst->types[0]), number, ORACLE_ROUND_NEAREST_EVEN);
    }
}

void oracle_eval_add_float(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    widen_mixed(inst, scalar, 1);
    operate(inst, scalar, ORACLE_OP_ADD);
}

void oracle_eval_sub_float(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    widen_mixed(inst, scalar, 1);
    operate(inst, scalar, ORACLE_OP_SUB);
}

void oracle_eval_mul_float(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    operate(inst, scalar, ORACLE_OP_MUL);
}

/* Also mad: for sm_20 and higher "mad.{f32,f64} is the same as fma.{f32,f64}".
 */
void oracle_eval_fma(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    widen_mixed(inst, scalar, 2);
    operate(inst, scalar, ORACLE_OP_FMA);
}

void oracle_eval_div_float(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    operate(inst, scalar, ORACLE_OP_DIV);
}

void oracle_eval_rcp(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    scalar->in[1] = scalar->in[0];
    scalar->in[0].u128 = oracle_pack(oracle_format(inst->types[0]), oracle_from_integer(1, false),
                                     ORACLE_ROUND_NEAREST_EVEN);
    operate(inst, scalar, ORACLE_OP_DIV);
}

void oracle_eval_sqrt(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    operate(inst, scalar, ORACLE_OP_SQRT);
}

/* The manual leaves the result of a NaN open: on sm_90 these are operations like others, and give
 * the same NaN as others. */
static void change_sign(const struct ptx_inst *inst, struct oracle_scalar *scalar, bool is_abs)
{
    enum ptx_type type = inst->types[0];
    const struct oracle_format *format = oracle_format(type);
    unsigned bits = ptx_type_bits(oracle_lane_type(type));

    scalar->out.u128 = 0;
    for (unsigned i = 0; i < oracle_lane_count(type); i++) {
        uint64_t a = flushed(inst, format, oracle_lane(scalar->in[0], i, bits));

        if (oracle_is_nan(format, a))
            a = oracle_nan_of(format, a, a, a);
        else if (is_abs)
            a &= ~oracle_sign_bit(format);
        else
            a ^= oracle_sign_bit(format);
        oracle_set_lane(&scalar->out, i, bits, a);
    }
}

void oracle_eval_abs_float(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    change_sign(inst, scalar, true);
}

void oracle_eval_neg_float(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    change_sign(inst, scalar, false);
}

/* "Copy sign bit of a into value of b". */
void oracle_eval_copysign(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    uint64_t sign = oracle_sign_bit(oracle_format(inst->types[0]));

    scalar->out.u128 = (scalar->in[0].u64 & sign) | (scalar->in[1].u64 & ~sign);
}

/* Whether a < b, where "-0.0 < +0.0". */
static bool is_less(const struct oracle_format *format, uint64_t a, uint64_t b)
{
    int64_t rank_a = oracle_rank(format, a);
    int64_t rank_b = oracle_rank(format, b);

    if (rank_a == 0 && rank_b == 0)
        return (a & oracle_sign_bit(format)) != 0 && (b & oracle_sign_bit(format)) == 0;
    return rank_a < rank_b;
}

/* two_inputs_min and two_inputs_max of the manual. */
static uint64_t choose(const struct ptx_inst *inst, const struct oracle_format *format, uint64_t x,
                       uint64_t y, bool is_max)
{
    bool is_x_nan = oracle_is_nan(format, x);
    bool is_y_nan = oracle_is_nan(format, y);

    if (is_x_nan && is_y_nan)
        return oracle_nan_of(format, y, x, x);
    if (ptx_inst_has(inst, PTX_GROUP_NAN) && (is_x_nan || is_y_nan))
        return format->canonical_nan;
    if (is_x_nan)
        return y;
    if (is_y_nan)
        return x;
    if (is_max)
        return is_less(format, y, x) ? x : y;
    return is_less(format, x, y) ? x : y;
}

static uint64_t min_max_lane(const struct ptx_inst *inst, const struct oracle_format *format,
                             const uint64_t *sources, unsigned count, bool is_max)
{
    uint64_t sign = oracle_sign_bit(format);
    uint64_t xorsign = (sources[0] ^ sources[1]) & sign;
    uint64_t values[3] = {0};
    uint64_t d;

    for (unsigned i = 0; i < count; i++) {
        values[i] = flushed(inst, format, sources[i]);
        if (ptx_inst_has_word(inst, PTX_MOD_ABS))
            values[i] &= ~sign;
    }
    d = choose(inst, format, values[0], values[1], is_max);
    if (count == 3)
        d = choose(inst, format, d, values[2], is_max);
    if (ptx_inst_has_word(inst, PTX_MOD_XORSIGN) && !oracle_is_nan(format, d))
        d = (d & ~sign) | xorsign;
    return d;
}

static void min_max(const struct ptx_inst *inst, struct oracle_scalar *scalar, bool is_max)
{
    enum ptx_type type = inst->types[0];
    const struct oracle_format *format = oracle_format(type);
    unsigned bits = ptx_type_bits(oracle_lane_type(type));

    scalar->out.u128 = 0;
    for (unsigned i = 0; i < oracle_lane_count(type); i++) {
        uint64_t sources[3];

        for (unsigned n = 0; n < 3; n++)
            sources[n] = oracle_lane(scalar->in[n], i, bits);
        oracle_set_lane(&scalar->out, i, bits,
                        min_max_lane(inst, format, sources, scalar->in_count, is_max));
    }
}

void oracle_eval_min_float(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    min_max(inst, scalar, false);
}

void oracle_eval_max_float(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    min_max(inst, scalar, true);
}
