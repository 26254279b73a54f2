/* SPDX-License-Identifier: Apache-2.0
 *
 * What has been written: what nearly all accesses need, inline. rt_written and rt_mark stand for it
 * until threads have become loops and vectors, as rt_check does.
 */
#include "translator/rt/written.h"

#include "translator/rt/grains.h"

uint32_t rt_ask_written(struct rt_thread *thread, const char *address, uint64_t bytes,
                        uint64_t begin, uint64_t size_bytes, const char *shadow,
                        const char *accesses)
{
    (void)accesses;
    if (rt_is_inside((uint64_t)address, bytes, begin, size_bytes) &&
        rt_are_grains_whole((const uint8_t *)shadow, (uint64_t)address - begin, bytes))
        return RT_WRITTEN_ALL;
    return rt_written_slow(thread, address, bytes);
}

/* The bits of some bytes within a grain. In device memory others may set its other bits; shared
 * memory is one worker's. */
static inline void set_bits(uint8_t *grain, uint64_t from, uint64_t bytes, bool is_shared)
{
    uint8_t bits = (uint8_t)((RT_SHADOW_ALL >> (RT_SHADOW_GRAIN - bytes)) << from);
    if (bits == RT_SHADOW_ALL)
        *grain = bits;
    else if (is_shared)
        *grain |= bits;
    else
        __atomic_fetch_or(grain, bits, __ATOMIC_RELAXED);
}

void rt_mark_written(struct rt_thread *thread, const char *address, uint64_t bytes, uint64_t begin,
                     uint64_t size_bytes, const char *shadow, uint32_t written)
{
    uint8_t *grains = (uint8_t *)shadow;
    uint64_t place = (uint64_t)address - begin;
    uint64_t from = place % RT_SHADOW_GRAIN;
    if (bytes == 0)
        return;
    if (written != RT_WRITTEN_ALL || !rt_is_inside((uint64_t)address, bytes, begin, size_bytes)) {
        rt_mark_slow(thread, address, bytes, written);
        return;
    }
    if (rt_are_grains_whole(grains, place, bytes))
        return;
    if ((place | bytes) % RT_SHADOW_GRAIN == 0)
        __builtin_memset(grains + place / RT_SHADOW_GRAIN, RT_SHADOW_ALL, bytes / RT_SHADOW_GRAIN);
    else if (bytes <= RT_SHADOW_GRAIN - from)
        set_bits(grains + place / RT_SHADOW_GRAIN, from, bytes, size_bytes == RT_SHARED_WRAP);
    else
        rt_mark_slow(thread, address, bytes, written);
}

void rt_mark_runs(struct rt_thread *thread, const char *address, uint64_t bytes, uint64_t begin,
                  uint64_t size_bytes, const char *shadow, uint64_t lanes)
{
    uint64_t lane = 0;
    while (lanes >> lane != 0) {
        lane += (uint64_t)__builtin_ctzll(lanes >> lane);
        uint64_t rest = ~(lanes >> lane);
        uint64_t run = rest == 0 ? 64 : (uint64_t)__builtin_ctzll(rest);
        rt_mark_written(thread, address + lane * bytes, run * bytes, begin, size_bytes, shadow,
                        RT_WRITTEN_ALL);
        lane += run;
        if (lane >= 64)
            return;
    }
}

void rt_own_checked(struct rt_thread *thread, uint32_t written, uint64_t place,
                    const char *accesses)
{
    if (written != RT_WRITTEN_ALL)
        rt_own_failed(thread, written, place, accesses);
}
