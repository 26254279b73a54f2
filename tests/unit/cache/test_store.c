/* SPDX-License-Identifier: Apache-2.0
 *
 * What is stored is found, by this process and by others, and what is no longer exactly that is
 * not.
 */
#include "cache_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache/entry.h"
#include "cache/store.h"
#include "util/log.h"

#define LARGE (UINT64_C(1) << 30)
#define SMALL (UINT64_C(256) << 10)

Test(store, gives_back_what_was_put, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    for (uint64_t i = 0; i < 50; i++) {
        cr_expect_not(has_numbered(cache, i));
        cr_expect(put_numbered(cache, i));
    }
    for (uint64_t i = 0; i < 50; i++)
        cr_expect(has_numbered(cache, i));
    cache_close(cache);
}

Test(store, outlives_the_cache_that_filled_it, .fini = remove_path)
{
    const char *path = new_path();
    struct cache *cache = NULL;
    for (int round = 0; round < 2; round++) {
        cr_assert_eq(cache_open(path, LARGE, &cache, NULL), PXR_OK);
        cr_expect_eq(has_numbered(cache, 5), round == 1);
        cr_expect(put_numbered(cache, 5));
        cache_close(cache);
    }
}

Test(store, is_for_its_owner_only, .fini = remove_path)
{
    umask(0);
    const char *path = new_path();
    struct cache *cache = NULL;
    struct stat status;
    struct cache_key key = numbered_key(5);
    cr_assert_eq(cache_open(path, LARGE, &cache, NULL), PXR_OK);
    cr_expect(put_numbered(cache, 5));
    cr_assert_eq(stat(path, &status), 0);
    cr_expect_eq(status.st_mode & 07777, 0700);
    cr_assert_eq(stat(entry_path(&key), &status), 0);
    cr_expect_eq(status.st_mode & 07777, 0600);
    cache_close(cache);
}

/* Small and large ones, that shrink and that do not. */
Test(store, packs_what_is_worth_it)
{
    static const size_t sizes[] = {0, 1, 7499, 7500, 7501, 300000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int shrinks = 0; shrinks < 2; shrinks++) {
            size_t size_bytes = sizes[i];
            size_t entry_bytes;
            size_t read_bytes;
            uint64_t state = i + 1;
            const char *why;
            uint8_t *payload = malloc(size_bytes + 1);
            uint8_t *entry;
            uint8_t *read;
            struct cache_key key = numbered_key(i);
            struct cache_about about = {0};
            for (size_t at = 0; at < size_bytes; at++) {
                state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
                payload[at] = shrinks ? (uint8_t)(at / 64) : (uint8_t)(state >> 56);
            }
            cr_assert(cache_entry_pack(&key, &about, payload, size_bytes, &entry, &entry_bytes));
            cr_expect_leq(entry_bytes, size_bytes + CACHE_ENTRY_HEADER_BYTES + CACHE_ABOUT_WORDS);
            cr_expect_eq(entry_bytes < size_bytes, shrinks && size_bytes > 7500);
            cr_assert(cache_entry_unpack(&key, entry, entry_bytes, &read, &read_bytes, &why));
            cr_expect_eq(read_bytes, size_bytes);
            cr_expect_eq(memcmp(read, payload, size_bytes), 0);
            free(read);
            free(entry);
            free(payload);
        }
    }
}

/* ---- damage ---- */

static const struct cache_about nothing;

static void quiet(void)
{
    pxr_log_set_level(PXR_LOG_ERROR);
}

