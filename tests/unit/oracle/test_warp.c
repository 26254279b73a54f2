/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of lanes, with and without a member mask.
 */
#include "kernel.h"

#define STORE_R1 "st.global.u32 [%rd1], %r1; ret;"

/* ---- shfl ---- */

Test(oracle_warp, shfl_takes_from_the_source_lane)
{
    /* lane + 10 as value; four lanes of segment {0..3} of width 4: c = 0x1c03, for up 0x1c00 */
    EXPECT_WORDS(KERNEL("add.u32 %r2, %r0, 10; shfl.sync.up.b32 %r1|%p1, %r2, 1, 0x1c00, 15;\n"
                        "@!%p1 add.u32 %r1, %r1, 100;\n" STORE_R1),
                 4, 110, 10, 11, 12);
    EXPECT_WORDS(KERNEL("add.u32 %r2, %r0, 10; shfl.sync.down.b32 %r1|%p1, %r2, 2, 0x1c03, 15;\n"
                        "@!%p1 add.u32 %r1, %r1, 100;\n" STORE_R1),
                 4, 12, 13, 112, 113);
    EXPECT_WORDS(
        KERNEL("add.u32 %r2, %r0, 10; shfl.sync.bfly.b32 %r1, %r2, 3, 0x1f, 15;\n" STORE_R1), 4, 13,
        12, 11, 10);
    EXPECT_WORDS(
        KERNEL("add.u32 %r2, %r0, 10; shfl.sync.idx.b32 %r1, %r2, 2, 0x1f, 15;\n" STORE_R1), 4, 12,
        12, 12, 12);
}

Test(oracle_warp, shfl_stays_in_its_segment)
{
    /* width 2: lanes 0 1 | 2 3; idx 1 is the second lane of the segment, idx 3 as well */
    EXPECT_WORDS(KERNEL("shfl.sync.idx.b32 %r1|%p1, %r0, 3, 0x1e1f, 15;\n" STORE_R1), 4, 1, 1, 3,
                 3);
    EXPECT_WORDS(KERNEL("shfl.sync.down.b32 %r1|%p1, %r0, 1, 0x1e1f, 15;\n"
                        "@!%p1 mov.u32 %r1, 99;\n" STORE_R1),
                 4, 1, 99, 3, 99);
}

Test(oracle_warp, lanes_of_a_mask_meet_from_different_places)
{
    /* odd and even lanes come to shfl by different branches, in any order */
    EXPECT_WORDS(KERNEL("and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0;\n"
                        "@%p1 bra EVEN;\n"
                        "shfl.sync.idx.b32 %r1, %r0, 0, 0x1f, 15; bra DONE;\n"
                        "EVEN: shfl.sync.idx.b32 %r1, %r0, 3, 0x1f, 15;\n"
                        "DONE: " STORE_R1),
                 4, 3, 0, 3, 0);
}

Test(oracle_warp, masks_divide_a_warp)
{
    EXPECT_WORDS(KERNEL("setp.lt.u32 %p1, %r0, 2;\n"
                        "@%p1 bra LOW;\n"
                        "redux.sync.add.u32 %r1, %r0, 12; bra DONE;\n"
                        "LOW: redux.sync.add.u32 %r1, %r0, 3;\n"
                        "DONE: " STORE_R1),
                 4, 1, 1, 5, 5);
}

Test(oracle_warp, exited_lanes_are_not_waited_for)
{
    EXPECT_WORDS(KERNEL("setp.eq.u32 %p1, %r0, 1; @%p1 exit;\n"
                        "vote.sync.ballot.b32 %r1, 1, 0xffffffff;\n" STORE_R1),
                 3, 5, 0, 5);
}

Test(oracle_warp, a_lane_outside_of_its_mask_is_a_fault)
{
    EXPECT_STATUS(KERNEL("bar.warp.sync 1; ret;"), 2, PXR_FAULT_INSTRUCTION);
}

