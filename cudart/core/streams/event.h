/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: points in a stream, and when they were reached.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_EVENT_H
#define PTXRUN_CUDART_CORE_STREAMS_EVENT_H

#include <pthread.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"
#include "cudart/core/streams/capture.h"

struct crt_context;
struct crt_green;
struct crt_ipc_event;
struct crt_stream;
struct sch_op;

#define CRT_EVENT_BLOCKING_SYNC  1u
#define CRT_EVENT_DISABLE_TIMING 2u
#define CRT_EVENT_INTERPROCESS   4u

struct crt_event {
    struct crt_object object;
    struct crt_context *ctx;
    unsigned flags;
    pthread_mutex_t lock;              /* of op */
    struct sch_op *op;                 /* marker recorded last, or NULL */
    struct crt_ipc_event *shared;      /* of an interprocess event, else NULL */
    struct crt_capture_point captured; /* if recorded last in a capture: its nodes there */
    struct crt_event *prev;
    struct crt_event *next;
};

CRT_API_BEGIN

enum crt_result crt_event_create(struct crt_context *ctx, unsigned flags, struct crt_event **event);

/* Destroys it; the sticky error of its context, if there is one. */
enum crt_result crt_event_destroy(struct crt_event *event);

/* The other functions return CRT_INVALID_HANDLE if it is no event. */
enum crt_result crt_event_record(struct crt_event *event, struct crt_stream *stream);

/* In a capture: a node that records the event when the graph is launched. Otherwise
 * CRT_INVALID_VALUE. */
enum crt_result crt_event_record_external(struct crt_event *event, struct crt_stream *stream);

/* Records all work of the context, or of a green one if that is not NULL. */
enum crt_result crt_event_record_all(struct crt_event *event, struct crt_context *ctx,
                                     struct crt_green *green);
enum crt_result crt_event_query(struct crt_event *event);       /* CRT_NOT_READY while pending */
enum crt_result crt_event_synchronize(struct crt_event *event); /* an unrecorded one is done */
enum crt_result crt_event_elapsed(struct crt_event *start, struct crt_event *end, float *ms);

bool crt_event_is_valid(const struct crt_event *event);

CRT_API_END

/* Makes op, whose reference it takes over, the operation that the event stands for. */
void crt_event_set_operation(struct crt_event *event, struct sch_op *op);

/* Whether it has been recorded outside a capture. */
bool crt_event_is_recorded(struct crt_event *event);

/* A reference to the marker recorded last, or NULL. */
struct sch_op *crt_event_operation(struct crt_event *event);

void crt_event_destroy_all(struct crt_context *ctx);

#endif
