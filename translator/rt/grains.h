/* SPDX-License-Identifier: Apache-2.0
 *
 * Grains of a shadow that are open, or have been written, as a whole.
 */
#ifndef PTXRUN_TRANSLATOR_RT_GRAINS_H
#define PTXRUN_TRANSLATOR_RT_GRAINS_H

#include <stdbool.h>

#include "kernel_abi/rt.h"

#define RT_WORD_GRAINS 8

static inline bool rt_is_word_whole(const uint8_t *shadow)
{
    uint64_t word;
    __builtin_memcpy(&word, shadow, sizeof word);
    return word == UINT64_MAX;
}

/* Whether [place, place + bytes) of the memory lies in whole grains; bytes > 0. */
static inline bool rt_are_grains_whole(const uint8_t *shadow, uint64_t place, uint64_t bytes)
{
    uint64_t first = place / RT_SHADOW_GRAIN;
    uint64_t last = (place + bytes - 1) / RT_SHADOW_GRAIN;
    if (bytes <= RT_SHADOW_GRAIN)
        return (shadow[first] & shadow[last]) == RT_SHADOW_ALL;
    for (; last - first >= RT_WORD_GRAINS; first += RT_WORD_GRAINS)
        if (!rt_is_word_whole(shadow + first))
            return false;
    for (; first <= last; first++)
        if (shadow[first] != RT_SHADOW_ALL)
            return false;
    return true;
}

/* Whether the bytes lie in [begin, begin + size_bytes). */
static inline bool rt_is_inside(uint64_t address, uint64_t bytes, uint64_t begin,
                                uint64_t size_bytes)
{
    uint64_t place = address - begin;
    return place < size_bytes && bytes <= size_bytes - place;
}

#endif
