/* SPDX-License-Identifier: Apache-2.0
 *
 * An entry as the bytes of its file: a header, a few words about it, and the payload, in zstd
 * if that is worth it: it is smaller then.
 * Internal to cache/.
 *
 *     bytes  0 magic   8 format   12 size of the words   16 key   48 size of the payload
 *           56 size as stored   64 when it was made, in seconds since 1970
 *           72 BLAKE3 of the 72 bytes before and of all behind
 *          104 the words, each with a zero behind it; the payload
 *
 * Numbers have their lowest byte first.
 */
#ifndef PTXRUN_CACHE_ENTRY_H
#define PTXRUN_CACHE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/key.h"

#define CACHE_ENTRY_FORMAT       3u
#define CACHE_ENTRY_HEADER_BYTES 104u

/* The largest payload, and the largest file. */
#define CACHE_PAYLOAD_MAX_BYTES ((size_t)64 << 20)
#define CACHE_ENTRY_MAX_BYTES   (CACHE_PAYLOAD_MAX_BYTES + ((size_t)1 << 20))

/* Longer words are cut off. */
#define CACHE_WORD_MAX_BYTES  1000u
#define CACHE_WORDS_MAX_BYTES (CACHE_ABOUT_WORDS * (CACHE_WORD_MAX_BYTES + 1))

/* What has to be read of an entry to see all words. */
#define CACHE_ENTRY_HEAD_BYTES (CACHE_ENTRY_HEADER_BYTES + CACHE_WORDS_MAX_BYTES)

/* malloc; false when there is no memory or the payload is too large. */
bool cache_entry_pack(const struct cache_key *key, const struct cache_about *about,
                      const void *payload, size_t payload_bytes, uint8_t **entry,
                      size_t *entry_bytes);

struct cache_entry_head {
    struct cache_key key;
    struct cache_about about; /* points into the entry */
    uint64_t payload_bytes;
    uint64_t made_s;
};

/* What the first bytes of an entry say of it; they may be cut off behind the words. False when they
 * are no header. Nothing else is checked. */
bool cache_entry_head(const uint8_t *bytes, size_t count, struct cache_entry_head *head);

/* The payload (malloc) of the entry of that key. False when anything is not as it was packed;
 * *why says what. Nothing is allocated by a size that the checksum does not vouch for. */
bool cache_entry_unpack(const struct cache_key *key, const uint8_t *entry, size_t entry_bytes,
                        uint8_t **payload, size_t *payload_bytes, const char **why);

#endif
