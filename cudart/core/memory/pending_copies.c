/* SPDX-License-Identifier: Apache-2.0
 *
 * See pending_copies.h.
 */
#include "cudart/core/memory/pending_copies.h"

#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/base/host_frames.h"
#include "cudart/core/check/findings.h"

struct range {
    uintptr_t base;
    size_t bytes;
};

struct crt_pending_copy {
    struct crt_pending_copy *next;
    struct crt_pending_copy *prev;
    struct range sides[2];
    struct crt_frames frames;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_pending_copy *first;
} copies = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct crt_pending_copy *crt_pending_copy_begin(uintptr_t dst, size_t dst_bytes, uintptr_t src,
                                                size_t src_bytes)
{
    struct crt_pending_copy *pending = crt_checks_api() ? malloc(sizeof *pending) : NULL;
    if (!pending)
        return NULL;
    *pending = (struct crt_pending_copy){.sides = {{dst, dst_bytes}, {src, src_bytes}}};
    crt_frames_take(&pending->frames);
    pthread_mutex_lock(&copies.lock);
    DL_APPEND(copies.first, pending);
    pthread_mutex_unlock(&copies.lock);
    return pending;
}

void crt_pending_copy_end(struct crt_pending_copy *pending)
{
    if (!pending)
        return;
    pthread_mutex_lock(&copies.lock);
    DL_DELETE(copies.first, pending);
    pthread_mutex_unlock(&copies.lock);
    free(pending);
}

static bool overlap(const struct range *a, const struct range *b)
{
    return a->base - b->base < b->bytes || b->base - a->base < a->bytes;
}

bool crt_pending_copy_find(uintptr_t base, size_t bytes, struct crt_frames *frames)
{
    const struct range range = {base, bytes};
    const struct crt_pending_copy *pending;
    bool is_found = false;
    pthread_mutex_lock(&copies.lock);
    DL_FOREACH(copies.first, pending)
    {
        is_found = overlap(&pending->sides[0], &range) || overlap(&pending->sides[1], &range);
        if (is_found) {
            *frames = pending->frames;
            break;
        }
    }
    pthread_mutex_unlock(&copies.lock);
    return is_found;
}
