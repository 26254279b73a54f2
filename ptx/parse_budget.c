/* SPDX-License-Identifier: Apache-2.0
 *
 * Shares of the memory. Text of compilers costs 10 to 20 times its length, so that even the
 * smallest budget has room for megabytes of it.
 */
#include "ptx/parse_budget.h"

#include <stdatomic.h>
#include <unistd.h>

#define SHARE            8
#define MIN_BUDGET_BYTES ((size_t)64 << 20)

static _Atomic size_t memory_bytes; /* 0: not set */

void ptx_budget_set_memory(size_t bytes)
{
    atomic_store_explicit(&memory_bytes, bytes, memory_order_relaxed);
}

size_t ptx_budget(void)
{
    size_t bytes = atomic_load_explicit(&memory_bytes, memory_order_relaxed);

    if (bytes == 0)
        bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return bytes / SHARE > MIN_BUDGET_BYTES ? bytes / SHARE : MIN_BUDGET_BYTES;
}
