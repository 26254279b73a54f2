/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench table`: results as text, as JSON and as a page.
 */
#ifndef PTXRUN_TOOLS_BENCH_TABLE_REPORT_H
#define PTXRUN_TOOLS_BENCH_TABLE_REPORT_H

#include <stdio.h>

#include "tools/bench/table_measure.h"

/* Ours to the faster compiler's code; 0 if one of them is missing. first: as for table_best. */
double table_ratio(const struct table_result *result, enum table_version first);

void table_print_header(void);
void table_print_result(const struct table_result *result);
void table_print_limits(const struct table_limits *limits);
void table_print_mean(const struct table_result *results, size_t count);
void table_write_json(FILE *file, const struct table_result *results, size_t count);
void table_write_html(FILE *file, const struct table_result *results, size_t count,
                      const struct table_wish *wish);

#endif
