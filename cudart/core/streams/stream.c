/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: ordering of operations by dependencies.
 */
#include "cudart/core/streams/stream.h"

#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/base/process.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/event.h"
#include "cudart/core/streams/green.h"
#include "cudart/core/streams/ipc_event.h"
#include "cudart/core/streams/own_stream.h"
#include "cudart/core/streams/stream_order.h"
#include "cudart/core/streams/work.h"
#include "scheduler/scheduler.h"

/* ---- submitting ----
 *
 * CUDA, "Default Stream": work in the null stream waits for all earlier work of the blocking
 * streams, and their later work waits for it.
 *
 * Streams other than the null one take no lock of the context, so that threads with streams of
 * their own do not meet. Work in the null stream first collects what it waits for and then becomes
 * the null stream's last: nothing that it waits for can wait for it. */

/* A piece of work: its first and last operation, and a place for a reference to the previous last
 * one. */
struct piece {
    struct sch_op *first;
    struct sch_op *last;
    struct sch_op **previous; /* or NULL */
    bool is_submitted;
};

static enum pxr_status append_locked(struct crt_stream *stream, struct piece *piece)
{
    struct sch_op *before = crt_stream_last_locked(stream);
    enum pxr_status status = sch_op_depend(piece->first, before);
    if (status == PXR_OK && !stream->is_null && crt_stream_is_blocking(stream))
        status = crt_stream_depend(piece->first, &stream->ctx->null_stream);
    if (status != PXR_OK)
        return status;
    if (piece->previous)
        *piece->previous = sch_op_retain(before);
    /* A grid that ends before anybody can have asked for it need not be the stream's last. */
    if (!before && piece->first == piece->last)
        piece->is_submitted = sch_op_try(piece->first);
    if (!piece->is_submitted || !sch_op_is_done(piece->last) || sch_pasts_are_kept())
        crt_stream_set_last_locked(stream, piece->last);
    return PXR_OK;
}

static enum pxr_status append(struct crt_stream *stream, struct piece *piece)
{
    pthread_mutex_lock(&stream->lock);
    enum pxr_status status = append_locked(stream, piece);
    pthread_mutex_unlock(&stream->lock);
    return status;
}

static enum pxr_status append_to_null(struct crt_stream *stream, struct piece *piece)
{
    pthread_mutex_lock(&stream->ctx->lock);
    enum pxr_status status = crt_busy_collect(stream->ctx, piece->first);
    pthread_mutex_lock(&stream->lock);
    pthread_mutex_unlock(&stream->ctx->lock);
    if (status == PXR_OK)
        status = append_locked(stream, piece);
    pthread_mutex_unlock(&stream->lock);
    if (status != PXR_OK) {
        pthread_mutex_lock(&stream->ctx->lock);
        crt_busy_restore(stream->ctx);
        pthread_mutex_unlock(&stream->ctx->lock);
    }
    return status;
}

static enum pxr_status append_piece(struct crt_stream *stream, struct piece *piece)
{
    return stream->is_null ? append_to_null(stream, piece) : append(stream, piece);
}

enum crt_result crt_stream_submit(struct crt_stream *stream, struct sch_op *op,
                                  struct sch_op **previous)
{
    struct piece piece = {.first = op, .last = op, .previous = previous};
    enum pxr_status status = append_piece(stream, &piece);
    /* Submitted outside the lock: a done function may run at once. Operations appended meanwhile
     * depend on op, and so still wait. */
    if (status == PXR_OK && !piece.is_submitted)
        sch_op_submit(op);
    sch_op_release(op);
    return crt_result_from_status(status);
}

enum crt_result crt_stream_append_span(struct crt_stream *stream, struct sch_op *first,
                                       struct sch_op *last)
{
    struct piece piece = {.first = first, .last = last};
    return crt_result_from_status(append_piece(stream, &piece));
}

/* Appends a marker to the stream that waits for recorded, and returns it; NULL: out of memory. It
 * is not submitted yet. */
static struct sch_op *append_wait(struct crt_stream *stream, struct sch_op *recorded)
{
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (!op)
        return NULL;
    if (sch_op_depend(op, recorded) == PXR_OK &&
        append(stream, &(struct piece){.first = op, .last = op}) == PXR_OK)
        return op;
    sch_op_release(op);
    return NULL;
}

