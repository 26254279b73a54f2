/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures: their beginning, the nodes made from them, and their end.
 */
#include "cudart/core/graph/graph_capture.h"

#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/base/process.h"
#include "cudart/core/graph/graph.h"
#include "cudart/core/streams/capture_state.h"
#include "cudart/core/streams/stream.h"

/* ---- what the captures write into ---- */

static enum crt_result add_node(struct crt_capture *capture, const struct crt_capture_point *point,
                                struct crt_work *work, struct crt_node **node)
{
    /* Without a graph to add it to, the work is only freed. */
    struct crt_graph *graph = capture->is_invalid ? NULL : capture->graph;
    return crt_graph_add(graph, point->nodes, point->count, work, node);
}

/* Whether some node depends on this one, or the origin's next one would. */
static bool is_joined(const struct crt_capture *capture, const struct crt_node *node)
{
    if (crt_capture_contains(&capture->origin->captured, node))
        return true;
    const struct crt_node *other;
    DL_FOREACH(capture->graph->nodes, other)
    if (crt_node_depends_on(other, node))
        return true;
    return false;
}

static bool is_point_joined(const struct crt_capture *capture,
                            const struct crt_capture_point *point)
{
    for (size_t i = 0; i < point->count; i++)
        if (!is_joined(capture, point->nodes[i]))
            return false;
    return true;
}

static bool is_all_joined(const struct crt_capture *capture)
{
    for (size_t i = 0; i < capture->stream_count; i++)
        if (!is_point_joined(capture, &capture->streams[i]->captured))
            return false;
    return is_point_joined(capture, &capture->left);
}

static void drop_graph(struct crt_capture *capture)
{
    if (capture->owns_graph)
        crt_graph_destroy(capture->graph);
}

static const struct crt_capture_target target = {.add = add_node, .drop = drop_graph};

/* ---- beginning ---- */

static bool owns_all(const struct crt_graph *graph, struct crt_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!crt_node_is_valid(nodes[i]) || nodes[i]->graph != graph)
            return false;
    return true;
}

/* Fills the first fields of a capture that is all zero. graph NULL: one of its own. */
static enum crt_result start_locked(struct crt_capture *capture, struct crt_stream *stream,
                                    struct crt_graph *graph, struct crt_node *const *nodes,
                                    size_t count)
{
    capture->target = &target;
    capture->refs = 1;
    capture->graph = graph;
    capture->owns_graph = !graph;
    enum crt_result result = graph ? CRT_SUCCESS : crt_graph_create(&capture->graph);
    if (result != CRT_SUCCESS)
        return result;
    result = crt_capture_join(stream, capture, nodes, count);
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
        crt_capture_start(capture);
    }
    crt_capture_release(capture); /* the stream has a reference */
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

/* ---- changing ---- */

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
    enum crt_result result = crt_capture_merge(point, nodes, count);
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
    enum crt_result result = CRT_SUCCESS;
    if (capture->is_invalid)
        result = CRT_STREAM_CAPTURE_INVALIDATED;
    else if (!is_all_joined(capture))
        result = CRT_STREAM_CAPTURE_UNJOINED;
    if (result != CRT_SUCCESS)
        drop_graph(capture);
    else if (graph)
        *graph = capture->graph;
    crt_capture_stop(capture);
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
