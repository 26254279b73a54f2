/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks on bytes of one file (F_OFD_SETLK). They belong to the open file, so that threads of one
 * process exclude each other as well, and the system takes them back when a process ends: there are
 * no stale ones, and no files that would have to be cleared away. A key's byte is the first 62 bits
 * of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "cache/store.h"

#define FIRST_PAUSE_NS 100000L
#define LAST_PAUSE_NS  5000000L

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Sleeps, longer each time. */
static void pause_for(long *pause_ns)
{
    nanosleep(&(struct timespec){.tv_nsec = *pause_ns}, NULL);
    *pause_ns = *pause_ns * 2 < LAST_PAUSE_NS ? *pause_ns * 2 : LAST_PAUSE_NS;
}

static int open_lock_file(const struct cache *cache)
{
    struct stat status;
    bool is_strange;
    return cache_file_open(cache_directory(cache), CACHE_LOCK_FILE, O_RDWR | O_CREAT, &status,
                           &is_strange);
}

/* 1: held; 0: another one has it; -1: there are no locks here. */
static int try_byte(int fd, uint64_t byte)
{
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1};
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return 1;
    return errno == EAGAIN || errno == EACCES || errno == EINTR ? 0 : -1;
}

int cache_lock_try(const struct cache *cache, uint64_t byte)
{
    return cache_lock_wait(cache, byte, 0);
}

int cache_lock_wait(const struct cache *cache, uint64_t byte, unsigned patience_ms)
{
    int fd = open_lock_file(cache);
    if (fd < 0)
        return -1;
    uint64_t end_ms = now_ms() + patience_ms;
    long pause_ns = FIRST_PAUSE_NS;
    int outcome = try_byte(fd, byte);
    while (outcome == 0 && now_ms() < end_ms) {
        pause_for(&pause_ns);
        outcome = try_byte(fd, byte);
    }
    if (outcome == 1)
        return fd;
    close(fd);
    return -1;
}

/* ---- claims ---- */

static uint64_t byte_of(const struct cache_key *key)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | key->bytes[i];
    return (bits >> 2) + CACHE_LOCK_ENTRIES;
}

static bool is_present(const struct cache *cache, const struct cache_key *key)
{
    struct cache_place place = cache_place_of(key);
    int folder = cache_folder_open(cache_directory(cache), place.folder, false);
    if (folder < 0)
        return false;
    bool is_there = faccessat(folder, place.name, R_OK, AT_SYMLINK_NOFOLLOW) == 0;
    close(folder);
    return is_there;
}

enum cache_claim_result cache_claim(struct cache *cache, const struct cache_key *key,
                                    unsigned patience_ms, struct cache_claim *claim)
{
    claim->fd = open_lock_file(cache);
    if (claim->fd < 0)
        return CACHE_CLAIM_IMPOSSIBLE;
    /* An entry that is there at first is one that the caller could not use. */
    bool was_present = is_present(cache, key);
    uint64_t end_ms = now_ms() + patience_ms;
    long pause_ns = FIRST_PAUSE_NS;
    int outcome = try_byte(claim->fd, byte_of(key));
    while (outcome == 0 && now_ms() < end_ms) {
        pause_for(&pause_ns);
        outcome = try_byte(claim->fd, byte_of(key));
        if (!was_present && is_present(cache, key)) {
            cache_release(claim);
            return CACHE_CLAIM_PRESENT;
        }
    }
    /* The one before may have stored it and let go between the caller's look and here. */
    if (outcome == 1 && (was_present || !is_present(cache, key)))
        return CACHE_CLAIM_HELD;
    cache_release(claim);
    return outcome == 1 ? CACHE_CLAIM_PRESENT : CACHE_CLAIM_IMPOSSIBLE;
}

void cache_release(struct cache_claim *claim)
{
    if (claim->fd < 0)
        return;
    /* A child that was forked meanwhile has the descriptor, too, and would go on holding it. */
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(claim->fd, F_OFD_SETLK, &lock);
    close(claim->fd);
    claim->fd = -1;
}
