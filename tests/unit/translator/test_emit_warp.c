/* SPDX-License-Identifier: Apache-2.0
 *
 * Warp operations become calls with the right arguments, and their results are taken apart.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

static void expect_calls(const char *instructions, const char *log, const uint32_t expected[2])
{
    char text[2048];
    struct harness harness;
    struct pxr_error err = {0};
    uint32_t out[2] = {0};
    bool is_old =
        strstr(instructions, ".sync") == NULL && strstr(instructions, "activemask") == NULL;
    snprintf(text, sizeof text,
             ".version %s\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .f32 %%f<3>; .reg .pred "
             "%%p<9>;\nld.param.u64 %%rd1, [p];\n"
             "setp.eq.u32 %%p1, 1, 1; mov.u32 %%r2, 41;\n%s\nselp.u32 %%r8, 1, 0, %%p8;\n"
             "st.u32 [%%rd1], %%r7; st.u32 [%%rd1+4], %%r8;\nret;\n}\n",
             is_old ? "6.3\n.target sm_60" : "9.0\n.target sm_100a", instructions);
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    uint64_t param = (uint64_t)out;
    harness_run(&harness, &param);
    cr_expect_str_eq(harness.log, log, "%s", harness.log);
    cr_expect_arr_eq(out, expected, sizeof out, "%u %u", out[0], out[1]);
    harness_close(&harness);
}

Test(warp, shuffles)
{
    expect_calls("shfl.sync.up.b32 %r7|%p8, %r2, 1, 0, 0xffffffff;", "shfl 0 41 1 0 ffffffff\n",
                 (uint32_t[]){42, 1});
    expect_calls("shfl.sync.down.b32 %r7, %r2, 2, 31, 0xff;", "shfl 1 41 2 31 ff\n",
                 (uint32_t[]){42, 0});
    expect_calls("shfl.sync.bfly.b32 %r7|%p8, %r2, 16, 31, -1;", "shfl 2 41 16 31 ffffffff\n",
                 (uint32_t[]){42, 1});
    expect_calls("shfl.sync.idx.b32 _|%p8, %r2, 0, 31, -1;", "shfl 3 41 0 31 ffffffff\n",
                 (uint32_t[]){0, 1});
}

Test(warp, votes)
{
    expect_calls("vote.sync.all.pred %p8, %p1, -1;", "vote 0 1 ffffffff\n", (uint32_t[]){0, 1});
    expect_calls("vote.sync.any.pred %p8, !%p1, 15;", "vote 1 0 f\n", (uint32_t[]){0, 0});
    expect_calls("vote.sync.uni.pred %p8, %p1, -1;", "vote 2 1 ffffffff\n", (uint32_t[]){0, 1});
    expect_calls("vote.sync.ballot.b32 %r7, %p1, 7;", "vote 3 1 7\n", (uint32_t[]){7, 0});
}

Test(warp, match_redux_elect_activemask)
{
    expect_calls("match.any.sync.b32 %r7, %r2, 3;", "match 0 29 3\n", (uint32_t[]){3, 0});
    expect_calls("mov.b64 %rd2, -1; match.all.sync.b64 %r7|%p8, %rd2, 3;",
                 "match 1 ffffffffffffffff 3\n", (uint32_t[]){3, 1});
    expect_calls("redux.sync.max.s32 %r7, %r2, 3;", "redux 8 41 3\n", (uint32_t[]){42, 0});
    expect_calls("redux.sync.xor.b32 %r7, %r2, 3;", "redux 2 41 3\n", (uint32_t[]){42, 0});
    expect_calls("movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r2;", "movmatrix 41 ffffffff\n",
                 (uint32_t[]){42, 0});
    expect_calls("elect.sync %r7|%p8, 9;", "elect 9\n", (uint32_t[]){3, 1});
    expect_calls("activemask.b32 %r6; activemask.b32 %r7;", "activemask 0\nactivemask 1\n",
                 (uint32_t[]){0xf1, 0});
}

Test(warp, without_sync_the_active_lanes_take_part)
{
    expect_calls("shfl.up.b32 %r7|%p8, %r2, 1, 0;", "activemask 0\nshfl 0 41 1 0 f0\n",
                 (uint32_t[]){42, 1});
    expect_calls("vote.any.pred %p8, %p1;", "activemask 0\nvote 1 1 f0\n", (uint32_t[]){0, 1});
    expect_calls("vote.ballot.b32 %r6, %p1; vote.ballot.b32 %r7, !%p1;",
                 "activemask 0\nvote 3 1 f0\nactivemask 1\nvote 3 0 f1\n", (uint32_t[]){0xf1, 0});
}

Test(warp, redux_of_floats)
{
    expect_calls("mov.b32 %r3, 3; mov.f32 %f1, 0fC0000000; redux.sync.min.f32 %f2, %f1, %r3; "
                 "mov.b32 %r7, %f2;",
                 "redux 9 3221225472 3\n", (uint32_t[]){0xc0000001, 0});
    expect_calls(
        "mov.b32 %r3, 3; mov.f32 %f1, 0fC0000000; redux.sync.max.abs.NaN.f32 %f2, %f1, %r3;\n"
        "mov.b32 %r7, %f2;",
        "redux 12 1073741824 3\n", (uint32_t[]){0x40000001, 0});
}
