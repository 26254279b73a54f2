/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph of operations: construction, dependencies, finishing, waiting. Lock-free: an
 * operation's successors are a stack that is closed when it finishes, and whoever removes an
 * operation's last pending dependency starts it.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "scheduler/worker_pool.h"

enum { SCH_STATE_PENDING, SCH_STATE_AWAITED, SCH_STATE_DONE };

/* Waking up takes up to 50 us. Used only where a CPU has nothing else to do. */
#define WAIT_SPIN_NS 100000

/* Whoever waits looks after blocks that run for long, first after so long, then ever more rarely.
 */
#define LOOK_MIN_NS 4000000
#define LOOK_MAX_NS 64000000

static struct sch_edge closed_edge;
#define CLOSED (&closed_edge)

/* Operations that finished on this thread while the end of another was being announced: a chain of
 * markers of any length must not recurse. And those that became ready meanwhile: the pool gets them
 * all at once. */
struct drain {
    bool is_active;
    bool is_finishing; /* a done function runs */
    struct sch_op_queue markers;
    struct sch_op_queue ready;
};

static SCH_THREAD_LOCAL struct drain drain;

uint64_t sch_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void sch_queue_push(struct sch_op_queue *queue, struct sch_op *op)
{
    op->next = NULL;
    if (queue->tail)
        queue->tail->next = op;
    else
        queue->head = op;
    queue->tail = op;
}

struct sch_op *sch_queue_pop(struct sch_op_queue *queue)
{
    struct sch_op *op = queue->head;
    if (op) {
        queue->head = op->next;
        if (!queue->head)
            queue->tail = NULL;
    }
    return op;
}

static void op_init(struct sch_op *op, enum sch_op_kind kind, sch_task_fn run, sch_done_fn done,
                    void *arg)
{
    op->kind = kind;
    op->run = run;
    op->done = done;
    op->arg = arg;
    atomic_init(&op->refs, 1);
    atomic_init(&op->state, SCH_STATE_PENDING);
    atomic_init(&op->pending, 1);
    atomic_init(&op->finish_ns, 0);
    atomic_init(&op->successors, NULL);
    op->past = NULL;
}

static struct sch_op *op_create(enum sch_op_kind kind, sch_task_fn run, sch_done_fn done, void *arg)
{
    if (!sch_pool_ready())
        return NULL;
    struct sch_op *op = malloc(sizeof *op);
    if (!op)
        return NULL;
    op->memory = op;
    op->next = NULL;
    op_init(op, kind, run, done, arg);
    return op;
}

struct sch_op *sch_op_task(sch_task_fn run, sch_done_fn done, void *arg)
{
    return op_create(SCH_OP_TASK, run, done, arg);
}

struct sch_op *sch_op_host(sch_task_fn run, sch_done_fn done, void *arg)
{
    return op_create(SCH_OP_HOST, run, done, arg);
}

struct sch_op *sch_op_marker(sch_done_fn done, void *arg)
{
    return op_create(SCH_OP_MARKER, NULL, done, arg);
}

struct sch_op *sch_op_grid(const struct sch_grid *grid, sch_done_fn done, void *arg)
{
    if (!sch_pool_ready())
        return NULL;
    /* aligned_alloc takes ten times as long as malloc. */
    void *memory = malloc(sizeof(struct sch_grid_op) + SCH_CACHE_LINE);
    if (!memory)
        return NULL;
    uintptr_t aligned = ((uintptr_t)memory + SCH_CACHE_LINE - 1) & ~(uintptr_t)(SCH_CACHE_LINE - 1);
    struct sch_grid_op *op = (struct sch_grid_op *)aligned;
    op->op.memory = memory;
    op->op.next = NULL;
    op->grid = *grid;
    sch_limit_watch(grid);
    op_init(&op->op, SCH_OP_GRID, NULL, done, arg);
    sch_grid_init(op);
    return &op->op;
}

