/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_MERGE_RACES_H
#define PTXRUN_TRANSLATOR_BARRIERS_MERGE_RACES_H

#include <llvm-c/Types.h>

/* Reads of a thread by one step from place to place, and from line to line, as unrolled loops have
 * them, are told to checks of races at once (rt_race_loop), where nothing orders threads, and the
 * thread writes nothing, between the first and the last of them. */
void tr_merge_races(LLVMModuleRef module);

#endif
