/* SPDX-License-Identifier: Apache-2.0
 *
 * Bit fields and counts (PTX ISA, "Integer Arithmetic Instructions": popc, clz, bfind, fns, brev,
 * bfe, bfi, szext, bmsk), bit by bit as the manual's own loops are.
 */
#include "tests/oracle/scalar.h"

static bool bit(uint64_t value, uint64_t position)
{
    return (value >> position & 1) != 0;
}

void oracle_eval_popc(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    uint32_t count = 0;

    (void)inst;
    for (unsigned i = 0; i < 64; i++)
        count += bit(scalar->in[0].u64, i);
    scalar->out.u32 = count;
}

void oracle_eval_clz(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned width = ptx_type_bits(inst->types[0]);
    uint32_t count = 0;

    while (count < width && !bit(scalar->in[0].u64, width - 1 - count))
        count++;
    scalar->out.u32 = count;
}

void oracle_eval_bfind(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned msb = ptx_type_bits(inst->types[0]) - 1;
    uint64_t a = scalar->in[0].u64;
    uint32_t found = 0xffffffff;

    /* "For signed integers, bfind returns the bit position of the most significant 0 for negative
     * inputs and the most significant 1 for non-negative inputs." */
    if (ptx_type_is_signed(inst->types[0]) && bit(a, msb))
        a = ~a;
    for (unsigned i = 0; i <= msb; i++) {
        if (bit(a, i))
            found = i;
    }
    if (ptx_inst_has(inst, PTX_GROUP_SHIFTAMT) && found != 0xffffffff)
        found = msb - found;
    scalar->out.u32 = found;
}

/* "Operand base must be <= 31, otherwise behavior is undefined": on sm_90 nothing is found. Manual:
 * of an offset without its bit, 0xffffffff; sm_90: the smallest offset gives 0, whatever the mask.
 */
void oracle_eval_fns(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    uint32_t mask = scalar->in[0].u32;
    int64_t position = scalar->in[1].u32;
    int64_t offset = scalar->in[2].s32;
    int64_t step = offset > 0 ? 1 : -1;
    int64_t count = offset < 0 ? -offset - 1 : offset - 1;

    (void)inst;
    scalar->out.u32 = offset == INT32_MIN ? 0 : 0xffffffff;
    if (offset == INT32_MIN)
        return;
    if (offset == 0) {
        if (position < 32 && bit(mask, (unsigned)position))
            scalar->out.u32 = (uint32_t)position;
        return;
    }
    for (; position >= 0 && position < 32; position += step) {
        if (bit(mask, (unsigned)position) && count-- == 0) {
            scalar->out.u32 = (uint32_t)position;
            return;
        }
    }
}

void oracle_eval_brev(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned msb = ptx_type_bits(inst->types[0]) - 1;

    scalar->out.u128 = 0;
    for (unsigned i = 0; i <= msb; i++)
        scalar->out.u64 |= (uint64_t)bit(scalar->in[0].u64, msb - i) << i;
}

/* Position or length of a bit field. Manual: "the bit field start position [length] is given by
 * operand b [c], restricted to 0..255", that is, the low 8 bits count. sm_90 does so for 32-bit
 * types; for 64-bit types all 32 bits of the operand count. */
static uint64_t field_number(const struct ptx_inst *inst, uint32_t operand)
{
    return ptx_type_bits(inst->types[0]) == 64 ? operand : operand & 0xff;
}

void oracle_eval_bfe(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned msb = ptx_type_bits(inst->types[0]) - 1;
    uint64_t position = field_number(inst, scalar->in[1].u32);
    uint64_t length = field_number(inst, scalar->in[2].u32);
    uint64_t a = scalar->in[0].u64;
    bool sign = false;

    if (ptx_type_is_signed(inst->types[0]) && length != 0)
        sign = bit(a, position + length - 1 < msb ? position + length - 1 : msb);
    scalar->out.u128 = 0;
    for (unsigned i = 0; i <= msb; i++) {
        bool value = i < length && position + i <= msb ? bit(a, position + i) : sign;

        scalar->out.u64 |= (uint64_t)value << i;
    }
}

void oracle_eval_bfi(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned msb = ptx_type_bits(inst->types[0]) - 1;
    uint64_t position = field_number(inst, scalar->in[2].u32);
    uint64_t length = field_number(inst, scalar->in[3].u32);

    scalar->out.u128 = scalar->in[1].u64;
    for (unsigned i = 0; i < length && position + i <= msb; i++) {
        uint64_t place = UINT64_C(1) << (position + i);

        scalar->out.u64 &= ~place;
        if (bit(scalar->in[0].u64, i))
            scalar->out.u64 |= place;
    }
}

void oracle_eval_szext(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    uint32_t a = scalar->in[0].u32;
    uint32_t b = scalar->in[1].u32;
    uint32_t b1 = b & 0x1f;
    bool is_too_large = b >= 32 && ptx_inst_mod(inst, PTX_GROUP_WRAP) == PTX_MOD_CLAMP;
    uint32_t mask = is_too_large ? 0 : UINT32_C(0xffffffff) << b1;
    bool sign = false;

    if (b1 != 0 && !is_too_large && inst->types[0] == PTX_TYPE_S32)
        sign = bit(a, b1 - 1);
    scalar->out.u32 = (a & ~mask) | (sign ? mask : 0);
}

void oracle_eval_bmsk(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    bool is_clamped = ptx_inst_mod(inst, PTX_GROUP_WRAP) == PTX_MOD_CLAMP;
    uint32_t a = scalar->in[0].u32;
    uint32_t b = scalar->in[1].u32;
    uint32_t a1 = a & 0x1f;
    uint32_t b1 = b & 0x1f;
    uint32_t sum = a1 + b1;
    uint32_t mask0 = UINT32_C(0xffffffff) << a1;
    uint32_t mask1 = sum < 32 ? UINT32_C(0xffffffff) << sum : 0;
    bool is_position_over = is_clamped && a >= 32;
    bool is_width_over = is_clamped && b >= 32;

    if (is_position_over)
        mask0 = 0;
    if (sum >= 32 || is_position_over || is_width_over)
        mask1 = 0;
    else if (b1 == 0)
        mask1 = 0xffffffff;
    scalar->out.u32 = mask0 & ~mask1;
}
