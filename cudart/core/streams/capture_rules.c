/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of captures: forbidden calls, which captures would not see, and uses of the null
 * stream; and questions about a stream. This only looks at captures, and makes them invalid.
 */
#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/streams/capture.h"
#include "cudart/core/streams/capture_state.h"
#include "cudart/core/streams/stream.h"

static _Thread_local int thread_mode; /* enum crt_capture_mode */

static bool is_blocking_of(const struct crt_stream *stream, const struct crt_context *ctx)
{
    return stream->ctx == ctx && !(stream->flags & CRT_STREAM_NON_BLOCKING);
}

enum crt_result crt_capture_exchange_mode(int *mode)
{
    if (*mode < 0 || *mode >= CRT_CAPTURE_MODE_COUNT)
        return CRT_INVALID_VALUE;
    int previous = thread_mode;
    thread_mode = *mode;
    *mode = previous;
    return CRT_SUCCESS;
}

/* The rules of cuThreadExchangeStreamCaptureMode. */
static bool forbids_unsafe(const struct crt_capture *capture)
{
    if (capture->is_invalid)
        return false;
    if (capture->thread_number == crt_capture_thread_number())
        return capture->mode != CRT_CAPTURE_RELAXED;
    return capture->mode == CRT_CAPTURE_GLOBAL && thread_mode == CRT_CAPTURE_GLOBAL;
}

enum crt_result crt_capture_check_unsafe(void)
{
    if (!crt_capture_is_any_running() || thread_mode == CRT_CAPTURE_RELAXED)
        return CRT_SUCCESS;
    enum crt_result result = CRT_SUCCESS;
    struct crt_capture *capture;
    pthread_mutex_lock(&crt_captures.lock);
    DL_FOREACH(crt_captures.running, capture)
    {
        if (!forbids_unsafe(capture))
            continue;
        capture->is_invalid = true;
        result = CRT_STREAM_CAPTURE_UNSUPPORTED;
    }
    pthread_mutex_unlock(&crt_captures.lock);
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
    DL_FOREACH(crt_captures.running, capture)
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
    if (!crt_capture_is_any_running())
        return CRT_SUCCESS;
    pthread_mutex_lock(&crt_captures.lock);
    bool is_found = find_touching(ctx, false, true);
    pthread_mutex_unlock(&crt_captures.lock);
    return is_found ? CRT_STREAM_CAPTURE_UNSUPPORTED : CRT_SUCCESS;
}

enum crt_result crt_capture_check_null_stream(const struct crt_context *ctx)
{
    if (!crt_capture_is_any_running())
        return CRT_SUCCESS;
    pthread_mutex_lock(&crt_captures.lock);
    bool is_found = find_touching(ctx, true, true);
    pthread_mutex_unlock(&crt_captures.lock);
    return is_found ? CRT_STREAM_CAPTURE_IMPLICIT : CRT_SUCCESS;
}

static enum crt_result get_locked(struct crt_capture_point *point, struct crt_capture_info *info)
{
    const struct crt_capture *capture = crt_capture_of(point);
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

enum crt_result crt_capture_get(struct crt_stream *stream, struct crt_capture_info *info)
{
    *info = (struct crt_capture_info){0};
    if (!crt_capture_is_any_running())
        return CRT_SUCCESS;
    pthread_mutex_lock(&crt_captures.lock);
    enum crt_result result = CRT_SUCCESS;
    if (stream->is_null && find_touching(stream->ctx, true, false))
        result = CRT_STREAM_CAPTURE_IMPLICIT;
    else
        result = get_locked(&stream->captured, info);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}
