/* SPDX-License-Identifier: Apache-2.0
 *
 * On which memory node pages of device memory lie. Internal to cudart/core/memory. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_NUMA_H
#define PTXRUN_CUDART_CORE_MEMORY_NUMA_H

#include <stddef.h>

/* Obeys --numa for a mapping whose pages nobody has touched: first-touch leaves them to the CPU
 * that comes first, interleave deals them out to all nodes that this process may use, in turn.
 * Where the system refuses, the log says so, and pages go to who touches them first. */
void crt_numa_place(void *base, size_t size_bytes);

#endif
