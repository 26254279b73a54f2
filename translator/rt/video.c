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

/* PTX ISA "vshl, vshr": the amount is unsigned, limited to 32 or taken modulo 32. A value shifted
 * left by 32 is beyond every range, so how far does not matter. */
int64_t rt_video_shift(int64_t a, int64_t amount, uint32_t is_left, uint32_t clamps)
{
    int64_t limited = amount > 32 ? 32 : amount;
    uint32_t by = (uint32_t)(clamps ? limited : amount & 31);
    int64_t step = (int64_t)((uint64_t)a << (by > 31 ? 31 : by));
    int64_t beyond = (a > 0) - (a < 0);
    int64_t left = by > 31 ? beyond * ((int64_t)1 << 40) : step;
    int64_t right = a >> by;
    return is_left ? left : right;
}

/* .sat: to the range of `bits` bits. */
int64_t rt_video_saturate(int64_t value, uint32_t bits, uint32_t is_signed)
{
    int64_t most = ((int64_t)1 << (bits - (is_signed ? 1 : 0))) - 1;
    int64_t least = is_signed ? -most - 1 : 0;
    int64_t low = value < least ? least : value;
    return low > most ? most : low;
}

/* The secondary operation: the result and c have the sign of the destination's type. */
uint32_t rt_video_second(int64_t value, uint32_t c, uint32_t op, uint32_t is_signed)
{
    int64_t addend = is_signed ? (int64_t)(int32_t)c : (int64_t)c;
    int64_t narrow = is_signed ? (int64_t)(int32_t)value : (int64_t)(uint32_t)value;
    return (uint32_t)rt_video_operate(narrow, addend, op);
}

/* The low `bits` of value put into c at bit `position`. */
uint32_t rt_video_merge(int64_t value, uint32_t c, uint32_t position, uint32_t bits)
{
    uint32_t mask = (uint32_t)(((uint64_t)1 << bits) - 1) << position;
    return (c & ~mask) | ((uint32_t)value << position & mask);
}

/* PTX ISA "vmad": a * b + c, with the product or c negated, or plus one, then scaled down. */
uint32_t rt_video_mad(int64_t a, int64_t b, uint32_t c, uint32_t flags, uint32_t shift)
{
    __int128 product = (__int128)a * b;
    int is_signed = (flags & RT_VMAD_SIGNED) != 0;
    int64_t addend = is_signed ? (int64_t)(int32_t)c : (int64_t)c;
    product = flags & RT_VMAD_NEGATE_PRODUCT ? -product : product;
    addend = flags & RT_VMAD_NEGATE_ADDEND ? -addend : addend;
    __int128 result = (product + addend + ((flags & RT_VMAD_PLUS_ONE) != 0)) >> shift;
    __int128 most = is_signed ? INT32_MAX : UINT32_MAX;
    __int128 least = is_signed ? INT32_MIN : 0;
    __int128 low = result < least ? least : result;
    __int128 limited = low > most ? most : low;
    return (uint32_t)(flags & RT_VMAD_SATURATE ? limited : result);
}
