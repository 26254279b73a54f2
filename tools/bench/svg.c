/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws a chart as SVG. Names stand above their bars and numbers behind them, so that both can be
 * read on a phone.
 */
#include "tools/bench/svg.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tools/bench/html.h"
#include "tools/bench/scale.h"
#include "util/outside_text.h"

#define WIDTH        420.0
#define LEFT         6.0
#define NUMBER_WIDTH 74.0 /* behind the longest bar */
#define NAME_LENGTH  52   /* characters of a group's name that fit */
#define NAME_HEIGHT  19.0
#define BAR_HEIGHT   13.0
#define BAR_STEP     16.0
#define GROUP_GAP    8.0
#define AXIS_HEIGHT  34.0
#define TOP          4.0
#define LOG_RATIO    60.0 /* bars that differ more are not visible beside each other */

#define LINES_HEIGHT 260.0
#define LINES_LEFT   44.0
#define LINES_RIGHT  14.0

static void open_picture(FILE *file, const struct chart *chart, double height)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" role=\"img\"",
            WIDTH, height);
    fputs(" aria-label=\"", file);
    html_text(file, chart->title);
    fputs("\">\n", file);
}

/* ---- bars ---- */

static double total_of(const struct chart *chart, unsigned group)
{
    double total = 0;
    for (unsigned i = 0; i < chart->series_count; i++) {
        const struct chart_value *value = chart_get(chart, group, i);
        total += value ? value->value : 0;
    }
    return total;
}

/* What must fit: of stacks the sums, of others the spread. */
static void find_range(const struct chart *chart, double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (unsigned i = 0; i < chart->group_count; i++)
        for (unsigned j = 0; j < chart->series_count; j++) {
            const struct chart_value *value = chart_get(chart, i, j);
            if (!value)
                continue;
            double high = chart->kind == CHART_STACKS ? total_of(chart, i) : value->high;
            *most = fmax(*most, high);
            if (value->value > 0)
                *least = fmin(*least, fmin(value->value, value->low > 0 ? value->low : INFINITY));
        }
    if (!(*most > 0))
        *most = *least = 1;
}

static struct scale scale_of(const struct chart *chart, double begin, double end)
{
    double least, most;
    find_range(chart, &least, &most);
    if (chart->is_ratio) {
        least = fmin(least, 1);
        most = fmax(most, 1);
    }
    bool is_log = chart->kind == CHART_BARS && most > LOG_RATIO * least;
    return is_log ? scale_log(least, most, begin, end) : scale_linear(most, begin, end);
}

/* Lines at round numbers, and what they are below. */
static void write_axis(FILE *file, const struct chart *chart, const struct scale *scale,
                       double bottom)
{
    for (unsigned i = 0; i < scale->tick_count; i++) {
        double x = scale_at(scale, scale->ticks[i]);
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, TOP, bottom);
        fprintf(file, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%g</text>\n",
                x, bottom + 14, i == 0 ? "start" : "middle", scale->ticks[i]);
    }
    fprintf(file, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">", LEFT, bottom + 29);
    html_text(file, chart->unit);
    fprintf(file, "%s</text>\n", scale->is_log ? ", logarithmic" : "");
}

static void write_number(FILE *file, double x, double y, double number)
{
    char text[CHART_NUMBER_BYTES];
    chart_number(number, text);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">%s</text>\n", x + 5, y + BAR_HEIGHT - 2, text);
}

static void write_bar(FILE *file, unsigned series, double from, double to, double y)
{
    fprintf(file,
            "<rect class=\"bar c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
            series, from, y, fmax(to - from, 0.8), BAR_HEIGHT);
}

static void write_spread(FILE *file, const struct scale *scale, const struct chart_value *value,
                         double y)
{
    double low = scale_at(scale, value->low), high = scale_at(scale, value->high);
    double middle = y + BAR_HEIGHT / 2;
    if (high - low >= 1)
        fprintf(file, "<path class=\"spread\" d=\"M%.1f %.1fH%.1fM%.1f %.1fv6M%.1f %.1fv6\"/>\n",
                low, middle, high, low, middle - 3, high, middle - 3);
}

/* Gives where the next group begins. */
static double write_group(FILE *file, const struct chart *chart, unsigned group,
                          const struct scale *scale, double y)
{
    char *name = text_shortened(chart->group_names[group], NAME_LENGTH);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">", LEFT, y + NAME_HEIGHT - 5);
    html_text(file, name);
    fputs("</text>\n", file);
    free(name);
    y += NAME_HEIGHT;
    for (unsigned i = 0; i < chart->series_count; i++) {
        const struct chart_value *value = chart_get(chart, group, i);
        if (!value)
            continue;
        // Where ratios are logarithms, bars go from 1 to the left and to the right.
        double begin = scale_at(scale, chart->is_ratio && scale->is_log ? 1 : 0);
        double end = scale_at(scale, value->value);
        write_bar(file, i, fmin(begin, end), fmax(begin, end), y);
        write_spread(file, scale, value, y);
        write_number(file, fmax(begin, fmax(end, scale_at(scale, value->high))), y, value->value);
        y += BAR_STEP;
    }
    return y + GROUP_GAP;
}

