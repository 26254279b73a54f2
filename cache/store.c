/* SPDX-License-Identifier: Apache-2.0
 *
 * See cache.h. An entry is written under a name of its own and renamed: readers find all of it or
 * nothing. It is not flushed to the disk: what a machine that loses power leaves behind is found
 * out by the checksum, and costs one compilation.
 */
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cache/entry.h"
#include "util/log.h"

/* The time of an entry's last use is no more exact than this, so that most uses write nothing. */
#define USE_SECONDS     60

#define TEMPORARY_BYTES 64

/* A key for pxr_log_once. */
static const char damage[] = "damage";

enum pxr_status cache_open(const char *path, uint64_t limit_bytes, struct cache **cache,
                           struct pxr_error *err)
{
    int directory;
    enum pxr_status status = cache_directory_open(path, &directory, err);
    if (status != PXR_OK)
        return status;
    size_t len = strlen(path);
    struct cache *opened = malloc(sizeof *opened + len + 1);
    if (!opened) {
        close(directory);
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for the cache");
    }
    struct stat identity;
    if (fstat(directory, &identity) != 0) {
        close(directory);
        free(opened);
        return pxr_fail(err, PXR_IO, "'%s' has gone", path);
    }
    opened->directory = directory;
    opened->device = identity.st_dev;
    opened->inode = identity.st_ino;
    opened->limit_bytes =
        limit_bytes == CACHE_LIMIT_KEPT ? cache_limit_read(directory) : limit_bytes;
    memcpy(opened->path, path, len + 1);
    *cache = opened;
    return PXR_OK;
}

void cache_close(struct cache *cache)
{
    int directory = cache_directory(cache);
    if (directory >= 0)
        close(directory);
    free(cache);
}

int cache_directory(const struct cache *cache)
{
    struct stat status;
    bool is_same = fstat(cache->directory, &status) == 0 && status.st_dev == cache->device &&
                   status.st_ino == cache->inode;
    return is_same ? cache->directory : -1;
}

/* ---- reading ---- */

static void note_use(int fd, const struct stat *status)
{
    if (status->st_mtim.tv_sec + USE_SECONDS < time(NULL))
        futimens(fd, NULL);
}

/* All of a file (malloc), or NULL. */
static uint8_t *read_all(int fd, size_t size_bytes)
{
    uint8_t *bytes = malloc(size_bytes + 1);
    size_t have = 0;
    while (bytes && have < size_bytes) {
        ssize_t got = read(fd, bytes + have, size_bytes - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            free(bytes);
            return NULL;
        }
        have += (size_t)got;
    }
    return bytes;
}

/* Opens the file of an entry. NULL in *why: there is none. */
static int open_entry(const struct cache *cache, const struct cache_key *key, struct stat *status,
                      const char **why)
{
    struct cache_place place = cache_place_of(key);
    bool is_strange;
    *why = NULL;
    int folder = cache_folder_open(cache_directory(cache), place.folder, false);
    if (folder < 0)
        return -1;
    int fd = cache_file_open(folder, place.name, O_RDONLY, status, &is_strange);
    close(folder);
    if (fd < 0 && is_strange)
        *why = "it is no file of this user's alone";
    return fd;
}

static bool read_entry(int fd, const struct stat *status, uint8_t **entry, size_t *entry_bytes,
                       const char **why)
{
    *entry_bytes = (size_t)status->st_size;
    *why = "it is too large";
    if (status->st_size < 0 || *entry_bytes > CACHE_ENTRY_MAX_BYTES)
        return false;
    *why = "it cannot be read";
    *entry = read_all(fd, *entry_bytes);
    return *entry != NULL;
}

static bool unpack_file(const struct cache_key *key, int fd, const struct stat *status,
                        uint8_t **bytes, size_t *size_bytes, const char **why)
{
    uint8_t *entry;
    size_t entry_bytes;
    if (!read_entry(fd, status, &entry, &entry_bytes, why))
        return false;
    bool is_whole = cache_entry_unpack(key, entry, entry_bytes, bytes, size_bytes, why);
    free(entry);
    return is_whole;
}

