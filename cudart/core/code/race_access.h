/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of threads on their way from what code calls (race_calls.c) to the words that they
 * access (race_access.c), and to findings (race_report.c).
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RACE_ACCESS_H
#define PTXRUN_CUDART_CORE_CODE_RACE_ACCESS_H

#include "cudart/core/code/running_block.h"
#include "cudart/core/races/cells.h"

/* Of a thread. */
struct crt_race_access {
    const struct rt_thread *thread;
    struct crt_running_block *running;
    struct crt_running_block *owner; /* of the shared memory; NULL: it is global */
    struct race_access race;
    uint64_t address;
    uint64_t bytes;
    uint64_t value;
    uint32_t what;
};

/* Of lanes whose threads follow each other; a bit for each. */
struct crt_race_row {
    struct crt_race_access access; /* what they have in common; thread: lane 0's */
    uint64_t lanes;
    uint64_t stride;
    const uint64_t *addresses; /* by lane; NULL: by the first one's and the stride */
    const char *values;        /* by lane, each of as many bytes; NULL: not known */
};

void crt_race_access_row(struct crt_race_row *row);

/* Another access of its launch races with it; one of another work. */
void crt_race_add_finding(const struct crt_race_access *access, const struct race_access *other);
void crt_race_add_stream_finding(const struct crt_race_access *access, uint32_t work,
                                 const struct race_access *other);

#endif
