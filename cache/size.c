/* SPDX-License-Identifier: Apache-2.0
 *
 * The size of all entries together, in the file `size`: a sum that each writer adds to before it
 * writes. Processes that are killed leave it too large, never too small, and a count puts it right.
 * It is read and written under a lock that is held for microseconds.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cache/store.h"

/* For a holder that was stopped; who does not get the lock does without storing. */
#define PATIENCE_MS 50

#define MAGIC       UINT32_C(0x7a697370)

struct record {
    uint32_t magic;
    uint32_t is_counting; /* entries are being counted, or were when somebody was killed */
    uint64_t bytes;
};

struct open_record {
    int lock;
    int fd;
    struct record record;
};

/* What cannot be read is a size that nobody knows. */
static bool open_record(const struct cache *cache, struct open_record *open)
{
    struct stat status;
    bool is_strange;
    open->lock = cache_lock_wait(cache, CACHE_LOCK_SIZE, PATIENCE_MS);
    if (open->lock < 0)
        return false;
    open->fd = cache_file_open(cache_directory(cache), CACHE_SIZE_FILE, O_RDWR | O_CREAT, &status,
                               &is_strange);
    if (open->fd < 0) {
        close(open->lock);
        return false;
    }
    ssize_t got = pread(open->fd, &open->record, sizeof open->record, 0);
    if (got != sizeof open->record || open->record.magic != MAGIC)
        open->record = (struct record){.magic = MAGIC, .is_counting = true};
    return true;
}

static bool close_record(struct open_record *open)
{
    bool is_written =
        pwrite(open->fd, &open->record, sizeof open->record, 0) == (ssize_t)sizeof open->record;
    close(open->fd);
    close(open->lock);
    return is_written;
}

bool cache_size_add(const struct cache *cache, uint64_t entry_bytes, bool *is_full)
{
    struct open_record open;
    if (!open_record(cache, &open))
        return false;
    open.record.bytes += cache_disk_bytes(entry_bytes);
    *is_full = open.record.is_counting || open.record.bytes > cache->limit_bytes;
    return close_record(&open);
}

bool cache_size_begin_count(const struct cache *cache)
{
    struct open_record open;
    if (!open_record(cache, &open))
        return false;
    open.record.is_counting = true;
    open.record.bytes = 0;
    return close_record(&open);
}

void cache_size_end_count(const struct cache *cache, uint64_t all_bytes)
{
    struct open_record open;
    if (!open_record(cache, &open))
        return;
    open.record.is_counting = false;
    open.record.bytes += all_bytes;
    close_record(&open);
}
