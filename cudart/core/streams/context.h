/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: the primary one of each device and those that a program creates. A context owns
 * streams, events, memory and module instances, remembers the first fatal error, and stores the
 * entries that runtimes attach to it.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_CONTEXT_H
#define PTXRUN_CUDART_CORE_STREAMS_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"
#include "cudart/core/streams/stream.h"
#include "cudart/core/streams/stream_order.h"

struct crt_device;
struct crt_event;
struct crt_module;

#define CRT_CONTEXT_API_VERSION 3020
#define CRT_STORAGE_SLOTS       64
#define CRT_PEERS_MAX           64

enum crt_limit {
    CRT_LIMIT_STACK_SIZE,
    CRT_LIMIT_PRINTF_FIFO_SIZE,
    CRT_LIMIT_MALLOC_HEAP_SIZE,
    CRT_LIMIT_SYNC_DEPTH,
    CRT_LIMIT_PENDING_LAUNCHES,
    CRT_LIMIT_L2_GRANULARITY,
    CRT_LIMIT_PERSISTING_L2,
    CRT_LIMIT_COUNT,
    CRT_LIMIT_KNOWN = 10 /* the others are about graphics */
};

typedef void (*crt_storage_dtor)(struct crt_context *ctx, void *key, void *value);

/* One entry that a runtime keeps with a context. Written under storage_lock; key is stored last
 * (release) and loaded first (acquire), so that readers need no lock. */
struct crt_storage_slot {
    _Atomic(void *) key;
    _Atomic(void *) value;
    crt_storage_dtor dtor;
};

/* The part of a folder above in the life of contexts. Either function may be NULL. */
struct crt_context_part {
    void (*waited)(void);                 /* the program has waited for work, of any context */
    void (*end)(struct crt_context *ctx); /* ends its objects in a context without work */
};

struct crt_context {
    struct crt_object object;
    struct crt_device *device; /* never NULL */
    uint64_t id;
    _Atomic uint64_t serial; /* of created ones: a new number for each that was ever made */
    atomic_uint holders;     /* threads that wait for its work without being its owner */
    bool is_primary;
    atomic_bool is_active; /* of created ones: until it ends */
    atomic_bool is_ending; /* of created ones: somebody destroys it */
    unsigned retain_count; /* primary; guarded by the primary lock of context.c */
    _Atomic unsigned flags;
    _Atomic int sticky;      /* enum crt_result of the first fatal error, 0 while there is none */
    atomic_bool is_reported; /* the fault behind that error, or it is about to be */
    _Atomic int lack;        /* of the first launch that had no memory, until somebody is told */
    _Atomic(struct pxr_error *) fault_target; /* gets faults as values; usually NULL */
    atomic_size_t limits[CRT_LIMIT_COUNT];
    atomic_size_t child_launches; /* by kernels: those that have not finished */
    atomic_bool has_printed;      /* a kernel has: the limit stays as it is */
    atomic_bool has_allocated;    /* likewise, with malloc */
    _Atomic unsigned cache_config;
    _Atomic unsigned shared_config;

    pthread_mutex_t lock; /* guards everything below, and the last operation of each stream */
    struct crt_stream null_stream;
    struct crt_stream *streams; /* all but the null stream */
    struct crt_event *events;
    struct crt_module *modules; /* instances in this context */
    struct crt_busy busy;       /* the streams that have work */
    unsigned stream_count;
    uint64_t peers[CRT_PEERS_MAX]; /* ids of the contexts that peer access is enabled to, or 0 */

    pthread_mutex_t storage_lock;
    struct crt_storage_slot storage[CRT_STORAGE_SLOTS];
};

CRT_API_BEGIN

/* ---- the primary context of a device ---- */
struct crt_context *crt_primary_get(struct crt_device *device); /* its handle, active or not */
enum crt_result crt_primary_retain(struct crt_device *device, struct crt_context **ctx);

/* Functions that end a context wait for its work and are CRT_NOT_PERMITTED from a host function. A
 * release does nothing when the process exits. */
enum crt_result crt_primary_release(struct crt_device *device);
enum crt_result crt_primary_reset(struct crt_device *device);

/* ---- created contexts ---- */
enum crt_result crt_context_create(struct crt_device *device, unsigned flags,
                                   struct crt_context **ctx);
enum crt_result crt_context_destroy(struct crt_context *ctx);

