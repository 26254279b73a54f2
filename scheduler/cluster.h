/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters: blocks that are started together, by one worker, and that reach each other's shared
 * memory. All waiting is the blocks' own: those that wait are set aside, and the worker turns to
 * the others, so nothing here needs a lock.
 */
#ifndef PTXRUN_SCHEDULER_CLUSTER_H
#define PTXRUN_SCHEDULER_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel_abi/rt.h"

struct sch_block;
struct sch_grid_op;
struct sch_thread;
struct sch_worker;

struct sch_cluster {
    uint32_t progress; /* rt_block.progress of its blocks */
    uint32_t block_count;
    struct sch_block *blocks[RT_CLUSTER_BLOCKS_MAX]; /* by rank; NULL: it has left, or not come */
    uint32_t live_count;
    /* barrier.cluster: threads that the phase waits for, and that the next one will; and the phase,
     * all bits or none. */
    uint32_t pending;
    uint32_t expected;
    uint32_t phase;
    /* Shared memories, of so many bytes (whole pages) each. NULL: the block has its own. */
    uint8_t *memory;
    size_t shared_bytes;
    bool has_front_page;
    uint32_t closed; /* set of ranks whose shared memory is inaccessible */
    struct sch_cluster *next;
};

/* A block's part in its cluster's barrier. A thread's bit is that of the phase in which it has
 * arrived last: equal to the cluster's, it waits for that. */
struct sch_cluster_seat {
    uint32_t arrivals;      /* threads that have arrived in this phase and have not exited */
    uint32_t waiting_warps; /* those with lanes in `waiting` */
    uint32_t waiting[32];
    uint32_t phases[32];
    bool is_stuck;     /* no thread could go on when … */
    uint32_t stuck_at; /* … the cluster's progress was this */
};

/* Whether a grid with such clusters can run. */
bool sch_cluster_fits(const struct sch_grid_op *grid);

/* A cluster for the grid without blocks; NULL: out of memory. */
struct sch_cluster *sch_cluster_acquire(struct sch_worker *worker, const struct sch_grid_op *grid);

/* Gives back one that no block has joined. */
void sch_cluster_drop(struct sch_worker *worker, struct sch_cluster *cluster);

/* Gives the block its place in the cluster, and its shared memory there. */
void sch_cluster_join(struct sch_cluster *cluster, struct sch_block *block, uint32_t rank);

/* When all have joined: nobody has arrived. */
void sch_cluster_begin(struct sch_cluster *cluster);

/* Makes the block a cluster of its own, at its beginning. */
void sch_cluster_make_alone(struct sch_block *block);

/* The block has ended: what is left of the cluster cannot reach its shared memory any more. */
void sch_cluster_part(struct sch_block *block);

/* Notes that the block can do nothing until a block of the cluster changes something. True: nor can
 * any other. */
bool sch_cluster_is_stuck(struct sch_block *block);

/* Frees those that the worker keeps. */
void sch_cluster_trim(struct sch_worker *worker);

#endif
