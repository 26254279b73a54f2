/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns a fault inside a kernel into the end of its grid, and one inside sch_try into its answer.
 * The signal handler only writes fields of its own worker and makes the thread continue in the
 * worker loop, as if the fiber had switched there; it takes no lock and allocates nothing. Faults
 * elsewhere go to the handler that was installed before.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "scheduler/block.h"

#define SIGNAL_STACK_BYTES ((size_t)64 * 1024)

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define FAULT_SIGNALS (sizeof fault_signals / sizeof *fault_signals)

/* Handlers that others installed. A slot is written before it is published and read by handlers
 * without a lock; a slot is used again only after several more replacements. */
#define SLOTS 8

struct chain {
    struct sigaction slots[SLOTS];
    atomic_uint current; /* slot of the handler found last */
    unsigned used;       /* lock: install_lock */
};

static struct chain chains[FAULT_SIGNALS];
static atomic_flag install_lock = ATOMIC_FLAG_INIT;

/* The frame in which the calling thread passes a signal on, 0 if it does not. A handler installed
 * after ours may pass it back to us: then the one found first, before ours, gets it. */
static SCH_THREAD_LOCAL uintptr_t passing_frame;

/* Where sch_try goes on after a fault in what it tries, NULL outside of it. */
static SCH_THREAD_LOCAL sigjmp_buf *trying;

static struct chain *chain_of(int signal_number)
{
    size_t i = 0;
    while (i + 1 < FAULT_SIGNALS && fault_signals[i] != signal_number)
        i++;
    return &chains[i];
}

/* ---- the machine's registers ---- */

#if defined(__x86_64__)
static uintptr_t context_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

/* sch_context_load(sp) */
static void continue_at(ucontext_t *context, void *sp)
{
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)sch_context_load;
    context->uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)sp;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)sp;
}
#else
static uintptr_t context_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.pc;
}

static void continue_at(ucontext_t *context, void *sp)
{
    context->uc_mcontext.pc = (uintptr_t)sch_context_load;
    context->uc_mcontext.regs[0] = (uintptr_t)sp;
    context->uc_mcontext.sp = (uintptr_t)sp;
}
#endif

/* ---- in the handler ---- */

static enum pxr_status fault_status(int signal_number, const siginfo_t *info, uintptr_t pc,
                                    const struct sch_fiber *fiber)
{
    uintptr_t address = (uintptr_t)info->si_addr;
    if (signal_number == SIGBUS && info->si_code == BUS_ADRALN)
        return PXR_FAULT_MISALIGNED;
    if (signal_number == SIGFPE || signal_number == SIGILL)
        return PXR_FAULT_INSTRUCTION;
    uintptr_t low = (uintptr_t)fiber->low;
    if (address < low && address >= low - SCH_STACK_GUARD_BYTES)
        return PXR_FAULT_STACK;
    return address == pc ? PXR_FAULT_PC : PXR_FAULT_ADDRESS;
}

static void leave_kernel(struct sch_worker *worker, int signal_number, const siginfo_t *info,
                         ucontext_t *context)
{
    const struct sch_thread *thread = worker->current;
    struct sch_fault *fault = &worker->fault;
    fault->pc = context_pc(context);
    fault->status = fault_status(signal_number, info, fault->pc, thread->fiber);
    fault->address =
        signal_number == SIGSEGV || signal_number == SIGBUS ? (uintptr_t)info->si_addr : 0;
    const struct sch_block *block = sch_block_of(thread);
    if (thread == &block->carrier)
        thread = block->stepping; /* NULL in a loop: it does not say which thread it is at */
    fault->has_thread = thread != NULL;
    for (int i = 0; i < 3; i++)
        fault->tid[i] = thread ? thread->rt.tid[i] : 0;
    worker->has_fault = true;
    worker->scheduler.was_forced = true;
    continue_at(context, worker->scheduler.sp);
}

static void default_action(int signal_number, const siginfo_t *info)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal_number, &action, NULL);
    /* A fault happens again when the handler returns; a signal that was sent must be sent again. */
    if (info->si_code <= 0)
        raise(signal_number);
}

static void pass_on(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t outer = passing_frame;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    /* A frame that is not below was left with longjmp. */
    bool is_passed_back = outer != 0 && frame < outer;
    struct chain *chain = chain_of(signal_number);
    unsigned slot = atomic_load_explicit(&chain->current, memory_order_acquire);
    const struct sigaction *action = &chain->slots[is_passed_back ? 0 : slot];
    passing_frame = frame;
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signal_number, info, context);
    else if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
        action->sa_handler(signal_number);
    else if (action->sa_handler == SIG_DFL || info->si_code > 0)
        default_action(signal_number, info);
    passing_frame = outer;
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct sch_worker *worker = sch_this_worker;
    /* si_code > 0: the kernel says so, nobody sent it. */
    if (trying && info->si_code > 0)
        siglongjmp(*trying, 1);
    if (worker && worker->current && info->si_code > 0)
        leave_kernel(worker, signal_number, info, context);
    else
        pass_on(signal_number, info, context);
    errno = saved_errno;
}

