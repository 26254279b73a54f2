/* SPDX-License-Identifier: Apache-2.0
 *
 * The order between streams: the last operation of each, and all streams of a context that have
 * work.
 *
 * A context may have very many streams. A stream is in a list, its context's busy blocking or busy
 * non-blocking streams, from the time it gets an operation until a thread that waits for all of
 * them finds it finished, so that such threads look at no other streams. Work of the null stream
 * takes the blocking ones out: it waits for them, and waiting for the null stream's last operation
 * waits for them, too.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_STREAM_ORDER_H
#define PTXRUN_CUDART_CORE_STREAMS_STREAM_ORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/error.h"

struct crt_context;
struct crt_green;
struct crt_stream;
struct sch_op;

/* Work of a stream that no longer exists. */
struct crt_orphan {
    struct sch_op *op;
    struct crt_orphan *prev;
    struct crt_orphan *next;
};

enum { CRT_BUSY_BLOCKING, CRT_BUSY_OTHERS, CRT_BUSY_KINDS };

/* Of a context. Streams are added with lock held, which is taken inside a stream's; to take them
 * out the context's lock is held, too. Orphans are guarded by the context's lock. */
struct crt_busy {
    pthread_mutex_t lock;
    struct crt_stream *streams[CRT_BUSY_KINDS];
    atomic_bool has_streams[CRT_BUSY_KINDS];
    struct crt_orphan *orphans[CRT_BUSY_KINDS]; /* the oldest comes first */
};

void crt_busy_init(struct crt_busy *busy);
void crt_busy_fini(struct crt_busy *busy);

/* ---- one stream; its lock is held where a name ends in _locked ---- */

/* The last operation if it may still run. */
struct sch_op *crt_stream_pending_locked(struct crt_stream *stream);

/* What new work of the stream comes after: the same, or where pasts are kept (sch_keep_pasts) the
 * last operation in any case. */
struct sch_op *crt_stream_last_locked(struct crt_stream *stream);

void crt_stream_set_last_locked(struct crt_stream *stream, struct sch_op *op);

bool crt_stream_has_pending(struct crt_stream *stream);

/* As sch_op_depend, on the stream's last operation. */
enum pxr_status crt_stream_depend(struct sch_op *op, struct crt_stream *stream);

/* ---- all streams of a context, whose lock is held ---- */

/* Makes op wait for all blocking streams but the null one, and takes them out of the list: the
 * caller makes op the null stream's last operation, or else calls crt_busy_restore. */
enum pxr_status crt_busy_collect(struct crt_context *ctx, struct sch_op *op);
void crt_busy_restore(struct crt_context *ctx);

/* Makes op wait for all streams, also the null one. */
enum pxr_status crt_busy_join(struct crt_context *ctx, struct sch_op *op);

/* The same for the streams of a green context, and the null one. */
enum pxr_status crt_busy_join_green(struct crt_green *green, struct sch_op *op);

/* Whether the null stream or a blocking one may have work. */
bool crt_busy_is_blocking(struct crt_context *ctx);

/* Takes a stream out that ends. Its last operation becomes *orphan, or *orphan stays the caller's.
 */
void crt_busy_leave(struct crt_stream *stream, struct crt_orphan **orphan);

/* Gives back orphans that have finished. */
void crt_busy_drop_orphans(struct crt_context *ctx);

#endif
