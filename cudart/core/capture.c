/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures: what streams that capture are asked for becomes nodes. What captures forbid to others
 * is in capture_rules.c.
 */
#include "cudart/core/capture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/capture_state.h"
#include "cudart/core/event.h"
#include "cudart/core/graph.h"
#include "cudart/core/process.h"
#include "cudart/core/stream.h"

struct crt_captures crt_captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t crt_capture_thread_number(void)
{
    static _Thread_local uint64_t number; /* 0: none yet */
    if (number == 0)
        number = crt_next_number();
    return number;
}

/* ---- points; the lock is held ---- */

static void release_capture(struct crt_capture *capture)
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
        release_capture(capture);
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

static bool contains(const struct crt_capture_point *point, const struct crt_node *node)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->nodes[i] == node)
            return true;
    return false;
}

static enum crt_result merge_locked(struct crt_capture_point *point, struct crt_node *const *nodes,
                                    size_t count)
{
    struct crt_node **grown = realloc(point->nodes, (point->count + count + 1) * sizeof *grown);
    if (!grown)
        return CRT_OUT_OF_MEMORY;
    point->nodes = grown;
    for (size_t i = 0; i < count; i++)
        if (!contains(point, nodes[i]))
            grown[point->count++] = nodes[i];
    return CRT_SUCCESS;
}

/* Draws a stream into a capture. */
static enum crt_result join_locked(struct crt_stream *stream, struct crt_capture *capture,
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

/* ---- beginning ---- */

static bool owns_all(const struct crt_graph *graph, struct crt_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!crt_node_is_valid(nodes[i]) || nodes[i]->graph != graph)
            return false;
    return true;
}

/* Fills what a capture, all zero, begins with. graph NULL: one of its own. */
static enum crt_result start_locked(struct crt_capture *capture, struct crt_stream *stream,
                                    struct crt_graph *graph, struct crt_node *const *nodes,
                                    size_t count)
{
    capture->refs = 1;
    capture->graph = graph;
    capture->owns_graph = !graph;
    enum crt_result result = graph ? CRT_SUCCESS : crt_graph_create(&capture->graph);
    if (result != CRT_SUCCESS)
        return result;
    result = join_locked(stream, capture, nodes, count);
    if (result != CRT_SUCCESS && capture->owns_graph)
        crt_graph_destroy(capture->graph);
    return result;
}

static enum crt_result begin_locked(struct crt_stream *stream, enum crt_capture_mode mode,
                                    struct crt_graph *graph, struct crt_node *const *nodes,
                                    size_t count)
{
    if (stream->is_null)
        return CRT_STREAM_CAPTURE_UNSUPPORTED;
    if (crt_capture_of(&stream->captured))
        return CRT_ILLEGAL_STATE;
    struct crt_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = start_locked(capture, stream, graph, nodes, count);
    if (result == CRT_SUCCESS) {
        capture->id = crt_next_number();
        capture->mode = mode;
        capture->thread_number = crt_capture_thread_number();
        capture->origin = stream;
        capture->is_running = true;
        DL_APPEND(crt_captures.running, capture);
        atomic_fetch_add_explicit(&crt_captures.running_count, 1, memory_order_relaxed);
    }
    release_capture(capture); /* the stream has a reference */
    return result;
}

