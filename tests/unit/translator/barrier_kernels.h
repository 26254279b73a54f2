/* SPDX-License-Identifier: Apache-2.0
 *
 * Small kernels for the tests of translator/barriers.
 */
#ifndef PTXRUN_TESTS_TRANSLATOR_BARRIER_KERNELS_H
#define PTXRUN_TESTS_TRANSLATOR_BARRIER_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

#include "ptx/ptx.h"
#include "translator/module/launch_facts.h"

/* The kernel k(u64 in, u64 out) with this body; the caller frees it. Registers:
 *   %tx, %ty    %tid.x, %tid.y
 *   %base       shared variable s, 4096 bytes; %own: the thread's own word of it by %tx, %mirror:
 * that of thread 63 - %tx %rd1, %rd2  in and out; %gin, %gout: the thread's own words of them %r5
 * ... %r9, %rd5 ... %rd7, %p<4>, %h<4>, %f<4>  free; %r8 is 0, the others are undefined */
char *barrier_kernel(const char *body);

/* Of its text; it has to be right. The caller destroys the module. */
struct ptx_module *barrier_kernel_parse(const char *text);

/* Its IR for launches with these facts, as translator/barriers gets it. The caller disposes of it.
 */
LLVMModuleRef barrier_kernel_translate(const struct ptx_module *ptx, LLVMContextRef context,
                                       bool check_alignment, const struct tr_facts *facts);

/* How many calls of the function the module has. */
uint32_t barrier_kernel_calls(LLVMModuleRef module, const char *name);

#endif