static uint8_t *read_entry(const struct cache_key *key, size_t *size_bytes)
{
    FILE *file = fopen(entry_path(key), "rb");
    cr_assert_not_null(file);
    uint8_t *bytes = malloc(1 << 20);
    *size_bytes = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

static void write_entry(const struct cache_key *key, const uint8_t *bytes, size_t size_bytes)
{
    FILE *file = fopen(entry_path(key), "wb");
    cr_assert_not_null(file);
    fwrite(bytes, 1, size_bytes, file);
    fclose(file);
}

Test(damage, of_any_byte_is_a_miss, .init = quiet, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_key key = numbered_key(1);
    cr_assert(put_numbered(cache, 1));
    size_t size_bytes;
    uint8_t *entry = read_entry(&key, &size_bytes);
    for (size_t i = 0; i < size_bytes; i++) {
        uint8_t flip = i % 3 ? (uint8_t)(1 << i % 8) : 0xff;
        entry[i] ^= flip;
        write_entry(&key, entry, size_bytes);
        cr_expect_not(has_numbered(cache, 1), "byte %zu", i);
        entry[i] ^= flip;
    }
    write_entry(&key, entry, size_bytes);
    cr_expect(has_numbered(cache, 1));
    free(entry);
    cache_close(cache);
}

Test(damage, of_the_length_is_a_miss, .init = quiet, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_key key = numbered_key(1);
    cr_assert(put_numbered(cache, 1));
    size_t size_bytes;
    uint8_t *entry = read_entry(&key, &size_bytes);
    for (size_t i = 0; i < size_bytes; i++) {
        write_entry(&key, entry, i);
        cr_expect_not(has_numbered(cache, 1), "%zu bytes", i);
    }
    entry[size_bytes] = 0;
    write_entry(&key, entry, size_bytes + 1);
    cr_expect_not(has_numbered(cache, 1));
    free(entry);
    cache_close(cache);
}

Test(damage, is_mended_by_the_next_put, .init = quiet, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_key key = numbered_key(1);
    struct cache_claim claim;
    cr_assert(put_numbered(cache, 1));
    write_entry(&key, (const uint8_t *)"garbage", 7);
    cr_expect_not(has_numbered(cache, 1));
    /* What is there is not taken for what somebody else has made. */
    cr_assert_eq(cache_claim(cache, &key, 0, &claim), CACHE_CLAIM_HELD);
    cr_expect(put_numbered(cache, 1));
    cache_release(&claim);
    cr_expect(has_numbered(cache, 1));
    cache_close(cache);
}

static int warnings;

static void count_warning(enum pxr_log_level level, const char *text)
{
    (void)level, (void)text;
    warnings++;
}

Test(damage, is_told_once, .init = quiet, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    pxr_log_observe(count_warning);
    for (uint64_t i = 1; i < 5; i++) {
        struct cache_key key = numbered_key(i);
        cr_assert(put_numbered(cache, i));
        write_entry(&key, (const uint8_t *)"garbage", 7);
        cr_expect_not(has_numbered(cache, i));
    }
    cr_expect_eq(warnings, 1);
    cache_close(cache);
}

/* An entry whose checksum is right and that asks for too much memory. */
Test(damage, cannot_ask_for_memory)
{
    struct cache_key key = numbered_key(1);
    uint8_t *entry;
    size_t entry_bytes;
    uint8_t *payload;
    size_t payload_bytes;
    const char *why;
    uint8_t *large = calloc(1, CACHE_PAYLOAD_MAX_BYTES + 1);
    cr_assert(
        cache_entry_pack(&key, &nothing, large, CACHE_PAYLOAD_MAX_BYTES, &entry, &entry_bytes));
    cr_expect(cache_entry_unpack(&key, entry, entry_bytes, &payload, &payload_bytes, &why));
    cr_expect_eq(payload_bytes, CACHE_PAYLOAD_MAX_BYTES);
    free(payload);
    free(entry);
    cr_expect_not(
        cache_entry_pack(&key, &nothing, large, CACHE_PAYLOAD_MAX_BYTES + 1, &entry, &entry_bytes));
    free(large);
}

Test(damage, of_a_key_is_a_miss, .init = quiet, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_key key = numbered_key(1);
    struct cache_key other = numbered_key(2);
    cr_assert(put_numbered(cache, 1));
    cr_assert(put_numbered(cache, 2));
    size_t size_bytes;
    uint8_t *entry = read_entry(&key, &size_bytes);
    write_entry(&other, entry, size_bytes);
    cr_expect_not(has_numbered(cache, 2));
    free(entry);
    cache_close(cache);
}

/* ---- bounds ---- */

Test(bound, holds, .fini = remove_path)
{
    struct cache *cache = open_cache(SMALL);
    for (uint64_t i = 0; i < 400; i++) {
        cr_expect(put_numbered(cache, i));
        cr_expect_leq(stored_bytes(), SMALL);
    }
    cr_expect(has_numbered(cache, 399));
    cr_expect_geq(stored_bytes(), SMALL / 2);
    cache_close(cache);
}

Test(bound, refuses_what_is_larger, .fini = remove_path)
{
    struct cache *cache = open_cache(4096);
    cr_expect(put_numbered(cache, 1));
    cr_expect_not(put_numbered(cache, 12));
    cr_expect(has_numbered(cache, 1));
    cache_close(cache);
    remove_path();
    cache = open_cache(0);
    cr_expect_not(put_numbered(cache, 1));
    cache_close(cache);
}

static void set_age(uint64_t number, time_t seconds)
{
    struct cache_key key = numbered_key(number);
    struct timespec then = {.tv_sec = time(NULL) - seconds};
    struct timespec times[2] = {then, then};
    cr_assert_eq(utimensat(AT_FDCWD, entry_path(&key), times, 0), 0);
}

Test(bound, spares_what_was_used_last, .fini = remove_path)
{
    struct cache *cache = open_cache(SMALL);
    uint64_t number = 0;
    for (; stored_bytes() < SMALL * 3 / 4; number++)
        cr_expect(put_numbered(cache, number));
    for (uint64_t i = 0; i < number; i++)
        set_age(i, 100000 - (time_t)i);
    cr_expect(has_numbered(cache, 0)); /* the oldest, until now */
    for (uint64_t i = 0; i < number; i++)
        cr_expect(put_numbered(cache, 1000 + i));
    cr_expect(has_numbered(cache, 0));
    cr_expect_not(has_numbered(cache, 1));
    cr_expect_not(has_numbered(cache, 2));
    cache_close(cache);
}

/* Whoever was killed while writing, or between saying so and writing. */
Test(bound, forgets_what_was_left_behind, .fini = remove_path)
{
    struct cache *cache = open_cache(SMALL);
    struct cache_key key = numbered_key(1);
    char left[PATH_MAX + 160];
    cr_assert(put_numbered(cache, 1));
    snprintf(left, sizeof left, "%s", entry_path(&key));
    strcpy(strrchr(left, '/'), "/tmp.1.2.3.4");
    FILE *file = fopen(left, "wb");
    cr_assert_not_null(file);
    for (int i = 0; i < 100000; i++)
        fputc(i, file);
    fclose(file);
    struct timespec times[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    cr_assert_eq(utimensat(AT_FDCWD, left, times, 0), 0);
    for (uint64_t i = 0; i < 100; i++)
        cr_expect(put_numbered(cache, i));
    cr_expect_neq(access(left, F_OK), 0);
    cr_expect_leq(stored_bytes(), SMALL);
    cache_close(cache);
}

static const char *size_path(const char *path)
{
    static char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/size", path);
    return name;
}

Test(bound, holds_without_the_note_of_the_size, .fini = remove_path)
{
    const char *path = new_path();
    struct cache *cache = NULL;
    cr_assert_eq(cache_open(path, SMALL, &cache, NULL), PXR_OK);
    for (uint64_t i = 0; i < 200; i++) {
        if (i % 10 == 0)
            unlink(size_path(path));
        if (i % 10 == 5)
            cr_expect_eq(truncate(size_path(path), i % 20), 0);
        cr_expect(put_numbered(cache, i));
        cr_expect_leq(stored_bytes(), SMALL);
    }
    cache_close(cache);
}

/* ---- places that are no good ---- */

Test(hostile, directory_that_others_can_write, .fini = remove_path)
{
    const char *path = new_path();
    struct cache *cache = NULL;
    struct pxr_error err = {0};
    cr_assert_eq(cache_open(path, LARGE, &cache, &err), PXR_OK);
    cr_assert(put_numbered(cache, 1));
    cache_close(cache);
    const mode_t modes[] = {0777, 0770, 0722, 01777};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        cr_assert_eq(chmod(path, modes[i]), 0);
        cr_expect_eq(cache_open(path, LARGE, &cache, &err), PXR_INVALID_ARGUMENT);
    }
    cr_assert_eq(chmod(path, 0755), 0);
    cr_assert_eq(cache_open(path, LARGE, &cache, &err), PXR_OK);
    cr_expect(has_numbered(cache, 1));
    cache_close(cache);
}

Test(hostile, directory_that_is_a_link, .fini = remove_path)
{
    char real[PATH_MAX];
    char slashed[PATH_MAX];
    const char *path = new_path();
    struct cache *cache = NULL;
    cr_assert_eq(cache_open(path, LARGE, &cache, NULL), PXR_OK);
    cache_close(cache);
    snprintf(real, sizeof real, "%.4000s-real", path);
    snprintf(slashed, sizeof slashed, "%.4000s//", path);
    cr_assert_eq(rename(path, real), 0);
    cr_assert_eq(symlink(real, path), 0);
    cr_expect_eq(cache_open(path, LARGE, &cache, NULL), PXR_INVALID_ARGUMENT);
    cr_expect_eq(cache_open(slashed, LARGE, &cache, NULL), PXR_INVALID_ARGUMENT);
}

Test(hostile, file_in_place_of_the_directory, .fini = remove_path)
{
    const char *path = new_path();
    struct cache *cache = NULL;
    cr_assert_eq(cache_open(path, LARGE, &cache, NULL), PXR_OK);
    cache_close(cache);
    unlink(size_path(path));
    cr_assert_eq(rmdir(path), 0);
    FILE *file = fopen(path, "w");
    fclose(file);
    cr_expect_eq(cache_open(path, LARGE, &cache, NULL), PXR_INVALID_ARGUMENT);
    cr_expect_eq(cache_open("", LARGE, &cache, NULL), PXR_IO);
    cr_expect_eq(cache_open("/proc/nowhere/at/all", LARGE, &cache, NULL), PXR_IO);
}

/* In the place of an entry: a link to one that is whole, one that others can write, a pipe, a
 * directory. */
Test(hostile, entries, .init = quiet, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_key key = numbered_key(1);
    char moved[PATH_MAX + 160];
    cr_assert(put_numbered(cache, 1));
    cr_assert_eq(chmod(entry_path(&key), 0666), 0);
    cr_expect_not(has_numbered(cache, 1));
    cr_assert_eq(chmod(entry_path(&key), 0600), 0);
    cr_expect(has_numbered(cache, 1));
    snprintf(moved, sizeof moved, "%s.moved", entry_path(&key));
    cr_assert_eq(rename(entry_path(&key), moved), 0);
    cr_assert_eq(symlink(moved, entry_path(&key)), 0);
    cr_expect_not(has_numbered(cache, 1));
    cr_assert_eq(unlink(entry_path(&key)), 0);
    cr_assert_eq(mkfifo(entry_path(&key), 0600), 0);
    cr_expect_not(has_numbered(cache, 1));
    cr_assert_eq(unlink(entry_path(&key)), 0);
    cr_assert_eq(mkdir(entry_path(&key), 0700), 0);
    cr_expect_not(has_numbered(cache, 1));
    cr_expect_not(put_numbered(cache, 1));
    cr_assert_eq(rmdir(entry_path(&key)), 0);
    cr_expect(put_numbered(cache, 1));
    cr_expect(has_numbered(cache, 1));
    cache_close(cache);
}

/* A folder that is a link to another place: nothing is read from there, or written to it. */
Test(hostile, folder, .init = quiet, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_key key = numbered_key(1);
    char folder[PATH_MAX + 160];
    char moved[PATH_MAX + 180];
    cr_assert(put_numbered(cache, 1));
    snprintf(folder, sizeof folder, "%s", entry_path(&key));
    *strrchr(folder, '/') = '\0';
    snprintf(moved, sizeof moved, "%s-moved", folder);
    cr_assert_eq(rename(folder, moved), 0);
    cr_assert_eq(symlink(moved, folder), 0);
    cr_expect_not(has_numbered(cache, 1));
    cr_expect_not(put_numbered(cache, 1));
    cr_assert_eq(unlink(folder), 0);
    cr_assert_eq(rename(moved, folder), 0);
    cr_expect(has_numbered(cache, 1));
    cache_close(cache);
}

/* Programs that become daemons close all descriptors; then the number is somebody else's. */
Test(lack, of_the_descriptor_does_no_harm, .fini = remove_path)
{
    char other[PATH_MAX];
    struct cache *cache = open_cache(LARGE);
    struct cache_key key = numbered_key(1);
    struct cache_claim claim;
    cr_assert(put_numbered(cache, 1));
    snprintf(other, sizeof other, "%.4000s", entry_path(&key));
    *strrchr(other, '/') = '\0';
    close(cache->directory);
    cr_expect_not(has_numbered(cache, 1));
    cr_expect_not(put_numbered(cache, 2));
    int fd = open(other, O_RDONLY | O_DIRECTORY);
    cr_assert_eq(dup2(fd, cache->directory), cache->directory);
    cr_expect_not(put_numbered(cache, 2));
    cr_expect_eq(cache_claim(cache, &key, 0, &claim), CACHE_CLAIM_IMPOSSIBLE);
    cr_expect_eq(unlink(entry_path(&key)), 0);
    cr_expect_eq(rmdir(other), 0, "something was written into another directory");
    int number = cache->directory;
    cache_close(cache);
    cr_expect_geq(fcntl(number, F_GETFD), 0, "another descriptor was closed");
}

Test(lack, of_permission_to_write, .init = quiet, .fini = remove_path)
{
    const char *path = new_path();
    struct cache *cache = NULL;
    cr_assert_eq(cache_open(path, LARGE, &cache, NULL), PXR_OK);
    cr_assert(put_numbered(cache, 1));
    if (geteuid() == 0) { /* may write everywhere */
        cache_close(cache);
        return;
    }
    cr_assert_eq(chmod(path, 0500), 0);
    cr_expect(has_numbered(cache, 1));
    for (uint64_t i = 2; i < 10; i++)
        put_numbered(cache, i);
    cr_assert_eq(chmod(path, 0700), 0);
    cache_close(cache);
}
