/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads of memory that nobody has written.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_WRITTEN_CALLS_H
#define PTXRUN_CUDART_CORE_CODE_WRITTEN_CALLS_H

#include "kernel_abi/rt.h"

/* A finding, if some of the bytes have not been written. The access is of kind VALUE or
 * ATOMIC_VALUE; bytes: of the check, if it does not say so itself. */
void crt_check_written(const struct rt_thread *thread, uint64_t address, uint64_t bytes,
                       const struct rt_checked_access *access);

#endif
