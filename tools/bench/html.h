/* SPDX-License-Identifier: Apache-2.0
 *
 * A page that needs nothing but itself, for screens of all widths, bright or dark. It is XML, too.
 */
#ifndef PTXRUN_TOOLS_BENCH_HTML_H
#define PTXRUN_TOOLS_BENCH_HTML_H

#include <stdio.h>

#include "tools/bench/chart.h"

void html_open(FILE *file, const char *title);
void html_close(FILE *file);

/* As text of an element or of an attribute in double quotes. */
void html_text(FILE *file, const char *text);

void html_heading(FILE *file, const char *text);
void html_paragraph(FILE *file, const char *text);

/* A title that shows the text, lines as they are, when it is opened. */
void html_details(FILE *file, const char *title, const char *text);

/* The picture with its title, and the numbers beside it. Nothing if there are none. */
void html_chart(FILE *file, const struct chart *chart);

/* A table: each cell is text; those behind the first column are numbers. */
void html_open_table(FILE *file, const char *const *columns, unsigned count);
void html_cell(FILE *file, unsigned column, const char *text);
void html_end_row(FILE *file);
void html_close_table(FILE *file);

#endif
