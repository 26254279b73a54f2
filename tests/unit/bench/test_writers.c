/* SPDX-License-Identifier: Apache-2.0
 *
 * Text from outside in JSON, CSV, HTML and SVG.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tools/bench/csv.h"
#include "tools/bench/html.h"
#include "tools/bench/svg.h"
#include "util/json.h"
#include "util/outside_text.h"

static char *written;
static size_t written_size;

static FILE *begin(void)
{
    return open_memstream(&written, &written_size);
}

static void expect_written(FILE *file, const char *expected)
{
    fclose(file);
    cr_expect_str_eq(written, expected);
    free(written);
}

/* ---- characters ---- */

Test(text, characters_of_all_lengths)
{
    static const struct {
        const char *text;
        uint32_t character;
        size_t length;
    } cases[] = {{"a", 'a', 1},
                 {"\xc3\xa9", 0xe9, 2},
                 {"\xe2\x80\xa6", 0x2026, 3},
                 {"\xf0\x9f\x98\x80", 0x1f600, 4},
                 {"\xff", 0xfffd, 1},
                 {"\xc3", 0xfffd, 1},
                 {"\xe2\x80", 0xfffd, 1},
                 {"\xc0\x80", 0xfffd, 1},
                 {"\xe0\x80\x80", 0xfffd, 1},
                 {"\xed\xa0\x80", 0xfffd, 1},
                 {"\xf4\x90\x80\x80", 0xfffd, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t character;
        cr_expect_eq(text_character(cases[i].text, &character), cases[i].length, "case %zu", i);
        cr_expect_eq(character, cases[i].character, "case %zu", i);
    }
}

Test(text, what_is_too_long_ends_in_an_ellipsis)
{
    static const char *const cases[][2] = {
        {"kernel", "kernel"}, {"kernels", "kerne…"}, {"ééééééé", "ééééé…"}, {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = text_shortened(cases[i][0], 6);
        cr_expect_str_eq(text, cases[i][1]);
        free(text);
    }
}

/* ---- JSON ---- */

Test(json, commas_stand_between_items_only)
{
    FILE *file = begin();
    struct json json = {.file = file};
    json_open_object(&json, NULL);
    json_text(&json, "a", "x");
    json_open_array(&json, "b");
    json_close_array(&json);
    json_open_array(&json, "c");
    json_open_object(&json, NULL);
    json_number(&json, "d", 0.25);
    json_bool(&json, "e", true);
    json_close_object(&json);
    json_open_object(&json, NULL);
    json_null(&json, "f");
    json_close_object(&json);
    json_close_array(&json);
    json_close_object(&json);
    expect_written(file, "{\"a\": \"x\",\n\"b\": [],\n\"c\": [\n{\"d\": 0.25, \"e\": true},\n"
                         "{\"f\": null}]}\n");
}

Test(json, strings_and_numbers_that_need_care)
{
    FILE *file = begin();
    struct json json = {.file = file};
    json_open_array(&json, NULL);
    json_text(&json, NULL, "a\"b\\c\n\x01\xff é");
    json_number(&json, NULL, 1.0 / 0.0);
    json_close_array(&json);
    expect_written(file, "[\"a\\\"b\\\\c\\u000a\\u0001\\ufffd é\",\nnull]\n");
}

/* ---- CSV ---- */

Test(csv, fields_are_quoted_when_they_must_be)
{
    FILE *file = begin();
    struct csv csv = {.file = file};
    csv_text(&csv, "plain name");
    csv_text(&csv, "f<int, 4>(char const*)");
    csv_text(&csv, "say \"x\"");
    csv_text(&csv, "");
    csv_number(&csv, 1.5);
    csv_end_line(&csv);
    csv_text(&csv, "two\nlines");
    csv_end_line(&csv);
    expect_written(file, "plain name,\"f<int, 4>(char const*)\",\"say \"\"x\"\"\",,1.5\n"
                         "\"two\nlines\"\n");
}

/* ---- HTML ---- */

Test(html, names_of_templates_are_text)
{
    FILE *file = begin();
    html_text(file, "void f<a & b>(\"x\")\x01\xff é");
    expect_written(file, "void f&lt;a &amp; b&gt;(&quot;x&quot;)\xef\xbf\xbd\xef\xbf\xbd é");
}

Test(html, a_chart_without_numbers_is_left_out)
{
    FILE *file = begin();
    struct chart chart = chart_make(CHART_BARS, "title", "ms", "kernel");
    chart_add_series(&chart, "series");
    chart_add_group(&chart, "group");
    html_chart(file, &chart);
    chart_free(&chart);
    expect_written(file, "");
}

static unsigned count_of(const char *text, const char *word)
{
    unsigned count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word))
        count++;
    return count;
}

