/* SPDX-License-Identifier: Apache-2.0
 *
 * --check=api: objects that are used where another context's are needed. Without that check nothing
 * happens. The calling thread is in the API function that is named.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_CONTEXT_REPORT_H
#define PTXRUN_CUDART_CORE_STREAMS_CONTEXT_REPORT_H

#include "cudart/core/base/result.h"

struct crt_context;

CRT_API_BEGIN

/* noun: a literal, as in "event"; of `owner`, used with what is of `user`. */
void crt_report_wrong_context(const char *noun, const struct crt_context *owner,
                              const struct crt_context *user);

CRT_API_END

#endif
