/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings in what the program itself does.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_CALL_FINDING_H
#define PTXRUN_CUDART_CORE_CHECK_CALL_FINDING_H

#include "cudart/core/base/host_frames.h"
#include "cudart/core/check/findings.h"

/* Adds the finding, whose place and calls are those of the frames. */
void crt_call_finding_add(const struct crt_finding *finding, const struct crt_frames *frames);

#endif
