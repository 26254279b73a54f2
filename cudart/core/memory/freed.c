/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/freed.h"

#include <pthread.h>

#include "cudart/core/check/findings.h"

#define REMEMBERED 4096

struct range {
    uintptr_t base;
    size_t size_bytes;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct range ranges[REMEMBERED];
    uint64_t count; /* ever */
} freed = {.lock = PTHREAD_MUTEX_INITIALIZER};

void crt_freed_note(uintptr_t base, size_t size_bytes)
{
    if (!crt_check_is_on())
        return;
    pthread_mutex_lock(&freed.lock);
    freed.ranges[freed.count++ % REMEMBERED] = (struct range){base, size_bytes};
    pthread_mutex_unlock(&freed.lock);
}

bool crt_freed_find(uintptr_t address, uintptr_t *base, size_t *size_bytes)
{
    bool is_found = false;
    pthread_mutex_lock(&freed.lock);
    uint64_t oldest = freed.count > REMEMBERED ? freed.count - REMEMBERED : 0;
    for (uint64_t i = freed.count; i > oldest && !is_found; i--) {
        const struct range *range = &freed.ranges[(i - 1) % REMEMBERED];
        is_found = address - range->base < range->size_bytes;
        *base = range->base;
        *size_bytes = range->size_bytes;
    }
    pthread_mutex_unlock(&freed.lock);
    return is_found;
}
