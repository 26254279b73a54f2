/* SPDX-License-Identifier: Apache-2.0
 *
 * Green contexts: a device's primary context with a share of the multiprocessors. Memory, modules
 * and errors are the primary context's; streams know whose they are, so that a green context's work
 * can be waited for alone. The share is what the program asked for and reads back: blocks run on
 * any core, as CUDA allows ("on more SMs than was provisioned, but never less").
 */
#ifndef PTXRUN_CUDART_CORE_STREAMS_GREEN_H
#define PTXRUN_CUDART_CORE_STREAMS_GREEN_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/base/object.h"
#include "cudart/core/base/result.h"

struct crt_context;
struct crt_device;
struct sch_op;

struct crt_green {
    struct crt_object object;
    struct crt_context *ctx; /* the primary one, retained */
    uint64_t id;
    unsigned sm_count;
    struct sch_op *for_all; /* later streams wait for it, or NULL; guarded by ctx->lock */
};

CRT_API_BEGIN

enum crt_result crt_green_create(struct crt_device *device, unsigned sm_count,
                                 struct crt_green **green);

/* Its streams end with it. */
enum crt_result crt_green_destroy(struct crt_green *green);

bool crt_green_is_valid(const struct crt_green *green);

/* Programs use a green context as a context: the two have one address. What a handle of a context
 * stands for: the primary context of a green one, else the same. */
struct crt_context *crt_context_behind(struct crt_context *handle);

/* The green context that a handle of a context is, or NULL. */
struct crt_green *crt_green_of(struct crt_context *handle);

/* That of the calling thread's current context, or NULL. */
struct crt_green *crt_green_current(void);

CRT_API_END

#endif
