/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture.
 */
#include "cudart/core/capture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/context.h"
#include "cudart/core/event.h"
#include "cudart/core/graph.h"
#include "cudart/core/process.h"

/* Runs until it is ended in its origin; freed when no stream and no event refers to it any more. */
struct crt_capture {
    uint64_t id;
    struct crt_graph *graph;
    bool owns_graph; /* false: it was the program's before */
    enum crt_capture_mode mode;
    uint64_t thread_number; /* of who began it */
    struct crt_stream *origin;
    struct crt_stream **streams; /* all that capture for it */
    size_t stream_count;
    bool is_running;
    bool is_invalid;
    bool is_unjoined; /* a stream was destroyed before it was joined */
    size_t refs;
    struct crt_capture *prev; /* in the list of running ones */
    struct crt_capture *next;
};

/* lock guards all captures and all capture points; capturing is no fast path. The others see from
 * running_count that there is nothing to look for. */
static struct {
    pthread_mutex_t lock;
    struct crt_capture *running;
    atomic_uint running_count;
} captures = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local struct {
    uint64_t number; /* 0: none yet */
    int mode;        /* enum crt_capture_mode */
} thread;

static uint64_t thread_number(void)
{
    if (thread.number == 0)
        thread.number = crt_next_number();
    return thread.number;
}

static bool is_any_running(void)
{
    return atomic_load_explicit(&captures.running_count, memory_order_relaxed) > 0;
}

static struct crt_capture *capture_of(const struct crt_capture_point *point)
{
    return atomic_load_explicit(&point->capture, memory_order_relaxed);
}

static bool is_blocking_of(const struct crt_stream *stream, const struct crt_context *ctx)
{
    return stream->ctx == ctx && !(stream->flags & CRT_STREAM_NON_BLOCKING);
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
    struct crt_capture *capture = capture_of(point);
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
    if (!capture_of(point))
        return;
    pthread_mutex_lock(&captures.lock);
    forget_locked(point);
    pthread_mutex_unlock(&captures.lock);
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
    if (capture_of(&stream->captured))
        return CRT_ILLEGAL_STATE;
    struct crt_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = start_locked(capture, stream, graph, nodes, count);
    if (result == CRT_SUCCESS) {
        capture->id = crt_next_number();
        capture->mode = mode;
        capture->thread_number = thread_number();
        capture->origin = stream;
        capture->is_running = true;
        DL_APPEND(captures.running, capture);
        atomic_fetch_add_explicit(&captures.running_count, 1, memory_order_relaxed);
    }
    release_capture(capture); /* the stream has a reference */
    return result;
}

