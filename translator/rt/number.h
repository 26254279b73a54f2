/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of numbers (rt_number in kernel_abi/placeholders.def).
 */
#ifndef PTXRUN_TRANSLATOR_RT_NUMBER_H
#define PTXRUN_TRANSLATOR_RT_NUMBER_H

#include "kernel_abi/rt.h"

/* What becomes of rt_number, with the same arguments. */
void rt_number_checked(struct rt_thread *thread, uint32_t is_wrong, uint32_t origin,
                       uint64_t first_two, uint32_t third, uint32_t use);

#endif
