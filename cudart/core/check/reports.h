/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings for programs: one function for each format of --check-format.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_REPORTS_H
#define PTXRUN_CUDART_CORE_CHECK_REPORTS_H

#include <stdio.h>

#include "cudart/core/check/findings.h"

void crt_write_text_report(FILE *file, const struct crt_found *found, size_t count);
void crt_write_json_report(FILE *file, const struct crt_found *found, size_t count);
/* SARIF 2.1.0: what services that show findings beside the source read. */
void crt_write_sarif_report(FILE *file, const struct crt_found *found, size_t count);
/* A suite with a test that has failed for each place, or one that has passed. */
void crt_write_junit_report(FILE *file, const struct crt_found *found, size_t count);

/* compute-sanitizer's XML. */
void crt_write_sanitizer_xml(FILE *file, const struct crt_found *found, size_t count);

/* ---- while the program runs ---- */

void crt_write_text_finding(FILE *file, const struct crt_found *found);

/* In compute-sanitizer's style: a finding; the last lines, of `printed` places. */
void crt_write_sanitizer_finding(FILE *file, const struct crt_found *found);
void crt_write_sanitizer_end(FILE *file, const struct crt_found *found, size_t count,
                             size_t printed);

/* ---- for writers ---- */

/* What XML has no way to write, such as control characters, is a question mark. */
void crt_write_xml_text(FILE *file, const char *text);

/* The source; where that is not known the PTX, or the program. */
const char *crt_report_file(const struct crt_finding *finding);
uint32_t crt_report_line(const struct crt_finding *finding);

/* When the calls were made that a report in compute-sanitizer's form tells. */
const char *crt_report_when(const struct crt_finding *finding);

/* "in scale(float*, int), block (3,0,0), thread (232,0,0)"; "in cudaFree". */
#define CRT_THREAD_TEXT_BYTES 512
const char *crt_report_thread(const struct crt_found *found, char text[CRT_THREAD_TEXT_BYTES]);

#endif
