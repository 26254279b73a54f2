/* SPDX-License-Identifier: Apache-2.0
 *
 * Logic and shifts (PTX ISA, "Logic and Shift Instructions"), and prmt ("Data Movement and
 * Conversion Instructions: prmt").
 */
#include "tests/oracle/scalar.h"

void oracle_eval_and(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    (void)inst;
    scalar->out.u128 = scalar->in[0].u128 & scalar->in[1].u128;
}

void oracle_eval_or(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    (void)inst;
    scalar->out.u128 = scalar->in[0].u128 | scalar->in[1].u128;
}

void oracle_eval_xor(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    (void)inst;
    scalar->out.u128 = scalar->in[0].u128 ^ scalar->in[1].u128;
}

/* Also inverts the one bit of a predicate. */
void oracle_eval_not(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    scalar->out.u128 = oracle_low_bits(~scalar->in[0].u128, ptx_type_bits(inst->types[0]));
}

void oracle_eval_cnot(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    (void)inst;
    scalar->out.u128 = scalar->in[0].u128 == 0;
}

/* "immLut = F(0xF0, 0xCC, 0xAA)": bit n of the table is F's value where n has a's bit as its bit
 * 2, b's as its bit 1, c's as its bit 0. */
void oracle_eval_lop3(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    uint32_t table = scalar->in[3].u32;
    uint32_t d = 0;
    bool q = scalar->in[4].u8 != 0;

    for (unsigned i = 0; i < 32; i++) {
        unsigned row = (scalar->in[0].u32 >> i & 1) << 2 | (scalar->in[1].u32 >> i & 1) << 1 |
                       (scalar->in[2].u32 >> i & 1);

        d |= (table >> row & 1) << i;
    }
    scalar->out.u32 = d;
    /* "p = (d != 0) BoolOp q" */
    if (ptx_inst_mod(inst, PTX_GROUP_BOOL) == PTX_MOD_OR)
        scalar->second = d != 0 || q;
    else
        scalar->second = d != 0 && q;
}

/* "Shift amounts greater than the register width N are clamped to N." */
void oracle_eval_shl(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned width = ptx_type_bits(inst->types[0]);
    unsigned amount = scalar->in[1].u32 < width ? scalar->in[1].u32 : width;

    scalar->out.u128 = scalar->in[0].u128 << amount;
}

void oracle_eval_shr(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    unsigned width = ptx_type_bits(inst->types[0]);
    unsigned amount = scalar->in[1].u32 < width ? scalar->in[1].u32 : width;
    __int128 a = oracle_integer(scalar->in[0].u64, inst->types[0]);

    scalar->out.u128 = (unsigned __int128)(a >> amount);
}

void oracle_eval_shf(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    uint64_t source = (uint64_t)scalar->in[1].u32 << 32 | scalar->in[0].u32;
    uint32_t c = scalar->in[2].u32;
    uint32_t n = c & 0x1f;

    if (ptx_inst_mod(inst, PTX_GROUP_WRAP) == PTX_MOD_CLAMP)
        n = c < 32 ? c : 32;
    if (ptx_inst_mod(inst, PTX_GROUP_DIRECTION) == PTX_MOD_L)
        scalar->out.u32 = (uint32_t)(source << n >> 32);
    else
        scalar->out.u32 = (uint32_t)(source >> n);
}

/* Source bytes of d.b3, d.b2, d.b1, d.b0 for c[1:0] = 0..3, as the manual's table has them. */
struct prmt_mode {
    enum ptx_mod mod;
    uint8_t bytes[4][4];
};

static const struct prmt_mode prmt_modes[] = {
    {PTX_MOD_F4E, {{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}},
    {PTX_MOD_B4E, {{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}},
    {PTX_MOD_RC8, {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
    {PTX_MOD_ECL, {{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}},
    {PTX_MOD_ECR, {{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}},
    {PTX_MOD_RC16, {{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}},
};

static uint8_t source_byte(const struct oracle_scalar *scalar, unsigned index)
{
    uint64_t pair = (uint64_t)scalar->in[1].u32 << 32 | scalar->in[0].u32;

    return (uint8_t)(pair >> (8 * index));
}

void oracle_eval_prmt(const struct ptx_inst *inst, struct oracle_scalar *scalar)
{
    enum ptx_mod mod = ptx_inst_mod(inst, PTX_GROUP_PRMT);
    uint32_t c = scalar->in[2].u32;
    uint32_t d = 0;

    for (unsigned i = 0; i < 4; i++) {
        unsigned selection = c >> (4 * i) & 0xf;
        uint8_t byte = source_byte(scalar, selection & 7);

        /* "msb=1 means replicate the sign ... only performed as part of generic form." */
        if ((selection & 8) != 0)
            byte = (byte & 0x80) != 0 ? 0xff : 0;
        for (unsigned m = 0; m < sizeof(prmt_modes) / sizeof(prmt_modes[0]); m++) {
            if (prmt_modes[m].mod == mod)
                byte = source_byte(scalar, prmt_modes[m].bytes[c & 3][3 - i]);
        }
        d |= (uint32_t)byte << (8 * i);
    }
    scalar->out.u32 = d;
}
