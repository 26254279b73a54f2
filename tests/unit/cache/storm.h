/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that get and put entries of one cache as fast as they can, and are killed at random
 * moments.
 */
#ifndef PTXRUN_TESTS_CACHE_STORM_H
#define PTXRUN_TESTS_CACHE_STORM_H

#include <stdint.h>

struct storm {
    const char *path;
    unsigned processes; /* at once */
    unsigned starts;    /* of processes, in all */
    unsigned entries;   /* that they use */
    uint64_t limit_bytes;
    uint64_t seed;
};

/* How much was wrong, each with a line on standard error. */
unsigned storm_run(const struct storm *storm);

#endif
