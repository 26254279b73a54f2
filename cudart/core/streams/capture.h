/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture: while a stream captures, work submitted to it becomes nodes of a graph. Other
 * streams are drawn in when they wait for an event recorded in a capturing one.
 *
 * A call that breaks the rules of capture gets an error and makes the captures invalid that it
 * concerns: their streams stay unusable until the end of the capture, which gives no graph then.
 *
 * This header is all that streams and events know of captures. Graphs (graph_capture.h) begin and
 * end captures, and make nodes of captured work.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_CAPTURE_H
#define PTXRUN_CUDART_CORE_STREAMS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"

struct crt_capture;
struct crt_context;
struct crt_event;
struct crt_graph;
struct crt_green;
struct crt_node;
struct crt_stream;
struct crt_work;

/* Numbers of CUstreamCaptureMode: the threads that a capture keeps from calls it cannot see. */
enum crt_capture_mode {
    CRT_CAPTURE_GLOBAL,       /* every thread whose own mode is global, too */
    CRT_CAPTURE_THREAD_LOCAL, /* the thread that began it, unless its own mode is relaxed */
    CRT_CAPTURE_RELAXED,      /* nobody; and any thread may end it */
    CRT_CAPTURE_MODE_COUNT
};

/* Nodes that the next one of a stream depends on, or that an event stands for. capture is set under
 * the lock of capture.c, but may be read without it; NULL: not captured. */
struct crt_capture_point {
    _Atomic(struct crt_capture *) capture;
    struct crt_node **nodes;
    size_t count;
    uint64_t *edges; /* last given out as the (empty) data of the edges, or NULL */
};

/* The answer to a question about a stream that captures. */
struct crt_capture_info {
    int status; /* 0 none, 1 active, 2 invalidated; the rest is only set for an active one */
    uint64_t id;
    struct crt_graph *graph;
    struct crt_node *const *nodes; /* on which the stream's next one will depend; valid until the
                                      next call on the stream */
    const uint64_t *edges;         /* 8 bytes of data for each of them, all zero */
    size_t count;
};

CRT_API_BEGIN

/* CRT_STREAM_CAPTURE_IMPLICIT, which does no harm here, for a null stream that must not be used. */
enum crt_result crt_capture_get(struct crt_stream *stream, struct crt_capture_info *info);

/* The calling thread's own mode. CRT_INVALID_VALUE when *mode is none. */
enum crt_result crt_capture_exchange_mode(int *mode);

/* Called by functions whose effect a capture does not see, but a captured sequence may rely on
 * (allocating, freeing, asking for the end of work). CRT_STREAM_CAPTURE_UNSUPPORTED when a capture
 * and the calling thread's mode forbid it. */
enum crt_result crt_capture_check_unsafe(void);

/* Called by functions that act on all streams of a context, or of a green one if that is not NULL:
 * CRT_STREAM_CAPTURE_UNSUPPORTED when one of them captures. */
enum crt_result crt_capture_check_context(const struct crt_context *ctx,
                                          const struct crt_green *green);

/* Refuses an operation that cannot be captured: CRT_STREAM_CAPTURE_UNSUPPORTED. */
enum crt_result crt_capture_refuse(struct crt_stream *stream);

CRT_API_END

/* The null stream would wait for blocking streams: CRT_STREAM_CAPTURE_IMPLICIT when one of them
 * captures. */
enum crt_result crt_capture_check_null_stream(const struct crt_context *ctx);

/* These are for streams that capture. */
enum crt_result crt_capture_add(struct crt_stream *stream, struct crt_work *work);
enum crt_result crt_capture_record(struct crt_stream *stream, struct crt_event *event);

/* As crt_capture_refuse, for another reason. */
enum crt_result crt_capture_refuse_as(struct crt_stream *stream, enum crt_result reason);

/* Makes the capture invalid that an event belongs to, and returns reason. */
enum crt_result crt_capture_refuse_event(struct crt_event *event, enum crt_result reason);

/* Whether the event was recorded in a capture that still runs; and waiting for such an event, which
 * draws the stream into the capture or adds dependencies. */
bool crt_capture_holds(const struct crt_event *event);
enum crt_result crt_capture_wait(struct crt_stream *stream, const struct crt_event *event);

/* Makes an event forget its capture. */
void crt_capture_forget(struct crt_capture_point *point);

/* Takes a stream that is being destroyed out of its capture, which ends when it began there. */
void crt_capture_leave(struct crt_stream *stream);

#endif
