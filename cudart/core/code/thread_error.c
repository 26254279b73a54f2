/* SPDX-License-Identifier: Apache-2.0
 *
 * See thread_error.h. Those that have had one are a tree of the launch.
 */
#include "cudart/core/code/thread_error.h"

#include <search.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cudart/core/code/children.h"
#include "cudart/core/code/launch.h"
#include "kernel_abi/rt.h"

struct thread_error {
    uint64_t key; /* first: what the tree compares */
    uint32_t error;
};

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* The thread's own; NULL: out of memory. The lock is held. */
static struct thread_error *get(struct crt_children *children, uint64_t key)
{
    struct thread_error **node = tfind(&key, &children->errors, compare_keys);
    if (node)
        return *node;
    struct thread_error *added = calloc(1, sizeof *added);
    if (!added)
        return NULL;
    added->key = key;
    if (tsearch(added, &children->errors, compare_keys))
        return added;
    free(added);
    return NULL;
}

void crt_thread_error_set(struct rt_thread *thread, uint32_t error)
{
    struct crt_children *children =
        error ? crt_children_of(crt_launch_of(thread->block->launch)) : NULL;
    if (!children)
        return;
    pthread_mutex_lock(&children->lock);
    struct thread_error *own = get(children, crt_child_thread_key(thread));
    if (own)
        own->error = error;
    pthread_mutex_unlock(&children->lock);
}

static uint32_t look(const struct rt_thread *thread, bool takes)
{
    struct crt_launch *launch = crt_launch_of(thread->block->launch);
    struct crt_children *children = atomic_load_explicit(&launch->children, memory_order_acquire);
    uint32_t error = 0;
    if (!children)
        return 0;
    uint64_t key = crt_child_thread_key(thread);
    pthread_mutex_lock(&children->lock);
    struct thread_error **node = tfind(&key, &children->errors, compare_keys);
    if (node) {
        error = (*node)->error;
        (*node)->error = takes ? 0 : error;
    }
    pthread_mutex_unlock(&children->lock);
    return error;
}

uint32_t crt_thread_error_get(const struct rt_thread *thread)
{
    return look(thread, false);
}

uint32_t crt_thread_error_take(struct rt_thread *thread)
{
    return look(thread, true);
}

void crt_thread_errors_free(struct crt_children *children)
{
    tdestroy(children->errors, free);
}
