/* SPDX-License-Identifier: Apache-2.0
 *
 * Video instructions (PTX ISA, "Scalar Video Instructions" and "SIMD Video
 * Instructions"): parts of registers are selected, operated on in more bits
 * than they have, clamped, and combined with a third operand. Which instruction
 * it is, its name in the op table tells.
 */
#include <string.h>

#include "tests/oracle/scalar.h"

static bool is_named(const struct ptx_inst *inst, const char *name)
{
    return strncmp(ptx_op_name(inst->op), name, strlen(name)) == 0;
}

/* Two's complement of that many bits as a number, and the limits of such
 * numbers. */
static __int128 extend(uint64_t bits, unsigned width, bool is_signed)
{
    __int128 value = (__int128)oracle_low_bits(bits, width);

    return is_signed && (value >> (width - 1)) != 0 ? value - ((__int128)1 << width) : value;
}

static __int128 clamp(__int128 value, unsigned width, bool is_signed)
{
    __int128 low = is_signed ? -((__int128)1 << (width - 1)) : 0;
    __int128 high = ((__int128)1 << (is_signed ? width - 1 : width)) - 1;

    if (value < low)
        return low;
    return value > high ? high : value;
}

/* ---- scalar ---- */

/* partSelectSignExtend: operand 1 or 2, as its type and selector say. */
static __int128 select_part(const struct ptx_inst *inst, const struct oracle_scalar *scalar,
                            unsigned operand, enum ptx_type type)
{
    const struct ptx_operand *selector = &inst->operands[operand];
    uint32_t bits = scalar->in[operand - 1].u32;
    bool is_signed = ptx_type_is_signed(type);

    if (selector->lane_bits == 0)
        return extend(bits, 32, is_signed);
    return extend(bits >> (selector->lanes[0] * selector->lane_bits), selector->lane_bits,
                  is_signed);
}

/* optSaturate, optSecondaryOp and optMerge. */
static void finish(const struct ptx_inst *inst, struct oracle_scalar *scalar, __int128 value,
                   bool is_signed)
{
    const struct ptx_operand *d = &inst->operands[0];
    __int128 c = extend(scalar->in[2].u32, 32, is_signed);

    if (ptx_inst_has(inst, PTX_GROUP_SAT))
        value = clamp(value, d->lane_bits == 0 ? 32 : d->lane_bits, is_signed);
    switch (ptx_inst_mod(inst, PTX_GROUP_VIDEOOP)) {
    case PTX_MOD_ADD:
        value = value + c;
        break;
    case PTX_MOD_MIN:
        value = value < c ? value : c;
        break;
    case PTX_MOD_MAX:
        value = value > c ? value : c;
        break;
    default:
        break;
    }
    if (d->lane_bits != 0) {
        unsigned shift = d->lanes[0] * d->lane_bits;
        uint32_t mask = ((UINT32_C(1) << d->lane_bits) - 1) << shift;

        value = (__int128)((((uint32_t)value << shift) & mask) | ((uint32_t)c & ~mask));
    }
    scalar->out.u128 = (uint32_t)value;
}

static __int128 operate(const struct ptx_inst *inst, __int128 a, __int128 b)
{
    if (is_named(inst, "vadd"))
        return a + b;
    if (is_named(inst, "vsub"))
        return a - b;
    if (is_named(inst, "vabsdiff"))
        return a < b ? b - a : a - b;
    if (is_named(inst, "vmin"))
        return a < b ? a : b;
    if (is_named(inst, "vmax"))
        return a > b ? a : b;
    /* vavrg2, vavrg4: rounded up, but a negative sum downward */
    return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
}

static __int128 add_subtract(const struct ptx_inst *inst, const struct oracle_scalar *scalar)
{
    return operate(inst, select_part(inst, scalar, 1, inst->types[1]),
                   select_part(inst, scalar, 2, inst->types[2]));
}

void oracle_eval_video_scalar(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    finish(inst, scalar, add_subtract(inst, scalar), ptx_type_is_signed(inst->types[0]));
}

/* vshl, vshr: "if ( mode == .clamp && tb > 32 ) tb = 32; if ( mode == .wrap )
 * tb = tb & 0x1f". The shift loses nothing before saturation. */
static __int128 shift(const struct ptx_inst *inst, const struct oracle_scalar *scalar)
{
    __int128 a = select_part(inst, scalar, 1, inst->types[1]);
    __int128 b = select_part(inst, scalar, 2, PTX_TYPE_U32);

    if (ptx_inst_mod(inst, PTX_GROUP_WRAP) == PTX_MOD_WRAP)
        b &= 0x1f;
    else if (b > 32)
        b = 32;
    return is_named(inst, "vshl") ? a * ((__int128)1 << b) : a >> b;
}

void oracle_eval_video_shift(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    finish(inst, scalar, shift(inst, scalar), ptx_type_is_signed(inst->types[0]));
}

bool oracle_is_video_open(const struct ptx_inst *inst, const struct oracle_scalar *scalar)
{
    bool is_shift = is_named(inst, "vsh");
    bool is_signed = ptx_type_is_signed(inst->types[0]);
    bool is_saturated = ptx_inst_has(inst, PTX_GROUP_SAT);
    __int128 value;

    if (is_named(inst, "vmad"))
        return inst->operands[3].is_negated && !ptx_type_is_signed(inst->types[1]) &&
               !ptx_type_is_signed(inst->types[2]) && scalar->in[2].u32 > INT32_MAX;
    value = is_shift ? shift(inst, scalar) : add_subtract(inst, scalar);
    if (is_shift && is_saturated)
        return extend((uint64_t)value, 34, true) != value;
    switch (ptx_inst_mod(inst, PTX_GROUP_VIDEOOP)) {
    case PTX_MOD_MIN:
    case PTX_MOD_MAX:
        return !is_saturated && clamp(value, 32, is_signed) != value;
    default:
        return false;
    }
}

