/* SPDX-License-Identifier: Apache-2.0
 *
 * The unclaimed blocks of a grid as ranges, one for each worker of its group. A worker takes blocks
 * from the front of its own, on a cache line that nobody else writes, and when that is empty it
 * steals the back half of another's. The same worker gets the same range in each launch of a shape,
 * so it finds in its caches what it left there.
 *
 * Lock-free and thread-safe, except where stated otherwise. Each block is in one range, or claimed,
 * or on its way from one range to another.
 */
#ifndef PTXRUN_SCHEDULER_RANGES_H
#define PTXRUN_SCHEDULER_RANGES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SCH_RANGE_BLOCKS_MAX UINT32_MAX

struct sch_range {
    _Alignas(
        64) _Atomic(uint64_t) blocks; /* the first, and behind the last one in the upper half */
    _Atomic(uint32_t) block_ns;       /* of its worker's last chunk, 0: not known */
    _Atomic(int) cpu;                 /* where its worker has claimed last, -1: nowhere */
};

struct sch_ranges {
    uint32_t count;
    void *memory;                   /* for free() */
    _Alignas(64) atomic_uint begun; /* steals … */
    atomic_uint ended;              /* … and those that are over: written for each steal only */
    struct sch_range range[];
};

/* Deals the blocks [first, end), end <= SCH_RANGE_BLOCKS_MAX, out to `count` ranges, in order.
 * NULL: out of memory. */
struct sch_ranges *sch_ranges_deal(uint64_t first, uint64_t end, uint32_t count, uint32_t block_ns);
void sch_ranges_free(struct sch_ranges *ranges); /* NULL is allowed */

/* The number of blocks in a range. */
uint32_t sch_ranges_left(const struct sch_ranges *ranges, uint32_t index);

/* Claims up to `wanted` blocks at the front of a range; returns how many. */
uint32_t sch_ranges_take(struct sch_ranges *ranges, uint32_t index, uint32_t wanted,
                         uint64_t *first);

/* Moves the back half of a range, rounded up, to the thief's own, which is empty and which nobody
 * else fills. False: there was nothing. gives_way: lets others run while blocks are on their way,
 * for tests. */
bool sch_ranges_steal(struct sch_ranges *ranges, uint32_t thief, uint32_t victim, bool gives_way);

/* Whether no range will ever have a block again: all are empty, and nothing is on its way. */
bool sch_ranges_are_empty(const struct sch_ranges *ranges);

/* Claims all blocks of a range, for nobody to run; returns how many. */
uint32_t sch_ranges_drop(struct sch_ranges *ranges, uint32_t index);

#endif
