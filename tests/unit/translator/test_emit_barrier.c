/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers become calls with the right arguments.
 */
#include "harness.h"

#include <stdio.h>

#include <criterion/criterion.h>

static void expect_calls(const char *instructions, const char *log, uint64_t out[4])
{
    char text[2048];
    struct harness harness;
    struct pxr_error err = {0};
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .pred %%p<9>;\nld.param.u64 %%rd1, [p];\n"
             "%s\nret;\n}\n",
             instructions);
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    uint64_t param = (uint64_t)out;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, log, "%s", harness.log);
    harness_close(&harness);
}

Test(barrier, sync_and_arrive_pass_id_and_count)
{
    expect_calls("bar.sync 0; mov.u32 %r1, 3; bar.sync %r1, 64; barrier.sync 1; bar.arrive 2, 96;\n"
                 "barrier.sync.aligned 4, 32; barrier.arrive 5, 64; bar.warp.sync 0xff;\n"
                 "bar.cta.sync 6;",
                 "bar_sync 0 0\nbar_sync 3 64\nbar_sync 1 0\nbar_arrive 2 96\nbar_sync 4 32\n"
                 "bar_arrive 5 64\nwarp_sync ff\nbar_sync 6 0\n",
                 NULL);
}

Test(barrier, reductions_pass_predicate_and_operation)
{
    uint64_t out[4] = {0};
    expect_calls("setp.eq.u32 %p1, 1, 1; bar.red.popc.u32 %r1, 0, %p1;\n"
                 "bar.red.and.pred %p2, 1, 64, !%p1; bar.red.or.pred %p3, 2, %p1;\n"
                 "selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3;\n"
                 "st.u32 [%rd1], %r1; st.u32 [%rd1+4], %r2; st.u32 [%rd1+8], %r3;",
                 "bar_red 0 0 1 3\nbar_red 1 64 0 0\nbar_red 2 0 1 1\n", out);
    static const uint32_t expected[3] = {1, 0, 1};
    cr_expect_arr_eq((uint32_t *)out, expected, sizeof expected);
}

Test(barrier, a_false_guard_skips_the_call)
{
    expect_calls("setp.eq.u32 %p1, 1, 2; @%p1 bar.sync 0; @!%p1 bar.sync 1;", "bar_sync 1 0\n",
                 NULL);
}
