/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams: chains of operations. An operation depends on the stream's last one; the null stream
 * and the blocking streams also wait for each other, as "Default Stream" in the CUDA guide says.
 */
#ifndef PTXRUN_CUDART_CORE_STREAM_H
#define PTXRUN_CUDART_CORE_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/capture.h"
#include "cudart/core/object.h"
#include "cudart/core/result.h"

struct crt_context;
struct crt_event;
struct sch_op;

#define CRT_STREAM_NON_BLOCKING 1u

/* Handles that are no objects. */
#define CRT_STREAM_LEGACY     ((struct crt_stream *)(uintptr_t)1)
#define CRT_STREAM_PER_THREAD ((struct crt_stream *)(uintptr_t)2)

#define CRT_PRIORITY_LEAST    0
#define CRT_PRIORITY_GREATEST (-5)

struct crt_stream {
    struct crt_object object;
    struct crt_context *ctx;
    unsigned flags;
    int priority;
    uint64_t id;
    uint64_t thread_number; /* of a per-thread default stream, else 0 */
    bool is_null;
    struct sch_op *last;               /* newest operation, or NULL; guarded by ctx->lock */
    struct crt_capture_point captured; /* guarded by the lock in capture.c; capture changes only
                                          through calls of the program on this stream */
    struct crt_stream *prev;
    struct crt_stream *next;
};

/* Work of a stream that no longer exists. */
struct crt_orphan {
    struct sch_op *op;
    bool is_blocking;
    struct crt_orphan *next;
};

typedef void (*crt_host_fn)(void *arg);

CRT_API_BEGIN

enum crt_result crt_stream_create(struct crt_context *ctx, unsigned flags, int priority,
                                  struct crt_stream **stream);

/* Its pending work still runs. */
enum crt_result crt_stream_destroy(struct crt_stream *stream);

/* The stream a handle means: 0 and CRT_STREAM_LEGACY the null stream, CRT_STREAM_PER_THREAD the
 * calling thread's own. Errors: those of crt_context_require, CRT_INVALID_HANDLE. */
enum crt_result crt_stream_resolve(struct crt_stream *handle, struct crt_stream **stream);

/* Whether all work has finished: CRT_SUCCESS, CRT_NOT_READY or the sticky error. */
enum crt_result crt_stream_query(struct crt_stream *stream);

/* Waits, prints what kernels printed, and returns the context's sticky error.
 * CRT_NOT_PERMITTED from a host function or callback. */
enum crt_result crt_stream_synchronize(struct crt_stream *stream);

/* Later work of the stream waits for what the event has recorded. */
enum crt_result crt_stream_wait_event(struct crt_stream *stream, struct crt_event *event);

/* fn(arg) runs on a thread of its own, after the work before it. */
enum crt_result crt_stream_host_function(struct crt_stream *stream, crt_host_fn fn, void *arg);

/* As crt_stream_host_function, with the stream and the state of the context. */
typedef void (*crt_callback_fn)(struct crt_stream *stream, enum crt_result result, void *arg);
enum crt_result crt_stream_callback(struct crt_stream *stream, struct crt_stream *handle,
                                    crt_callback_fn fn, void *arg);

CRT_API_END

/* Appends an operation, whose reference it takes over. On failure the operation has been released
 * without having run, and its done function is not called. previous (may be NULL) gets a
 * reference to what was last. */
enum crt_result crt_stream_submit(struct crt_stream *stream, struct sch_op *op,
                                  struct sch_op **previous);

/* run(task) by a worker, in order with the stream. task is from malloc and no longer the caller's;
 * it is freed when it has run, or at once on failure. */
enum crt_result crt_stream_task(struct crt_stream *stream, void (*run)(void *task), void *task);

/* Whether nothing the stream's next operation would wait for is running. */
bool crt_stream_is_idle(struct crt_stream *stream);

/* Destroys all streams of a context, whose work has finished. */
void crt_stream_destroy_all(struct crt_context *ctx);

/* An operation that depends on all work of the context, not yet submitted; NULL: out of memory. */
struct sch_op *crt_stream_join_all(struct crt_context *ctx);

#endif
