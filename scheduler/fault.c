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
#include "scheduler/handlers.h"
#include "scheduler/host_watch.h"
#include "scheduler/operand.h"
#include "util/protection_key.h"

#define SIGNAL_STACK_BYTES ((size_t)64 * 1024)

/* Where sch_try continues after a fault in its argument; NULL outside of it. */
static SCH_THREAD_LOCAL sigjmp_buf *trying;

/* ---- the machine's registers ---- */

#if defined(__x86_64__)
SCH_IN_HANDLER static uintptr_t context_pc(const ucontext_t *context)
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

struct rounding {
    uint32_t vectors;
    uint16_t x87;
};

static struct rounding read_rounding(void)
{
    struct rounding rounding = {.vectors = __builtin_ia32_stmxcsr()};
    __asm__ volatile("fnstcw %0" : "=m"(rounding.x87));
    return rounding;
}

static void write_rounding(struct rounding rounding)
{
    __builtin_ia32_ldmxcsr(rounding.vectors);
    __asm__ volatile("fldcw %0" : : "m"(rounding.x87));
}
#else
SCH_IN_HANDLER static uintptr_t context_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.pc;
}

static void continue_at(ucontext_t *context, void *sp)
{
    context->uc_mcontext.pc = (uintptr_t)sch_context_load;
    context->uc_mcontext.regs[0] = (uintptr_t)sp;
    context->uc_mcontext.sp = (uintptr_t)sp;
}

/* The rounding modes: signals leave them as they are. */
struct rounding {
    int none;
};

static struct rounding read_rounding(void)
{
    return (struct rounding){0};
}

static void write_rounding(struct rounding rounding)
{
    (void)rounding;
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
    if (address < low && address >= low - sch_stack_guard_bytes())
        return PXR_FAULT_STACK;
    return address == pc ? PXR_FAULT_PC : PXR_FAULT_ADDRESS;
}

/* For faults whose address the system does not report. */
static void find_address(struct sch_fault *fault, const ucontext_t *context)
{
    uint64_t address;
    enum sch_operand operand = sch_operand_find(context, &address);
    if (operand == SCH_OPERAND_TARGET) {
        fault->status = PXR_FAULT_PC;
        fault->address = address;
    } else if (operand == SCH_OPERAND_MEMORY) {
        /* An instruction that needs aligned memory, or an address that no memory has. */
        if (sch_is_canonical(address) && address % 16 != 0)
            fault->status = PXR_FAULT_MISALIGNED;
        fault->address = address;
    } else {
        fault->is_address_unknown = true;
    }
}

static void leave_kernel(struct sch_worker *worker, ucontext_t *context)
{
    const struct sch_thread *thread = worker->current;
    struct sch_fault *fault = &worker->fault;
    const struct sch_block *block = sch_block_of(thread);
    if (thread == &block->carrier)
        thread = block->stepping; /* NULL in a loop: it does not say which thread runs */
    fault->is_local = sch_is_local(worker->current, fault->address);
    fault->has_thread = thread != NULL;
    for (int i = 0; i < 3; i++)
        fault->tid[i] = thread ? thread->rt.tid[i] : 0;
    worker->has_fault = true;
    worker->scheduler.was_forced = true;
    continue_at(context, worker->scheduler.sp);
}

static void note_fault(struct sch_worker *worker, int signal_number, const siginfo_t *info,
                       const ucontext_t *context)
{
    struct sch_fault *fault = &worker->fault;
    fault->pc = context_pc(context);
    fault->status = fault_status(signal_number, info, fault->pc, worker->current->fiber);
    fault->address =
        signal_number == SIGSEGV || signal_number == SIGBUS ? (uintptr_t)info->si_addr : 0;
    fault->is_address_unknown = false;
    if (fault->status == PXR_FAULT_ADDRESS && sch_operand_is_missing(info))
        find_address(fault, context);
}

/* Whether the grid's owner has opened the memory meanwhile. */
static bool is_opened(const struct sch_worker *worker, const siginfo_t *info)
{
    const struct sch_block *block = sch_block_of(worker->current);
    struct sch_fault fault = worker->fault;
    if (fault.status != PXR_FAULT_ADDRESS || info->si_signo != SIGSEGV ||
        info->si_code != SEGV_ACCERR || !block->grid->grid.refused)
        return false;
    memcpy(fault.ctaid, block->rt.ctaid, sizeof fault.ctaid);
    return block->grid->grid.refused(block->grid->op.arg, &fault);
}

