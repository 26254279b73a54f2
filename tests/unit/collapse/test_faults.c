/* SPDX-License-Identifier: Apache-2.0
 *
 * Fused kernels look for faults that depend on the launch only before their loops: such a fault
 * must happen where and if it would in the program of one thread.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runner.h"

#define THREADS 96
#define BLOCKS  3
#define COUNT   (THREADS * BLOCKS)

/* out[i] = in[i] for i < n */
static const char copy_text[] = ".version 7.0\n" /* line 1 */
                                ".target sm_70\n"
                                ".address_size 64\n"
                                ".visible .entry copy(.param .u64 in, .param .u64 out, "
                                ".param .u32 n)\n"
                                "{\n"
                                ".reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<4>;\n"
                                "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
                                "ld.param.u32 %r1, [n];\n"
                                "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                                "mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;\n"
                                "setp.ge.u32 %p, %r2, %r1;\n"
                                "@%p ret;\n"
                                "mul.wide.u32 %rd3, %r2, 4;\n"
                                "add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;\n"
                                "ld.global.u32 %r1, [%rd1];\n"
                                "st.global.u32 [%rd2], %r1;\n"
                                "}\n";
#define COPY_LOAD_LINE 15

/* out[i] = the block's tid in reverse order, by way of shared memory; thread 40 of block 1 loads
 * from in if n is not 0. */
static const char reverse_text[] = ".version 7.0\n" /* line 1 */
                                   ".target sm_70\n"
                                   ".address_size 64\n"
                                   ".visible .entry reverse(.param .u64 in, .param .u64 out, "
                                   ".param .u32 n)\n"
                                   "{\n"
                                   ".reg .pred %p, %q; .reg .b32 %r<7>; .reg .b64 %rd<4>;\n"
                                   ".shared .b32 tile[96];\n"
                                   "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
                                   "ld.param.u32 %r1, [n];\n"
                                   "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;\n"
                                   "mov.u32 %r4, tile; shl.b32 %r5, %r3, 2;\n"
                                   "add.u32 %r6, %r4, %r5; st.shared.u32 [%r6], %r3;\n"
                                   "bar.sync 0;\n"
                                   "sub.u32 %r6, 380, %r5; add.u32 %r6, %r6, %r4;\n"
                                   "ld.shared.u32 %r6, [%r6];\n"
                                   "mad.lo.u32 %r4, %r2, 96, %r3; mul.wide.u32 %rd3, %r4, 4;\n"
                                   "add.u64 %rd2, %rd2, %rd3; st.global.u32 [%rd2], %r6;\n"
                                   "setp.eq.u32 %p, %r4, 136; setp.ne.and.u32 %q, %r1, 0, %p;\n"
                                   "@!%q ret;\n"
                                   "ld.global.u32 %r1, [%rd1];\n"
                                   "st.global.u32 [%rd2], %r1;\n"
                                   "}\n";
#define REVERSE_LOAD_LINE 20

struct build_case {
    enum pxr_collapse collapse;
    bool has_facts;
};

static const struct build_case build_cases[] = {{PXR_COLLAPSE_PRECISE, false},
                                                {PXR_COLLAPSE_FLAT, false},
                                                {PXR_COLLAPSE_FLAT, true},
                                                {PXR_COLLAPSE_HIERARCHICAL, false},
                                                {PXR_COLLAPSE_HIERARCHICAL, true}};
enum { BUILD_COUNT = sizeof build_cases / sizeof build_cases[0] };

/* The launch's arrays; `in` begins skew bytes behind an aligned address. */
static uint32_t *in_array, *out_array;

static enum pxr_status launch(const struct build_case *build_case, const char *text,
                              const char *kernel, unsigned skew, uint32_t n, struct pxr_error *err)
{
    struct runner_build build = {
        .collapse = build_case->collapse, .has_facts = build_case->has_facts, .workers = 1};
    struct runner *runner;
    cr_assert_eq(runner_open_inprocess(&build, &runner, err), PXR_OK, "%s", err->message);
    in_array = runner_alloc((COUNT + 1) * sizeof *in_array);
    out_array = runner_alloc(COUNT * sizeof *out_array);
    for (uint32_t i = 0; i < COUNT; i++)
        in_array[i] = i * 3 + 1;
    struct runner_buffer buffers[3] = {{(uint8_t *)in_array + skew, COUNT * sizeof *in_array},
                                       {out_array, COUNT * sizeof *out_array},
                                       {&n, sizeof n}};
    struct runner_launch request = {.kernel = kernel,
                                    .grid = {BLOCKS, 1, 1},
                                    .block = {THREADS, 1, 1},
                                    .buffers = buffers,
                                    .buffer_count = 3,
                                    .values = 1u << 2};
    enum pxr_status status = runner_run(runner, text, &request, err);
    if (status == PXR_OK)
        cr_expect_eq(runner_last_made(runner).collapse, build_case->collapse);
    runner_close(runner);
    return status;
}

static void drop_arrays(void)
{
    free(in_array);
    free(out_array);
}

Test(faults, aligned_pointers_take_the_quick_way_to_the_right_result)
{
    for (int b = 0; b < BUILD_COUNT; b++) {
        struct pxr_error err = {0};
        cr_expect_eq(launch(&build_cases[b], copy_text, "copy", 0, 250, &err), PXR_OK, "%s",
                     err.message);
        for (uint32_t i = 0; i < COUNT; i++)
            cr_expect_eq(out_array[i], i < 250 ? i * 3 + 1 : 0);
        drop_arrays();
    }
}

Test(faults, a_misaligned_pointer_faults_at_its_line)
{
    for (int b = 0; b < BUILD_COUNT; b++) {
        struct pxr_error err = {0};
        cr_expect_eq(launch(&build_cases[b], copy_text, "copy", 1, COUNT, &err),
                     PXR_FAULT_MISALIGNED);
        cr_expect_eq(err.line, COPY_LOAD_LINE, "build %d: %s", b, err.message);
        drop_arrays();
    }
}

Test(faults, a_misaligned_pointer_that_no_thread_uses_is_no_fault)
{
    for (int b = 0; b < BUILD_COUNT; b++) {
        struct pxr_error err = {0};
        cr_expect_eq(launch(&build_cases[b], copy_text, "copy", 1, 0, &err), PXR_OK, "%s",
                     err.message);
        drop_arrays();
    }
}

Test(faults, the_careful_way_passes_barriers_and_gives_the_same_result)
{
    for (int b = 0; b < BUILD_COUNT; b++) {
        struct pxr_error err = {0};
        cr_expect_eq(launch(&build_cases[b], reverse_text, "reverse", 2, 0, &err), PXR_OK, "%s",
                     err.message);
        for (uint32_t i = 0; i < COUNT; i++)
            cr_expect_eq(out_array[i], THREADS - 1 - i % THREADS);
        drop_arrays();
    }
}

Test(faults, what_ran_before_a_fault_behind_a_barrier_has_happened)
{
    for (int b = 0; b < BUILD_COUNT; b++) {
        struct pxr_error err = {0};
        cr_expect_eq(launch(&build_cases[b], reverse_text, "reverse", 2, 1, &err),
                     PXR_FAULT_MISALIGNED);
        cr_expect_eq(err.line, REVERSE_LOAD_LINE, "build %d: %s", b, err.message);
        cr_expect_eq(out_array[136], THREADS - 1 - 40);
        drop_arrays();
    }
}
