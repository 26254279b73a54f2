/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/freed.h"

#include <pthread.h>

#include "cudart/core/check/findings.h"

#define REMEMBERED 4096

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_freed ranges[REMEMBERED];
    uint64_t count; /* ever */
} freed = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of the call that is under way. */
static _Thread_local struct crt_frames calls;

void crt_freed_begin(void)
{
    if (crt_check_is_on())
        crt_frames_take(&calls);
}

void crt_freed_end(void)
{
    calls.count = 0;
}

void crt_freed_note(uintptr_t base, size_t size_bytes)
{
    if (!crt_check_is_on())
        return;
    pthread_mutex_lock(&freed.lock);
    freed.ranges[freed.count++ % REMEMBERED] = (struct crt_freed){base, size_bytes, calls};
    pthread_mutex_unlock(&freed.lock);
    calls.count = 0;
}

bool crt_freed_find(uintptr_t address, struct crt_freed *found)
{
    bool is_found = false;
    pthread_mutex_lock(&freed.lock);
    uint64_t oldest = freed.count > REMEMBERED ? freed.count - REMEMBERED : 0;
    for (uint64_t i = freed.count; i > oldest && !is_found; i--) {
        const struct crt_freed *range = &freed.ranges[(i - 1) % REMEMBERED];
        is_found = address - range->base < range->size_bytes;
        if (is_found)
            *found = *range;
    }
    pthread_mutex_unlock(&freed.lock);
    return is_found;
}
