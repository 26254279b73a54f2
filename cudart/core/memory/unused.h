/* SPDX-License-Identifier: Apache-2.0
 *
 * --unused-memory: device memory that the program gives back, or leaves, without having written so
 * much of it. It goes by what --check=init knows (written.h). Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_UNUSED_H
#define PTXRUN_CUDART_CORE_MEMORY_UNUSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool crt_unused_is_on(void);

/* Before an allocation is given back: nothing writes to it any more. No lock is held. Without the
 * option it does nothing. */
void crt_unused_report(uintptr_t base, size_t size_bytes);

#endif
