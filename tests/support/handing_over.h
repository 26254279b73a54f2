/* SPDX-License-Identifier: Apache-2.0
 *
 * A grid that begins with quick code and goes on with other code from a thread on that the test
 * chooses: when so many threads have begun, the quick code itself asks for being handed over.
 */
#ifndef PTXRUN_TESTS_SUPPORT_HANDING_OVER_H
#define PTXRUN_TESTS_SUPPORT_HANDING_OVER_H

#include <stdatomic.h>

#include "scheduler/scheduler.h"

struct LLVMOpaqueModule;

/* Of one launch; the argument of its watch and of its done function. */
struct handing_over {
    struct sch_fault fault;
    struct sch_code other; /* that goes on */
};

/* Lets the kernel's threads ask for it, when as many have begun as countdown says at first. Of the
 * program of one thread; countdown outlives the code. */
void handing_over_ask(struct LLVMOpaqueModule *module, _Atomic(int32_t) *countdown);

/* Sets the countdown of the process's next launch. Of one at a time. */
extern _Atomic(int32_t) handing_over_countdown;

/* The grid's watch. */
enum sch_verdict handing_over_watch(void *arg, const struct sch_progress *progress,
                                    struct sch_code *code);

#endif
