/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting all entries, and removing those that were not used for longest. Readers are not asked:
 * who has opened an entry keeps it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache/store.h"

/* Eviction leaves so much room that the next one is not due at once. */
#define KEPT_OF_TEN 9u

/* Nobody writes an entry for so long. */
#define ABANDONED_SECONDS 600

struct found {
    struct timespec used;
    uint64_t bytes;
    uint8_t folder;
    char name[CACHE_NAME_BYTES];
};

struct list {
    struct found *items;
    size_t count;
    size_t room;
    uint64_t bytes;
};

static bool append(struct list *list, const struct found *found)
{
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 256;
        struct found *items = realloc(list->items, room * sizeof *items);
        if (!items)
            return false;
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = *found;
    return true;
}

static bool is_abandoned(const char *name, const struct stat *status)
{
    return strncmp(name, CACHE_TEMPORARY_PREFIX, sizeof CACHE_TEMPORARY_PREFIX - 1) == 0 &&
           status->st_mtim.tv_sec + ABANDONED_SECONDS < time(NULL);
}

static bool is_entry_name(const char *name)
{
    return strlen(name) == CACHE_NAME_BYTES - 1 &&
           strspn(name, "0123456789abcdef") == CACHE_NAME_BYTES - 1;
}

/* Adds what is in a folder to the list. Files of others stay where they are. */
static bool list_folder(int folder, uint8_t number, struct list *list)
{
    DIR *entries = fdopendir(dup(folder));
    if (!entries)
        return false;
    bool is_complete = true;
    for (struct dirent *entry = readdir(entries); entry && is_complete; entry = readdir(entries)) {
        struct stat status;
        if (fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (is_abandoned(entry->d_name, &status)) {
            unlinkat(folder, entry->d_name, 0);
            continue;
        }
        struct found found = {.used = status.st_mtim,
                              .bytes = cache_disk_bytes((uint64_t)status.st_size),
                              .folder = number};
        list->bytes += found.bytes;
        if (!is_entry_name(entry->d_name))
            continue;
        memcpy(found.name, entry->d_name, CACHE_NAME_BYTES);
        is_complete = append(list, &found);
    }
    closedir(entries);
    return is_complete;
}

static int open_numbered(const struct cache *cache, unsigned number)
{
    char name[CACHE_FOLDER_BYTES];
    snprintf(name, sizeof name, "%02x", number & 255u);
    return cache_folder_open(cache_directory(cache), name, false);
}

static bool list_all(const struct cache *cache, struct list *list)
{
    bool is_complete = true;
    for (unsigned i = 0; i < CACHE_FOLDERS && is_complete; i++) {
        int folder = open_numbered(cache, i);
        if (folder < 0)
            continue;
        is_complete = list_folder(folder, (uint8_t)i, list);
        close(folder);
    }
    return is_complete;
}

static int by_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct found *)left)->used;
    const struct timespec *b = &((const struct found *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

static bool is_spared(const struct found *found, const struct cache_place *spared)
{
    return memcmp(found->name, spared->name, sizeof found->name) == 0;
}

static void remove_oldest(const struct cache *cache, struct list *list,
                          const struct cache_place *spared)
{
    uint64_t kept_bytes = cache->limit_bytes / 10 * KEPT_OF_TEN;
    if (list->bytes <= cache->limit_bytes)
        return;
    qsort(list->items, list->count, sizeof *list->items, by_use);
    for (size_t i = 0; i < list->count && list->bytes > kept_bytes; i++) {
        int folder =
            is_spared(&list->items[i], spared) ? -1 : open_numbered(cache, list->items[i].folder);
        if (folder < 0)
            continue;
        if (unlinkat(folder, list->items[i].name, 0) == 0)
            list->bytes -= list->items[i].bytes;
        close(folder);
    }
}

void cache_evict(const struct cache *cache, const struct cache_place *spared)
{
    int lock = cache_lock_try(cache, CACHE_LOCK_EVICTION);
    if (lock < 0)
        return;
    struct list list = {0};
    if (cache_size_begin_count(cache) && list_all(cache, &list)) {
        remove_oldest(cache, &list, spared);
        cache_size_end_count(cache, list.bytes);
    }
    free(list.items);
    close(lock);
}
