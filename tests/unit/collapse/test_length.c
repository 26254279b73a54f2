/* SPDX-License-Identifier: Apache-2.0
 *
 * The cap on the length of fused code: a kernel that keeps many values across many warp operations.
 */
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runner.h"

#define VALUES  100
#define THREADS 64
#define BLOCKS  2

/* Conditions are bits of the block's number. */
#define BITS 16

/* Value i starts as tid * (i + 3); each of `rounds` times one of them gets that of its left
 * neighbour in the warp, in all blocks or under a condition. out[] is the sum of all. */
static char *make_text(int rounds, bool has_conditions)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out,
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry kernel(.param .u64 out)\n{\n"
            ".reg .b32 %%v<%d>; .reg .b32 %%t, %%c, %%b; .reg .b64 %%rd<3>; .reg .pred %%p;\n"
            "mov.u32 %%t, %%tid.x; mov.u32 %%c, %%ctaid.x;\n",
            VALUES);
    for (int i = 0; i < VALUES; i++)
        fprintf(out, "mul.lo.u32 %%v%d, %%t, %d;\n", i, i + 3);
    for (int i = 0; i < rounds; i++) {
        if (has_conditions)
            fprintf(out, "and.b32 %%b, %%c, %d; setp.eq.u32 %%p, %%b, 0; @%%p bra L%d;\n",
                    1 << i % BITS, i);
        fprintf(out, "shfl.sync.up.b32 %%v%d, %%v%d, 1, 0, -1;\n", i % VALUES, i % VALUES);
        if (has_conditions)
            fprintf(out, "L%d:\n", i);
    }
    for (int i = 1; i < VALUES; i++)
        fprintf(out, "add.u32 %%v0, %%v0, %%v%d;\n", i);
    fprintf(out, "mad.lo.u32 %%t, %%c, 64, %%t;\n"
                 "ld.param.u64 %%rd1, [out]; mul.wide.u32 %%rd2, %%t, 4;\n"
                 "add.u64 %%rd1, %%rd1, %%rd2; st.global.u32 [%%rd1], %%v0;\n}\n");
    fclose(out);
    return text;
}

/* How often the block has moved value i. */
static int moves_of(int block, int i, int rounds, bool has_conditions)
{
    int moves = 0;
    for (int r = i; r < rounds; r += VALUES)
        moves += !has_conditions || (block >> r % BITS & 1);
    return moves;
}

static uint32_t expected(int block, int thread, int rounds, bool has_conditions)
{
    uint32_t sum = 0;
    for (int i = 0; i < VALUES; i++) {
        int lane = thread % 32 - moves_of(block, i, rounds, has_conditions);
        sum += (uint32_t)((thread - thread % 32 + (lane < 0 ? 0 : lane)) * (i + 3));
    }
    return sum;
}

/* What the kernel becomes if AUTO may choose; checks its result against the definition. */
static enum pxr_collapse run(int rounds, bool has_conditions, char **explanation)
{
    struct runner_build build = {.collapse = PXR_COLLAPSE_AUTO, .workers = 1};
    struct pxr_error err = {0};
    struct runner *runner;
    cr_assert_eq(runner_open_inprocess(&build, &runner, &err), PXR_OK, "%s", err.message);
    uint32_t *out = runner_alloc(BLOCKS * THREADS * sizeof *out);
    struct runner_buffer buffer = {out, BLOCKS * THREADS * sizeof *out};
    struct runner_launch launch = {.kernel = "kernel",
                                   .grid = {BLOCKS, 1, 1},
                                   .block = {THREADS, 1, 1},
                                   .buffers = &buffer,
                                   .buffer_count = 1};
    char *text = make_text(rounds, has_conditions);
    cr_assert_eq(runner_run(runner, text, &launch, &err), PXR_OK, "%s", err.message);
    for (int i = 0; i < BLOCKS * THREADS; i++)
        cr_expect_eq(out[i], expected(i / THREADS, i % THREADS, rounds, has_conditions),
                     "thread %d", i);
    struct runner_made made = runner_last_made(runner);
    *explanation = strdup(made.explanation != NULL ? made.explanation : "");
    runner_close(runner);
    free(text);
    free(out);
    return made.collapse;
}

Test(length, warp_operations_are_fused_however_many_and_however_much_is_live)
{
    static const int rounds[] = {10, 250};
    for (size_t i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
        char *explanation;
        cr_expect(pxr_collapse_is_fused(run(rounds[i], false, &explanation)), "%s", explanation);
        cr_expect_not_null(strstr(explanation, "warp by warp"), "%s", explanation);
        free(explanation);
    }
}

/* What is behind n conditions is there n times. */
Test(length, too_much_across_too_many_sync_points_is_precise_and_says_so)
{
    char *explanation;
    cr_expect_eq(run(60, true, &explanation), PXR_COLLAPSE_PRECISE, "%s", explanation);
    cr_expect_not_null(strstr(explanation, "kept across"), "%s", explanation);
    free(explanation);
}
