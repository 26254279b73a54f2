/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that compile best code while kernels run, and quick code before they do. Internal to
 * cudart/core/code. Thread-safe.
 *
 * They have a lower priority than workers, and there are none while nothing is to be compiled. Each
 * holds the library of the kernel that it compiles (crt_library_hold), and touches nothing else
 * that a program can destroy; a process that ends does not wait for them.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_BACKGROUND_H
#define PTXRUN_CUDART_CORE_CODE_BACKGROUND_H

struct crt_kernel;
struct crt_library;
struct crt_trial;
struct tr_facts;

/* Has best code made for launches with these facts, in the order of crt_tier_urgency. The kernel is
 * alive, as a grid of it runs, and its rent is settled. */
void crt_background_make(struct crt_kernel *kernel, const struct tr_facts *facts);

/* Has quick code made for the library's kernels, in their order, that have none, as long as a CPU
 * idles; best effort. Whoever calls it keeps the library from being unloaded meanwhile. */
void crt_background_offer(struct crt_library *library);

/* Has a trial of one of the library's kernels go on (crt_trial_go_on); best effort. The library is
 * alive, as a grid of it runs. */
void crt_background_try(struct crt_library *library, struct crt_trial *trial);

/* For tests: waits until nothing is being compiled. */
void crt_background_wait(void);

#endif
