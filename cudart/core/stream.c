/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: ordering of operations by dependencies.
 */
#include "cudart/core/stream.h"

#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/context.h"
#include "cudart/core/event.h"
#include "cudart/core/graph.h"
#include "cudart/core/printf.h"
#include "cudart/core/process.h"
#include "scheduler/scheduler.h"

/* The calling thread's own default stream, of the context it used last. */
static _Thread_local struct {
    uint64_t thread_number;
    uint64_t ctx_id;
    struct crt_stream *stream;
} own;

static bool is_pending(const struct sch_op *op)
{
    return op && !sch_op_is_done(op);
}

/* Everything below with the suffix _locked is called with ctx->lock held. */

static void forget_finished_locked(struct crt_stream *stream)
{
    if (stream->last && sch_op_is_done(stream->last)) {
        sch_op_release(stream->last);
        stream->last = NULL;
    }
}

static void drop_orphans_locked(struct crt_context *ctx)
{
    struct crt_orphan **link = &ctx->orphans;
    while (*link) {
        struct crt_orphan *orphan = *link;
        if (sch_op_is_done(orphan->op)) {
            *link = orphan->next;
            sch_op_release(orphan->op);
            free(orphan);
        } else {
            link = &orphan->next;
        }
    }
}

static enum pxr_status depend_on_stream_locked(struct sch_op *op, struct crt_stream *stream)
{
    forget_finished_locked(stream);
    return stream->last ? sch_op_depend(op, stream->last) : PXR_OK;
}

/* Makes op wait for every stream of the context, or only for the blocking ones. */
static enum pxr_status depend_on_streams_locked(struct sch_op *op, struct crt_context *ctx,
                                                bool with_non_blocking)
{
    enum pxr_status status = PXR_OK;
    struct crt_stream *stream;
    DL_FOREACH(ctx->streams, stream)
    {
        if (with_non_blocking || !(stream->flags & CRT_STREAM_NON_BLOCKING))
            status = depend_on_stream_locked(op, stream);
        if (status != PXR_OK)
            return status;
    }
    drop_orphans_locked(ctx);
    for (struct crt_orphan *orphan = ctx->orphans; orphan; orphan = orphan->next) {
        if (with_non_blocking || orphan->is_blocking)
            status = sch_op_depend(op, orphan->op);
        if (status != PXR_OK)
            return status;
    }
    return status;
}

/* CUDA, "Default Stream": work in the null stream waits for all earlier work of the blocking
 * streams, and their later work waits for it. */
static enum pxr_status depend_by_rules_locked(struct sch_op *op, struct crt_stream *stream)
{
    struct crt_context *ctx = stream->ctx;
    enum pxr_status status = depend_on_stream_locked(op, stream);
    if (status == PXR_OK && stream->is_null)
        status = depend_on_streams_locked(op, ctx, false);
    else if (status == PXR_OK && !(stream->flags & CRT_STREAM_NON_BLOCKING))
        status = depend_on_stream_locked(op, &ctx->null_stream);
    return status;
}

enum crt_result crt_stream_submit(struct crt_stream *stream, struct sch_op *op,
                                  struct sch_op **previous)
{
    struct crt_context *ctx = stream->ctx;
    pthread_mutex_lock(&ctx->lock);
    enum pxr_status status = depend_by_rules_locked(op, stream);
    if (status == PXR_OK) {
        if (previous)
            *previous = sch_op_retain(stream->last);
        sch_op_release(stream->last);
        stream->last = sch_op_retain(op);
    }
    pthread_mutex_unlock(&ctx->lock);
    /* Submitted outside the lock: a done function may run at once. What was appended meanwhile
     * depends on op, and so still waits. */
    if (status == PXR_OK)
        sch_op_submit(op);
    sch_op_release(op);
    return crt_result_from_status(status);
}

struct sch_op *crt_stream_join_all(struct crt_context *ctx)
{
    struct sch_op *op = sch_op_marker(NULL, NULL);
    if (!op)
        return NULL;
    pthread_mutex_lock(&ctx->lock);
    enum pxr_status status = depend_on_stream_locked(op, &ctx->null_stream);
    if (status == PXR_OK)
        status = depend_on_streams_locked(op, ctx, true);
    pthread_mutex_unlock(&ctx->lock);
    if (status == PXR_OK)
        return op;
    sch_op_release(op);
    return NULL;
}

