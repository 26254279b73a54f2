/* SPDX-License-Identifier: Apache-2.0
 *
 * A cache in a new directory, and payloads that are known by their key.
 */
#ifndef PTXRUN_TESTS_CACHE_FIXTURE_H
#define PTXRUN_TESTS_CACHE_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <criterion/criterion.h>

#include "cache/cache.h"

/* The path of a directory that does not exist yet, inside a new one. Static storage. */
const char *new_path(void);
void remove_path(void); /* and all that is in it */

struct cache *open_cache(uint64_t limit_bytes); /* at new_path() */

struct cache_key numbered_key(uint64_t number);

/* malloc; the size, too, depends on the number. Hard to compress. */
uint8_t *numbered_payload(uint64_t number, size_t *size_bytes);

bool put_numbered(struct cache *cache, uint64_t number);

/* Whether the entry is there; fails the test if it is another one's. */
bool has_numbered(struct cache *cache, uint64_t number);

/* The file of an entry. Static storage. */
const char *entry_path(const struct cache_key *key);

/* How much all files below the cache's folders take on the disk. */
uint64_t stored_bytes(void);

#endif
