/* SPDX-License-Identifier: Apache-2.0
 *
 * What has been written (rt_written, rt_mark in kernel_abi/placeholders.def).
 */
#ifndef PTXRUN_TRANSLATOR_RT_WRITTEN_H
#define PTXRUN_TRANSLATOR_RT_WRITTEN_H

#include "kernel_abi/rt.h"

/* What becomes of rt_written, rt_mark, rt_mark_lanes and rt_check_own, with the same arguments. */
uint32_t rt_ask_written(struct rt_thread *thread, const char *address, uint64_t bytes,
                        uint64_t begin, uint64_t size_bytes, const char *shadow,
                        const char *accesses);
void rt_mark_written(struct rt_thread *thread, const char *address, uint64_t bytes, uint64_t begin,
                     uint64_t size_bytes, const char *shadow, uint32_t written);
void rt_mark_runs(struct rt_thread *thread, const char *address, uint64_t bytes, uint64_t begin,
                  uint64_t size_bytes, const char *shadow, uint64_t lanes);
void rt_own_checked(struct rt_thread *thread, uint32_t written, uint64_t place,
                    const char *accesses);

#endif
