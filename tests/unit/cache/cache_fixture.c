/* SPDX-License-Identifier: Apache-2.0 */
#include "cache_fixture.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/directory.h"
#include "cache/store.h"

static char outer[PATH_MAX / 2];
static char path[PATH_MAX];

const char *new_path(void)
{
    const char *temporary = getenv("TMPDIR");
    snprintf(outer, sizeof outer, "%s/ptxrun-cache-XXXXXX", temporary ? temporary : "/tmp");
    cr_assert_not_null(mkdtemp(outer));
    snprintf(path, sizeof path, "%s/above/cache", outer);
    return path;
}

static int remove_one(const char *name, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(name);
}

void remove_path(void)
{
    nftw(outer, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct cache *open_cache(uint64_t limit_bytes)
{
    struct cache *cache = NULL;
    cr_assert_eq(cache_open(new_path(), limit_bytes, &cache, NULL), PXR_OK);
    return cache;
}

struct cache_key numbered_key(uint64_t number)
{
    struct cache_hash hash;
    cache_hash_init(&hash, "test");
    cache_hash_number(&hash, number);
    return cache_hash_key(&hash);
}

uint8_t *numbered_payload(uint64_t number, size_t *size_bytes)
{
    uint64_t state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    *size_bytes = (size_t)(number * 977 % 12000);
    uint8_t *bytes = malloc(*size_bytes + 1);
    for (size_t i = 0; i < *size_bytes; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes[i] = (uint8_t)state;
    }
    return bytes;
}

bool put_numbered(struct cache *cache, uint64_t number)
{
    struct cache_key key = numbered_key(number);
    size_t size_bytes;
    uint8_t *bytes = numbered_payload(number, &size_bytes);
    bool is_stored = cache_put(cache, &key, bytes, size_bytes);
    free(bytes);
    return is_stored;
}

bool has_numbered(struct cache *cache, uint64_t number)
{
    struct cache_key key = numbered_key(number);
    uint8_t *bytes;
    size_t size_bytes;
    if (!cache_get(cache, &key, &bytes, &size_bytes))
        return false;
    size_t wanted_bytes;
    uint8_t *wanted = numbered_payload(number, &wanted_bytes);
    cr_assert_eq(size_bytes, wanted_bytes);
    cr_assert_eq(memcmp(bytes, wanted, size_bytes), 0, "the payload of another entry");
    free(wanted);
    free(bytes);
    return true;
}

const char *entry_path(const struct cache_key *key)
{
    static char name[PATH_MAX + 128];
    struct cache_place place = cache_place_of(key);
    snprintf(name, sizeof name, "%s/%s/%s", path, place.folder, place.name);
    return name;
}

static uint64_t sum_bytes;

static int add_one(const char *name, const struct stat *status, int kind, struct FTW *walk)
{
    (void)name;
    if (kind == FTW_F && walk->level == 2)
        sum_bytes += cache_disk_bytes((uint64_t)status->st_size);
    return 0;
}

uint64_t stored_bytes(void)
{
    sum_bytes = 0;
    nftw(path, add_one, 16, FTW_PHYS);
    return sum_bytes;
}
