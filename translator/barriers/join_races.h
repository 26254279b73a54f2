/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_JOIN_RACES_H
#define PTXRUN_TRANSLATOR_BARRIERS_JOIN_RACES_H

#include <llvm-c/Types.h>

/* What a thread reads and writes at one place, with nothing between that orders threads, is told to
 * checks of races as one write of a value that nobody knows: whatever races with the read races
 * with that, and whatever does not, does not. Of reads of one place one is told. */
void tr_join_races(LLVMModuleRef module);

#endif
