/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers of a block: who waits for whom, reductions, exits, and what never completes.
 */
#include "kernel.h"

Test(oracle_barrier, nobody_passes_before_all_have_come)
{
    /* each thread reads what the thread 33 further on (modulo 70) has written */
    static const char text[] =
        KERNEL(".shared .u32 s[70];\n"
               "mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2;\n"
               "st.shared.u32 [%r3], %r0;\n"
               "bar.sync 0;\n"
               "add.u32 %r4, %r0, 33; rem.u32 %r4, %r4, 70;\n"
               "shl.b32 %r4, %r4, 2; add.u32 %r4, %r1, %r4;\n"
               "ld.shared.u32 %r5, [%r4];\n"
               "st.global.u32 [%rd1], %r5; ret;");
    uint32_t expected[70];

    for (uint32_t i = 0; i < 70; i++)
        expected[i] = (i + 33) % 70;
    expect_words(text, 70, expected, 70);
}

Test(oracle_barrier, exited_threads_and_warps_are_not_waited_for)
{
    EXPECT_WORDS(KERNEL("setp.ge.u32 %p1, %r0, 31; @%p1 exit;\n"
                        "bar.sync 0; setp.gt.u32 %p2, %r0, 0; @%p2 exit;\n"
                        "bar.sync 0; st.global.u32 [%rd0], 1; ret;"),
                 100, 1);
}

Test(oracle_barrier, exits_complete_a_barrier)
{
    /* thread 0 waits; the 64 others count themselves and exit */
    EXPECT_WORDS(KERNEL("setp.eq.u32 %p1, %r0, 0; @%p1 bra WAIT;\n"
                        "red.global.add.u32 [%rd0], 1; exit;\n"
                        "WAIT: bar.sync 3; ld.global.u32 %r1, [%rd0];\n"
                        "st.global.u32 [%rd0+4], %r1; ret;"),
                 65, 64, 64);
}

Test(oracle_barrier, producers_arrive_and_consumers_wait)
{
    /* warp 0 writes and arrives, warp 1 waits; barrier 1 counts 64 threads of 96 */
    EXPECT_WORDS(KERNEL(".shared .u32 s;\n"
                        "setp.ge.u32 %p3, %r0, 64; @%p3 exit;\n"
                        "setp.ge.u32 %p1, %r0, 32; @%p1 bra CONSUME;\n"
                        "setp.eq.u32 %p2, %r0, 0; @%p2 st.shared.u32 [s], 77;\n"
                        "bar.arrive 1, 64; ret;\n"
                        "CONSUME: bar.sync 1, 64; ld.shared.u32 %r1, [s];\n"
                        "setp.eq.u32 %p2, %r0, 32; @%p2 st.global.u32 [%rd0], %r1; ret;"),
                 96, 77);
}

Test(oracle_barrier, barriers_of_one_block_are_independent)
{
    EXPECT_WORDS(KERNEL("setp.ge.u32 %p1, %r0, 32; @%p1 bra B;\n"
                        "barrier.sync 1, 32; barrier.sync 0; ret;\n"
                        "B: barrier.sync 2, 32; barrier.sync 0;\n"
                        "setp.eq.u32 %p2, %r0, 32; @%p2 st.global.u32 [%rd0], 4; ret;"),
                 64, 4);
}

Test(oracle_barrier, reductions_are_over_all_threads)
{
    EXPECT_WORDS(KERNEL("setp.lt.u32 %p1, %r0, 5; setp.lt.u32 %p2, %r0, 100;\n"
                        "bar.red.popc.u32 %r1, 0, %p1;\n"
                        "bar.red.or.pred %p3, 0, %p1; bar.red.and.pred %p4, 0, %p1;\n"
                        "barrier.red.and.pred %p5, 0, 64, %p2;\n"
                        "bar.red.popc.u32 %r2, 1, !%p1;\n"
                        "@%p3 add.u32 %r1, %r1, 100; @%p4 add.u32 %r1, %r1, 1000;\n"
                        "@%p5 add.u32 %r1, %r1, 10000;\n"
                        "setp.ne.u32 %p6, %r0, 39; @%p6 ret;\n"
                        "st.global.v2.u32 [%rd0], {%r1, %r2}; ret;"),
                 40, 10105, 35);
}

Test(oracle_barrier, reuse_does_not_mix_phases)
{
    EXPECT_WORDS(KERNEL(".shared .u32 s;\n"
                        "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], 0;\n"
                        "mov.u32 %r1, 0;\n"
                        "L: bar.sync 0; ld.shared.u32 %r2, [s]; bar.sync 0;\n"
                        "@%p1 st.shared.u32 [s], 1;\n"
                        "setp.eq.u32 %p2, %r2, %r1;\n"
                        "@!%p2 trap;\n"
                        "@%p1 add.u32 %r3, %r1, 1; @%p1 st.shared.u32 [s], %r3;\n"
                        "add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 10; @%p3 bra L;\n"
                        "@%p1 st.global.u32 [%rd0], %r1; ret;"),
                 80, 10);
}

Test(oracle_barrier, a_barrier_that_some_never_reach_is_a_deadlock)
{
    EXPECT_STATUS(KERNEL("setp.ge.u32 %p1, %r0, 32; @%p1 bra B;\n"
                         "bar.sync 0; ret;\n"
                         "B: bar.sync 1; ret;"),
                  64, PXR_FAULT_DEADLOCK);
    EXPECT_STATUS(KERNEL("bar.sync 0, 64; ret;"), 32, PXR_FAULT_DEADLOCK);
}

Test(oracle_barrier, bad_operands_are_a_fault)
{
    EXPECT_STATUS(KERNEL("mov.u32 %r1, 16; bar.sync %r1; ret;"), 1, PXR_FAULT_INSTRUCTION);
    EXPECT_STATUS(KERNEL("mov.u32 %r1, 33; bar.sync 0, %r1; ret;"), 1, PXR_FAULT_INSTRUCTION);
}
