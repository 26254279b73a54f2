/* SPDX-License-Identifier: Apache-2.0
 *
 * What an instruction calls, and whether threads may have to wait for each other there.
 */
#ifndef PTXRUN_TRANSLATOR_ANALYSIS_CALLS_H
#define PTXRUN_TRANSLATOR_ANALYSIS_CALLS_H

#include <stdbool.h>

#include <llvm-c/Types.h>

enum tr_stop_kind {
    TR_STOP_START,       /* none: the kernel's beginning, stop 0 */
    TR_STOP_BARRIER,     /* for all threads of the block */
    TR_STOP_BARRIER_RED, /* the same, with a reduction */
    TR_STOP_WARP,        /* lanes of a warp meet */
    TR_STOP_OTHER        /* counted barriers, bar.arrive, polls: never fused */
};

/* The name of the function that the instruction calls directly, "" if it calls none. */
const char *tr_callee_name(LLVMValueRef inst);

/* Whether the instruction calls a placeholder at which a thread may stop. */
bool tr_is_stop(LLVMValueRef inst);

/* The same; *kind: of what kind the placeholder is, if it is one. */
bool tr_find_stop(LLVMValueRef inst, enum tr_stop_kind *kind);

#endif
