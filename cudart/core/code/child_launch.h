/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that kernels launch: buffers for their parameters, then the launch. Called aside
 * (sch_call_aside). Errors as in children.h.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_CHILD_LAUNCH_H
#define PTXRUN_CUDART_CORE_CODE_CHILD_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/streams/work.h"

struct crt_children;
struct rt_thread;

/* The kernel that a function's address means in the thread's program; NULL: none. */
struct crt_kernel *crt_child_kernel(const struct rt_thread *thread, uint64_t function);

/* Memory for the parameters of a launch that has its kernel and its shape … */
uint32_t crt_child_buffer_for(struct rt_thread *thread, uint64_t function,
                              const struct crt_launch_config *config, uint64_t *address);

/* … and of a launch that will have them. */
uint32_t crt_child_buffer(struct rt_thread *thread, size_t size_bytes, uint64_t *address);

/* Launches what the buffer was asked for, which is used up. */
uint32_t crt_child_launch(struct rt_thread *thread, uint64_t address, uint64_t stream);

/* The same with a buffer of the second kind. */
uint32_t crt_child_launch_with(struct rt_thread *thread, uint64_t function,
                               const struct crt_launch_config *config, uint64_t address,
                               uint64_t stream);

/* Whether the bytes are in a buffer that the kernel of this thread has got and not used yet. */
bool crt_child_buffers_cover(const struct rt_thread *thread, uint64_t address, uint64_t bytes);

/* Of launches that were not made. */
void crt_child_buffers_free(struct crt_children *children);

#endif
