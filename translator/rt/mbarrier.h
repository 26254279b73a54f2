/* SPDX-License-Identifier: Apache-2.0
 *
 * mbarrier objects (PTX ISA "mbarrier"): 64 bits of shared memory whose layout the manual leaves
 * open. It is the same in the tokens that arrive-on operations return:
 *
 *   bits  0 … 19  arrivals that the current phase still waits for
 *   bits 20 … 39  arrivals that the next phase will wait for
 *   bits 40 … 60  transactions that the current phase still waits for, a signed number
 *   bit  61       there is an object: set by init, cleared by inval, which leaves the others
 *   bit  62       of what rt_mbarrier_update returns: the operation was none that is defined
 *   bit  63       the phase, modulo 2
 */
#ifndef PTXRUN_TRANSLATOR_RT_MBARRIER_H
#define PTXRUN_TRANSLATOR_RT_MBARRIER_H

#include <stdint.h>

#include "kernel_abi/rt.h"

#define RT_MBARRIER_MAX_COUNT     0xfffff /* of arrivals, and of transactions */
#define RT_MBARRIER_EXPECTED_BIT  20
#define RT_MBARRIER_TX_BIT        40
#define RT_MBARRIER_TX_BITS       21
#define RT_MBARRIER_EXISTS_BIT    61
#define RT_MBARRIER_UNDEFINED_BIT 62
#define RT_MBARRIER_PHASE_BIT     63

enum rt_mbarrier_how {
    RT_MBARRIER_ARRIVES = 1,    /* an arrive-on operation: its count is not 0 */
    RT_MBARRIER_DROPS = 2,      /* later phases wait for as many arrivals less */
    RT_MBARRIER_NO_COMPLETE = 4 /* the phase must not be complete after it */
};

/* First expects so many more transactions (a signed number), then arrives so many times, and begins
 * the next phase if nothing is left to wait for. Returns the object as it was, and whether the
 * operation is undefined there: then nothing has changed. Where there is no object it counts all
 * the same, modulo the size of each number: programs destroy objects at which others still arrive.
 * The memory accesses of the program stay on their side of it. */
uint64_t rt_mbarrier_update(struct rt_thread *thread, volatile uint64_t *object,
                            uint32_t transactions, uint32_t arrivals, uint32_t how);

enum rt_mbarrier_answer { RT_MBARRIER_INCOMPLETE, RT_MBARRIER_COMPLETE };

/* Whether a phase (modulo 2) is complete, which is the current one or the one before. */
uint32_t rt_mbarrier_ask(struct rt_thread *thread, volatile uint64_t *object, uint32_t phase);

/* Whether there is an object. Only checks ask. */
uint32_t rt_mbarrier_exists(struct rt_thread *thread, volatile uint64_t *object);

#endif
