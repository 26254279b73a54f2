/* SPDX-License-Identifier: Apache-2.0
 *
 * atom and red: every operation, old values, rounding, and that no update is lost.
 */
#include "kernel.h"

/* One operation on one word: the old value goes to word 1. */
#define ATOM_WORD(first, instruction)                                                              \
    KERNEL("st.global.u32 [%rd0], " first ";\natom.global." instruction                            \
           ";\nst.global.u32 [%rd0+4], %r1; ret;")

Test(oracle_atomic, integer_operations)
{
    EXPECT_WORDS(ATOM_WORD("7", "add.u32 %r1, [%rd0], 5"), 1, 12, 7);
    EXPECT_WORDS(ATOM_WORD("0xffffffff", "add.s32 %r1, [%rd0], 2"), 1, 1, 0xffffffff);
    EXPECT_WORDS(ATOM_WORD("0xffffffff", "min.s32 %r1, [%rd0], 2"), 1, 0xffffffff, 0xffffffff);
    EXPECT_WORDS(ATOM_WORD("0xffffffff", "min.u32 %r1, [%rd0], 2"), 1, 2, 0xffffffff);
    EXPECT_WORDS(ATOM_WORD("0xffffffff", "max.s32 %r1, [%rd0], 2"), 1, 2, 0xffffffff);
    EXPECT_WORDS(ATOM_WORD("0xff00", "and.b32 %r1, [%rd0], 0x0ff0"), 1, 0x0f00, 0xff00);
    EXPECT_WORDS(ATOM_WORD("0xff00", "or.b32 %r1, [%rd0], 0x0ff0"), 1, 0xfff0, 0xff00);
    EXPECT_WORDS(ATOM_WORD("0xff00", "xor.b32 %r1, [%rd0], 0x0ff0"), 1, 0xf0f0, 0xff00);
    EXPECT_WORDS(ATOM_WORD("3", "exch.b32 %r1, [%rd0], 4"), 1, 4, 3);
}

Test(oracle_atomic, inc_and_dec_wrap)
{
    EXPECT_WORDS(ATOM_WORD("4", "inc.u32 %r1, [%rd0], 5"), 1, 5, 4);
    EXPECT_WORDS(ATOM_WORD("5", "inc.u32 %r1, [%rd0], 5"), 1, 0, 5);
    EXPECT_WORDS(ATOM_WORD("6", "inc.u32 %r1, [%rd0], 5"), 1, 0, 6);
    EXPECT_WORDS(ATOM_WORD("0", "dec.u32 %r1, [%rd0], 5"), 1, 5, 0);
    EXPECT_WORDS(ATOM_WORD("5", "dec.u32 %r1, [%rd0], 5"), 1, 4, 5);
    EXPECT_WORDS(ATOM_WORD("6", "dec.u32 %r1, [%rd0], 5"), 1, 5, 6);
}

Test(oracle_atomic, cas_of_every_width)
{
    EXPECT_WORDS(ATOM_WORD("3", "cas.b32 %r1, [%rd0], 3, 9"), 1, 9, 3);
    EXPECT_WORDS(ATOM_WORD("3", "cas.b32 %r1, [%rd0], 4, 9"), 1, 3, 3);
    EXPECT_WORDS(KERNEL("st.global.u32 [%rd0], 0x00050004; mov.u16 %rs1, 5; mov.u16 %rs2, 8;\n"
                        "atom.global.cas.b16 %rs3, [%rd0+2], %rs1, %rs2;\n"
                        "cvt.u32.u16 %r1, %rs3; st.global.u32 [%rd0+4], %r1; ret;"),
                 1, 0x00080004, 5);
    EXPECT_WORDS(KERNEL("st.global.v4.u32 [%rd0], {1, 2, 3, 4};\n"
                        "ld.global.b128 %q0, [%rd0]; mov.u64 %rd2, 7; mov.b128 %q1, {%rd2, %rd2};\n"
                        "atom.global.cas.b128 %q2, [%rd0], %q0, %q1;\n"
                        "st.global.b128 [%rd0+16], %q2; ret;"),
                 1, 7, 0, 7, 0, 1, 2, 3, 4);
    EXPECT_WORDS(KERNEL("st.global.u64 [%rd0], -1;\n"
                        "atom.global.cas.b64 %rd2, [%rd0], -1, 0x200000001;\n"
                        "st.global.u64 [%rd0+8], %rd2; ret;"),
                 1, 1, 2, 0xffffffff, 0xffffffff);
}

