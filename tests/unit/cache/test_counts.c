/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts over processes: sums are right whoever adds, and nothing in the file can do harm.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache/counts.h"
#include "cache/store.h"
#include "cache_fixture.h"

#define LARGE     (UINT64_C(1) << 30)
#define PROCESSES 32
#define ROUNDS    20

static const struct cache_counts one = {
    .hits = {1, 2, 3, 4}, .misses = {5, 6, 7, 8}, .spent_ns = 9, .saved_ns = 10, .processes = 1};

static void expect_times(const struct cache_counts *counts, uint64_t times)
{
    for (int kind = 0; kind < CACHE_KIND_COUNT; kind++) {
        cr_expect_eq(counts->hits[kind], times * one.hits[kind]);
        cr_expect_eq(counts->misses[kind], times * one.misses[kind]);
    }
    cr_expect_eq(counts->spent_ns, times * one.spent_ns);
    cr_expect_eq(counts->saved_ns, times * one.saved_ns);
    cr_expect_eq(counts->processes, times);
}

static const char *counts_path(const struct cache *cache)
{
    static char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/%s", cache->path, CACHE_COUNTS_FILE);
    return name;
}

Test(counts, are_sums_since_they_were_zero, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_counts counts = one;
    uint64_t before_s = (uint64_t)time(NULL);
    cr_expect_not(cache_counts_read(cache, &counts));
    expect_times(&counts, 0);
    for (uint64_t i = 1; i <= 3; i++) {
        cache_counts_add(cache, &one);
        cr_expect(cache_counts_read(cache, &counts));
        expect_times(&counts, i);
    }
    cr_expect_geq(counts.since_s, before_s);
    cr_expect_leq(counts.since_s, (uint64_t)time(NULL));
    cr_expect(cache_counts_zero(cache));
    cr_expect(cache_counts_read(cache, &counts));
    expect_times(&counts, 0);
    cr_expect_geq(counts.since_s, before_s);
    cache_close(cache);
}

Test(counts, stay_at_the_largest, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_counts counts = {.spent_ns = UINT64_MAX - 5};
    cache_counts_add(cache, &counts);
    cache_counts_add(cache, &one);
    cr_expect(cache_counts_read(cache, &counts));
    cr_expect_eq(counts.spent_ns, UINT64_MAX);
    cache_close(cache);
}

Test(counts, of_many_processes_add_up, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            for (int round = 0; round < ROUNDS; round++)
                cache_counts_add(cache, &one);
            _exit(0);
        }
    }
    while (wait(NULL) > 0) {
    }
    struct cache_counts counts;
    cr_expect(cache_counts_read(cache, &counts));
    /* Who waits for the lock too long does without. */
    cr_expect_leq(counts.processes, PROCESSES * ROUNDS);
    cr_expect_gt(counts.processes, 0);
    expect_times(&counts, counts.processes);
    cache_close(cache);
}

/* Whatever is in the file: the counts can be read or not, and are right after zeroing. */
Test(counts, withstand_damage, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    cache_counts_add(cache, &one);
    struct stat status;
    cr_assert_eq(stat(counts_path(cache), &status), 0);
    for (off_t at = 0; at < status.st_size; at++) {
        uint8_t byte;
        int fd = open(counts_path(cache), O_RDWR);
        cr_assert_eq(pread(fd, &byte, 1, at), 1);
        byte ^= 0xff;
        cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
        close(fd);
        struct cache_counts counts;
        cache_counts_read(cache, &counts);
        cache_counts_add(cache, &one);
        cr_expect(cache_counts_zero(cache));
        cache_counts_add(cache, &one);
        cr_expect(cache_counts_read(cache, &counts));
        expect_times(&counts, 1);
    }
    for (off_t cut = 0; cut < status.st_size; cut++) {
        struct cache_counts counts;
        cr_assert_eq(truncate(counts_path(cache), cut), 0);
        cr_expect_not(cache_counts_read(cache, &counts));
        expect_times(&counts, 0);
        cache_counts_add(cache, &one);
        cr_expect(cache_counts_read(cache, &counts));
        expect_times(&counts, 1);
    }
    cache_close(cache);
}

Test(counts, are_not_written_through_a_link, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_counts counts;
    char target[PATH_MAX];
    snprintf(target, sizeof target, "%s/../elsewhere", cache->path);
    cr_assert_eq(symlink("../elsewhere", counts_path(cache)), 0);
    cache_counts_add(cache, &one);
    cr_expect_not(cache_counts_zero(cache));
    cr_expect_not(cache_counts_read(cache, &counts));
    cr_expect_neq(access(target, F_OK), 0);
    cache_close(cache);
}

/* More than a file may have would be a signal. */
Test(counts, end_nobody_who_may_not_write, .fini = remove_path)
{
    struct cache *cache = open_cache(LARGE);
    struct cache_counts counts;
    cache_counts_add(cache, &one);
    cache_counts_zero(cache);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){16, 16});
        cache_counts_add(cache, &one);
        _exit(cache_counts_zero(cache) ? 1 : 0);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_expect(cache_counts_read(cache, &counts));
    expect_times(&counts, 0);
    cache_close(cache);
}
