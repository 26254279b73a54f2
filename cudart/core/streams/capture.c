/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures as streams and events know them: the streams in a capture, and the nodes that they stand
 * for. capture_rules.c has the calls that captures forbid.
 */
#include "cudart/core/streams/capture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/base/process.h"
#include "cudart/core/streams/capture_state.h"
#include "cudart/core/streams/event.h"
#include "cudart/core/streams/stream.h"

struct crt_captures crt_captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t crt_capture_thread_number(void)
{
    static _Thread_local uint64_t number; /* 0: none yet */
    if (number == 0)
        number = crt_next_number();
    return number;
}

/* ---- points; the lock is held ---- */

void crt_capture_release(struct crt_capture *capture)
{
    if (--capture->refs > 0)
        return;
    free(capture->streams);
    free(capture);
}

static void forget_locked(struct crt_capture_point *point)
{
    struct crt_capture *capture = crt_capture_of(point);
    free(point->nodes);
    free(point->edges);
    point->nodes = NULL;
    point->edges = NULL;
    point->count = 0;
    atomic_store_explicit(&point->capture, NULL, memory_order_relaxed);
    if (capture)
        crt_capture_release(capture);
}

void crt_capture_forget(struct crt_capture_point *point)
{
    if (!crt_capture_of(point))
        return;
    pthread_mutex_lock(&crt_captures.lock);
    forget_locked(point);
    pthread_mutex_unlock(&crt_captures.lock);
}

/* Makes point stand for these nodes of capture. There is always room for one more. */
static enum crt_result set_locked(struct crt_capture_point *point, struct crt_capture *capture,
                                  struct crt_node *const *nodes, size_t count)
{
    struct crt_node **copy = malloc((count + 1) * sizeof *copy);
    if (!copy)
        return CRT_OUT_OF_MEMORY;
    if (count)
        memcpy(copy, nodes, count * sizeof *copy);
    capture->refs++;
    forget_locked(point);
    point->nodes = copy;
    point->count = count;
    atomic_store_explicit(&point->capture, capture, memory_order_relaxed);
    return CRT_SUCCESS;
}

bool crt_capture_contains(const struct crt_capture_point *point, const struct crt_node *node)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->nodes[i] == node)
            return true;
    return false;
}

enum crt_result crt_capture_merge(struct crt_capture_point *point, struct crt_node *const *nodes,
                                  size_t count)
{
    struct crt_node **grown = realloc(point->nodes, (point->count + count + 1) * sizeof *grown);
    if (!grown)
        return CRT_OUT_OF_MEMORY;
    point->nodes = grown;
    for (size_t i = 0; i < count; i++)
        if (!crt_capture_contains(point, nodes[i]))
            grown[point->count++] = nodes[i];
    return CRT_SUCCESS;
}

enum crt_result crt_capture_join(struct crt_stream *stream, struct crt_capture *capture,
                                 struct crt_node *const *nodes, size_t count)
{
    struct crt_stream **streams =
        realloc(capture->streams, (capture->stream_count + 1) * sizeof(struct crt_stream *));
    if (!streams)
        return CRT_OUT_OF_MEMORY;
    capture->streams = streams;
    enum crt_result result = set_locked(&stream->captured, capture, nodes, count);
    if (result == CRT_SUCCESS)
        streams[capture->stream_count++] = stream;
    return result;
}

/* ---- captures that run; the lock is held ---- */

void crt_capture_start(struct crt_capture *capture)
{
    capture->is_running = true;
    DL_APPEND(crt_captures.running, capture);
    atomic_fetch_add_explicit(&crt_captures.running_count, 1, memory_order_relaxed);
}

void crt_capture_stop(struct crt_capture *capture)
{
    DL_DELETE(crt_captures.running, capture);
    atomic_fetch_sub_explicit(&crt_captures.running_count, 1, memory_order_relaxed);
    capture->is_running = false;
    capture->refs++;
    for (size_t i = 0; i < capture->stream_count; i++)
        forget_locked(&capture->streams[i]->captured);
    capture->stream_count = 0;
    forget_locked(&capture->left);
    crt_capture_release(capture);
}

/* ---- what streams that capture are asked for ---- */

