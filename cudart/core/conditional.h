/* SPDX-License-Identifier: Apache-2.0
 *
 * Conditional nodes of graphs: the variables that kernels set and that decide whether, how often
 * or which of the node's bodies run.
 */
#ifndef PTXRUN_CUDART_CORE_CONDITIONAL_H
#define PTXRUN_CUDART_CORE_CONDITIONAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/object.h"
#include "cudart/core/result.h"

struct crt_context;
struct crt_graph;

/* Numbers of CUgraphConditionalNodeType. */
enum crt_condition_kind { CRT_CONDITION_IF, CRT_CONDITION_WHILE, CRT_CONDITION_SWITCH };

#define CRT_CONDITION_ASSIGN_DEFAULT 1u
#define CRT_CONDITION_BODIES_MAX     4096

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

/* What a conditional node does. */
struct crt_condition {
    struct crt_conditional *variable;
    enum crt_condition_kind kind;
    unsigned body_count;
    struct crt_graph **bodies; /* owned */
};

CRT_API_BEGIN

enum crt_result crt_conditional_create(struct crt_graph *graph, struct crt_context *ctx,
                                       uint32_t initial, unsigned flags,
                                       struct crt_conditional **variable);
bool crt_conditional_is_valid(const struct crt_conditional *variable);

CRT_API_END

struct crt_conditional *crt_conditional_retain(struct crt_conditional *variable);
void crt_conditional_release(struct crt_conditional *variable); /* NULL is allowed */

/* What its launches begin with. */
void crt_conditional_reset(struct crt_conditional *variable);

/* The body to run next, -1: none. */
int crt_condition_choose(const struct crt_condition *condition);

#endif
