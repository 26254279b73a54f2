/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of handles: one list of dead objects per kind.
 */
#include "cudart/core/object.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/leak.h"

/* What a program makes and must give back; the others are parts, or known by their memory. */
static const char *const nouns[CRT_KIND_COUNT] = {
    [CRT_KIND_CONTEXT] = "context",   [CRT_KIND_STREAM] = "stream",
    [CRT_KIND_EVENT] = "event",       [CRT_KIND_LIBRARY] = "module",
    [CRT_KIND_GRAPH] = "graph",       [CRT_KIND_GRAPH_EXEC] = "executable graph",
    [CRT_KIND_LINK] = "linker state",
};

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

    /* The tag, which is 0, stays: who has an old handle may be asking for it right now. */
    if (object)
        memset(&object->next_dead, 0, size_bytes - offsetof(struct crt_object, next_dead));
    else
        object = calloc(1, size_bytes);
    if (!object)
        return NULL;
    atomic_store_explicit(&object->tag, CRT_TAG(kind), memory_order_release);
    if (nouns[kind])
        crt_leak_note(nouns[kind], object, 0);
    return object;
}

void crt_object_destroy(enum crt_kind kind, void *object)
{
    struct crt_object *head = object;
    if (nouns[kind])
        crt_leak_forget(object);
    atomic_store_explicit(&head->tag, 0, memory_order_relaxed);
    pthread_mutex_lock(&pool.lock);
    head->next_dead = pool.dead[kind];
    pool.dead[kind] = head;
    pthread_mutex_unlock(&pool.lock);
}
