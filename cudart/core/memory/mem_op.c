/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory operations of streams.
 *
 * No worker waits for a value. Operations that belong together are a batch, which is advanced as
 * far as possible when its stream gets there; when a condition does not hold yet, the batch goes to
 * one thread that looks at all such values again and again, the more seldom the longer nothing has
 * happened. Later operations of the stream depend on a marker that is submitted when the batch is
 * done.
 *
 * Memory may go while a batch waits for it: the program unregisters or unmaps it, or another
 * context frees it. That is an illegal address, as on a device.
 */
#include "cudart/core/memory/mem_op.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "cudart/core/base/process.h"
#include "cudart/core/memory/memory.h"
#include "cudart/core/memory/written.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/work.h"
#include "scheduler/scheduler.h"
#include "util/protection_key.h"

/* Between two looks at values that do not change. */
#define SHORTEST_PAUSE_NS UINT64_C(10000)
#define LONGEST_PAUSE_NS  UINT64_C(1000000)
#define NS_PER_S          UINT64_C(1000000000)

struct batch {
    struct crt_context *ctx;
    struct sch_op *last; /* submitted when the batch is through */
    struct batch *next_waiting;
    size_t next; /* operation */
    size_t count;
    struct crt_mem_op ops[];
};

/* The thread that looks. is_woken: batches have arrived, or something was written that a batch may
 * wait for. */
static struct {
    pthread_mutex_t lock; /* of everything but waiting_count */
    pthread_cond_t wake;
    bool has_thread;
    bool is_woken;
    struct batch *arrived;
    atomic_size_t waiting_count; /* batches that the thread has or will get */
} waiter = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* ---- one operation ---- */

static bool is_wait(enum crt_mem_op_kind kind)
{
    return kind == CRT_MEM_OP_WAIT_32 || kind == CRT_MEM_OP_WAIT_64 ||
           kind == CRT_MEM_OP_TAKE_EVENT;
}

static bool is_wide(enum crt_mem_op_kind kind)
{
    return kind == CRT_MEM_OP_WAIT_64 || kind == CRT_MEM_OP_WRITE_64;
}

