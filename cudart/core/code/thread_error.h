/* SPDX-License-Identifier: Apache-2.0
 *
 * The last error of a kernel's thread, as the device runtime keeps it: numbers of the runtime API.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_THREAD_ERROR_H
#define PTXRUN_CUDART_CORE_CODE_THREAD_ERROR_H

#include <stdint.h>

struct crt_children;
struct rt_thread;

/* 0 changes nothing. */
void crt_thread_error_set(struct rt_thread *thread, uint32_t error);

uint32_t crt_thread_error_get(const struct rt_thread *thread);
uint32_t crt_thread_error_take(struct rt_thread *thread); /* it is 0 then */

void crt_thread_errors_free(struct crt_children *children);

#endif
