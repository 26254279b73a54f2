/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of --check-report: written anew with each place that is found, so that a program which
 * a signal ends leaves one, and once more at the end, with all counts.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_REPORT_FILE_H
#define PTXRUN_CUDART_CORE_CHECK_REPORT_FILE_H

#include <stdio.h>

#include "cudart/core/check/findings.h"

/* The report as it is so far: only into files, not into pipes and devices, and not with each of
 * very many places. One call at a time. */
void crt_report_write_so_far(const struct crt_found *found, size_t count);

/* The last one. What cannot be written is logged. */
void crt_report_write(const struct crt_found *found, size_t count);

/* Writes a file, or appends to it (mode, as fopen's). What cannot be written is logged. */
typedef void (*crt_report_writer)(FILE *file, const struct crt_found *found, size_t count);
void crt_report_write_file(const char *name, const char *mode, crt_report_writer writer,
                           const struct crt_found *found, size_t count);

#endif
