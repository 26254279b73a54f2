/* SPDX-License-Identifier: Apache-2.0
 *
 * See thread_error.h. Few threads have one: they are a list of the launch.
 */
#include "cudart/core/code/thread_error.h"

#include <stdbool.h>
#include <stdlib.h>

#include "cudart/core/code/children.h"
#include "cudart/core/code/launch.h"
#include "kernel_abi/rt.h"

struct crt_thread_error {
    struct crt_thread_error *next;
    uint32_t ctaid[3];
    uint32_t tid[3];
    uint32_t error;
};

static bool is_of(const struct crt_thread_error *error, const struct rt_thread *thread)
{
    for (int i = 0; i < 3; i++)
        if (error->ctaid[i] != thread->block->ctaid[i] || error->tid[i] != thread->tid[i])
            return false;
    return true;
}

/* The link to the thread's own, or to the end. The lock is held. */
static struct crt_thread_error **find(struct crt_children *children, const struct rt_thread *thread)
{
    struct crt_thread_error **link = &children->errors;
    while (*link && !is_of(*link, thread))
        link = &(*link)->next;
    return link;
}

static void add(struct crt_children *children, const struct rt_thread *thread, uint32_t error)
{
    const uint32_t *ctaid = thread->block->ctaid;
    struct crt_thread_error *added = malloc(sizeof *added);
    if (!added)
        return;
    *added = (struct crt_thread_error){.next = children->errors,
                                       .ctaid = {ctaid[0], ctaid[1], ctaid[2]},
                                       .tid = {thread->tid[0], thread->tid[1], thread->tid[2]},
                                       .error = error};
    children->errors = added;
}

void crt_thread_error_set(struct rt_thread *thread, uint32_t error)
{
    struct crt_children *children =
        error ? crt_children_of(crt_launch_of(thread->block->launch)) : NULL;
    if (!children)
        return;
    pthread_mutex_lock(&children->lock);
    struct crt_thread_error *own = *find(children, thread);
    if (own)
        own->error = error;
    else
        add(children, thread, error);
    pthread_mutex_unlock(&children->lock);
}

static uint32_t look(const struct rt_thread *thread, bool takes)
{
    struct crt_launch *launch = crt_launch_of(thread->block->launch);
    struct crt_children *children = atomic_load_explicit(&launch->children, memory_order_acquire);
    uint32_t error = 0;
    if (!children)
        return 0;
    pthread_mutex_lock(&children->lock);
    struct crt_thread_error **link = find(children, thread);
    struct crt_thread_error *own = *link;
    if (own) {
        error = own->error;
        if (takes) {
            *link = own->next;
            free(own);
        }
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
    struct crt_thread_error *error;
    while ((error = children->errors)) {
        children->errors = error->next;
        free(error);
    }
}

const char *crt_thread_error_name(uint32_t error)
{
    switch (error) {
#define CUDA_ERROR_ROW(name, number, text)                                                         \
    case number:                                                                                   \
        return #name;
#include "cudart/core/base/errors.def"
#undef CUDA_ERROR_ROW
    default:
        return "unrecognized error code";
    }
}

const char *crt_thread_error_text(uint32_t error)
{
    switch (error) {
#define CUDA_ERROR_ROW(name, number, text)                                                         \
    case number:                                                                                   \
        return text;
#include "cudart/core/base/errors.def"
#undef CUDA_ERROR_ROW
    default:
        return "unrecognized error code";
    }
}
