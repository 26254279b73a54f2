/* SPDX-License-Identifier: Apache-2.0
 *
 * Approximate instructions: the correctly rounded result, and the manual's tables of special
 * inputs. bounds.c says how far a real result may be from it.
 */
#include "tests/oracle/scalar.h"
#include "tests/oracle/softfloat.h"

#include <math.h>
#include <string.h>

static uint64_t flushed(const struct ptx_inst *inst, const struct oracle_format *format,
                        uint64_t bits)
{
    return ptx_inst_has(inst, PTX_GROUP_FTZ) ? oracle_flush(format, bits) : bits;
}

static double to_double(const struct oracle_format *format, uint64_t bits)
{
    uint64_t wide = oracle_pack(oracle_format(PTX_TYPE_F64), oracle_unpack(format, bits),
                                ORACLE_ROUND_NEAREST_EVEN);
    double value;

    memcpy(&value, &wide, sizeof(value));
    return value;
}

static uint64_t round_double(const struct oracle_format *format, double value)
{
    uint64_t wide;

    memcpy(&wide, &value, sizeof(wide));
    return oracle_pack(format, oracle_unpack(oracle_format(PTX_TYPE_F64), wide),
                       ORACLE_ROUND_NEAREST_EVEN);
}

double oracle_host_function(enum oracle_function function, double a)
{
    switch (function) {
    case ORACLE_RECIPROCAL_ROOT:
        return 1.0 / sqrt(a);
    case ORACLE_SINE:
        return sin(a);
    case ORACLE_COSINE:
        return cos(a);
    case ORACLE_LOG2:
        return log2(a);
    case ORACLE_EXP2:
        return exp2(a);
    case ORACLE_TANH:
        return tanh(a);
    }
    return a;
}

/* Correctly rounded. The host's functions are good to about 2^-51: where that decides the rounding
 * they are enough, else MPFR is asked. Zeros, infinities and NaN are MPFR's. */
static uint64_t apply(const struct oracle_format *format, enum oracle_function function,
                      uint64_t bits)
{
    struct oracle_number number = oracle_unpack(format, bits);

    if (number.class == ORACLE_NAN)
        return oracle_nan_of(format, bits, bits, bits);
    if (format != oracle_format(PTX_TYPE_F64) && number.class == ORACLE_FINITE) {
        double value = oracle_host_function(function, to_double(format, bits));
        double slack = fabs(value) * 0x1p-48;
        uint64_t low = round_double(format, value - slack);

        if (low == round_double(format, value + slack))
            return low;
    }
    return oracle_pack(format, oracle_apply(function, number), ORACLE_ROUND_NEAREST_EVEN);
}

static void apply_lanes(const struct ptx_inst *inst, struct oracle_scalar *scalar,
                        enum oracle_function function)
{
    enum ptx_type type = inst->types[0];
    const struct oracle_format *format = oracle_format(type);
    unsigned bits = ptx_type_bits(oracle_lane_type(type));

    scalar->out.u128 = 0;
    for (unsigned i = 0; i < oracle_lane_count(type); i++) {
        uint64_t a = flushed(inst, format, oracle_lane(scalar->in[0], i, bits));

        oracle_set_lane(&scalar->out, i, bits, flushed(inst, format, apply(format, function, a)));
    }
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: "tmp = a[63:32]; // upper word of a, 1.11.20 format
 * d[63:32] = ...; d[31:0] = 0x00000000". */
static uint64_t upper_word(enum oracle_operation operation, uint64_t a)
{
    const struct oracle_format *format = oracle_upper_f64();
    struct oracle_number result;

    a = oracle_flush(format, a & ~UINT64_C(0xffffffff));
    if (operation == ORACLE_OP_SQRT)
        result = oracle_apply(ORACLE_RECIPROCAL_ROOT, oracle_unpack(format, a));
    else
        result = oracle_divide(oracle_from_integer(1, false), oracle_unpack(format, a));
    return oracle_flush(format, oracle_pack(format, result, ORACLE_ROUND_NEAREST_EVEN));
}

void oracle_eval_rcp_approx(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    if (inst->types[0] == PTX_TYPE_F64)
        scalar->out.u128 = upper_word(ORACLE_OP_DIV, scalar->in[0].u64);
    else
        oracle_eval_rcp(inst, scalar);
}

void oracle_eval_rsqrt(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    if (inst->types[0] == PTX_TYPE_F64 && ptx_inst_has(inst, PTX_GROUP_FTZ))
        scalar->out.u128 = upper_word(ORACLE_OP_SQRT, scalar->in[0].u64);
    else
        apply_lanes(inst, scalar, ORACLE_RECIPROCAL_ROOT);
}

void oracle_eval_sqrt_approx(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    oracle_eval_sqrt(inst, scalar);
}

/* "div.approx.f32 ... For 2^126 < |b| < 2^128, if a is infinity, returns NaN, otherwise it returns
 * a sign-preserving zero." div.full is a plain quotient. */
void oracle_eval_div_approx(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    const struct oracle_format *format = oracle_format(PTX_TYPE_F32);
    uint32_t a = scalar->in[0].u32;
    uint32_t b = scalar->in[1].u32;
    uint32_t magnitude = b & 0x7fffffff;
    bool is_huge = magnitude > 0x7e800000 && magnitude < 0x7f800000;

    if (ptx_inst_mod(inst, PTX_GROUP_APPROX) == PTX_MOD_APPROX && is_huge &&
        !oracle_is_nan(format, a)) {
        if ((a & 0x7fffffff) == 0x7f800000)
            scalar->out.u128 = format->canonical_nan;
        else
            scalar->out.u128 = (a ^ b) & 0x80000000;
    } else {
        oracle_eval_div_float(inst, scalar);
    }
}

void oracle_eval_sin(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    apply_lanes(inst, scalar, ORACLE_SINE);
}

void oracle_eval_cos(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    apply_lanes(inst, scalar, ORACLE_COSINE);
}

void oracle_eval_lg2(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    apply_lanes(inst, scalar, ORACLE_LOG2);
}

void oracle_eval_ex2(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    apply_lanes(inst, scalar, ORACLE_EXP2);
}

void oracle_eval_tanh(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    apply_lanes(inst, scalar, ORACLE_TANH);
}
