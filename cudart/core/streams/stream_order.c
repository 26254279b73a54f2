/* SPDX-License-Identifier: Apache-2.0
 *
 * The last operations of streams, and the lists of streams that have work.
 */
#include "cudart/core/streams/stream_order.h"

#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/streams/context.h"
#include "cudart/core/streams/green.h"
#include "cudart/core/streams/stream.h"
#include "scheduler/scheduler.h"

void crt_busy_init(struct crt_busy *busy)
{
    pthread_mutex_init(&busy->lock, NULL);
}

void crt_busy_fini(struct crt_busy *busy)
{
    pthread_mutex_destroy(&busy->lock);
}

static int kind_of(const struct crt_stream *stream)
{
    return crt_stream_is_blocking(stream) ? CRT_BUSY_BLOCKING : CRT_BUSY_OTHERS;
}

/* ---- the lists ---- */

/* The stream's lock is held, or no other thread knows the stream yet. */
static void enter_locked(struct crt_stream *stream)
{
    struct crt_busy *busy = &stream->ctx->busy;
    int kind = kind_of(stream);
    stream->is_busy = true;
    pthread_mutex_lock(&busy->lock);
    DL_APPEND2(busy->streams[kind], stream, prev_busy, next_busy);
    atomic_store_explicit(&busy->has_streams[kind], true, memory_order_relaxed);
    pthread_mutex_unlock(&busy->lock);
}

/* Takes the whole list, which is then the caller's; streams that get work meanwhile begin a new
 * one. Nothing is missed without the lock: a stream that gets its first work just now is in no
 * order with this call. */
static struct crt_stream *take_list(struct crt_busy *busy, int kind)
{
    if (!atomic_load_explicit(&busy->has_streams[kind], memory_order_relaxed))
        return NULL;
    pthread_mutex_lock(&busy->lock);
    struct crt_stream *list = busy->streams[kind];
    busy->streams[kind] = NULL;
    atomic_store_explicit(&busy->has_streams[kind], false, memory_order_relaxed);
    pthread_mutex_unlock(&busy->lock);
    return list;
}

static void return_list(struct crt_busy *busy, int kind, struct crt_stream *list)
{
    if (!list)
        return;
    pthread_mutex_lock(&busy->lock);
    DL_CONCAT2(list, busy->streams[kind], prev_busy, next_busy);
    busy->streams[kind] = list;
    atomic_store_explicit(&busy->has_streams[kind], true, memory_order_relaxed);
    pthread_mutex_unlock(&busy->lock);
}

/* ---- one stream ---- */

struct sch_op *crt_stream_pending_locked(struct crt_stream *stream)
{
    struct sch_op *last = atomic_load_explicit(&stream->last, memory_order_relaxed);
    if (!last || !sch_op_is_done(last))
        return last;
    if (!sch_pasts_are_kept()) {
        atomic_store_explicit(&stream->last, NULL, memory_order_release);
        sch_op_release(last);
    }
    return NULL;
}

struct sch_op *crt_stream_last_locked(struct crt_stream *stream)
{
    return sch_pasts_are_kept() ? atomic_load_explicit(&stream->last, memory_order_relaxed)
                                : crt_stream_pending_locked(stream);
}

void crt_stream_set_last_locked(struct crt_stream *stream, struct sch_op *op)
{
    sch_op_release(
        atomic_exchange_explicit(&stream->last, sch_op_retain(op), memory_order_relaxed));
    if (op && !stream->is_busy && !stream->is_null)
        enter_locked(stream);
}

/* A stream that was never used, or had finished at the last look, needs no lock: operations that
 * another thread appends just now are in no order with this call. Acquire: pairs with the release
 * of the thread that has seen the last operation finished, whose effects the caller must see,
 * too. */
static bool is_known_idle(const struct crt_stream *stream)
{
    return !atomic_load_explicit(&stream->last, memory_order_acquire);
}

static bool look_for_pending(struct crt_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    bool is_pending = crt_stream_pending_locked(stream) != NULL;
    pthread_mutex_unlock(&stream->lock);
    return is_pending;
}

bool crt_stream_has_pending(struct crt_stream *stream)
{
    return !is_known_idle(stream) && look_for_pending(stream);
}

enum pxr_status crt_stream_depend(struct sch_op *op, struct crt_stream *stream)
{
    if (is_known_idle(stream))
        return PXR_OK;
    pthread_mutex_lock(&stream->lock);
    enum pxr_status status = sch_op_depend(op, crt_stream_last_locked(stream));
    pthread_mutex_unlock(&stream->lock);
    return status;
}

/* ---- all streams of a context ---- */

static void free_orphan(struct crt_orphan **list, struct crt_orphan *orphan)
{
    DL_DELETE(*list, orphan);
    sch_op_release(orphan->op);
    free(orphan);
}

/* Makes op wait for the orphans that have not finished; the others are dropped, or all. */
static enum pxr_status depend_on_orphans(struct sch_op *op, struct crt_orphan **list, bool keeps)
{
    struct crt_orphan *orphan;
    struct crt_orphan *next;
    DL_FOREACH_SAFE(*list, orphan, next)
    {
        bool is_done = sch_op_is_done(orphan->op);
        enum pxr_status status = sch_op_depend(op, orphan->op);
        if (status != PXR_OK)
            return status;
        if (is_done || !keeps)
            free_orphan(list, orphan);
    }
    return PXR_OK;
}

/* Makes op wait for a stream of a list. The stream leaves the list when it has finished, or in any
 * case unless the caller keeps those that have not; both under the stream's lock, so that it
 * enters again with its next operation. */
