/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces of work that have accessed memory: launches, copies and fills, each with a number that
 * stands for it in cells. They stay for the process. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_RACES_WORKS_H
#define PTXRUN_CUDART_CORE_RACES_WORKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/base/host_frames.h"
#include "scheduler/scheduler.h"

struct crt_kernel;

struct race_work {
    struct sch_moment moment;  /* chain 0: in order with everything */
    bool is_host;              /* what the program's own threads do; else … */
    const char *name;          /* "copy"; of launches NULL, and … */
    struct crt_kernel *kernel; /* … this, which may be gone */
    uint64_t launch;           /* its number */
    uint32_t grid[3];
    uint32_t block[3];
    struct crt_frames calls; /* of the host that have asked for it; none: of a graph */
    atomic_bool has_met_host;
};

/* Its number; 0: memory is short, and its accesses cannot be kept. */
uint32_t race_work_add(const struct race_work *work);

/* NULL: 0. */
const struct race_work *race_work_get(uint32_t number);

/* A launch and the host talk through memory. Each counts as ordered with the other from then on:
 * nobody knows what they tell each other. */
void race_work_meet_host(uint32_t number);

#endif
