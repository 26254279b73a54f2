/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals of accesses by threads that do not hold the key.
 */
#include "scheduler/host_watch.h"

#include <stdatomic.h>
#include <ucontext.h>

#include "scheduler/scheduler.h"

static _Atomic(const struct sch_host_watch *) watch;

void sch_watch_host(const struct sch_host_watch *to)
{
    atomic_store(&watch, to);
}

#if defined(__x86_64__) && defined(SEGV_PKUERR)
#define PAGE_FAULT_WRITES 2 /* of the processor's error code */

bool sch_host_access(int signal_number, const siginfo_t *info, const void *context)
{
    const struct sch_host_watch *told = atomic_load_explicit(&watch, memory_order_acquire);
    if (!told || signal_number != SIGSEGV || info->si_code != SEGV_PKUERR)
        return false;
    const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;
    return told->access((uintptr_t)info->si_addr, registers[REG_ERR] & PAGE_FAULT_WRITES,
                        (const void *)registers[REG_RIP]);
}
#else
bool sch_host_access(int signal_number, const siginfo_t *info, const void *context)
{
    (void)signal_number;
    (void)info;
    (void)context;
    return false; /* there are no keys */
}
#endif

void sch_host_submits(void)
{
    const struct sch_host_watch *told = atomic_load_explicit(&watch, memory_order_acquire);
    if (told)
        told->submit();
}
