/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool: the workers, the work that is ready for them, and the thread for host functions.
 * Threads are detached and live until the process ends; nothing here runs at exit.
 */
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scheduler/handlers.h"
#include "scheduler/worker_pool.h"
#include "util/protection_key.h"

#define WORKERS_MAX        1024
#define NS_PER_S           1000000000u
#define WORKER_STACK_BYTES ((size_t)1024 * 1024)

/* The one pool of the process. */
struct pool {
    pthread_mutex_t start_lock; /* of starting */
    atomic_bool is_started;
    atomic_bool is_forked;
    unsigned worker_count;  /* constant once started, as the next ones are */
    unsigned planned_count; /* of workers, before they are started */
    unsigned group_count;
    unsigned group_workers[SCH_GROUPS_MAX];
    unsigned part_of[SCH_GROUPS_MAX];
    cpu_set_t cpus[SCH_GROUPS_MAX]; /* where there are several parts */
    unsigned part_count;
    bool may_spin;  /* constant once started, as … */
    bool has_spare; /* … whether there are more CPUs than workers */
    struct sch_worker *workers;

    pthread_mutex_t lock; /* of the lists; held from a look at `epoch` until asleep */
    pthread_cond_t wake;
    pthread_cond_t wake_last; /* the last worker, which is called when the others are awake */
    struct sch_op_queue tasks;
    struct sch_op_queue grids; /* with unclaimed blocks: by priority, then whose turn is next */
    atomic_uint grid_count;    /* of `grids` */
    struct sch_op_queue begun; /* grids with a watch all of whose blocks have been claimed; some may
                                  have ended */
    _Alignas(SCH_CACHE_LINE) atomic_uint epoch; /* changes whenever work has been added */
    atomic_uint sleepers;
    bool last_sleeps;    /* lock: lock */
    atomic_uint lookers; /* workers that wait for the epoch to change, awake */
    atomic_uint busy;    /* workers that have taken work which has not ended */
    atomic_uint left_cpus;

    _Alignas(SCH_CACHE_LINE) pthread_mutex_t host_lock; /* of host_ops */
    pthread_cond_t host_wake;
    struct sch_op_queue host_ops;

    _Atomic(uint64_t) chaos; /* the seed, and above it how often one has been set */
};

static struct pool pool = {
    .start_lock = PTHREAD_MUTEX_INITIALIZER,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
    .wake_last = PTHREAD_COND_INITIALIZER,
    .host_lock = PTHREAD_MUTEX_INITIALIZER,
    .host_wake = PTHREAD_COND_INITIALIZER,
};

static SCH_THREAD_LOCAL bool is_host_thread;

bool sch_pool_is_forked(void)
{
    return atomic_load_explicit(&pool.is_forked, memory_order_relaxed);
}

bool sch_pool_may_spin(void)
{
    return pool.may_spin;
}

bool sch_pool_leaves_cpu(void)
{
    return pool.may_spin && (pool.has_spare || sch_pool_sleepers() > 0);
}

unsigned sch_pool_sleepers(void)
{
    return atomic_load_explicit(&pool.sleepers, memory_order_relaxed);
}

unsigned sch_pool_lookers(void)
{
    return atomic_load_explicit(&pool.lookers, memory_order_relaxed);
}

struct sch_worker *sch_pool_worker(unsigned index)
{
    return &pool.workers[index];
}

unsigned sch_pool_left_cpus(void)
{
    return pool.has_spare ? 0 : atomic_load_explicit(&pool.left_cpus, memory_order_relaxed);
}

/* The last ones of each group, but not the first. */
bool sch_pool_is_aside(const struct sch_worker *worker)
{
    return worker->group_index > 0 &&
           worker->group_index + sch_pool_left_cpus() >= pool.group_workers[worker->group];
}

unsigned sch_pool_epoch(void)
{
    return atomic_load_explicit(&pool.epoch, memory_order_relaxed);
}

