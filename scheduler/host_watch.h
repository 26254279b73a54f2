/* SPDX-License-Identifier: Apache-2.0
 *
 * What is told to whoever watches the program's own threads (sch_watch_host).
 */
#ifndef PTXRUN_SCHEDULER_HOST_WATCH_H
#define PTXRUN_SCHEDULER_HOST_WATCH_H

#include <signal.h>
#include <stdbool.h>

/* In the handler: whether the signal is of an access to locked memory, which may be tried again. */
bool sch_host_access(int signal_number, const siginfo_t *info, const void *context);

/* The host is about to submit an operation. */
void sch_host_submits(void);

#endif
