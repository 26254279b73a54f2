/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of accesses: what nearly all of them need, inline. rt_check stands for it until threads
 * have become loops and vectors (module/link_checks.c).
 */
#include "translator/rt/check.h"

/* Natural alignment has been checked: so few bytes are in one byte of the shadow. */
static inline bool is_open(const uint8_t *shadow, uint64_t bytes)
{
    if (bytes <= RT_SHADOW_GRAIN)
        return *shadow == RT_SHADOW_ALL;
    if (bytes == 2 * RT_SHADOW_GRAIN)
        return shadow[0] == RT_SHADOW_ALL && shadow[1] == RT_SHADOW_ALL;
    for (uint64_t i = 0; i < (bytes + RT_SHADOW_GRAIN - 1) / RT_SHADOW_GRAIN; i++)
        if (shadow[i] != RT_SHADOW_ALL)
            return false;
    return true;
}

void rt_checked(struct rt_thread *thread, const char *address, uint64_t bytes, uint64_t begin,
                uint64_t size_bytes, const char *shadow, uint32_t what, uint32_t line)
{
    uint64_t place = (uint64_t)address - begin;
    bool is_inside = place < size_bytes && bytes <= size_bytes - place;
    if (is_inside &&
        (shadow == 0 || is_open((const uint8_t *)shadow + place / RT_SHADOW_GRAIN, bytes)))
        return;
    rt_check_failed(thread, address, bytes, what, line);
}