/* SA_NODEFER: there is no mask to be put back. */
bool sch_try(void (*touch)(void *arg), void *arg)
{
    sigjmp_buf here;
    if (sigsetjmp(here, 0)) {
        trying = NULL;
        return false;
    }
    trying = &here;
    atomic_signal_fence(memory_order_seq_cst);
    touch(arg);
    atomic_signal_fence(memory_order_seq_cst);
    trying = NULL;
    return true;
}

/* ---- installation ---- */

static bool is_ours(int signal_number, struct sigaction *now)
{
    /* What cannot be asked for cannot be replaced either. */
    return sigaction(signal_number, NULL, now) != 0 ||
           ((now->sa_flags & SA_SIGINFO) && now->sa_sigaction == on_fault);
}

static void install(int signal_number)
{
    struct sigaction now;
    if (is_ours(signal_number, &now))
        return;
    struct chain *chain = chain_of(signal_number);
    /* Slot 0 keeps what was there before ours. */
    unsigned slot = chain->used < SLOTS ? chain->used : 1 + chain->used % (SLOTS - 1);
    chain->used++;
    chain->slots[slot] = now;
    atomic_store_explicit(&chain->current, slot, memory_order_release);
    /* SA_NODEFER: a handler that we pass the signal to may leave with longjmp. */
    struct sigaction ours = {
        .sa_sigaction = on_fault,
        .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART,
    };
    sigemptyset(&ours.sa_mask);
    sigaction(signal_number, &ours, NULL);
}

void sch_fault_handler_check(void)
{
    /* A look costs as much as the rest of a small launch. Who replaces handlers replaces that of
     * SIGSEGV, so one look is enough. */
    struct sigaction now;
    if (is_ours(fault_signals[0], &now))
        return;
    /* Somebody else is at it: nothing to wait for. */
    if (atomic_flag_test_and_set_explicit(&install_lock, memory_order_acquire))
        return;
    for (size_t i = 0; i < FAULT_SIGNALS; i++)
        install(fault_signals[i]);
    atomic_flag_clear_explicit(&install_lock, memory_order_release);
}

/* ---- guests ---- */

/* A system call takes as long as the rest of a small launch, so of many launches in a row only some
 * look. */
#define LOOK_INTERVAL_NS 50000

/* What the calling thread has done about signals. */
static SCH_THREAD_LOCAL struct {
    uint64_t looked_ns;
    bool has_blocked; /* a signal that a fault raises, as of the last look */
    bool is_open;     /* they have been unblocked … */
    sigset_t before;  /* … and what the mask was */
} guest;

static void look_at_mask(void)
{
    sigset_t mask;
    guest.has_blocked = false;
    if (pthread_sigmask(SIG_BLOCK, NULL, &mask) != 0)
        return;
    for (size_t i = 0; i < FAULT_SIGNALS; i++)
        guest.has_blocked |= sigismember(&mask, fault_signals[i]) == 1;
}

uint64_t sch_fault_enter_guest(uint64_t now_ns)
{
    if (now_ns - guest.looked_ns >= LOOK_INTERVAL_NS) {
        guest.looked_ns = now_ns;
        sch_fault_handler_check();
        look_at_mask();
        now_ns = sch_now_ns();
    }
    if (!guest.has_blocked)
        return now_ns;
    sigset_t open;
    sigemptyset(&open);
    for (size_t i = 0; i < FAULT_SIGNALS; i++)
        sigaddset(&open, fault_signals[i]);
    guest.is_open = pthread_sigmask(SIG_UNBLOCK, &open, &guest.before) == 0;
    return sch_now_ns();
}

void sch_fault_leave_guest(void)
{
    if (!guest.is_open)
        return;
    guest.is_open = false;
    pthread_sigmask(SIG_SETMASK, &guest.before, NULL);
}

/* ---- workers ---- */

void sch_fault_init_worker(struct sch_worker *worker)
{
    long minimum = sysconf(_SC_MINSIGSTKSZ);
    size_t bytes = SIGNAL_STACK_BYTES;
    if (minimum > 0)
        bytes += (size_t)minimum & ~(size_t)4095;
    if (!pxr_area_map(&worker->signal_stack, bytes))
        return;
    stack_t stack = {.ss_sp = worker->signal_stack.base, .ss_size = bytes};
    sigaltstack(&stack, NULL);
}