static enum crt_result check_address(uintptr_t address, size_t bytes)
{
    struct crt_allocation allocation;
    if (!address || address % bytes || !crt_memory_find(address, &allocation))
        return CRT_INVALID_VALUE;
    bool fits = bytes <= allocation.size_bytes - (address - allocation.base);
    return fits && allocation.kind != CRT_MEMORY_MANAGED ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

enum crt_result crt_mem_op_check(const struct crt_mem_op *op)
{
    switch (op->kind) {
    case CRT_MEM_OP_WAIT_32:
    case CRT_MEM_OP_WAIT_64:
        if ((op->flags & ~CRT_WAIT_FLUSH) >= CRT_WAIT_CONDITION_COUNT)
            return CRT_INVALID_VALUE;
        break;
    case CRT_MEM_OP_WRITE_32:
    case CRT_MEM_OP_WRITE_64:
        if (op->flags & ~CRT_WRITE_NO_BARRIER)
            return CRT_INVALID_VALUE;
        break;
    case CRT_MEM_OP_FLUSH:
        return op->flags ? CRT_INVALID_VALUE : CRT_SUCCESS;
    case CRT_MEM_OP_BARRIER: /* of the system or of the device */
        return op->flags > 1 ? CRT_INVALID_VALUE : CRT_SUCCESS;
    default:
        return CRT_INVALID_VALUE;
    }
    return check_address(op->address, is_wide(op->kind) ? sizeof(uint64_t) : sizeof(uint32_t));
}

/* Of words of so many bits, in the low bits. */
static bool holds(uint64_t have, uint64_t value, unsigned condition, unsigned bits)
{
    unsigned above = 64 - bits;
    switch (condition) {
    case CRT_WAIT_GREATER_EQUAL:
        return (int64_t)((have - value) << above) >= 0;
    case CRT_WAIT_EQUAL:
        return have == value;
    case CRT_WAIT_AND:
        return (have & value) != 0;
    default:
        return ~(have | value) << above != 0;
    }
}

/* Acquire: code after the wait sees all that was written before the value. */
static bool is_satisfied(const struct crt_mem_op *op)
{
    unsigned condition = op->flags & ~CRT_WAIT_FLUSH;
    if (!is_wide(op->kind)) {
        const _Atomic(uint32_t) *place = (const _Atomic(uint32_t) *)op->address;
        return holds(atomic_load_explicit(place, memory_order_acquire), (uint32_t)op->value,
                     condition, 32);
    }
    const _Atomic(uint64_t) *place = (const _Atomic(uint64_t) *)op->address;
    return holds(atomic_load_explicit(place, memory_order_acquire), op->value, condition, 64);
}

static void wake_waiter(void)
{
    pthread_mutex_lock(&waiter.lock);
    waiter.is_woken = true;
    pthread_cond_signal(&waiter.wake);
    pthread_mutex_unlock(&waiter.lock);
}

/* A write comes after the stream's earlier work, as if with __threadfence_system() between. */
static void write_value(const struct crt_mem_op *op)
{
    crt_written_set(op->address, is_wide(op->kind) ? sizeof(uint64_t) : sizeof(uint32_t));
    if (is_wide(op->kind))
        atomic_store((_Atomic(uint64_t) *)op->address, op->value);
    else
        atomic_store((_Atomic(uint32_t) *)op->address, (uint32_t)op->value);
}

struct access {
    const struct crt_mem_op *op;
    bool is_satisfied; /* of a wait */
};

/* Fails here if it fails: within a sanitizer's own atomic operations it must not. */
__attribute__((no_sanitize("thread", "address"))) static void probe(uintptr_t address)
{
    (void)*(const volatile uint8_t *)address;
}

static void touch(void *arg)
{
    struct access *access = arg;
    probe(access->op->address);
    if (is_wait(access->op->kind))
        access->is_satisfied = is_satisfied(access->op);
    else
        write_value(access->op);
}

static void report_missing(struct crt_context *ctx, const struct crt_mem_op *op)
{
    struct pxr_error error;
    pxr_fail(&error, PXR_FAULT_ADDRESS,
             "a stream %s the value at %#llx, where no memory is any more: it was freed or "
             "unregistered too early",
             is_wait(op->kind) ? "waits for" : "writes", (unsigned long long)op->address);
    if (crt_context_may_report(ctx, CRT_ILLEGAL_ADDRESS))
        crt_context_report_fault(ctx, &error);
    crt_context_poison(ctx, CRT_ILLEGAL_ADDRESS);
}

/* Others may take from an eventfd, too: a plain read could then wait. */
static bool take_event(int event)
{
    uint64_t taken;
    struct iovec place = {&taken, sizeof taken};
    return preadv2(event, &place, 1, -1, RWF_NOWAIT) == (ssize_t)sizeof taken;
}

static void give_event(int event)
{
    const uint64_t one = 1;
    while (write(event, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* Does a write, or checks whether a wait is over: true when the batch can go on. The memory of a
 * pool may be freed after the operation was submitted, but it exists until a stream gets to it. */
static bool do_access(struct crt_context *ctx, const struct crt_mem_op *op)
{
    struct crt_allocation allocation;
    struct access access = {.op = op};
    if (!crt_arena_find(op->address, &allocation) || !sch_try(touch, &access)) {
        report_missing(ctx, op);
        return true;
    }
    if (is_wait(op->kind))
        return access.is_satisfied;
    if (atomic_load_explicit(&waiter.waiting_count, memory_order_relaxed))
        wake_waiter();
    return true;
}

/* ---- batches ---- */

/* Goes on until a condition does not hold; true when the batch is done. In a context with a fatal
 * error the rest is left out. */
static bool advance(struct batch *batch)
{
    for (; batch->next < batch->count; batch->next++) {
        const struct crt_mem_op *op = &batch->ops[batch->next];
        if (crt_context_sticky(batch->ctx) != CRT_SUCCESS)
            return true;
        if (op->kind == CRT_MEM_OP_FLUSH || op->kind == CRT_MEM_OP_BARRIER)
            atomic_thread_fence(memory_order_seq_cst);
        else if (op->kind == CRT_MEM_OP_GIVE_EVENT)
            give_event((int)op->value);
        else if (op->kind == CRT_MEM_OP_TAKE_EVENT ? !take_event((int)op->value)
                                                   : !do_access(batch->ctx, op))
            return false;
    }
    return true;
}

/* No lock may be held: this starts whatever waits for the batch. */
static void finish(struct batch *batch)
{
    struct sch_op *last = batch->last;
    free(batch);
    sch_op_follow_all(last); /* others have written what it has waited for */
    sch_op_submit(last);
    sch_op_release(last);
}

/* The stream has come to the batch. */
static void begin(void *arg, const struct sch_fault *fault)
{
    (void)fault;
    struct batch *batch = arg;
    if (advance(batch)) {
        finish(batch);
        return;
    }
    atomic_fetch_add_explicit(&waiter.waiting_count, 1, memory_order_relaxed);
    pthread_mutex_lock(&waiter.lock);
    batch->next_waiting = waiter.arrived;
    waiter.arrived = batch;
    waiter.is_woken = true;
    pthread_cond_signal(&waiter.wake);
    pthread_mutex_unlock(&waiter.lock);
}

/* ---- the thread ---- */

/* Finishes the batches that can go on; whether any could. */
static bool look_at(struct batch **link)
{
    bool has_finished = false;
    while (*link) {
        struct batch *batch = *link;
        size_t before = batch->next;
        if (!advance(batch)) {
            has_finished = has_finished || batch->next != before;
            link = &batch->next_waiting;
            continue;
        }
        *link = batch->next_waiting;
        atomic_fetch_sub_explicit(&waiter.waiting_count, 1, memory_order_relaxed);
        finish(batch);
        has_finished = true;
    }
    return has_finished;
}

/* Sleeps until woken or, unless pause_ns is 0, for that long; takes the operations that have
 * arrived. */
static struct batch *sleep_for(uint64_t pause_ns)
{
    uint64_t end_ns = crt_now_ns() + pause_ns;
    struct timespec end = {.tv_sec = (time_t)(end_ns / NS_PER_S),
                           .tv_nsec = (long)(end_ns % NS_PER_S)};
    int rc = 0;
    pthread_mutex_lock(&waiter.lock);
    while (!waiter.is_woken && rc == 0) {
        if (pause_ns)
            rc = pthread_cond_clockwait(&waiter.wake, &waiter.lock, CLOCK_MONOTONIC, &end);
        else
            pthread_cond_wait(&waiter.wake, &waiter.lock);
    }
    struct batch *arrived = waiter.arrived;
    waiter.arrived = NULL;
    waiter.is_woken = false;
    pthread_mutex_unlock(&waiter.lock);
    return arrived;
}

static void *look_for_ever(void *arg)
{
    (void)arg;
    struct batch *waiting = NULL;
    uint64_t pause_ns = 0;
    pxr_key_hold(true);
    for (;;) {
        struct batch *arrived = sleep_for(pause_ns);
        bool has_changed = arrived != NULL;
        while (arrived) {
            struct batch *next = arrived->next_waiting;
            arrived->next_waiting = waiting;
            waiting = arrived;
            arrived = next;
        }
        has_changed = look_at(&waiting) || has_changed;
        if (!waiting)
            pause_ns = 0;
        else if (has_changed || pause_ns == 0)
            pause_ns = SHORTEST_PAUSE_NS;
        else if (pause_ns < LONGEST_PAUSE_NS)
            pause_ns *= 2;
    }
    return NULL;
}

/* Starts the thread if it does not run; the program's signals are not for it, but faults of its own
 * are. */
static enum crt_result start_thread_locked(void)
{
    if (waiter.has_thread)
        return CRT_SUCCESS;
    sigset_t all;
    sigset_t before;
    pthread_t thread;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, NULL, look_for_ever, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return CRT_OUT_OF_MEMORY;
    pthread_setname_np(thread, "ptxrun-waiter");
    pthread_detach(thread);
    waiter.has_thread = true;
    return CRT_SUCCESS;
}

static enum crt_result start_thread(void)
{
    pthread_mutex_lock(&waiter.lock);
    enum crt_result result = start_thread_locked();
    pthread_mutex_unlock(&waiter.lock);
    return result;
}

/* ---- submitting ---- */

static bool has_wait(const struct crt_mem_op *ops, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_wait(ops[i].kind))
            return true;
    return false;
}

static enum crt_result create_batch(struct crt_context *ctx, const struct crt_mem_op *ops,
                                    size_t count, struct batch **created, struct sch_op **first)
{
    enum crt_result result = has_wait(ops, count) ? start_thread() : CRT_SUCCESS;
    if (result != CRT_SUCCESS)
        return result;
    sch_fault_handler_check(); /* as before a launch: the program may have put its own there */
    struct batch *batch = malloc(sizeof *batch + count * sizeof ops[0]);
    if (!batch)
        return CRT_OUT_OF_MEMORY;
    *batch = (struct batch){.ctx = ctx, .count = count};
    memcpy(batch->ops, ops, count * sizeof ops[0]);
    batch->last = sch_op_marker(NULL, NULL);
    *first = batch->last ? sch_op_marker(begin, batch) : NULL;
    if (*first) {
        *created = batch;
        return CRT_SUCCESS;
    }
    sch_op_release(batch->last);
    free(batch);
    return CRT_OUT_OF_MEMORY;
}

enum crt_result crt_mem_ops_span(struct crt_context *ctx, const struct crt_mem_op *ops,
                                 size_t count, struct sch_op **first, struct sch_op **last)
{
    struct batch *batch;
    enum crt_result result = create_batch(ctx, ops, count, &batch, first);
    if (result == CRT_SUCCESS)
        *last = sch_op_retain(batch->last);
    return result;
}

enum crt_result crt_work_mem_ops(const struct crt_mem_op *ops, size_t count, unsigned flags,
                                 struct crt_work *work)
{
    struct crt_mem_op *copy = calloc(count + 1, sizeof *copy);
    if (!copy)
        return CRT_OUT_OF_MEMORY;
    if (count)
        memcpy(copy, ops, count * sizeof *copy);
    *work = (struct crt_work){.kind = CRT_NODE_MEM_OPS,
                              .mem_ops = {.ops = copy, .count = count, .flags = flags}};
    return CRT_SUCCESS;
}

enum crt_result crt_stream_mem_ops(struct crt_stream *stream, const struct crt_mem_op *ops,
                                   size_t count)
{
    enum crt_result result;
    if (stream->captured.capture) {
        struct crt_work work;
        result = crt_work_mem_ops(ops, count, 0, &work);
        return result == CRT_SUCCESS ? crt_capture_add(stream, &work) : result;
    }
    struct batch *batch;
    struct sch_op *first;
    result = create_batch(stream->ctx, ops, count, &batch, &first);
    if (result != CRT_SUCCESS)
        return result;
    result = crt_stream_append_span(stream, first, batch->last);
    if (result == CRT_SUCCESS) {
        sch_op_submit(first);
    } else {
        sch_op_release(batch->last);
        free(batch);
    }
    sch_op_release(first);
    return result;
}