bool cache_get(struct cache *cache, const struct cache_key *key, uint8_t **bytes,
               size_t *size_bytes)
{
    struct stat status;
    const char *why;
    int fd = open_entry(cache, key, &status, &why);
    bool is_hit = fd >= 0 && unpack_file(key, fd, &status, bytes, size_bytes, &why);
    if (is_hit)
        note_use(fd, &status);
    if (fd >= 0)
        close(fd);
    if (!is_hit && why) {
        struct cache_place place = cache_place_of(key);
        pxr_log_once(damage, "the cached code in %s/%s/%s is not used: %s", cache->path,
                     place.folder, place.name, why);
    }
    return is_hit;
}

bool cache_load_entry(const struct cache *cache, const struct cache_key *key, uint8_t **entry,
                      size_t *entry_bytes, const char **why)
{
    struct stat status;
    int fd = open_entry(cache, key, &status, why);
    bool is_read = fd >= 0 && read_entry(fd, &status, entry, entry_bytes, why);
    if (fd >= 0)
        close(fd);
    return is_read;
}

size_t cache_load_head(const struct cache *cache, const struct cache_key *key,
                       uint8_t head[CACHE_ENTRY_HEAD_BYTES])
{
    struct stat status;
    const char *why;
    int fd = open_entry(cache, key, &status, &why);
    ssize_t got = fd < 0 ? 0 : read(fd, head, CACHE_ENTRY_HEAD_BYTES);
    if (fd >= 0)
        close(fd);
    return got < 0 ? 0 : (size_t)got;
}

/* ---- writing ---- */

static bool write_all(int fd, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        ssize_t put = write(fd, bytes, size_bytes);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        bytes += put;
        size_bytes -= (size_t)put;
    }
    return true;
}

/* A name that no other thread and no other process has: a number alone would not do where
 * processes of several machines or containers share a directory. */
static void temporary_name(char name[TEMPORARY_BYTES])
{
    static atomic_uint counter;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, TEMPORARY_BYTES, CACHE_TEMPORARY_PREFIX "%lx.%llx.%lx.%x", (long)getpid(),
             (unsigned long long)now.tv_sec, now.tv_nsec, atomic_fetch_add(&counter, 1));
}

static bool write_entry(int folder, const char *name, const uint8_t *entry, size_t entry_bytes)
{
    char temporary[TEMPORARY_BYTES];
    struct stat status;
    bool is_strange;
    temporary_name(temporary);
    int fd = cache_file_open(folder, temporary, O_WRONLY | O_CREAT | O_EXCL, &status, &is_strange);
    if (fd < 0)
        return false;
    bool is_written = write_all(fd, entry, entry_bytes);
    is_written = close(fd) == 0 && is_written;
    if (is_written && renameat(folder, temporary, folder, name) == 0)
        return true;
    unlinkat(folder, temporary, 0);
    return false;
}

bool cache_may_write(size_t size_bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= size_bytes;
}

bool cache_store_entry(const struct cache *cache, const struct cache_key *key, const uint8_t *entry,
                       size_t entry_bytes)
{
    struct cache_place place = cache_place_of(key);
    bool is_full;
    if (cache_disk_bytes(entry_bytes) > cache->limit_bytes || !cache_may_write(entry_bytes) ||
        !cache_size_add(cache, entry_bytes, &is_full))
        return false;
    int folder = cache_folder_open(cache_directory(cache), place.folder, true);
    bool is_stored = folder >= 0 && write_entry(folder, place.name, entry, entry_bytes);
    if (folder >= 0)
        close(folder);
    if (is_full)
        cache_evict(cache, key);
    return is_stored;
}

bool cache_put_about(struct cache *cache, const struct cache_key *key,
                     const struct cache_about *about, const void *bytes, size_t size_bytes)
{
    uint8_t *entry;
    size_t entry_bytes;
    if (!cache_entry_pack(key, about, bytes, size_bytes, &entry, &entry_bytes))
        return false;
    bool is_stored = cache_store_entry(cache, key, entry, entry_bytes);
    if (!is_stored)
        pxr_log(PXR_LOG_INFO, "compiled code cannot be stored in %s", cache->path);
    free(entry);
    return is_stored;
}

bool cache_put(struct cache *cache, const struct cache_key *key, const void *bytes,
               size_t size_bytes)
{
    return cache_put_about(cache, key, &(struct cache_about){0}, bytes, size_bytes);
}
