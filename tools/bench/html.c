/* SPDX-License-Identifier: Apache-2.0
 *
 * A page that needs nothing but itself.
 */
#include "tools/bench/html.h"

#include <stdbool.h>
#include <stdint.h>

#include "tools/bench/svg.h"
#include "util/outside_text.h"

/* Colours: Okabe and Ito's, which can be told apart without seeing red or green; brighter ones on
 * the dark page. Wide tables move in their box, never the page. */
static const char style[] =
    ":root{color-scheme:light dark;--ground:#fff;--text:#1b1b1b;--faint:#5c5c5c;--line:#d4d4d4;"
    "--box:#f5f5f5;--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#b58900;--c5:#56b4e9;"
    "--c6:#6b6b6b;--c7:#7a4fbf}\n"
    "@media (prefers-color-scheme:dark){:root{--ground:#141414;--text:#ececec;--faint:#a6a6a6;"
    "--line:#3c3c3c;--box:#1f1f1f;--c0:#56b4e9;--c1:#ff8a4c;--c2:#2bc79b;--c3:#e6a3cb;--c4:#f0d442;"
    "--c5:#8fd0ff;--c6:#b0b0b0;--c7:#b79cf0}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:70rem;padding:0 1rem 3rem;background:var(--ground);"
    "color:var(--text);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;line-height:1.25}h2{font-size:1.2rem;margin:2.5rem 0 .5rem}\n"
    "p{max-width:45rem}\n"
    "figure{margin:1.5rem 0;display:grid;gap:.5rem 2rem;"
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),1fr))}\n"
    "figure>*{min-width:0}figcaption,ul.legend{grid-column:1/-1}\n"
    "figcaption b{display:block}figcaption{color:var(--faint)}figcaption b{color:var(--text)}\n"
    "ul.legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;list-style:none;margin:0;padding:0;"
    "font-size:.9rem}\n"
    "ul.legend i{display:inline-block;width:.8em;height:.8em;margin-right:.4em;"
    "background:var(--c)}\n"
    "svg{display:block;width:100%;max-width:34rem;height:auto}\n"
    "svg text{fill:var(--text);font:13px system-ui,sans-serif}svg .tick{fill:var(--faint);"
    "font-size:11.5px}\n"
    "svg .grid{stroke:var(--line)}svg .spread{stroke:var(--text);stroke-width:1.2;fill:none}\n"
    "svg .bar{fill:var(--c)}svg .curve{stroke:var(--c);stroke-width:2.2;fill:none}\n"
    ".c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}.c3{--c:var(--c3)}"
    ".c4{--c:var(--c4)}.c5{--c:var(--c5)}.c6{--c:var(--c6)}.c7{--c:var(--c7)}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;font-size:.85rem;line-height:1.3}\n"
    "th,td{padding:.25rem .6rem;text-align:right;white-space:nowrap;vertical-align:top;"
    "border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}\n"
    "th:first-child,td:first-child{text-align:left;white-space:normal;min-width:10.5rem;"
    "max-width:18rem;padding-left:0;overflow-wrap:break-word}\n"
    "td small{color:var(--faint);display:block}\n"
    "details{margin:.4rem 0}summary{cursor:pointer}\n"
    "pre{background:var(--box);padding:.7rem;font-size:.8rem;line-height:1.4;"
    "white-space:pre-wrap;overflow-wrap:anywhere;margin:.4rem 0}\n";

/* Characters that XML does not have at all become the one for such. */
static bool is_forbidden(uint32_t character)
{
    return (character < ' ' && character != '\n' && character != '\t') || character == 0x7f ||
           character == 0xfffe || character == 0xffff;
}

void html_text(FILE *file, const char *text)
{
    while (*text) {
        uint32_t character;
        size_t length = text_character(text, &character);
        if (character == '<')
            fputs("&lt;", file);
        else if (character == '>')
            fputs("&gt;", file);
        else if (character == '&')
            fputs("&amp;", file);
        else if (character == '"')
            fputs("&quot;", file);
        else if (is_forbidden(character) || (character == 0xfffd && length == 1))
            fputs("\xef\xbf\xbd", file); // U+FFFD
        else
            fwrite(text, 1, length, file);
        text += length;
    }
}