/* The error of a call that wants a current context and finds none. Host functions have none, and
 * must not call the API: theirs is another one, by which libgomp finds out that it is in one. */
enum crt_result crt_context_missing(void);

/* ---- the calling thread's stack of contexts ---- */
/* Handles are contexts or green ones (green.h); what is current is the context behind. */
enum crt_result crt_context_push(struct crt_context *handle);
enum crt_result crt_context_pop(struct crt_context **handle);
enum crt_result crt_context_set_current(struct crt_context *handle); /* NULL: none */
struct crt_context *crt_context_get_current(void);                   /* NULL: none */
struct crt_context *crt_context_get_handle(void);                    /* NULL: none */

/* The current context, ready for work: CRT_NOT_INITIALIZED, CRT_INVALID_CONTEXT when there is
 * none, CRT_CONTEXT_IS_DESTROYED, or the context's sticky error. */
enum crt_result crt_context_require(struct crt_context **ctx);

/* Whether a handle is a context's. */
bool crt_context_is_valid(const struct crt_context *ctx);

/* Whether a context may have these flags. */
bool crt_context_flags_are_valid(unsigned flags);

/* Waits for all work of the context and prints what its kernels printed. CRT_NOT_PERMITTED from a
 * host function. */
enum crt_result crt_context_wait(struct crt_context *ctx);

/* The same for the program, or for the work of a green context if that is not NULL:
 * CRT_STREAM_CAPTURE_UNSUPPORTED while a stream of it captures. */
enum crt_result crt_context_synchronize(struct crt_context *ctx, struct crt_green *green);

enum crt_result crt_context_get_limit(struct crt_context *ctx, unsigned limit, size_t *value);
enum crt_result crt_context_set_limit(struct crt_context *ctx, unsigned limit, size_t value);

/* ---- access from ctx to the memory of peer, which is always there: only the errors of switching
 * it are CUDA's ---- */
enum crt_result crt_context_enable_peer(struct crt_context *ctx, const struct crt_context *peer);
enum crt_result crt_context_disable_peer(struct crt_context *ctx, const struct crt_context *peer);

/* ---- storage for runtimes; ctx NULL: the current one ---- */
enum crt_result crt_storage_put(struct crt_context *ctx, void *key, void *value,
                                crt_storage_dtor dtor);
enum crt_result crt_storage_remove(struct crt_context *ctx, void *key);
enum crt_result crt_storage_get(struct crt_context *ctx, void *key, void **value);

CRT_API_END

/* Between the two, the end of the context waits. Called while something is known to belong to the
 * context and its end would take it away. */
static inline void crt_context_hold(struct crt_context *ctx)
{
    atomic_fetch_add(&ctx->holders, 1);
}

static inline void crt_context_let_go(struct crt_context *ctx)
{
    atomic_fetch_sub(&ctx->holders, 1);
}

/* The parts, in the order in which they are called; constant. Before the first context starts. */
void crt_context_set_parts(const struct crt_context_part *parts, size_t count);

/* Called wherever the program has waited for work. */
void crt_context_waited(void);

/* The beginning and the end of a context's limits and storage: context_limits.c,
 * context_storage.c. */
void crt_context_init_limits(struct crt_context *ctx);
void crt_storage_end(struct crt_context *ctx);

/* Whether the caller is to report work that ended early, before it records the error: nobody has
 * reported a fatal one. Grids that run side by side may fail together. */
bool crt_context_may_report(struct crt_context *ctx, enum crt_result result);

/* Records the error of work that ended early. The first fatal one stays; a lack of memory leaves
 * the context usable, and is reported to the next thread that waits. */
void crt_context_poison(struct crt_context *ctx, enum crt_result result);

/* For a thread that has waited: the fatal error, or else a lack of memory that has not been
 * reported. */
enum crt_result crt_context_outcome(struct crt_context *ctx);

/* Until the next call, a fault in a kernel of this context goes to *target instead of the log; the
 * context's fatal error is forgotten, so that it stays usable. NULL: back to CUDA's behaviour. */
void crt_context_catch_fault(struct crt_context *ctx, struct pxr_error *target);

/* Logs the sentence about a fault, or gives it to the code that catches faults. */
void crt_context_report_fault(struct crt_context *ctx, const struct pxr_error *error);

static inline enum crt_result crt_context_sticky(const struct crt_context *ctx)
{
    return (enum crt_result)atomic_load_explicit(&ctx->sticky, memory_order_acquire);
}

#endif
