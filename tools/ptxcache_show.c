/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxcache -s, -z, list, verify.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cache/admin.h"
#include "cache/counts.h"
#include "tools/ptxcache.h"

/* Words may come from elsewhere, and control characters would reach the terminal. */
static void print_word(const char *word, const char *if_empty, int columns)
{
    int count = 0;
    for (const char *at = *word ? word : if_empty; *at; at++, count++)
        putchar((unsigned char)*at < 0x20 || *at == 0x7f ? '?' : *at);
    printf("%*s", columns > count ? columns - count : 0, "");
}

/* ---- sums by kind ---- */

#define KINDS_MAX 16

struct kind_sum {
    char name[32];
    uint64_t entries;
    uint64_t bytes;
};

struct contents {
    struct kind_sum kinds[KINDS_MAX];
    size_t kind_count;
    uint64_t entries;
    uint64_t bytes;
};

/* The last row is for all that have no row of their own. */
static struct kind_sum *find_kind(struct contents *contents, const char *name)
{
    size_t i = 0;
    while (i < contents->kind_count && strcmp(contents->kinds[i].name, name) != 0)
        i++;
    if (i == contents->kind_count && i < KINDS_MAX) {
        snprintf(contents->kinds[i].name, sizeof contents->kinds[i].name, "%.31s", name);
        contents->kind_count++;
    }
    return &contents->kinds[i < KINDS_MAX ? i : KINDS_MAX - 1];
}

static bool sum_up(const struct ptxcache *tool, struct contents *contents)
{
    struct cache_items items;
    struct cache_description about;
    *contents = (struct contents){0};
    if (!cache_list(tool->cache, &items)) {
        ptxcache_complain("no memory for a list of the entries");
        return false;
    }
    for (size_t i = 0; i < items.count; i++) {
        bool is_known = cache_describe(tool->cache, &items.items[i].key, &about);
        const char *name = is_known && *about.about.kind ? about.about.kind : "unknown";
        struct kind_sum *kind = find_kind(contents, name);
        kind->entries++;
        kind->bytes += items.items[i].file_bytes;
    }
    contents->entries = items.count;
    contents->bytes = items.disk_bytes;
    cache_items_fini(&items);
    return true;
}

/* ---- -s ---- */

static double share(uint64_t part, uint64_t rest)
{
    return part + rest ? 100 * (double)part / (double)(part + rest) : 0;
}

static void print_text_counts(const struct cache_counts *counts)
{
    char since[32] = "";
    time_t seconds = (time_t)counts->since_s;
    struct tm parts;
    if (localtime_r(&seconds, &parts))
        strftime(since, sizeof since, "%Y-%m-%d %H:%M", &parts);
    printf("processes: %llu since %s\n", (unsigned long long)counts->processes, since);
    for (int i = 0; i < CACHE_KIND_COUNT; i++) {
        uint64_t hits = counts->hits[i];
        uint64_t misses = counts->misses[i];
        if (hits + misses)
            printf("  %-9s %llu hits, %llu misses (%.1f%%)\n", cache_kind_names[i],
                   (unsigned long long)hits, (unsigned long long)misses, share(hits, misses));
    }
    printf("compiling: %.2f s spent, %.2f s saved\n", (double)counts->spent_ns / 1e9,
           (double)counts->saved_ns / 1e9);
}

static void print_text_stats(const struct ptxcache *tool, const struct contents *contents,
                             const struct cache_counts *counts, bool has_counts)
{
    char size[PTXCACHE_SIZE_BYTES];
    char limit[PTXCACHE_SIZE_BYTES] = "no limit";
    bool has_limit = cache_limit(tool->cache) < UINT64_MAX >> 1;
    ptxcache_size_text(contents->bytes, size);
    if (has_limit)
        ptxcache_size_text(cache_limit(tool->cache), limit);
    printf("directory: %s\n", tool->place.path);
    printf("entries: %llu, %s of %s\n", (unsigned long long)contents->entries, size, limit);
    for (size_t i = 0; i < contents->kind_count; i++) {
        ptxcache_size_text(contents->kinds[i].bytes, size);
        printf("  ");
        print_word(contents->kinds[i].name, "", 9);
        printf(" %llu entries, %s\n", (unsigned long long)contents->kinds[i].entries, size);
    }
    if (has_counts)
        print_text_counts(counts);
    else
        puts("processes: none has been counted yet");
}

/* Names come from files. */
static void print_json_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_json_stats(const struct ptxcache *tool, const struct contents *contents,
                             const struct cache_counts *counts)
{
    printf("{\"version\": 1, \"directory\": ");
    print_json_text(tool->place.path);
    printf(", \"entries\": %llu, \"bytes\": %llu, \"limit_bytes\": %llu,\n \"kinds\": {",
           (unsigned long long)contents->entries, (unsigned long long)contents->bytes,
           (unsigned long long)cache_limit(tool->cache));
    for (size_t i = 0; i < contents->kind_count; i++) {
        printf("%s", i ? ", " : "");
        print_json_text(contents->kinds[i].name);
        printf(": {\"entries\": %llu, \"bytes\": %llu}",
               (unsigned long long)contents->kinds[i].entries,
               (unsigned long long)contents->kinds[i].bytes);
    }
    printf("},\n \"processes\": %llu, \"since\": %llu,\n \"lookups\": {",
           (unsigned long long)counts->processes, (unsigned long long)counts->since_s);
    for (int i = 0; i < CACHE_KIND_COUNT; i++)
        printf("%s\"%s\": {\"hits\": %llu, \"misses\": %llu}", i ? ", " : "", cache_kind_names[i],
               (unsigned long long)counts->hits[i], (unsigned long long)counts->misses[i]);
    printf("},\n \"compile_spent_ns\": %llu, \"compile_saved_ns\": %llu}\n",
           (unsigned long long)counts->spent_ns, (unsigned long long)counts->saved_ns);
}

