/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a picture: some series, each with a number for every group.
 */
#ifndef PTXRUN_TOOLS_BENCH_CHART_H
#define PTXRUN_TOOLS_BENCH_CHART_H

#include <stdbool.h>

#include "tools/bench/samples.h"

enum chart_kind {
    CHART_BARS,   /* one for each series, below each other, by group */
    CHART_STACKS, /* one for each group, of all series */
    CHART_LINES   /* a line for each series; groups are numbers, in rising order */
};

#define CHART_MAX_SERIES 8 /* as many colours as can be told apart */

/* value is NAN where there is none. low < high: the spread. */
struct chart_value {
    double value;
    double low;
    double high;
};

struct chart {
    enum chart_kind kind;
    const char *title;
    const char *note;   /* how to read it; "": no more than the title says */
    const char *unit;   /* "ms" */
    const char *groups; /* what they are: "kernel" */
    bool is_ratio;      /* numbers say how many times as much: 1 is the middle */
    char *series_names[CHART_MAX_SERIES];
    unsigned series_count;
    char **group_names;
    unsigned group_count;
    struct chart_value *values; /* [group * series_count + series] */
};

/* The texts outlive the chart. */
struct chart chart_make(enum chart_kind kind, const char *title, const char *unit,
                        const char *groups);
void chart_free(struct chart *chart);

/* All series come before the first group. One too many is left out. */
void chart_add_series(struct chart *chart, const char *name);
void chart_add_group(struct chart *chart, const char *name);

/* Of the group that was added last. */
void chart_set(struct chart *chart, unsigned series, double value);
void chart_set_summary(struct chart *chart, unsigned series, struct samples_summary summary,
                       double divisor);

/* NULL: there is no number. */
const struct chart_value *chart_get(const struct chart *chart, unsigned group, unsigned series);

/* How people read such numbers: three digits, no exponent. */
#define CHART_NUMBER_BYTES 32
void chart_number(double number, char text[CHART_NUMBER_BYTES]);

#endif
