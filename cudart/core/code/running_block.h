/* SPDX-License-Identifier: Apache-2.0
 *
 * What checks of races and of barriers know of a running block.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RUNNING_BLOCK_H
#define PTXRUN_CUDART_CORE_CODE_RUNNING_BLOCK_H

#include "cudart/core/meetings/meetings.h"
#include "cudart/core/races/strips.h"
#include "kernel_abi/rt.h"

/* For what each access of a kernel asks: reading it calls nothing. */
#define CRT_HOT_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

#define CRT_ORDERED_WORKS    16

/* The scheduler uses the memory of a block again for the next, and so is this. The worker that runs
 * the block is the only one to use it. */
struct crt_running_block {
    struct crt_running_block *next;
    const struct rt_block *rt;
    uint64_t launch; /* its grid_id */
    uint32_t index;
    uint32_t ctaid[3];
    bool has_begun;
    struct race_block races;                   /* with --check=race */
    struct race_shadow shadow;                 /* of its shared memory, … */
    size_t word_count;                         /* which has so many */
    uint32_t cluster_phases[RACE_WARPS_MAX];   /* of its cluster's barrier: a lane's changes when it
                                                  arrives */
    struct sch_op *op;                         /* of its launch */
    uint32_t work;                             /* the number of that: races/works.h */
    uint32_t ordered_works[CRT_ORDERED_WORKS]; /* some that come before it, by number */
    uint32_t beside_work;                      /* and one that does not */
    struct crt_race_copies *copies;            /* what its threads copy; NULL: nothing yet */
    struct meet_block meetings;                /* with --check=sync */
};

/* Of the thread's block. NULL if memory is short: then nothing is checked. */
struct crt_running_block *crt_running_of(const struct rt_thread *thread);

/* Of another block of its cluster, which the same worker runs. */
struct crt_running_block *crt_running_beside(const struct rt_block *rt);

/* Of a block that has been stopped; NULL: not known any more. */
struct crt_running_block *crt_stopped_block(uint64_t launch, uint32_t index);

/* Numbers within the block and the grid. */
uint32_t crt_thread_number(const struct rt_thread *thread);
uint32_t crt_block_number(const struct rt_launch *launch, const uint32_t ctaid[3]);

#endif
