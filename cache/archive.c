/* SPDX-License-Identifier: Apache-2.0
 *
 * See archive.h.
 */
#include "cache/archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/number.h"
#include "cache/store.h"

#define MAGIC       "ptxrunAR"
#define MAGIC_BYTES 8u
#define FORMAT      1u

enum {
    AT_FORMAT = 8,
    AT_SIGNED = 12,
    AT_SIZE = 16,
    AT_PARTS = 24,
    AT_SIGNATURE = 32,
    AT_CHECKSUM = 64,
    HEADER_BYTES = 96,
    PART_HEADER_BYTES = 16
};

/* The places in cache_archive_writer.sums. */
enum sum { SIGNATURE, CHECKSUM };

struct cache_secret cache_secret_of(const void *bytes, size_t count)
{
    struct cache_hash hash;
    cache_hash_init(&hash, "archive secret");
    cache_hash_bytes(&hash, bytes, count);
    return (struct cache_secret){cache_hash_key(&hash)};
}

/* ---- sums ---- */

static void begin_sum(struct cache_hash *hash, enum sum sum, const struct cache_secret *secret)
{
    if (sum == SIGNATURE && secret)
        cache_hash_init_keyed(hash, &secret->key);
    else
        cache_hash_init(hash, "archive");
}

/* The parts come first: the header is written last. */
static struct cache_key end_sum(const struct cache_hash *parts, enum sum sum,
                                const uint8_t header[HEADER_BYTES])
{
    struct cache_hash hash = *parts;
    cache_hash_bytes(&hash, header, sum == SIGNATURE ? AT_SIGNATURE : AT_CHECKSUM);
    return cache_hash_key(&hash);
}

/* Takes as long for each. */
static bool are_equal(const uint8_t *a, const uint8_t *b, size_t count)
{
    unsigned difference = 0;
    for (size_t i = 0; i < count; i++)
        difference |= (unsigned)(a[i] ^ b[i]);
    return difference == 0;
}

/* ---- writing ---- */

static void write_bytes(struct cache_archive_writer *writer, const uint8_t *bytes, size_t count)
{
    while (count > 0 && !writer->has_failed) {
        ssize_t put =
            cache_may_write(writer->size_bytes + count) ? write(writer->fd, bytes, count) : -1;
        if (put < 0 && errno == EINTR)
            continue;
        writer->has_failed = put <= 0;
        writer->reason = put == 0 ? ENOSPC : errno;
        if (put > 0) {
            writer->size_bytes += (uint64_t)put;
            bytes += put;
            count -= (size_t)put;
        }
    }
}

void cache_archive_begin(struct cache_archive_writer *writer, int fd,
                         const struct cache_secret *secret)
{
    static const uint8_t room[HEADER_BYTES];
    *writer = (struct cache_archive_writer){.fd = fd, .secret = secret};
    begin_sum(&writer->sums[SIGNATURE], SIGNATURE, secret);
    begin_sum(&writer->sums[CHECKSUM], CHECKSUM, secret);
    write_bytes(writer, room, sizeof room);
}

static void add_bytes(struct cache_archive_writer *writer, const uint8_t *bytes, size_t count)
{
    for (int i = 0; i < 2; i++)
        cache_hash_bytes(&writer->sums[i], bytes, count);
    write_bytes(writer, bytes, count);
}

void cache_archive_add(struct cache_archive_writer *writer, const struct cache_part *part)
{
    uint8_t header[PART_HEADER_BYTES] = {0};
    cache_put_number(header, part->kind, 4);
    cache_put_number(header + 8, part->count, 8);
    writer->parts++;
    add_bytes(writer, header, sizeof header);
    add_bytes(writer, part->bytes, part->count);
}

enum pxr_status cache_archive_end(struct cache_archive_writer *writer, struct pxr_error *err)
{
    uint8_t header[HEADER_BYTES] = MAGIC;
    cache_put_number(header + AT_FORMAT, FORMAT, 4);
    cache_put_number(header + AT_SIGNED, writer->secret != NULL, 4);
    cache_put_number(header + AT_SIZE, writer->size_bytes, 8);
    cache_put_number(header + AT_PARTS, writer->parts, 8);
    if (writer->secret) {
        struct cache_key sum = end_sum(&writer->sums[SIGNATURE], SIGNATURE, header);
        memcpy(header + AT_SIGNATURE, sum.bytes, sizeof sum.bytes);
    }
    struct cache_key sum = end_sum(&writer->sums[CHECKSUM], CHECKSUM, header);
    memcpy(header + AT_CHECKSUM, sum.bytes, sizeof sum.bytes);
    if (!writer->has_failed && pwrite(writer->fd, header, sizeof header, 0) != sizeof header) {
        writer->has_failed = true;
        writer->reason = errno;
    }
    return writer->has_failed ? pxr_fail(err, PXR_IO, "%s", strerror(writer->reason)) : PXR_OK;
}

/* ---- reading ---- */

