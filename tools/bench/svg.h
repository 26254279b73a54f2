/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws a chart as SVG inside a page of html.h, whose style it uses.
 */
#ifndef PTXRUN_TOOLS_BENCH_SVG_H
#define PTXRUN_TOOLS_BENCH_SVG_H

#include <stdio.h>

#include "tools/bench/chart.h"

/* The chart has at least one number. */
void svg_write_chart(FILE *file, const struct chart *chart);

#endif
