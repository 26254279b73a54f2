/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings in what the program itself does: at the call of the API that is under way.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_CALL_FINDING_H
#define PTXRUN_CUDART_CORE_CHECK_CALL_FINDING_H

#include <stdbool.h>

#include "cudart/core/base/host_frames.h"
#include "cudart/core/check/findings.h"

/* frames: those of the calling thread. access: as in struct crt_finding. is_refused: the function
 * returns an error for it. */
void crt_call_finding_add(enum crt_finding_kind kind, const char *access, const char *where,
                          const struct crt_frames *frames, bool is_refused);

#endif
