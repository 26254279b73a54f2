/* SPDX-License-Identifier: Apache-2.0
 *
 * alloca, stacksave, stackrestore.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

Test(stack, what_is_allocated_is_local_memory_of_the_thread)
{
    uint64_t in[2] = {40, 100};
    uint64_t out[4] = {0};
    harness_eval("ld.u64 %rd1, [%in]; ld.u64 %rd2, [%in+8];\n"
                 "alloca.u64 %rd3, %rd1, 1024; alloca.u64 %rd4, %rd2;\n"
                 "st.local.u64 [%rd3+32], 7; st.local.u64 [%rd4+88], 8;\n"
                 "cvta.local.u64 %rd5, %rd3; isspacep.local %p1, %rd5; selp.u64 %rd6, 1, 0, %p1;\n"
                 "ld.u64 %rd7, [%rd5+32]; ld.local.u64 %rd8, [%rd4+88]; and.b64 %rd9, %rd3, 1023;\n"
                 "st.u64 [%out], %rd6; st.u64 [%out+8], %rd7; st.u64 [%out+16], %rd8;\n"
                 "st.u64 [%out+24], %rd9;",
                 in, out);
    cr_expect_arr_eq(out, ((uint64_t[]){1, 7, 8, 0}), sizeof out);
}

Test(stack, restoring_gives_back_what_a_loop_allocates)
{
    uint64_t out = 0;
    /* 4000 times 4000 bytes do not fit. */
    harness_eval("mov.u32 %r1, 0; mov.u64 %rd5, 0;\nagain:\nstacksave.u64 %rd1;\n"
                 "alloca.u64 %rd2, 4000, 16;\ncvt.u64.u32 %rd3, %r1; st.local.u64 [%rd2], %rd3;\n"
                 "ld.local.u64 %rd4, [%rd2]; add.u64 %rd5, %rd5, %rd4;\nstackrestore.u64 %rd1;\n"
                 "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4000;\n@%p1 bra again;\n"
                 "st.u64 [%out], %rd5;",
                 NULL, &out);
    cr_expect_eq(out, 7998000);
}

static enum pxr_status run_fault(const char *instructions, uint64_t n)
{
    char text[1024];
    struct harness harness;
    struct pxr_error err = {0};
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 n)\n{\n"
             ".reg .b64 %%rd<9>; .reg .pred %%p<3>;\nld.param.u64 %%rd1, [n];\n%s\nret;\n}\n",
             instructions);
    cr_assert_eq(harness_open(&harness, text, "k", true, &err), PXR_OK, "%s", err.message);
    cr_expect(harness.layout.has_recursion);
    harness_run(&harness, &n);
    enum pxr_status fault = harness.fault;
    harness_close(&harness);
    return fault;
}

Test(stack, allocating_more_than_there_is_is_a_fault)
{
    static const char once[] = "alloca.u64 %rd2, %rd1; st.local.u64 [%rd2], %rd1;";
    cr_expect_eq(run_fault(once, 1000), PXR_OK);
    cr_expect_eq(run_fault(once, 100000), PXR_FAULT_STACK);
    cr_expect_eq(run_fault(once, UINT64_MAX), PXR_FAULT_STACK);
    cr_expect_eq(run_fault(once, UINT64_MAX / 2), PXR_FAULT_STACK);
    cr_expect_eq(run_fault("alloca.u64 %rd2, 0x10000000000; cvta.local.u64 %rd4, %rd2; "
                           "st.volatile.u64 [%rd4], %rd1;",
                           0),
                 PXR_FAULT_STACK);
    cr_expect_eq(run_fault("alloca.u64 %rd2, 16, 8388608; cvta.local.u64 %rd4, %rd2; "
                           "st.volatile.u64 [%rd4], %rd1;",
                           0),
                 PXR_FAULT_STACK);
    cr_expect_eq(run_fault("again:\nalloca.u64 %rd2, 128; cvta.local.u64 %rd3, %rd2;\n"
                           "st.volatile.u64 [%rd3], %rd1;"
                           "sub.u64 %rd1, %rd1, 1; setp.ne.u64 %p1, %rd1, 0;\n@%p1 bra again;",
                           100000),
                 PXR_FAULT_STACK);
}

Test(stack, restoring_what_was_never_saved_is_a_fault)
{
    static const char text[] = "alloca.u64 %rd2, 64; stackrestore.u64 %rd1;";
    cr_expect_eq(run_fault(text, 0), PXR_FAULT_STACK);
    cr_expect_eq(run_fault(text, UINT64_MAX - 15), PXR_FAULT_STACK);
    cr_expect_eq(run_fault("alloca.u64 %rd2, 64; stacksave.u64 %rd3; add.u64 %rd3, %rd3, 3;\n"
                           "stackrestore.u64 %rd3;",
                           0),
                 PXR_FAULT_STACK);
}

Test(stack, alignments_that_are_no_powers_of_two_are_refused)
{
    struct pxr_error err = {0};
    cr_expect_eq(harness_eval_status("alloca.u64 %rd1, 8, 24;", &err), PXR_UNSUPPORTED);
    cr_expect_not_null(strstr(err.message, "alignment"));
}