enum crt_result crt_capture_begin(struct crt_stream *stream, enum crt_capture_mode mode)
{
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = begin_locked(stream, mode, NULL, NULL, 0);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

static bool is_target_locked(const struct crt_graph *graph)
{
    const struct crt_capture *capture;
    DL_FOREACH(crt_captures.running, capture)
    if (capture->graph == graph)
        return true;
    return false;
}

enum crt_result crt_capture_begin_to_graph(struct crt_stream *stream, enum crt_capture_mode mode,
                                           struct crt_graph *graph, struct crt_node *const *nodes,
                                           size_t count)
{
    if (!crt_graph_is_valid(graph) || (count && !nodes) || !owns_all(graph, nodes, count))
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = CRT_INVALID_VALUE;
    if (!is_target_locked(graph))
        result = begin_locked(stream, mode, graph, nodes, count);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

bool crt_capture_is_target(const struct crt_graph *graph)
{
    if (!crt_capture_is_any_running())
        return false;
    pthread_mutex_lock(&crt_captures.lock);
    bool is_target = is_target_locked(graph);
    pthread_mutex_unlock(&crt_captures.lock);
    return is_target;
}

/* ---- what streams that capture are asked for ---- */

static enum crt_result add_locked(struct crt_capture_point *point, struct crt_work *work)
{
    struct crt_capture *capture = crt_capture_of(point);
    struct crt_node *node;
    /* Without a graph to add it to, the work is only freed. */
    struct crt_graph *graph = capture->is_invalid ? NULL : capture->graph;
    enum crt_result result = crt_graph_add(graph, point->nodes, point->count, work, &node);
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
        return join_locked(stream, other, from->nodes, from->count);
    if (capture != other) {
        capture->is_invalid = true;
        other->is_invalid = true;
        return CRT_STREAM_CAPTURE_MERGE;
    }
    return merge_locked(point, from->nodes, from->count);
}

enum crt_result crt_capture_wait(struct crt_stream *stream, const struct crt_event *event)
{
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = wait_locked(stream, event);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

static enum crt_result update_locked(struct crt_capture_point *point, struct crt_node *const *nodes,
                                     size_t count, bool replaces)
{
    const struct crt_capture *capture = crt_capture_of(point);
    if (!capture)
        return CRT_ILLEGAL_STATE;
    if (capture->is_invalid)
        return CRT_STREAM_CAPTURE_INVALIDATED;
    if ((count && !nodes) || !owns_all(capture->graph, nodes, count))
        return CRT_INVALID_VALUE;
    size_t before = point->count;
    if (replaces)
        point->count = 0;
    enum crt_result result = merge_locked(point, nodes, count);
    if (result != CRT_SUCCESS)
        point->count = before;
    return result;
}

enum crt_result crt_capture_update(struct crt_stream *stream, struct crt_node *const *nodes,
                                   size_t count, bool replaces)
{
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = update_locked(&stream->captured, nodes, count, replaces);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

/* ---- ending ---- */

/* Whether some node depends on this one, or the origin's next one would. */
static bool is_joined(const struct crt_capture *capture, const struct crt_node *node)
{
    if (contains(&capture->origin->captured, node))
        return true;
    const struct crt_node *other;
    DL_FOREACH(capture->graph->nodes, other)
    if (crt_node_depends_on(other, node))
        return true;
    return false;
}

static bool is_stream_joined(const struct crt_capture *capture, const struct crt_stream *stream)
{
    for (size_t i = 0; i < stream->captured.count; i++)
        if (!is_joined(capture, stream->captured.nodes[i]))
            return false;
    return true;
}

/* Takes all streams out of the capture, and the capture out of the list. */
static void stop_locked(struct crt_capture *capture)
{
    DL_DELETE(crt_captures.running, capture);
    atomic_fetch_sub_explicit(&crt_captures.running_count, 1, memory_order_relaxed);
    capture->is_running = false;
    capture->refs++;
    for (size_t i = 0; i < capture->stream_count; i++)
        forget_locked(&capture->streams[i]->captured);
    capture->stream_count = 0;
    release_capture(capture);
}

static void drop_graph(const struct crt_capture *capture)
{
    if (capture->owns_graph)
        crt_graph_destroy(capture->graph);
}

static enum crt_result end_locked(struct crt_stream *stream, struct crt_graph **graph)
{
    struct crt_capture *capture = crt_capture_of(&stream->captured);
    if (!capture)
        return CRT_ILLEGAL_STATE;
    if (capture->origin != stream) {
        capture->is_invalid = true;
        return CRT_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != CRT_CAPTURE_RELAXED &&
        capture->thread_number != crt_capture_thread_number())
        return CRT_STREAM_CAPTURE_WRONG_THREAD;
    if (!graph && capture->owns_graph)
        return CRT_INVALID_VALUE; /* it would be lost */
    if (!crt_graph_is_valid(capture->graph))
        capture->is_invalid = true;
    enum crt_result result = capture->is_unjoined ? CRT_STREAM_CAPTURE_UNJOINED : CRT_SUCCESS;
    for (size_t i = 0; i < capture->stream_count && result == CRT_SUCCESS; i++)
        if (!capture->is_invalid && !is_stream_joined(capture, capture->streams[i]))
            result = CRT_STREAM_CAPTURE_UNJOINED;
    if (capture->is_invalid)
        result = CRT_STREAM_CAPTURE_INVALIDATED;
    if (result != CRT_SUCCESS)
        drop_graph(capture);
    else if (graph)
        *graph = capture->graph;
    stop_locked(capture);
    return result;
}

enum crt_result crt_capture_end(struct crt_stream *stream, struct crt_graph **graph)
{
    if (graph)
        *graph = NULL;
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = end_locked(stream, graph);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}

static void leave_locked(struct crt_stream *stream)
{
    struct crt_capture *capture = crt_capture_of(&stream->captured);
    if (!capture)
        return;
    if (capture->origin == stream) {
        drop_graph(capture);
        stop_locked(capture);
        return;
    }
    if (!is_stream_joined(capture, stream))
        capture->is_unjoined = true;
    size_t kept = 0;
    for (size_t i = 0; i < capture->stream_count; i++)
        if (capture->streams[i] != stream)
            capture->streams[kept++] = capture->streams[i];
    capture->stream_count = kept;
    forget_locked(&stream->captured);
}

void crt_capture_leave(struct crt_stream *stream)
{
    if (!crt_capture_of(&stream->captured))
        return;
    pthread_mutex_lock(&crt_captures.lock);
    leave_locked(stream);
    pthread_mutex_unlock(&crt_captures.lock);
}