static enum pxr_status depend_on_listed(struct sch_op *op, struct crt_stream **list,
                                        struct crt_stream *stream, bool keeps)
{
    pthread_mutex_lock(&stream->lock);
    struct sch_op *last = crt_stream_last_locked(stream);
    enum pxr_status status = sch_op_depend(op, last);
    if (status == PXR_OK && !(last && keeps)) {
        DL_DELETE2(*list, stream, prev_busy, next_busy);
        stream->is_busy = false;
    }
    pthread_mutex_unlock(&stream->lock);
    return status;
}

static enum pxr_status depend_on_list(struct sch_op *op, struct crt_context *ctx, int kind,
                                      bool keeps)
{
    enum pxr_status status = PXR_OK;
    struct crt_stream *list = take_list(&ctx->busy, kind);
    struct crt_stream *next;
    for (struct crt_stream *stream = list; stream && status == PXR_OK; stream = next) {
        next = stream->next_busy;
        status = depend_on_listed(op, &list, stream, keeps);
    }
    return_list(&ctx->busy, kind, list);
    return status == PXR_OK ? depend_on_orphans(op, &ctx->busy.orphans[kind], keeps) : status;
}

enum pxr_status crt_busy_collect(struct crt_context *ctx, struct sch_op *op)
{
    return depend_on_list(op, ctx, CRT_BUSY_BLOCKING, false);
}

void crt_busy_restore(struct crt_context *ctx)
{
    struct crt_stream *stream;
    DL_FOREACH(ctx->streams, stream)
    {
        pthread_mutex_lock(&stream->lock);
        if (!stream->is_busy && crt_stream_pending_locked(stream))
            enter_locked(stream);
        pthread_mutex_unlock(&stream->lock);
    }
}

/* With the null stream's lock: a thread that has collected streams for it appends the operation
 * that waits for them with this lock held, and is not seen without. */
static enum pxr_status depend_on_null(struct sch_op *op, struct crt_context *ctx)
{
    struct crt_stream *null = &ctx->null_stream;
    pthread_mutex_lock(&null->lock);
    enum pxr_status status = sch_op_depend(op, crt_stream_last_locked(null));
    pthread_mutex_unlock(&null->lock);
    return status;
}

enum pxr_status crt_busy_join(struct crt_context *ctx, struct sch_op *op)
{
    enum pxr_status status = depend_on_null(op, ctx);
    for (int kind = 0; kind < CRT_BUSY_KINDS && status == PXR_OK; kind++)
        status = depend_on_list(op, ctx, kind, true);
    return status;
}

/* Whose streams destroyed ones were is not known any more: op waits for all of them. */
enum pxr_status crt_busy_join_green(struct crt_green *green, struct sch_op *op)
{
    struct crt_context *ctx = green->ctx;
    enum pxr_status status = depend_on_null(op, ctx);
    struct crt_stream *stream;
    DL_FOREACH(ctx->streams, stream)
    if (status == PXR_OK && stream->green == green)
        status = crt_stream_depend(op, stream);
    for (int kind = 0; kind < CRT_BUSY_KINDS && status == PXR_OK; kind++)
        status = depend_on_orphans(op, &ctx->busy.orphans[kind], true);
    return status;
}

/* Whether a stream of the list has work. Those that have finished leave it. */
static bool has_pending_in_list(struct crt_context *ctx, int kind)
{
    struct crt_stream *list = take_list(&ctx->busy, kind);
    struct crt_stream *next = list;
    bool is_pending = false;
    while (next && !is_pending) {
        struct crt_stream *stream = next;
        next = stream->next_busy;
        pthread_mutex_lock(&stream->lock);
        is_pending = crt_stream_pending_locked(stream) != NULL;
        if (!is_pending && !sch_pasts_are_kept()) {
            DL_DELETE2(list, stream, prev_busy, next_busy);
            stream->is_busy = false;
        }
        pthread_mutex_unlock(&stream->lock);
    }
    return_list(&ctx->busy, kind, list);
    return is_pending;
}

static bool has_pending_orphans(struct crt_orphan **list)
{
    while (*list && sch_op_is_done((*list)->op)) {
        sch_host_learn((*list)->op); /* nobody else could, later */
        free_orphan(list, *list);
    }
    return *list != NULL;
}

bool crt_busy_is_blocking(struct crt_context *ctx)
{
    return look_for_pending(&ctx->null_stream) || has_pending_in_list(ctx, CRT_BUSY_BLOCKING) ||
           has_pending_orphans(&ctx->busy.orphans[CRT_BUSY_BLOCKING]);
}

void crt_busy_leave(struct crt_stream *stream, struct crt_orphan **orphan)
{
    struct crt_busy *busy = &stream->ctx->busy;
    int kind = kind_of(stream);
    pthread_mutex_lock(&stream->lock);
    struct sch_op *last = sch_op_retain(crt_stream_last_locked(stream));
    crt_stream_set_last_locked(stream, NULL);
    if (stream->is_busy) {
        pthread_mutex_lock(&busy->lock);
        DL_DELETE2(busy->streams[kind], stream, prev_busy, next_busy);
        pthread_mutex_unlock(&busy->lock);
    }
    pthread_mutex_unlock(&stream->lock);
    /* Here, too, or a program whose streams come and go would keep all their operations. */
    has_pending_orphans(&busy->orphans[kind]);
    if (!last)
        return;
    (*orphan)->op = last;
    DL_APPEND(busy->orphans[kind], *orphan);
    *orphan = NULL;
}

void crt_busy_drop_orphans(struct crt_context *ctx)
{
    for (int kind = 0; kind < CRT_BUSY_KINDS; kind++)
        has_pending_orphans(&ctx->busy.orphans[kind]);
}
