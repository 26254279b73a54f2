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

/* The low 32 bits of a number as a number of their own. */
static __int128 word(__int128 value, bool is_signed)
{
    return extend((uint32_t)value, 32, is_signed);
}

static bool is_shift(const struct ptx_inst *inst)
{
    return is_named(inst, "vsh");
}

/* optSaturate. Manual: clamp the 34-bit intermediate result to the range of d, or of the part of d
 * that is written. sm_90 does so for a whole signed d, and
 * - for a whole unsigned d makes a negative result 0, but cuts one above the range off;
 * - for a part of d takes a negative result for a large one, so that it becomes the part's maximum;
 * - of the shifts keeps 34 bits and clamps these to the range of the whole d. */
static __int128 saturate(const struct ptx_inst *inst, __int128 value, bool is_signed)
{
    unsigned part_bits = inst->operands[0].lane_bits;

    if (is_shift(inst))
        return clamp(extend((uint64_t)value, 34, true), 32, is_signed);
    if (part_bits != 0)
        return value < 0 ? clamp(INT64_MAX, part_bits, is_signed)
                         : clamp(value, part_bits, is_signed);
    if (is_signed)
        return clamp(value, 32, true);
    return value < 0 ? 0 : value;
}

/* Operand of .min and .max. Manual: the intermediate result itself, 33 bits. sm_90 takes the low 32
 * bits of it for a signed number, if it comes from vadd, vsub, or a saturating shift, else 64 bits;
 * with an unsigned d the comparison is unsigned, and a negative number a large one. */
static __int128 comparable(const struct ptx_inst *inst, __int128 value, bool is_signed)
{
    bool is_sum = is_named(inst, "vadd") || is_named(inst, "vsub");

    if (is_sum || (is_shift(inst) && ptx_inst_has(inst, PTX_GROUP_SAT)))
        value = word(value, true);
    return extend((uint64_t)value, 64, is_signed);
}

/* optSecondaryOp. */
static __int128 second_operation(const struct ptx_inst *inst, __int128 value, __int128 c,
                                 bool is_signed)
{
    __int128 compared = comparable(inst, value, is_signed);

    switch (ptx_inst_mod(inst, PTX_GROUP_VIDEOOP)) {
    case PTX_MOD_ADD:
        return value + c;
    case PTX_MOD_MIN:
        return compared < c ? value : c;
    case PTX_MOD_MAX:
        return compared > c ? value : c;
    default:
        return value;
    }
}

/* optMerge. Manual: the low bits of the result go to the part of d. sm_90 takes the upper half of
 * the result for the upper half of d. */
static uint32_t merge_part(const struct ptx_operand *d, uint32_t value, uint32_t c)
{
    unsigned shift = d->lanes[0] * d->lane_bits;
    uint32_t mask = ((UINT32_C(1) << d->lane_bits) - 1) << shift;

    if (d->lane_bits == 0)
        return value;
    return ((d->lane_bits == 16 ? value : value << shift) & mask) | (c & ~mask);
}

static void finish(const struct ptx_inst *inst, struct oracle_scalar *scalar, __int128 value,
                   bool is_signed)
{
    __int128 c = word(scalar->in[2].u32, is_signed);

    if (ptx_inst_has(inst, PTX_GROUP_SAT))
        value = saturate(inst, value, is_signed);
    value = second_operation(inst, value, c, is_signed);
    scalar->out.u128 = merge_part(&inst->operands[0], (uint32_t)value, (uint32_t)c);
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

/* vmad. Manual: the product of the factors as their types have them, plus c, which is signed if the
 * result is; 128 bits. sm_90 multiplies the factors as signed 32-bit words whatever their types,
 * adds c as a signed word, and keeps 64 bits. Whether the result is signed, the scale and
 * saturation see. */
void oracle_eval_vmad(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    bool is_product_negated = inst->operands[1].is_negated != inst->operands[2].is_negated;
    bool is_c_negated = inst->operands[3].is_negated;
    bool is_signed = ptx_type_is_signed(inst->types[1]) || ptx_type_is_signed(inst->types[2]) ||
                     is_product_negated || is_c_negated;
    __int128 product = word(select_part(inst, scalar, 1, inst->types[1]), true) *
                       word(select_part(inst, scalar, 2, inst->types[2]), true);
    __int128 c = word(scalar->in[2].u32, true);
    __int128 value = (is_product_negated ? -product : product) + (is_c_negated ? -c : c);
    unsigned scale = 0;

    if (ptx_inst_has(inst, PTX_GROUP_PO))
        value += 1;
    if (ptx_inst_mod(inst, PTX_GROUP_SCALE) == PTX_MOD_SHR7)
        scale = 7;
    if (ptx_inst_mod(inst, PTX_GROUP_SCALE) == PTX_MOD_SHR15)
        scale = 15;
    if (scale != 0)
        value = extend((uint64_t)value, 64, is_signed) >> scale;
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

/* Manual: "The intermediate result of the comparison is always unsigned, and therefore destination
 * d and operand c are also unsigned." sm_90 compares with c as a signed number if a is one. */
void oracle_eval_vset(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    __int128 a = select_part(inst, scalar, 1, inst->types[0]);
    __int128 b = select_part(inst, scalar, 2, inst->types[1]);

    finish(inst, scalar, compare(inst, a, b), ptx_type_is_signed(inst->types[0]));
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
