/* SPDX-License-Identifier: Apache-2.0
 *
 * See entry.h.
 */
#include "cache/entry.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define MAGIC       "ptxrunKC"
#define MAGIC_BYTES 8u

/* Object code shrinks to a third in a tenth of a millisecond; higher levels win little. */
#define ZSTD_LEVEL 1

enum {
    AT_MAGIC = 0,
    AT_FORMAT = 8,
    AT_ZERO = 12,
    AT_KEY = 16,
    AT_PAYLOAD_BYTES = 48,
    AT_PACKED_BYTES = 56,
    AT_CHECKSUM = 64
};

_Static_assert(AT_CHECKSUM + CACHE_KEY_BYTES == CACHE_ENTRY_HEADER_BYTES, "the header has gaps");

static void put_number(uint8_t *at, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(number >> (8 * i));
}

static uint64_t get_number(const uint8_t *at, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

static struct cache_key checksum(const uint8_t *entry, size_t entry_bytes)
{
    struct cache_hash hash;
    cache_hash_init(&hash, "checksum");
    cache_hash_bytes(&hash, entry, AT_CHECKSUM);
    cache_hash_bytes(&hash, entry + CACHE_ENTRY_HEADER_BYTES,
                     entry_bytes - CACHE_ENTRY_HEADER_BYTES);
    return cache_hash_key(&hash);
}

bool cache_entry_pack(const struct cache_key *key, const void *payload, size_t payload_bytes,
                      uint8_t **entry, size_t *entry_bytes)
{
    if (payload_bytes > CACHE_PAYLOAD_MAX_BYTES)
        return false;
    size_t room = ZSTD_compressBound(payload_bytes);
    uint8_t *bytes = malloc(CACHE_ENTRY_HEADER_BYTES + room);
    if (!bytes)
        return false;
    size_t packed_bytes =
        ZSTD_compress(bytes + CACHE_ENTRY_HEADER_BYTES, room, payload, payload_bytes, ZSTD_LEVEL);
    if (ZSTD_isError(packed_bytes)) {
        free(bytes);
        return false;
    }
    memcpy(bytes + AT_MAGIC, MAGIC, MAGIC_BYTES);
    put_number(bytes + AT_FORMAT, CACHE_ENTRY_FORMAT, 4);
    put_number(bytes + AT_ZERO, 0, 4);
    memcpy(bytes + AT_KEY, key->bytes, CACHE_KEY_BYTES);
    put_number(bytes + AT_PAYLOAD_BYTES, payload_bytes, 8);
    put_number(bytes + AT_PACKED_BYTES, packed_bytes, 8);
    *entry_bytes = CACHE_ENTRY_HEADER_BYTES + packed_bytes;
    struct cache_key sum = checksum(bytes, *entry_bytes);
    memcpy(bytes + AT_CHECKSUM, sum.bytes, sizeof sum.bytes);
    *entry = bytes;
    return true;
}

/* NULL if the header and all that it says of the entry are right. */
static const char *find_damage(const struct cache_key *key, const uint8_t *entry,
                               size_t entry_bytes)
{
    if (entry_bytes < CACHE_ENTRY_HEADER_BYTES || memcmp(entry, MAGIC, MAGIC_BYTES) != 0)
        return "it is no entry";
    if (get_number(entry + AT_FORMAT, 4) != CACHE_ENTRY_FORMAT)
        return "it has the format of another version";
    if (memcmp(entry + AT_KEY, key->bytes, CACHE_KEY_BYTES) != 0)
        return "it is the entry of another key";
    if (get_number(entry + AT_PACKED_BYTES, 8) != entry_bytes - CACHE_ENTRY_HEADER_BYTES)
        return "its size is wrong";
    struct cache_key sum = checksum(entry, entry_bytes);
    if (memcmp(entry + AT_CHECKSUM, sum.bytes, sizeof sum.bytes) != 0)
        return "its checksum is wrong";
    if (get_number(entry + AT_PAYLOAD_BYTES, 8) > CACHE_PAYLOAD_MAX_BYTES)
        return "it is too large";
    return NULL;
}

bool cache_entry_unpack(const struct cache_key *key, const uint8_t *entry, size_t entry_bytes,
                        uint8_t **payload, size_t *payload_bytes, const char **why)
{
    *why = find_damage(key, entry, entry_bytes);
    if (*why)
        return false;
    size_t size_bytes = (size_t)get_number(entry + AT_PAYLOAD_BYTES, 8);
    uint8_t *bytes = malloc(size_bytes + 1);
    if (!bytes) {
        *why = "there is no memory for it";
        return false;
    }
    if (ZSTD_decompress(bytes, size_bytes, entry + CACHE_ENTRY_HEADER_BYTES,
                        entry_bytes - CACHE_ENTRY_HEADER_BYTES) != size_bytes) {
        free(bytes);
        *why = "it cannot be unpacked";
        return false;
    }
    *payload = bytes;
    *payload_bytes = size_bytes;
    return true;
}
