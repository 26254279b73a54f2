/* SPDX-License-Identifier: Apache-2.0
 *
 * Compile budgets: kernels on which the time of some step explodes get less effort, and say so; all
 * efforts give the same results. Nothing here looks at a clock.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compile.h"
#include "tests/support/big_kernels.h"
#include "tests/support/runner.h"

#define THREADS 64

static const struct runner_build automatic = {.collapse = PXR_COLLAPSE_AUTO, .workers = 1};

static uint32_t *make_words(void)
{
    uint32_t *words = runner_alloc(BIG_WORDS * sizeof *words);
    for (uint32_t i = 0; i < BIG_WORDS; i++)
        words[i] = i * 2654435761u >> 3;
    return words;
}

/* Runs a family's kernel of that size on fresh words, which are returned. */
static uint32_t *run(struct runner *runner, const struct big_family *family, uint32_t size,
                     uint32_t threads)
{
    struct pxr_error err = {0};
    uint32_t *words = make_words();
    struct runner_buffer buffer = {words, BIG_WORDS * sizeof *words};
    struct runner_launch launch = {.kernel = "big",
                                   .grid = {1, 1, 1},
                                   .block = {threads, 1, 1},
                                   .buffers = &buffer,
                                   .buffer_count = 1};
    char *text = big_kernel_text(family, size);
    cr_assert_eq(runner_run(runner, text, &launch, &err), PXR_OK, "%s %u: %s", family->name,
                 (unsigned)size, err.message);
    free(text);
    return words;
}

/* ---- all efforts compute the same ---- */

/* The oracle has no approximate functions of its own that these could be compared with bit for bit.
 */
static bool is_exact(const struct big_family *family)
{
    return strcmp(family->name, "math") != 0;
}

static void compare(const struct runner_build *build, const char *what)
{
    struct pxr_error err = {0};
    struct runner *runner;
    struct runner *oracle;
    cr_assert_eq(runner_open_inprocess(build, &runner, &err), PXR_OK, "%s", err.message);
    cr_assert_eq(runner_open_oracle(0, &oracle, &err), PXR_OK, "%s", err.message);
    for (size_t f = 0; f < big_family_count; f++) {
        const struct big_family *family = &big_families[f];
        if (!is_exact(family))
            continue;
        uint32_t *words = run(runner, family, 10, THREADS);
        uint32_t *expected = run(oracle, family, 10, THREADS);
        cr_expect_arr_eq(words, expected, BIG_WORDS * sizeof *words, "%s: %s", what, family->name);
        free(words);
        free(expected);
    }
    runner_close(runner);
    runner_close(oracle);
}

#define SAME_RESULTS(name, level)                                                                  \
    Test(budget, name)                                                                             \
    {                                                                                              \
        struct runner_build build = automatic;                                                     \
        build.effort = TR_EFFORT_##level;                                                          \
        compare(&build, #level);                                                                   \
    }

SAME_RESULTS(everything_computes_what_the_oracle_does, FULL)
SAME_RESULTS(no_vectors_compute_the_same, LOOPS)
SAME_RESULTS(the_quick_tier_computes_the_same, QUICK)
SAME_RESULTS(no_loops_over_threads_compute_the_same, THREAD)
SAME_RESULTS(few_passes_compute_the_same, SHORT)
SAME_RESULTS(no_passes_compute_the_same, LINEAR)

/* Each kernel falls somewhere else, also after it has been made once. */
Test(budget, limits_a_thousandth_as_high_compute_the_same)
{
    struct runner_build build = automatic;
    build.budget_divisor = 1000;
    compare(&build, "a thousandth");
}

Test(budget, the_quick_tier_with_limits_a_thousandth_as_high_computes_the_same)
{
    struct runner_build build = automatic;
    build.effort = TR_EFFORT_QUICK;
    build.budget_divisor = 1000;
    compare(&build, "quick, a thousandth");
}

Test(budget, limits_a_fiftieth_as_high_compute_the_same)
{
    struct runner_build build = automatic;
    build.budget_divisor = 50;
    compare(&build, "a fiftieth");
}

/* Long blocks are split, and registers are many, as with the largest kernels. */
Test(budget, long_kernels_without_passes_compute_the_same)
{
    static const char *const names[] = {"halves", "permutations", "memory", "registers", "ifs",
                                        "loops",  "brx_threaded", "called", "nested_ifs"};
    struct pxr_error err = {0};
    for (enum tr_effort effort = TR_EFFORT_SHORT; effort <= TR_EFFORT_LINEAR; effort++) {
        struct runner_build build = automatic;
        struct runner *runner;
        struct runner *oracle;
        build.effort = effort;
        cr_assert_eq(runner_open_inprocess(&build, &runner, &err), PXR_OK, "%s", err.message);
        cr_assert_eq(runner_open_oracle(0, &oracle, &err), PXR_OK, "%s", err.message);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const struct big_family *family = big_family_find(names[i]);
            uint32_t *words = run(runner, family, 150, 3);
            uint32_t *expected = run(oracle, family, 150, 3);
            cr_expect_arr_eq(words, expected, BIG_WORDS * sizeof *words, "%s", names[i]);
            free(words);
            free(expected);
        }
        runner_close(runner);
        runner_close(oracle);
    }
}