struct sch_op *sch_op_retain(struct sch_op *op)
{
    if (op)
        atomic_fetch_add_explicit(&op->refs, 1, memory_order_relaxed);
    return op;
}

/* The holder of the only reference is alone with the operation. Acquire: also with the writes that
 * others made before they dropped theirs. */
static bool is_only_ours(const struct sch_op *op)
{
    return atomic_load_explicit(&op->refs, memory_order_acquire) == 1;
}

void sch_op_release(struct sch_op *op)
{
    if (!op ||
        !(is_only_ours(op) || atomic_fetch_sub_explicit(&op->refs, 1, memory_order_acq_rel) == 1))
        return;
    if (op->kind == SCH_OP_GRID)
        sch_ranges_free(sch_grid_of(op)->ranges);
    sch_past_free(op->past);
    free(op->memory);
}

enum pxr_status sch_op_depend(struct sch_op *op, struct sch_op *dep)
{
    if (!dep)
        return PXR_OK;
    if (sch_op_is_done(dep)) {
        sch_past_depend(op, dep);
        return PXR_OK;
    }
    struct sch_edge *edge = malloc(sizeof *edge);
    if (!edge)
        return PXR_OUT_OF_MEMORY;
    edge->op = sch_op_retain(op);
    atomic_fetch_add_explicit(&op->pending, 1, memory_order_relaxed);
    edge->next = atomic_load_explicit(&dep->successors, memory_order_acquire);
    while (edge->next != CLOSED) {
        /* Release: pairs with the exchange that closes the stack. */
        if (atomic_compare_exchange_weak_explicit(&dep->successors, &edge->next, edge,
                                                  memory_order_acq_rel, memory_order_acquire))
            return PXR_OK;
    }
    atomic_fetch_sub_explicit(&op->pending, 1, memory_order_relaxed);
    free(edge);
    sch_past_depend(op, dep);
    sch_op_release(op);
    return PXR_OK;
}

/* One dependency less; true when it was the last one. */
static bool has_arrived(struct sch_op *op)
{
    return atomic_fetch_sub_explicit(&op->pending, 1, memory_order_acq_rel) == 1;
}

static void start(struct sch_op *op)
{
    sch_queue_push(op->kind == SCH_OP_MARKER ? &drain.markers : &drain.ready, op);
}

