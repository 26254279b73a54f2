/* SPDX-License-Identifier: Apache-2.0
 *
 * What one access to a strip says of its bytes: by which threads, at which lines. For this folder.
 */
#ifndef PTXRUN_CUDART_CORE_RACES_STRIP_FORMS_H
#define PTXRUN_CUDART_CORE_RACES_STRIP_FORMS_H

#include "cudart/core/races/strips.h"

static inline unsigned race_first_of(uint64_t bytes)
{
    return (unsigned)__builtin_ctzll(bytes);
}

static inline unsigned race_last_of(uint64_t bytes)
{
    return 63 - (unsigned)__builtin_clzll(bytes);
}

static inline uint64_t race_bytes_of_word(unsigned place)
{
    return RACE_WORD_BYTES << (place * RACE_CELL_BYTES);
}

static inline uint64_t race_bytes_from_to(unsigned first, unsigned end)
{
    uint64_t below_end = end >= RACE_STRIP_BYTES ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    return below_end & UINT64_MAX << first;
}

/* The bytes around this one whose thread is the same. */
static inline uint64_t race_bytes_of_unit(const struct race_strip_access *access, unsigned byte)
{
    unsigned within = byte + access->offset - race_strip_unit(access, byte) * access->unit;
    unsigned first = within > byte ? 0 : byte - within;
    return race_bytes_from_to(first, byte - within + access->unit);
}

/* Of these bytes, those around the first one that two accesses know one thread each of. */
static inline uint64_t race_first_units(const struct race_strip_access *a,
                                        const struct race_strip_access *b, uint64_t bytes)
{
    unsigned first = race_first_of(bytes);
    return bytes & race_bytes_of_unit(a, first) & race_bytes_of_unit(b, first);
}

static inline bool race_has_same_form(const struct race_strip_access *a,
                                      const struct race_strip_access *b)
{
    return a->thread == b->thread && a->step == b->step && a->unit == b->unit &&
           a->offset == b->offset;
}

static inline bool race_is_of_same_threads(const struct race_strip_access *a,
                                           const struct race_strip_access *b)
{
    return a->block == b->block && race_has_same_form(a, b);
}

static inline bool race_is_of_one_warp(const struct race_strip_access *access, uint64_t bytes,
                                       uint32_t *warp)
{
    *warp = race_strip_thread(access, race_first_of(bytes)) / RT_WARP_SIZE;
    return access->step == 0 ||
           race_strip_thread(access, race_last_of(bytes)) / RT_WARP_SIZE == *warp;
}

static inline bool race_is_of_one_thread(const struct race_strip_access *access, uint64_t bytes)
{
    return race_strip_thread(access, race_first_of(bytes)) ==
           race_strip_thread(access, race_last_of(bytes));
}

/* Of these bytes, those that one warp has accessed by both. */
uint64_t race_bytes_of_same_warp(const struct race_strip_access *a,
                                 const struct race_strip_access *b, uint64_t bytes);

/* Whether these bytes of the access can stand where others of the strip may stand, and how. */
bool race_strip_takes(const struct race_strip_access *place, const struct race_strip_access *access,
                      uint64_t bytes, struct race_strip_access *joined);

#endif
