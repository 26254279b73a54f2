/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that are findings of --check=sync.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_MEETING_CALLS_H
#define PTXRUN_CUDART_CORE_CODE_MEETING_CALLS_H

#include "cudart/core/check/findings.h"
#include "scheduler/scheduler.h"

/* The launch has ended with this fault, in that line of its PTX (0: not known). With --check=sync
 * deadlocks and misused barriers are findings. */
void crt_check_fault(const struct rt_launch *launch, const struct sch_fault *fault, uint32_t line);

#endif
