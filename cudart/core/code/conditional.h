/* SPDX-License-Identifier: Apache-2.0
 *
 * The variables that kernels set and that decide about a graph's conditional node: whether, how
 * often, or which of its bodies run.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_CONDITIONAL_H
#define PTXRUN_CUDART_CORE_CODE_CONDITIONAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/object.h"

struct crt_context;

/* The variable. Its address is the handle that kernels get. It lives as long as the graph it was
 * made for, or any node that uses it. */
struct crt_conditional {
    struct crt_object object;
    atomic_size_t refs;
    uint64_t graph_id;
    struct crt_context *ctx;
    uint32_t initial;
    bool has_default; /* every launch starts from initial */
    bool is_used;     /* by a node */
    _Atomic uint32_t value;
    struct crt_conditional *next; /* of the graph */
};

CRT_API_BEGIN

bool crt_conditional_is_valid(const struct crt_conditional *variable);

CRT_API_END

struct crt_conditional *crt_conditional_retain(struct crt_conditional *variable);
void crt_conditional_release(struct crt_conditional *variable); /* NULL is allowed */

/* Resets it to the value that launches begin with. */
void crt_conditional_reset(struct crt_conditional *variable);

#endif
