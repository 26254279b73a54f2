/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: life, the stack of each thread, errors, peers. Limits are in context_limits.c, the
 * entries of runtimes in context_storage.c.
 */
#include "cudart/core/streams/context.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/process.h"
#include "cudart/core/check/api_errors.h"
#include "cudart/core/streams/capture.h"
#include "cudart/core/streams/event.h"
#include "cudart/core/streams/green.h"
#include "scheduler/scheduler.h"
#include "util/log.h"

#define STACK_INLINE          4
#define CONTEXT_FLAGS         0xffu
#define CONTEXT_WAITING_FLAGS 7u

/* The primary contexts exist, inactive, from the start: runtimes take their handles first. lock
 * guards retain_count, activation and reset. */
struct primary {
    pthread_mutex_t lock;
    struct crt_context ctx;
};

static struct {
    pthread_once_t once;
    struct primary of[CRT_DEVICES_MAX]; /* by the device's index */
} primaries = {.once = PTHREAD_ONCE_INIT};

static struct {
    const struct crt_context_part *of;
    size_t count;
} parts;

void crt_context_set_parts(const struct crt_context_part *list, size_t count)
{
    parts.of = list;
    parts.count = count;
}

void crt_context_waited(void)
{
    for (size_t i = 0; i < parts.count; i++)
        if (parts.of[i].waited)
            parts.of[i].waited();
}

static void end_parts(struct crt_context *ctx)
{
    for (size_t i = 0; i < parts.count; i++)
        if (parts.of[i].end)
            parts.of[i].end(ctx);
}

/* The memory of a context that another thread has destroyed may be another context's: the serial
 * number says which one is meant. */
struct entry {
    struct crt_context *ctx;
    struct crt_green *green; /* the program's handle, if that is a green context of ctx; or NULL */
    uint64_t serial;
};

/* The calling thread's stack. Few programs push more contexts than have their place here, where
 * space is scarce: a library that the program opens while it runs has its initial-exec variables
 * in what the loader has set aside for all such libraries. */
static _Thread_local struct {
    struct entry first[STACK_INLINE];
    struct entry *more; /* those above them; goes when they have been popped */
    unsigned depth;
    unsigned more_capacity;
} thread;

static struct entry *entry_at(unsigned place)
{
    return place < STACK_INLINE ? &thread.first[place] : &thread.more[place - STACK_INLINE];
}

static struct entry *top_entry(void)
{
    return thread.depth ? entry_at(thread.depth - 1) : NULL;
}

static uint64_t serial_of(const struct crt_context *ctx, const struct crt_green *green)
{
    return green ? green->id : atomic_load_explicit(&ctx->serial, memory_order_relaxed);
}

/* handle: a context or a green one. */
static void set_entry(struct entry *entry, struct crt_context *handle)
{
    struct crt_context *ctx = crt_context_behind(handle);
    struct crt_green *green = crt_green_of(handle);
    *entry = (struct entry){.ctx = ctx, .green = green, .serial = serial_of(ctx, green)};
}

/* Makes place for one more; false: out of memory. */
static bool reserve_entry(void)
{
    if (thread.depth < STACK_INLINE + thread.more_capacity)
        return true;
    unsigned capacity = thread.more_capacity ? 2 * thread.more_capacity : 2 * STACK_INLINE;
    struct entry *longer = realloc(thread.more, capacity * sizeof *longer);
    if (!longer)
        return false;
    thread.more = longer;
    thread.more_capacity = capacity;
    return true;
}

/* reserve_entry has made its place. */
static void push_entry(struct crt_context *handle)
{
    set_entry(entry_at(thread.depth++), handle);
}

static void pop_entry(void)
{
    if (--thread.depth > STACK_INLINE || !thread.more)
        return;
    free(thread.more);
    thread.more = NULL;
    thread.more_capacity = 0;
}

