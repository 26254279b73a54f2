/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of an entry: a hash over everything that decides what is in it. The parts are added one
 * after the other, each with its length, so that no two different lists of parts are the same
 * bytes.
 */
#ifndef PTXRUN_CACHE_KEY_H
#define PTXRUN_CACHE_KEY_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_KEY_BYTES 32

struct cache_key {
    uint8_t bytes[CACHE_KEY_BYTES];
};

#define CACHE_HASH_STATE_BYTES 1920

/* A hash in progress. */
struct cache_hash {
    alignas(8) uint8_t state[CACHE_HASH_STATE_BYTES];
};

/* kind: what sort of entry it is, so that two sorts never meet. */
void cache_hash_init(struct cache_hash *hash, const char *kind);
/* Who does not know the secret cannot make the same hash. */
void cache_hash_init_keyed(struct cache_hash *hash, const struct cache_key *secret);
void cache_hash_bytes(struct cache_hash *hash, const void *bytes, size_t size_bytes);
void cache_hash_text(struct cache_hash *hash, const char *text);
void cache_hash_number(struct cache_hash *hash, uint64_t number);
struct cache_key cache_hash_key(const struct cache_hash *hash);

#endif
