/* SPDX-License-Identifier: Apache-2.0
 *
 * A store of bytes by key that outlives the process and that any number of processes share. What
 * cannot be read, or is not exactly what was stored, is not there; what cannot be stored is not
 * stored. So no function here can fail in a way that a caller has to deal with.
 *
 * Everything is thread-safe but cache_close.
 */
#ifndef PTXRUN_CACHE_CACHE_H
#define PTXRUN_CACHE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/key.h"
#include "util/error.h"

struct cache;

/* For limit_bytes: the one that was set for the directory (cache/admin.h), or the default, which is
 * that of NVIDIA's driver on desktops and servers. */
#define CACHE_LIMIT_KEPT    UINT64_MAX
#define CACHE_LIMIT_DEFAULT (UINT64_C(1) << 30)

/* The cache in a directory, which is made if need be. limit_bytes: how much all entries together
 * may take on the disk; beyond that those that were not used for longest go.
 * PXR_IO: the directory cannot be had. PXR_INVALID_ARGUMENT: it is not safe, as others may write in
 * it or it is a link. */
enum pxr_status cache_open(const char *path, uint64_t limit_bytes, struct cache **cache,
                           struct pxr_error *err);
void cache_close(struct cache *cache);

/* The bytes of a key (malloc), if they are there. A damaged entry is logged once and not there. */
bool cache_get(struct cache *cache, const struct cache_key *key, uint8_t **bytes,
               size_t *size_bytes);

/* What a person may want to know of an entry. It is shown, and of no other use. */
struct cache_about {
    const char *kind;   /* "code" */
    const char *name;   /* of the kernel */
    const char *target; /* the CPU for which it is */
    const char *maker;  /* what made it: a build id */
};
#define CACHE_ABOUT_WORDS (sizeof(struct cache_about) / sizeof(char *))

/* Stores them, in place of what was there. Returns whether they are there now. Words of *about may
 * be NULL. */
bool cache_put_about(struct cache *cache, const struct cache_key *key,
                     const struct cache_about *about, const void *bytes, size_t size_bytes);
/* Nothing is known of the entry. */
bool cache_put(struct cache *cache, const struct cache_key *key, const void *bytes,
               size_t size_bytes);

/* ---- making an entry once ---- */

enum cache_claim_result {
    CACHE_CLAIM_HELD,      /* nobody else makes it: make it, put it, release */
    CACHE_CLAIM_PRESENT,   /* somebody has made it meanwhile: get it */
    CACHE_CLAIM_IMPOSSIBLE /* it took too long, or claims do not work here: make it all the same */
};

/* Held by this process until it is released or the process ends, however it ends. */
struct cache_claim {
    int fd;
};

/* To be called when the entry is not there. Waits at most so long for another one that makes the
 * same entry, in this process or another. Nobody may claim two entries at once. */
enum cache_claim_result cache_claim(struct cache *cache, const struct cache_key *key,
                                    unsigned patience_ms, struct cache_claim *claim);
void cache_release(struct cache_claim *claim);

#endif
