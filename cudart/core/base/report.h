/* SPDX-License-Identifier: Apache-2.0
 *
 * Sends sentences about failures to the log, or to a caller that wants them as values.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_REPORT_H
#define PTXRUN_CUDART_CORE_BASE_REPORT_H

#include "util/error.h"

/* Logs the error, or copies it to the calling thread's target of reports. */
void crt_report_error(const struct pxr_error *error);

/* Sends the calling thread's reports to *target until the next call; NULL: to the log. The first
 * report stays. Returns the previous target. */
struct pxr_error *crt_report_redirect(struct pxr_error *target);

#endif
