/* SPDX-License-Identifier: Apache-2.0
 *
 * See counts.h. One record of fixed size, read and written under a lock that is held for
 * microseconds. What is not such a record counts as nothing.
 */
#include "cache/counts.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "cache/store.h"

/* For a holder that was stopped; what is not counted meanwhile harms nobody. */
#define PATIENCE_MS 5

#define MAGIC       UINT32_C(0x6e756f63)

/* Of the record. */
#define FORMAT 1u

const char *const cache_kind_names[CACHE_KIND_COUNT] = {
    [CACHE_KIND_BEST] = "best",
    [CACHE_KIND_QUICK] = "quick",
    [CACHE_KIND_CHECK] = "check",
    [CACHE_KIND_SUMMARY] = "summary",
};

struct record {
    uint32_t magic;
    uint32_t format;
    struct cache_counts counts;
};

struct open_record {
    int lock;
    int fd;
    bool was_there;
    struct record record;
};

static bool open_record(const struct cache *cache, int flags, struct open_record *open)
{
    struct stat status;
    bool is_strange;
    open->lock = cache_lock_wait(cache, CACHE_LOCK_COUNTS, PATIENCE_MS);
    if (open->lock < 0)
        return false;
    open->fd =
        cache_file_open(cache_directory(cache), CACHE_COUNTS_FILE, flags, &status, &is_strange);
    if (open->fd < 0) {
        close(open->lock);
        return false;
    }
    ssize_t got = pread(open->fd, &open->record, sizeof open->record, 0);
    open->was_there =
        got == sizeof open->record && open->record.magic == MAGIC && open->record.format == FORMAT;
    if (!open->was_there)
        open->record = (struct record){
            .magic = MAGIC, .format = FORMAT, .counts.since_s = (uint64_t)time(NULL)};
    return true;
}

static bool write_record(const struct open_record *open)
{
    return cache_may_write(sizeof open->record) &&
           pwrite(open->fd, &open->record, sizeof open->record, 0) == sizeof open->record;
}

static void close_record(const struct open_record *open)
{
    close(open->fd);
    close(open->lock);
}

static void add(uint64_t *count, uint64_t more)
{
    if (__builtin_add_overflow(*count, more, count))
        *count = UINT64_MAX;
}

void cache_counts_add(const struct cache *cache, const struct cache_counts *more)
{
    struct open_record open;
    if (!open_record(cache, O_RDWR | O_CREAT, &open))
        return;
    struct cache_counts *counts = &open.record.counts;
    for (int kind = 0; kind < CACHE_KIND_COUNT; kind++) {
        add(&counts->hits[kind], more->hits[kind]);
        add(&counts->misses[kind], more->misses[kind]);
    }
    add(&counts->spent_ns, more->spent_ns);
    add(&counts->saved_ns, more->saved_ns);
    add(&counts->processes, more->processes);
    write_record(&open);
    close_record(&open);
}

bool cache_counts_read(const struct cache *cache, struct cache_counts *counts)
{
    struct open_record open;
    *counts = (struct cache_counts){0};
    if (!open_record(cache, O_RDONLY, &open))
        return false;
    if (open.was_there)
        *counts = open.record.counts;
    close_record(&open);
    return open.was_there;
}

bool cache_counts_zero(const struct cache *cache)
{
    struct open_record open;
    if (!open_record(cache, O_RDWR | O_CREAT, &open))
        return false;
    open.record.counts = (struct cache_counts){.since_s = (uint64_t)time(NULL)};
    bool is_written = write_record(&open);
    close_record(&open);
    return is_written;
}