/* ---- stacks of threads ---- */

/* Of a kernel without passes; it has computed what it should. */
static uint32_t frame_without_passes(const char *name, uint32_t size, uint32_t threads)
{
    struct pxr_error err = {0};
    struct runner_build build = automatic;
    struct runner *runner;
    struct runner *oracle;
    const struct big_family *family = big_family_find(name);
    build.effort = TR_EFFORT_LINEAR;
    cr_assert_eq(runner_open_inprocess(&build, &runner, &err), PXR_OK, "%s", err.message);
    cr_assert_eq(runner_open_oracle(0, &oracle, &err), PXR_OK, "%s", err.message);
    uint32_t *words = run(runner, family, size, threads);
    uint32_t *expected = run(oracle, family, size, threads);
    cr_expect_arr_eq(words, expected, BIG_WORDS * sizeof *words, "%s", name);
    uint32_t frame_bytes = runner_last_made(runner).frame_bytes;
    free(words);
    free(expected);
    runner_close(runner);
    runner_close(oracle);
    return frame_bytes;
}

/* Where long blocks are split, memory of registers stays in the first, or nobody knows how much
 * stack they take. */
Test(budget, the_stack_that_registers_take_without_passes_is_known)
{
    uint32_t frame_bytes = frame_without_passes("registers", 20000, 3);
    cr_expect_geq(frame_bytes, 20000 * 4);
    cr_expect_lt(frame_bytes, 20000 * 5);
}

/* Each thread of the largest block gets such a stack. Sanitizers look at each register of it. */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define THREADS_MAX 64
#else
#define THREADS_MAX 1024
#endif

Test(budget, the_largest_block_with_frames_of_50000_registers_runs)
{
    uint32_t frame_bytes = frame_without_passes("registers", 50000, THREADS_MAX);
    cr_expect_geq(frame_bytes, 50000 * 4);
}

Test(budget, calls_pass_their_arguments_through_the_same_memory_without_passes)
{
    uint32_t frame_bytes = frame_without_passes("calls", 2000, 3);
    cr_expect_neq(frame_bytes, 0);
    cr_expect_lt(frame_bytes, 2000);
}

/* ---- which effort ---- */

static const struct {
    const char *family;
    uint32_t size;
    const char *said;
} large[] = {
    {"arithmetic", 41000, "compile budget: no passes: "},
    {"halves", 2000, "compile budget: few passes: "},
    {"products", 1000, "vectors would take too long to compile"},
    {"divisions", 800, "vectors would take too long to compile"},
    {"floats", 35000, "compile budget: few passes: "},
    {"one_guard", 13000, "compile budget: no passes: "},
    {"ifs", 3500, "compile budget: no passes: "},
    {"nested_ifs", 4000, "compile budget: no passes: "},
    {"loops", 1000, "compile budget: no passes: "},
    {"sums", 1000, "compile budget: no passes: "},
    {"nested_loops", 900, "compile budget: no passes: "},
    {"branches", 2500, "compile budget: no passes: "},
    {"brx_loop", 7000, "compile budget: no passes: "},
    {"brx_threaded", 120, "compile budget: no passes: "},
    {"switch", 3000, "compile budget: no passes: "},
    {"called", 700, "compile budget: no passes: "},
    {"chain", 700, "compile budget: no passes: "},
    {"tree", 700, "compile budget: no passes: "},
};

Test(budget, large_kernels_get_less_effort_and_say_why)
{
    struct pxr_error err = {0};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct runner *runner;
        cr_assert_eq(runner_open_inprocess(&automatic, &runner, &err), PXR_OK, "%s", err.message);
        free(run(runner, big_family_find(large[i].family), large[i].size, 1));
        const char *explanation = runner_last_made(runner).explanation;
        cr_expect_not_null(explanation != NULL ? strstr(explanation, large[i].said) : NULL,
                           "%s %u: %s", large[i].family, (unsigned)large[i].size, explanation);
        runner_close(runner);
    }
}

/* What they would be if nothing was known of their selectors does not count. */
Test(budget, permutations_by_constants_are_as_long_as_they_are)
{
    struct pxr_error err = {0};
    struct runner *runner;
    cr_assert_eq(runner_open_inprocess(&automatic, &runner, &err), PXR_OK, "%s", err.message);
    free(run(runner, big_family_find("permutations"), 5000, 1));
    const char *explanation = runner_last_made(runner).explanation;
    cr_expect_not(explanation != NULL && strstr(explanation, "no passes") != NULL, "%s",
                  explanation);
    runner_close(runner);
}