static double write_stack(FILE *file, const struct chart *chart, unsigned group,
                          const struct scale *scale, double y)
{
    char *name = text_shortened(chart->group_names[group], NAME_LENGTH);
    fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">", LEFT, y + NAME_HEIGHT - 5);
    html_text(file, name);
    fputs("</text>\n", file);
    free(name);
    y += NAME_HEIGHT;
    double sum = 0;
    for (unsigned i = 0; i < chart->series_count; i++) {
        const struct chart_value *value = chart_get(chart, group, i);
        if (!value || value->value <= 0)
            continue;
        write_bar(file, i, scale_at(scale, sum), scale_at(scale, sum + value->value), y);
        sum += value->value;
    }
    write_number(file, scale_at(scale, sum), y, sum);
    return y + BAR_STEP + GROUP_GAP;
}

/* Groups without a number are left out. */
static bool has_number(const struct chart *chart, unsigned group)
{
    for (unsigned i = 0; i < chart->series_count; i++)
        if (chart_get(chart, group, i))
            return true;
    return false;
}

static double height_of_bars(const struct chart *chart)
{
    double height = TOP;
    for (unsigned i = 0; i < chart->group_count; i++) {
        unsigned bars = 0;
        for (unsigned j = 0; j < chart->series_count; j++)
            bars += chart_get(chart, i, j) != NULL;
        if (bars > 0)
            height += NAME_HEIGHT + GROUP_GAP + BAR_STEP * (chart->kind == CHART_STACKS ? 1 : bars);
    }
    return height;
}

static void write_bars(FILE *file, const struct chart *chart)
{
    double bottom = height_of_bars(chart);
    struct scale scale = scale_of(chart, LEFT, WIDTH - NUMBER_WIDTH);
    open_picture(file, chart, bottom + AXIS_HEIGHT);
    write_axis(file, chart, &scale, bottom);
    double y = TOP;
    for (unsigned i = 0; i < chart->group_count; i++)
        if (has_number(chart, i))
            y = chart->kind == CHART_STACKS ? write_stack(file, chart, i, &scale, y)
                                            : write_group(file, chart, i, &scale, y);
    fputs("</svg>\n", file);
}

/* ---- lines ---- */

struct plane {
    struct scale x;
    struct scale y;
};

static double number_of(const struct chart *chart, unsigned group)
{
    return strtod(chart->group_names[group], NULL);
}

/* By powers of two if the last number is far from the first: 1, 2, 4, … stand equally far apart. */
static double place_of(const struct chart *chart, unsigned group)
{
    double number = number_of(chart, group);
    bool is_far = number_of(chart, chart->group_count - 1) > 4 * number_of(chart, 0);
    return is_far ? log2(fmax(number, 1)) : number;
}

static struct plane plane_of(const struct chart *chart)
{
    double bottom = LINES_HEIGHT - AXIS_HEIGHT;
    double first = place_of(chart, 0), last = place_of(chart, chart->group_count - 1);
    return (struct plane){.x = {.from = first,
                                .to = last > first ? last : first + 1,
                                .begin = LINES_LEFT + 8,
                                .end = WIDTH - LINES_RIGHT},
                          .y = scale_of(chart, bottom, TOP + 8)};
}

static void write_plane(FILE *file, const struct chart *chart, const struct plane *plane)
{
    for (unsigned i = 0; i < plane->y.tick_count; i++) {
        double y = scale_at(&plane->y, plane->y.ticks[i]);
        fprintf(file, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", LINES_LEFT, y,
                WIDTH - LINES_RIGHT);
        fprintf(file, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                LINES_LEFT - 5, y + 4, plane->y.ticks[i]);
    }
    for (unsigned i = 0; i < chart->group_count; i++) {
        fprintf(file, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                scale_at(&plane->x, place_of(chart, i)), LINES_HEIGHT - AXIS_HEIGHT + 14);
        html_text(file, chart->group_names[i]);
        fputs("</text>\n", file);
    }
    fprintf(file, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\">", LINES_LEFT, LINES_HEIGHT - 4);
    html_text(file, chart->unit);
    fputs(", over: ", file);
    html_text(file, chart->groups);
    fputs("</text>\n", file);
}

static void write_curve(FILE *file, const struct chart *chart, unsigned series,
                        const struct plane *plane)
{
    /* Not by colour alone. */
    static const char *const dashes[] = {"none", "7 4", "2 4", "9 3 2 3"};
    fprintf(file, "<path class=\"curve c%u\" stroke-dasharray=\"%s\" d=\"", series,
            dashes[series % 4]);
    const char *command = "M";
    for (unsigned i = 0; i < chart->group_count; i++) {
        const struct chart_value *value = chart_get(chart, i, series);
        if (!value)
            continue;
        fprintf(file, "%s%.1f %.1f", command, scale_at(&plane->x, place_of(chart, i)),
                scale_at(&plane->y, value->value));
        command = "L";
    }
    fputs("\"/>\n", file);
    for (unsigned i = 0; i < chart->group_count; i++) {
        const struct chart_value *value = chart_get(chart, i, series);
        if (value)
            fprintf(file, "<circle class=\"bar c%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"/>\n", series,
                    scale_at(&plane->x, place_of(chart, i)), scale_at(&plane->y, value->value));
    }
}

static void write_lines(FILE *file, const struct chart *chart)
{
    struct plane plane = plane_of(chart);
    open_picture(file, chart, LINES_HEIGHT);
    write_plane(file, chart, &plane);
    for (unsigned i = 0; i < chart->series_count; i++)
        write_curve(file, chart, i, &plane);
    fputs("</svg>\n", file);
}

void svg_write_chart(FILE *file, const struct chart *chart)
{
    if (chart->kind == CHART_LINES)
        write_lines(file, chart);
    else
        write_bars(file, chart);
}