/* The part at *at, which moves behind it; false when it is not whole. */
static bool read_part(const uint8_t *bytes, size_t count, size_t *at, struct cache_part *part)
{
    if (count - *at < PART_HEADER_BYTES)
        return false;
    uint64_t part_bytes = cache_get_number(bytes + *at + 8, 8);
    part->kind = (enum cache_part_kind)cache_get_number(bytes + *at, 4);
    if (cache_get_number(bytes + *at + 4, 4) != 0 || part_bytes > count - *at - PART_HEADER_BYTES)
        return false;
    part->bytes = bytes + *at + PART_HEADER_BYTES;
    part->count = (size_t)part_bytes;
    *at += PART_HEADER_BYTES + part->count;
    return part->kind == CACHE_PART_ENTRY || part->kind == CACHE_PART_RECORDING;
}

static const char *find_wrong_header(const uint8_t *bytes, size_t count)
{
    if (count < HEADER_BYTES || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
        return "it is no archive of ptxcache";
    if (cache_get_number(bytes + AT_FORMAT, 4) != FORMAT)
        return "it has the format of another version of ptxrun";
    if (cache_get_number(bytes + AT_SIZE, 8) != count)
        return "it was cut off, or something was added";
    return NULL;
}

/* Walks over all parts, adds them up, and compares the sums. */
static const char *find_wrong_parts(const uint8_t *bytes, size_t count,
                                    const struct cache_secret *secret)
{
    struct cache_hash sums[2];
    struct cache_part part;
    uint64_t parts = 0;
    begin_sum(&sums[SIGNATURE], SIGNATURE, secret);
    begin_sum(&sums[CHECKSUM], CHECKSUM, secret);
    for (size_t at = HEADER_BYTES; at < count; parts++) {
        size_t start = at;
        if (!read_part(bytes, count, &at, &part))
            return "it is damaged";
        for (int i = 0; i < 2; i++) {
            cache_hash_bytes(&sums[i], bytes + start, PART_HEADER_BYTES);
            cache_hash_bytes(&sums[i], part.bytes, part.count);
        }
    }
    struct cache_key sum = end_sum(&sums[CHECKSUM], CHECKSUM, bytes);
    if (parts != cache_get_number(bytes + AT_PARTS, 8) ||
        !are_equal(sum.bytes, bytes + AT_CHECKSUM, sizeof sum.bytes))
        return "it is damaged: its checksum is wrong";
    sum = end_sum(&sums[SIGNATURE], SIGNATURE, bytes);
    if (secret && cache_get_number(bytes + AT_SIGNED, 4) != 1)
        return "it is not signed";
    if (secret && !are_equal(sum.bytes, bytes + AT_SIGNATURE, sizeof sum.bytes))
        return "its signature is not one with this key";
    return NULL;
}

enum pxr_status cache_archive_open(const uint8_t *bytes, size_t count,
                                   const struct cache_secret *secret, struct cache_archive *archive,
                                   struct pxr_error *err)
{
    const char *why = find_wrong_header(bytes, count);
    if (!why)
        why = find_wrong_parts(bytes, count, secret);
    if (why)
        return pxr_fail(err, PXR_BAD_IMAGE, "%s", why);
    *archive = (struct cache_archive){.bytes = bytes,
                                      .count = count,
                                      .at = HEADER_BYTES,
                                      .is_signed = cache_get_number(bytes + AT_SIGNED, 4) == 1};
    return PXR_OK;
}

bool cache_archive_next(struct cache_archive *archive, struct cache_part *part)
{
    return archive->at < archive->count &&
           read_part(archive->bytes, archive->count, &archive->at, part);
}

/* ---- entries as parts ---- */

bool cache_export(const struct cache *cache, const struct cache_key *key, uint8_t **entry,
                  size_t *entry_bytes)
{
    const char *why;
    uint8_t *payload;
    size_t payload_bytes;
    if (!cache_load_entry(cache, key, entry, entry_bytes, &why))
        return false;
    if (cache_entry_unpack(key, *entry, *entry_bytes, &payload, &payload_bytes, &why)) {
        free(payload);
        return true;
    }
    free(*entry);
    return false;
}

bool cache_part_open(const struct cache_part *part, struct cache_key *key,
                     struct cache_about *about, uint8_t **payload, size_t *payload_bytes,
                     const char **why)
{
    struct cache_entry_head head;
    *why = "it is no entry, or one of another version of ptxrun";
    if (part->count > CACHE_ENTRY_MAX_BYTES || !cache_entry_head(part->bytes, part->count, &head))
        return false;
    *key = head.key;
    *about = head.about;
    return cache_entry_unpack(key, part->bytes, part->count, payload, payload_bytes, why);
}

bool cache_import(const struct cache *cache, const struct cache_part *part)
{
    struct cache_entry_head head;
    return cache_entry_head(part->bytes, part->count, &head) &&
           cache_store_entry(cache, &head.key, part->bytes, part->count);
}
