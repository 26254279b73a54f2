/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of races (rt_race_access in kernel_abi/placeholders.def) learn whether blocks of the
 * kernel ever tell each other anything.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_UNTOLD_RACES_H
#define PTXRUN_TRANSLATOR_BARRIERS_UNTOLD_RACES_H

#include <stdbool.h>

#include <llvm-c/Types.h>

/* Whether the module has checks of races, and nothing by which a block could tell others what it
 * has done: no fence, and no release. */
bool tr_has_untold_races(LLVMModuleRef module);

/* … which the checks are told: RT_RACE_UNTOLD. What would pass on nothing goes. */
void tr_mark_untold_races(LLVMModuleRef module);

#endif
