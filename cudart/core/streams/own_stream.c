/* SPDX-License-Identifier: Apache-2.0
 *
 * Per-thread default streams.
 */
#include "cudart/core/streams/own_stream.h"

#include <pthread.h>
#include <stdint.h>
#include <utlist.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/base/process.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/stream.h"

/* The calling thread's own stream in the context that it used last. */
static _Thread_local struct {
    uint64_t thread_number;
    uint64_t ctx_id;
    struct crt_stream *stream;
} own;

/* The thread that takes a stream from the list decides about it: at its own end, or at the end of
 * the context. The lock is held while a thread destroys its streams, so that their contexts wait.
 * It is taken before those of contexts and captures. */
static struct {
    pthread_once_t once;
    pthread_key_t key; /* has a destructor: a thread with a value announces its end */
    pthread_mutex_t lock;
    struct crt_stream *list;
} owned = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void take_locked(struct crt_stream *stream)
{
    DL_DELETE2(owned.list, stream, prev_own, next_own);
    stream->is_own = false;
}

/* Pending work in them still runs, and the null stream waits for it as before. */
static void end_thread(void *unused)
{
    struct crt_stream *stream;
    struct crt_stream *next;
    (void)unused;
    if (crt_check_ready() != CRT_SUCCESS)
        return;
    pthread_mutex_lock(&owned.lock);
    DL_FOREACH_SAFE2(owned.list, stream, next, next_own)
    {
        if (stream->thread_number != own.thread_number)
            continue;
        take_locked(stream);
        crt_stream_destroy(stream);
    }
    pthread_mutex_unlock(&owned.lock);
    own.ctx_id = 0; /* a destructor that comes after this one may ask again */
}

static void make_key(void)
{
    pthread_key_create(&owned.key, end_thread);
}

static struct crt_stream *find_locked(const struct crt_context *ctx)
{
    struct crt_stream *stream;
    DL_FOREACH2(owned.list, stream, next_own)
    if (stream->thread_number == own.thread_number && stream->ctx == ctx)
        return stream;
    return NULL;
}

static enum crt_result create_locked(struct crt_context *ctx, struct crt_stream **stream)
{
    enum crt_result result = crt_stream_create(ctx, NULL, 0, CRT_PRIORITY_LEAST, stream);
    if (result != CRT_SUCCESS)
        return result;
    (*stream)->is_own = true;
    (*stream)->thread_number = own.thread_number;
    crt_leak_forget(*stream); /* it is nobody's to destroy */
    DL_APPEND2(owned.list, *stream, prev_own, next_own);
    return CRT_SUCCESS;
}

enum crt_result crt_own_stream_get(struct crt_context *ctx, struct crt_stream **stream)
{
    if (own.ctx_id == ctx->id) {
        *stream = own.stream;
        return CRT_SUCCESS;
    }
    if (own.thread_number == 0)
        own.thread_number = crt_next_number();
    pthread_once(&owned.once, make_key);
    /* Without the key the stream lives until its context ends. */
    pthread_setspecific(owned.key, &owned);
    pthread_mutex_lock(&owned.lock);
    struct crt_stream *found = find_locked(ctx);
    enum crt_result result = found ? CRT_SUCCESS : create_locked(ctx, &found);
    pthread_mutex_unlock(&owned.lock);
    if (result != CRT_SUCCESS)
        return result;
    own.stream = found;
    own.ctx_id = ctx->id;
    *stream = found;
    return CRT_SUCCESS;
}

void crt_own_streams_forget(const struct crt_context *ctx)
{
    struct crt_stream *stream;
    struct crt_stream *next;
    pthread_mutex_lock(&owned.lock);
    DL_FOREACH_SAFE2(owned.list, stream, next, next_own)
    if (stream->ctx == ctx)
        take_locked(stream);
    pthread_mutex_unlock(&owned.lock);
}
