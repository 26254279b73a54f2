/* SPDX-License-Identifier: Apache-2.0
 *
 * Where sentences about failures go: to the log, or to a caller who wants them as values.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_REPORT_H
#define PTXRUN_CUDART_CORE_BASE_REPORT_H

#include "util/error.h"

/* Logs the error, or copies it to where the calling thread has redirected reports. */
void crt_report_error(const struct pxr_error *error);

/* Sends the calling thread's reports to *target until the next call; NULL: to the log. The first
 * report stays. Returns what was set before. */
struct pxr_error *crt_report_redirect(struct pxr_error *target);

#endif
