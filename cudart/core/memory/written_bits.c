/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/written_bits.h"

#include <string.h>

#define GRAIN ((size_t)RT_SHADOW_GRAIN)

/* What of a range lies in one grain. */
struct part {
    uint8_t *grain;
    size_t bytes;
    unsigned shift; /* its first bit */
    uint8_t mask;
};

static struct part part_at(const struct crt_grains *grains, uintptr_t address, size_t left)
{
    unsigned shift = (unsigned)((address - grains->begin) % GRAIN);
    size_t bytes = GRAIN - shift < left ? GRAIN - shift : left;
    return (struct part){.grain = crt_grain_of(grains, address),
                         .bytes = bytes,
                         .shift = shift,
                         .mask = (uint8_t)(RT_SHADOW_ALL >> (GRAIN - bytes) << shift)};
}

static uint8_t read_grain(const uint8_t *grain)
{
    return __atomic_load_n(grain, __ATOMIC_RELAXED);
}

/* bits: of the part's bytes, the first one's lowest; others are not looked at. */
static void change(const struct part *part, uint8_t bits)
{
    uint8_t placed = (uint8_t)(bits << part->shift);
    if (part->mask == RT_SHADOW_ALL) {
        __atomic_store_n(part->grain, placed, __ATOMIC_RELAXED);
        return;
    }
    uint8_t old = read_grain(part->grain);
    if (part->mask & placed & ~old)
        __atomic_fetch_or(part->grain, part->mask & placed, __ATOMIC_RELAXED);
    if (part->mask & ~placed & old)
        __atomic_fetch_and(part->grain, (uint8_t)(placed | ~part->mask), __ATOMIC_RELAXED);
}

/* A range: bytes before its first whole grain, in such, and behind them. */
struct split {
    size_t front;
    size_t whole;
    size_t back;
};

static struct split split_range(const struct crt_grains *grains, uintptr_t base, size_t size_bytes)
{
    size_t front = -(base - grains->begin) % GRAIN;
    front = front < size_bytes ? front : size_bytes;
    size_t whole = (size_bytes - front) / GRAIN * GRAIN;
    return (struct split){front, whole, size_bytes - front - whole};
}

static void change_part(const struct crt_grains *grains, uintptr_t base, size_t bytes, uint8_t bits)
{
    struct part part = part_at(grains, base, bytes);
    if (bytes > 0)
        change(&part, bits);
}

static void change_ends(const struct crt_grains *grains, uintptr_t base, const struct split *split,
                        uint8_t bits)
{
    change_part(grains, base, split->front, bits);
    change_part(grains, base + split->front + split->whole, split->back, bits);
}

void crt_bits_set(const struct crt_grains *grains, uintptr_t base, size_t size_bytes)
{
    if (!crt_grains_have(grains, base, size_bytes))
        return;
    struct split split = split_range(grains, base, size_bytes);
    change_ends(grains, base, &split, RT_SHADOW_ALL);
    memset(crt_grain_of(grains, base + split.front), RT_SHADOW_ALL, split.whole / GRAIN);
}

void crt_bits_clear(const struct crt_grains *grains, uintptr_t base, size_t size_bytes)
{
    if (!crt_grains_have(grains, base, size_bytes))
        return;
    struct split split = split_range(grains, base, size_bytes);
    change_ends(grains, base, &split, 0);
    crt_grains_clear(grains, base + split.front, split.whole);
}

/* ---- few bytes ---- */

static uint32_t ones(size_t count)
{
    return count < RT_WRITTEN_MAX ? (UINT32_C(1) << count) - 1 : RT_WRITTEN_ALL;
}

uint32_t crt_bits_get(const struct crt_grains *grains, uintptr_t base, size_t size_bytes)
{
    uint32_t written = ~ones(size_bytes);
    if (!crt_grains_have(grains, base, size_bytes))
        return RT_WRITTEN_ALL;
    for (size_t done = 0; done < size_bytes;) {
        struct part part = part_at(grains, base + done, size_bytes - done);
        written |= (uint32_t)((read_grain(part.grain) & part.mask) >> part.shift) << done;
        done += part.bytes;
    }
    return written;
}

void crt_bits_put(const struct crt_grains *grains, uintptr_t base, size_t size_bytes,
                  uint32_t written)
{
    if (!crt_grains_have(grains, base, size_bytes))
        return;
    for (size_t done = 0; done < size_bytes;) {
        struct part part = part_at(grains, base + done, size_bytes - done);
        change(&part, (uint8_t)(written >> done));
        done += part.bytes;
    }
}

/* ---- copies ---- */

/* Forwards, or from the last bytes on. */
static void copy_parts(const struct crt_grains *to, uintptr_t dst, const struct crt_grains *from,
                       uintptr_t src, size_t size_bytes)
{
    bool is_backwards = dst > src;
    for (size_t done = 0; done < size_bytes;) {
        size_t bytes = size_bytes - done < RT_WRITTEN_MAX ? size_bytes - done : RT_WRITTEN_MAX;
        size_t place = is_backwards ? size_bytes - done - bytes : done;
        crt_bits_put(to, dst + place, bytes, crt_bits_get(from, src + place, bytes));
        done += bytes;
    }
}

static bool lie_alike(const struct crt_grains *to, uintptr_t dst, const struct crt_grains *from,
                      uintptr_t src)
{
    return (dst - to->begin) % GRAIN == (src - from->begin) % GRAIN;
}

void crt_bits_copy(const struct crt_grains *to, uintptr_t dst, const struct crt_grains *from,
                   uintptr_t src, size_t size_bytes)
{
    if (!crt_grains_have(to, dst, size_bytes))
        return;
    if (!crt_grains_have(from, src, size_bytes)) {
        crt_bits_set(to, dst, size_bytes);
        return;
    }
    if (!lie_alike(to, dst, from, src)) {
        copy_parts(to, dst, from, src, size_bytes);
        return;
    }
    struct split split = split_range(to, dst, size_bytes);
    uint8_t front = (uint8_t)crt_bits_get(from, src, split.front);
    size_t behind = split.front + split.whole;
    uint8_t back = (uint8_t)crt_bits_get(from, src + behind, split.back);
    memmove(crt_grain_of(to, dst + split.front), crt_grain_of(from, src + split.front),
            split.whole / GRAIN);
    change_part(to, dst, split.front, front);
    change_part(to, dst + behind, split.back, back);
}

/* ---- gaps ---- */

/* The first byte that has been written, or has not. */
static size_t find(const struct crt_grains *grains, uintptr_t base, size_t size_bytes, bool written)
{
    uint8_t passed = written ? 0 : RT_SHADOW_ALL;
    for (size_t done = 0; done < size_bytes;) {
        struct part part = part_at(grains, base + done, size_bytes - done);
        uint8_t found = (uint8_t)((read_grain(part.grain) ^ passed) & part.mask);
        if (found)
            return done + (size_t)__builtin_ctz(found) - part.shift;
        done += part.bytes;
    }
    return size_bytes;
}

size_t crt_bits_find_gap(const struct crt_grains *grains, uintptr_t base, size_t size_bytes,
                         size_t *gap)
{
    *gap = 0;
    if (!crt_grains_have(grains, base, size_bytes))
        return size_bytes;
    size_t place = find(grains, base, size_bytes, false);
    *gap = find(grains, base + place, size_bytes - place, true);
    return place;
}
