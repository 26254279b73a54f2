/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the address that a faulting instruction wanted to access, where the system does not say.
 */
#ifndef PTXRUN_SCHEDULER_OPERAND_H
#define PTXRUN_SCHEDULER_OPERAND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "scheduler/scheduler.h"

enum sch_operand {
    SCH_OPERAND_UNKNOWN,
    SCH_OPERAND_MEMORY, /* the address of memory */
    SCH_OPERAND_TARGET  /* the target of a jump */
};

/* Whether the system has left out the address of the fault: x86 processors do not tell it when it
 * is not canonical (the upper 17 bits are not all the same), nor when an instruction wants memory
 * with more alignment than that has. */
bool sch_operand_is_missing(const siginfo_t *info);

/* The address, from the instruction and the registers. */
enum sch_operand sch_operand_find(const ucontext_t *context, uint64_t *address);

#endif
