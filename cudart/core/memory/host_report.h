/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program itself does wrong with memory, as findings of --check; without it nothing
 * happens. The calling thread is in the API function that is named.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_HOST_REPORT_H
#define PTXRUN_CUDART_CORE_MEMORY_HOST_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/host_frames.h"
#include "cudart/core/streams/work.h"

/* The API refuses to give this address back. */
void crt_report_free(uintptr_t base);

/* Memory of the host is given back, or no longer page-locked: copies that are to come may use it.
 */
void crt_report_free_in_use(uintptr_t base, size_t size_bytes);

/* A copy or fill uses bytes that do not lie in one allocation. access: CRT_ACCESS_READ or
 * CRT_ACCESS_WRITE; extent: from the first to the last byte; is_refused: the API says so, too. */
void crt_report_extent(uintptr_t base, size_t extent, unsigned access, bool is_refused);

/* If the copy is about to read bytes of device memory that nobody has written. calls: those that
 * have asked for it. */
void crt_report_unwritten(const struct crt_copy *copy, const struct crt_frames *calls);

#endif
