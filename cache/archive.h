/* SPDX-License-Identifier: Apache-2.0
 *
 * An archive: entries of a cache and recordings in one file, to be taken elsewhere.
 *
 *     bytes  0 magic   8 format   12 1 if it is signed   16 size of the file   24 number of parts
 *           32 signature: BLAKE3 of the bytes before and of all parts, with the key; zero without
 *           64 checksum: BLAKE3 of the 64 bytes before and of all parts
 *           96 the parts: kind (4 bytes), 4 bytes of zero, size (8 bytes), so many bytes
 *
 * Numbers have their lowest byte first. An entry is a part as it is in its file (cache/entry.h);
 * names and paths there are none.
 */
#ifndef PTXRUN_CACHE_ARCHIVE_H
#define PTXRUN_CACHE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "cache/key.h"
#include "util/error.h"

/* Archives are read whole, so that what was checked is what is taken. */
#define CACHE_ARCHIVE_MAX_BYTES ((uint64_t)4 << 30)

enum cache_part_kind { CACHE_PART_ENTRY = 1, CACHE_PART_RECORDING = 2 };

struct cache_part {
    enum cache_part_kind kind;
    const uint8_t *bytes;
    size_t count;
};

/* A secret that both sides have, made of whatever bytes they agree on. */
struct cache_secret {
    struct cache_key key;
};
struct cache_secret cache_secret_of(const void *bytes, size_t count);

/* ---- writing ---- */

struct cache_archive_writer {
    int fd; /* of an empty file; stays the caller's */
    const struct cache_secret *secret;
    bool has_failed; /* errno said why */
    int reason;
    uint64_t size_bytes;
    uint64_t parts;
    struct cache_hash sums[2]; /* of the parts: the signature's and the checksum's */
};

/* secret: NULL for an archive that is not signed. */
void cache_archive_begin(struct cache_archive_writer *writer, int fd,
                         const struct cache_secret *secret);
void cache_archive_add(struct cache_archive_writer *writer, const struct cache_part *part);
/* PXR_IO: not all could be written. */
enum pxr_status cache_archive_end(struct cache_archive_writer *writer, struct pxr_error *err);

/* ---- reading ---- */

struct cache_archive {
    const uint8_t *bytes; /* the caller's */
    size_t count;
    size_t at;
    bool is_signed; /* and the signature was found right, if there was a secret */
};

/* Checks all of it before anything is taken. secret: the signature has to be there, and right; NULL
 * when nobody asks. Errors: PXR_BAD_IMAGE, with a sentence. */
enum pxr_status cache_archive_open(const uint8_t *bytes, size_t count,
                                   const struct cache_secret *secret, struct cache_archive *archive,
                                   struct pxr_error *err);

/* The next part; false behind the last. */
bool cache_archive_next(struct cache_archive *archive, struct cache_part *part);

/* ---- entries as parts ---- */

/* The bytes of an entry's file (malloc); false when there is none, or it is damaged. */
bool cache_export(const struct cache *cache, const struct cache_key *key, uint8_t **entry,
                  size_t *entry_bytes);

/* An entry that came from elsewhere, looked at in all its parts: its key, what it says of itself
 * (points into it), and its payload (malloc). False: it is damaged; *why says how. */
bool cache_part_open(const struct cache_part *part, struct cache_key *key,
                     struct cache_about *about, uint8_t **payload, size_t *payload_bytes,
                     const char **why);

/* Makes the part, which has been opened, the entry of its key. */
bool cache_import(const struct cache *cache, const struct cache_part *part);

#endif
