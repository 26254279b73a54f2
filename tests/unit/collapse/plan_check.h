/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks a plan of values across sync points against what translator/collapse/collapse.h promises,
 * without the planner's own means.
 */
#ifndef PTXRUN_TESTS_COLLAPSE_PLAN_CHECK_H
#define PTXRUN_TESTS_COLLAPSE_PLAN_CHECK_H

#include "translator/collapse/collapse.h"

/* The lists agree with the homes; what is saved dominates its sync point; what is computed again
 * can be, in the order given; GROUP only where all threads of the group agree. */
void plan_check_lists(const struct tr_kernel *kernel, const struct tr_storage *storage);

/* In every region, on every path, what an instruction or a sync point uses has been given before.
 */
void plan_check_available(const struct tr_kernel *kernel, const struct tr_storage *storage);

/* Follows one thread on random paths, once through the kernel as it is and once with nothing
 * but the plan across sync points: every operand is the same in both. */
void plan_check_walk(const struct tr_kernel *kernel, const struct tr_storage *storage,
                     uint64_t seed);

#endif
