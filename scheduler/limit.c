/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of the time that grids may take. A worker notes when the grid whose block it runs has to
 * have ended; a thread of its own looks at these notes, and sends a signal to workers that are
 * late. The handler, which is that of faults, makes the worker leave the block if it is in
 * generated code, where it holds no lock; else it does nothing, and the signal is sent again. A
 * block that polls leaves at its next poll.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "scheduler/block.h"
#include "util/log.h"

#define LOOK_NS 2000000

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool is_watched;

static bool is_late(const struct sch_worker *worker, uint64_t now_ns)
{
    uint64_t end_ns = atomic_load_explicit(&worker->end_ns, memory_order_acquire);
    return end_ns != 0 && now_ns > end_ns;
}

bool sch_limit_has_passed(const struct sch_worker *worker)
{
    return atomic_load_explicit(&worker->end_ns, memory_order_relaxed) != 0 &&
           is_late(worker, sch_now_ns());
}

/* The time of the first block counts. */
void sch_limit_enter(struct sch_worker *worker, struct sch_grid_op *grid)
{
    uint64_t limit_ns = grid->grid.limit_ns;
    if (limit_ns == 0)
        return;
    uint64_t end_ns = 0;
    uint64_t wanted_ns = sch_now_ns() + limit_ns;
    if (atomic_compare_exchange_strong(&grid->end_ns, &end_ns, wanted_ns))
        end_ns = wanted_ns;
    worker->fault.status = PXR_OK;
    atomic_store_explicit(&worker->end_ns, end_ns, memory_order_release);
}

void sch_limit_leave(struct sch_worker *worker)
{
    atomic_store_explicit(&worker->end_ns, 0, memory_order_relaxed);
}

void sch_limit_poll(struct sch_thread *thread, const void *return_address)
{
    struct sch_block *block = sch_block_of(thread);
    block->polled_at = (uintptr_t)return_address - 1;
    uint64_t end_ns = atomic_load_explicit(&block->grid->end_ns, memory_order_relaxed);
    if (end_ns != 0 && sch_now_ns() > end_ns)
        sch_thread_fault(&thread->rt, PXR_FAULT_TIMEOUT, 0, return_address);
}

void sch_grid_end_polls(const struct rt_thread *rt, uint64_t ns)
{
    struct sch_block *block = sch_block_of(sch_thread_of((struct rt_thread *)rt));
    uint64_t end_ns = 0;
    atomic_compare_exchange_strong(&block->grid->end_ns, &end_ns, sch_now_ns() + ns);
}

void sch_limit_tell(const struct sch_worker *worker, const struct sch_block *block)
{
    const struct sch_grid *grid = &block->grid->grid;
    /* One that was set aside has only polled. */
    struct sch_fault fault = {.status = PXR_FAULT_TIMEOUT, .pc = block->polled_at};
    if (worker->fault.status == PXR_FAULT_TIMEOUT)
        fault = worker->fault;
    memcpy(fault.ctaid, block->rt.ctaid, sizeof fault.ctaid);
    if (grid->late && fault.pc != 0 && sch_limit_has_passed(worker))
        grid->late(block->grid->op.arg, &fault);
}

SCH_IN_HANDLER bool sch_limit_may_leave_at(const struct sch_worker *worker, uintptr_t pc)
{
    if (!worker->current || atomic_load_explicit(&worker->end_ns, memory_order_relaxed) == 0)
        return false;
    const struct sch_code *code =
        &((struct sch_block *)(void *)worker->current->rt.block)->fit->code;
    return pc - code->text < code->text_bytes && sch_limit_has_passed(worker);
}

/* ---- the thread that looks ---- */

static void *look_main(void *arg)
{
    (void)arg;
    for (;;) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        uint64_t now_ns = sch_now_ns();
        for (unsigned i = 0; i < sch_worker_count(); i++) {
            struct sch_worker *worker = sch_pool_worker(i);
            if (is_late(worker, now_ns))
                pthread_kill(worker->thread, SCH_LIMIT_SIGNAL);
        }
    }
    return NULL;
}

/* Signals of the application never run there. */
static void start(void)
{
    sigset_t all, before;
    atomic_store(&is_watched, true);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = sch_start_thread(look_main, NULL, 0, "ptxrun-limit");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!is_started)
        pxr_log(PXR_LOG_WARNING, "kernels have no limit of time: %s", strerror(errno));
}

void sch_limit_watch(const struct sch_grid *grid)
{
    if (grid->limit_ns > 0)
        pthread_once(&once, start);
}

SCH_IN_HANDLER bool sch_limit_is_watched(void)
{
    return atomic_load_explicit(&is_watched, memory_order_relaxed);
}
