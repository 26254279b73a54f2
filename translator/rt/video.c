/* SPDX-License-Identifier: Apache-2.0
 *
 * Video instructions of PTX: arithmetic on the bytes, halves or whole of registers, with
 * saturation and a second operation. Positions, widths, signs and operations are constants at
 * every call and fold away. Compiled to bitcode.
 */
#include "translator/rt/arith.h"

/* `bits` (8, 16, 32) of the 64-bit {b, a} from bit `position` on, extended by the type's sign. */
int64_t rt_video_part(uint32_t a, uint32_t b, uint32_t position, uint32_t bits, uint32_t is_signed)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint64_t raised = both >> position << (64 - bits);
    int64_t extended = (int64_t)raised >> (64 - bits);
    return is_signed ? extended : (int64_t)(raised >> (64 - bits));
}

/* PTX ISA "Video Instructions": the primary operation, exact. A comparison gives 0 or 1. */
int64_t rt_video_operate(int64_t a, int64_t b, uint32_t op)
{
    int64_t sum = a + b;
    int64_t difference = a - b;
    int64_t negated = b - a;
    switch (op) {
    case RT_VIDEO_ADD:
        return sum;
    case RT_VIDEO_SUB:
        return difference;
    case RT_VIDEO_ABSDIFF:
        return a < b ? negated : difference;
    case RT_VIDEO_MIN:
        return a < b ? a : b;
    case RT_VIDEO_MAX:
        return a > b ? a : b;
    case RT_VIDEO_AVRG: /* rounds halves away from zero */
        return (sum + (sum >= 0)) >> 1;
    case RT_VIDEO_EQ:
        return a == b;
    case RT_VIDEO_NE:
        return a != b;
    case RT_VIDEO_LT:
        return a < b;
    case RT_VIDEO_LE:
        return a <= b;
    case RT_VIDEO_GT:
        return a > b;
    default:
        return a >= b;
    }
}

/* PTX ISA "vshl, vshr": the amount is unsigned, limited to 32 or taken modulo 32. */
int64_t rt_video_shift(int64_t a, int64_t amount, uint32_t is_left, uint32_t clamps)
{
    int64_t limited = amount > 32 ? 32 : amount;
    uint32_t by = (uint32_t)(clamps ? limited : amount & 31);
    int64_t left = (int64_t)((uint64_t)a << by);
    int64_t right = a >> by;
    return is_left ? left : right;
}

static int64_t clamp(int64_t value, uint32_t bits, uint32_t is_signed)
{
    int64_t most = ((int64_t)1 << (bits - (is_signed ? 1 : 0))) - 1;
    int64_t least = is_signed ? -most - 1 : 0;
    int64_t low = value < least ? least : value;
    return low > most ? most : low;
}

/* .sat of two or four results at once: to the range of each. */
int64_t rt_video_saturate(int64_t value, uint32_t bits, uint32_t is_signed)
{
    return clamp(value, bits, is_signed);
}

/* .sat of one result, to a destination of `bits` bits. Devices are not what the manual says: of an
 * unsigned whole register only the lower end is kept, and a negative result is above the range of
 * a byte or half. */
int64_t rt_video_saturate_scalar(int64_t value, uint32_t bits, uint32_t is_signed)
{
    uint64_t most = ((uint64_t)1 << (bits - (is_signed ? 1 : 0))) - 1;
    int64_t part = (uint64_t)value > most ? (int64_t)most : value;
    int64_t positive = value < 0 ? 0 : value;
    int64_t whole = is_signed ? clamp(value, 32, 1) : positive;
    return bits < 32 ? part : whole;
}

/* .sat of a shift: devices keep 34 bits of what was shifted, and saturate to the whole register
 * also where a part of it is the destination. */
int64_t rt_video_saturate_shift(int64_t value, uint32_t is_signed)
{
    int64_t kept = (int64_t)((uint64_t)value << 30) >> 30;
    return clamp(kept, 32, is_signed);
}

/* Sign-extended from so many bits: what devices give to the secondary operation. */
int64_t rt_video_narrow(int64_t value, uint32_t bits)
{
    return (int64_t)((uint64_t)value << (64 - bits)) >> (64 - bits);
}

/* The secondary operation. An unsigned comparison takes a negative result for a large one. */
uint32_t rt_video_second(int64_t value, uint32_t c, uint32_t op, uint32_t is_signed)
{
    int64_t addend = is_signed ? (int64_t)(int32_t)c : (int64_t)c;
    int is_less = is_signed ? value < addend : (uint64_t)value < (uint64_t)addend;
    int64_t smaller = is_less ? value : addend;
    int64_t larger = is_less ? addend : value;
    int64_t sum = (int64_t)((uint64_t)value + (uint64_t)addend);
    return (uint32_t)(op == RT_VIDEO_ADD ? sum : op == RT_VIDEO_MIN ? smaller : larger);
}

/* The low `bits` of value put into c at bit `position`. */
uint32_t rt_video_merge(int64_t value, uint32_t c, uint32_t position, uint32_t bits)
{
    uint32_t mask = (uint32_t)(((uint64_t)1 << bits) - 1) << position;
    return (c & ~mask) | ((uint32_t)value << position & mask);
}

/* PTX ISA "vmad": a * b + c, with the product or c negated, or plus one, then scaled down. Devices
 * compute it in 64 bits from signed words, whatever the types; these say how it is scaled and
 * saturated. */
uint32_t rt_video_mad(int64_t a, int64_t b, uint32_t c, uint32_t flags, uint32_t shift)
{
    uint64_t product = (uint64_t)((int64_t)(int32_t)a * (int32_t)b);
    uint64_t addend = (uint64_t)(int64_t)(int32_t)c;
    product = flags & RT_VMAD_NEGATE_PRODUCT ? 0 - product : product;
    addend = flags & RT_VMAD_NEGATE_ADDEND ? 0 - addend : addend;
    uint64_t sum = product + addend + ((flags & RT_VMAD_PLUS_ONE) != 0);
    int64_t arithmetic = (int64_t)sum >> shift;
    int64_t logical = (int64_t)(sum >> shift);
    int64_t result = flags & RT_VMAD_SIGNED ? arithmetic : logical;
    int64_t limited = clamp(result, 32, flags & RT_VMAD_SIGNED);
    return (uint32_t)(flags & RT_VMAD_SATURATE ? limited : result);
}
