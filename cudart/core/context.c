/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: life, the stack of each thread, limits, storage.
 */
#include "cudart/core/context.h"

#include <stdlib.h>

#include "cudart/core/arena.h"
#include "cudart/core/device_lib.h"
#include "cudart/core/event.h"
#include "cudart/core/module.h"
#include "cudart/core/printf.h"
#include "cudart/core/process.h"
#include "scheduler/scheduler.h"
#include "util/log.h"

#define STACK_DEPTH   128
#define CONTEXT_FLAGS 0xffu

static const size_t limit_defaults[CRT_LIMIT_COUNT] = {
    [CRT_LIMIT_STACK_SIZE] = 1024,          [CRT_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
    [CRT_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20, [CRT_LIMIT_SYNC_DEPTH] = 2,
    [CRT_LIMIT_PENDING_LAUNCHES] = 2048,    [CRT_LIMIT_L2_GRANULARITY] = 64,
    [CRT_LIMIT_PERSISTING_L2] = 0,
};

/* The primary context exists, inactive, from the start: runtimes take its handle first.
 * lock guards retain_count, activation and reset. */
static struct {
    pthread_mutex_t lock;
    struct crt_context ctx;
} primary = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .ctx = {.object.tag = CRT_TAG(CRT_KIND_CONTEXT),
            .is_primary = true,
            .lock = PTHREAD_MUTEX_INITIALIZER,
            .storage_lock = PTHREAD_MUTEX_INITIALIZER},
};

static _Thread_local struct {
    struct crt_context *stack[STACK_DEPTH];
    unsigned depth;
} thread;

/* Puts a context into its first state. */
static void start_context(struct crt_context *ctx)
{
    ctx->id = crt_next_number();
    atomic_store(&ctx->sticky, CRT_SUCCESS);
    for (int i = 0; i < CRT_LIMIT_COUNT; i++)
        atomic_store(&ctx->limits[i], limit_defaults[i]);
    atomic_store(&ctx->cache_config, 0);
    atomic_store(&ctx->shared_config, 1);
    ctx->null_stream =
        (struct crt_stream){.object.tag = CRT_TAG(CRT_KIND_STREAM), .ctx = ctx, .is_null = true};
    atomic_store(&ctx->is_active, true);
}

static void run_storage_dtors(struct crt_context *ctx)
{
    for (int i = 0; i < CRT_STORAGE_SLOTS; i++) {
        struct crt_storage_slot *slot = &ctx->storage[i];
        pthread_mutex_lock(&ctx->storage_lock);
        void *key = atomic_exchange(&slot->key, NULL);
        void *value = atomic_load(&slot->value);
        crt_storage_dtor dtor = slot->dtor;
        pthread_mutex_unlock(&ctx->storage_lock);
        /* Without the lock: the runtime may come back into the storage. */
        if (key && dtor)
            dtor(ctx, key, value);
    }
}

/* Ends all a context owns. Work in flight is waited for. */
static void stop_context(struct crt_context *ctx)
{
    struct sch_op *join = crt_stream_join_all(ctx);
    if (join) {
        sch_op_submit(join);
        sch_op_wait(join);
        sch_op_release(join);
    }
    crt_printf_flush();
    run_storage_dtors(ctx);
    atomic_store(&ctx->is_active, false);
    crt_event_destroy_all(ctx);
    crt_stream_destroy_all(ctx);
    crt_module_destroy_all(ctx);
    crt_heap_free_owned(ctx);
    crt_arena_free_owned(ctx);
}

struct crt_context *crt_primary_get(void)
{
    return &primary.ctx;
}

enum crt_result crt_primary_retain(struct crt_context **ctx)
{
    enum crt_result result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    pthread_mutex_lock(&primary.lock);
    if (!atomic_load(&primary.ctx.is_active)) {
        result = crt_start_workers();
        if (result == CRT_SUCCESS)
            start_context(&primary.ctx);
    }
    if (result == CRT_SUCCESS) {
        primary.ctx.retain_count++;
        *ctx = &primary.ctx;
    }
    pthread_mutex_unlock(&primary.lock);
    return result;
}

enum crt_result crt_primary_release(void)
{
    enum crt_result result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (crt_is_exiting())
        return CRT_SUCCESS;
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    pthread_mutex_lock(&primary.lock);
    if (primary.ctx.retain_count == 0)
        result = CRT_INVALID_CONTEXT;
    else if (--primary.ctx.retain_count == 0)
        stop_context(&primary.ctx);
    pthread_mutex_unlock(&primary.lock);
    return result;
}

enum crt_result crt_primary_reset(void)
{
    enum crt_result result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    pthread_mutex_lock(&primary.lock);
    if (atomic_load(&primary.ctx.is_active))
        stop_context(&primary.ctx);
    primary.ctx.retain_count = 0;
    pthread_mutex_unlock(&primary.lock);
    return CRT_SUCCESS;
}

enum crt_result crt_context_create(unsigned flags, struct crt_context **ctx)
{
    if (flags & ~CONTEXT_FLAGS)
        return CRT_INVALID_VALUE;
    enum crt_result result = crt_start_workers();
    if (result != CRT_SUCCESS)
        return result;
    if (thread.depth == STACK_DEPTH)
        return CRT_OUT_OF_MEMORY;
    struct crt_context *created = crt_object_create(CRT_KIND_CONTEXT, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    pthread_mutex_init(&created->lock, NULL);
    pthread_mutex_init(&created->storage_lock, NULL);
    atomic_store(&created->flags, flags);
    start_context(created);
    thread.stack[thread.depth++] = created;
    *ctx = created;
    return CRT_SUCCESS;
}

enum crt_result crt_context_destroy(struct crt_context *ctx)
{
    if (!crt_context_is_valid(ctx) || ctx->is_primary)
        return CRT_INVALID_CONTEXT;
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    stop_context(ctx);
    if (thread.depth > 0 && thread.stack[thread.depth - 1] == ctx)
        thread.depth--;
    pthread_mutex_destroy(&ctx->lock);
    pthread_mutex_destroy(&ctx->storage_lock);
    crt_object_destroy(CRT_KIND_CONTEXT, ctx);
    return CRT_SUCCESS;
}

bool crt_context_is_valid(const struct crt_context *ctx)
{
    return crt_object_is(ctx, CRT_KIND_CONTEXT);
}

enum crt_result crt_context_push(struct crt_context *ctx)
{
    if (!crt_context_is_valid(ctx))
        return CRT_INVALID_CONTEXT;
    if (thread.depth == STACK_DEPTH)
        return CRT_OUT_OF_MEMORY;
    thread.stack[thread.depth++] = ctx;
    return CRT_SUCCESS;
}

enum crt_result crt_context_pop(struct crt_context **ctx)
{
    if (thread.depth == 0)
        return CRT_INVALID_CONTEXT;
    struct crt_context *top = thread.stack[--thread.depth];
    if (ctx)
        *ctx = top;
    return CRT_SUCCESS;
}

enum crt_result crt_context_set_current(struct crt_context *ctx)
{
    if (ctx && !crt_context_is_valid(ctx))
        return CRT_INVALID_CONTEXT;
    if (!ctx)
        thread.depth -= thread.depth > 0;
    else if (thread.depth == 0)
        thread.stack[thread.depth++] = ctx;
    else
        thread.stack[thread.depth - 1] = ctx;
    return CRT_SUCCESS;
}

struct crt_context *crt_context_get_current(void)
{
    return thread.depth ? thread.stack[thread.depth - 1] : NULL;
}

/* The current context if it lives, whatever its errors. */
static enum crt_result require_alive(struct crt_context **ctx)
{
    enum crt_result result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct crt_context *current = crt_context_get_current();
    if (!current)
        return CRT_INVALID_CONTEXT;
    if (!crt_context_is_valid(current) ||
        !atomic_load_explicit(&current->is_active, memory_order_acquire))
        return CRT_CONTEXT_IS_DESTROYED;
    *ctx = current;
    return CRT_SUCCESS;
}

enum crt_result crt_context_require(struct crt_context **ctx)
{
    enum crt_result result = require_alive(ctx);
    return result == CRT_SUCCESS ? crt_context_sticky(*ctx) : result;
}

enum crt_result crt_context_synchronize(struct crt_context *ctx)
{
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    struct sch_op *join = crt_stream_join_all(ctx);
    if (!join)
        return CRT_OUT_OF_MEMORY;
    sch_op_submit(join);
    sch_op_wait(join);
    sch_op_release(join);
    crt_printf_flush();
    return crt_context_sticky(ctx);
}

void crt_context_poison(struct crt_context *ctx, enum crt_result result)
{
    int none = CRT_SUCCESS;
    atomic_compare_exchange_strong(&ctx->sticky, &none, (int)result);
}

void crt_context_catch_fault(struct crt_context *ctx, struct pxr_error *target)
{
    atomic_store(&ctx->fault_target, target);
    atomic_store(&ctx->sticky, CRT_SUCCESS);
}

void crt_context_report_fault(struct crt_context *ctx, const struct pxr_error *error)
{
    struct pxr_error *target = atomic_load(&ctx->fault_target);
    if (target)
        *target = *error;
    else
        pxr_log(PXR_LOG_ERROR, "%s", error->message);
}

enum crt_result crt_context_get_limit(struct crt_context *ctx, unsigned limit, size_t *value)
{
    if (limit >= CRT_LIMIT_COUNT)
        return CRT_UNSUPPORTED_LIMIT;
    *value = atomic_load(&ctx->limits[limit]);
    return CRT_SUCCESS;
}

enum crt_result crt_context_set_limit(struct crt_context *ctx, unsigned limit, size_t value)
{
    if (limit >= CRT_LIMIT_COUNT)
        return CRT_UNSUPPORTED_LIMIT;
    atomic_store(&ctx->limits[limit], value);
    return CRT_SUCCESS;
}

static enum crt_result storage_context(struct crt_context **ctx)
{
    if (*ctx)
        return crt_context_is_valid(*ctx) ? CRT_SUCCESS : CRT_INVALID_CONTEXT;
    *ctx = crt_context_get_current();
    return *ctx ? CRT_SUCCESS : CRT_INVALID_CONTEXT;
}

static struct crt_storage_slot *find_slot(struct crt_context *ctx, const void *key)
{
    for (int i = 0; i < CRT_STORAGE_SLOTS; i++)
        if (atomic_load_explicit(&ctx->storage[i].key, memory_order_acquire) == key)
            return &ctx->storage[i];
    return NULL;
}

enum crt_result crt_storage_put(struct crt_context *ctx, void *key, void *value,
                                crt_storage_dtor dtor)
{
    if (!key)
        return CRT_INVALID_VALUE;
    enum crt_result result = storage_context(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    pthread_mutex_lock(&ctx->storage_lock);
    struct crt_storage_slot *slot = find_slot(ctx, key);
    if (!slot)
        slot = find_slot(ctx, NULL);
    if (slot) {
        atomic_store_explicit(&slot->value, value, memory_order_relaxed);
        slot->dtor = dtor;
        atomic_store_explicit(&slot->key, key, memory_order_release);
    }
    pthread_mutex_unlock(&ctx->storage_lock);
    return slot ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
}

enum crt_result crt_storage_remove(struct crt_context *ctx, void *key)
{
    enum crt_result result = storage_context(&ctx);
    if (result != CRT_SUCCESS || !key)
        return result;
    pthread_mutex_lock(&ctx->storage_lock);
    struct crt_storage_slot *slot = find_slot(ctx, key);
    if (slot)
        atomic_store_explicit(&slot->key, NULL, memory_order_release);
    pthread_mutex_unlock(&ctx->storage_lock);
    return slot ? CRT_SUCCESS : CRT_INVALID_HANDLE;
}

enum crt_result crt_storage_get(struct crt_context *ctx, void *key, void **value)
{
    enum crt_result result = storage_context(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_storage_slot *slot = key ? find_slot(ctx, key) : NULL;
    if (!slot)
        return CRT_INVALID_HANDLE;
    *value = atomic_load_explicit(&slot->value, memory_order_relaxed);
    return CRT_SUCCESS;
}
