/* SPDX-License-Identifier: Apache-2.0
 *
 * See entry.h.
 */
#include "cache/entry.h"
#include "cache/number.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#define MAGIC       "ptxrunKC"
#define MAGIC_BYTES 8u

/* Object code shrinks to a third in a tenth of a millisecond; higher levels win little. */
#define ZSTD_LEVEL 1

/* Two blocks of a file system, with the header. To unpack less takes longer than to read it. */
#define PLAIN_BYTES ((size_t)7500)

enum {
    AT_MAGIC = 0,
    AT_FORMAT = 8,
    AT_WORDS_BYTES = 12,
    AT_KEY = 16,
    AT_PAYLOAD_BYTES = 48,
    AT_PACKED_BYTES = 56,
    AT_MADE = 64,
    AT_CHECKSUM = 72
};

_Static_assert(AT_CHECKSUM + CACHE_KEY_BYTES == CACHE_ENTRY_HEADER_BYTES, "the header has gaps");

static struct cache_key checksum(const uint8_t *entry, size_t entry_bytes)
{
    struct cache_hash hash;
    cache_hash_init(&hash, "checksum");
    cache_hash_bytes(&hash, entry, AT_CHECKSUM);
    cache_hash_bytes(&hash, entry + CACHE_ENTRY_HEADER_BYTES,
                     entry_bytes - CACHE_ENTRY_HEADER_BYTES);
    return cache_hash_key(&hash);
}

/* The words of *about, each with its zero. Returns their size. */
static size_t put_words(const struct cache_about *about, uint8_t words[CACHE_WORDS_MAX_BYTES])
{
    const char *const texts[] = {about->kind, about->name, about->target, about->maker};
    _Static_assert(sizeof texts / sizeof texts[0] == CACHE_ABOUT_WORDS, "a word is missing");
    size_t len = 0;
    for (size_t i = 0; i < CACHE_ABOUT_WORDS; i++) {
        size_t word_bytes = texts[i] ? strnlen(texts[i], CACHE_WORD_MAX_BYTES) : 0;
        if (word_bytes > 0)
            memcpy(words + len, texts[i], word_bytes);
        words[len + word_bytes] = 0;
        len += word_bytes + 1;
    }
    return len;
}

static void put_header(uint8_t *entry, const struct cache_key *key, size_t words_bytes,
                       size_t payload_bytes, size_t packed_bytes)
{
    memcpy(entry + AT_MAGIC, MAGIC, MAGIC_BYTES);
    cache_put_number(entry + AT_FORMAT, CACHE_ENTRY_FORMAT, 4);
    cache_put_number(entry + AT_WORDS_BYTES, words_bytes, 4);
    memcpy(entry + AT_KEY, key->bytes, CACHE_KEY_BYTES);
    cache_put_number(entry + AT_PAYLOAD_BYTES, payload_bytes, 8);
    cache_put_number(entry + AT_PACKED_BYTES, packed_bytes, 8);
    cache_put_number(entry + AT_MADE, (uint64_t)time(NULL), 8);
    struct cache_key sum = checksum(entry, CACHE_ENTRY_HEADER_BYTES + words_bytes + packed_bytes);
    memcpy(entry + AT_CHECKSUM, sum.bytes, sizeof sum.bytes);
}

/* A payload is stored as it is if it is small, or does not shrink. */
static size_t pack(const void *payload, size_t payload_bytes, uint8_t *packed, size_t room)
{
    size_t packed_bytes = payload_bytes;
    if (payload_bytes > PLAIN_BYTES)
        packed_bytes = ZSTD_compress(packed, room, payload, payload_bytes, ZSTD_LEVEL);
    if (packed_bytes < payload_bytes)
        return packed_bytes; /* so it is no error, either */
    memcpy(packed, payload, payload_bytes);
    return payload_bytes;
}

bool cache_entry_pack(const struct cache_key *key, const struct cache_about *about,
                      const void *payload, size_t payload_bytes, uint8_t **entry,
                      size_t *entry_bytes)
{
    if (payload_bytes > CACHE_PAYLOAD_MAX_BYTES)
        return false;
    size_t room = ZSTD_compressBound(payload_bytes);
    uint8_t *bytes = malloc(CACHE_ENTRY_HEADER_BYTES + CACHE_WORDS_MAX_BYTES + room);
    if (!bytes)
        return false;
    size_t words_bytes = put_words(about, bytes + CACHE_ENTRY_HEADER_BYTES);
    size_t head_bytes = CACHE_ENTRY_HEADER_BYTES + words_bytes;
    size_t packed_bytes = pack(payload, payload_bytes, bytes + head_bytes, room);
    put_header(bytes, key, words_bytes, payload_bytes, packed_bytes);
    *entry = bytes;
    *entry_bytes = head_bytes + packed_bytes;
    return true;
}