/* Whether limit.c has sent it. */
SCH_IN_HANDLER static bool is_of_limit(const struct sch_worker *worker, int signal_number,
                                       const siginfo_t *info)
{
    return worker && signal_number == SCH_LIMIT_SIGNAL && info->si_code == SI_TKILL &&
           info->si_pid == getpid() && sch_limit_is_watched();
}

SCH_IN_HANDLER static void on_limit(struct sch_worker *worker, ucontext_t *context)
{
    uintptr_t pc = context_pc(context);
    if (!sch_limit_may_leave_at(worker, pc))
        return; /* it will be sent again */
    worker->fault = (struct sch_fault){.status = PXR_FAULT_TIMEOUT, .pc = pc};
    leave_kernel(worker, context);
}

SCH_IN_HANDLER void sch_on_fault(int signal_number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    struct sch_worker *worker = sch_this_worker;
    if (sch_host_access(signal_number, info, context)) {
        errno = saved_errno;
        return;
    }
    /* si_code > 0: the kernel says so, nobody sent it. */
    if (trying && info->si_code > 0)
        siglongjmp(*trying, 1);
    if (worker && worker->current && info->si_code > 0) {
        note_fault(worker, signal_number, info, context);
        if (!is_opened(worker, info))
            leave_kernel(worker, context);
    } else if (is_of_limit(worker, signal_number, info)) {
        on_limit(worker, context);
    } else {
        sch_handlers_pass_on(signal_number, info, context);
    }
    errno = saved_errno;
}

/* SA_NODEFER: no mask has to be restored, except for signals that ThreadSanitizer blocks meanwhile.
 * But handlers begin with the default rounding, and without the key. */
#ifdef SCH_TSAN
#define TRY_SAVES_MASK 1
#else
#define TRY_SAVES_MASK 0
#endif

bool sch_try(void (*touch)(void *arg), void *arg)
{
    sigjmp_buf here;
    struct rounding rounding = read_rounding();
    bool holds_key = pxr_key_is_held();
    if (sigsetjmp(here, TRY_SAVES_MASK)) {
        write_rounding(rounding);
        pxr_key_hold(holds_key);
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

/* ---- guests ---- */

/* A system call takes as long as the rest of a small launch, so only some launches of a series
 * look. */
#define LOOK_INTERVAL_NS 50000

/* The calling thread's state of signals. */
static SCH_THREAD_LOCAL struct {
    uint64_t looked_ns;
    uint32_t opened;  /* signals that have been unblocked, by their number */
    bool has_blocked; /* a fault's signal was blocked at the last look */
} guest;

static void look_at_mask(void)
{
    sigset_t mask;
    guest.has_blocked = false;
    if (pthread_sigmask(SIG_BLOCK, NULL, &mask) != 0)
        return;
    sigset_t wanted;
    sigemptyset(&wanted);
    sch_handlers_add_signals(&wanted);
    sigandset(&mask, &mask, &wanted);
    guest.has_blocked = !sigisemptyset(&mask);
}

/* The signals of faults all have small numbers. */
static uint32_t numbers_of(const sigset_t *set)
{
    uint32_t numbers = 0;
    for (int number = 1; number < 32; number++)
        numbers |= (uint32_t)(sigismember(set, number) == 1) << number;
    return numbers;
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
    sigset_t open, before;
    sigemptyset(&open);
    sch_handlers_add_signals(&open);
    if (pthread_sigmask(SIG_UNBLOCK, &open, &before) == 0) {
        sigandset(&before, &before, &open);
        guest.opened = numbers_of(&before);
    }
    return sch_now_ns();
}

void sch_fault_leave_guest(void)
{
    if (!guest.opened)
        return;
    sigset_t again;
    sigemptyset(&again);
    for (int number = 1; number < 32; number++)
        if (guest.opened >> number & 1)
            sigaddset(&again, number);
    guest.opened = 0;
    pthread_sigmask(SIG_BLOCK, &again, NULL);
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
