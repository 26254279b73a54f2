/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "ptx/ops.h"

static enum ptx_op choose(const char *spelling)
{
    char text[128];
    enum ptx_type types[4];
    enum ptx_mod mods[8];
    unsigned type_count = 0;
    unsigned mod_count = 0;
    char *rest = text;
    char *name;
    char *part;

    snprintf(text, sizeof(text), "%s", spelling);
    name = strsep(&rest, ".");
    while ((part = strsep(&rest, "."))) {
        enum ptx_type type = ptx_type_find(pxr_str_from(part));
        enum ptx_mod mod = ptx_mod_find(pxr_str_from(part));

        if (type)
            types[type_count++] = type;
        else
            mods[mod_count++] = mod ? mod : PTX_MOD_OTHER;
    }
    return ptx_op_choose(pxr_str_from(name), types, type_count, mods, mod_count,
                         PTX_ANY_OPERAND_COUNT);
}

Test(ops, type_sizes_are_those_of_the_manual)
{
    cr_assert_eq(ptx_type_bits(PTX_TYPE_B64), 64);
    cr_assert_eq(ptx_type_bytes(PTX_TYPE_PRED), 1);
    cr_assert_eq(ptx_type_bytes(PTX_TYPE_F16X2), 4);
    cr_assert(ptx_type_is_float(PTX_TYPE_BF16));
    cr_assert(ptx_type_is_signed(PTX_TYPE_S8));
    cr_assert_not(ptx_type_is_signed(PTX_TYPE_U64));
}

Test(ops, every_name_finds_itself)
{
    for (unsigned i = PTX_TYPE_NONE + 1; i < PTX_TYPE_COUNT; i++)
        cr_assert_eq(ptx_type_find(pxr_str_from(ptx_type_table[i].name)), i);
    for (unsigned i = PTX_MOD_NONE + 1; i < PTX_MOD_OTHER; i++)
        cr_assert_eq(ptx_mod_find(pxr_str_from(ptx_mod_table[i].name)), i, "%s",
                     ptx_mod_table[i].name);
    for (unsigned i = 0; i < PTX_OP_COUNT; i++)
        cr_assert(ptx_op_exists(pxr_str_from(ptx_op_name((enum ptx_op)i))));
    cr_assert_eq(ptx_type_find(pxr_str_from("u33")), PTX_TYPE_NONE);
    cr_assert_eq(ptx_mod_find(pxr_str_from("")), PTX_MOD_NONE);
    cr_assert_not(ptx_op_exists(pxr_str_from("addd")));
}

Test(ops, rows_are_complete)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        const struct ptx_op_info *row = &ptx_op_table[i];

        cr_assert_lt(row->family, PTX_FAMILY_COUNT);
        cr_assert_not_null(ptx_family_names[row->family]);
        cr_assert_geq(row->min_ptx, 10u, "%s", row->syntax);
        cr_assert_geq(row->min_sm, 10u, "%s", row->syntax);
    }
}

Test(ops, types_and_modifiers_choose_the_row)
{
    cr_assert_eq(choose("add.s32"), PTX_OP_ADD_INT);
    cr_assert_eq(choose("add.sat.s32"), PTX_OP_ADD_SAT);
    cr_assert_eq(choose("add.cc.u32"), PTX_OP_ADD_CC);
    cr_assert_eq(choose("add.rn.ftz.f32"), PTX_OP_ADD_FLOAT);
    cr_assert_eq(choose("mad.lo.s32"), PTX_OP_MAD_INT);
    cr_assert_eq(choose("mad.lo.cc.u32"), PTX_OP_MAD_CC);
    cr_assert_eq(choose("mad.rn.f32"), PTX_OP_MAD_FLOAT);
    cr_assert_eq(choose("div.full.ftz.f32"), PTX_OP_DIV_APPROX);
    cr_assert_eq(choose("div.rn.f64"), PTX_OP_DIV_F64);
    cr_assert_eq(choose("setp.lo.u32"), PTX_OP_SETP_UNSIGNED);
    cr_assert_eq(choose("vote.sync.ballot.b32"), PTX_OP_VOTE_BALLOT);
    cr_assert_eq(choose("vote.sync.uni.pred"), PTX_OP_VOTE);
    cr_assert_eq(choose("bar.warp.sync"), PTX_OP_BAR_WARP_SYNC);
    cr_assert_eq(choose("bar.cta.red.popc.u32"), PTX_OP_BAR_RED_POPC);
    cr_assert_eq(choose("barrier.cta.red.and.aligned.pred"), PTX_OP_BARRIER_RED);
    cr_assert_eq(choose("ld.global.nc.L1::no_allocate.L2::128B.v4.f32"), PTX_OP_LD_NC);
    cr_assert_eq(choose("atom.global.gpu.add.noftz.f16x2"), PTX_OP_ATOM);
    cr_assert_eq(choose("lop3.or.b32"), PTX_OP_LOP3_BOOL);
    cr_assert_eq(choose("cvt.rna.tf32.f32"), PTX_OP_CVT_F32_TF32);
}

/* Their meaning differs from the form they resemble, so they must not share its row. */
Test(ops, resembling_forms_have_rows_of_their_own)
{
    cr_assert_eq(choose("cvt.rn.satfinite.e4m3x2.f32"), PTX_OP_CVT_FP8);
    cr_assert_eq(choose("cvt.rn.satfinite.f16.f32"), PTX_OP_CVT_F32_FINITE);
    cr_assert_eq(choose("add.rn.f32x2"), PTX_OP_ADD_F32X2);
    cr_assert_eq(choose("add.f32.bf16"), PTX_OP_ADD_MIXED);
    cr_assert_eq(choose("shfl.idx.b32"), PTX_OP_SHFL_LEGACY);
    cr_assert_eq(choose("atom.global.add.v2.f32"), PTX_OP_ATOM_VECTOR);
    cr_assert_eq(choose("fence.proxy.alias"), PTX_OP_FENCE_PROXY);
    cr_assert_eq(choose("barrier.cluster.arrive"), PTX_OP_BARRIER_CLUSTER_ARRIVE);
}

Test(ops, what_ptx_does_not_have_has_no_row)
{
    cr_assert_eq(choose("add"), PTX_OP_COUNT);
    cr_assert_eq(choose("add.b32"), PTX_OP_COUNT);
    cr_assert_eq(choose("add.lo.s32"), PTX_OP_COUNT);
    cr_assert_eq(choose("mul.s32"), PTX_OP_COUNT);
    cr_assert_eq(choose("ld.global.f32.f32"), PTX_OP_COUNT);
    cr_assert_eq(choose("fma.f32"), PTX_OP_COUNT);
    cr_assert_eq(choose("bra.foo"), PTX_OP_COUNT);
}
