/* SPDX-License-Identifier: Apache-2.0
 *
 * Archives give back what was put into them, all of it, or nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/admin.h"
#include "cache/archive.h"
#include "cache_fixture.h"

#define LARGE   (UINT64_C(1) << 30)
#define ENTRIES 3

static const char recording[] = "v1\tlaunches=1\n";

/* An archive (malloc) of a few entries and a recording. */
static uint8_t *make_archive(const struct cache_secret *secret, size_t *count)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_archive_writer writer;
    FILE *file = tmpfile();
    cr_assert_not_null(file);
    cache_archive_begin(&writer, fileno(file), secret);
    for (uint64_t i = 0; i < ENTRIES; i++) {
        struct cache_key key = numbered_key(i);
        struct cache_part part = {.kind = CACHE_PART_ENTRY};
        uint8_t *entry;
        cr_assert(
            cache_put_about(cache, &key, &(struct cache_about){.kind = "code"}, &i, sizeof i));
        cr_assert(cache_export(cache, &key, &entry, &part.count));
        part.bytes = entry;
        cache_archive_add(&writer, &part);
        free(entry);
    }
    cache_archive_add(&writer, &(struct cache_part){.kind = CACHE_PART_RECORDING,
                                                    .bytes = (const uint8_t *)recording,
                                                    .count = sizeof recording - 1});
    cr_assert_eq(cache_archive_end(&writer, NULL), PXR_OK);
    *count = (size_t)writer.size_bytes;
    uint8_t *bytes = malloc(*count + 1);
    rewind(file);
    cr_assert_eq(fread(bytes, 1, *count + 1, file), *count);
    fclose(file);
    cache_close(cache);
    remove_path();
    return bytes;
}

static bool opens(const uint8_t *bytes, size_t count, const struct cache_secret *secret)
{
    struct cache_archive archive;
    return cache_archive_open(bytes, count, secret, &archive, NULL) == PXR_OK;
}

static void expect_entry(struct cache *cache, const struct cache_part *part, uint64_t number)
{
    struct cache_key key;
    struct cache_key wanted = numbered_key(number);
    struct cache_about about;
    uint8_t *payload;
    size_t payload_bytes;
    const char *why;
    cr_assert(cache_part_open(part, &key, &about, &payload, &payload_bytes, &why));
    cr_expect_eq(memcmp(&key, &wanted, sizeof key), 0);
    cr_expect_str_eq(about.kind, "code");
    cr_expect_eq(payload_bytes, sizeof number);
    cr_expect_eq(memcmp(payload, &number, sizeof number), 0);
    free(payload);
    cr_assert(cache_import(cache, part));
    cr_assert(cache_get(cache, &wanted, &payload, &payload_bytes));
    cr_expect_eq(memcmp(payload, &number, sizeof number), 0);
    free(payload);
}

Test(archive, gives_back_what_was_put_into_it, .fini = remove_path)
{
    size_t count;
    uint8_t *bytes = make_archive(NULL, &count);
    struct cache *cache = open_cache(LARGE);
    struct cache_archive archive;
    struct cache_part part;
    cr_assert_eq(cache_archive_open(bytes, count, NULL, &archive, NULL), PXR_OK);
    cr_expect_not(archive.is_signed);
    for (uint64_t i = 0; i < ENTRIES; i++) {
        cr_assert(cache_archive_next(&archive, &part));
        cr_assert_eq(part.kind, CACHE_PART_ENTRY);
        expect_entry(cache, &part, i);
    }
    cr_assert(cache_archive_next(&archive, &part));
    cr_assert_eq(part.kind, CACHE_PART_RECORDING);
    cr_expect_eq(part.count, sizeof recording - 1);
    cr_expect_eq(memcmp(part.bytes, recording, part.count), 0);
    cr_expect_not(cache_archive_next(&archive, &part));
    cache_close(cache);
    free(bytes);
}

/* The copy ends where the archive does, so that a sanitizer sees reads beyond it. */
Test(archive, with_any_byte_changed_is_refused)
{
    const struct cache_secret secret = cache_secret_of("a secret", 8);
    size_t count;
    uint8_t *made = make_archive(&secret, &count);
    uint8_t *bytes = malloc(count);
    memcpy(bytes, made, count);
    free(made);
    cr_assert(opens(bytes, count, NULL));
    for (size_t i = 0; i < count; i++) {
        uint8_t flip = i % 3 ? (uint8_t)(1 << i % 8) : 0xff;
        bytes[i] ^= flip;
        cr_expect_not(opens(bytes, count, NULL), "byte %zu", i);
        cr_expect_not(opens(bytes, count, &secret), "byte %zu, with the key", i);
        bytes[i] ^= flip;
    }
    for (size_t i = 0; i < count; i++)
        cr_expect_not(opens(bytes, i, NULL), "%zu bytes", i);
    free(bytes);
}

Test(archive, is_taken_with_its_own_secret_only)
{
    const struct cache_secret secret = cache_secret_of("a secret", 8);
    const struct cache_secret other = cache_secret_of("a secreT", 8);
    size_t count;
    uint8_t *bytes = make_archive(&secret, &count);
    struct cache_archive archive;
    cr_assert_eq(cache_archive_open(bytes, count, &secret, &archive, NULL), PXR_OK);
    cr_expect(archive.is_signed);
    cr_expect(opens(bytes, count, NULL));
    cr_expect_not(opens(bytes, count, &other));
    free(bytes);
    bytes = make_archive(NULL, &count);
    cr_expect(opens(bytes, count, NULL));
    cr_expect_not(opens(bytes, count, &secret));
    free(bytes);
}

/* Who makes an archive can make its checksum right: sizes are looked at all the same. */
Test(archive, with_sizes_beyond_its_end_is_refused)
{
    const uint8_t *entry = (const uint8_t *)"no entry at all, whatever its maker says of it";
    struct cache_part part = {.kind = CACHE_PART_ENTRY, .bytes = entry, .count = 40};
    struct cache_archive_writer writer;
    struct cache_key key;
    struct cache_about about;
    uint8_t *payload;
    uint8_t bytes[256];
    size_t payload_bytes;
    const char *why;
    cr_expect_not(cache_part_open(&part, &key, &about, &payload, &payload_bytes, &why));
    FILE *file = tmpfile();
    cr_assert_not_null(file);
    cache_archive_begin(&writer, fileno(file), NULL);
    cache_archive_add(&writer, &part);
    /* A part that says it is longer than the archive: the header's, and 16 bytes of the next. */
    static const uint8_t header[16] = {1,   0,   0,   0,   0,   0,   0,   0,
                                       255, 255, 255, 255, 255, 255, 255, 255};
    cr_assert_eq(write(writer.fd, header, sizeof header), (ssize_t)sizeof header);
    writer.size_bytes += sizeof header;
    cr_assert_eq(cache_archive_end(&writer, NULL), PXR_OK);
    rewind(file);
    size_t count = fread(bytes, 1, sizeof bytes, file);
    cr_expect_eq(count, writer.size_bytes);
    cr_expect_not(opens(bytes, count, NULL));
    fclose(file);
}
