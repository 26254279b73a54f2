/* SPDX-License-Identifier: Apache-2.0
 *
 * A table in parts, which do not move.
 */
#include "cudart/core/races/works.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PART_WORKS 1024u
#define PARTS      (UINT32_C(1) << 16)

static struct {
    pthread_mutex_t lock;
    uint32_t count; /* the first one is none */
    _Atomic(struct race_work *) parts[PARTS];
} works = {.lock = PTHREAD_MUTEX_INITIALIZER, .count = 1};

static struct race_work *part_of(uint32_t number)
{
    return atomic_load_explicit(&works.parts[number / PART_WORKS], memory_order_acquire);
}

static struct race_work *place_locked(uint32_t number)
{
    if (number / PART_WORKS >= PARTS)
        return NULL;
    if (!part_of(number))
        atomic_store_explicit(&works.parts[number / PART_WORKS],
                              calloc(PART_WORKS, sizeof(struct race_work)), memory_order_release);
    struct race_work *part = part_of(number);
    return part ? &part[number % PART_WORKS] : NULL;
}

uint32_t race_work_add(const struct race_work *work)
{
    pthread_mutex_lock(&works.lock);
    struct race_work *place = place_locked(works.count);
    uint32_t number = place ? works.count++ : 0;
    if (place)
        *place = *work;
    pthread_mutex_unlock(&works.lock);
    return number;
}

void race_work_meet_host(uint32_t number)
{
    struct race_work *work = &part_of(number)[number % PART_WORKS];
    if (!atomic_exchange(&work->has_met_host, true))
        sch_host_learn_moment(work->moment);
}

const struct race_work *race_work_get(uint32_t number)
{
    return number == 0 ? NULL : &part_of(number)[number % PART_WORKS];
}