static enum crt_result add_locked(struct crt_capture_point *point, struct crt_work *work)
{
    struct crt_capture *capture = crt_capture_of(point);
    struct crt_node *node;
    enum crt_result result = capture->target->add(capture, point, work, &node);
    if (capture->is_invalid)
        return CRT_STREAM_CAPTURE_INVALIDATED;
    if (result != CRT_SUCCESS) {
        capture->is_invalid = true;
        return result;
    }
    point->nodes[0] = node; /* there is always room for one */
    point->count = 1;
    return CRT_SUCCESS;
}

enum crt_result crt_capture_add(struct crt_stream *stream, struct crt_work *work)
{
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = add_locked(&stream->captured, work);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

static enum crt_result refuse_locked(const struct crt_capture_point *point, enum crt_result reason)
{
    struct crt_capture *capture = crt_capture_of(point);
    if (!capture)
        return reason;
    if (capture->is_invalid)
        return CRT_STREAM_CAPTURE_INVALIDATED;
    capture->is_invalid = true;
    return reason;
}

enum crt_result crt_capture_refuse_as(struct crt_stream *stream, enum crt_result reason)
{
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = refuse_locked(&stream->captured, reason);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

enum crt_result crt_capture_refuse(struct crt_stream *stream)
{
    return crt_capture_refuse_as(stream, CRT_STREAM_CAPTURE_UNSUPPORTED);
}

enum crt_result crt_capture_refuse_event(struct crt_event *event, enum crt_result reason)
{
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = refuse_locked(&event->captured, reason);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

enum crt_result crt_capture_record(struct crt_stream *stream, struct crt_event *event)
{
    pthread_mutex_lock(&crt_captures.lock);
    const struct crt_capture_point *point = &stream->captured;
    struct crt_capture *capture = crt_capture_of(point);
    enum crt_result result = CRT_STREAM_CAPTURE_INVALIDATED;
    if (!capture->is_invalid)
        result = set_locked(&event->captured, capture, point->nodes, point->count);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

bool crt_capture_holds(const struct crt_event *event)
{
    if (!crt_capture_of(&event->captured))
        return false;
    pthread_mutex_lock(&crt_captures.lock);
    const struct crt_capture *capture = crt_capture_of(&event->captured);
    bool holds = capture && capture->is_running;
    pthread_mutex_unlock(&crt_captures.lock);
    return holds;
}

static enum crt_result wait_locked(struct crt_stream *stream, const struct crt_event *event)
{
    struct crt_capture_point *point = &stream->captured;
    const struct crt_capture_point *from = &event->captured;
    struct crt_capture *capture = crt_capture_of(point);
    struct crt_capture *other = crt_capture_of(from);
    if (!other || !other->is_running)
        return CRT_SUCCESS;
    if (other->is_invalid || (capture && capture->is_invalid))
        return CRT_STREAM_CAPTURE_INVALIDATED;
    if (stream->is_null) {
        other->is_invalid = true;
        return CRT_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (!capture)
        return crt_capture_join(stream, other, from->nodes, from->count);
    if (capture != other) {
        capture->is_invalid = true;
        other->is_invalid = true;
        return CRT_STREAM_CAPTURE_MERGE;
    }
    return crt_capture_merge(point, from->nodes, from->count);
}

enum crt_result crt_capture_wait(struct crt_stream *stream, const struct crt_event *event)
{
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = wait_locked(stream, event);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

/* ---- leaving ---- */

static void leave_locked(struct crt_stream *stream)
{
    struct crt_capture *capture = crt_capture_of(&stream->captured);
    if (!capture)
        return;
    if (capture->origin == stream) {
        capture->target->drop(capture);
        crt_capture_stop(capture);
        return;
    }
    /* What it has captured may still be joined, by an event or by name. */
    struct crt_capture_point *point = &stream->captured;
    if (crt_capture_merge(&capture->left, point->nodes, point->count) != CRT_SUCCESS)
        capture->is_invalid = true;
    size_t kept = 0;
    for (size_t i = 0; i < capture->stream_count; i++)
        if (capture->streams[i] != stream)
            capture->streams[kept++] = capture->streams[i];
    capture->stream_count = kept;
    forget_locked(point);
}

void crt_capture_leave(struct crt_stream *stream)
{
    if (!crt_capture_of(&stream->captured))
        return;
    pthread_mutex_lock(&crt_captures.lock);
    leave_locked(stream);
    pthread_mutex_unlock(&crt_captures.lock);
}
