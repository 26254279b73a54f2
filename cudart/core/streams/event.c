/* SPDX-License-Identifier: Apache-2.0
 *
 * Events, each the last marker recorded for it.
 */
#include "cudart/core/streams/event.h"

#include <utlist.h>

#include "cudart/core/streams/context.h"
#include "cudart/core/streams/context_report.h"
#include "cudart/core/streams/ipc_event.h"
#include "cudart/core/streams/work.h"
#include "scheduler/scheduler.h"

bool crt_event_is_valid(const struct crt_event *event)
{
    return crt_object_is(event, CRT_KIND_EVENT);
}

enum crt_result crt_event_create(struct crt_context *ctx, unsigned flags, struct crt_event **event)
{
    if (flags & ~(CRT_EVENT_BLOCKING_SYNC | CRT_EVENT_DISABLE_TIMING | CRT_EVENT_INTERPROCESS))
        return CRT_INVALID_VALUE;
    if ((flags & CRT_EVENT_INTERPROCESS) && !(flags & CRT_EVENT_DISABLE_TIMING))
        return CRT_INVALID_VALUE;
    struct crt_event *created = crt_object_create(CRT_KIND_EVENT, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    if (flags & CRT_EVENT_INTERPROCESS) {
        enum crt_result result = crt_ipc_event_create(&created->shared);
        if (result != CRT_SUCCESS) {
            crt_object_destroy(CRT_KIND_EVENT, created);
            return result;
        }
    }
    created->ctx = ctx;
    created->flags = flags;
    pthread_mutex_init(&created->lock, NULL);
    pthread_mutex_lock(&ctx->lock);
    DL_APPEND(ctx->events, created);
    pthread_mutex_unlock(&ctx->lock);
    *event = created;
    return CRT_SUCCESS;
}

enum crt_result crt_event_destroy(struct crt_event *event)
{
    if (!crt_event_is_valid(event))
        return CRT_INVALID_HANDLE;
    struct crt_context *ctx = event->ctx;
    pthread_mutex_lock(&ctx->lock);
    DL_DELETE(ctx->events, event);
    pthread_mutex_unlock(&ctx->lock);
    crt_event_set_operation(event, NULL);
    crt_capture_forget(&event->captured);
    crt_ipc_event_release(event->shared);
    pthread_mutex_destroy(&event->lock);
    crt_object_destroy(CRT_KIND_EVENT, event);
    return crt_context_sticky(ctx);
}

void crt_event_destroy_all(struct crt_context *ctx)
{
    struct crt_event *event;
    struct crt_event *next;
    DL_FOREACH_SAFE(ctx->events, event, next)
    crt_event_destroy(event);
}

struct sch_op *crt_event_operation(struct crt_event *event)
{
    pthread_mutex_lock(&event->lock);
    struct sch_op *op = sch_op_retain(event->op);
    pthread_mutex_unlock(&event->lock);
    return op;
}

bool crt_event_is_recorded(struct crt_event *event)
{
    pthread_mutex_lock(&event->lock);
    bool is_recorded = event->op != NULL;
    pthread_mutex_unlock(&event->lock);
    return is_recorded;
}

void crt_event_set_operation(struct crt_event *event, struct sch_op *op)
{
    pthread_mutex_lock(&event->lock);
    struct sch_op *previous = event->op;
    event->op = op;
    pthread_mutex_unlock(&event->lock);
    sch_op_release(previous);
}

/* event: any address. */
static bool belongs_to(const struct crt_event *event, const struct crt_context *ctx)
{
    if (!crt_event_is_valid(event))
        return false;
    if (event->ctx != ctx)
        crt_report_wrong_context("event", event->ctx, ctx);
    return event->ctx == ctx;
}

enum crt_result crt_event_record(struct crt_event *event, struct crt_stream *stream)
{
    if (!belongs_to(event, stream->ctx))
        return CRT_INVALID_HANDLE;
    if (stream->captured.capture)
        return crt_capture_record(stream, event);
    crt_capture_forget(&event->captured);
    if (event->shared)
        return crt_ipc_event_record(event, stream);
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (!op)
        return CRT_OUT_OF_MEMORY;
    sch_op_retain(op);
    enum crt_result result = crt_stream_submit(stream, op, NULL);
    if (result == CRT_SUCCESS)
        crt_event_set_operation(event, op);
    else
        sch_op_release(op);
    return result;
}

enum crt_result crt_event_record_external(struct crt_event *event, struct crt_stream *stream)
{
    if (!belongs_to(event, stream->ctx))
        return CRT_INVALID_HANDLE;
    if (!stream->captured.capture)
        return CRT_INVALID_VALUE;
    struct crt_work work = {.kind = CRT_NODE_RECORD_EVENT, .event = event};
    return crt_capture_add(stream, &work);
}

enum crt_result crt_event_record_all(struct crt_event *event, struct crt_context *ctx,
                                     struct crt_green *green)
{
    if (!belongs_to(event, ctx))
        return CRT_INVALID_HANDLE;
    if (event->shared)
        return crt_not_supported("recording a context in an interprocess event");
    enum crt_result result = crt_capture_check_context(ctx, green);
    if (result != CRT_SUCCESS)
        return result;
    crt_capture_forget(&event->captured);
    struct sch_op *op = crt_stream_join_all(ctx, green);
    if (!op)
        return CRT_OUT_OF_MEMORY;
    sch_op_submit(op);
    crt_event_set_operation(event, op);
    return CRT_SUCCESS;
}

/* The conditions for asking how far an event is. */
static enum crt_result check_ask(struct crt_event *event)
{
    if (!crt_event_is_valid(event))
        return CRT_INVALID_HANDLE;
    if (crt_capture_holds(event))
        return crt_capture_refuse_event(event, CRT_CAPTURED_EVENT);
    if (event->captured.capture)
        return CRT_CAPTURED_EVENT;
    return crt_capture_check_unsafe();
}

static bool is_reached(struct crt_event *event)
{
    if (event->shared)
        return crt_ipc_event_is_reached(event->shared);
    struct sch_op *op = crt_event_operation(event);
    bool is_done = !op || sch_op_is_done(op);
    if (is_done)
        sch_host_learn(op);
    sch_op_release(op);
    return is_done;
}

enum crt_result crt_event_query(struct crt_event *event)
{
    enum crt_result result = check_ask(event);
    if (result != CRT_SUCCESS)
        return result;
    bool is_done = is_reached(event);
    if (!is_done)
        sch_look_out_now_and_then();
    enum crt_result sticky = crt_context_sticky(event->ctx);
    if (sticky != CRT_SUCCESS)
        return sticky;
    return is_done ? crt_context_outcome(event->ctx) : CRT_NOT_READY;
}

static void wait_until_reached(struct crt_event *event)
{
    if (event->shared) {
        crt_ipc_event_wait(event->shared);
        return;
    }
    struct sch_op *op = crt_event_operation(event);
    if (op)
        sch_op_wait(op);
    sch_op_release(op);
}

enum crt_result crt_event_synchronize(struct crt_event *event)
{
    enum crt_result result = check_ask(event);
    if (result != CRT_SUCCESS)
        return result;
    if (!is_reached(event)) {
        if (sch_on_pool_thread())
            return CRT_NOT_PERMITTED;
        wait_until_reached(event);
    }
    crt_context_waited();
    return crt_context_outcome(event->ctx);
}

/* Time at which the event was reached, or 0; *result says why there is none. */
static uint64_t finish_time(struct crt_event *event, enum crt_result *result)
{
    if (!crt_event_is_valid(event) || (event->flags & CRT_EVENT_DISABLE_TIMING)) {
        *result = CRT_INVALID_HANDLE;
        return 0;
    }
    if (event->captured.capture) {
        *result = CRT_CAPTURED_EVENT;
        return 0;
    }
    struct sch_op *op = crt_event_operation(event);
    uint64_t time_ns = op && sch_op_is_done(op) ? sch_op_finish_ns(op) : 0;
    if (!op)
        *result = CRT_INVALID_HANDLE;
    else if (!time_ns && *result == CRT_SUCCESS)
        *result = CRT_NOT_READY;
    sch_op_release(op);
    return time_ns;
}

enum crt_result crt_event_elapsed(struct crt_event *start, struct crt_event *end, float *ms)
{
    enum crt_result result = CRT_SUCCESS;
    uint64_t start_ns = finish_time(start, &result);
    uint64_t end_ns = finish_time(end, &result);
    if (result == CRT_SUCCESS && start->ctx->device != end->ctx->device) {
        crt_report_wrong_context("event", end->ctx, start->ctx);
        result = CRT_INVALID_HANDLE;
    }
    if (result != CRT_SUCCESS)
        return result;
    *ms = (float)((double)(int64_t)(end_ns - start_ns) / 1e6);
    return crt_context_sticky(end->ctx);
}