Test(oracle_warp, lanes_that_never_come_are_a_deadlock)
{
    EXPECT_STATUS(KERNEL("setp.eq.u32 %p1, %r0, 0; @%p1 bra A;\n"
                         "bar.warp.sync 3; ret;\n"
                         "A: vote.sync.any.pred %p2, 1, 3; ret;"),
                  2, PXR_FAULT_DEADLOCK);
}

/* ---- vote, match, redux, elect, activemask ---- */

Test(oracle_warp, votes_count_the_lanes_of_the_mask)
{
    EXPECT_WORDS(KERNEL("setp.ge.u32 %p1, %r0, 2;\n"
                        "vote.sync.ballot.b32 %r1, %p1, 15;\n"
                        "vote.sync.all.pred %p2, %p1, 15; vote.sync.any.pred %p3, %p1, 15;\n"
                        "vote.sync.uni.pred %p4, %p1, 15; vote.sync.uni.pred %p5, !%p2, 15;\n"
                        "@%p2 or.b32 %r1, %r1, 0x100; @%p3 or.b32 %r1, %r1, 0x200;\n"
                        "@%p4 or.b32 %r1, %r1, 0x400; @%p5 or.b32 %r1, %r1, 0x800;\n" STORE_R1),
                 4, 0xa0c, 0xa0c, 0xa0c, 0xa0c);
}

Test(oracle_warp, match_finds_equal_values)
{
    EXPECT_WORDS(KERNEL("and.b32 %r2, %r0, 1; match.any.sync.b32 %r1, %r2, 15;\n" STORE_R1), 4, 5,
                 10, 5, 10);
    EXPECT_WORDS(KERNEL("cvt.u64.u32 %rd2, %r0; shl.b64 %rd2, %rd2, 40;\n"
                        "match.all.sync.b64 %r1|%p1, %rd2, 3;\n"
                        "@!%p1 add.u32 %r1, %r1, 7;\n" STORE_R1),
                 2, 7, 7);
    EXPECT_WORDS(KERNEL("match.all.sync.b32 %r1|%p1, 9, 3; @!%p1 mov.u32 %r1, 7;\n" STORE_R1), 2, 3,
                 3);
}

Test(oracle_warp, redux_reduces_as_its_type_says)
{
    EXPECT_WORDS(KERNEL("sub.u32 %r2, %r0, 1;\n" /* -1 0 1 */
                        "redux.sync.min.s32 %r3, %r2, 7; redux.sync.min.u32 %r4, %r2, 7;\n"
                        "redux.sync.max.s32 %r5, %r2, 7; redux.sync.xor.b32 %r6, %r2, 7;\n"
                        "setp.ne.u32 %p1, %r0, 0; @%p1 ret;\n"
                        "st.global.v4.u32 [%rd0], {%r3, %r4, %r5, %r6}; ret;"),
                 3, 0xffffffff, 0, 1, 0xfffffffe);
}

Test(oracle_warp, elect_has_one_leader)
{
    EXPECT_WORDS(KERNEL("mov.u32 %r2, 0; setp.eq.u32 %p3, %r0, 0; @%p3 exit;\n"
                        "elect.sync %r1|%p1, 0xe; selp.u32 %r2, 1, 0, %p1;\n"
                        "redux.sync.add.u32 %r1, %r2, 0xe;\n" STORE_R1),
                 4, 0, 1, 1, 1);
}

Test(oracle_warp, lanes_in_step_are_active_together)
{
    /* only that a lane is in its own group, and that all of a group see the same, is certain */
    EXPECT_WORDS(KERNEL("activemask.b32 %r2; mov.u32 %r3, %lanemask_eq; and.b32 %r4, %r2, %r3;\n"
                        "setp.ne.u32 %p1, %r4, 0; selp.u32 %r1, 1, 0, %p1;\n" STORE_R1),
                 3, 1, 1, 1);
}

