/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/code/running_block.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/check/findings.h"
#include "cudart/core/code/race_copies.h"
#include "cudart/core/code/race_memory.h"
#include "scheduler/scheduler.h"

#define CACHE_LINE 64

static struct {
    pthread_mutex_t lock;
    struct crt_running_block *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint32_t crt_block_number(const struct rt_launch *launch, const uint32_t ctaid[3])
{
    return (ctaid[2] * launch->grid[1] + ctaid[1]) * launch->grid[0] + ctaid[0];
}

uint32_t crt_thread_number(const struct rt_thread *thread)
{
    return thread->warp * RT_WARP_SIZE + thread->lane;
}

static struct crt_running_block *find(const struct rt_block *rt)
{
    pthread_mutex_lock(&all.lock);
    struct crt_running_block *running = all.first;
    while (running && running->rt != rt)
        running = running->next;
    if (!running && (running = calloc(1, sizeof *running)) != NULL) {
        running->rt = rt;
        running->next = all.first;
        all.first = running;
    }
    pthread_mutex_unlock(&all.lock);
    return running;
}

static void make_shadow(struct crt_running_block *running, uint32_t shared_bytes)
{
    struct race_shadow *shadow = &running->shadow;
    size_t strips = (shared_bytes + RACE_STRIP_BYTES - 1) / RACE_STRIP_BYTES;
    size_t words = strips * RACE_STRIP_WORDS;
    if (words <= running->word_count)
        return;
    free(shadow->strips);
    free(shadow->more);
    free(shadow->settled);
    free(shadow->values);
    free(shadow->cells);
    shadow->strips = aligned_alloc(CACHE_LINE, strips * sizeof *shadow->strips);
    shadow->more = calloc(strips, sizeof *shadow->more);
    shadow->settled = calloc(strips, sizeof *shadow->settled);
    shadow->values = calloc(words, sizeof *shadow->values);
    shadow->cells = calloc(words, sizeof *shadow->cells);
    if (shadow->strips)
        memset(shadow->strips, 0, strips * sizeof *shadow->strips);
    bool is_made =
        shadow->strips && shadow->more && shadow->settled && shadow->values && shadow->cells;
    running->word_count = is_made ? words : 0;
}

static void begin_launch(struct crt_running_block *running, const struct rt_launch *launch)
{
    running->op = sch_op_of(launch);
    running->work = crt_race_work_of(launch);
    running->beside_work = 0;
    memset(running->ordered_works, 0, sizeof running->ordered_works);
}

static void begin(struct crt_running_block *running)
{
    const struct rt_launch *launch = running->rt->launch;
    uint32_t index = crt_block_number(launch, running->rt->ctaid);
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    bool is_other_launch = !running->has_begun || running->launch != launch->grid_id;
    pthread_mutex_lock(&all.lock);
    running->launch = launch->grid_id;
    running->index = index;
    memcpy(running->ctaid, running->rt->ctaid, sizeof running->ctaid);
    running->has_begun = true;
    pthread_mutex_unlock(&all.lock);
    if (crt_checks_meetings())
        meet_block_begin(&running->meetings, threads);
    if (crt_checks_races()) {
        race_block_begin(&running->races, launch->grid_id, index, threads);
        make_shadow(running, launch->shared_bytes);
        if (is_other_launch)
            begin_launch(running, launch);
        crt_race_copies_begin(running);
        memset(running->cluster_phases, 0, sizeof running->cluster_phases);
    }
}

static struct crt_running_block *begin_if_new(struct crt_running_block *running)
{
    const struct rt_block *rt = running->rt;
    if (!running->has_begun || running->launch != rt->launch->grid_id ||
        running->ctaid[0] != rt->ctaid[0] || running->ctaid[1] != rt->ctaid[1] ||
        running->ctaid[2] != rt->ctaid[2])
        begin(running);
    return running;
}

struct crt_running_block *crt_running_of(const struct rt_thread *thread)
{
    static CRT_HOT_THREAD_LOCAL struct crt_running_block *last;
    if (!last || last->rt != thread->block)
        last = find(thread->block);
    return last ? begin_if_new(last) : NULL;
}

struct crt_running_block *crt_running_beside(const struct rt_block *rt)
{
    struct crt_running_block *running = find(rt);
    return running ? begin_if_new(running) : NULL;
}

struct crt_running_block *crt_stopped_block(uint64_t launch, uint32_t index)
{
    pthread_mutex_lock(&all.lock);
    struct crt_running_block *running = all.first;
    while (running && (!running->has_begun || running->launch != launch || running->index != index))
        running = running->next;
    pthread_mutex_unlock(&all.lock);
    return running;
}
