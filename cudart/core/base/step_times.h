/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of --time-steps: the steps of each compilation, and their sums when the process ends.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_STEP_TIMES_H
#define PTXRUN_CUDART_CORE_BASE_STEP_TIMES_H

struct jit_step_times;

/* Adds a compiled kernel; does nothing if nobody asked for its steps. Thread-safe. */
void crt_step_times_add(const char *kernel, const struct jit_step_times *times);

#endif