static void futex_wake_all(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void release_successors(struct sch_op *op)
{
    struct sch_edge *edge = atomic_exchange_explicit(&op->successors, CLOSED, memory_order_acq_rel);
    /* The stack holds the last one first; start them in the order in which they were added. */
    struct sch_edge *first = NULL;
    while (edge) {
        struct sch_edge *next = edge->next;
        edge->next = first;
        first = edge;
        edge = next;
    }
    while (first) {
        struct sch_edge *next = first->next;
        sch_past_depend(first->op, op);
        if (has_arrived(first->op))
            start(first->op);
        sch_op_release(first->op);
        free(first);
        first = next;
    }
}

static _Thread_local uint64_t finishing_ns;

uint64_t sch_finishing_ns(void)
{
    return finishing_ns;
}

static void call_done(struct sch_op *op, const struct sch_fault *fault, uint64_t now_ns)
{
    atomic_store_explicit(&op->finish_ns, now_ns, memory_order_relaxed);
    finishing_ns = now_ns;
    bool was_finishing = drain.is_finishing;
    drain.is_finishing = true;
    if (op->done)
        op->done(op->arg, fault);
    drain.is_finishing = was_finishing;
    sch_past_finish();
}

static void op_complete(struct sch_op *op, const struct sch_fault *fault, uint64_t now_ns)
{
    call_done(op, fault, now_ns);
    /* Release: a thread that sees DONE also sees the writes of the operation and of `done`. */
    if (atomic_exchange_explicit(&op->state, SCH_STATE_DONE, memory_order_acq_rel) ==
        SCH_STATE_AWAITED)
        futex_wake_all(&op->state);
    release_successors(op);
}

static void drain_all(void)
{
    if (drain.is_active)
        return;
    drain.is_active = true;
    struct sch_op *op;
    while ((op = sch_queue_pop(&drain.markers))) {
        op_complete(op, NULL, sch_now_ns());
        sch_op_release(op);
    }
    drain.is_active = false;
    struct sch_op_queue ready = drain.ready;
    drain.ready = (struct sch_op_queue){0};
    if (ready.head)
        sch_pool_enqueue_all(&ready);
}

void sch_op_finish_private(struct sch_op *op, uint64_t now_ns)
{
    call_done(op, NULL, now_ns);
    atomic_store_explicit(&op->successors, CLOSED, memory_order_relaxed);
    atomic_store_explicit(&op->state, SCH_STATE_DONE, memory_order_release);
}

void sch_op_finish_at(struct sch_op *op, const struct sch_fault *fault, uint64_t now_ns)
{
    op_complete(op, fault, now_ns);
    drain_all();
}

void sch_op_finish(struct sch_op *op, const struct sch_fault *fault)
{
    sch_op_finish_at(op, fault, sch_now_ns());
    sch_op_release(op);
}

/* Dependencies can only become fewer. Acquire: as the last one to arrive. */
bool sch_op_is_free(const struct sch_op *op)
{
    return atomic_load_explicit(&op->pending, memory_order_acquire) == 1;
}

void sch_op_submit(struct sch_op *op)
{
    if (sch_pool_is_forked())
        return;
    if (sch_pasts_are_kept())
        sch_past_submit(op, drain.is_finishing || sch_on_pool_thread());
    bool is_free = sch_op_is_free(op);
    if (is_free && op->kind == SCH_OP_GRID && sch_guest_run(sch_grid_of(op), SCH_GUEST_ANY))
        return;
    sch_op_retain(op);
    if (!is_free && !has_arrived(op))
        return;
    start(op);
    drain_all();
}

bool sch_op_try(struct sch_op *op)
{
    if (sch_pasts_are_kept())
        sch_past_submit(op, false);
    return op->kind == SCH_OP_GRID && !sch_pool_is_forked() && sch_op_is_free(op) &&
           sch_guest_run(sch_grid_of(op), SCH_GUEST_TINY);
}

bool sch_op_is_done(const struct sch_op *op)
{
    return atomic_load_explicit(&op->state, memory_order_acquire) == SCH_STATE_DONE;
}

uint64_t sch_op_finish_ns(const struct sch_op *op)
{
    return sch_op_is_done(op) ? atomic_load_explicit(&op->finish_ns, memory_order_relaxed) : 0;
}

static bool spin_for(struct sch_op *op, uint64_t spin_ns)
{
    uint64_t end_ns = sch_now_ns() + spin_ns;
    while (sch_pool_leaves_cpu() && sch_now_ns() < end_ns) {
        for (int i = 0; i < 16; i++) {
            if (sch_op_is_done(op))
                return true;
            sch_cpu_pause();
        }
    }
    return false;
}

static void wait_until_done(struct sch_op *op)
{
    if (sch_op_is_done(op) || sch_pool_is_forked())
        return;
    if (spin_for(op, WAIT_SPIN_NS))
        return;
    long look_ns = LOOK_MIN_NS;
    for (;;) {
        unsigned state = SCH_STATE_PENDING;
        atomic_compare_exchange_strong_explicit(&op->state, &state, SCH_STATE_AWAITED,
                                                memory_order_acquire, memory_order_acquire);
        if (state == SCH_STATE_DONE)
            return;
        const struct timespec timeout = {.tv_nsec = look_ns};
        if (syscall(SYS_futex, &op->state, FUTEX_WAIT_PRIVATE, SCH_STATE_AWAITED, &timeout, NULL,
                    0) == 0 ||
            errno != ETIMEDOUT)
            continue;
        sch_look_out();
        look_ns += look_ns < LOOK_MAX_NS ? look_ns / 2 : 0;
    }
}

void sch_op_wait(struct sch_op *op)
{
    wait_until_done(op);
    sch_host_learn(op);
}
