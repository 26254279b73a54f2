/* SPDX-License-Identifier: Apache-2.0
 *
 * Small kernels for the tests of the barrier optimisation.
 */
#ifndef PTXRUN_TESTS_TRANSLATOR_BARRIER_KERNELS_H
#define PTXRUN_TESTS_TRANSLATOR_BARRIER_KERNELS_H

/* The kernel k(u64 in, u64 out) with this body; the caller frees it. Registers:
 *   %tx, %ty    %tid.x, %tid.y
 *   %base       shared variable s, 4096 bytes; %own: the thread's own word of it by %tx, %mirror:
 * that of thread 63 - %tx %rd1, %rd2  in and out; %gin, %gout: the thread's own words of them %r5
 * ... %r9, %rd5 ... %rd7, %p<4>, %h<4>, %f<4>  free; %r8 is 0, the others are undefined */
char *barrier_kernel(const char *body);

#endif