bool crt_stream_is_idle(struct crt_stream *stream)
{
    struct crt_context *ctx = stream->ctx;
    pthread_mutex_lock(&ctx->lock);
    bool is_idle = !is_pending(stream->last);
    if (stream->is_null) {
        struct crt_stream *other;
        DL_FOREACH(ctx->streams, other)
        if (!(other->flags & CRT_STREAM_NON_BLOCKING) && is_pending(other->last))
            is_idle = false;
        drop_orphans_locked(ctx);
        for (struct crt_orphan *orphan = ctx->orphans; orphan; orphan = orphan->next)
            if (orphan->is_blocking)
                is_idle = false;
    } else if (!(stream->flags & CRT_STREAM_NON_BLOCKING)) {
        is_idle = is_idle && !is_pending(ctx->null_stream.last);
    }
    pthread_mutex_unlock(&ctx->lock);
    return is_idle;
}

/* Waits for the stream's work without printing and without looking at errors. */
static enum crt_result drain(struct crt_stream *stream)
{
    if (crt_stream_is_idle(stream))
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
    crt_printf_flush();
    return crt_context_sticky(stream->ctx);
}

enum crt_result crt_stream_query(struct crt_stream *stream)
{
    if (stream->captured.capture)
        return crt_capture_refuse(stream);
    bool is_idle = crt_stream_is_idle(stream);
    enum crt_result sticky = crt_context_sticky(stream->ctx);
    if (sticky != CRT_SUCCESS)
        return sticky;
    return is_idle ? CRT_SUCCESS : CRT_NOT_READY;
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
    DL_APPEND(ctx->streams, stream);
    ctx->stream_count++;
    return stream;
}

enum crt_result crt_stream_create(struct crt_context *ctx, unsigned flags, int priority,
                                  struct crt_stream **stream)
{
    if (flags & ~CRT_STREAM_NON_BLOCKING)
        return CRT_INVALID_VALUE;
    if (priority > CRT_PRIORITY_LEAST)
        priority = CRT_PRIORITY_LEAST;
    if (priority < CRT_PRIORITY_GREATEST)
        priority = CRT_PRIORITY_GREATEST;
    pthread_mutex_lock(&ctx->lock);
    struct crt_stream *created = create_locked(ctx, flags, priority);
    pthread_mutex_unlock(&ctx->lock);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    *stream = created;
    return CRT_SUCCESS;
}

enum crt_result crt_stream_destroy(struct crt_stream *stream)
{
    if (!crt_object_is(stream, CRT_KIND_STREAM) || stream->is_null || stream->thread_number)
        return CRT_INVALID_HANDLE;
    struct crt_context *ctx = stream->ctx;
    struct crt_orphan *orphan = malloc(sizeof *orphan);
    if (!orphan)
        return CRT_OUT_OF_MEMORY;
    pthread_mutex_lock(&ctx->lock);
    DL_DELETE(ctx->streams, stream);
    ctx->stream_count--;
    if (is_pending(stream->last)) {
        *orphan = (struct crt_orphan){.op = stream->last,
                                      .is_blocking = !(stream->flags & CRT_STREAM_NON_BLOCKING),
                                      .next = ctx->orphans};
        ctx->orphans = orphan;
        orphan = NULL;
    } else {
        sch_op_release(stream->last);
    }
    stream->last = NULL;
    pthread_mutex_unlock(&ctx->lock);
    free(orphan);
    crt_capture_forget(&stream->captured);
    crt_object_destroy(CRT_KIND_STREAM, stream);
    return CRT_SUCCESS;
}

void crt_stream_destroy_all(struct crt_context *ctx)
{
    struct crt_stream *stream;
    struct crt_stream *next;
    DL_FOREACH_SAFE(ctx->streams, stream, next)
    {
        stream->thread_number = 0;
        crt_stream_destroy(stream);
    }
    pthread_mutex_lock(&ctx->lock);
    sch_op_release(ctx->null_stream.last);
    ctx->null_stream.last = NULL;
    drop_orphans_locked(ctx);
    pthread_mutex_unlock(&ctx->lock);
}

static struct crt_stream *find_own_locked(struct crt_context *ctx)
{
    struct crt_stream *stream;
    DL_FOREACH(ctx->streams, stream)
    if (stream->thread_number == own.thread_number)
        return stream;
    stream = create_locked(ctx, 0, CRT_PRIORITY_LEAST);
    if (stream)
        stream->thread_number = own.thread_number;
    return stream;
}

