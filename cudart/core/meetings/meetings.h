/* SPDX-License-Identifier: Apache-2.0
 *
 * Who comes to barriers and operations of warps, and what is wrong with that (PTX ISA "bar,
 * barrier", "bar.warp.sync", "shfl"). A block's threads run on one worker at a time: no locks.
 */
#ifndef PTXRUN_CUDART_CORE_MEETINGS_MEETINGS_H
#define PTXRUN_CUDART_CORE_MEETINGS_MEETINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel_abi/rt.h"

#define MEET_WARPS_MAX 32
#define MEET_BARRIERS  16

enum meet_defect {
    MEET_BARRIER_EXITED, /* number of threads of the block that have ended without coming */
    MEET_BARRIER_COUNT,  /* number of threads that others wait for; other_line: where */
    MEET_DIVERGENT,      /* other_line: where other lanes of the warp have come to it */
    MEET_NO_CALLER,      /* number: the mask */
    MEET_MASK_EXITED,    /* number: the lanes of the mask that have ended */
    MEET_NO_SOURCE,      /* number: the lane that is read */
    MEET_STUCK_BARRIER,  /* number of threads that have come */
    MEET_STUCK_LANES     /* number: the lanes that have come */
};

/* A defect, at a thread and a line of the PTX. */
struct meet_found {
    enum meet_defect defect;
    uint32_t thread; /* its number in the block */
    uint32_t line;
    uint32_t id; /* of the barrier; of operations of lanes the mask */
    uint32_t number;
    uint32_t other_line;
};

struct meet_listener {
    void (*found)(void *arg, const struct meet_found *found);
    void *arg;
};

/* A lane waits in one meeting at most. */
struct meet_warp {
    uint32_t exited; /* lanes that the block does not have among them */
    uint32_t waiting;
    uint32_t mask[RT_WARP_SIZE]; /* of each lane that waits */
    uint32_t kind[RT_WARP_SIZE];
    uint32_t line[RT_WARP_SIZE];
};

/* Warps arrive when all their lanes that have not ended have come. */
struct meet_barrier {
    uint32_t count;  /* threads, 0: all of the block */
    uint32_t thread; /* the first one that came, and its line */
    uint32_t line;
    bool has_counts; /* more than one: what follows from that is not told */
    uint32_t arrivals;
    uint32_t arrived_warps;
    uint32_t lanes[MEET_WARPS_MAX]; /* of warps that have not arrived */
    uint32_t lines[MEET_WARPS_MAX]; /* where the first of them has come */
};

struct meet_block {
    uint32_t threads;
    uint32_t exited;
    uint32_t warp_count;
    struct meet_warp warps[MEET_WARPS_MAX];
    struct meet_barrier barriers[MEET_BARRIERS];
};

void meet_block_begin(struct meet_block *block, uint32_t threads);

/* A thread comes to barrier id < MEET_BARRIERS; is_aligned: all lanes of its warp have to come to
 * the same instruction. */
void meet_barrier(struct meet_block *block, uint32_t thread, uint32_t id, uint32_t count,
                  bool is_aligned, uint32_t line, const struct meet_listener *listener);

/* A thread comes to an operation of the lanes in mask. Lanes meet in operations of the same kind.
 */
void meet_lanes(struct meet_block *block, uint32_t thread, uint32_t mask, uint32_t kind,
                bool is_aligned, uint32_t line, const struct meet_listener *listener);

/* Before meet_lanes of a shuffle: this lane's value is read. */
void meet_source(const struct meet_block *block, uint32_t thread, uint32_t mask, uint32_t source,
                 uint32_t line, const struct meet_listener *listener);

/* The thread ends. */
void meet_end(struct meet_block *block, uint32_t thread, const struct meet_listener *listener);

/* Nobody can go on: what is waited at. False: at nothing that is known here. */
bool meet_stuck(const struct meet_block *block, const struct meet_listener *listener);

#endif
