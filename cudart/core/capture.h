/* SPDX-License-Identifier: Apache-2.0
 *
 * Stream capture: while a stream captures, what is asked of it becomes nodes of a graph.
 * Other streams are drawn in when they wait for an event recorded in a capturing one.
 */
#ifndef PTXRUN_CUDART_CORE_CAPTURE_H
#define PTXRUN_CUDART_CORE_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/result.h"

struct crt_event;
struct crt_graph;
struct crt_node;
struct crt_stream;
struct crt_work;

/* Nodes that the next one of a stream depends on, or that an event stands for. */
struct crt_capture_point {
    struct crt_capture *capture; /* NULL: not captured */
    struct crt_node **nodes;
    size_t count;
};

CRT_API_BEGIN

enum crt_result crt_capture_begin(struct crt_stream *stream);

/* Ends the capture that began in stream. CRT_ILLEGAL_STATE, CRT_STREAM_CAPTURE_UNMATCHED,
 * CRT_STREAM_CAPTURE_UNJOINED or CRT_STREAM_CAPTURE_INVALIDATED: there is no graph then. */
enum crt_result crt_capture_end(struct crt_stream *stream, struct crt_graph **graph);

/* 0 none, 1 active, 2 invalidated; unless none, the identity and graph of the capture, and the
 * nodes that the next one of the stream will depend on. */
int crt_capture_status(const struct crt_stream *stream, uint64_t *id, struct crt_graph **graph,
                       struct crt_node *const **deps, size_t *dep_count);

CRT_API_END

/* These are for streams that capture. */
enum crt_result crt_capture_add(struct crt_stream *stream, struct crt_work *work);
enum crt_result crt_capture_record(struct crt_stream *stream, struct crt_event *event);

/* What cannot be captured invalidates the capture. */
enum crt_result crt_capture_refuse(struct crt_stream *stream);

/* Whether the event was recorded in a capture that still runs; and waiting for such an event, which
 * draws the stream into the capture or adds dependencies. */
bool crt_capture_holds(const struct crt_event *event);
enum crt_result crt_capture_wait(struct crt_stream *stream, const struct crt_event *event);

/* Forgets what a stream or event knew of a capture. */
void crt_capture_forget(struct crt_capture_point *point);

#endif
