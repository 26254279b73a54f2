/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking through all entries, and at single ones.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cache/admin.h"
#include "cache/store.h"

/* Nobody writes an entry for so long. */
#define ABANDONED_SECONDS 600

static bool append(struct cache_items *items, const struct cache_item *item)
{
    if (items->count == items->room) {
        size_t room = items->room ? 2 * items->room : 256;
        struct cache_item *grown = realloc(items->items, room * sizeof *grown);
        if (!grown)
            return false;
        items->items = grown;
        items->room = room;
    }
    items->items[items->count++] = *item;
    return true;
}

static bool is_abandoned(const char *name, const struct stat *status)
{
    return strncmp(name, CACHE_TEMPORARY_PREFIX, sizeof CACHE_TEMPORARY_PREFIX - 1) == 0 &&
           status->st_mtim.tv_sec + ABANDONED_SECONDS < time(NULL);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The key whose entry has that place; false when it is the place of none. */
static bool key_at(unsigned folder, const char *name, struct cache_key *key)
{
    if (strlen(name) != CACHE_NAME_BYTES - 1)
        return false;
    key->bytes[0] = (uint8_t)folder;
    for (size_t i = 1; i < CACHE_KEY_BYTES; i++) {
        int high = digit(name[2 * i - 2]);
        int low = digit(name[2 * i - 1]);
        if (high < 0 || low < 0)
            return false;
        key->bytes[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Files of others stay where they are. */
static bool list_folder(int folder, unsigned number, struct cache_items *items)
{
    DIR *files = fdopendir(dup(folder));
    if (!files)
        return false;
    bool is_complete = true;
    for (struct dirent *file = readdir(files); file && is_complete; file = readdir(files)) {
        struct stat status;
        if (fstatat(folder, file->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (is_abandoned(file->d_name, &status)) {
            unlinkat(folder, file->d_name, 0);
            continue;
        }
        struct cache_item item = {.used = status.st_mtim, .file_bytes = (uint64_t)status.st_size};
        items->disk_bytes += cache_disk_bytes(item.file_bytes);
        if (key_at(number, file->d_name, &item.key))
            is_complete = append(items, &item);
    }
    closedir(files);
    return is_complete;
}

bool cache_list(const struct cache *cache, struct cache_items *items)
{
    bool is_complete = true;
    *items = (struct cache_items){0};
    for (unsigned i = 0; i < CACHE_FOLDERS && is_complete; i++) {
        char name[CACHE_FOLDER_BYTES];
        snprintf(name, sizeof name, "%02x", i & 255u);
        int folder = cache_folder_open(cache_directory(cache), name, false);
        if (folder < 0)
            continue;
        is_complete = list_folder(folder, i, items);
        close(folder);
    }
    if (!is_complete)
        cache_items_fini(items);
    return is_complete;
}

void cache_items_fini(struct cache_items *items)
{
    free(items->items);
    *items = (struct cache_items){0};
}

static int by_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct cache_item *)left)->used;
    const struct timespec *b = &((const struct cache_item *)right)->used;
    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

void cache_items_sort(struct cache_items *items)
{
    if (items->count > 0)
        qsort(items->items, items->count, sizeof *items->items, by_use);
}

/* ---- single entries ---- */

bool cache_describe(const struct cache *cache, const struct cache_key *key,
                    struct cache_description *description)
{
    _Static_assert(sizeof description->text >= CACHE_ENTRY_HEAD_BYTES, "the words have no room");
    struct cache_entry_head head;
    size_t count = cache_load_head(cache, key, (uint8_t *)description->text);
    if (!cache_entry_head((const uint8_t *)description->text, count, &head))
        return false;
    description->about = head.about;
    description->payload_bytes = head.payload_bytes;
    description->made_s = head.made_s;
    return true;
}

enum cache_health cache_check(const struct cache *cache, const struct cache_key *key,
                              const char **why)
{
    uint8_t *entry;
    uint8_t *payload;
    size_t entry_bytes;
    size_t payload_bytes;
    if (!cache_load_entry(cache, key, &entry, &entry_bytes, why))
        return *why ? CACHE_DAMAGED : CACHE_GONE;
    bool is_whole = cache_entry_unpack(key, entry, entry_bytes, &payload, &payload_bytes, why);
    if (is_whole)
        free(payload);
    free(entry);
    return is_whole ? CACHE_WHOLE : CACHE_DAMAGED;
}

bool cache_remove(const struct cache *cache, const struct cache_key *key)
{
    struct cache_place place = cache_place_of(key);
    int folder = cache_folder_open(cache_directory(cache), place.folder, false);
    if (folder < 0)
        return false;
    bool is_removed = unlinkat(folder, place.name, 0) == 0;
    close(folder);
    return is_removed;
}
