/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/options.h"

Test(options, defaults_of_the_table_are_legal)
{
    for (int id = 0; id < PXR_OPTION_COUNT; id++) {
        struct pxr_error err = {0};
        cr_assert_eq(
            pxr_option_check((enum pxr_option_id)id, pxr_option_table[id].default_text, &err),
            PXR_OK, "%s", err.message);
    }
}

Test(options, illegal_values_are_refused_with_the_option_named)
{
    struct pxr_error err;
    cr_assert_eq(pxr_option_check(PXR_OPTION_THREADS, "-1", &err), PXR_INVALID_ARGUMENT);
    cr_assert(strstr(err.message, "--threads"));
    cr_assert_eq(pxr_option_check(PXR_OPTION_THREADS, "99999999999", &err), PXR_INVALID_ARGUMENT);
    cr_assert_eq(pxr_option_check(PXR_OPTION_MODE, "ji", &err), PXR_INVALID_ARGUMENT);
    cr_assert_eq(pxr_option_check(PXR_OPTION_STATS, "yes", &err), PXR_INVALID_ARGUMENT);
}

Test(options, widths_are_powers_of_two_and_jams_are_small)
{
    struct pxr_error err;
    static const char *const good[] = {"0", "2", "4", "16", "64"};
    static const char *const bad[] = {"1", "3", "128", "-2", "x", "4294967298", "2-64", ""};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect_eq(pxr_option_check(PXR_OPTION_WIDTH, good[i], &err), PXR_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(pxr_option_check(PXR_OPTION_WIDTH, bad[i], &err), PXR_INVALID_ARGUMENT, "%s",
                     bad[i]);
    cr_expect_eq(pxr_option_check(PXR_OPTION_WIDTH, "3", &err), PXR_INVALID_ARGUMENT);
    cr_expect(strstr(err.message, "--width"), "%s", err.message);
    cr_expect(strstr(err.message, "0|2|4"), "%s", err.message);
    for (unsigned jam = 0; jam <= 33; jam++) {
        char text[8];
        snprintf(text, sizeof text, "%u", jam);
        cr_expect_eq(pxr_option_check(PXR_OPTION_JAM, text, &err) == PXR_OK, jam <= 32, "%u", jam);
    }
}

Test(options, vectors_come_from_the_environment)
{
    setenv("PTXRUN_COLLAPSE", "vector", 1);
    setenv("PTXRUN_WIDTH", "8", 1);
    setenv("PTXRUN_JAM", "33", 1);
    const struct pxr_options *options = pxr_options_get();
    cr_expect_eq(options->collapse, PXR_COLLAPSE_VECTOR);
    cr_expect_eq(options->width, 8);
    cr_expect_eq(options->jam, 0, "an illegal jam is the default");
}

Test(options, native_is_the_machines_own_cpu)
{
    cr_expect_str_eq(pxr_option_cpu(), "");
    setenv("PTXRUN_CPU", "native", 1);
    cr_expect_str_eq(pxr_option_cpu(), "");
    setenv("PTXRUN_CPU", "x86-64-v2", 1);
    cr_expect_str_eq(pxr_option_cpu(), "x86-64-v2");
}

Test(options, names_of_collapses_are_the_choices_of_the_option)
{
    char choices[128] = "";
    for (int i = 0; i < PXR_COLLAPSE_COUNT; i++) {
        strcat(choices, i ? "|" : "");
        strcat(choices, pxr_collapse_name((enum pxr_collapse)i));
    }
    cr_expect_str_eq(choices, pxr_option_table[PXR_OPTION_COLLAPSE].metavar);
}

Test(options, loops_over_vectors_are_loops)
{
    cr_expect(pxr_collapse_is_fused(PXR_COLLAPSE_FLAT));
    cr_expect(pxr_collapse_is_fused(PXR_COLLAPSE_HIERARCHICAL));
    cr_expect(pxr_collapse_is_fused(PXR_COLLAPSE_VECTOR));
    cr_expect_not(pxr_collapse_is_fused(PXR_COLLAPSE_PRECISE));
    cr_expect_not(pxr_collapse_is_fused(PXR_COLLAPSE_AUTO));
}

Test(options, text_of_a_collapse_tells_width_and_jam_of_vectors)
{
    char text[PXR_COLLAPSE_TEXT_BYTES];
    pxr_collapse_text(PXR_COLLAPSE_VECTOR, 64, 32, text);
    cr_expect_str_eq(text, "vector 64x32");
    pxr_collapse_text(PXR_COLLAPSE_HIERARCHICAL, 0, 0, text);
    cr_expect_str_eq(text, "hierarchical");
}

Test(options, a_level_is_a_flag_or_one_of_its_words)
{
    struct pxr_error err;
    static const char *const good[] = {"0", "1", "full"};
    static const char *const bad[] = {"2", "ful", "full,", "01", "full|"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect_eq(pxr_option_check(PXR_OPTION_EXPLAIN, good[i], &err), PXR_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(pxr_option_check(PXR_OPTION_EXPLAIN, bad[i], &err), PXR_INVALID_ARGUMENT, "%s",
                     bad[i]);
    cr_expect(pxr_option_is_switch(PXR_OPTION_EXPLAIN));
    cr_expect(pxr_option_is_switch(PXR_OPTION_STATS));
    cr_expect_not(pxr_option_is_switch(PXR_OPTION_THREADS));
}

Test(options, levels_of_explanations_come_from_the_environment)
{
    setenv("PTXRUN_EXPLAIN", "full", 1);
    cr_expect_eq(pxr_options_get()->explain, PXR_EXPLAIN_FULL);
}

Test(options, an_explanation_is_short_if_nobody_asks_for_more)
{
    setenv("PTXRUN_EXPLAIN", "1", 1);
    cr_expect_eq(pxr_options_get()->explain, PXR_EXPLAIN_SHORT);
}

Test(options, a_set_is_a_flag_or_words_of_which_each_counts)
{
    struct pxr_error err;
    static const char *const good[] = {
        "0",   "1",      "race",         "memory,init",       "init,memory,",
        "all", "device", "device:sm_75", "race,device:sm_100"};
    static const char *const bad[] = {"2",
                                      "rac",
                                      ",",
                                      "memory;init",
                                      "memory,,init",
                                      "memory,1",
                                      "device:sm_76",
                                      "device:75",
                                      "device:sm_75,device:sm_80"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect_eq(pxr_option_check(PXR_OPTION_CHECK, good[i], &err), PXR_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(pxr_option_check(PXR_OPTION_CHECK, bad[i], &err), PXR_INVALID_ARGUMENT, "%s",
                     bad[i]);
    cr_expect(pxr_option_is_switch(PXR_OPTION_CHECK));
}

/* What is checked for, as letters. */
static void expect_checks(const char *text, const char *expected)
{
    static const char letters[PXR_CHECK_ALL + 1] = "mrsinad";
    char found[sizeof letters] = "";
    setenv("PTXRUN_CHECK", text, 1);
    for (int i = 0; i < PXR_CHECK_DEVICE_NAMED; i++)
        if (pxr_option_checks((enum pxr_check)i))
            strncat(found, &letters[i], 1);
    cr_expect_str_eq(found, expected, "%s", text);
}

Test(options, nothing_is_checked_that_nobody_asks_for)
{
    expect_checks("0", "");
}

Test(options, accesses_to_memory_are_what_is_checked_first)
{
    expect_checks("1", "m");
}

Test(options, checks_may_be_combined)
{
    expect_checks("init,memory,api", "mia");
}

Test(options, all_checks_have_one_word)
{
    expect_checks("all", "mrsinad");
}

Test(options, a_device_may_be_named)
{
    expect_checks("device:sm_100,race", "rd");
    cr_expect_eq(pxr_option_checked_device(), 9); /* auto is the first choice, 6.0 the second */
}

Test(options, no_device_may_be_named)
{
    expect_checks("device", "d");
    cr_expect_eq(pxr_option_checked_device(), -1);
}

Test(options, sizes_are_numbers_with_a_unit)
{
    struct pxr_error err;
    static const char *const good[] = {"1048576", "512M", "8g", "1T"};
    static const char *const bad[] = {"1X", "-1", "0", "M", "8GB", " 8G", "99999999999T"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert_eq(pxr_option_check(PXR_OPTION_DEVICE_MEMORY, good[i], &err), PXR_OK, "%s",
                     good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(pxr_option_check(PXR_OPTION_DEVICE_MEMORY, bad[i], &err), PXR_INVALID_ARGUMENT,
                     "%s", bad[i]);
    setenv("PTXRUN_DEVICE_MEMORY", "3M", 1);
    cr_assert_eq(pxr_options_get()->device_memory, 3 << 20);
}

Test(options, every_word_of_a_list_is_checked)
{
    struct pxr_error err;
    cr_assert_eq(pxr_option_check(PXR_OPTION_DUMP, "ptx,ir,barriers,collapse,opt,asm", &err),
                 PXR_OK);
    cr_assert_eq(pxr_option_check(PXR_OPTION_DUMP, "asm", &err), PXR_OK);
    cr_assert_eq(pxr_option_check(PXR_OPTION_DUMP, "ptx,llvm,asm", &err), PXR_INVALID_ARGUMENT);
    cr_assert(strstr(err.message, "not 'llvm'"), "%s", err.message);
    cr_assert_eq(pxr_option_check(PXR_OPTION_DUMP, "ptx,,asm", &err), PXR_INVALID_ARGUMENT);
    cr_assert_eq(pxr_option_check(PXR_OPTION_DUMP, "pt", &err), PXR_INVALID_ARGUMENT);
}

Test(options, values_come_from_the_environment)
{
    setenv("PTXRUN_THREADS", "3", 1);
    setenv("PTXRUN_MODE", "normal", 1);
    setenv("PTXRUN_STATS", "1", 1);
    const struct pxr_options *options = pxr_options_get();
    cr_assert_eq(options->threads, 3);
    cr_assert_eq(options->mode, PXR_MODE_NORMAL);
    cr_assert(options->stats);
    cr_assert_str_eq(options->dump_dir, ".");
}

Test(options, an_illegal_variable_falls_back_to_the_default)
{
    setenv("PTXRUN_THREADS", "many", 1);
    cr_assert_eq(pxr_options_get()->threads, 0);
}

Test(options, names_are_found_exactly)
{
    cr_assert_eq(pxr_option_find("threads", 7), PXR_OPTION_THREADS);
    cr_assert_eq(pxr_option_find("thread", 6), PXR_OPTION_COUNT);
    cr_assert_eq(pxr_option_find("threads=3", 7), PXR_OPTION_THREADS);
}

Test(options, lists_contain_whole_words_only)
{
    cr_assert(pxr_list_contains("ptx,ir", "ir"));
    cr_assert(pxr_list_contains("ptx", "ptx"));
    cr_assert_not(pxr_list_contains("ptx,irx", "ir"));
    cr_assert_not(pxr_list_contains("", "ir"));
}
