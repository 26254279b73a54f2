/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers in files of the cache: the lowest byte comes first.
 */
#ifndef PTXRUN_CACHE_NUMBER_H
#define PTXRUN_CACHE_NUMBER_H

#include <stdint.h>

/* bytes: 1 to 8. */
static inline void cache_put_number(uint8_t *at, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(number >> (8 * i));
}

static inline uint64_t cache_get_number(const uint8_t *at, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

#endif
