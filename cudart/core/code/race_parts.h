/* SPDX-License-Identifier: Apache-2.0
 *
 * What lanes do in one strip, for accesses of rows (race_rows.c) and of loops (race_loops.c).
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RACE_PARTS_H
#define PTXRUN_CUDART_CORE_CODE_RACE_PARTS_H

#include "cudart/core/code/race_access.h"
#include "cudart/core/code/race_memory.h"

/* Whether it is an access as instructions do, which lies in one strip. */
static inline bool crt_race_is_natural(uint64_t address, uint64_t bytes)
{
    return bytes != 0 && bytes <= RACE_STRIP_BYTES && (bytes & (bytes - 1)) == 0 &&
           address % bytes == 0;
}

static inline bool crt_is_one_lane(uint64_t lanes)
{
    return (lanes & (lanes - 1)) == 0;
}

static inline unsigned crt_lowest_lane(uint64_t lanes)
{
    return (unsigned)__builtin_ctzll(lanes);
}

static inline unsigned crt_highest_lane(uint64_t lanes)
{
    return 63 - (unsigned)__builtin_clzll(lanes);
}

static inline uint64_t crt_lanes_from_to(unsigned first, unsigned end)
{
    uint64_t below_end = end >= 64 ? UINT64_MAX : (UINT64_C(1) << end) - 1;
    return below_end & UINT64_MAX << first;
}

/* Of those, the lanes that are of the first one's warp. */
static inline uint64_t crt_race_lanes_of_warp(const struct crt_race_row *row, uint64_t lanes)
{
    unsigned first = crt_lowest_lane(lanes);
    unsigned room = RT_WARP_SIZE - (row->access.race.thread + first) % RT_WARP_SIZE;
    return lanes & crt_lanes_from_to(first, first + room);
}

/* Whether lanes of a warp that do the same need not be told of one by one. */
static inline bool crt_race_can_be_told_together(const struct crt_race_row *row)
{
    uint8_t flags = row->access.race.flags;
    return !crt_is_one_lane(row->lanes) && (!(flags & RACE_WRITES) || flags & RACE_STRONG);
}

/* Part of a row in one strip. */
struct crt_race_part {
    const struct race_shadow *shadow;
    uint64_t strip;
    uint64_t lanes;
    struct race_strip_access access;
};

#define CRT_RACE_NOWHERE UINT64_MAX

/* What is locked, and what lanes one after the other have in common. */
struct crt_race_walk {
    uint64_t page; /* the last one that has been entered */
    uint64_t area; /* that is locked */
};

/* The part's lanes whose words are not all settled (race_settled.c). byte: of the strip, at which
 * the first lane is. */
uint64_t crt_race_unsettled_lanes(const struct crt_race_row *row, const struct crt_race_part *part,
                                  const struct race_settling *settling, unsigned byte);
/* Behind an access to the part. */
void crt_race_settle(const struct crt_race_access *access, const struct crt_race_part *part);

struct crt_race_part crt_race_part_of(const struct crt_race_row *row);

/* Unlocks what is locked, if it is another area: of CRT_RACE_LOCK_BYTES, by number. */
void crt_race_lock_area(struct crt_race_walk *walk, uint64_t area);

/* What is locked. place: of the first lane. False: word by word. */
bool crt_race_access_part(const struct crt_race_row *row, const struct crt_race_part *part,
                          uint64_t place);
/* The same of lanes of a warp, from the one of thread `first` to that of the part's access, which
 * all read these bytes, or are strong. */
bool crt_race_access_together(const struct crt_race_row *row, const struct crt_race_part *part,
                              uint32_t first);

/* In the strip, or word by word; locks what it needs. */
void crt_race_do_part(const struct crt_race_row *row, const struct crt_race_part *part,
                      uint64_t place, struct crt_race_walk *walk);

#endif
