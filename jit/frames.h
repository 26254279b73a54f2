/* SPDX-License-Identifier: Apache-2.0
 *
 * The stack that compiled code needs: frame sizes as LLVM's code generator reports them, added up
 * along the deepest chain of calls.
 */
#ifndef PTXRUN_JIT_FRAMES_H
#define PTXRUN_JIT_FRAMES_H

#include <llvm-c/Types.h>
#include <stdbool.h>
#include <stdint.h>

struct jit_frame;

struct jit_frames {
    struct jit_frame *by_name; /* uthash */
    bool is_incomplete;        /* an allocation failed */
};

/* Asks LLVM to report the frame of every function of the module (a function attribute). */
void jit_frames_request(LLVMModuleRef module);

/* Takes the report out of a diagnostic's text; false if it is no such report. */
bool jit_frames_note(struct jit_frames *frames, const char *diagnostic);

/* Bytes for entry and everything it calls directly or indirectly through known functions, or passes
 * on to functions outside of the module, as operations of a warp are; 0 when not known: recursion,
 * calls through pointers, or a missing report. Calls out of the module are not counted. */
uint32_t jit_frames_depth(const struct jit_frames *frames, LLVMValueRef entry);

void jit_frames_fini(struct jit_frames *frames);

#endif
