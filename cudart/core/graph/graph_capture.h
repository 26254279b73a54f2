/* SPDX-License-Identifier: Apache-2.0
 *
 * Captures from their beginning to their end, and the graphs that they make. capture.h has the part
 * that streams know.
 */
#ifndef PTXRUN_CUDART_CORE_GRAPH_GRAPH_CAPTURE_H
#define PTXRUN_CUDART_CORE_GRAPH_GRAPH_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "cudart/core/base/result.h"
#include "cudart/core/streams/capture.h"

CRT_API_BEGIN

enum crt_result crt_capture_begin(struct crt_stream *stream, enum crt_capture_mode mode);

/* As crt_capture_begin; nodes are added to a graph of the program, the first ones after these. */
enum crt_result crt_capture_begin_to_graph(struct crt_stream *stream, enum crt_capture_mode mode,
                                           struct crt_graph *graph, struct crt_node *const *nodes,
                                           size_t count);

/* Ends the capture that began in stream. CRT_ILLEGAL_STATE when it does not capture, and
 * CRT_STREAM_CAPTURE_WRONG_THREAD, which leave everything as it is;
 * CRT_STREAM_CAPTURE_UNMATCHED, CRT_STREAM_CAPTURE_UNJOINED or CRT_STREAM_CAPTURE_INVALIDATED:
 * *graph is NULL. graph may be NULL for a capture into a graph of the program. */
enum crt_result crt_capture_end(struct crt_stream *stream, struct crt_graph **graph);

/* Adds nodes to those that the stream's next one will depend on, or replaces them. */
enum crt_result crt_capture_update(struct crt_stream *stream, struct crt_node *const *nodes,
                                   size_t count, bool replaces);

/* Whether some capture adds nodes to this graph, which cannot be instantiated meanwhile. */
bool crt_capture_is_target(const struct crt_graph *graph);

CRT_API_END

#endif
