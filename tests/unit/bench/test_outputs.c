/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tools/bench/outputs.h"

static struct output make(const char *text)
{
    return (struct output){.text = strdup(text), .size = strlen(text)};
}

/* The line in which `other` differs after the program printed `first` and `again` in one setting.
 */
static size_t difference(const char *first, const char *again, const char *other, bool *is_number)
{
    struct outputs outputs;
    struct output second = make(again), third = make(other);
    outputs_init(&outputs, make(first));
    outputs_learn(&outputs, &second);
    size_t line = outputs.has_other_length ? 1000 : outputs_difference(&outputs, &third, is_number);
    outputs_free(&outputs);
    output_free(&second);
    output_free(&third);
    return line;
}

Test(outputs, the_line_that_differs_is_named)
{
    bool is_number;
    cr_expect_eq(difference("a\nb\nc\n", "a\nb\nc\n", "a\nb\nc\n", &is_number), 0);
    cr_expect_eq(difference("a\nb\nc\n", "a\nb\nc\n", "a\nx\nc\n", &is_number), 2);
    cr_expect_not(is_number);
    cr_expect_eq(difference("a\nb\nc\n", "a\nb\nc\n", "a\nb\n", &is_number), 3, "one lacks");
    cr_expect_eq(difference("a\nb\n", "a\nb\n", "a\nb\nc\n", &is_number), 3, "one too many");
    cr_expect_eq(difference("", "", "", &is_number), 0);
    cr_expect_eq(difference("", "", "x", &is_number), 1);
    cr_expect_eq(difference("a\nb", "a\nb", "a\nbb", &is_number), 2, "no line end");
}

Test(outputs, lines_that_change_by_themselves_do_not_count)
{
    bool is_number;
    const char *first = "sum 5\ntime 12 ms\nPASSED\n", *again = "sum 5\ntime 11 ms\nPASSED\n";
    cr_expect_eq(difference(first, again, "sum 5\ntime 99 ms\nPASSED\n", &is_number), 0);
    cr_expect_eq(difference(first, again, "sum 6\ntime 99 ms\nPASSED\n", &is_number), 1);
    cr_expect(is_number, "it is the same but for a number");
    cr_expect_eq(difference(first, again, "sum 5\ntime 99 ms\nFAILED\n", &is_number), 3);
    cr_expect_not(is_number);
    cr_expect_eq(difference("a\n", "a\nb\n", "a\n", &is_number), 1000, "another length");
}

Test(outputs, numbers_of_other_lengths_are_numbers)
{
    bool is_number;
    cr_expect_eq(difference("x 9.5\n", "x 9.5\n", "x 10.25\n", &is_number), 1);
    cr_expect(is_number);
    cr_expect_eq(difference("x 9.5\n", "x 9.5\n", "x 9.\n", &is_number), 1);
    cr_expect_not(is_number);
}