static enum crt_result resolve_own(struct crt_context *ctx, struct crt_stream **stream)
{
    if (own.ctx_id != ctx->id) {
        if (own.thread_number == 0)
            own.thread_number = crt_next_number();
        pthread_mutex_lock(&ctx->lock);
        own.stream = find_own_locked(ctx);
        pthread_mutex_unlock(&ctx->lock);
        if (!own.stream)
            return CRT_OUT_OF_MEMORY;
        own.ctx_id = ctx->id;
    }
    *stream = own.stream;
    return CRT_SUCCESS;
}

enum crt_result crt_stream_resolve(struct crt_stream *handle, struct crt_stream **stream)
{
    struct crt_context *ctx;
    enum crt_result result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (handle == NULL || handle == CRT_STREAM_LEGACY)
        *stream = &ctx->null_stream;
    else if (handle == CRT_STREAM_PER_THREAD)
        result = resolve_own(ctx, stream);
    else if (crt_object_is(handle, CRT_KIND_STREAM))
        *stream = handle;
    else
        result = CRT_INVALID_HANDLE;
    if (result == CRT_SUCCESS && (*stream)->ctx != ctx)
        result = crt_context_sticky((*stream)->ctx);
    return result;
}

enum crt_result crt_stream_wait_event(struct crt_stream *stream, struct crt_event *event)
{
    if (crt_capture_holds(event))
        return crt_capture_wait(stream, event);
    struct sch_op *recorded = crt_event_operation(event);
    if (recorded && stream->captured.capture) {
        sch_op_release(recorded);
        return CRT_STREAM_CAPTURE_ISOLATION;
    }
    if (!is_pending(recorded)) {
        sch_op_release(recorded);
        return CRT_SUCCESS;
    }
    struct sch_op *op = sch_op_marker(NULL, NULL);
    enum crt_result result = op ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
    if (op)
        result = crt_result_from_status(sch_op_depend(op, recorded));
    if (result == CRT_SUCCESS)
        result = crt_stream_submit(stream, op, NULL);
    else
        sch_op_release(op);
    sch_op_release(recorded);
    return result;
}

static void free_task(void *task, const struct sch_fault *fault)
{
    (void)fault;
    free(task);
}

/* Appends an operation whose done function is free_task; NULL: out of memory. */
static enum crt_result submit_task(struct crt_stream *stream, struct sch_op *op, void *task)
{
    enum crt_result result = op ? crt_stream_submit(stream, op, NULL) : CRT_OUT_OF_MEMORY;
    if (result != CRT_SUCCESS)
        free(task);
    return result;
}

enum crt_result crt_stream_task(struct crt_stream *stream, void (*run)(void *task), void *task)
{
    return submit_task(stream, sch_op_task(run, free_task, task), task);
}

/* A call of the program's own function, in order with a stream. */
struct host_call {
    crt_host_fn fn;
    crt_callback_fn callback;
    void *arg;
    struct crt_stream *handle;
    struct crt_context *ctx;
};

static void run_host_call(void *arg)
{
    struct host_call *call = arg;
    enum crt_result sticky = crt_context_sticky(call->ctx);
    if (call->callback)
        call->callback(call->handle, sticky, call->arg);
    else if (sticky == CRT_SUCCESS)
        call->fn(call->arg);
}

static enum crt_result submit_host_call(struct crt_stream *stream, struct host_call call)
{
    if (stream->captured.capture) {
        struct crt_work work = {
            .kind = CRT_NODE_HOST,
            .host = {.fn = call.fn, .callback = call.callback, .arg = call.arg}};
        return crt_capture_add(stream, &work);
    }
    enum crt_result result = crt_start_workers();
    if (result != CRT_SUCCESS)
        return result;
    struct host_call *copy = malloc(sizeof *copy);
    if (!copy)
        return CRT_OUT_OF_MEMORY;
    *copy = call;
    copy->ctx = stream->ctx;
    return submit_task(stream, sch_op_host(run_host_call, free_task, copy), copy);
}

enum crt_result crt_stream_host_function(struct crt_stream *stream, crt_host_fn fn, void *arg)
{
    return submit_host_call(stream, (struct host_call){.fn = fn, .arg = arg});
}

enum crt_result crt_stream_callback(struct crt_stream *stream, struct crt_stream *handle,
                                    crt_callback_fn fn, void *arg)
{
    return submit_host_call(stream,
                            (struct host_call){.callback = fn, .arg = arg, .handle = handle});
}