unsigned sch_worker_count(void)
{
    return atomic_load_explicit(&pool.is_started, memory_order_acquire) ? pool.worker_count : 0;
}

unsigned sch_group_workers(unsigned group)
{
    return group < SCH_GROUPS_MAX ? pool.group_workers[group] : 0;
}

bool sch_on_pool_thread(void)
{
    return sch_this_worker != NULL || is_host_thread;
}

void sch_set_chaos(unsigned seed)
{
    uint64_t turn = (atomic_load_explicit(&pool.chaos, memory_order_relaxed) >> 32) + 1;
    atomic_store_explicit(&pool.chaos, turn << 32 | seed, memory_order_relaxed);
}

uint64_t sch_chaos_turn(void)
{
    return atomic_load_explicit(&pool.chaos, memory_order_relaxed);
}

unsigned sch_chaos_seed(void)
{
    return (unsigned)sch_chaos_turn();
}

/* ---- work ---- */

static void enqueue_host(struct sch_op *op)
{
    pthread_mutex_lock(&pool.host_lock);
    sch_queue_push(&pool.host_ops, op);
    pthread_cond_signal(&pool.host_wake);
    pthread_mutex_unlock(&pool.host_lock);
}

/* How many workers should share a grid; all if the time of its blocks is not known. */
static uint64_t wanted_workers(const struct sch_grid_op *grid)
{
    uint64_t block_ns = sch_pace(&sch_grid_fit(grid)->code);
    if (block_ns == 0 || grid->block_count > UINT32_MAX)
        return grid->block_count;
    uint64_t wanted = 1 + grid->block_count * block_ns / SCH_WORTH_WAKING_NS;
    return wanted < grid->block_count ? wanted : grid->block_count;
}

/* Announces new work to the workers, and wakes sleeping ones unless enough are awake and looking;
 * all when only some may do it. Not with the lock held: workers that look would run into it. */
void sch_pool_call(uint64_t wanted)
{
    /* Sequentially consistent, like the counts: either a worker that goes to sleep sees the new
     * epoch, or it is counted here. */
    atomic_fetch_add(&pool.epoch, 1);
    unsigned sleepers = atomic_load(&pool.sleepers);
    unsigned lookers = atomic_load(&pool.lookers);
    uint64_t missing = wanted > lookers ? wanted - lookers : 0;
    if (pool.group_count > 1 || sch_pool_left_cpus() > 0)
        missing = sleepers;
    if (sleepers == 0 || missing == 0)
        return;
    pthread_mutex_lock(&pool.lock);
    unsigned others = sleepers - (pool.last_sleeps && sleepers > 0);
    if (missing >= others)
        pthread_cond_broadcast(&pool.wake);
    else
        for (uint64_t i = 0; i < missing; i++)
            pthread_cond_signal(&pool.wake);
    if (missing > others)
        pthread_cond_signal(&pool.wake_last);
    pthread_mutex_unlock(&pool.lock);
}

bool sch_has_idle_cpu(void)
{
    if (!atomic_load_explicit(&pool.is_started, memory_order_acquire))
        return sch_usable_cpus() > 1;
    unsigned busy = atomic_load_explicit(&pool.busy, memory_order_relaxed);
    return pool.may_spin && (pool.has_spare || busy + sch_pool_left_cpus() < pool.worker_count);
}

void sch_pool_note_busy(struct sch_worker *worker, bool is_busy)
{
    if (worker->is_busy == is_busy)
        return;
    worker->is_busy = is_busy;
    atomic_fetch_add_explicit(&pool.busy, is_busy ? 1 : -1u, memory_order_relaxed);
}

void sch_leave_cpus(unsigned count)
{
    if (count < atomic_exchange(&pool.left_cpus, count))
        sch_pool_call(pool.planned_count);
}

