/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts the memory that may still be allocated. Memory takes room in the system only when it is
 * touched, so the system would promise anything, and end the process later: promised memory counts
 * as if it had been touched.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_MEMORY_BUDGET_H
#define PTXRUN_CUDART_CORE_MEMORY_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Guarded by its owner. */
struct crt_budget {
    size_t promised_bytes; /* of all allocations, touched or not; the owner counts them */
    size_t credit_bytes;   /* may be promised without a look at the system, until then */
    uint64_t credit_end_ns;
};

/* Bytes that could be promised now. file: the memory's; below 0: anonymous memory. */
size_t crt_budget_room(const struct crt_budget *budget, int file);

/* Whether that is at least so many. Cheap when called often. */
bool crt_budget_take(struct crt_budget *budget, int file, size_t bytes);

#endif
