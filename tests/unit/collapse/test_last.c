/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads do behind a loop with barriers is in the same loop over threads as the loop's next
 * turn, but happens once: it does not decide what the loop becomes.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runner.h"

#define VALUES  24
#define THREADS 64
#define TURNS   5
#define APART   3 /* words from one thread's to the next one's, at most */

/* Each turn moves all values by one place; behind the loop they are stored so far apart. */
static char *make_text(int apart)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out,
            ".version 7.0\n.target sm_70\n.address_size 64\n"
            ".visible .entry kernel(.param .u64 out)\n{\n"
            ".reg .b32 %%v<%d>; .reg .b32 %%t, %%i; .reg .b64 %%rd<3>; .reg .pred %%p;\n"
            "mov.u32 %%t, %%tid.x; mov.u32 %%i, 0; ld.param.u64 %%rd1, [out];\n"
            "mul.wide.u32 %%rd2, %%t, %d; add.u64 %%rd1, %%rd1, %%rd2;\n",
            VALUES + 1, 4 * apart);
    for (int i = 0; i < VALUES; i++)
        fprintf(out, "mul.lo.u32 %%v%d, %%t, %d;\n", i, i + 3);
    fprintf(out, "LOOP:\nbar.sync 0;\nmov.u32 %%v%d, %%v0;\n", VALUES);
    for (int i = 0; i < VALUES; i++)
        fprintf(out, "mov.u32 %%v%d, %%v%d;\n", i, i + 1);
    fprintf(out, "add.u32 %%i, %%i, 1; setp.lt.u32 %%p, %%i, %d; @%%p bra LOOP;\n", TURNS);
    for (int i = 0; i < VALUES; i++)
        fprintf(out, "st.global.u32 [%%rd1+%d], %%v%d;\n", 4 * apart * THREADS * i, i);
    fputs("}\n", out);
    fclose(out);
    return text;
}

static uint32_t expected(uint32_t thread, uint32_t i)
{
    return thread * ((i + TURNS) % VALUES + 3);
}

static char *explanation_of(int apart)
{
    struct runner_build build = {.collapse = PXR_COLLAPSE_AUTO, .workers = 1};
    struct pxr_error err = {0};
    struct runner *runner;
    cr_assert_eq(runner_open_inprocess(&build, &runner, &err), PXR_OK, "%s", err.message);
    uint32_t *out = runner_alloc(THREADS * VALUES * APART * sizeof *out);
    struct runner_buffer buffer = {out, THREADS * VALUES * APART * sizeof *out};
    struct runner_launch launch = {.kernel = "kernel",
                                   .grid = {1, 1, 1},
                                   .block = {THREADS, 1, 1},
                                   .buffers = &buffer,
                                   .buffer_count = 1};
    char *text = make_text(apart);
    cr_assert_eq(runner_run(runner, text, &launch, &err), PXR_OK, "%s", err.message);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t i = 0; i < VALUES; i++)
            cr_expect_eq(out[(i * THREADS + t) * (unsigned)apart], expected(t, i), "thread %u", t);
    char *explanation = strdup(runner_last_made(runner).explanation);
    runner_close(runner);
    free(text);
    free(out);
    return explanation;
}

/* The number behind the last such words. */
static int number_behind(const char *words, const char *explanation)
{
    const char *last = NULL;
    for (const char *at = explanation; (at = strstr(at, words)) != NULL; at++)
        last = at + strlen(words);
    cr_assert_not_null(last, "%s", explanation);
    return atoi(last);
}

/* The part of single threads' time, in 100, that the loop from barrier to barrier takes. */
static int percent_of(int apart)
{
    char *explanation = explanation_of(apart);
    int percent = number_behind("estimated time: ", explanation);
    free(explanation);
    return percent;
}

/* The loop is one of copies, whose price is much the same wherever values are stored behind it.
 * The stores, counted in full, would make it half as much again. */
Test(last, stores_behind_the_loop_do_not_decide)
{
    int near = percent_of(1);
    int far = percent_of(APART);
    cr_expect(near > 0 && 10 * far < 13 * near + 10, "%d and %d", near, far);
}
