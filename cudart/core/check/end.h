/* SPDX-License-Identifier: Apache-2.0
 *
 * What checks do when the process ends.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_END_H
#define PTXRUN_CUDART_CORE_CHECK_END_H

/*
 * The order of this library's destructors: higher numbers run earlier. A part
 * that reports what is left at the end does so before the findings are summed
 * up, and the sum comes behind all others, as it may end the process.
 */
#define CRT_CHECK_LAST_FINDINGS 102
#define CRT_CHECK_SUM           101

/* Once, when CUDA is initialised. */
void crt_check_begin(void);

#endif
