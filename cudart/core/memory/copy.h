/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills, in order with a stream.
 *
 * CUDA's rules ("API synchronization behavior"): a copy from pageable memory has read its source
 * when the call returns; a copy to pageable memory has finished when the call returns.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_COPY_H
#define PTXRUN_CUDART_CORE_MEMORY_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/host_frames.h"
#include "cudart/core/base/result.h"
#include "cudart/core/streams/work.h"

CRT_API_BEGIN

/* is_async: the program called an asynchronous function; it returns before it is done as far as the
 * rules above allow. Synchronous ones invalidate a capture, and return early only when the host
 * cannot see it.
 * CRT_INVALID_VALUE when a side does not lie in its allocation. */
enum crt_result crt_copy(struct crt_stream *stream, const struct crt_copy *copy, bool is_async);
enum crt_result crt_fill(struct crt_stream *stream, const struct crt_fill *fill, bool is_async);

/* The checks that both make before they do anything. */
enum crt_result crt_copy_check(const struct crt_copy *copy);
enum crt_result crt_fill_check(const struct crt_fill *fill);

CRT_API_END

/* Whether doing it takes no longer than handing it to a worker. It must not be empty. */
bool crt_copy_is_small(const struct crt_copy *copy);
bool crt_fill_is_small(const struct crt_fill *fill);

/* Does it at once, in the calling thread; workers may help with large copies. calls: that have
 * asked for it, for messages, or NULL. */
void crt_copy_run(const struct crt_copy *copy, const struct crt_frames *calls);

/* The same for small ones, without counting them. */
void crt_copy_rows(const struct crt_copy *copy);

void crt_fill_run(const struct crt_fill *fill, const struct crt_frames *calls);

#endif