/* <tag>text</tag> */
static void write_element(FILE *file, const char *tag, const char *text)
{
    fprintf(file, "<%s>", tag);
    html_text(file, text);
    fprintf(file, "</%s>\n", tag);
}

void html_open(FILE *file, const char *title)
{
    fputs("<!DOCTYPE html>\n"
          "<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n"
          "<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
          file);
    write_element(file, "title", title);
    fprintf(file, "<style>\n%s</style>\n</head>\n<body>\n", style);
    write_element(file, "h1", title);
}

void html_close(FILE *file)
{
    fputs("</body>\n</html>\n", file);
}

void html_heading(FILE *file, const char *text)
{
    write_element(file, "h2", text);
}

void html_paragraph(FILE *file, const char *text)
{
    write_element(file, "p", text);
}

void html_details(FILE *file, const char *title, const char *text)
{
    fputs("<details>", file);
    write_element(file, "summary", title);
    write_element(file, "pre", text);
    fputs("</details>\n", file);
}

/* ---- tables ---- */

void html_open_table(FILE *file, const char *const *columns, unsigned count)
{
    fputs("<div class=\"scroll\"><table>\n<thead><tr>", file);
    for (unsigned i = 0; i < count; i++)
        write_element(file, "th", columns[i]);
    fputs("</tr></thead>\n<tbody>\n", file);
}

void html_cell(FILE *file, unsigned column, const char *text)
{
    if (column == 0)
        fputs("<tr>", file);
    write_element(file, "td", text);
}

void html_end_row(FILE *file)
{
    fputs("</tr>\n", file);
}

void html_close_table(FILE *file)
{
    fputs("</tbody>\n</table></div>\n", file);
}

/* ---- charts ---- */

static void write_value(FILE *file, const struct chart_value *value)
{
    char text[CHART_NUMBER_BYTES], low[CHART_NUMBER_BYTES], high[CHART_NUMBER_BYTES];
    if (!value) {
        fputs("<td>–</td>", file);
        return;
    }
    chart_number(value->value, text);
    fprintf(file, "<td>%s", text);
    if (value->low < value->high) {
        chart_number(value->low, low);
        chart_number(value->high, high);
        fprintf(file, "<small>%s–%s</small>", low, high);
    }
    fputs("</td>", file);
}

static void write_numbers(FILE *file, const struct chart *chart)
{
    const char *columns[CHART_MAX_SERIES + 1] = {chart->groups};
    for (unsigned i = 0; i < chart->series_count; i++)
        columns[i + 1] = chart->series_names[i];
    html_open_table(file, columns, chart->series_count + 1);
    for (unsigned i = 0; i < chart->group_count; i++) {
        html_cell(file, 0, chart->group_names[i]);
        for (unsigned j = 0; j < chart->series_count; j++)
            write_value(file, chart_get(chart, i, j));
        html_end_row(file);
    }
    html_close_table(file);
}

static void write_legend(FILE *file, const struct chart *chart)
{
    fputs("<ul class=\"legend\">", file);
    for (unsigned i = 0; i < chart->series_count; i++) {
        fprintf(file, "<li class=\"c%u\"><i></i>", i);
        html_text(file, chart->series_names[i]);
        fputs("</li>", file);
    }
    fputs("</ul>\n", file);
}

static bool is_empty(const struct chart *chart)
{
    for (unsigned i = 0; i < chart->group_count; i++)
        for (unsigned j = 0; j < chart->series_count; j++)
            if (chart_get(chart, i, j))
                return false;
    return true;
}

void html_chart(FILE *file, const struct chart *chart)
{
    if (is_empty(chart))
        return;
    fputs("<figure>\n<figcaption>", file);
    write_element(file, "b", chart->title);
    html_text(file, chart->note);
    fputs("</figcaption>\n", file);
    if (chart->series_count > 1 || chart->kind == CHART_LINES)
        write_legend(file, chart);
    svg_write_chart(file, chart);
    write_numbers(file, chart);
    fputs("</figure>\n", file);
}
