/* SPDX-License-Identifier: Apache-2.0
 *
 * What checks do when the process ends.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_END_H
#define PTXRUN_CUDART_CORE_CHECK_END_H

/* Once, when CUDA is initialised. */
void crt_check_begin(void);

#endif
