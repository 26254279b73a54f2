/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting all entries, and removing those that were not used for longest. Readers are not asked:
 * who has opened an entry keeps it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache/admin.h"
#include "cache/store.h"

/* Eviction leaves so much room that the next one is not due at once. */
#define KEPT_OF_TEN 9u

/* For another process that evicts. */
#define PATIENCE_MS 10000

/* Removes the oldest, and counts what goes and what stays. */
static void remove_oldest(const struct cache *cache, const struct cache_trim *trim,
                          const struct cache_key *spared, struct cache_items *items,
                          struct cache_trimmed *trimmed)
{
    *trimmed = (struct cache_trimmed){.kept_count = items->count, .kept_bytes = items->disk_bytes};
    uint64_t wanted_bytes =
        items->disk_bytes > trim->limit_bytes ? trim->target_bytes : trim->limit_bytes;
    cache_items_sort(items);
    for (size_t i = 0; i < items->count; i++) {
        const struct cache_item *item = &items->items[i];
        uint64_t bytes = cache_disk_bytes(item->file_bytes);
        if (trimmed->kept_bytes <= wanted_bytes && item->used.tv_sec >= trim->used_before)
            break;
        if ((spared && memcmp(&item->key, spared, sizeof *spared) == 0) ||
            !cache_remove(cache, &item->key))
            continue;
        trimmed->removed_count++;
        trimmed->removed_bytes += bytes;
        trimmed->kept_count--;
        trimmed->kept_bytes -= bytes;
    }
}

/* With the lock of evictions held. */
static bool trim_locked(const struct cache *cache, const struct cache_trim *trim,
                        const struct cache_key *spared, struct cache_trimmed *trimmed)
{
    struct cache_items items;
    if (!cache_size_begin_count(cache) || !cache_list(cache, &items))
        return false;
    remove_oldest(cache, trim, spared, &items, trimmed);
    cache_size_end_count(cache, trimmed->kept_bytes);
    cache_items_fini(&items);
    return true;
}

void cache_evict(const struct cache *cache, const struct cache_key *spared)
{
    int lock = cache_lock_try(cache, CACHE_LOCK_EVICTION);
    if (lock < 0)
        return;
    struct cache_trimmed trimmed;
    const struct cache_trim trim = {.limit_bytes = cache->limit_bytes,
                                    .target_bytes = cache->limit_bytes / 10 * KEPT_OF_TEN};
    trim_locked(cache, &trim, spared, &trimmed);
    close(lock);
}

enum pxr_status cache_trim(struct cache *cache, const struct cache_trim *trim,
                           struct cache_trimmed *trimmed, struct pxr_error *err)
{
    errno = 0;
    int lock = cache_lock_wait(cache, CACHE_LOCK_EVICTION, PATIENCE_MS);
    if (lock < 0)
        return pxr_fail(err, PXR_IO, "'%s': %s", cache->path,
                        errno == EAGAIN || errno == EACCES || errno == 0
                            ? "another process is removing entries, or it cannot be written"
                            : strerror(errno));
    bool is_trimmed = trim_locked(cache, trim, NULL, trimmed);
    close(lock);
    return is_trimmed ? PXR_OK
                      : pxr_fail(err, PXR_IO, "'%s' cannot be written, or there is no memory",
                                 cache->path);
}
