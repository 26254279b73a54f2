/* SPDX-License-Identifier: Apache-2.0
 *
 * Identifies the callee of an instruction: a placeholder (kernel_abi/placeholders.def), a special
 * register (ptx/sregs.def), or another function.
 */
#ifndef PTXRUN_TRANSLATOR_ANALYSIS_CALLS_H
#define PTXRUN_TRANSLATOR_ANALYSIS_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include <llvm-c/Types.h>

#include "kernel_abi/placeholders.h"

/* The name of the function that the instruction calls directly, "" if it calls none. */
const char *tr_callee_name(LLVMValueRef inst);

/* The name of the intrinsic function that is called, behind "llvm." and without types; *len is 0
 * for other calls. */
const char *tr_intrinsic_name(LLVMValueRef call, size_t *len);

/* RT_CALL_NONE: it calls no placeholder, or is no call. */
enum rt_placeholder tr_placeholder_of(LLVMValueRef inst);

/* The row of that placeholder. */
const struct rt_placeholder_info *tr_placeholder_info(LLVMValueRef inst);

/* Whether the call's result depends on its arguments alone, and it has no other effect. */
bool tr_is_pure_call(LLVMValueRef call);

/* The effect of any call on memory, as far as other threads or later accesses could tell. */
enum rt_effect tr_effect_of_call(LLVMValueRef call);

/* Whether the instruction calls a placeholder at which a thread may stop. */
bool tr_is_sync_point(LLVMValueRef inst);

/* Whether threads meet at the sync point; at others each waits alone. */
bool tr_is_meeting(LLVMValueRef sync);
/* Whether the thread may wait there for others than those of its block. Where threads line up
 * nobody has to wait: whoever asks for something behind it gives way elsewhere. */
bool tr_waits_for_anybody(LLVMValueRef call);

/* Whether the launch ends there with an error. */
bool tr_is_fault(LLVMValueRef inst);

#endif
