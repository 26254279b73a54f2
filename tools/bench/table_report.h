/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench table`: results as text and as JSON.
 */
#ifndef PTXRUN_TOOLS_BENCH_TABLE_REPORT_H
#define PTXRUN_TOOLS_BENCH_TABLE_REPORT_H

#include <stdio.h>

#include "tools/bench/table_measure.h"

void table_print_header(void);
void table_print_result(const struct table_result *result);
void table_print_limits(const struct table_limits *limits);
void table_print_mean(const struct table_result *results, size_t count);
void table_write_json(FILE *file, const struct table_result *results, size_t count);

#endif