/* op: NULL is allowed. */
static void submit_and_release(struct sch_op *op)
{
    if (op)
        sch_op_submit(op);
    sch_op_release(op);
}

struct sch_op *crt_stream_join_all(struct crt_context *ctx, struct crt_green *green)
{
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (!op)
        return NULL;
    pthread_mutex_lock(&ctx->lock);
    enum pxr_status status = green ? crt_busy_join_green(green, op) : crt_busy_join(ctx, op);
    pthread_mutex_unlock(&ctx->lock);
    if (status == PXR_OK)
        return op;
    sch_op_release(op);
    return NULL;
}

static bool is_null_idle(struct crt_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    bool is_busy = crt_busy_is_blocking(ctx);
    pthread_mutex_unlock(&ctx->lock);
    return !is_busy;
}

bool crt_stream_is_idle(struct crt_stream *stream)
{
    if (crt_stream_has_pending(stream))
        return false;
    if (stream->is_null)
        return is_null_idle(stream->ctx);
    return !crt_stream_is_blocking(stream) || !crt_stream_has_pending(&stream->ctx->null_stream);
}

/* Waits for the stream's work without printing and without looking at errors. */
static enum crt_result drain(struct crt_stream *stream)
{
    if (crt_stream_is_idle(stream) && !sch_pasts_are_kept())
        return CRT_SUCCESS;
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (!op)
        return CRT_OUT_OF_MEMORY;
    sch_op_retain(op);
    enum crt_result result = crt_stream_submit(stream, op, NULL);
    if (result == CRT_SUCCESS)
        sch_op_wait(op);
    sch_op_release(op);
    return result;
}

enum crt_result crt_stream_synchronize(struct crt_stream *stream)
{
    if (stream->captured.capture)
        return crt_capture_refuse(stream);
    enum crt_result result = drain(stream);
    if (result != CRT_SUCCESS)
        return result;
    crt_context_waited();
    return crt_context_outcome(stream->ctx);
}

/* As crt_stream_is_idle; what the stream has done counts as seen by the host from then on. */
static bool learn_whether_idle(struct crt_stream *stream)
{
    if (!crt_stream_is_idle(stream))
        return false;
    if (stream->is_null)
        return drain(stream) == CRT_SUCCESS;
    pthread_mutex_lock(&stream->lock);
    sch_host_learn(crt_stream_last_locked(stream));
    pthread_mutex_unlock(&stream->lock);
    return true;
}

enum crt_result crt_stream_query(struct crt_stream *stream)
{
    if (stream->captured.capture)
        return crt_capture_refuse(stream);
    bool is_idle = sch_pasts_are_kept() ? learn_whether_idle(stream) : crt_stream_is_idle(stream);
    enum crt_result sticky = crt_context_sticky(stream->ctx);
    if (sticky != CRT_SUCCESS)
        return sticky;
    if (!is_idle)
        sch_look_out_now_and_then();
    return is_idle ? crt_context_outcome(stream->ctx) : CRT_NOT_READY;
}

/* ---- life ---- */

void crt_stream_init_null(struct crt_stream *stream, struct crt_context *ctx)
{
    *stream = (struct crt_stream){.ctx = ctx, .id = crt_next_number(), .is_null = true};
    pthread_mutex_init(&stream->lock, NULL);
}

/* A new stream's first operation waits for what the green context waits for: *wait, not submitted,
 * or NULL. */
static enum crt_result enter_green_locked(struct crt_stream *stream, struct crt_green *green,
                                          struct sch_op **wait)
{
    stream->green = green;
    if (!green->for_all)
        return CRT_SUCCESS;
    *wait = append_wait(stream, green->for_all);
    return *wait ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
}

static struct crt_stream *create_locked(struct crt_context *ctx, unsigned flags, int priority)
{
    struct crt_stream *stream = crt_object_create(CRT_KIND_STREAM, sizeof *stream);
    if (!stream)
        return NULL;
    stream->ctx = ctx;
    stream->flags = flags;
    stream->priority = priority;
    stream->id = crt_next_number();
    pthread_mutex_init(&stream->lock, NULL);
    DL_APPEND(ctx->streams, stream);
    pthread_mutex_lock(&stream->lock);
    crt_stream_set_last_locked(stream, ctx->null_stream.for_all);
    pthread_mutex_unlock(&stream->lock);
    ctx->stream_count++;
    return stream;
}

