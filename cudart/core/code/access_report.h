/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to memory that --check=memory finds wrong. Most come from code with checks
 * (rt_check_failed).
 */
#ifndef PTXRUN_CUDART_CORE_CODE_ACCESS_REPORT_H
#define PTXRUN_CUDART_CORE_CODE_ACCESS_REPORT_H

#include "scheduler/scheduler.h"

/* An access that has ended the grid: a finding, if the program has none yet. Compilers may do an
 * access before what checks it, and lose its line (0). */
void crt_check_access_fault(const struct rt_launch *launch, const struct sch_fault *fault,
                            uint32_t line);

#endif
