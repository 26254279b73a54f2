/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of accesses (rt_check in kernel_abi/placeholders.def).
 */
#ifndef PTXRUN_TRANSLATOR_RT_CHECK_H
#define PTXRUN_TRANSLATOR_RT_CHECK_H

#include "kernel_abi/rt.h"

/* What becomes of rt_check, with the same arguments. */
void rt_checked(struct rt_thread *thread, const char *address, uint64_t bytes, uint64_t begin,
                uint64_t size_bytes, const char *shadow, const char *accesses,
                const char *variable);

#endif