int crt_stream_clamp_priority(int priority)
{
    if (priority > CRT_PRIORITY_LEAST)
        return CRT_PRIORITY_LEAST;
    return priority < CRT_PRIORITY_GREATEST ? CRT_PRIORITY_GREATEST : priority;
}

enum crt_result crt_stream_create(struct crt_context *ctx, struct crt_green *green, unsigned flags,
                                  int priority, struct crt_stream **stream)
{
    if (flags & ~CRT_STREAM_NON_BLOCKING)
        return CRT_INVALID_VALUE;
    pthread_mutex_lock(&ctx->lock);
    struct crt_stream *created = create_locked(ctx, flags, crt_stream_clamp_priority(priority));
    enum crt_result result = created ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
    struct sch_op *wait = NULL;
    if (created && green)
        result = enter_green_locked(created, green, &wait);
    pthread_mutex_unlock(&ctx->lock);
    submit_and_release(wait);
    if (result == CRT_SUCCESS)
        *stream = created;
    else if (created)
        crt_stream_destroy(created);
    return result;
}

enum crt_result crt_stream_destroy(struct crt_stream *stream)
{
    if (!crt_object_is(stream, CRT_KIND_STREAM) || stream->is_null || stream->is_own)
        return CRT_INVALID_HANDLE;
    struct crt_context *ctx = stream->ctx;
    struct crt_orphan *orphan = malloc(sizeof *orphan);
    if (!orphan)
        return CRT_OUT_OF_MEMORY;
    crt_capture_leave(stream);
    pthread_mutex_lock(&ctx->lock);
    DL_DELETE(ctx->streams, stream);
    ctx->stream_count--;
    crt_busy_leave(stream, &orphan);
    pthread_mutex_unlock(&ctx->lock);
    free(orphan);
    pthread_mutex_destroy(&stream->lock);
    crt_object_destroy(CRT_KIND_STREAM, stream);
    return crt_context_sticky(ctx);
}

void crt_stream_destroy_all(struct crt_context *ctx)
{
    struct crt_stream *stream;
    struct crt_stream *next;
    crt_own_streams_forget(ctx);
    DL_FOREACH_SAFE(ctx->streams, stream, next)
    crt_stream_destroy(stream);
    pthread_mutex_lock(&ctx->lock);
    crt_stream_set_last_locked(&ctx->null_stream, NULL);
    sch_op_release(ctx->null_stream.for_all);
    ctx->null_stream.for_all = NULL;
    crt_busy_drop_orphans(ctx);
    pthread_mutex_unlock(&ctx->lock);
}

/* The current context, or that of the stream if it has a handle of its own and none is current. */
static enum crt_result require_context(struct crt_stream *handle, struct crt_context **ctx)
{
    if (crt_context_get_current() || !crt_object_is(handle, CRT_KIND_STREAM))
        return crt_context_require(ctx);
    *ctx = handle->ctx;
    enum crt_result result = crt_check_ready();
    return result == CRT_SUCCESS ? crt_context_sticky(*ctx) : result;
}

