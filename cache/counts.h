/* SPDX-License-Identifier: Apache-2.0
 *
 * What processes found in a cache and what they did not, summed up over all that have used it: the
 * file `counts` in its directory. Processes add what they have counted when they end; one that is
 * killed adds nothing. Like everything here it cannot fail in a way that a caller has to deal with.
 * Thread-safe.
 */
#ifndef PTXRUN_CACHE_COUNTS_H
#define PTXRUN_CACHE_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cache/cache.h"

/* What was looked for. */
enum cache_kind {
    CACHE_KIND_BEST,    /* code of the best tier */
    CACHE_KIND_QUICK,   /* code of the quick tier */
    CACHE_KIND_CHECK,   /* that a kernel can be translated */
    CACHE_KIND_SUMMARY, /* what launches need to know of a module */
    CACHE_KIND_COUNT
};

/* "best", "quick", "check", "summary". */
extern const char *const cache_kind_names[CACHE_KIND_COUNT];

struct cache_counts {
    uint64_t hits[CACHE_KIND_COUNT];
    uint64_t misses[CACHE_KIND_COUNT];
    uint64_t spent_ns;  /* on compiling, after misses */
    uint64_t saved_ns;  /* what compiling the hits had taken */
    uint64_t processes; /* that have added something */
    uint64_t since_s;   /* when the counts were all zero, in seconds since 1970 */
};

/* Adds to the counts, all but since_s. A count at its largest value stays there. */
void cache_counts_add(const struct cache *cache, const struct cache_counts *more);

/* False: there are none, or they cannot be read; *counts is all zero then. */
bool cache_counts_read(const struct cache *cache, struct cache_counts *counts);

/* Begins anew. False: it cannot be written. */
bool cache_counts_zero(const struct cache *cache);

#endif
