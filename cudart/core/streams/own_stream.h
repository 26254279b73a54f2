/* SPDX-License-Identifier: Apache-2.0
 *
 * Per-thread default streams: each thread has one of its own in every context where it uses one. It
 * lives until the thread or the context ends.
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_OWN_STREAM_H
#define PTXRUN_CUDART_CORE_STREAMS_OWN_STREAM_H

#include "cudart/core/base/result.h"

struct crt_context;
struct crt_stream;

/* The calling thread's own stream in ctx, made at the first use. */
enum crt_result crt_own_stream_get(struct crt_context *ctx, struct crt_stream **stream);

/* Makes the own streams of a context that ends streams like any other, and nobody's own. */
void crt_own_streams_forget(const struct crt_context *ctx);

#endif