enum crt_result crt_stream_identify(struct crt_stream *handle, struct crt_stream **stream)
{
    struct crt_context *ctx;
    enum crt_result result = require_context(handle, &ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (handle == NULL || handle == CRT_STREAM_LEGACY)
        *stream = &ctx->null_stream;
    else if (handle == CRT_STREAM_PER_THREAD)
        result = crt_own_stream_get(ctx, stream);
    else if (crt_object_is(handle, CRT_KIND_STREAM))
        *stream = handle;
    else
        result = CRT_INVALID_HANDLE;
    if (result == CRT_SUCCESS && (*stream)->ctx != ctx)
        result = crt_context_sticky((*stream)->ctx);
    return result;
}

enum crt_result crt_stream_resolve(struct crt_stream *handle, struct crt_stream **stream)
{
    enum crt_result result = crt_stream_identify(handle, stream);
    if (result == CRT_SUCCESS && (*stream)->is_null)
        result = crt_capture_check_null_stream((*stream)->ctx);
    return result;
}

/* ---- waiting for events ---- */

/* The operation that an event has recorded if it may still run, or pasts are kept. The reference is
 * the caller's. */
static struct sch_op *pending_of_event(struct crt_event *event)
{
    struct sch_op *op = crt_event_operation(event);
    if (op && sch_op_is_done(op) && !sch_pasts_are_kept()) {
        sch_op_release(op);
        op = NULL;
    }
    return op;
}

enum crt_result crt_stream_wait_event(struct crt_stream *stream, struct crt_event *event)
{
    if (crt_capture_holds(event))
        return crt_capture_wait(stream, event);
    if (stream->captured.capture)
        return crt_event_is_recorded(event)
                   ? crt_capture_refuse_as(stream, CRT_STREAM_CAPTURE_ISOLATION)
                   : CRT_SUCCESS;
    if (event->shared)
        return crt_ipc_event_stream_wait(event->shared, stream);
    struct sch_op *recorded = pending_of_event(event);
    if (!recorded)
        return CRT_SUCCESS;
    struct sch_op *op = sch_op_marker(NULL, NULL);
    enum crt_result result = op ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
    if (op)
        result = crt_result_from_status(sch_op_depend(op, recorded));
    sch_op_release(recorded);
    if (result == CRT_SUCCESS)
        return crt_stream_submit(stream, op, NULL);
    sch_op_release(op);
    return result;
}

enum crt_result crt_stream_wait_external(struct crt_stream *stream, struct crt_event *event)
{
    if (!stream->captured.capture)
        return CRT_INVALID_VALUE;
    struct crt_work work = {.kind = CRT_NODE_WAIT_EVENT, .event = event};
    return crt_capture_add(stream, &work);
}

/* The markers of all streams, or those of a green context, which the caller submits; *count of
 * them. */
static enum crt_result append_waits_locked(struct crt_context *ctx, struct crt_green *green,
                                           struct sch_op *recorded, struct sch_op **ops,
                                           size_t *count)
{
    *count = 0;
    struct crt_stream *stream = &ctx->null_stream;
    struct crt_stream *next = ctx->streams;
    while (stream) {
        if (!green || stream->is_null || stream->green == green) {
            struct sch_op *op = append_wait(stream, recorded);
            if (!op)
                return CRT_OUT_OF_MEMORY;
            ops[(*count)++] = op;
        }
        stream = next;
        next = next ? next->next : NULL;
    }
    /* For streams that do not exist yet: this event and earlier ones. */
    struct sch_op **for_all = green ? &green->for_all : &ctx->null_stream.for_all;
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (!op)
        return CRT_OUT_OF_MEMORY;
    ops[(*count)++] = op;
    enum pxr_status status = sch_op_depend(op, recorded);
    if (status == PXR_OK)
        status = sch_op_depend(op, *for_all);
    sch_op_release(*for_all);
    *for_all = sch_op_retain(op);
    return crt_result_from_status(status);
}

enum crt_result crt_stream_wait_event_all(struct crt_context *ctx, struct crt_green *green,
                                          struct crt_event *event)
{
    if (crt_capture_holds(event))
        return crt_capture_refuse_event(event, CRT_STREAM_CAPTURE_UNSUPPORTED);
    if (event->shared)
        return crt_not_supported("a context that waits for an interprocess event");
    enum crt_result result = crt_capture_check_context(ctx, green);
    struct sch_op *recorded = result == CRT_SUCCESS ? pending_of_event(event) : NULL;
    if (!recorded)
        return result;
    pthread_mutex_lock(&ctx->lock);
    size_t count = 0;
    struct sch_op **ops = calloc(ctx->stream_count + (size_t)2, sizeof *ops);
    result = ops ? append_waits_locked(ctx, green, recorded, ops, &count) : CRT_OUT_OF_MEMORY;
    pthread_mutex_unlock(&ctx->lock);
    for (size_t i = 0; i < count; i++)
        submit_and_release(ops[i]);
    free(ops);
    sch_op_release(recorded);
    return result;
}
