/* SPDX-License-Identifier: Apache-2.0
 *
 * The program may install handlers at any time, also while a kernel runs. Ours keeps and calls
 * those installed before. From then on the program's calls of sigaction and the like come here
 * (imports.c): they change our notes, and are answered from them, but ours stays installed. A
 * program that goes around that, with a system call of its own, is found out at the next look.
 */
#include "scheduler/handlers.h"

#include <errno.h>
#include <stdatomic.h>
#include <unistd.h>

#include "scheduler/imports.h"
#include "scheduler/worker_pool.h"
#include "util/refusal.h"

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define FAULT_SIGNALS (sizeof fault_signals / sizeof *fault_signals)

/* The program's actions for a signal. Handlers read them without a lock: a slot is written before
 * it is counted, and used again only after several more. Slot 0 keeps the action from before
 * ours. */
#define SLOTS 8

struct chain {
    struct sigaction slots[SLOTS];
    atomic_uint count; /* noted so far; the last one holds. Writers: lock */
};

static struct chain chains[FAULT_SIGNALS];
static atomic_flag lock = ATOMIC_FLAG_INIT; /* with all signals blocked */
static atomic_int owner;                    /* the process; children of vfork share our memory */

/* The signal that the calling thread passes on, and its frame. A handler installed after ours may
 * pass it back to us: then the one found first, before ours, gets it. This state stays behind when
 * a handler leaves with longjmp: another signal has its context elsewhere, or its frame at the same
 * place. */
static SCH_THREAD_LOCAL struct passing {
    const void *context; /* NULL: nothing */
    uintptr_t frame;
} passing;

void sch_handlers_add_signals(sigset_t *set)
{
    for (size_t i = 0; i < FAULT_SIGNALS; i++)
        sigaddset(set, fault_signals[i]);
}

/* NULL for other signals. */
static struct chain *find_chain(int signal_number)
{
    for (size_t i = 0; i < FAULT_SIGNALS; i++)
        if (fault_signals[i] == signal_number)
            return &chains[i];
    return NULL;
}

static void take_lock(sigset_t *mask)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, mask);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        sch_cpu_pause();
}

static void drop_lock(const sigset_t *mask)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

/* The slot of the action noted as number n, now or in future. */
static unsigned slot_of(unsigned n)
{
    return n < SLOTS ? n : 1 + n % (SLOTS - 1);
}

/* The action that holds now; *count: how many have been noted. */
static struct sigaction read_chain(const struct chain *chain, unsigned *count)
{
    struct sigaction action;
    unsigned now;
    do {
        *count = atomic_load_explicit(&chain->count, memory_order_acquire);
        action = chain->slots[slot_of(*count - 1)];
        atomic_thread_fence(memory_order_acquire);
        now = atomic_load_explicit(&chain->count, memory_order_relaxed);
    } while (now - *count >= SLOTS - 2);
    return action;
}

/* With the lock held. */
static void note(struct chain *chain, const struct sigaction *action)
{
    unsigned count = atomic_load_explicit(&chain->count, memory_order_relaxed);
    chain->slots[slot_of(count)] = *action;
    atomic_store_explicit(&chain->count, count + 1, memory_order_release);
}

/* ---- in the handler ---- */

static void default_action(int signal_number, const siginfo_t *info)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    pxr_refusal_tell();
    sigaction(signal_number, &action, NULL);
    /* A fault happens again when the handler returns; a signal that was sent must be sent again. */
    if (info->si_code <= 0)
        raise(signal_number);
}

/* Does what the system does before it calls a handler. Our handler's return restores the mask. */
static void prepare_call(struct chain *chain, int signal_number, const struct sigaction *action,
                         unsigned count)
{
    sigset_t mask = action->sa_mask;
    if (action->sa_flags & SA_RESETHAND) {
        static const struct sigaction none = {.sa_handler = SIG_DFL};
        take_lock(&mask);
        if (atomic_load_explicit(&chain->count, memory_order_relaxed) == count)
            note(chain, &none);
        drop_lock(&mask);
        mask = action->sa_mask;
    }
    if (!(action->sa_flags & SA_NODEFER))
        sigaddset(&mask, signal_number);
    pthread_sigmask(SIG_BLOCK, &mask, NULL);
}

