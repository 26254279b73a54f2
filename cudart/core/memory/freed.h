/* SPDX-License-Identifier: Apache-2.0
 *
 * What was allocated at an address that has been given back, as long as it is remembered: for
 * messages of --check. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_FREED_H
#define PTXRUN_CUDART_CORE_MEMORY_FREED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last ranges are remembered; without --check none. */
void crt_freed_note(uintptr_t base, size_t size_bytes);

/* The range that was freed last among those that contain the address. */
bool crt_freed_find(uintptr_t address, uintptr_t *base, size_t *size_bytes);

#endif
