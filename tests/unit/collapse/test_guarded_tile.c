/* SPDX-License-Identifier: Apache-2.0
 *
 * A tile in shared memory that a block updates step by step, each time without its border: a thread
 * remembers across the barrier whether it has computed something, and what all threads have in
 * common is computed before the first step. All loops are vectors, and none goes lane by lane.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runner.h"

#define THREADS 64
#define STEPS   3

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 out, .param .u32 steps, .param .f32 scale)\n{\n"
    ".reg .b32 %t, %i, %n, %left, %right, %end, %first, %next, %square; .reg .f32 %f<8>;\n"
    ".reg .b64 %rd<3>; .reg .pred %p, %outside, %more; .reg .b16 %computed;\n"
    ".shared .align 4 .b8 old[256]; .shared .align 4 .b8 new[256];\n"
    "mov.u32 %t, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u32 %n, [steps];\n"
    "mul.wide.u32 %rd2, %t, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "mov.u32 %first, old; shl.b32 %left, %t, 2; add.u32 %left, %left, %first;\n"
    "mov.u32 %first, new; shl.b32 %right, %t, 2; add.u32 %right, %right, %first;\n"
    "ld.global.f32 %f1, [%rd1]; st.shared.f32 [%left], %f1;\n"
    "mov.u16 %computed, 0;\n"
    "bar.sync 0;\n"
    "setp.lt.s32 %p, %n, 1; @%p bra DONE;\n"
    "ld.param.f32 %f2, [scale]; rcp.rn.f32 %f3, %f2; mov.u32 %i, 0;\n"
    "STEP:\n"
    /* The square of the next thread's number: a use of what the loop over threads adds up, too. */
    "add.u32 %next, %t, 1; mul.lo.u32 %square, %next, %next; setp.gt.u32 %outside, %square, 3969;\n"
    "sub.u32 %end, 62, %i; setp.gt.s32 %p, %t, %end; or.pred %outside, %outside, %p;\n"
    "setp.le.s32 %p, %t, %i; or.pred %outside, %outside, %p; mov.u16 %computed, 0;\n"
    "ld.shared.f32 %f7, [%left]; setp.gt.f32 %p, %f7, 0f41F00000; or.pred %outside, %outside, %p;\n"
    "@%outside bra MEET;\n"
    "ld.shared.f32 %f4, [%left+-4]; ld.shared.f32 %f5, [%left+4]; ld.shared.f32 %f6, [%left];\n"
    "add.f32 %f4, %f4, %f5; fma.rn.f32 %f6, %f4, %f3, %f6; st.shared.f32 [%right], %f6;\n"
    "mov.u16 %computed, 1;\n"
    "MEET:\nbar.sync 0;\n"
    "add.u32 %i, %i, 1; setp.ge.s32 %more, %i, %n; @%more bra DONE;\n"
    "setp.eq.s16 %p, %computed, 0; @%p bra NEXT;\n"
    "ld.shared.f32 %f7, [%right]; st.shared.f32 [%left], %f7;\n"
    "NEXT:\nbar.sync 0;\nbra STEP;\n"
    "DONE:\n"
    "setp.eq.s16 %p, %computed, 0; @%p bra END;\n"
    "ld.shared.f32 %f7, [%right]; st.global.f32 [%rd1], %f7;\n"
    "END:\nret;\n}\n";

/* Makes the values of the tile's steps. */
static void run(struct runner *runner, float *values)
{
    struct pxr_error err = {0};
    uint32_t steps = STEPS;
    float scale = 4;
    struct runner_buffer buffers[] = {
        {values, THREADS * sizeof *values}, {&steps, sizeof steps}, {&scale, sizeof scale}};
    struct runner_launch launch = {.kernel = "kernel",
                                   .grid = {1, 1, 1},
                                   .block = {THREADS, 1, 1},
                                   .buffers = buffers,
                                   .buffer_count = 3,
                                   .values = 6};
    for (int i = 0; i < THREADS; i++)
        values[i] = (float)(i * i % 17);
    cr_assert_eq(runner_run(runner, text, &launch, &err), PXR_OK, "%s", err.message);
}

static char *explanation_of(enum pxr_collapse collapse)
{
    struct runner_build build = {.collapse = collapse, .has_facts = true, .workers = 1};
    struct pxr_error err = {0};
    struct runner *runner;
    struct runner *oracle;
    float *values = runner_alloc(THREADS * sizeof *values);
    float *expected = runner_alloc(THREADS * sizeof *expected);
    cr_assert_eq(runner_open_inprocess(&build, &runner, &err), PXR_OK, "%s", err.message);
    cr_assert_eq(runner_open_oracle(0, &oracle, &err), PXR_OK, "%s", err.message);
    run(runner, values);
    run(oracle, expected);
    char *explanation = strdup(runner_last_made(runner).explanation);
    runner_close(runner);
    runner_close(oracle);
    cr_expect_arr_eq(values, expected, THREADS * sizeof *values);
    free(values);
    free(expected);
    return explanation;
}

/* Nor do predicates lie in memory as bits: the runner has the first code in a process verified
 * behind each step. */
Test(guarded_tile, no_value_goes_from_one_thread_to_the_next)
{
    char *explanation = explanation_of(PXR_COLLAPSE_VECTOR);
    cr_expect_null(strstr(explanation, "over single threads"), "%s", explanation);
    free(explanation);
}
