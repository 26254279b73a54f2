/* SPDX-License-Identifier: Apache-2.0
 *
 * What a person does with a cache: look through it, check it, make it smaller. Other processes may
 * use it meanwhile.
 */
#ifndef PTXRUN_CACHE_ADMIN_H
#define PTXRUN_CACHE_ADMIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "cache/cache.h"
#include "util/error.h"

/* An entry, by its file alone. */
struct cache_item {
    struct cache_key key;
    uint64_t file_bytes;
    struct timespec used; /* when, last */
};

struct cache_items {
    struct cache_item *items; /* malloc; cache_items_fini */
    size_t count;
    size_t room;
    uint64_t disk_bytes; /* of these and of what is being written */
};

/* All entries, in no order. False when there is no memory. Removes what processes that were killed
 * have left behind. */
bool cache_list(const struct cache *cache, struct cache_items *items);
void cache_items_fini(struct cache_items *items);

/* Orders them: what was not used for longest comes first. */
void cache_items_sort(struct cache_items *items);

struct cache_description {
    struct cache_about about; /* points into text */
    uint64_t payload_bytes;
    uint64_t made_s; /* in seconds since 1970 */
    char text[8192];
};

/* What an entry says of itself; false when it is gone or is none. It is not checked. */
bool cache_describe(const struct cache *cache, const struct cache_key *key,
                    struct cache_description *description);

enum cache_health {
    CACHE_WHOLE,
    CACHE_GONE,   /* somebody has removed it meanwhile */
    CACHE_DAMAGED /* *why says how */
};

/* Reads all of an entry. It does not count as a use. */
enum cache_health cache_check(const struct cache *cache, const struct cache_key *key,
                              const char **why);

bool cache_remove(const struct cache *cache, const struct cache_key *key);

/* What to remove. */
struct cache_trim {
    uint64_t limit_bytes;  /* where there is more than this, the oldest, … */
    uint64_t target_bytes; /* … until no more than this is left; */
    time_t used_before;    /* and all that was not used since then */
};

/* What was removed, and what is there now. */
struct cache_trimmed {
    uint64_t removed_count;
    uint64_t removed_bytes;
    uint64_t kept_count;
    uint64_t kept_bytes;
};

/* PXR_IO: the directory cannot be written, or somebody else evicts. */
enum pxr_status cache_trim(struct cache *cache, const struct cache_trim *trim,
                           struct cache_trimmed *trimmed, struct pxr_error *err);

/* The limit of this cache; and setting the one of its directory (CACHE_LIMIT_KEPT). */
uint64_t cache_limit(const struct cache *cache);
enum pxr_status cache_set_limit(struct cache *cache, uint64_t limit_bytes, struct pxr_error *err);

#endif
