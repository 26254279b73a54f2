/* SPDX-License-Identifier: Apache-2.0
 *
 * Managed and page-locked memory that is closed to the program's own threads, so that their
 * accesses are heard of (util/protection_key.h), for --check=race; without it nothing here does
 * anything. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_HOST_PAGES_H
#define PTXRUN_CUDART_CORE_MEMORY_HOST_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once, before there is such memory. False: nothing can be closed. */
bool crt_host_pages_begin(void);

/* Memory that is allocated, and open; and that goes. */
void crt_host_pages_add(uintptr_t base, size_t size_bytes);
void crt_host_pages_remove(uintptr_t base);

/* Closes all there is. */
void crt_host_pages_close(void);

/* Opens the page, or all of the allocation, in which the address lies; false: in none. */
bool crt_host_pages_open(uintptr_t address, bool all);

#endif