Test(oracle_atomic, sums_of_floats_round_to_nearest)
{
    /* 1.5 + 2.25; in f16 2048 + 1 is a tie that goes to even 2048, + 3 a tie that goes to 2052 */
    EXPECT_WORDS(KERNEL("st.global.f32 [%rd0], 0f3fc00000;\n"
                        "red.global.add.f32 [%rd0], 0f40100000;\n"
                        "st.global.f64 [%rd0+8], 0d3ff8000000000000;\n"
                        "atom.global.add.f64 %fd1, [%rd0+8], 0d4002000000000000; ret;"),
                 1, 0x40700000, 0, 0, 0x400e0000);
    EXPECT_WORDS(KERNEL("mov.b32 %r1, 0x68006800; mov.b32 %r2, 0x42003c00;\n"
                        "st.global.u32 [%rd0], %r1;\n"
                        "atom.global.add.noftz.f16x2 %r3, [%rd0], %r2;\n"
                        "st.global.u32 [%rd0+4], %r3; ret;"),
                 1, 0x68026800, 0x68006800);
    /* bf16: 256 + 1 is a tie to 256, 256 + 3 one to 260 */
    EXPECT_WORDS(KERNEL("mov.b32 %r1, 0x43804380; mov.b32 %r2, 0x40403f80;\n"
                        "st.global.u32 [%rd0], %r1;\n"
                        "atom.global.add.noftz.bf16x2 %r3, [%rd0], %r2; ret;"),
                 1, 0x43824380);
}

Test(oracle_atomic, halves_keep_subnormals_and_overflow_to_infinity)
{
    EXPECT_WORDS(KERNEL("mov.b32 %r1, 0x7bff0001; mov.b32 %r2, 0x50000002;\n"
                        "st.global.u32 [%rd0], %r1;\n"
                        "red.global.add.noftz.f16x2 [%rd0], %r2; ret;"),
                 1, 0x7c000003);
}

Test(oracle_atomic, f32_sums_flush_subnormals_in_global_memory_only)
{
    EXPECT_WORDS(KERNEL(".shared .f32 s;\n"
                        "mov.f32 %f1, 0f80000001; mov.f32 %f2, 0f80000002;\n"
                        "st.global.f32 [%rd0], %f1; red.global.add.f32 [%rd0], %f2;\n"
                        "st.shared.f32 [s], %f1; red.shared.add.f32 [s], %f2;\n"
                        "ld.shared.b32 %r1, [s]; st.global.u32 [%rd0+4], %r1; ret;"),
                 1, 0x80000000, 0x80000003);
}

Test(oracle_atomic, vectors_are_operated_on_element_by_element)
{
    EXPECT_WORDS(KERNEL("st.global.v2.f32 [%rd0], {0f3f800000, 0f40000000};\n"
                        "mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000;\n"
                        "atom.global.add.v2.f32 {%f3, %f4}, [%rd0], {%f1, %f2};\n"
                        "st.global.v2.f32 [%rd0+8], {%f3, %f4}; ret;"),
                 1, 0x40000000, 0x40800000, 0x3f800000, 0x40000000);
}

Test(oracle_atomic, no_update_of_many_threads_is_lost)
{
    uint32_t words[3] = {0};
    struct kernel_run run = {
        .text = KERNEL(".shared .u32 s;\n"
                       "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0;\n"
                       "mov.u64 %rd2, s; cvta.shared.u64 %rd2, %rd2;\n"
                       "atom.add.u32 %r1, [%rd2], %r0;\n"
                       "red.global.inc.u32 [%rd0], 1000;\n"
                       "bar.sync 0; @!%p1 ret;\n"
                       "ld.shared.u32 %r1, [s]; red.global.add.u32 [%rd0+4], %r1;\n"
                       /* a lock around plain additions */
                       "L: atom.global.cas.b32 %r2, [%rd0+8], 0, 1; setp.ne.u32 %p2, %r2, 0;\n"
                       "@%p2 bra L; atom.global.exch.b32 %r2, [%rd0+8], 0; ret;"),
        .blocks = 3,
        .threads = 100,
        .out = words,
        .out_bytes = sizeof(words),
    };

    cr_assert_eq(run_kernel(&run), PXR_OK, "%s", run.err.message);
    cr_assert_eq(words[0], 300);
    cr_assert_eq(words[1], 3 * 4950);
    cr_assert_eq(words[2], 0);
}

Test(oracle_atomic, atomics_check_their_address)
{
    EXPECT_STATUS(KERNEL("atom.global.add.u32 %r1, [%rd0+2], 1; ret;"), 1, PXR_FAULT_MISALIGNED);
    EXPECT_STATUS(KERNEL("red.global.add.u32 [%rd0+256], 1; ret;"), 1, PXR_FAULT_ADDRESS);
}
