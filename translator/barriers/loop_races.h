/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of races (rt_race_access in kernel_abi/placeholders.def) in loops.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_LOOP_RACES_H
#define PTXRUN_TRANSLATOR_BARRIERS_LOOP_RACES_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "util/error.h"

bool tr_has_race_checks(LLVMModuleRef module);
/* Whether the instruction may order threads, or tell something that has to be told there. */
bool tr_orders_races(LLVMValueRef inst);

/* In loops in which nothing orders threads: what an access does in all iterations, at one place or
 * at places at one distance, is told once (rt_race_loop). Loops have one way in, and ways out of
 * their own. */
enum pxr_status tr_tell_races_of_loops(LLVMModuleRef module, struct pxr_error *err);

#endif
