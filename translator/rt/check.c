/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of accesses: what nearly all of them need, inline. rt_check stands for it until threads
 * have become loops and vectors (module/link_checks.c).
 */
#include "translator/rt/check.h"

#define WORD_GRAINS 8

static inline bool is_word_open(const uint8_t *shadow)
{
    uint64_t word;
    __builtin_memcpy(&word, shadow, sizeof word);
    return word == UINT64_MAX;
}

/* [place, place + bytes) of the memory; bytes > 0. */
static inline bool is_open(const uint8_t *shadow, uint64_t place, uint64_t bytes)
{
    uint64_t first = place / RT_SHADOW_GRAIN;
    uint64_t last = (place + bytes - 1) / RT_SHADOW_GRAIN;
    if (bytes <= RT_SHADOW_GRAIN)
        return (shadow[first] & shadow[last]) == RT_SHADOW_ALL;
    for (; last - first >= WORD_GRAINS; first += WORD_GRAINS)
        if (!is_word_open(shadow + first))
            return false;
    for (; first <= last; first++)
        if (shadow[first] != RT_SHADOW_ALL)
            return false;
    return true;
}

void rt_checked(struct rt_thread *thread, const char *address, uint64_t bytes, uint64_t begin,
                uint64_t size_bytes, const char *shadow, const char *accesses)
{
    uint64_t place = (uint64_t)address - begin;
    bool is_inside = place < size_bytes && bytes <= size_bytes - place;
    if (bytes == 0 ||
        (is_inside && (shadow == 0 || is_open((const uint8_t *)shadow, place, bytes))))
        return;
    rt_check_failed(thread, address, bytes, accesses);
}
