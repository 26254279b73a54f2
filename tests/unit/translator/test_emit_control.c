/* SPDX-License-Identifier: Apache-2.0
 *
 * Branches, guards, the end of threads.
 */
#include "harness.h"

#include <criterion/criterion.h>

Test(control, loops_and_guards)
{
    uint32_t in = 5;
    uint32_t out[2] = {0};
    harness_eval("ld.u32 %r1, [%in]; mov.u32 %r2, 0;\n"
                 "again:\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra done;\n"
                 "add.u32 %r2, %r2, %r1; sub.u32 %r1, %r1, 1;\nbra.uni again;\n"
                 "done:\nst.u32 [%out], %r2;\n"
                 "setp.gt.u32 %p2, %r2, 14;\n@%p2 st.u32 [%out+4], 1;\n@!%p2 st.u32 [%out+4], 2;\n",
                 &in, out);
    cr_expect_eq(out[0], 15);
    cr_expect_eq(out[1], 1);
}

Test(control, brx_goes_to_the_label_of_the_index)
{
    static const uint32_t expected[3] = {10, 20, 30};
    for (uint32_t in = 0; in < 3; in++) {
        uint32_t out = 0;
        harness_eval("targets: .branchtargets L0, L1, L2;\nld.u32 %r1, [%in];\n"
                     "brx.idx %r1, targets;\n"
                     "L0: st.u32 [%out], 10;\nbra end;\nL1: st.u32 [%out], 20;\nbra end;\n"
                     "L2: st.u32 [%out], 30;\nend:\n",
                     &in, &out);
        cr_expect_eq(out, expected[in]);
    }
}

Test(control, exit_ends_the_thread_only)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n"
        ".func leave()\n{\nexit;\n}\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred "
        "%p<3>;\n"
        "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [p];\n"
        "setp.eq.u32 %p1, %r1, 1;\n@%p1 call leave;\n"
        "setp.eq.u32 %p2, %r1, 2;\n@%p2 exit;\n"
        "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], 1;\nret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    uint32_t out[4] = {0};
    uint64_t param = (uint64_t)out;
    harness.block[0] = 4;
    harness_run(&harness, &param);
    static const uint32_t expected[4] = {1, 0, 0, 1};
    cr_expect_arr_eq(out, expected, sizeof out);
    cr_expect_str_eq(harness.log, "exit\n");
    harness_close(&harness);
}

Test(control, trap_is_a_fault)
{
    static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry k()\n{\ntrap;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    harness_run(&harness, NULL);
    cr_expect_eq(harness.fault, PXR_FAULT_TRAP);
    harness_close(&harness);
}

/* A branch back through a list takes no lane in front of those that are still in the loop's body.
 */
Test(control, brx_back_is_a_place_where_lanes_converge)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
        ".reg .b32 %r<9>; .reg .pred %p;\n.shared .b32 cell;\nld.param.u32 %r1, [n];\n"
        "again:\nst.volatile.shared.u32 [cell], %r1;\nsetp.eq.u32 %p, %r1, 0;\nsub.u32 %r1, %r1, "
        "1;\n"
        "selp.u32 %r2, 1, 0, %p;\ntargets: .branchtargets again, out;\nbrx.idx %r2, targets;\n"
        "out:\nret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    uint32_t n = 1;
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    harness_run(&harness, &n);
    cr_expect_str_eq(harness.log, "converge 0\nconverge 1\nconverge 0\nconverge 1\n", "%s",
                     harness.log);
    harness_close(&harness);
}

Test(control, brx_beyond_the_list_is_a_fault)
{
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
        ".reg .b32 %r;\nld.param.u32 %r, [n];\ntargets: .branchtargets a, b;\nbrx.idx %r, "
        "targets;\n"
        "a: ret;\nb: ret;\n}\n";
    struct harness harness;
    struct pxr_error err = {0};
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    for (uint32_t n = 0; n < 4; n++) {
        harness_run(&harness, &n);
        cr_expect_eq(harness.fault, n < 2 ? PXR_OK : PXR_FAULT_INSTRUCTION);
    }
    uint32_t negative = UINT32_MAX;
    harness_run(&harness, &negative);
    cr_expect_eq(harness.fault, PXR_FAULT_INSTRUCTION);
    harness_close(&harness);
}

Test(control, what_has_no_meaning_on_this_machine_does_nothing)
{
    uint32_t out = 0;
    harness_eval(
        "griddepcontrol.launch_dependents; griddepcontrol.wait; pmevent 3; pmevent.mask 5;\n"
        "setmaxnreg.inc.sync.aligned.u32 96; st.u32 [%out], 1;",
        NULL, &out);
    cr_expect_eq(out, 1);
}
