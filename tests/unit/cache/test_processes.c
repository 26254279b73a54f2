/* SPDX-License-Identifier: Apache-2.0
 *
 * Many processes on one cache, some killed; and what is written when there is no room.
 */
#include "cache_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "storm.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif
/* A fork takes long where the thread sanitizer has mapped its shadow. */
#if __has_feature(thread_sanitizer)
#define STARTS 80
#else
#define STARTS 240
#endif

Test(processes, share_a_cache_while_some_are_killed, .fini = remove_path)
{
    const struct storm storm = {.path = new_path(),
                                .processes = 64,
                                .starts = STARTS,
                                .entries = 60,
                                .limit_bytes = UINT64_C(8) << 20,
                                .seed = 1};
    cr_expect_eq(storm_run(&storm), 0);
}

Test(processes, share_a_cache_that_is_too_small, .fini = remove_path)
{
    const struct storm storm = {.path = new_path(),
                                .processes = 16,
                                .starts = STARTS / 2,
                                .entries = 100,
                                .limit_bytes = UINT64_C(128) << 10,
                                .seed = 2};
    cr_expect_eq(storm_run(&storm), 0);
}

/* ---- claims ---- */

static pid_t start(void (*run)(struct cache *), struct cache *cache)
{
    pid_t child = fork();
    if (child == 0) {
        run(cache);
        _exit(0);
    }
    return child;
}

static void claim_and_hang(struct cache *cache)
{
    struct cache_key key = numbered_key(1);
    struct cache_claim claim;
    if (cache_claim(cache, &key, 60000, &claim) != CACHE_CLAIM_HELD)
        _exit(1);
    for (;;)
        pause();
}

/* Until the child has the claim. */
static void wait_until_claimed(struct cache *cache)
{
    struct cache_key key = numbered_key(1);
    struct cache_claim claim;
    while (cache_claim(cache, &key, 0, &claim) == CACHE_CLAIM_HELD) {
        cache_release(&claim);
        usleep(100);
    }
}

Test(claims, end_with_their_holder, .fini = remove_path)
{
    struct cache *cache = open_cache(UINT64_C(1) << 20);
    struct cache_key key = numbered_key(1);
    struct cache_key other = numbered_key(2);
    struct cache_claim claim;
    pid_t child = start(claim_and_hang, cache);
    wait_until_claimed(cache);
    cr_expect_eq(cache_claim(cache, &key, 20, &claim), CACHE_CLAIM_IMPOSSIBLE);
    cr_expect_eq(cache_claim(cache, &other, 0, &claim), CACHE_CLAIM_HELD);
    cache_release(&claim);
    kill(child, SIGKILL);
    cr_expect_eq(cache_claim(cache, &key, 60000, &claim), CACHE_CLAIM_HELD);
    waitpid(child, NULL, 0);
    cache_release(&claim);
    cache_close(cache);
}

static void claim_and_put(struct cache *cache)
{
    struct cache_key key = numbered_key(1);
    struct cache_claim claim;
    if (cache_claim(cache, &key, 60000, &claim) != CACHE_CLAIM_HELD)
        _exit(1);
    usleep(50000);
    put_numbered(cache, 1);
    cache_release(&claim);
}

Test(claims, are_waited_for, .fini = remove_path)
{
    struct cache *cache = open_cache(UINT64_C(1) << 20);
    struct cache_key key = numbered_key(1);
    struct cache_claim claim;
    pid_t child = start(claim_and_put, cache);
    wait_until_claimed(cache);
    cr_expect_eq(cache_claim(cache, &key, 60000, &claim), CACHE_CLAIM_PRESENT);
    cr_expect(has_numbered(cache, 1));
    waitpid(child, NULL, 0);
    cache_close(cache);
}

/* A child that lives on does not keep what its parent has let go. */
static void sleep_long(struct cache *cache)
{
    (void)cache;
    for (;;)
        pause();
}

Test(claims, are_not_inherited, .fini = remove_path)
{
    struct cache *cache = open_cache(UINT64_C(1) << 20);
    struct cache_key key = numbered_key(1);
    struct cache_claim claim;
    cr_assert_eq(cache_claim(cache, &key, 0, &claim), CACHE_CLAIM_HELD);
    pid_t child = start(sleep_long, cache);
    cache_release(&claim);
    cr_expect_eq(cache_claim(cache, &key, 0, &claim), CACHE_CLAIM_HELD);
    cache_release(&claim);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    cache_close(cache);
}

#define THREADS 4

struct shared {
    struct cache *cache;
    _Atomic int made;
};

static void *make_once(void *argument)
{
    struct shared *shared = argument;
    struct cache_key key = numbered_key(7);
    struct cache_claim claim;
    if (has_numbered(shared->cache, 7))
        return NULL;
    if (cache_claim(shared->cache, &key, 60000, &claim) != CACHE_CLAIM_HELD)
        return NULL;
    /* Another thread may have made it before this one waited. */
    if (!has_numbered(shared->cache, 7)) {
        shared->made++;
        put_numbered(shared->cache, 7);
    }
    cache_release(&claim);
    return NULL;
}

Test(claims, exclude_threads, .fini = remove_path)
{
    struct shared shared = {.cache = open_cache(UINT64_C(1) << 20)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, make_once, &shared), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(shared.made, 1);
    cr_expect(has_numbered(shared.cache, 7));
    cache_close(shared.cache);
}

static void *put_and_get(void *argument)
{
    struct shared *shared = argument;
    for (uint64_t i = 0; i < 60; i++) {
        has_numbered(shared->cache, i);
        put_numbered(shared->cache, i);
    }
    return NULL;
}

Test(threads, share_a_cache, .fini = remove_path)
{
    struct shared shared = {.cache = open_cache(UINT64_C(128) << 10)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, put_and_get, &shared), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_leq(stored_bytes(), UINT64_C(128) << 10);
    cache_close(shared.cache);
}

/* ---- no room ---- */

static void put_with_small_files(struct cache *cache)
{
    const rlim_t limits[] = {0, 10, 100, 1000, 4000};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct rlimit limit = {limits[i], RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        if (put_numbered(cache, 10) || has_numbered(cache, 10))
            _exit(1);
    }
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(put_numbered(cache, 10) && has_numbered(cache, 10) ? 0 : 1);
}

Test(lack, of_room_in_files_does_no_harm, .fini = remove_path)
{
    struct cache *cache = open_cache(UINT64_C(1) << 20);
    int status = -1;
    waitpid(start(put_with_small_files, cache), &status, 0);
    cr_expect_eq(status, 0, "status %#x", (unsigned)status);
    cr_expect(has_numbered(cache, 10));
    cache_close(cache);
}

static void put_without_descriptors(struct cache *cache)
{
    struct rlimit limit = {3, 1000};
    setrlimit(RLIMIT_NOFILE, &limit);
    _exit(put_numbered(cache, 10) || has_numbered(cache, 10));
}

Test(lack, of_descriptors_does_no_harm, .fini = remove_path)
{
    struct cache *cache = open_cache(UINT64_C(1) << 20);
    int status = -1;
    waitpid(start(put_without_descriptors, cache), &status, 0);
    cr_expect_eq(status, 0, "status %#x", (unsigned)status);
    cache_close(cache);
}