/* vmad, as its pseudocode has it: a negated c is complemented in 32 bits and
 * then sign-extended, so that an unsigned c of 2^31 or more counts as a
 * negative number. */
void oracle_eval_vmad(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    bool is_product_negated = inst->operands[1].is_negated != inst->operands[2].is_negated;
    bool is_c_negated = inst->operands[3].is_negated;
    bool is_signed = ptx_type_is_signed(inst->types[1]) || ptx_type_is_signed(inst->types[2]) ||
                     is_product_negated || is_c_negated;
    __int128 value =
        select_part(inst, scalar, 1, inst->types[1]) * select_part(inst, scalar, 2, inst->types[2]);
    uint32_t c = scalar->in[2].u32;

    if (ptx_inst_has(inst, PTX_GROUP_PO)) {
        value += 1;
    } else if (is_product_negated) {
        value = -value;
    } else if (is_c_negated) {
        c = ~c;
        value += 1;
    }
    value += extend(c, 32, is_signed);
    if (ptx_inst_mod(inst, PTX_GROUP_SCALE) == PTX_MOD_SHR7)
        value >>= 7;
    if (ptx_inst_mod(inst, PTX_GROUP_SCALE) == PTX_MOD_SHR15)
        value >>= 15;
    if (ptx_inst_has(inst, PTX_GROUP_SAT))
        value = clamp(value, 32, is_signed);
    scalar->out.u128 = (uint32_t)value;
}

static __int128 compare(const struct ptx_inst *inst, __int128 a, __int128 b)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_CMP)) {
    case PTX_MOD_EQ:
        return a == b;
    case PTX_MOD_NE:
        return a != b;
    case PTX_MOD_LT:
        return a < b;
    case PTX_MOD_LE:
        return a <= b;
    case PTX_MOD_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* "The intermediate result of the comparison is always unsigned, and therefore
 * destination d and operand c are also unsigned." */
void oracle_eval_vset(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    __int128 a = select_part(inst, scalar, 1, inst->types[0]);
    __int128 b = select_part(inst, scalar, 2, inst->types[1]);

    finish(inst, scalar, compare(inst, a, b), false);
}

/* ---- SIMD ---- */

/* extractAndSignExt: element i of operand 1 or 2. Selectors pick from both
 * source registers, b above a; without one operand 1 is a and operand 2 is b.
 */
static __int128 select_element(const struct ptx_inst *inst, const struct oracle_scalar *scalar,
                               unsigned operand, unsigned i, unsigned width, enum ptx_type type)
{
    const struct ptx_operand *selector = &inst->operands[operand];
    uint64_t pair = (uint64_t)scalar->in[1].u32 << 32 | scalar->in[0].u32;
    unsigned position =
        selector->lane_bits != 0 ? selector->lanes[i] : i + (operand - 1) * (32 / width);

    return extend(pair >> (position * width), width, ptx_type_is_signed(type));
}

/* Without a mask on d every element is meant. */
static bool is_masked_in(const struct ptx_inst *inst, unsigned i)
{
    const struct ptx_operand *d = &inst->operands[0];

    if (d->lane_bits == 0)
        return true;
    for (unsigned n = 0; n < d->lane_count; n++) {
        if (d->lanes[n] == i)
            return true;
    }
    return false;
}

/* Secondary accumulate or SIMD merge. */
static void merge(const struct ptx_inst *inst, struct oracle_scalar *scalar,
                  const __int128 *elements, unsigned width)
{
    uint32_t c = scalar->in[2].u32;
    uint32_t element_mask = (UINT32_C(1) << width) - 1;
    uint32_t d = c;

    for (unsigned i = 0; i < 32 / width; i++) {
        uint32_t place = element_mask << (i * width);

        if (!is_masked_in(inst, i))
            continue;
        if (ptx_inst_mod(inst, PTX_GROUP_VIDEOOP) == PTX_MOD_ADD)
            d += (uint32_t)elements[i];
        else
            d = (d & ~place) | (((uint32_t)elements[i] << (i * width)) & place);
    }
    scalar->out.u128 = d;
}

static unsigned element_width(const struct ptx_inst *inst)
{
    const char *name = ptx_op_name(inst->op);

    return name[strlen(name) - 1] == '2' ? 16 : 8;
}

void oracle_eval_video_simd(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned width = element_width(inst);
    __int128 elements[4] = {0};

    for (unsigned i = 0; i < 32 / width; i++) {
        __int128 a = select_element(inst, scalar, 1, i, width, inst->types[1]);
        __int128 b = select_element(inst, scalar, 2, i, width, inst->types[2]);

        elements[i] = operate(inst, a, b);
        if (ptx_inst_has(inst, PTX_GROUP_SAT))
            elements[i] = clamp(elements[i], width, ptx_type_is_signed(inst->types[0]));
    }
    merge(inst, scalar, elements, width);
}

void oracle_eval_vset_simd(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned width = element_width(inst);
    __int128 elements[4] = {0};

    for (unsigned i = 0; i < 32 / width; i++) {
        __int128 a = select_element(inst, scalar, 1, i, width, inst->types[0]);
        __int128 b = select_element(inst, scalar, 2, i, width, inst->types[1]);

        elements[i] = compare(inst, a, b);
    }
    merge(inst, scalar, elements, width);
}