/* Without loops over threads, good code takes longer to compile than the quick tier may. */
Test(budget, a_limit_leads_the_quick_tier_to_less_and_never_to_more)
{
    struct pxr_error err = {0};
    struct runner_build build = automatic;
    struct runner *runner;
    build.effort = TR_EFFORT_QUICK;
    build.budget_divisor = 10;
    cr_assert_eq(runner_open_inprocess(&build, &runner, &err), PXR_OK, "%s", err.message);
    free(run(runner, big_family_find("barriers"), 600, 3));
    struct runner_made made = runner_last_made(runner);
    cr_expect_eq(made.collapse, PXR_COLLAPSE_PRECISE);
    cr_expect_not_null(strstr(made.explanation, "compile budget: few passes: "), "%s",
                       made.explanation);
    cr_expect_not_null(strstr(made.explanation, "code of the quick tier"), "%s", made.explanation);
    runner_close(runner);
}

/* What their code gains is gained in every turn. */
Test(budget, long_loops_in_which_vectors_gain_most_are_charged_less)
{
    struct pxr_error err = {0};
    struct runner_build build = automatic;
    struct runner *runner;
    build.budget_divisor = 10;
    cr_assert_eq(runner_open_inprocess(&build, &runner, &err), PXR_OK, "%s", err.message);
    free(run(runner, big_family_find("rounds"), 1200, 64));
    struct runner_made made = runner_last_made(runner);
    cr_expect_eq(made.collapse, PXR_COLLAPSE_VECTOR, "%s", made.explanation);
    free(run(runner, big_family_find("floats"), 1200, 64));
    made = runner_last_made(runner);
    cr_expect_not_null(strstr(made.explanation, "vectors would take too long to compile"), "%s",
                       made.explanation);
    runner_close(runner);
}

/* Those that are written by hand have the longest blocks of all, and gain most. */
Test(budget, unrolled_products_of_matrices_become_vectors)
{
    struct pxr_error err = {0};
    struct runner *runner;
    cr_assert_eq(runner_open_inprocess(&automatic, &runner, &err), PXR_OK, "%s", err.message);
    free(run(runner, big_family_find("tile"), 60, 64));
    struct runner_made made = runner_last_made(runner);
    cr_expect_eq(made.collapse, PXR_COLLAPSE_VECTOR, "%s", made.explanation);
    runner_close(runner);
}

Test(budget, kernels_as_people_write_them_get_everything)
{
    struct pxr_error err = {0};
    struct runner *runner;
    cr_assert_eq(runner_open_inprocess(&automatic, &runner, &err), PXR_OK, "%s", err.message);
    for (size_t f = 0; f < big_family_count; f++) {
        free(run(runner, &big_families[f], 10, 1));
        const char *explanation = runner_last_made(runner).explanation;
        cr_expect_null(explanation != NULL ? strstr(explanation, "compile budget") : NULL, "%s: %s",
                       big_families[f].name, explanation);
    }
    runner_close(runner);
}

/* Functions that the kernel does not call are none of its business. */
Test(budget, functions_that_are_not_called_cost_nothing)
{
    struct pxr_error err = {0};
    struct runner *runner;
    cr_assert_eq(runner_open_inprocess(&automatic, &runner, &err), PXR_OK, "%s", err.message);
    free(run(runner, big_family_find("uncalled"), 100000, 1));
    const char *explanation = runner_last_made(runner).explanation;
    cr_expect_null(explanation != NULL ? strstr(explanation, "compile budget") : NULL, "%s",
                   explanation);
    runner_close(runner);
}

/* The optimiser of barriers looks at pairs of accesses, and at paths for each. */
Test(budget, not_all_pairs_of_accesses_are_looked_at_where_there_are_many)
{
    struct pxr_error err = {0};
    struct ptx_module *ptx = NULL;
    struct ptx_kernel_layout layout;
    struct jit_object object = {0};
    char *text = big_kernel_text(big_family_find("barriers"), 1600);
    cr_assert_eq(ptx_parse(pxr_str_from(text), "big.ptx", &ptx, &err), PXR_OK, "%s", err.message);
    const struct ptx_func *kernel = ptx_find_func(ptx, "big");
    cr_assert_eq(ptx_layout_kernel(ptx, kernel, &layout, &err), PXR_OK, "%s", err.message);
    struct jit_request request = {.module = ptx,
                                  .kernel = kernel,
                                  .layout = &layout,
                                  .variant = {.collapse = PXR_COLLAPSE_AUTO}};
    cr_assert_eq(jit_compile_request(&request, &object, &err), PXR_OK, "%s", err.message);
    cr_expect_not_null(strstr(object.explanation, "accesses stay: there are too many"), "%s",
                       object.explanation);
    jit_object_fini(&object);
    ptx_layout_fini(&layout);
    ptx_module_destroy(ptx);
    free(text);
}