/* ---- charts ---- */

Test(chart, numbers_are_short_and_have_no_exponent)
{
    static const struct {
        double number;
        const char *text;
    } cases[] = {{0, "0"},          {0.00001234, "0.0000123"}, {0.01234, "0.0123"},
                 {0.1234, "0.123"}, {1.234, "1.23"},           {12.34, "12.3"},
                 {123.4, "123"},    {1234567, "1234567"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[CHART_NUMBER_BYTES];
        chart_number(cases[i].number, text);
        cr_expect_str_eq(text, cases[i].text);
    }
}

/* Three groups with two series, of which one number is missing. */
static struct chart make_chart(enum chart_kind kind)
{
    struct chart chart = chart_make(kind, "a <title>", "ms", "threads");
    chart_add_series(&chart, "first");
    chart_add_series(&chart, "second");
    chart_add_group(&chart, "1");
    chart_set(&chart, 0, 100);
    chart_set(&chart, 1, 50);
    chart_add_group(&chart, "2");
    chart_set_summary(&chart, 0, (struct samples_summary){3, 20, 20, 10, 40}, 2);
    chart_add_group(&chart, "4");
    chart_set(&chart, 0, 25);
    chart_set(&chart, 1, 12.5);
    return chart;
}

static const char *draw(enum chart_kind kind)
{
    FILE *file = begin();
    struct chart chart = make_chart(kind);
    svg_write_chart(file, &chart);
    chart_free(&chart);
    fclose(file);
    return written;
}

Test(svg, bars_are_as_long_as_their_numbers)
{
    const char *svg = draw(CHART_BARS);
    double widths[5];
    unsigned count = 0;
    for (const char *at = svg; (at = strstr(at, "<rect")) != NULL && count < 5; at++)
        sscanf(strstr(at, "width="), "width=\"%lf\"", &widths[count++]);
    cr_assert_eq(count_of(svg, "<rect"), 5, "no bar for a number that is missing");
    cr_expect_float_eq(widths[1], widths[0] / 2, 0.2);
    cr_expect_float_eq(widths[2], widths[0] / 10, 0.2);
    cr_expect_float_eq(widths[4], widths[0] / 8, 0.2);
    cr_expect_eq(count_of(svg, "class=\"spread\""), 1, "one has a spread");
    cr_expect_eq(count_of(svg, "a &lt;title&gt;"), 1);
    free(written);
}

Test(svg, a_stack_ends_at_the_sum)
{
    const char *svg = draw(CHART_STACKS);
    double from[2], width[2];
    const char *at = strstr(svg, "<rect");
    for (int i = 0; i < 2; i++, at = strstr(at + 1, "<rect")) {
        sscanf(strstr(at, "x="), "x=\"%lf\"", &from[i]);
        sscanf(strstr(at, "width="), "width=\"%lf\"", &width[i]);
    }
    cr_expect_float_eq(from[1], from[0] + width[0], 0.2);
    cr_expect_float_eq(width[1], width[0] / 2, 0.2);
    cr_expect_eq(count_of(svg, ">150</text>"), 2, "on the axis and behind the bar");
    free(written);
}

Test(svg, lines_have_a_point_for_each_number)
{
    const char *svg = draw(CHART_LINES);
    cr_expect_eq(count_of(svg, "<circle"), 5);
    cr_expect_eq(count_of(svg, "class=\"curve"), 2);
    free(written);
}