enum crt_result crt_capture_begin(struct crt_stream *stream, enum crt_capture_mode mode)
{
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = begin_locked(stream, mode, NULL, NULL, 0);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

static bool is_target_locked(const struct crt_graph *graph)
{
    const struct crt_capture *capture;
    DL_FOREACH(captures.running, capture)
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
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = CRT_INVALID_VALUE;
    if (!is_target_locked(graph))
        result = begin_locked(stream, mode, graph, nodes, count);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

bool crt_capture_is_target(const struct crt_graph *graph)
{
    if (!is_any_running())
        return false;
    pthread_mutex_lock(&captures.lock);
    bool is_target = is_target_locked(graph);
    pthread_mutex_unlock(&captures.lock);
    return is_target;
}

/* ---- what streams that capture are asked for ---- */

static enum crt_result add_locked(struct crt_capture_point *point, struct crt_work *work)
{
    struct crt_capture *capture = capture_of(point);
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
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = add_locked(&stream->captured, work);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

static enum crt_result refuse_locked(const struct crt_capture_point *point, enum crt_result reason)
{
    struct crt_capture *capture = capture_of(point);
    if (!capture)
        return reason;
    if (capture->is_invalid)
        return CRT_STREAM_CAPTURE_INVALIDATED;
    capture->is_invalid = true;
    return reason;
}

enum crt_result crt_capture_refuse_as(struct crt_stream *stream, enum crt_result reason)
{
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = refuse_locked(&stream->captured, reason);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

enum crt_result crt_capture_refuse(struct crt_stream *stream)
{
    return crt_capture_refuse_as(stream, CRT_STREAM_CAPTURE_UNSUPPORTED);
}

enum crt_result crt_capture_refuse_event(struct crt_event *event, enum crt_result reason)
{
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = refuse_locked(&event->captured, reason);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

enum crt_result crt_capture_record(struct crt_stream *stream, struct crt_event *event)
{
    pthread_mutex_lock(&captures.lock);
    const struct crt_capture_point *point = &stream->captured;
    struct crt_capture *capture = capture_of(point);
    enum crt_result result = CRT_STREAM_CAPTURE_INVALIDATED;
    if (!capture->is_invalid)
        result = set_locked(&event->captured, capture, point->nodes, point->count);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

bool crt_capture_holds(const struct crt_event *event)
{
    if (!capture_of(&event->captured))
        return false;
    pthread_mutex_lock(&captures.lock);
    const struct crt_capture *capture = capture_of(&event->captured);
    bool holds = capture && capture->is_running;
    pthread_mutex_unlock(&captures.lock);
    return holds;
}

static enum crt_result wait_locked(struct crt_stream *stream, const struct crt_event *event)
{
    struct crt_capture_point *point = &stream->captured;
    const struct crt_capture_point *from = &event->captured;
    struct crt_capture *capture = capture_of(point);
    struct crt_capture *other = capture_of(from);
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
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = wait_locked(stream, event);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

static enum crt_result update_locked(struct crt_capture_point *point, struct crt_node *const *nodes,
                                     size_t count, bool replaces)
{
    const struct crt_capture *capture = capture_of(point);
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
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = update_locked(&stream->captured, nodes, count, replaces);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

static enum crt_result get_locked(struct crt_capture_point *point, struct crt_capture_info *info)
{
    const struct crt_capture *capture = capture_of(point);
    if (!capture)
        return CRT_SUCCESS;
    if (capture->is_invalid) {
        info->status = 2;
        return CRT_SUCCESS;
    }
    free(point->edges);
    point->edges = calloc(point->count + 1, sizeof point->edges[0]);
    if (!point->edges)
        return CRT_OUT_OF_MEMORY;
    *info = (struct crt_capture_info){.status = 1,
                                      .id = capture->id,
                                      .graph = capture->graph,
                                      .nodes = point->nodes,
                                      .edges = point->edges,
                                      .count = point->count};
    return CRT_SUCCESS;
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
    DL_DELETE(captures.running, capture);
    atomic_fetch_sub_explicit(&captures.running_count, 1, memory_order_relaxed);
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
    struct crt_capture *capture = capture_of(&stream->captured);
    if (!capture)
        return CRT_ILLEGAL_STATE;
    if (capture->origin != stream) {
        capture->is_invalid = true;
        return CRT_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != CRT_CAPTURE_RELAXED && capture->thread_number != thread_number())
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
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = end_locked(stream, graph);
    pthread_mutex_unlock(&captures.lock);
    return result;
}

static void leave_locked(struct crt_stream *stream)
{
    struct crt_capture *capture = capture_of(&stream->captured);
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
    if (!capture_of(&stream->captured))
        return;
    pthread_mutex_lock(&captures.lock);
    leave_locked(stream);
    pthread_mutex_unlock(&captures.lock);
}

/* ---- calls that captures forbid ---- */

enum crt_result crt_capture_exchange_mode(int *mode)
{
    if (*mode < 0 || *mode >= CRT_CAPTURE_MODE_COUNT)
        return CRT_INVALID_VALUE;
    int previous = thread.mode;
    thread.mode = *mode;
    *mode = previous;
    return CRT_SUCCESS;
}

/* The rules of cuThreadExchangeStreamCaptureMode. */
static bool forbids_unsafe(const struct crt_capture *capture)
{
    if (capture->is_invalid)
        return false;
    if (capture->thread_number == thread_number())
        return capture->mode != CRT_CAPTURE_RELAXED;
    return capture->mode == CRT_CAPTURE_GLOBAL && thread.mode == CRT_CAPTURE_GLOBAL;
}

enum crt_result crt_capture_check_unsafe(void)
{
    if (!is_any_running() || thread.mode == CRT_CAPTURE_RELAXED)
        return CRT_SUCCESS;
    enum crt_result result = CRT_SUCCESS;
    struct crt_capture *capture;
    pthread_mutex_lock(&captures.lock);
    DL_FOREACH(captures.running, capture)
    {
        if (!forbids_unsafe(capture))
            continue;
        capture->is_invalid = true;
        result = CRT_STREAM_CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_unlock(&captures.lock);
    return result;
}

/* Whether a capture has a stream of the context; a blocking one, if only those count. */
static bool touches(const struct crt_capture *capture, const struct crt_context *ctx,
                    bool only_blocking)
{
    for (size_t i = 0; i < capture->stream_count; i++) {
        const struct crt_stream *stream = capture->streams[i];
        if (only_blocking ? is_blocking_of(stream, ctx) : stream->ctx == ctx)
            return true;
    }
    return false;
}

static bool find_touching(const struct crt_context *ctx, bool only_blocking, bool invalidates)
{
    bool is_found = false;
    struct crt_capture *capture;
    DL_FOREACH(captures.running, capture)
    {
        if (!touches(capture, ctx, only_blocking))
            continue;
        is_found = true;
        capture->is_invalid = capture->is_invalid || invalidates;
    }
    return is_found;
}

enum crt_result crt_capture_check_context(const struct crt_context *ctx)
{
    if (!is_any_running())
        return CRT_SUCCESS;
    pthread_mutex_lock(&captures.lock);
    bool is_found = find_touching(ctx, false, true);
    pthread_mutex_unlock(&captures.lock);
    return is_found ? CRT_STREAM_CAPTURE_UNSUPPORTED : CRT_SUCCESS;
}

enum crt_result crt_capture_check_null_stream(const struct crt_context *ctx)
{
    if (!is_any_running())
        return CRT_SUCCESS;
    pthread_mutex_lock(&captures.lock);
    bool is_found = find_touching(ctx, true, true);
    pthread_mutex_unlock(&captures.lock);
    return is_found ? CRT_STREAM_CAPTURE_IMPLICIT : CRT_SUCCESS;
}

enum crt_result crt_capture_get(struct crt_stream *stream, struct crt_capture_info *info)
{
    *info = (struct crt_capture_info){0};
    if (!is_any_running())
        return CRT_SUCCESS;
    pthread_mutex_lock(&captures.lock);
    enum crt_result result = CRT_SUCCESS;
    if (stream->is_null && find_touching(stream->ctx, true, false))
        result = CRT_STREAM_CAPTURE_IMPLICIT;
    else
        result = get_locked(&stream->captured, info);
    pthread_mutex_unlock(&captures.lock);
    return result;
}
