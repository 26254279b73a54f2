/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of places, in parts with a lock each. Places stay for the process: programs synchronise
 * through few of them.
 */
#include "cudart/core/races/syncs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PARTS        64
#define BUCKETS      256 /* of a part */
#define LAUNCHES_MAX 8   /* of which a place knows at a time */

struct sync {
    struct sync *next;
    uintptr_t place;
    uint64_t launch; /* what the clock says is said of its blocks */
    struct race_clock clock;
};

static struct part {
    pthread_mutex_t lock;
    _Atomic(struct sync *) buckets[BUCKETS];
} parts[PARTS];

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_locks(void)
{
    for (unsigned i = 0; i < PARTS; i++)
        pthread_mutex_init(&parts[i].lock, NULL);
}

static uint64_t hash_of(uintptr_t place)
{
    return (place >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
}

static struct part *part_of(uintptr_t place)
{
    pthread_once(&once, make_locks);
    return &parts[hash_of(place) % PARTS];
}

static _Atomic(struct sync *) *bucket_of(struct part *part, uintptr_t place)
{
    return &part->buckets[hash_of(place) / PARTS % BUCKETS];
}

/* Of this launch; NULL if there is none. */
static struct sync *find_locked(struct part *part, uintptr_t place, uint64_t launch)
{
    struct sync *sync = *bucket_of(part, place);
    while (sync && (sync->place != place || sync->launch != launch))
        sync = sync->next;
    return sync;
}

/* The one of the oldest of so many launches, which most likely has ended; NULL: they are fewer. */
static struct sync *find_oldest_locked(struct part *part, uintptr_t place)
{
    struct sync *oldest = NULL;
    unsigned count = 0;
    for (struct sync *sync = *bucket_of(part, place); sync; sync = sync->next) {
        if (sync->place != place)
            continue;
        count++;
        if (!oldest || sync->launch < oldest->launch)
            oldest = sync;
    }
    return count < LAUNCHES_MAX ? NULL : oldest;
}

static struct sync *add_locked(struct part *part, uintptr_t place, uint64_t launch)
{
    struct sync *sync = find_oldest_locked(part, place);
    if (sync) {
        race_clock_clear(&sync->clock);
        sync->launch = launch;
        return sync;
    }
    sync = calloc(1, sizeof *sync);
    if (!sync)
        return NULL;
    _Atomic(struct sync *) *bucket = bucket_of(part, place);
    *sync = (struct sync){.next = *bucket, .place = place, .launch = launch};
    atomic_store_explicit(bucket, sync, memory_order_release);
    return sync;
}

/* Most atomic operations of most programs tell nobody anything, and get no place. */
void race_sync_release(struct race_block *block, uint32_t thread, bool is_ordered, uintptr_t place)
{
    if (!is_ordered && block->warps[thread / RT_WARP_SIZE].fenced == 0)
        return;
    struct part *part = part_of(place);
    pthread_mutex_lock(&part->lock);
    struct sync *sync = find_locked(part, place, block->launch);
    if (!sync)
        sync = add_locked(part, place, block->launch);
    if (sync)
        race_release(block, thread, is_ordered, &sync->clock);
    pthread_mutex_unlock(&part->lock);
}

/* Whoever has written what was read has added the place before. */
void race_sync_acquire(struct race_block *block, uint32_t thread, bool is_ordered, uintptr_t place)
{
    struct part *part = part_of(place);
    atomic_thread_fence(memory_order_acquire);
    if (!atomic_load_explicit(bucket_of(part, place), memory_order_acquire))
        return;
    pthread_mutex_lock(&part->lock);
    const struct sync *sync = find_locked(part, place, block->launch);
    if (sync)
        race_acquire(block, thread, is_ordered, &sync->clock);
    pthread_mutex_unlock(&part->lock);
}