/* Puts a grid behind those of its priority, or before them. The lock is held. */
static void queue_grid(struct sch_op *op, bool goes_first)
{
    int priority = sch_grid_of(op)->grid.priority - goes_first;
    struct sch_op **link = &pool.grids.head;
    atomic_fetch_add_explicit(&pool.grid_count, 1, memory_order_relaxed);
    if (!*link || sch_grid_of(pool.grids.tail)->grid.priority <= priority) {
        sch_queue_push(&pool.grids, op);
        return;
    }
    while (sch_grid_of(*link)->grid.priority <= priority)
        link = &(*link)->next;
    op->next = *link;
    *link = op;
}

/* Moves work for workers to *work; returns how many of them should share it. Grids without blocks,
 * which no worker needs, go into *failed. */
static uint64_t sort_ready(struct sch_op_queue *ready, struct sch_op_queue *work,
                           struct sch_op_queue *failed)
{
    uint64_t wanted = 0;
    bool has_grid = false;
    struct sch_op *op;
    while ((op = sch_queue_pop(ready))) {
        struct sch_grid_op *grid = op->kind == SCH_OP_GRID ? sch_grid_of(op) : NULL;
        if (op->kind == SCH_OP_HOST) {
            enqueue_host(op);
        } else if (grid && grid->block_count == 0) {
            sch_queue_push(failed, op);
        } else {
            has_grid = has_grid || grid;
            wanted += grid ? wanted_workers(grid) : 1;
            if (grid)
                sch_grid_deal(grid);
            sch_queue_push(work, op);
        }
    }
    if (has_grid)
        sch_fault_handler_check();
    return wanted;
}

void sch_pool_enqueue_all(struct sch_op_queue *ready)
{
    struct sch_op_queue work = {0};
    struct sch_op_queue failed = {0};
    uint64_t wanted = sort_ready(ready, &work, &failed);
    struct sch_op *op;
    if (work.head) {
        pthread_mutex_lock(&pool.lock);
        while ((op = sch_queue_pop(&work))) {
            if (op->kind == SCH_OP_GRID)
                queue_grid(sch_op_retain(op), sch_grid_of(op)->grid.goes_first);
            else
                sch_queue_push(&pool.tasks, op);
        }
        pthread_mutex_unlock(&pool.lock);
        sch_pool_call(wanted);
    }
    while ((op = sch_queue_pop(&failed)))
        sch_op_finish(op, &sch_grid_of(op)->fault);
}

void sch_pool_enqueue(struct sch_op *op)
{
    struct sch_op_queue ready = {0};
    sch_queue_push(&ready, op);
    sch_pool_enqueue_all(&ready);
}

void sch_pool_share(struct sch_grid_op *grid, uint64_t wanted)
{
    sch_grid_deal(grid);
    pthread_mutex_lock(&pool.lock);
    queue_grid(sch_op_retain(&grid->op), false);
    pthread_mutex_unlock(&pool.lock);
    sch_pool_call(wanted);
}

static bool grid_is_claimed(const struct sch_grid_op *grid)
{
    return atomic_load_explicit(&grid->cursor, memory_order_relaxed) == grid->block_count;
}