/* Puts a context into its first state. */
static void start_context(struct crt_context *ctx)
{
    ctx->id = crt_next_number();
    atomic_store(&ctx->sticky, CRT_SUCCESS);
    atomic_store(&ctx->is_reported, false);
    atomic_store(&ctx->lack, CRT_SUCCESS);
    crt_context_init_limits(ctx);
    atomic_store(&ctx->cache_config, 0);
    atomic_store(&ctx->shared_config, 1);
    memset(ctx->peers, 0, sizeof ctx->peers);
    crt_stream_init_null(&ctx->null_stream, ctx);
    atomic_store(&ctx->is_active, true);
}

/* Ends all a context owns. Work in flight is waited for. */
static void stop_context(struct crt_context *ctx)
{
    struct sch_op *join = crt_stream_join_all(ctx, NULL);
    if (join) {
        sch_op_submit(join);
        sch_op_wait(join);
        sch_op_release(join);
    }
    crt_context_waited();
    crt_storage_end(ctx);
    atomic_store(&ctx->is_active, false);
    crt_event_destroy_all(ctx);
    crt_stream_destroy_all(ctx);
    end_parts(ctx);
    while (atomic_load(&ctx->holders)) /* for nothing any more */
        sched_yield();
}

static void init_primaries(void)
{
    for (int i = 0; i < CRT_DEVICES_MAX; i++) {
        struct primary *primary = &primaries.of[i];
        pthread_mutex_init(&primary->lock, NULL);
        pthread_mutex_init(&primary->ctx.lock, NULL);
        pthread_mutex_init(&primary->ctx.storage_lock, NULL);
        crt_busy_init(&primary->ctx.busy);
        primary->ctx.device = crt_device_at(i);
        primary->ctx.is_primary = true;
    }
}

static struct primary *primary_of(const struct crt_device *device)
{
    pthread_once(&primaries.once, init_primaries);
    return &primaries.of[device->index];
}

struct crt_context *crt_primary_get(struct crt_device *device)
{
    return &primary_of(device)->ctx;
}

enum crt_result crt_primary_retain(struct crt_device *device, struct crt_context **ctx)
{
    enum crt_result result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    struct primary *primary = primary_of(device);
    pthread_mutex_lock(&primary->lock);
    if (!atomic_load(&primary->ctx.is_active)) {
        result = crt_start_workers();
        if (result == CRT_SUCCESS)
            start_context(&primary->ctx);
    }
    if (result == CRT_SUCCESS) {
        primary->ctx.retain_count++;
        *ctx = &primary->ctx;
    }
    pthread_mutex_unlock(&primary->lock);
    return result;
}

enum crt_result crt_primary_release(struct crt_device *device)
{
    enum crt_result result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (crt_is_exiting())
        return CRT_SUCCESS;
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    struct primary *primary = primary_of(device);
    pthread_mutex_lock(&primary->lock);
    if (primary->ctx.retain_count == 0)
        result = CRT_INVALID_CONTEXT;
    else if (--primary->ctx.retain_count == 0)
        stop_context(&primary->ctx);
    pthread_mutex_unlock(&primary->lock);
    return result;
}

enum crt_result crt_primary_reset(struct crt_device *device)
{
    enum crt_result result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    struct primary *primary = primary_of(device);
    pthread_mutex_lock(&primary->lock);
    if (atomic_load(&primary->ctx.is_active))
        stop_context(&primary->ctx);
    primary->ctx.retain_count = 0;
    pthread_mutex_unlock(&primary->lock);
    return CRT_SUCCESS;
}

