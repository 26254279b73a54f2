/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages of memory that is about to be written. The system gives each with its first access, by a
 * fault; one call for many costs about half, and in virtual machines faults cost ten times as much
 * as elsewhere (docs/measurements.md).
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_PAGES_AHEAD_H
#define PTXRUN_CUDART_CORE_MEMORY_PAGES_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So much at a time: what the system has cleared is still in the cache when it is written. */
#define CRT_AHEAD_BYTES ((size_t)1 << 20)

/* Whether it is worth while to get the pages of a range: the last one is not there. Memory is
 * mostly written from its beginning to its end, and what stands before may share the first page. */
bool crt_pages_are_absent(uintptr_t base, size_t bytes);

/* Gets all pages of a range, every byte of which will be written. Any memory of the process, also
 * the program's own; where that is refused, as by older kernels, nothing is lost. Thread-safe. */
void crt_pages_get(uintptr_t base, size_t bytes);

#endif
