/* SPDX-License-Identifier: Apache-2.0
 *
 * See pages_ahead.h.
 */
#include "cudart/core/memory/pages_ahead.h"

#include <sys/mman.h>

#include "util/pages.h"

/* Below this, asking costs more than it saves. */
#define LEAST_BYTES ((size_t)64 << 10)

void crt_pages_get(uintptr_t base, size_t bytes)
{
    uintptr_t first = pxr_round_down_to_pages(base);
    madvise((void *)first, base + bytes - first, MADV_POPULATE_WRITE);
}

bool crt_pages_are_absent(uintptr_t base, size_t bytes)
{
    unsigned char in_memory = 0;
    uintptr_t last = pxr_round_down_to_pages(base + bytes - 1);
    return bytes >= LEAST_BYTES && mincore((void *)last, 1, &in_memory) == 0 && !(in_memory & 1);
}
