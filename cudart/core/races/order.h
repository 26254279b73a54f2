/* SPDX-License-Identifier: Apache-2.0
 *
 * Which accesses of other threads have happened before what a thread of a running block does now
 * (PTX ISA "Memory Consistency Model", causality order). A block counts what orders its threads;
 * the count is the stamp of accesses. What is known of others is kept by warp, and within a warp by
 * lane: a warp that takes part in something is taken for all of its lanes outside of it, so a race
 * may be missed there, and none is found that is none.
 *
 * One thread at a time uses a block; blocks know of each other by struct race_clock alone.
 */
#ifndef PTXRUN_CUDART_CORE_RACES_ORDER_H
#define PTXRUN_CUDART_CORE_RACES_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/races/clock.h"
#include "kernel_abi/rt.h"

#define RACE_WARPS_MAX    32
#define RACE_BARRIERS_MAX 16
#define RACE_TIME_BITS    41

/* What is known of the own block: all that its threads did before `block`, and a warp before
 * warps[its number]; those of which that may be more are in `more`. */
struct race_row {
    uint32_t block;
    uint32_t more;
    uint32_t warps[RACE_WARPS_MAX];
    struct race_clock others; /* units of other blocks: race_unit */
};

static inline bool race_knows_others(const struct race_clock *clock)
{
    return clock->count > 0 || clock->knows_all;
}

struct race_warp {
    struct race_row row;
    uint32_t lanes[RT_WARP_SIZE][RT_WARP_SIZE]; /* what a lane knows of another one, … */
    bool has_met;                               /* … if it knows anything */
    uint32_t served;           /* lanes for which the meeting that they come from has been noted */
    uint32_t fenced;           /* a fence stands behind everything before this stamp */
    uint32_t passed;           /* nobody else knows what its threads have done from this stamp on */
    struct race_clock pending; /* was read, and holds from the next fence on */
    uint32_t changes;          /* of the row */
    uint32_t told[RACE_BARRIERS_MAX];  /* how many there were when a lane arrived last */
    uint32_t heard[RACE_BARRIERS_MAX]; /* the generation that a lane has left */
};

struct race_barrier {
    uint32_t generation;
    uint32_t arrived; /* threads, of those that name a number */
    uint32_t warps;   /* that have arrived */
    bool is_whole;    /* for all threads of the block */
    struct race_row arriving;
    struct race_row complete;
};

/* All zero but what race_block_begin fills in. */
struct race_block {
    uint64_t launch; /* its number */
    uint32_t index;  /* of the block within the grid, x fastest */
    uint32_t run;    /* no two blocks have the same, of those whose shared memory is at one place */
    uint32_t threads;
    uint32_t now;   /* from 1 */
    uint32_t whole; /* when the last barrier of all threads was complete */
    uint64_t time;  /* changes with now, and no other block ever has the same: RACE_TIME_BITS */
    struct race_warp warps[RACE_WARPS_MAX];
    struct race_barrier barriers[RACE_BARRIERS_MAX];
    uint32_t met[RACE_WARPS_MAX * RT_WARP_SIZE]; /* the generation that a thread waits for */
};

/* A block starts where another one has ended. */
void race_block_begin(struct race_block *block, uint64_t launch, uint32_t index, uint32_t threads);
void race_block_free(struct race_block *block);

/* Of what a thread of another block did, of which the row knows something. */
bool race_is_before_in_other(const struct race_row *row, uint32_t other_block,
                             uint32_t other_thread, uint32_t stamp);

/* As race_is_before, of what all lanes of the warp do now: it holds for each of them. */
static inline bool race_is_before_warp(const struct race_block *block, uint32_t warp,
                                       uint32_t other_block, uint32_t other_thread, uint32_t stamp)
{
    const struct race_row *row = &block->warps[warp].row;
    if (other_block != block->index)
        return race_knows_others(&row->others) &&
               race_is_before_in_other(row, other_block, other_thread, stamp);
    return stamp < row->block || stamp < row->warps[other_thread / RT_WARP_SIZE];
}

/* Whether what a thread of this block did at that stamp happened before what `thread` (its number
 * in the block) does now; and one of another block. */
static inline bool race_is_before(const struct race_block *block, uint32_t thread,
                                  uint32_t other_block, uint32_t other_thread, uint32_t stamp)
{
    uint32_t number = thread / RT_WARP_SIZE;
    const struct race_warp *warp = &block->warps[number];
    if (race_is_before_warp(block, number, other_block, other_thread, stamp))
        return true;
    if (other_block != block->index)
        return false;
    return thread == other_thread ||
           (warp->has_met && number == other_thread / RT_WARP_SIZE &&
            stamp < warp->lanes[thread % RT_WARP_SIZE][other_thread % RT_WARP_SIZE]);
}

/* Whether another thread may know what this one did at that stamp. */
static inline bool race_has_passed_on(const struct race_block *block, uint32_t thread,
                                      uint32_t stamp)
{
    return stamp < block->warps[thread / RT_WARP_SIZE].passed;
}

/* Around bar.sync and the like; count: as rt_bar_sync. bar.arrive has no second half. */
void race_barrier_arrive(struct race_block *block, uint32_t thread, uint32_t id, uint32_t count);
void race_barrier_leave(struct race_block *block, uint32_t thread, uint32_t id);
/* The same of lanes from this thread on, a bit for each. */
void race_barrier_arrive_lanes(struct race_block *block, uint32_t thread, uint64_t lanes,
                               uint32_t id, uint32_t count);
void race_barrier_leave_lanes(struct race_block *block, uint32_t thread, uint64_t lanes,
                              uint32_t id);

/* Behind an operation that lanes of a warp have come to. */
void race_lanes_met(struct race_block *block, uint32_t thread, uint32_t mask);

void race_fence(struct race_block *block, uint32_t thread);

/* What others may learn that read what the thread writes now; is_ordered: it is a release, not
 * behind a fence. And what it has read itself; is_ordered: an acquire, not before a fence. */
void race_release(struct race_block *block, uint32_t thread, bool is_ordered,
                  struct race_clock *clock);
void race_acquire(struct race_block *block, uint32_t thread, bool is_ordered,
                  const struct race_clock *clock);

#endif