/* Keeps a grid from ending. False: it has. */
static bool hold_open(struct sch_grid_op *grid)
{
    uint64_t left = atomic_load_explicit(&grid->blocks_left, memory_order_relaxed);
    do {
        if (left == 0)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&grid->blocks_left, &left, left + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

/* Adds those of the list that run and have a watch. The lock is held. */
static unsigned hold_of_list(const struct sch_op_queue *list, struct sch_grid_op *grids[],
                             unsigned max)
{
    unsigned count = 0;
    for (struct sch_op *op = list->head; op && count < max; op = op->next) {
        struct sch_grid_op *grid = sch_grid_of(op);
        if (sch_grid_is_watched(grid, sch_grid_fit(grid)) && hold_open(grid)) {
            sch_op_retain(op);
            grids[count++] = grid;
        }
    }
    return count;
}

unsigned sch_pool_hold_watched(struct sch_grid_op *grids[], unsigned max)
{
    pthread_mutex_lock(&pool.lock);
    unsigned count = hold_of_list(&pool.begun, grids, max);
    count += hold_of_list(&pool.grids, grids + count, max - count);
    pthread_mutex_unlock(&pool.lock);
    return count;
}

/* Whether somebody has to look after its blocks that run. */
static bool is_looked_after(const struct sch_grid_op *grid)
{
    return sch_grid_is_watched(grid, sch_grid_fit(grid)) &&
           atomic_load_explicit(&grid->blocks_left, memory_order_relaxed) > 0;
}

/* Keeps a grid that no list has any more, and drops those of before that are over. Takes over a
 * reference. The lock is held. */
static void keep_begun(struct sch_op *begun)
{
    struct sch_op_queue kept = {0};
    sch_queue_push(&pool.begun, begun);
    for (struct sch_op *op; (op = sch_queue_pop(&pool.begun));) {
        if (is_looked_after(sch_grid_of(op)))
            sch_queue_push(&kept, op);
        else
            sch_op_release(op);
    }
    pool.begun = kept;
}

bool sch_pool_has_others(void)
{
    return atomic_load_explicit(&pool.grid_count, memory_order_relaxed) > 1;
}

/* Takes a grid that follows `previous` (NULL: none) out of the list. The lock is held. */
static void unlink_grid(struct sch_op *op, struct sch_op *previous)
{
    *(previous ? &previous->next : &pool.grids.head) = op->next;
    if (!op->next)
        pool.grids.tail = previous;
    atomic_fetch_sub_explicit(&pool.grid_count, 1, memory_order_relaxed);
}

/* The first chunk that this worker may take, of the grid whose turn it is; then it is that of the
 * others of the same priority. Grids without a chunk that are met on the way leave the list. The
 * lock is held. */
static struct sch_span take_span(struct sch_worker *worker)
{
    struct sch_op *previous = NULL;
    struct sch_op *next;
    for (struct sch_op *op = pool.grids.head; op; op = next) {
        next = op->next;
        struct sch_grid_op *grid = sch_grid_of(op);
        uint64_t first = 0;
        uint64_t count = 0;
        if (!grid_is_claimed(grid) && grid->grid.group == worker->group &&
            sch_worker_may_claim(worker, grid))
            count = sch_grid_claim(grid, worker, &first);
        if (count > 0) {
            unlink_grid(op, previous);
            /* One without more blocks might stay there for long, behind all that go first. */
            if (!grid_is_claimed(grid))
                queue_grid(sch_op_retain(op), false);
            else if (is_looked_after(grid))
                keep_begun(sch_op_retain(op));
            return (struct sch_span){grid, first, first + count};
        }
        if (grid_is_claimed(grid)) {
            unlink_grid(op, previous);
            keep_begun(op);
        } else {
            previous = op;
        }
    }
    return (struct sch_span){0};
}

bool sch_pool_pick(struct sch_worker *worker, struct sch_work *work, unsigned *epoch)
{
    *work = (struct sch_work){0};
    worker->cpu = sched_getcpu();
    pthread_mutex_lock(&pool.lock);
    *epoch = sch_pool_epoch();
    /* Tasks first: they are short, and grids of other streams wait for them. */
    work->task = sch_queue_pop(&pool.tasks);
    if (!work->task)
        work->span = take_span(worker);
    pthread_mutex_unlock(&pool.lock);
    return work->task || work->span.grid;
}

bool sch_pool_look(unsigned epoch, uint64_t timeout_ns)
{
    bool has_changed = false;
    atomic_fetch_add(&pool.lookers, 1);
    uint64_t end_ns = sch_now_ns() + timeout_ns;
    do {
        for (int i = 0; i < 16 && !has_changed; i++) {
            has_changed = sch_pool_epoch() != epoch;
            sch_cpu_pause();
        }
    } while (!has_changed && sch_now_ns() < end_ns);
    atomic_fetch_sub(&pool.lookers, 1);
    return has_changed;
}

static bool is_last(const struct sch_worker *worker)
{
    return worker->index + 1 == pool.planned_count;
}

bool sch_pool_may_look(const struct sch_worker *worker)
{
    return pool.may_spin && (pool.has_spare || !is_last(worker)) && !sch_pool_is_aside(worker);
}

bool sch_pool_sleep(const struct sch_worker *worker, uint64_t timeout_ns)
{
    pthread_cond_t *wake = is_last(worker) ? &pool.wake_last : &pool.wake;
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    uint64_t end_ns = (uint64_t)end.tv_nsec + timeout_ns;
    end.tv_sec += (time_t)(end_ns / NS_PER_S);
    end.tv_nsec = (long)(end_ns % NS_PER_S);
    int rc = 0;
    pthread_mutex_lock(&pool.lock);
    atomic_fetch_add(&pool.sleepers, 1);
    pool.last_sleeps = pool.last_sleeps || is_last(worker);
    while (atomic_load(&pool.epoch) == worker->seen_epoch && rc == 0) {
        if (timeout_ns > 0)
            rc = pthread_cond_clockwait(wake, &pool.lock, CLOCK_MONOTONIC, &end);
        else
            pthread_cond_wait(wake, &pool.lock);
    }
    pool.last_sleeps = pool.last_sleeps && !is_last(worker);
    atomic_fetch_sub(&pool.sleepers, 1);
    pthread_mutex_unlock(&pool.lock);
    return rc == 0;
}

/* ---- threads ---- */

static void *host_main(void *arg)
{
    (void)arg;
    is_host_thread = true;
    pxr_key_hold(true);
    for (;;) {
        pthread_mutex_lock(&pool.host_lock);
        while (!pool.host_ops.head)
            pthread_cond_wait(&pool.host_wake, &pool.host_lock);
        struct sch_op *op = sch_queue_pop(&pool.host_ops);
        pthread_mutex_unlock(&pool.host_lock);
        sch_host_learn(op); /* what it calls may tell other threads of the program */
        op->run(op->arg);
        sch_op_finish(op, NULL);
    }
    return NULL;
}

static void *worker_main(void *arg)
{
    struct sch_worker *worker = arg;
    worker->thread = pthread_self();
    /* A thread inherits its creator's rounding mode and flush-to-zero. */
    fesetenv(FE_DFL_ENV);
    if (pool.part_count > 1)
        sched_setaffinity(0, sizeof pool.cpus[0], &pool.cpus[worker->group]); /* best effort */
    sch_worker_run(worker);
}

bool sch_start_thread(void *(*run)(void *), void *arg, size_t stack_bytes, const char *name)
{
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    if (stack_bytes > 0)
        pthread_attr_setstacksize(&attr, stack_bytes);
    pthread_t thread;
    int rc = pthread_create(&thread, &attr, run, arg);
    pthread_attr_destroy(&attr);
    if (rc != 0) {
        errno = rc;
        return false;
    }
    pthread_setname_np(thread, name);
    return true;
}

static void start_threads(unsigned workers)
{
    /* Threads inherit the mask: signals of the application never run on ours. Signals of faults
     * stay open. */
    sigset_t blocked;
    sigset_t before;
    sigfillset(&blocked);
    static const int synchronous[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    for (size_t i = 0; i < sizeof synchronous / sizeof *synchronous; i++)
        sigdelset(&blocked, synchronous[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    if (sch_start_thread(host_main, NULL, 0, "ptxrun-host")) {
        while (pool.worker_count < workers &&
               sch_start_thread(worker_main, &pool.workers[pool.worker_count], WORKER_STACK_BYTES,
                                "ptxrun-worker"))
            pool.group_workers[pool.workers[pool.worker_count++].group]++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void after_fork_in_child(void)
{
    atomic_store_explicit(&pool.is_forked, true, memory_order_relaxed);
    sch_handlers_after_fork();
}

/* The share of a group in the workers of all parts. */
static unsigned group_quota(unsigned workers, unsigned group)
{
    unsigned quota = workers / pool.part_count + (pool.part_of[group] < workers % pool.part_count);
    return quota > 0 ? quota : 1;
}

/* Groups take turns, so that each has some if not all can be started. */
static void assign_groups(unsigned workers, unsigned all_workers)
{
    unsigned index = 0;
    for (unsigned round = 0; index < workers; round++) {
        for (unsigned group = 0; group < pool.group_count; group++) {
            if (round >= group_quota(all_workers, group))
                continue;
            pool.workers[index] =
                (struct sch_worker){.index = index, .group = group, .group_index = round};
            index++;
        }
    }
}

static enum pxr_status start_locked(unsigned wanted, const struct sch_groups *groups,
                                    struct pxr_error *err)
{
    if (wanted == 0)
        wanted = sch_usable_cpus();
    if (wanted > WORKERS_MAX)
        wanted = WORKERS_MAX;
    pool.group_count = groups->count;
    pool.part_count = groups->part_count;
    unsigned workers = 0;
    for (unsigned i = 0; i < groups->count; i++) {
        pool.part_of[i] = groups->part[i];
        workers += group_quota(wanted, i);
    }
    if (pool.part_count > 1)
        sch_split_cpus(groups, pool.cpus);
    pool.workers = aligned_alloc(SCH_CACHE_LINE, workers * sizeof *pool.workers);
    if (!pool.workers)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "cannot start %u workers: out of memory", workers);
    assign_groups(workers, wanted);
    unsigned cpus = sch_usable_cpus();
    pool.may_spin = cpus > 1 && workers <= cpus;
    pool.has_spare = workers < cpus;
    pool.planned_count = workers;
    pthread_atfork(NULL, NULL, after_fork_in_child);
    sch_fault_handler_check();
    start_threads(workers);
    if (pool.worker_count < pool.group_count) {
        pool.worker_count = 0;
        /* The array stays: a host thread may exist, and nothing is tried twice. */
        return pxr_fail(err, PXR_IO,
                        "cannot start worker threads: %s; is the number of "
                        "processes limited?",
                        strerror(errno));
    }
    atomic_store_explicit(&pool.is_started, true, memory_order_release);
    return PXR_OK;
}

enum pxr_status sch_start_groups(unsigned workers, const struct sch_groups *groups,
                                 struct pxr_error *err)
{
    if (sch_pool_is_forked())
        return pxr_fail(err, PXR_IO,
                        "kernels cannot run in a child process made by fork() after "
                        "the parent has used the device; start the child with exec");
    if (atomic_load_explicit(&pool.is_started, memory_order_acquire))
        return PXR_OK;
    pthread_mutex_lock(&pool.start_lock);
    enum pxr_status status = PXR_OK;
    if (pool.workers && pool.worker_count == 0)
        status = pxr_fail(err, PXR_IO, "worker threads could not be started before");
    else if (!atomic_load_explicit(&pool.is_started, memory_order_relaxed))
        status = start_locked(workers, groups, err);
    pthread_mutex_unlock(&pool.start_lock);
    return status;
}

enum pxr_status sch_start(unsigned workers, struct pxr_error *err)
{
    static const unsigned whole = 0;
    static const struct sch_groups one = {.count = 1, .part_count = 1, .part = &whole};
    return sch_start_groups(workers, &one, err);
}

bool sch_pool_ready(void)
{
    if (sch_pool_is_forked())
        return false;
    return atomic_load_explicit(&pool.is_started, memory_order_acquire) ||
           sch_start(0, NULL) == PXR_OK;
}
