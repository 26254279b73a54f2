/* SPDX-License-Identifier: Apache-2.0 */
#include "storm.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache_fixture.h"

/* Rounds of a process that nobody kills, and the longest that a process is left alone. */
#define ROUNDS      20
#define LONGEST_US  20000
#define KILLED_OF   3
#define PATIENCE_MS 30000

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- one process ---- */

/* 1: there and right; 0: not there; -1: wrong. */
static int look(struct cache *cache, uint64_t number)
{
    struct cache_key key = numbered_key(number);
    uint8_t *bytes;
    size_t size_bytes;
    if (!cache_get(cache, &key, &bytes, &size_bytes))
        return 0;
    size_t wanted_bytes;
    uint8_t *wanted = numbered_payload(number, &wanted_bytes);
    bool is_right = size_bytes == wanted_bytes && memcmp(bytes, wanted, size_bytes) == 0;
    free(wanted);
    free(bytes);
    return is_right ? 1 : -1;
}

/* As the runtime does it. Returns whether all was right. */
static bool use_entry(struct cache *cache, uint64_t number)
{
    struct cache_key key = numbered_key(number);
    struct cache_claim claim;
    int found = look(cache, number);
    if (found != 0)
        return found == 1;
    enum cache_claim_result result = cache_claim(cache, &key, PATIENCE_MS, &claim);
    if (result == CACHE_CLAIM_PRESENT)
        return look(cache, number) >= 0; /* 0: it was evicted meanwhile */
    usleep(1000);
    put_numbered(cache, number);
    if (result == CACHE_CLAIM_HELD)
        cache_release(&claim);
    return result == CACHE_CLAIM_HELD;
}

static void child_main(const struct storm *storm, uint64_t seed)
{
    struct cache *cache;
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (cache_open(storm->path, storm->limit_bytes, &cache, NULL) != PXR_OK)
        _exit(2);
    for (int i = 0; i < ROUNDS; i++)
        if (!use_entry(cache, next_random(&state) % storm->entries))
            _exit(3);
    _exit(0);
}

/* ---- all of them ---- */

static pid_t start_child(const struct storm *storm, uint64_t seed)
{
    pid_t child = fork();
    if (child == 0)
        child_main(storm, seed);
    return child;
}

static unsigned judge(int status)
{
    bool is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (status == 0 || is_killed)
        return 0;
    fprintf(stderr, "a process ended with status %#x\n", (unsigned)status);
    return 1;
}

/* Waits for one process, and starts the next one in its place. */
static unsigned replace_one(const struct storm *storm, pid_t *children, unsigned *started)
{
    int status;
    pid_t ended = waitpid(-1, &status, 0);
    for (unsigned i = 0; i < storm->processes; i++)
        if (children[i] == ended)
            children[i] =
                *started < storm->starts ? start_child(storm, storm->seed + (*started)++) : 0;
    return judge(status);
}

static bool are_alive(const struct storm *storm, const pid_t *children)
{
    for (unsigned i = 0; i < storm->processes; i++)
        if (children[i] > 0)
            return true;
    return false;
}

/* Nobody holds a lock any more, and every entry can be made. */
static unsigned judge_cache(const struct storm *storm)
{
    struct cache *cache;
    unsigned wrong = 0;
    cr_assert_eq(cache_open(storm->path, storm->limit_bytes, &cache, NULL), PXR_OK);
    for (unsigned i = 0; i < storm->entries; i++) {
        struct cache_key key = numbered_key(i);
        struct cache_claim claim;
        int found = look(cache, i);
        enum cache_claim_result result = cache_claim(cache, &key, 0, &claim);
        bool is_right = found == 1 || (found == 0 && result == CACHE_CLAIM_HELD);
        if (result == CACHE_CLAIM_HELD)
            cache_release(&claim);
        is_right = is_right && put_numbered(cache, i) && look(cache, i) == 1;
        if (!is_right)
            fprintf(stderr, "entry %u: found %d, claim %d\n", i, found, (int)result);
        wrong += !is_right;
    }
    cache_close(cache);
    return wrong;
}

unsigned storm_run(const struct storm *storm)
{
    pid_t *children = calloc(storm->processes, sizeof *children);
    uint64_t state = storm->seed * 77 + 1;
    unsigned started = 0;
    unsigned wrong = 0;
    for (unsigned i = 0; i < storm->processes; i++)
        children[i] = start_child(storm, storm->seed + started++);
    while (are_alive(storm, children)) {
        unsigned victim = (unsigned)(next_random(&state) % storm->processes);
        usleep((unsigned)(next_random(&state) % (LONGEST_US / storm->processes + 1)));
        if (next_random(&state) % KILLED_OF == 0 && children[victim] > 0)
            kill(children[victim], SIGKILL);
        wrong += replace_one(storm, children, &started);
    }
    free(children);
    return wrong + judge_cache(storm);
}