void sch_handlers_pass_on(int signal_number, siginfo_t *info, void *context)
{
    struct passing outer = passing;
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    bool is_passed_back =
        passing.context && frame < passing.frame && (!context || context == passing.context);
    struct chain *chain = find_chain(signal_number);
    unsigned count;
    struct sigaction action = read_chain(chain, &count);
    if (is_passed_back)
        action = chain->slots[0];
    bool is_handled = (action.sa_flags & SA_SIGINFO) ||
                      (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
    if (!is_passed_back)
        passing = (struct passing){context, frame};
    if (is_handled && !is_passed_back)
        prepare_call(chain, signal_number, &action, count);
    if (is_handled && (action.sa_flags & SA_SIGINFO))
        action.sa_sigaction(signal_number, info, context);
    else if (is_handled)
        action.sa_handler(signal_number);
    else if (action.sa_handler == SIG_DFL || info->si_code > 0)
        default_action(signal_number, info);
    passing = outer;
}

/* ---- what the program calls ---- */

static bool is_our_handler(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == sch_on_fault;
}

static bool is_installed(int signal_number, struct sigaction *now)
{
    /* An action that cannot be read cannot be replaced either. */
    return sigaction(signal_number, NULL, now) != 0 || is_our_handler(now);
}

/* With the lock held. */
static void install(int signal_number, struct chain *chain)
{
    struct sigaction now;
    if (is_installed(signal_number, &now))
        return;
    note(chain, &now);
    /* SA_NODEFER: the mask will be that of the handler called. */
    struct sigaction ours = {
        .sa_sigaction = sch_on_fault,
        .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART,
    };
    sigemptyset(&ours.sa_mask);
    sigaction(signal_number, &ours, NULL);
}

/* Whether a call for this signal is ours to answer. */
static bool is_kept(int signal_number)
{
    return find_chain(signal_number) && getpid() == atomic_load(&owner);
}

static int hooked_sigaction(int signal_number, const struct sigaction *action,
                            struct sigaction *before)
{
    if (!is_kept(signal_number))
        return sigaction(signal_number, action, before);
    struct chain *chain = find_chain(signal_number);
    struct sigaction wanted = {.sa_handler = SIG_DFL};
    if (action)
        wanted = *action;
    sigset_t mask;
    take_lock(&mask);
    install(signal_number, chain);
    unsigned count;
    struct sigaction old = read_chain(chain, &count);
    if (action)
        note(chain, is_our_handler(&wanted) ? &chain->slots[0] : &wanted);
    drop_lock(&mask);
    if (before)
        *before = old;
    return 0;
}

typedef void (*handler_fn)(int signal_number);

static handler_fn set_handler(int signal_number, handler_fn handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return hooked_sigaction(signal_number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

static handler_fn hooked_signal(int signal_number, handler_fn handler)
{
    return is_kept(signal_number) ? set_handler(signal_number, handler, SA_RESTART)
                                  : signal(signal_number, handler);
}

static handler_fn hooked_sysv_signal(int signal_number, handler_fn handler)
{
    return set_handler(signal_number, handler, (int)SA_RESETHAND | SA_NODEFER);
}

/* As the manual has it. The declarations in the header warn that it is old. */
static handler_fn hooked_sigset(int signal_number, handler_fn disposition)
{
    static const handler_fn hold = (handler_fn)2;
    sigset_t set, mask;
    sigemptyset(&set);
    if (sigaddset(&set, signal_number) != 0)
        return SIG_ERR;
    handler_fn before = SIG_ERR;
    struct sigaction now;
    if (disposition != hold)
        before = set_handler(signal_number, disposition, 0);
    else if (hooked_sigaction(signal_number, NULL, &now) == 0)
        before = now.sa_handler;
    if (before == SIG_ERR)
        return SIG_ERR;
    pthread_sigmask(disposition == hold ? SIG_BLOCK : SIG_UNBLOCK, &set, &mask);
    return sigismember(&mask, signal_number) == 1 ? hold : before;
}

static int hooked_sigignore(int signal_number)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigemptyset(&action.sa_mask);
    return hooked_sigaction(signal_number, &action, NULL);
}

#define IMPORT(name, function) {name, (void *)(uintptr_t)(function)}

static const struct sch_import imports[] = {
    IMPORT("sigaction", hooked_sigaction),
    IMPORT("__sigaction", hooked_sigaction),
    IMPORT("signal", hooked_signal),
    IMPORT("bsd_signal", hooked_signal),
    IMPORT("ssignal", hooked_signal),
    IMPORT("sysv_signal", hooked_sysv_signal),
    IMPORT("__sysv_signal", hooked_sysv_signal),
    IMPORT("sigset", hooked_sigset),
    IMPORT("sigignore", hooked_sigignore),
};

void sch_handlers_after_fork(void)
{
    atomic_flag_clear(&lock); /* its owner does not exist in this process */
    atomic_store(&owner, getpid());
}

void sch_fault_handler_check(void)
{
    /* A look costs as much as the rest of a small launch. Programs that replace handlers replace
     * that of SIGSEGV, so one look is enough. */
    struct sigaction now;
    bool is_ours = is_installed(fault_signals[0], &now);
    if (!is_ours) {
        sigset_t mask;
        take_lock(&mask);
        for (size_t i = 0; i < FAULT_SIGNALS; i++)
            install(fault_signals[i], &chains[i]);
        atomic_store(&owner, getpid());
        drop_lock(&mask);
    }
    sch_imports_replace(imports, sizeof imports / sizeof *imports, !is_ours);
}
