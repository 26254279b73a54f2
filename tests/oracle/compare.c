/* SPDX-License-Identifier: Apache-2.0
 *
 * Comparison and selection (PTX ISA, "Comparison and Selection Instructions" and "Half Precision
 * Comparison Instructions"), and testp.
 */
#include "tests/oracle/scalar.h"
#include "tests/oracle/softfloat.h"

/* The relation of a to b. */
enum relation { RELATION_LESS, RELATION_EQUAL, RELATION_GREATER, RELATION_UNORDERED };

static bool holds(enum ptx_mod comparison, enum relation relation)
{
    switch (comparison) {
    /* "If either operand is NaN, the result is False." */
    case PTX_MOD_EQ:
        return relation == RELATION_EQUAL;
    case PTX_MOD_NE:
        return relation == RELATION_LESS || relation == RELATION_GREATER;
    case PTX_MOD_LT:
    case PTX_MOD_LO:
        return relation == RELATION_LESS;
    case PTX_MOD_LE:
    case PTX_MOD_LS:
        return relation == RELATION_LESS || relation == RELATION_EQUAL;
    case PTX_MOD_GT:
    case PTX_MOD_HI:
        return relation == RELATION_GREATER;
    case PTX_MOD_GE:
    case PTX_MOD_HS:
        return relation == RELATION_GREATER || relation == RELATION_EQUAL;
    /* "If either operand is NaN, then the result of these comparisons is True." */
    case PTX_MOD_EQU:
        return relation == RELATION_EQUAL || relation == RELATION_UNORDERED;
    case PTX_MOD_NEU:
        return relation != RELATION_EQUAL;
    case PTX_MOD_LTU:
        return relation == RELATION_LESS || relation == RELATION_UNORDERED;
    case PTX_MOD_LEU:
        return relation != RELATION_GREATER;
    case PTX_MOD_GTU:
        return relation == RELATION_GREATER || relation == RELATION_UNORDERED;
    case PTX_MOD_GEU:
        return relation != RELATION_LESS;
    case PTX_MOD_NUM:
        return relation != RELATION_UNORDERED;
    case PTX_MOD_NAN_CMP:
        return relation == RELATION_UNORDERED;
    default:
        return false;
    }
}

static enum relation relate_integers(__int128 a, __int128 b)
{
    if (a == b)
        return RELATION_EQUAL;
    return a < b ? RELATION_LESS : RELATION_GREATER;
}

static enum relation relate(const struct ptx_inst *inst, enum ptx_type type, uint64_t a, uint64_t b)
{
    const struct oracle_format *format = oracle_format(type);

    if (!ptx_type_is_float(type))
        return relate_integers(oracle_integer(a, type), oracle_integer(b, type));
    if (ptx_inst_has(inst, PTX_GROUP_FTZ)) {
        a = oracle_flush(format, a);
        b = oracle_flush(format, b);
    }
    if (oracle_is_nan(format, a) || oracle_is_nan(format, b))
        return RELATION_UNORDERED;
    return relate_integers(oracle_rank(format, a), oracle_rank(format, b));
}

/* BoolOp(t, c); t alone without one. */
static bool combine(const struct ptx_inst *inst, bool t, const struct oracle_scalar *scalar)
{
    bool c = scalar->in[2].u8 != 0;

    switch (ptx_inst_mod(inst, PTX_GROUP_BOOL)) {
    case PTX_MOD_AND:
        return t && c;
    case PTX_MOD_OR:
        return t || c;
    case PTX_MOD_XOR:
        return t != c;
    default:
        return t;
    }
}

/* t of one element of the sources. */
static bool compare_lane(const struct ptx_inst *inst, const struct oracle_scalar *scalar,
                         enum ptx_type type, unsigned lane)
{
    enum ptx_type element = oracle_lane_type(type);
    unsigned bits = ptx_type_bits(element);

    return holds(ptx_inst_mod(inst, PTX_GROUP_CMP),
                 relate(inst, element, oracle_lane(scalar->in[0], lane, bits),
                        oracle_lane(scalar->in[1], lane, bits)));
}

void oracle_eval_setp(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum ptx_type type = inst->types[0];
    bool t = compare_lane(inst, scalar, type, 0);

    scalar->out.u128 = combine(inst, t, scalar);
    /* Scalars: q = BoolOp(!t, c). Packed types: q is the comparison of the upper elements. */
    if (oracle_lane_count(type) == 2)
        scalar->second = combine(inst, compare_lane(inst, scalar, type, 1), scalar);
    else
        scalar->second = combine(inst, !t, scalar);
}

/* 1.0 of a floating-point type, all ones of an integer. */
static uint64_t true_value(enum ptx_type type)
{
    if (ptx_type_is_float(type))
        return oracle_pack(oracle_format(type), oracle_from_integer(1, false),
                           ORACLE_ROUND_NEAREST_EVEN);
    return UINT64_MAX;
}

void oracle_eval_set(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum ptx_type source = inst->types[1];
    unsigned lanes = oracle_lane_count(source);
    /* A packed source leaves 16 bits per comparison, also in a .u32 or .s32. */
    unsigned bits = ptx_type_bits(inst->types[0]) / lanes;

    scalar->out.u128 = 0;
    for (unsigned i = 0; i < lanes; i++) {
        bool t = combine(inst, compare_lane(inst, scalar, source, i), scalar);

        oracle_set_lane(&scalar->out, i, bits, t ? true_value(inst->types[0]) : 0);
    }
}

void oracle_eval_selp(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    (void)inst;
    scalar->out = scalar->in[2].u8 != 0 ? scalar->in[0] : scalar->in[1];
}

/* "If c >= 0, a is stored in d, otherwise b": negative zero equals zero; a NaN selects b; with
 * .ftz a subnormal c is zero and selects a. */
void oracle_eval_slct(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum relation relation = relate(inst, inst->types[1], scalar->in[2].u64, 0);

    scalar->out = holds(PTX_MOD_GE, relation) ? scalar->in[0] : scalar->in[1];
}

/* "As a special case, positive and negative zero are considered normal numbers." */
void oracle_eval_testp(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    const struct oracle_format *format = oracle_format(inst->types[0]);
    uint64_t a = scalar->in[0].u64;
    bool is_nan = oracle_is_nan(format, a);
    bool is_infinite = oracle_unpack(format, a).class == ORACLE_INFINITE;
    bool is_subnormal = oracle_is_subnormal(format, a);
    bool holds_true = false;

    switch (ptx_inst_mod(inst, PTX_GROUP_TESTP)) {
    case PTX_MOD_FINITE:
        holds_true = !is_nan && !is_infinite;
        break;
    case PTX_MOD_INFINITE:
        holds_true = is_infinite;
        break;
    case PTX_MOD_NUMBER:
        holds_true = !is_nan;
        break;
    case PTX_MOD_NOTANUMBER:
        holds_true = is_nan;
        break;
    case PTX_MOD_NORMAL:
        holds_true = !is_nan && !is_infinite && !is_subnormal;
        break;
    case PTX_MOD_SUBNORMAL:
        holds_true = is_subnormal;
        break;
    default:
        break;
    }
    scalar->out.u128 = holds_true;
}