/* Whether the bytes behind the header are so many words. */
static bool are_words(const uint8_t *bytes, size_t count)
{
    size_t zeros = 0;
    for (size_t i = 0; i < count; i++)
        zeros += bytes[i] == 0;
    return zeros == CACHE_ABOUT_WORDS && bytes[count - 1] == 0;
}

bool cache_entry_head(const uint8_t *bytes, size_t count, struct cache_entry_head *head)
{
    if (count < CACHE_ENTRY_HEADER_BYTES || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0 ||
        cache_get_number(bytes + AT_FORMAT, 4) != CACHE_ENTRY_FORMAT)
        return false;
    size_t words_bytes = (size_t)cache_get_number(bytes + AT_WORDS_BYTES, 4);
    const char *word = (const char *)bytes + CACHE_ENTRY_HEADER_BYTES;
    if (words_bytes > count - CACHE_ENTRY_HEADER_BYTES ||
        !are_words(bytes + CACHE_ENTRY_HEADER_BYTES, words_bytes))
        return false;
    memcpy(head->key.bytes, bytes + AT_KEY, CACHE_KEY_BYTES);
    head->payload_bytes = cache_get_number(bytes + AT_PAYLOAD_BYTES, 8);
    head->made_s = cache_get_number(bytes + AT_MADE, 8);
    struct cache_about *about = &head->about;
    const char **const words[] = {&about->kind, &about->name, &about->target, &about->maker};
    for (size_t i = 0; i < CACHE_ABOUT_WORDS; i++) {
        *words[i] = word;
        word += strlen(word) + 1;
    }
    return true;
}

/* NULL if the header and all that it says of the entry are right. */
static const char *find_damage(const struct cache_key *key, const uint8_t *entry,
                               size_t entry_bytes)
{
    if (entry_bytes < CACHE_ENTRY_HEADER_BYTES || memcmp(entry, MAGIC, MAGIC_BYTES) != 0)
        return "it is no entry";
    if (cache_get_number(entry + AT_FORMAT, 4) != CACHE_ENTRY_FORMAT)
        return "it has the format of another version";
    if (memcmp(entry + AT_KEY, key->bytes, CACHE_KEY_BYTES) != 0)
        return "it is the entry of another key";
    uint64_t words_bytes = cache_get_number(entry + AT_WORDS_BYTES, 4);
    uint64_t rest_bytes = entry_bytes - CACHE_ENTRY_HEADER_BYTES;
    if (words_bytes > rest_bytes ||
        cache_get_number(entry + AT_PACKED_BYTES, 8) != rest_bytes - words_bytes)
        return "its size is wrong";
    struct cache_key sum = checksum(entry, entry_bytes);
    if (memcmp(entry + AT_CHECKSUM, sum.bytes, sizeof sum.bytes) != 0)
        return "its checksum is wrong";
    if (cache_get_number(entry + AT_PAYLOAD_BYTES, 8) > CACHE_PAYLOAD_MAX_BYTES)
        return "it is too large";
    return NULL;
}

static bool unpack(const uint8_t *packed, size_t packed_bytes, uint8_t *payload,
                   size_t payload_bytes)
{
    if (packed_bytes != payload_bytes)
        return ZSTD_decompress(payload, payload_bytes, packed, packed_bytes) == payload_bytes;
    memcpy(payload, packed, payload_bytes);
    return true;
}

bool cache_entry_unpack(const struct cache_key *key, const uint8_t *entry, size_t entry_bytes,
                        uint8_t **payload, size_t *payload_bytes, const char **why)
{
    *why = find_damage(key, entry, entry_bytes);
    if (*why)
        return false;
    size_t size_bytes = (size_t)cache_get_number(entry + AT_PAYLOAD_BYTES, 8);
    uint8_t *bytes = malloc(size_bytes + 1);
    if (!bytes) {
        *why = "there is no memory for it";
        return false;
    }
    size_t packed_bytes = (size_t)cache_get_number(entry + AT_PACKED_BYTES, 8);
    if (!unpack(entry + entry_bytes - packed_bytes, packed_bytes, bytes, size_bytes)) {
        free(bytes);
        *why = "it cannot be unpacked";
        return false;
    }
    *payload = bytes;
    *payload_bytes = size_bytes;
    return true;
}
