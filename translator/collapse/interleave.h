/* SPDX-License-Identifier: Apache-2.0
 *
 * Local arrays, lane after lane. A thread's array is one piece of memory in PTX, so that threads
 * side by side that access one element of theirs each are far apart. Where nobody can tell the
 * difference, the arrays of all threads lie element after element: element 0 of every thread, then
 * element 1 of every thread.
 *
 * The program of one thread says so with one number, the *pitch*: how many elements there are
 * between an element of a thread and its next one. An access to byte o of the array becomes one to
 * byte o * pitch. Whoever runs the program knows the pitch: a block's threads have as many elements
 * side by side as there are of them (and a few more), a thread alone has 1.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_INTERLEAVE_H
#define PTXRUN_TRANSLATOR_COLLAPSE_INTERLEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "util/error.h"

/* Elements of one thread are that many bytes more apart than threads have elements: memory of a
 * multiple of 4096 bytes is the worst distance for a cache. */
#define TR_PITCH_GAP_BYTES 64

/* Rewrites all accesses to the kernel's arrays for which that is possible. *has_changed: to some.
 */
enum pxr_status tr_interleave(LLVMValueRef kernel, bool *has_changed, struct pxr_error *err);

/* Bytes of the elements of an alloca that is accessed in this way; 0: it is not. */
uint32_t tr_interleaved_unit(LLVMValueRef alloca);

/* What a thread has of its array: whole elements, of whatever size. */
uint64_t tr_interleaved_bytes(LLVMTargetDataRef layout, LLVMValueRef alloca);

/* Bytes of the elements whose pitch the instruction reads; 0: it is no such load. */
uint32_t tr_read_pitch_unit(LLVMValueRef inst);

/* The pitch of a thread alone, wherever one is read in the function. */
void tr_interleave_alone(LLVMValueRef function);

#endif
