/* SPDX-License-Identifier: Apache-2.0
 *
 * How often lanes meet for instructions on matrices that follow each other. What they compute is in
 * tests/conformance and tests/random.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#define TEXT_BYTES 65536

static unsigned count_of(const char *ir, const char *text)
{
    unsigned count = 0;
    for (const char *at = ir; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

static void open_body(struct harness *harness, const char *body)
{
    static char text[TEXT_BYTES];
    struct pxr_error err = {0};
    snprintf(text, sizeof text,
             ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
             ".reg .pred %%p<4>; .reg .b32 %%r<900>; .reg .f32 %%f<900>; .reg .b64 %%rd<9>;\n"
             "ld.param.u64 %%rd1, [p];\nsetp.ne.u64 %%p1, %%rd1, 7;\n%s\nret;\n}\n",
             body);
    cr_assert_eq(harness_open(harness, text, NULL, true, &err), PXR_OK, "%s: %s", body,
                 err.message);
}

static void expect_meetings(const char *body, unsigned count)
{
    struct harness harness;
    open_body(&harness, body);
    unsigned meetings = count_of(harness.ir, "call void @rt_warp_words(") +
                        count_of(harness.ir, "call void @rt_warp_memory(");
    cr_expect_eq(meetings, count, "%u meetings:\n%s", meetings, body);
    harness_close(&harness);
}

#define MMA "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
#define FIRST                                                                                      \
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r9];\n" MMA                  \
    "{%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3}, {%f0, %f0, %f0, %f0};\n"
#define SECOND MMA "{%f5, %f6, %f7, %f8}, {%r1, %r2}, {%r4}, {%f1, %f2, %f3, %f4};\n"

Test(matrix_run, lanes_meet_once_for_what_follows_each_other)
{
    expect_meetings(FIRST SECOND, 1);
    expect_meetings("{\n" FIRST "}\n{\n.reg .b32 x;\n" SECOND "}", 1);
}

Test(matrix_run, arithmetic_that_needs_no_result_may_stand_in_between)
{
    expect_meetings(FIRST "add.u32 %r10, %r9, 16;\n" SECOND, 1);
    expect_meetings(FIRST "@%p1 add.u32 %r9, %r9, 16;\n" SECOND, 1);
}

Test(matrix_run, whatever_could_tell_ends_a_run)
{
    static const char *const between[] = {
        "add.f32 %f1, %f1, %f1;",
        "@%p1 mov.b32 %r1, 0;",
        "st.global.u32 [%rd1], %r9;",
        "ld.shared.u32 %r10, [%r9];",
        "bar.sync 0;",
        "bar.warp.sync 0xffffffff;",
        "next:",
        "setp.eq.f32 %p1, %f2, %f3;\n@%p1 mov.f32 %f1, %f0;",
        "mov.u32 %r3, %r1; mov.u32 %r4, %r3;",
        "mov.u32 %r10, %clock;",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r9;",
    };
    for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
        char body[2048];
        snprintf(body, sizeof body, "%s%s\n%s", FIRST, between[i], SECOND);
        expect_meetings(body, 2);
    }
}

/* Between memory accesses, branches and the like. */
Test(matrix_run, arithmetic_with_results_is_set_aside)
{
    expect_meetings(FIRST "mov.u32 %r10, %r2;\n" SECOND, 1);
    expect_meetings(FIRST "setp.eq.f32 %p1, %f2, %f3;\n@%p1 mov.u32 %r10, %r2;\n" SECOND, 1);
    expect_meetings(FIRST "add.cc.u32 %r10, %r2, 1;\naddc.u32 %r11, %r9, %r9;\n" SECOND, 1);
}

Test(matrix_run, what_needs_the_arithmetic_is_set_aside_too)
{
    static char body[TEXT_BYTES / 2];
    size_t length = 0;
    for (unsigned i = 0; i < 20; i++)
        length += (size_t)snprintf(
            body + length, sizeof body - length,
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%r899+%u];\n"
            "add.u32 %%r%u, %%r%u, 1;\n" MMA
            "{%%f1, %%f2, %%f3, %%f4}, {%%r%u, %%r%u}, {%%r%u}, {%%f1, %%f2, %%f3, %%f4};\n",
            8 * i, 8 * i + 1, 8 * i + 2, 8 * i + 3, 16 * i, 8 * i + 4, 8 * i, 8 * i + 4, 8 * i + 1,
            8 * i + 2);
    expect_meetings(body, 2);
}

/* The register is read, or gets a result, before arithmetic changes it, and the other way round. */
Test(matrix_run, what_is_set_aside_keeps_its_registers)
{
    expect_meetings(FIRST "add.u32 %r5, %r1, %r9;\n"
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r9];\n",
                    2);
    expect_meetings(FIRST "add.u32 %r5, %r1, %r6;\n"
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r9];\n",
                    2);
    expect_meetings(FIRST "add.u32 %r9, %r1, 1;\n"
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r9];\n",
                    2);
    expect_meetings(FIRST "add.cc.u32 %r10, %r1, 1;\naddc.u32 %r9, %r9, 0;\n"
                          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r9];\n",
                    2);
}

Test(matrix_run, a_result_that_is_an_address_ends_a_run)
{
    expect_meetings(FIRST "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r1];\n", 2);
}

Test(matrix_run, an_instruction_under_a_condition_stands_alone)
{
    expect_meetings(FIRST "@%p1 " SECOND FIRST, 3);
}

/* Each product adds to the sum of the one before: all of them have four rows for it. */
Test(matrix_run, sums_stay_where_they_are)
{
    static char body[TEXT_BYTES / 2];
    size_t length = 0;
    for (unsigned i = 0; i < 200; i++)
        length += (size_t)snprintf(body + length, sizeof body - length,
                                   MMA "{%%f%u, %%f%u, %%f%u, %%f%u}, {%%r1, %%r2}, {%%r3}, "
                                       "{%%f%u, %%f%u, %%f%u, %%f%u};\n",
                                   4 * i + 4, 4 * i + 5, 4 * i + 6, 4 * i + 7, 4 * i, 4 * i + 1,
                                   4 * i + 2, 4 * i + 3);
    expect_meetings(body, 1);
}

/* Loads need rows for their addresses only until they are done. */
Test(matrix_run, addresses_leave_their_rows_to_results)
{
    static char body[TEXT_BYTES / 2];
    size_t length = 0;
    for (unsigned i = 0; i < 48; i++)
        length += (size_t)snprintf(
            body + length, sizeof body - length,
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%r899+%u];\n",
            4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 16 * i);
    expect_meetings(body, 1);
}

/* What a turn of an unrolled loop does is one function, called for each. */
Test(matrix_run, equal_runs_have_one_function)
{
    struct harness harness;
    open_body(&harness, FIRST "bar.sync 0;\n" FIRST "bar.sync 0;\n" FIRST);
    cr_expect_eq(count_of(harness.ir, "define internal void @warp.run."), 1, "%s", harness.ir);
    harness_close(&harness);
}

/* Parts of results that nobody wants need no register, and end no run. */
Test(matrix_run, results_may_be_left_out)
{
    expect_meetings("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, _, %r2, %r3}, [%r9];\n" MMA
                    "{%f1, _, %f2, _}, {%r1, %r2}, {%r3}, {%f0, %f0, %f0, %f0};\n" MMA
                    "{_, %f5, %f6, %f7}, {%r1, %r2}, {%r3}, {%f1, %f1, %f2, %f2};\n",
                    1);
}
