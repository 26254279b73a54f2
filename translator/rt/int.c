/* SPDX-License-Identifier: Apache-2.0
 *
 * Integer instructions of PTX that are more than one LLVM instruction. Compiled to bitcode.
 */
#include "translator/rt/arith.h"

/* PTX ISA "div", "rem": by zero they yield an unspecified, machine-specific value. They must not
 * trap: all ones, which is what devices give. The smallest integer divided by -1 wraps. */
#define DEFINE_DIVISION(bits)                                                                      \
    uint##bits##_t rt_div_u##bits(uint##bits##_t a, uint##bits##_t b)                              \
    {                                                                                              \
        uint##bits##_t quotient = a / (b == 0 ? 1 : b);                                            \
        return b == 0 ? (uint##bits##_t) - 1 : quotient;                                           \
    }                                                                                              \
    int##bits##_t rt_div_s##bits(int##bits##_t a, int##bits##_t b)                                 \
    {                                                                                              \
        int is_special = (b == 0) | (b == -1);                                                     \
        int##bits##_t quotient = a / (is_special ? 1 : b);                                         \
        int##bits##_t negated = (int##bits##_t)(0 - (uint##bits##_t)a);                            \
        quotient = b == -1 ? negated : quotient;                                                   \
        return b == 0 ? -1 : quotient;                                                             \
    }                                                                                              \
    uint##bits##_t rt_rem_u##bits(uint##bits##_t a, uint##bits##_t b)                              \
    {                                                                                              \
        uint##bits##_t remainder = a % (b == 0 ? 1 : b);                                           \
        return b == 0 ? (uint##bits##_t) - 1 : remainder;                                          \
    }                                                                                              \
    int##bits##_t rt_rem_s##bits(int##bits##_t a, int##bits##_t b)                                 \
    {                                                                                              \
        int is_special = (b == 0) | (b == -1);                                                     \
        int##bits##_t remainder = a % (is_special ? 1 : b);                                        \
        return b == 0 ? -1 : remainder;                                                            \
    }

DEFINE_DIVISION(32)
DEFINE_DIVISION(64)

/* PTX ISA "bfe": pos = b & 0xff, len = c & 0xff; bits beyond the register are zero, or for signed
 * types the sign bit min(pos + len - 1, msb) of a; len 0 gives 0. Devices do so with 32 bits; with
 * 64 bits they take all of b and c (operand_mask). */
#define DEFINE_BIT_FIELD(bits, operand_mask)                                                       \
    static uint##bits##_t low_mask_##bits(uint32_t len)                                            \
    {                                                                                              \
        uint##bits##_t mask = ((uint##bits##_t)1 << (len & (bits - 1))) - 1;                       \
        return len >= bits ? (uint##bits##_t) - 1 : mask;                                          \
    }                                                                                              \
    uint##bits##_t rt_bfe_u##bits(uint##bits##_t a, uint32_t pos, uint32_t len)                    \
    {                                                                                              \
        pos &= operand_mask;                                                                       \
        len &= operand_mask;                                                                       \
        uint##bits##_t shifted = a >> (pos & (bits - 1));                                          \
        shifted = pos >= bits ? 0 : shifted;                                                       \
        return shifted & low_mask_##bits(len);                                                     \
    }                                                                                              \
    int##bits##_t rt_bfe_s##bits(int##bits##_t a, uint32_t pos, uint32_t len)                      \
    {                                                                                              \
        pos &= operand_mask;                                                                       \
        len &= operand_mask;                                                                       \
        int##bits##_t shifted = a >> (pos >= bits ? bits - 1 : pos);                               \
        uint32_t unused = len >= bits ? 0 : bits - len;                                            \
        uint32_t shift = unused & (bits - 1);                                                      \
        int##bits##_t field = (int##bits##_t)((uint##bits##_t)shifted << shift) >> shift;          \
        return len == 0 ? 0 : field;                                                               \
    }                                                                                              \
    uint##bits##_t rt_bfi_b##bits(uint##bits##_t field, uint##bits##_t base, uint32_t pos,         \
                                  uint32_t len)                                                    \
    {                                                                                              \
        pos &= operand_mask;                                                                       \
        len &= operand_mask;                                                                       \
        uint32_t shift = pos & (bits - 1);                                                         \
        uint##bits##_t mask = low_mask_##bits(len) << shift;                                       \
        mask = pos >= bits ? 0 : mask;                                                             \
        return (base & ~mask) | ((field << shift) & mask);                                         \
    }

DEFINE_BIT_FIELD(32, 0xff)
DEFINE_BIT_FIELD(64, UINT32_MAX)

/* PTX ISA "bfind": the most significant non-sign bit, 0xffffffff if there is none; .shiftamt: the
 * left shift that brings it to the top. */
uint32_t rt_bfind_u32(uint32_t a, uint32_t shiftamt)
{
    uint32_t leading = (uint32_t)__builtin_clzg(a, 0);
    uint32_t found = shiftamt ? leading : 31 - leading;
    return a == 0 ? UINT32_MAX : found;
}

uint32_t rt_bfind_s32(int32_t a, uint32_t shiftamt)
{
    return rt_bfind_u32((uint32_t)(a ^ (a >> 31)), shiftamt);
}

uint32_t rt_bfind_u64(uint64_t a, uint32_t shiftamt)
{
    uint32_t leading = (uint32_t)__builtin_clzg(a, 0);
    uint32_t found = shiftamt ? leading : 63 - leading;
    return a == 0 ? UINT32_MAX : found;
}

uint32_t rt_bfind_s64(int64_t a, uint32_t shiftamt)
{
    return rt_bfind_u64((uint64_t)(a ^ (a >> 63)), shiftamt);
}

/* PTX ISA "fns": the n-th set bit from base, upwards for positive offsets, downwards for negative
 * ones; offset 0 asks for the bit at base itself. Devices have no magnitude for the smallest offset
 * and give 0; from a base above 31, which the manual forbids, they find nothing. */
uint32_t rt_fns(uint32_t mask, uint32_t base, int32_t offset)
{
    if (offset == INT32_MIN) {
        return 0;
    }
    if (base > 31) {
        return UINT32_MAX;
    }
    if (offset == 0) {
        return (mask >> base & 1) != 0 ? base : UINT32_MAX;
    }
    int32_t step = offset > 0 ? 1 : -1;
    uint32_t count = offset > 0 ? (uint32_t)offset : 0 - (uint32_t)offset;
    for (int32_t pos = (int32_t)base; pos >= 0 && pos < 32; pos += step) {
        count -= mask >> pos & 1;
        if (count == 0) {
            return (uint32_t)pos;
        }
    }
    return UINT32_MAX;
}

/* PTX ISA "bmsk". */
uint32_t rt_bmsk(uint32_t a, uint32_t b, uint32_t clamp)
{
    uint32_t pos = a & 31;
    uint32_t width = b & 31;
    uint32_t sum = pos + width;
    uint32_t low = UINT32_MAX << pos;
    uint32_t high = UINT32_MAX << (sum & 31);
    uint32_t pos_is_past = (clamp != 0) & (a >= 32);
    uint32_t width_is_past = (clamp != 0) & (b >= 32);
    low = pos_is_past ? 0 : low;
    high = width == 0 ? UINT32_MAX : high;
    high = ((sum >= 32) | pos_is_past | width_is_past) ? 0 : high;
    return low & ~high;
}

/* PTX ISA "szext". */
uint32_t rt_szext(uint32_t a, uint32_t b, uint32_t clamp, uint32_t is_signed)
{
    uint32_t width = b & 31;
    uint32_t too_large = (clamp != 0) & (b >= 32);
    uint32_t mask = UINT32_MAX << width;
    mask = too_large ? 0 : mask;
    uint32_t sign = a >> ((width - 1) & 31) & 1;
    sign = ((width == 0) | too_large | !is_signed) ? 0 : sign;
    return (a & ~mask) | (sign ? mask : 0);
}

/* The byte of {b, a} that a named mode of prmt puts at position i; n: the low two bits of c. */
static uint32_t prmt_byte(uint32_t n, uint32_t i, uint32_t mode)
{
    switch (mode) {
    case RT_PRMT_F4E:
        return i + n;
    case RT_PRMT_B4E:
        return (n - i) & 7;
    case RT_PRMT_RC8:
        return n;
    case RT_PRMT_ECL:
        return i > n ? i : n;
    case RT_PRMT_ECR:
        return i < n ? i : n;
    default:
        return (n & 1) * 2 + (i & 1);
    }
}

/* Byte i of the result, in its place. The top bit of a selector nibble replicates the sign. */
static uint32_t prmt_part(uint64_t source, uint32_t c, uint32_t i, uint32_t mode)
{
    uint32_t nibble = mode == RT_PRMT_INDEX ? c >> (4 * i) : prmt_byte(c & 3, i, mode);
    uint32_t byte = (uint32_t)(source >> ((nibble & 7) * 8)) & 0xff;
    uint32_t sign = (byte >> 7) * 0xff;
    return ((nibble & 8) != 0 ? sign : byte) << (8 * i);
}

/* PTX ISA "prmt". */
uint32_t rt_prmt(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
    uint64_t source = (uint64_t)b << 32 | a;
    return prmt_part(source, c, 0, mode) | prmt_part(source, c, 1, mode) |
           prmt_part(source, c, 2, mode) | prmt_part(source, c, 3, mode);
}

static uint32_t extend8(uint32_t word, uint32_t index, uint32_t is_signed)
{
    uint32_t byte = word >> (8 * index) & 0xff;
    return is_signed ? (uint32_t)(int32_t)(int8_t)byte : byte;
}

static uint32_t extend16(uint32_t word, uint32_t index, uint32_t is_signed)
{
    uint32_t half = word >> (16 * index) & 0xffff;
    return is_signed ? (uint32_t)(int32_t)(int16_t)half : half;
}

uint32_t rt_dp4a(uint32_t a, uint32_t b, uint32_t c, uint32_t a_signed, uint32_t b_signed)
{
    return c + extend8(a, 0, a_signed) * extend8(b, 0, b_signed) +
           extend8(a, 1, a_signed) * extend8(b, 1, b_signed) +
           extend8(a, 2, a_signed) * extend8(b, 2, b_signed) +
           extend8(a, 3, a_signed) * extend8(b, 3, b_signed);
}

/* PTX ISA "dp2a": the halves of a times the low or high two bytes of b. */
uint32_t rt_dp2a(uint32_t a, uint32_t b, uint32_t c, uint32_t a_signed, uint32_t b_signed,
                 uint32_t high)
{
    uint32_t bytes = high ? b >> 16 : b;
    return c + extend16(a, 0, a_signed) * extend8(bytes, 0, b_signed) +
           extend16(a, 1, a_signed) * extend8(bytes, 1, b_signed);
}

static uint32_t minmax_u16(uint32_t a, uint32_t b, uint32_t index, uint32_t is_max)
{
    uint32_t x = extend16(a, index, 0);
    uint32_t y = extend16(b, index, 0);
    uint32_t chosen = is_max ? (x > y ? x : y) : (x < y ? x : y);
    return chosen << (16 * index);
}

uint32_t rt_minmax_u16x2(uint32_t a, uint32_t b, uint32_t is_max)
{
    return minmax_u16(a, b, 0, is_max) | minmax_u16(a, b, 1, is_max);
}

static uint32_t minmax_s16(uint32_t a, uint32_t b, uint32_t index, uint32_t is_max, uint32_t relu)
{
    int32_t x = (int32_t)extend16(a, index, 1);
    int32_t y = (int32_t)extend16(b, index, 1);
    int32_t chosen = is_max ? (x > y ? x : y) : (x < y ? x : y);
    chosen = ((relu != 0) & (chosen < 0)) ? 0 : chosen;
    return ((uint32_t)chosen & 0xffff) << (16 * index);
}

uint32_t rt_minmax_s16x2(uint32_t a, uint32_t b, uint32_t is_max, uint32_t relu)
{
    return minmax_s16(a, b, 0, is_max, relu) | minmax_s16(a, b, 1, is_max, relu);
}

/* PTX ISA "add": each half wraps by itself. */
uint32_t rt_add_u16x2(uint32_t a, uint32_t b)
{
    uint32_t high = (a & 0xffff0000) + (b & 0xffff0000);
    return high | ((a + b) & 0xffff);
}

/* PTX ISA "cvt.pack": a and b saturated to `bits` bits, b lowest; c fills what is left. */
uint32_t rt_cvt_pack(int32_t a, int32_t b, uint32_t c, uint32_t bits, uint32_t is_signed)
{
    uint32_t mask = UINT32_MAX >> (32 - bits);
    int32_t most = (int32_t)(is_signed ? mask >> 1 : mask);
    int32_t least = is_signed ? -most - 1 : 0;
    int32_t low_a = a < least ? least : a;
    int32_t low_b = b < least ? least : b;
    uint32_t x = (uint32_t)(low_a > most ? most : low_a) & mask;
    uint32_t y = (uint32_t)(low_b > most ? most : low_b) & mask;
    uint32_t rest = bits == 16 ? 0 : c << (2 * bits & 31);
    return rest | x << bits | y;
}
