/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of handles: one list of dead objects per kind.
 */
#include "cudart/core/object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct crt_object *dead[CRT_KIND_COUNT];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

void *crt_object_create(enum crt_kind kind, size_t size_bytes)
{
    pthread_mutex_lock(&pool.lock);
    struct crt_object *object = pool.dead[kind];
    if (object)
        pool.dead[kind] = object->next_dead;
    pthread_mutex_unlock(&pool.lock);

    if (object)
        memset((void *)object, 0, size_bytes);
    else
        object = calloc(1, size_bytes);
    if (object)
        atomic_store_explicit(&object->tag, CRT_TAG(kind), memory_order_relaxed);
    return object;
}

void crt_object_destroy(enum crt_kind kind, void *object)
{
    struct crt_object *head = object;
    atomic_store_explicit(&head->tag, 0, memory_order_relaxed);
    pthread_mutex_lock(&pool.lock);
    head->next_dead = pool.dead[kind];
    pool.dead[kind] = head;
    pthread_mutex_unlock(&pool.lock);
}
