/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture.
 */
#include "cudart/core/capture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/context.h"
#include "cudart/core/event.h"
#include "cudart/core/graph.h"
#include "cudart/core/process.h"

/* Freed when no stream and no event refers to it any more. */
struct crt_capture {
    uint64_t id;
    struct crt_graph *graph; /* NULL once the capture has ended */
    struct crt_stream *origin;
    bool is_invalid;
    size_t refs;
};

/* Guards all captures and all capture points. Capturing is no fast path. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void destroy_capture(struct crt_capture *capture)
{
    if (capture->graph)
        crt_graph_destroy(capture->graph);
    free(capture);
}

static void forget_locked(struct crt_capture_point *point)
{
    struct crt_capture *capture = point->capture;
    free(point->nodes);
    *point = (struct crt_capture_point){NULL, NULL, 0};
    if (capture && --capture->refs == 0)
        destroy_capture(capture);
}

void crt_capture_forget(struct crt_capture_point *point)
{
    pthread_mutex_lock(&lock);
    forget_locked(point);
    pthread_mutex_unlock(&lock);
}

/* Makes point stand for these nodes of capture. */
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
    *point = (struct crt_capture_point){capture, copy, count};
    return CRT_SUCCESS;
}

static bool contains(const struct crt_capture_point *point, const struct crt_node *node)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->nodes[i] == node)
            return true;
    return false;
}

static enum crt_result begin_locked(struct crt_stream *stream)
{
    if (stream->is_null)
        return CRT_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->captured.capture)
        return CRT_ILLEGAL_STATE;
    struct crt_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = crt_graph_create(&capture->graph);
    if (result == CRT_SUCCESS)
        result = set_locked(&stream->captured, capture, NULL, 0);
    if (result != CRT_SUCCESS) {
        destroy_capture(capture);
        return result;
    }
    capture->id = crt_next_number();
    capture->origin = stream;
    return CRT_SUCCESS;
}

enum crt_result crt_capture_begin(struct crt_stream *stream)
{
    pthread_mutex_lock(&lock);
    enum crt_result result = begin_locked(stream);
    pthread_mutex_unlock(&lock);
    return result;
}

enum crt_result crt_capture_add(struct crt_stream *stream, struct crt_work *work)
{
    pthread_mutex_lock(&lock);
    struct crt_capture_point *point = &stream->captured;
    struct crt_node *node;
    enum crt_result result =
        crt_graph_add(point->capture->graph, point->nodes, point->count, work, &node);
    if (result == CRT_SUCCESS) {
        point->nodes[0] = node; /* there is always room for one */
        point->count = 1;
    } else {
        point->capture->is_invalid = true;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

enum crt_result crt_capture_refuse(struct crt_stream *stream)
{
    pthread_mutex_lock(&lock);
    stream->captured.capture->is_invalid = true;
    pthread_mutex_unlock(&lock);
    return CRT_STREAM_CAPTURE_UNSUPPORTED;
}

enum crt_result crt_capture_record(struct crt_stream *stream, struct crt_event *event)
{
    pthread_mutex_lock(&lock);
    const struct crt_capture_point *point = &stream->captured;
    enum crt_result result =
        set_locked(&event->captured, point->capture, point->nodes, point->count);
    pthread_mutex_unlock(&lock);
    return result;
}

bool crt_capture_holds(const struct crt_event *event)
{
    pthread_mutex_lock(&lock);
    const struct crt_capture *capture = event->captured.capture;
    bool holds = capture && capture->graph;
    pthread_mutex_unlock(&lock);
    return holds;
}

static enum crt_result wait_locked(struct crt_stream *stream, const struct crt_event *event)
{
    struct crt_capture_point *point = &stream->captured;
    const struct crt_capture_point *from = &event->captured;
    if (!point->capture)
        return set_locked(point, from->capture, from->nodes, from->count);
    if (point->capture != from->capture)
        return CRT_STREAM_CAPTURE_MERGE;
    struct crt_node **nodes =
        realloc(point->nodes, (point->count + from->count + 1) * sizeof *nodes);
    if (!nodes)
        return CRT_OUT_OF_MEMORY;
    point->nodes = nodes;
    for (size_t i = 0; i < from->count; i++)
        if (!contains(point, from->nodes[i]))
            nodes[point->count++] = from->nodes[i];
    return CRT_SUCCESS;
}

enum crt_result crt_capture_wait(struct crt_stream *stream, const struct crt_event *event)
{
    pthread_mutex_lock(&lock);
    enum crt_result result = wait_locked(stream, event);
    pthread_mutex_unlock(&lock);
    return result;
}

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

/* Takes every stream but the origin out of the capture; false when one of them was not joined. */
static bool release_streams(struct crt_capture *capture, struct crt_context *ctx)
{
    bool all_joined = true;
    struct crt_stream *stream;
    pthread_mutex_lock(&ctx->lock);
    DL_FOREACH(ctx->streams, stream)
    {
        if (stream->captured.capture != capture || stream == capture->origin)
            continue;
        for (size_t i = 0; i < stream->captured.count; i++)
            all_joined = all_joined && is_joined(capture, stream->captured.nodes[i]);
        forget_locked(&stream->captured);
    }
    pthread_mutex_unlock(&ctx->lock);
    return all_joined;
}

static enum crt_result end_locked(struct crt_stream *stream, struct crt_graph **graph)
{
    struct crt_capture *capture = stream->captured.capture;
    if (!capture)
        return CRT_ILLEGAL_STATE;
    if (capture->origin != stream) {
        capture->is_invalid = true;
        return CRT_STREAM_CAPTURE_UNMATCHED;
    }
    enum crt_result result = CRT_SUCCESS;
    if (!release_streams(capture, stream->ctx))
        result = CRT_STREAM_CAPTURE_UNJOINED;
    if (capture->is_invalid)
        result = CRT_STREAM_CAPTURE_INVALIDATED;
    if (result == CRT_SUCCESS)
        *graph = capture->graph;
    else
        crt_graph_destroy(capture->graph);
    capture->graph = NULL;
    forget_locked(&stream->captured);
    return result;
}

enum crt_result crt_capture_end(struct crt_stream *stream, struct crt_graph **graph)
{
    *graph = NULL;
    pthread_mutex_lock(&lock);
    enum crt_result result = end_locked(stream, graph);
    pthread_mutex_unlock(&lock);
    return result;
}

int crt_capture_status(const struct crt_stream *stream, uint64_t *id, struct crt_graph **graph,
                       struct crt_node *const **deps, size_t *dep_count)
{
    pthread_mutex_lock(&lock);
    const struct crt_capture_point *point = &stream->captured;
    int status = !point->capture ? 0 : point->capture->is_invalid ? 2 : 1;
    if (status) {
        *id = point->capture->id;
        *graph = point->capture->graph;
        *deps = point->nodes;
        *dep_count = point->count;
    }
    pthread_mutex_unlock(&lock);
    return status;
}
