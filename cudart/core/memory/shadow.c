/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/shadow.h"

#include <string.h>

#include "cudart/core/check/findings.h"
#include "cudart/core/memory/access_watch.h"
#include "cudart/core/memory/grains.h"

static struct crt_grains shadow;

enum crt_result crt_shadow_create(uintptr_t begin, size_t size_bytes)
{
    bool is_asked = crt_checks_memory() || crt_checks_races();
    return is_asked ? crt_grains_create(&shadow, begin, size_bytes) : CRT_SUCCESS;
}

void crt_shadow_open(uintptr_t base, size_t size_bytes)
{
    if (!crt_grains_have(&shadow, base, size_bytes))
        return;
    crt_watch_forget(base, size_bytes);
    uint8_t *first = crt_grain_of(&shadow, base);
    memset(first, RT_SHADOW_ALL, size_bytes / RT_SHADOW_GRAIN);
    if (size_bytes % RT_SHADOW_GRAIN)
        first[size_bytes / RT_SHADOW_GRAIN] = (uint8_t)(size_bytes % RT_SHADOW_GRAIN);
}

void crt_shadow_close(uintptr_t base, size_t size_bytes)
{
    if (crt_grains_have(&shadow, base, size_bytes))
        crt_grains_clear(&shadow, base, size_bytes);
}

/* Whether bytes [from, end) of a grain may be accessed. */
static bool is_open(uint8_t open, size_t from, size_t end)
{
    return open == RT_SHADOW_ALL || (from < end && end <= open);
}

bool crt_shadow_covers(uintptr_t address, size_t bytes)
{
    if (!crt_grains_have(&shadow, address, bytes))
        return false;
    while (bytes > 0) {
        size_t from = (address - shadow.begin) % RT_SHADOW_GRAIN;
        size_t here = RT_SHADOW_GRAIN - from < bytes ? RT_SHADOW_GRAIN - from : bytes;
        if (!is_open(*crt_grain_of(&shadow, address), from, from + here))
            return false;
        address += here;
        bytes -= here;
    }
    return true;
}

struct rt_checked crt_shadow_checked(void)
{
    return crt_grains_checked(&shadow);
}