Test(oracle_warp, a_lane_that_another_waits_for_does_not_wait_for_company)
{
    /* lane 1 spins until lane 0 has come through activemask */
    EXPECT_WORDS(KERNEL("setp.eq.u32 %p1, %r0, 1; @%p1 bra WAIT;\n"
                        "activemask.b32 %r2; st.volatile.global.u32 [%rd0], 1; ret;\n"
                        "WAIT: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p2, %r1, 0;\n"
                        "@%p2 bra WAIT; st.global.u32 [%rd0+4], 2; ret;"),
                 2, 1, 2);
}

Test(oracle_warp, special_registers_know_the_lane)
{
    EXPECT_WORDS(KERNEL("mov.u32 %r2, %laneid; mov.u32 %r3, %warpid; mov.u32 %r4, %lanemask_lt;\n"
                        "setp.ne.u32 %p1, %r0, 34; @%p1 ret;\n"
                        "st.global.v4.u32 [%rd0], {%r2, %r3, %r4, WARP_SZ};\n"
                        "mov.u32 %r2, %lanemask_ge; mov.u32 %r3, %lanemask_eq;\n"
                        "st.global.v2.u32 [%rd0+16], {%r2, %r3}; ret;"),
                 40, 2, 1, 3, 32, 0xfffffffc, 4);
}

Test(oracle_warp, redux_of_floats_leaves_nan_out_unless_asked)
{
    /* lanes: 1, NaN, -3; then -0 against +0 */
    EXPECT_WORDS(KERNEL("mov.f32 %f1, 0f3f800000; setp.eq.u32 %p1, %r0, 1;\n"
                        "@%p1 mov.f32 %f1, 0f7fc00001; setp.eq.u32 %p2, %r0, 2;\n"
                        "@%p2 mov.f32 %f1, 0fc0400000;\n"
                        "redux.sync.min.f32 %f2, %f1, 7; redux.sync.max.abs.f32 %f3, %f1, 7;\n"
                        "redux.sync.max.NaN.f32 %f4, %f1, 7;\n"
                        "mov.f32 %f5, 0f00000000; @%p1 mov.f32 %f5, 0f80000000;\n"
                        "redux.sync.min.f32 %f5, %f5, 7;\n"
                        "setp.ne.u32 %p3, %r0, 0; @%p3 ret;\n"
                        "st.global.v4.f32 [%rd0], {%f2, %f3, %f4, %f5}; ret;"),
                 3, 0xc0400000, 0x40400000, 0x7fffffff, 0x80000000);
}

Test(oracle_warp, lanes_that_all_come_take_part_without_a_mask)
{
    /* nothing diverges and nobody exits, so the lanes are all together */
    static const char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n" KERNEL(
        "setp.ne.u32 %p1, %r0, 2; vote.ballot.b32 %r2, %p1;\n"
        "shfl.idx.b32 %r3|%p2, %r0, 3, 0x1f;\n"
        "add.u32 %r1, %r2, %r3; " STORE_R1);
    struct ptx_module *module;
    struct oracle *oracle;
    struct pxr_error err = {0};
    uint32_t words[4] = {0};
    void *params = words;
    struct oracle_launch launch = {
        .kernel = "k", .grid = {1, 1, 1}, .block = {4, 1, 1}, .params = &params};

    cr_assert_eq(ptx_parse(pxr_str_from(text), "test", &module, &err), PXR_OK, "%s", err.message);
    for (launch.seed = 0; launch.seed < 8; launch.seed++) {
        cr_assert_eq(oracle_create(module, &oracle, &err), PXR_OK, "%s", err.message);
        oracle_allow(oracle, words, sizeof(words));
        cr_assert_eq(oracle_run(oracle, &launch, &err), PXR_OK, "%s", err.message);
        oracle_destroy(oracle);
        for (int i = 0; i < 4; i++)
            cr_assert_eq(words[i], 0xb + 3, "0x%x", words[i]);
    }
    ptx_module_destroy(module);
}
