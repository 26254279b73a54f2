/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that compare free memory before and after: the machine's other processes do not count.
 */
#ifndef PTXRUN_TESTS_CUDART_QUIET_MACHINE_H
#define PTXRUN_TESTS_CUDART_QUIET_MACHINE_H

#include "cudart/core/base/memory_limit.h"

/* Without /proc and /sys only what this process has allocated is missing from a device. */
static inline void ignore_other_processes(void)
{
    crt_memory_set_root("/nonexistent");
}

#endif
