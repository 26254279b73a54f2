/* SPDX-License-Identifier: Apache-2.0
 *
 * Local arrays, lane after lane. A thread's array is one piece of memory in PTX, so threads side by
 * side access memory that is far apart when each accesses the same element of its array. Where
 * nobody can tell the difference, the arrays of all threads lie element after element: element 0 of
 * every thread, then element 1 of every thread.
 *
 * The program of one thread says so with one number, the *pitch*: how many elements lie between an
 * element of a thread and its next one. An access to byte o of the array becomes one to byte o *
 * pitch. Whoever runs the program sets the pitch: in a block it is the number of threads (and a few
 * more), for a thread alone it is 1.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_INTERLEAVE_H
#define PTXRUN_TRANSLATOR_COLLAPSE_INTERLEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "util/error.h"

/* The distance of one thread's elements is so many bytes longer than the elements of all threads: a
 * multiple of 4096 bytes is the worst distance for a cache. */
#define TR_PITCH_GAP_BYTES 64

/* Rewrites all accesses to the kernel's arrays for which that is possible. *has_changed: to some.
 */
enum pxr_status tr_interleave(LLVMValueRef kernel, bool *has_changed, struct pxr_error *err);

/* The size of an element in bytes if the alloca is accessed in this way; 0: it is not. */
uint32_t tr_interleaved_unit(LLVMValueRef alloca);

/* The bytes of a thread's array, in whole elements of any size. */
uint64_t tr_interleaved_bytes(LLVMTargetDataRef layout, LLVMValueRef alloca);

/* The size of the elements whose pitch the instruction reads; 0: it reads none. */
uint32_t tr_read_pitch_unit(LLVMValueRef inst);

/* Makes the pitch that of a thread alone, wherever the function reads it. */
void tr_interleave_alone(LLVMValueRef function);

#endif
