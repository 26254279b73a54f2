/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes CSV (RFC 4180, with the line ends of the system).
 */
#ifndef PTXRUN_TOOLS_BENCH_CSV_H
#define PTXRUN_TOOLS_BENCH_CSV_H

#include <stdio.h>

struct csv {
    FILE *file;
    unsigned fields; /* of this line */
};

void csv_text(struct csv *csv, const char *text);
void csv_number(struct csv *csv, double number);
void csv_end_line(struct csv *csv);

#endif
