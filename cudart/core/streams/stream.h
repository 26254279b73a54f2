/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: chains of operations. An operation depends on the stream's last one; the null stream
 * and the blocking streams also wait for each other, as "Default Stream" in the CUDA guide says.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_STREAM_H
#define PTXRUN_CUDART_CORE_STREAMS_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"
#include "cudart/core/streams/capture.h"

struct crt_context;
struct crt_event;
struct crt_green;
struct sch_op;

#define CRT_STREAM_NON_BLOCKING 1u

/* Handles that are no objects. */
#define CRT_STREAM_LEGACY     ((struct crt_stream *)(uintptr_t)1)
#define CRT_STREAM_PER_THREAD ((struct crt_stream *)(uintptr_t)2)

#define CRT_PRIORITY_LEAST    0
#define CRT_PRIORITY_GREATEST (-5)

/* Attributes that a program can set and read back; a CPU has nothing to do for them. */
struct crt_stream_attributes {
    uint8_t access_window[32]; /* CUaccessPolicyWindow */
    unsigned sync_policy;      /* CUsynchronizationPolicy; 0 means 1, "automatic" */
    uint8_t domain_map[2];     /* of memory synchronisation: default, remote */
    unsigned domain;
    unsigned link_utilisation;
};

struct crt_stream {
    struct crt_object object;
    struct crt_context *ctx;
    struct crt_green *green; /* that it is of, or NULL */
    unsigned flags;
    _Atomic int priority;
    uint64_t id;
    bool is_null;
    bool is_own;                   /* a thread's own default stream: the program cannot destroy
                                      it */
    pthread_mutex_t lock;          /* of last and attributes */
    _Atomic(struct sch_op *) last; /* newest operation, or NULL */
    struct sch_op *for_all;        /* of the null stream: later streams of the context wait for it;
                                      or NULL; guarded by ctx->lock */
    struct crt_stream_attributes attributes;
    struct crt_capture_point captured;
    struct crt_stream *prev; /* in the context's list */
    struct crt_stream *next;
    bool is_busy;                 /* in a list of stream_order.h; guarded by lock */
    struct crt_stream *prev_busy; /* there */
    struct crt_stream *next_busy;
    struct crt_stream *prev_own; /* in the list of own_stream.c, with the thread whose own it is */
    struct crt_stream *next_own;
    uint64_t thread_number;
};

typedef void (*crt_host_fn)(void *arg);

static inline bool crt_stream_is_blocking(const struct crt_stream *stream)
{
    return !(stream->flags & CRT_STREAM_NON_BLOCKING);
}

CRT_API_BEGIN

/* The null stream of a context that starts. */
void crt_stream_init_null(struct crt_stream *stream, struct crt_context *ctx);

/* green: one of the context, or NULL. */
enum crt_result crt_stream_create(struct crt_context *ctx, struct crt_green *green, unsigned flags,
                                  int priority, struct crt_stream **stream);

/* Its pending work still runs. The sticky error of its context, if there is one. */
enum crt_result crt_stream_destroy(struct crt_stream *stream);

/* The stream of a handle: 0 and CRT_STREAM_LEGACY are the null stream, CRT_STREAM_PER_THREAD the
 * calling thread's own, and both need a current context; other streams bring their own. Errors:
 * those of crt_context_require, CRT_INVALID_HANDLE, and CRT_STREAM_CAPTURE_IMPLICIT when a capture
 * forbids the use of the null stream. */
enum crt_result crt_stream_resolve(struct crt_stream *handle, struct crt_stream **stream);

/* The same for functions that only ask or tell something about the stream: a capture never forbids
 * them. */
enum crt_result crt_stream_identify(struct crt_stream *handle, struct crt_stream **stream);

/* Priorities beyond the range become the nearest one in it. */
int crt_stream_clamp_priority(int priority);

/* Whether all work has finished: CRT_SUCCESS, CRT_NOT_READY or the sticky error. */
enum crt_result crt_stream_query(struct crt_stream *stream);

/* Waits, prints what kernels printed, and returns the context's sticky error.
 * CRT_NOT_PERMITTED from a host function or callback. */
enum crt_result crt_stream_synchronize(struct crt_stream *stream);

/* Later work of the stream waits for the operation that the event has recorded. */
enum crt_result crt_stream_wait_event(struct crt_stream *stream, struct crt_event *event);

/* In a capture: a node that waits for the event as it is when the graph is launched. Otherwise
 * CRT_INVALID_VALUE. */
enum crt_result crt_stream_wait_external(struct crt_stream *stream, struct crt_event *event);

/* Later work of all streams of the context waits for the event; green: of its streams and the null
 * stream, if it is not NULL. */
enum crt_result crt_stream_wait_event_all(struct crt_context *ctx, struct crt_green *green,
                                          struct crt_event *event);

/* fn(arg) runs on a thread of its own, after the work before it. */
enum crt_result crt_stream_host_function(struct crt_stream *stream, crt_host_fn fn, void *arg);

/* As crt_stream_host_function, with the stream and the state of the context. */
typedef void (*crt_callback_fn)(struct crt_stream *stream, enum crt_result result, void *arg);
enum crt_result crt_stream_callback(struct crt_stream *stream, struct crt_stream *handle,
                                    crt_callback_fn fn, void *arg);

CRT_API_END

/* Appends an operation, whose reference it takes over. On failure the operation has been released
 * without having run, and its done function is not called. previous (may be NULL) gets a reference
 * to the previous last operation. */
enum crt_result crt_stream_submit(struct crt_stream *stream, struct sch_op *op,
                                  struct sch_op **previous);

/* Appends a piece of work that begins with first and ends with last: first waits as any operation
 * of the stream, and later operations wait for last. The caller submits both afterwards. Takes over
 * no reference. */
enum crt_result crt_stream_append_span(struct crt_stream *stream, struct sch_op *first,
                                       struct sch_op *last);

/* run(task) by a worker, in order with the stream. task is from malloc and no longer the caller's;
 * it is freed when it has run, or at once on failure. */
enum crt_result crt_stream_task(struct crt_stream *stream, void (*run)(void *task), void *task);

/* Whether the stream's next operation would have to wait for nothing. */
bool crt_stream_is_idle(struct crt_stream *stream);

/* Destroys all streams of a context, whose work has finished. */
void crt_stream_destroy_all(struct crt_context *ctx);

/* An operation that depends on all work of the context, or of the same part of it, not yet
 * submitted; NULL: out of memory. */
struct sch_op *crt_stream_join_all(struct crt_context *ctx, struct crt_green *green);

#endif
