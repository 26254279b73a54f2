/* SPDX-License-Identifier: Apache-2.0
 *
 * See children.h. A stream is its last operation: what is launched next depends on it. Streams that
 * no handle stands for, one for each block and thread that uses its own, exist while they have
 * work.
 */
#include "cudart/core/code/children.h"

#include <search.h>
#include <stdlib.h>

#include "cudart/core/code/child_launch.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/thread_error.h"
#include "cudart/core/streams/context.h"
#include "scheduler/scheduler.h"

/* Handles are multiples of this, keys of streams without a handle are not. */
#define HANDLE_STEP UINT64_C(0x1000)

struct crt_device_stream {
    uint64_t key;     /* first: what the tree compares */
    unsigned pending; /* operations that have not finished */
    bool is_open;     /* it has a handle */
    struct sch_op *last;
};

struct device_event {
    uint64_t key; /* first */
    struct sch_op *op;
};

/* ---- trees ---- */

static int compare_keys(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static void *find(void *tree, uint64_t key)
{
    void **node = tfind(&key, &tree, compare_keys);
    return node ? *node : NULL;
}

static void free_stream(void *object)
{
    struct crt_device_stream *stream = object;
    sch_op_release(stream->last);
    free(stream);
}

static void free_event(void *object)
{
    struct device_event *event = object;
    sch_op_release(event->op);
    free(event);
}

static void remove_stream(struct crt_children *children, struct crt_device_stream *stream)
{
    tdelete(stream, &children->streams, compare_keys);
    free_stream(stream);
}

/* NULL: out of memory. */
static struct crt_device_stream *add_stream(struct crt_children *children, uint64_t key)
{
    struct crt_device_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->key = key;
    if (tsearch(stream, &children->streams, compare_keys))
        return stream;
    free(stream);
    return NULL;
}

/* ---- of a launch ---- */

struct crt_children *crt_children_of(struct crt_launch *launch)
{
    struct crt_children *children = atomic_load_explicit(&launch->children, memory_order_acquire);
    if (children)
        return children;
    struct crt_children *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    pthread_mutex_init(&made->lock, NULL);
    if (atomic_compare_exchange_strong_explicit(&launch->children, &children, made,
                                                memory_order_acq_rel, memory_order_acquire))
        return made;
    free(made);
    return children;
}

static struct crt_child *take_first(struct crt_child_list *list)
{
    struct crt_child *child = list->first;
    if (child)
        list->first = child->next;
    return child;
}

static void append(struct crt_child_list *list, struct crt_child *child)
{
    child->next = NULL;
    if (list->first)
        list->last->next = child;
    else
        list->first = child;
    list->last = child;
}

void crt_children_destroy(struct crt_children *children)
{
    struct crt_child *child;
    if (!children)
        return;
    while ((child = take_first(&children->tails))) {
        sch_op_release(child->op);
        child->drop(child);
    }
    crt_child_buffers_free(children);
    crt_thread_errors_free(children);
    tdestroy(children->streams, free_stream);
    tdestroy(children->events, free_event);
    pthread_mutex_destroy(&children->lock);
    free(children);
}

/* ---- streams ---- */

uint64_t crt_child_default_stream(uint64_t stream, bool is_per_thread)
{
    return stream == CRT_CHILD_STREAM_NULL && is_per_thread ? CRT_CHILD_STREAM_PER_THREAD : stream;
}

static bool is_ordered(uint64_t stream)
{
    return stream != CRT_CHILD_STREAM_TAIL && stream != CRT_CHILD_STREAM_FIRE_AND_FORGET;
}

/* Those of its threads follow. */
static uint64_t block_key(const struct rt_block *block)
{
    const uint32_t *grid = block->launch->grid;
    const uint32_t *at = block->ctaid;
    uint64_t index = ((uint64_t)at[2] * grid[1] + at[1]) * grid[0] + at[0];
    return index * HANDLE_STEP + 1;
}

uint64_t crt_child_thread_key(const struct rt_thread *thread)
{
    const uint32_t *block = thread->block->launch->block;
    const uint32_t *at = thread->tid;
    uint64_t index = ((uint64_t)at[2] * block[1] + at[1]) * block[0] + at[0];
    return block_key(thread->block) + 1 + index;
}

/* Of streams without a handle. */
static uint64_t key_of(const struct rt_thread *thread, uint64_t stream)
{
    return stream == CRT_CHILD_STREAM_PER_THREAD ? crt_child_thread_key(thread)
                                                 : block_key(thread->block);
}

/* NULL: no such stream, or out of memory. The lock is held. */
static struct crt_device_stream *get_stream(struct crt_children *children,
                                            const struct rt_thread *thread, uint64_t stream)
{
    bool has_handle = stream > CRT_CHILD_STREAM_FIRE_AND_FORGET;
    uint64_t key = has_handle ? stream : key_of(thread, stream);
    struct crt_device_stream *found = find(children->streams, key);
    if (has_handle)
        return found && found->is_open ? found : NULL;
    return found ? found : add_stream(children, key);
}

/* Nothing depends on a stream without work and without a handle. The lock is held. */
static void tidy(struct crt_children *children, struct crt_device_stream *stream)
{
    if (stream->pending > 0)
        return;
    sch_op_release(stream->last);
    stream->last = NULL;
    if (!stream->is_open)
        remove_stream(children, stream);
}

static uint32_t chain_locked(struct crt_children *children, const struct rt_thread *thread,
                             struct crt_child *child, struct sch_op *op, uint64_t stream)
{
    struct crt_device_stream *found = get_stream(children, thread, stream);
    if (!found)
        return CRT_CHILD_INVALID_HANDLE;
    if (sch_op_depend(op, found->last) != PXR_OK) {
        tidy(children, found);
        return CRT_CHILD_OUT_OF_MEMORY;
    }
    sch_op_release(found->last);
    found->last = sch_op_retain(op);
    found->pending++;
    child->stream = found;
    return CRT_CHILD_SUCCESS;
}

static uint32_t chain(struct crt_children *children, const struct rt_thread *thread,
                      struct crt_child *child, struct sch_op *op, uint64_t stream)
{
    pthread_mutex_lock(&children->lock);
    uint32_t error = CRT_CHILD_SUCCESS;
    if (is_ordered(stream))
        error = chain_locked(children, thread, child, op, stream);
    child->is_tail = stream == CRT_CHILD_STREAM_TAIL;
    if (child->is_tail) {
        child->op = op;
        append(&children->tails, child);
    }
    pthread_mutex_unlock(&children->lock);
    return error;
}

uint32_t crt_child_submit(struct rt_thread *thread, struct crt_child *child, struct sch_op *op,
                          uint64_t stream)
{
    struct crt_launch *parent = crt_launch_of(thread->block->launch);
    struct crt_children *children = crt_children_of(parent);
    child->parent = parent;
    child->parent_op = sch_op_of(thread->block->launch);
    uint32_t error = CRT_CHILD_OUT_OF_MEMORY;
    if (op && children)
        error = chain(children, thread, child, op, stream);
    if (error != CRT_CHILD_SUCCESS)
        sch_op_release(op);
    if (error != CRT_CHILD_SUCCESS || stream == CRT_CHILD_STREAM_TAIL)
        return error;
    sch_op_hold(child->parent_op);
    sch_op_submit(op);
    sch_op_release(op);
    return CRT_CHILD_SUCCESS;
}

void crt_child_end(const struct crt_child *child)
{
    struct crt_children *children = atomic_load(&child->parent->children);
    if (child->stream) {
        pthread_mutex_lock(&children->lock);
        child->stream->pending--;
        tidy(children, child->stream);
        pthread_mutex_unlock(&children->lock);
    }
    sch_op_let_go(child->parent_op);
}

/* ---- tails ---- */

/* What a tail launches as a tail comes before what is left of its parent's: it goes there, so that
 * a chain of any length has one parent. */
static void hand_up(struct crt_children *children, const struct crt_child *from)
{
    struct crt_children *parents = atomic_load(&from->parent->children);
    struct crt_child_list rest = parents->tails;
    struct crt_child *child;
    parents->tails = children->tails;
    children->tails = (struct crt_child_list){0};
    for (child = parents->tails.first; child; child = child->next) {
        child->parent = from->parent;
        child->parent_op = from->parent_op;
    }
    while ((child = take_first(&rest)))
        append(&parents->tails, child);
}

bool crt_children_go_on(void *arg)
{
    struct crt_launch *launch = arg;
    struct crt_children *children = atomic_load_explicit(&launch->children, memory_order_acquire);
    if (!children || !children->tails.first || crt_context_sticky(launch->ctx) != CRT_SUCCESS)
        return false;
    if (launch->child.is_tail) {
        hand_up(children, &launch->child);
        return false;
    }
    struct crt_child *child = take_first(&children->tails);
    struct sch_op *op = child->op;
    sch_op_hold(child->parent_op);
    sch_op_submit(op);
    sch_op_release(op);
    return true;
}

/* ---- handles ---- */

uint32_t crt_child_stream_create(struct rt_thread *thread, uint64_t *handle)
{
    struct crt_children *children = crt_children_of(crt_launch_of(thread->block->launch));
    if (!children)
        return CRT_CHILD_OUT_OF_MEMORY;
    pthread_mutex_lock(&children->lock);
    children->last_handle += HANDLE_STEP;
    struct crt_device_stream *stream = add_stream(children, children->last_handle);
    if (stream) {
        stream->is_open = true;
        *handle = stream->key;
    }
    pthread_mutex_unlock(&children->lock);
    return stream ? CRT_CHILD_SUCCESS : CRT_CHILD_OUT_OF_MEMORY;
}

uint32_t crt_child_stream_destroy(struct rt_thread *thread, uint64_t handle)
{
    struct crt_children *children = crt_children_of(crt_launch_of(thread->block->launch));
    if (!children || handle % HANDLE_STEP != 0)
        return CRT_CHILD_INVALID_HANDLE;
    pthread_mutex_lock(&children->lock);
    struct crt_device_stream *stream = find(children->streams, handle);
    bool is_open = stream && stream->is_open;
    if (is_open) {
        stream->is_open = false;
        tidy(children, stream);
    }
    pthread_mutex_unlock(&children->lock);
    return is_open ? CRT_CHILD_SUCCESS : CRT_CHILD_INVALID_HANDLE;
}

uint32_t crt_child_event_create(struct rt_thread *thread, uint64_t *handle)
{
    struct crt_children *children = crt_children_of(crt_launch_of(thread->block->launch));
    struct device_event *event = calloc(1, sizeof *event);
    bool is_added = false;
    if (children && event) {
        pthread_mutex_lock(&children->lock);
        children->last_handle += HANDLE_STEP;
        event->key = *handle = children->last_handle;
        is_added = tsearch(event, &children->events, compare_keys) != NULL;
        pthread_mutex_unlock(&children->lock);
    }
    if (!is_added)
        free(event);
    return is_added ? CRT_CHILD_SUCCESS : CRT_CHILD_OUT_OF_MEMORY;
}

uint32_t crt_child_event_destroy(struct rt_thread *thread, uint64_t handle)
{
    struct crt_children *children = crt_children_of(crt_launch_of(thread->block->launch));
    if (!children)
        return CRT_CHILD_INVALID_HANDLE;
    pthread_mutex_lock(&children->lock);
    struct device_event *event = find(children->events, handle);
    if (event) {
        tdelete(event, &children->events, compare_keys);
        free_event(event);
    }
    pthread_mutex_unlock(&children->lock);
    return event ? CRT_CHILD_SUCCESS : CRT_CHILD_INVALID_HANDLE;
}

uint32_t crt_child_event_record(struct rt_thread *thread, uint64_t handle, uint64_t stream)
{
    struct crt_children *children = crt_children_of(crt_launch_of(thread->block->launch));
    if (!is_ordered(stream))
        return CRT_CHILD_INVALID_VALUE;
    if (!children)
        return CRT_CHILD_OUT_OF_MEMORY;
    pthread_mutex_lock(&children->lock);
    struct device_event *event = find(children->events, handle);
    struct crt_device_stream *found = event ? get_stream(children, thread, stream) : NULL;
    if (found) {
        sch_op_release(event->op);
        event->op = sch_op_retain(found->last);
        tidy(children, found);
    }
    pthread_mutex_unlock(&children->lock);
    return found ? CRT_CHILD_SUCCESS : CRT_CHILD_INVALID_HANDLE;
}

static void end_marker(void *arg, const struct sch_fault *fault)
{
    struct crt_child child = *(struct crt_child *)arg;
    (void)fault;
    free(arg);
    crt_child_end(&child);
}

/* The stream goes on behind a marker that also waits for op, which is taken over. */
static uint32_t wait_for(struct rt_thread *thread, struct sch_op *op, uint64_t stream)
{
    struct crt_child *child = calloc(1, sizeof *child);
    struct sch_op *marker = child ? sch_op_marker(end_marker, child) : NULL;
    uint32_t error = CRT_CHILD_OUT_OF_MEMORY;
    if (marker && sch_op_depend(marker, op) == PXR_OK)
        error = crt_child_submit(thread, child, marker, stream);
    else
        sch_op_release(marker);
    if (error != CRT_CHILD_SUCCESS)
        free(child);
    sch_op_release(op);
    return error;
}

uint32_t crt_child_event_wait(struct rt_thread *thread, uint64_t handle, uint64_t stream)
{
    struct crt_children *children = crt_children_of(crt_launch_of(thread->block->launch));
    if (!is_ordered(stream))
        return CRT_CHILD_INVALID_VALUE;
    if (!children)
        return CRT_CHILD_OUT_OF_MEMORY;
    pthread_mutex_lock(&children->lock);
    struct device_event *event = find(children->events, handle);
    struct sch_op *op = event ? sch_op_retain(event->op) : NULL;
    pthread_mutex_unlock(&children->lock);
    if (!event)
        return CRT_CHILD_INVALID_HANDLE;
    return op ? wait_for(thread, op, stream) : CRT_CHILD_SUCCESS;
}
