/* SPDX-License-Identifier: Apache-2.0
 *
 * Looking through a cache, checking it and making it smaller.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cache/admin.h"
#include "cache_fixture.h"

#define LARGE (UINT64_C(1) << 30)
#define COUNT 20

/* Entries 0 to COUNT - 1; the lower the number, the longer ago the last use. */
static struct cache *open_aged(void)
{
    struct cache *cache = open_cache(LARGE);
    for (uint64_t i = 0; i < COUNT; i++) {
        struct cache_key key = numbered_key(i);
        struct timespec used[2] = {{.tv_sec = (time_t)(1000 + i)}, {.tv_sec = (time_t)(1000 + i)}};
        cr_assert(put_numbered(cache, i));
        cr_assert_eq(utimensat(AT_FDCWD, entry_path(&key), used, 0), 0);
    }
    return cache;
}

static void overwrite(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

Test(admin, lists_all_entries_by_their_last_use, .fini = remove_path)
{
    struct cache *cache = open_aged();
    struct cache_items items;
    uint64_t all_bytes = 0;
    cr_assert(cache_list(cache, &items));
    cr_assert_eq(items.count, COUNT);
    cache_items_sort(&items);
    for (uint64_t i = 0; i < COUNT; i++) {
        struct cache_key key = numbered_key(i);
        cr_expect_eq(memcmp(&items.items[i].key, &key, sizeof key), 0);
        cr_expect_eq(items.items[i].used.tv_sec, (time_t)(1000 + i));
        all_bytes += (items.items[i].file_bytes + 4095) / 4096 * 4096;
    }
    cr_expect_eq(items.disk_bytes, all_bytes);
    cache_items_fini(&items);
    cache_close(cache);
}

Test(admin, says_of_an_entry_what_was_said_of_it, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_key key = numbered_key(1);
    struct cache_description told;
    char name[5000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct cache_about about = {.kind = "code", .name = name, .maker = "builder"};
    cr_expect_not(cache_describe(cache, &key, &told));
    cr_assert(cache_put_about(cache, &key, &about, "payload", 7));
    cr_assert(cache_describe(cache, &key, &told));
    cr_expect_str_eq(told.about.kind, "code");
    cr_expect_eq(strlen(told.about.name), 1000);
    cr_expect_str_eq(told.about.target, "");
    cr_expect_str_eq(told.about.maker, "builder");
    cr_expect_eq(told.payload_bytes, 7);
    cr_expect_leq(told.made_s, (uint64_t)time(NULL));
    cr_expect_geq(told.made_s, (uint64_t)time(NULL) - 60);
    uint8_t *bytes;
    size_t count;
    cr_assert(cache_get(cache, &key, &bytes, &count));
    cr_expect_eq(count, 7);
    cr_expect_eq(memcmp(bytes, "payload", 7), 0);
    free(bytes);
    overwrite(entry_path(&key), "no entry");
    cr_expect_not(cache_describe(cache, &key, &told));
    cache_close(cache);
}

Test(admin, tells_whole_entries_from_damaged_ones, .fini = remove_path)
{
    struct cache *cache = open_aged();
    struct cache_key whole = numbered_key(1);
    struct cache_key damaged = numbered_key(2);
    struct cache_key missing = numbered_key(COUNT);
    struct stat status;
    const char *why;
    overwrite(entry_path(&damaged), "ptxrunKC and then nothing");
    cr_expect_eq(cache_check(cache, &whole, &why), CACHE_WHOLE);
    cr_expect_eq(cache_check(cache, &damaged, &why), CACHE_DAMAGED);
    cr_expect_not_null(why);
    cr_expect_eq(cache_check(cache, &missing, &why), CACHE_GONE);
    cr_assert_eq(stat(entry_path(&whole), &status), 0);
    cr_expect_eq(status.st_mtim.tv_sec, 1001, "a check counts as a use");
    cr_expect(cache_remove(cache, &damaged));
    cr_expect_eq(cache_check(cache, &damaged, &why), CACHE_GONE);
    cache_close(cache);
}

static void expect_present(struct cache *cache, uint64_t first)
{
    for (uint64_t i = 0; i < COUNT; i++)
        cr_expect_eq(has_numbered(cache, i), i >= first, "entry %d", (int)i);
}

Test(admin, trims_by_age, .fini = remove_path)
{
    struct cache *cache = open_aged();
    struct cache_trimmed trimmed;
    const struct cache_trim trim = {
        .limit_bytes = UINT64_MAX, .target_bytes = UINT64_MAX, .used_before = 1000 + 7};
    cr_assert_eq(cache_trim(cache, &trim, &trimmed, NULL), PXR_OK);
    cr_expect_eq(trimmed.removed_count, 7);
    cr_expect_eq(trimmed.kept_count, COUNT - 7);
    cr_expect_eq(trimmed.kept_bytes, stored_bytes());
    expect_present(cache, 7);
    cache_close(cache);
}

Test(admin, trims_by_size, .fini = remove_path)
{
    struct cache *cache = open_aged();
    struct cache_trimmed trimmed;
    uint64_t all_bytes = stored_bytes();
    struct cache_trim trim = {.limit_bytes = all_bytes, .target_bytes = all_bytes / 2};
    cr_assert_eq(cache_trim(cache, &trim, &trimmed, NULL), PXR_OK);
    cr_expect_eq(trimmed.removed_count, 0, "nothing goes as long as the limit is kept");
    trim.limit_bytes--;
    cr_assert_eq(cache_trim(cache, &trim, &trimmed, NULL), PXR_OK);
    cr_expect_leq(stored_bytes(), all_bytes / 2);
    cr_expect_eq(trimmed.removed_bytes, all_bytes - stored_bytes());
    expect_present(cache, trimmed.removed_count);
    trim.limit_bytes = 0;
    trim.target_bytes = 0;
    cr_assert_eq(cache_trim(cache, &trim, &trimmed, NULL), PXR_OK);
    cr_expect_eq(stored_bytes(), 0);
    cache_close(cache);
}

Test(admin, keeps_the_limit_that_was_set, .fini = remove_path)
{
    const char *path = new_path();
    struct cache *cache;
    char limit_path[4096];
    snprintf(limit_path, sizeof limit_path, "%s/limit", path);
    cr_assert_eq(cache_open(path, CACHE_LIMIT_KEPT, &cache, NULL), PXR_OK);
    cr_expect_eq(cache_limit(cache), CACHE_LIMIT_DEFAULT);
    cr_assert_eq(cache_set_limit(cache, 1234567, NULL), PXR_OK);
    cr_assert_eq(cache_set_limit(cache, 12345, NULL), PXR_OK);
    cr_expect_eq(cache_limit(cache), 12345);
    cache_close(cache);
    cr_assert_eq(cache_open(path, CACHE_LIMIT_KEPT, &cache, NULL), PXR_OK);
    cr_expect_eq(cache_limit(cache), 12345);
    cache_close(cache);
    cr_assert_eq(cache_open(path, 99, &cache, NULL), PXR_OK);
    cr_expect_eq(cache_limit(cache), 99, "who opens it says otherwise");
    cache_close(cache);
    overwrite(limit_path, "12x\n");
    cr_assert_eq(cache_open(path, CACHE_LIMIT_KEPT, &cache, NULL), PXR_OK);
    cr_expect_eq(cache_limit(cache), CACHE_LIMIT_DEFAULT);
    cache_close(cache);
}
