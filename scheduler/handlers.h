/* SPDX-License-Identifier: Apache-2.0
 *
 * The handlers of signals that faults raise: ours gets all, and passes those that are not of
 * kernels on as the program wants.
 */
#ifndef PTXRUN_SCHEDULER_HANDLERS_H
#define PTXRUN_SCHEDULER_HANDLERS_H

#include <signal.h>
#include <stdbool.h>

/* SIGSEGV, SIGBUS, SIGFPE, SIGILL. */
void sch_handlers_add_signals(sigset_t *set);

/* fault.c: the handler. */
void sch_on_fault(int signal_number, siginfo_t *info, void *context);

/* Does with the signal as the program wants. In sch_on_fault only. */
void sch_handlers_pass_on(int signal_number, siginfo_t *info, void *context);

/* In a child of fork, which has a copy of the program's actions, and none of our threads. */
void sch_handlers_after_fork(void);

#endif
