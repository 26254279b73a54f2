/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a picture.
 */
#include "tools/bench/chart.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chart chart_make(enum chart_kind kind, const char *title, const char *unit,
                        const char *groups)
{
    return (struct chart){.kind = kind, .title = title, .note = "", .unit = unit, .groups = groups};
}

void chart_free(struct chart *chart)
{
    for (unsigned i = 0; i < chart->series_count; i++)
        free(chart->series_names[i]);
    for (unsigned i = 0; i < chart->group_count; i++)
        free(chart->group_names[i]);
    free(chart->group_names);
    free(chart->values);
}

void chart_add_series(struct chart *chart, const char *name)
{
    if (chart->series_count < CHART_MAX_SERIES)
        chart->series_names[chart->series_count++] = strdup(name);
}

void chart_add_group(struct chart *chart, const char *name)
{
    unsigned count = chart->group_count + 1;
    chart->group_names = realloc(chart->group_names, count * sizeof(char *));
    chart->group_names[chart->group_count] = strdup(name);
    chart->values =
        realloc(chart->values, (size_t)count * chart->series_count * sizeof chart->values[0]);
    for (unsigned i = 0; i < chart->series_count; i++)
        chart->values[chart->group_count * chart->series_count + i].value = NAN;
    chart->group_count = count;
}

static void set(struct chart *chart, unsigned series, struct chart_value value)
{
    if (series < chart->series_count)
        chart->values[(chart->group_count - 1) * chart->series_count + series] = value;
}

void chart_set(struct chart *chart, unsigned series, double value)
{
    set(chart, series, (struct chart_value){value, value, value});
}

void chart_set_summary(struct chart *chart, unsigned series, struct samples_summary summary,
                       double divisor)
{
    if (summary.count > 0 && divisor > 0)
        set(chart, series,
            (struct chart_value){summary.value / divisor, summary.min / divisor,
                                 summary.max / divisor});
}

const struct chart_value *chart_get(const struct chart *chart, unsigned group, unsigned series)
{
    const struct chart_value *value = &chart->values[group * chart->series_count + series];
    return isfinite(value->value) ? value : NULL;
}

void chart_number(double number, char text[CHART_NUMBER_BYTES])
{
    double size = fabs(number);
    int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    if (size > 0 && size < 0.1)
        decimals = (int)fmin(2 - floor(log10(size)), 9);
    snprintf(text, CHART_NUMBER_BYTES, "%.*f", size > 0 ? decimals : 0, number);
}
