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

/* Which streams a call acts on. */
struct acted_on {
    const struct crt_context *ctx;
    const struct crt_green *green; /* only its streams, or NULL */
    bool only_blocking;
};

static bool is_acted_on(const struct crt_stream *stream, const struct acted_on *which)
{
    return stream->ctx == which->ctx && (!which->green || stream->green == which->green) &&
           (!which->only_blocking || crt_stream_is_blocking(stream));
}

static bool touches(const struct crt_capture *capture, const struct acted_on *which)
{
    for (size_t i = 0; i < capture->stream_count; i++)
        if (is_acted_on(capture->streams[i], which))
            return true;
    return false;
}

static bool find_touching(const struct acted_on *which, bool invalidates)
{
    bool is_found = false;
    struct crt_capture *capture;
    DL_FOREACH(crt_captures.running, capture)
    {
        if (!touches(capture, which))
            continue;
        is_found = true;
        capture->is_invalid = capture->is_invalid || invalidates;
    }
    return is_found;
}

enum crt_result crt_capture_check_context(const struct crt_context *ctx,
                                          const struct crt_green *green)
{
    if (!crt_capture_is_any_running())
        return CRT_SUCCESS;
    pthread_mutex_lock(&crt_captures.lock);
    bool is_found = find_touching(&(struct acted_on){.ctx = ctx, .green = green}, true);
    pthread_mutex_unlock(&crt_captures.lock);
    return is_found ? CRT_STREAM_CAPTURE_UNSUPPORTED : CRT_SUCCESS;
}

enum crt_result crt_capture_check_null_stream(const struct crt_context *ctx)
{
    if (!crt_capture_is_any_running())
        return CRT_SUCCESS;
    pthread_mutex_lock(&crt_captures.lock);
    bool is_found = find_touching(&(struct acted_on){.ctx = ctx, .only_blocking = true}, true);
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
    struct acted_on blocking = {.ctx = stream->ctx, .only_blocking = true};
    if (stream->is_null && find_touching(&blocking, false))
        result = CRT_STREAM_CAPTURE_IMPLICIT;
    else
        result = get_locked(&stream->captured, info);
    pthread_mutex_unlock(&crt_captures.lock);
    return result;
}
