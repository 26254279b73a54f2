/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this folder share. Internal to cache/.
 *
 * In the directory of a cache are the entries, in up to 256 folders; `lock`, an empty file of whose
 * bytes locks are taken; `size`, a number; and `counts` (counts.h).
 */
#ifndef PTXRUN_CACHE_STORE_H
#define PTXRUN_CACHE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cache/cache.h"
#include "cache/directory.h"
#include "cache/entry.h"

struct cache {
    int directory; /* cache_directory gives it out */
    dev_t device;  /* of the directory */
    ino_t inode;
    uint64_t limit_bytes;
    char path[]; /* for messages */
};

#define CACHE_LOCK_FILE   "lock"
#define CACHE_SIZE_FILE   "size"
#define CACHE_COUNTS_FILE "counts"
#define CACHE_LIMIT_FILE  "limit"

/* Entries that are being written are called so, with more behind it. */
#define CACHE_TEMPORARY_PREFIX "tmp."

#define CACHE_FOLDERS          256

/* The descriptor of the directory, or -1: programs that become daemons close what they did not
 * open, and the number may be another directory's by now. */
int cache_directory(const struct cache *cache);

/* A process that writes more than its files may have gets a signal, which by default ends it. */
bool cache_may_write(size_t size_bytes);

/* ---- store.c: entries as they are in their files ---- */

/* The bytes of an entry's file (malloc), which may be damaged. *why: NULL when there is none. */
bool cache_load_entry(const struct cache *cache, const struct cache_key *key, uint8_t **entry,
                      size_t *entry_bytes, const char **why);

/* The first bytes of it, for cache_entry_head; returns how many. */
size_t cache_load_head(const struct cache *cache, const struct cache_key *key,
                       uint8_t head[CACHE_ENTRY_HEAD_BYTES]);

/* Makes them the entry of the key, which they have to be. Returns whether they are there now. */
bool cache_store_entry(const struct cache *cache, const struct cache_key *key, const uint8_t *entry,
                       size_t entry_bytes);

/* ---- lock.c: locks end with the process that holds them ---- */

/* Which bytes of `lock` stand for what; those from CACHE_LOCK_ENTRIES on for entries. */
enum { CACHE_LOCK_SIZE, CACHE_LOCK_EVICTION, CACHE_LOCK_COUNTS, CACHE_LOCK_ENTRIES };

/* A descriptor that holds the lock until it is closed, or -1: nobody gets it at once. */
int cache_lock_try(const struct cache *cache, uint64_t byte);
/* The same, with some patience. */
int cache_lock_wait(const struct cache *cache, uint64_t byte, unsigned patience_ms);

/* ---- size.c: how much the entries take ---- */

/* What a file takes on the disk, nearly. */
static inline uint64_t cache_disk_bytes(uint64_t file_bytes)
{
    return (file_bytes + 4095) & ~UINT64_C(4095);
}

/* Notes an entry that will be written. False: it must not be. *is_full: there is too much now, or
 * nobody knows how much there is. */
bool cache_size_add(const struct cache *cache, uint64_t entry_bytes, bool *is_full);

/* Around a count of all entries: from the first call to the second nobody knows the size. */
bool cache_size_begin_count(const struct cache *cache);
void cache_size_end_count(const struct cache *cache, uint64_t all_bytes);

/* ---- limit.c: how much they may take ---- */

/* The limit that was set for the directory, or the default. */
uint64_t cache_limit_read(int directory);

/* ---- evict.c ---- */

/* Removes the entries that were not used for longest, and what was left behind by processes that
 * were killed while they wrote, unless another process is at it. spared: just written, and perhaps
 * no newer than others as far as the clock of the file system tells. */
void cache_evict(const struct cache *cache, const struct cache_key *spared);

#endif