enum ptxcache_exit ptxcache_show_stats(const struct ptxcache *tool)
{
    struct contents contents;
    struct cache_counts counts;
    bool has_counts = cache_counts_read(tool->cache, &counts);
    if (!sum_up(tool, &contents))
        return PTXCACHE_FAILED;
    if (tool->is_json)
        print_json_stats(tool, &contents, &counts);
    else
        print_text_stats(tool, &contents, &counts, has_counts);
    return PTXCACHE_OK;
}

enum ptxcache_exit ptxcache_zero_stats(const struct ptxcache *tool)
{
    if (cache_counts_zero(tool->cache)) {
        puts("counts are zero");
        return PTXCACHE_OK;
    }
    ptxcache_complain("the counts in %s cannot be written", tool->place.path);
    return PTXCACHE_FAILED;
}

/* ---- list ---- */

/* "3d", "5h", "12m", "40s" */
static void age_text(time_t now, uint64_t then, char text[16])
{
    uint64_t seconds = (uint64_t)now > then ? (uint64_t)now - then : 0;
    static const struct {
        uint64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    size_t i = 0;
    while (i < 3 && seconds < units[i].seconds)
        i++;
    snprintf(text, 16, "%llu%c", (unsigned long long)(seconds / units[i].seconds), units[i].letter);
}

static void print_item(const struct cache_item *item, const struct cache_description *entry,
                       time_t now)
{
    char size[PTXCACHE_SIZE_BYTES];
    char age[16];
    char used[16];
    ptxcache_size_text(item->file_bytes, size);
    age_text(now, entry->made_s, age);
    age_text(now, (uint64_t)item->used.tv_sec, used);
    print_word(entry->about.kind, "unknown", 8);
    printf(" %10s %5s %5s  ", size, age, used);
    print_word(entry->about.target, "-", 28);
    printf("  ");
    print_word(entry->about.name, "", 0);
    putchar('\n');
}

static void print_json_item(const struct cache_item *item, const struct cache_description *entry)
{
    const struct {
        const char *name;
        const char *text;
    } words[] = {{"kind", entry->about.kind},
                 {"name", entry->about.name},
                 {"target", entry->about.target},
                 {"maker", entry->about.maker}};
    printf("{\"key\": \"");
    for (int i = 0; i < CACHE_KEY_BYTES; i++)
        printf("%02x", item->key.bytes[i]);
    putchar('"');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        printf(", \"%s\": ", words[i].name);
        print_json_text(words[i].text);
    }
    printf(", \"file_bytes\": %llu, \"payload_bytes\": %llu, \"made\": %llu, \"used\": %llu}",
           (unsigned long long)item->file_bytes, (unsigned long long)entry->payload_bytes,
           (unsigned long long)entry->made_s, (unsigned long long)item->used.tv_sec);
}

static void print_items(const struct ptxcache *tool, const struct cache_items *items)
{
    time_t now = time(NULL);
    const char *separator = "";
    if (tool->is_json)
        printf("{\"version\": 1, \"entries\": [");
    else
        printf("%-8s %10s %5s %5s  %-28s  %s\n", "kind", "size", "age", "used", "CPU", "name");
    for (size_t i = items->count; i-- > 0;) {
        struct cache_description entry;
        if (!cache_describe(tool->cache, &items->items[i].key, &entry))
            continue;
        if (tool->is_json) {
            printf("%s\n", separator);
            print_json_item(&items->items[i], &entry);
        } else {
            print_item(&items->items[i], &entry, now);
        }
        separator = ",";
    }
    if (tool->is_json)
        puts("]}");
}

static bool list_items(const struct ptxcache *tool, struct cache_items *items)
{
    if (!cache_list(tool->cache, items)) {
        ptxcache_complain("no memory for a list of the entries");
        return false;
    }
    cache_items_sort(items);
    return true;
}

enum ptxcache_exit ptxcache_list(const struct ptxcache *tool)
{
    struct cache_items items;
    if (!list_items(tool, &items))
        return PTXCACHE_FAILED;
    print_items(tool, &items);
    cache_items_fini(&items);
    return PTXCACHE_OK;
}

/* ---- verify ---- */

static void report_damage(const struct ptxcache *tool, const struct cache_key *key, const char *why)
{
    char digits[2 * CACHE_KEY_BYTES + 1];
    for (int i = 0; i < CACHE_KEY_BYTES; i++)
        snprintf(digits + 2 * i, 3, "%02x", key->bytes[i]);
    bool is_removed = tool->removes && cache_remove(tool->cache, key);
    ptxcache_complain("%s/%.2s/%s is damaged: %s%s", tool->place.path, digits, digits + 2, why,
                      is_removed ? "; it is removed" : "");
}

enum ptxcache_exit ptxcache_verify(const struct ptxcache *tool)
{
    struct cache_items items;
    size_t counts[CACHE_DAMAGED + 1] = {0};
    if (!list_items(tool, &items))
        return PTXCACHE_FAILED;
    for (size_t i = 0; i < items.count; i++) {
        const char *why;
        enum cache_health health = cache_check(tool->cache, &items.items[i].key, &why);
        counts[health]++;
        if (health == CACHE_DAMAGED)
            report_damage(tool, &items.items[i].key, why);
    }
    printf("%zu entries are whole, %zu damaged\n", counts[CACHE_WHOLE], counts[CACHE_DAMAGED]);
    cache_items_fini(&items);
    return counts[CACHE_DAMAGED] ? PTXCACHE_FAILED : PTXCACHE_OK;
}