enum crt_result crt_context_create(struct crt_device *device, unsigned flags,
                                   struct crt_context **ctx)
{
    if (!crt_context_flags_are_valid(flags))
        return CRT_INVALID_VALUE;
    enum crt_result result = crt_start_workers();
    if (result != CRT_SUCCESS)
        return result;
    if (!reserve_entry())
        return CRT_OUT_OF_MEMORY;
    struct crt_context *created = crt_object_create(CRT_KIND_CONTEXT, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    pthread_mutex_init(&created->lock, NULL);
    pthread_mutex_init(&created->storage_lock, NULL);
    crt_busy_init(&created->busy);
    created->device = device;
    atomic_store(&created->flags, flags);
    start_context(created);
    atomic_store(&created->serial, created->id);
    push_entry(created);
    *ctx = created;
    return CRT_SUCCESS;
}

enum crt_result crt_context_destroy(struct crt_context *ctx)
{
    if (!crt_context_is_valid(ctx) || ctx->is_primary)
        return CRT_INVALID_CONTEXT;
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    if (atomic_exchange(&ctx->is_ending, true))
        return CRT_INVALID_CONTEXT;
    stop_context(ctx);
    if (crt_context_get_current() == ctx)
        pop_entry();
    pthread_mutex_destroy(&ctx->lock);
    pthread_mutex_destroy(&ctx->storage_lock);
    crt_busy_fini(&ctx->busy);
    crt_object_destroy(CRT_KIND_CONTEXT, ctx);
    return CRT_SUCCESS;
}

/* At most one way of waiting is chosen: spin, yield or block. */
bool crt_context_flags_are_valid(unsigned flags)
{
    unsigned waiting = flags & CONTEXT_WAITING_FLAGS;
    return !(flags & ~CONTEXT_FLAGS) && !(waiting & (waiting - 1));
}

static bool is_primary_handle(const struct crt_context *ctx)
{
    size_t offset = (uintptr_t)ctx - (uintptr_t)&primaries.of[0].ctx;
    return offset < sizeof primaries.of && offset % sizeof primaries.of[0] == 0;
}

bool crt_context_is_valid(const struct crt_context *ctx)
{
    return is_primary_handle(ctx) || crt_object_is(ctx, CRT_KIND_CONTEXT);
}

enum crt_result crt_context_push(struct crt_context *handle)
{
    if (!crt_context_is_valid(crt_context_behind(handle)))
        return CRT_INVALID_CONTEXT;
    if (!reserve_entry())
        return CRT_OUT_OF_MEMORY;
    push_entry(handle);
    return CRT_SUCCESS;
}

enum crt_result crt_context_pop(struct crt_context **handle)
{
    struct crt_context *top = crt_context_get_handle();
    if (!top)
        return CRT_INVALID_CONTEXT;
    pop_entry();
    if (handle)
        *handle = top;
    return CRT_SUCCESS;
}

enum crt_result crt_context_set_current(struct crt_context *handle)
{
    if (handle && !crt_context_is_valid(crt_context_behind(handle)))
        return CRT_INVALID_CONTEXT;
    struct entry *top = top_entry();
    if (!handle && top)
        pop_entry();
    else if (handle && top)
        set_entry(top, handle);
    else if (handle)
        push_entry(handle);
    return CRT_SUCCESS;
}

struct crt_context *crt_context_get_current(void)
{
    const struct entry *top = top_entry();
    return top ? top->ctx : NULL;
}

struct crt_green *crt_green_current(void)
{
    const struct entry *top = top_entry();
    return top && crt_green_is_valid(top->green) ? top->green : NULL;
}

struct crt_context *crt_context_get_handle(void)
{
    const struct entry *top = top_entry();
    return top && top->green ? (struct crt_context *)top->green : crt_context_get_current();
}

static bool is_alive(const struct entry *entry)
{
    return crt_context_is_valid(entry->ctx) &&
           (!entry->green || crt_green_is_valid(entry->green)) &&
           serial_of(entry->ctx, entry->green) == entry->serial &&
           atomic_load_explicit(&entry->ctx->is_active, memory_order_acquire);
}

enum crt_result crt_context_missing(void)
{
    return sch_on_pool_thread() ? CRT_NOT_PERMITTED : CRT_INVALID_CONTEXT;
}

/* The current context if it lives, whatever its errors. */
static enum crt_result require_alive(struct crt_context **ctx)
{
    enum crt_result result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    const struct entry *top = top_entry();
    if (!top)
        return crt_context_missing();
    if (!is_alive(top))
        return CRT_CONTEXT_IS_DESTROYED;
    *ctx = top->ctx;
    return CRT_SUCCESS;
}

/* The program gets to know of the error that its kernels have left. */
static enum crt_result tell_sticky(const struct crt_context *ctx)
{
    enum crt_result sticky = crt_context_sticky(ctx);
    if (sticky != CRT_SUCCESS)
        crt_api_fault_told();
    return sticky;
}

enum crt_result crt_context_require(struct crt_context **ctx)
{
    enum crt_result result = require_alive(ctx);
    return result == CRT_SUCCESS ? tell_sticky(*ctx) : result;
}

static enum crt_result wait_for(struct crt_context *ctx, struct crt_green *green)
{
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    struct sch_op *join = crt_stream_join_all(ctx, green);
    if (!join)
        return CRT_OUT_OF_MEMORY;
    sch_op_submit(join);
    sch_op_wait(join);
    sch_op_release(join);
    crt_context_waited();
    return crt_context_outcome(ctx);
}

enum crt_result crt_context_wait(struct crt_context *ctx)
{
    return wait_for(ctx, NULL);
}

enum crt_result crt_context_synchronize(struct crt_context *ctx, struct crt_green *green)
{
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    enum crt_result result = crt_capture_check_context(ctx, green);
    return result == CRT_SUCCESS ? wait_for(ctx, green) : result;
}

static bool is_lack(enum crt_result result)
{
    return result == CRT_OUT_OF_MEMORY || result == CRT_LAUNCH_OUT_OF_RESOURCES;
}

bool crt_context_may_report(struct crt_context *ctx, enum crt_result result)
{
    return crt_context_sticky(ctx) == CRT_SUCCESS &&
           (is_lack(result) || !atomic_exchange(&ctx->is_reported, true));
}

void crt_context_poison(struct crt_context *ctx, enum crt_result result)
{
    int none = CRT_SUCCESS;
    atomic_compare_exchange_strong(is_lack(result) ? &ctx->lack : &ctx->sticky, &none, (int)result);
    crt_api_fault((uint32_t)result);
}

enum crt_result crt_context_outcome(struct crt_context *ctx)
{
    enum crt_result sticky = tell_sticky(ctx);
    if (sticky != CRT_SUCCESS || !atomic_load_explicit(&ctx->lack, memory_order_acquire))
        return sticky;
    crt_api_fault_told();
    return (enum crt_result)atomic_exchange(&ctx->lack, CRT_SUCCESS);
}

void crt_context_catch_fault(struct crt_context *ctx, struct pxr_error *target)
{
    atomic_store(&ctx->fault_target, target);
    atomic_store(&ctx->sticky, CRT_SUCCESS);
    atomic_store(&ctx->is_reported, false);
}

void crt_context_report_fault(struct crt_context *ctx, const struct pxr_error *error)
{
    struct pxr_error *target = atomic_load(&ctx->fault_target);
    if (target)
        *target = *error;
    else
        pxr_log(PXR_LOG_ERROR, "%s", error->message);
}

/* The slot of peers with this id (0: a free one). ctx->lock is held. */
static uint64_t *find_peer(struct crt_context *ctx, uint64_t id)
{
    for (int i = 0; i < CRT_PEERS_MAX; i++)
        if (ctx->peers[i] == id)
            return &ctx->peers[i];
    return NULL;
}

enum crt_result crt_context_enable_peer(struct crt_context *ctx, const struct crt_context *peer)
{
    if (ctx->device == peer->device)
        return CRT_PEER_ACCESS_UNSUPPORTED;
    enum crt_result result = CRT_SUCCESS;
    pthread_mutex_lock(&ctx->lock);
    uint64_t *slot = find_peer(ctx, 0);
    if (find_peer(ctx, peer->id))
        result = CRT_PEER_ACCESS_ALREADY_ENABLED;
    else if (!slot)
        result = CRT_TOO_MANY_PEERS;
    else
        *slot = peer->id;
    pthread_mutex_unlock(&ctx->lock);
    return result;
}

enum crt_result crt_context_disable_peer(struct crt_context *ctx, const struct crt_context *peer)
{
    pthread_mutex_lock(&ctx->lock);
    uint64_t *slot = find_peer(ctx, peer->id);
    if (slot)
        *slot = 0;
    pthread_mutex_unlock(&ctx->lock);
    return slot ? CRT_SUCCESS : CRT_PEER_ACCESS_NOT_ENABLED;
}
