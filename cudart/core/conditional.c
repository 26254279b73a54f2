/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables of conditional nodes.
 */
#include "cudart/core/conditional.h"

#include <utlist.h>

#include "cudart/core/graph.h"
#include "scheduler/rt.h"

bool crt_conditional_is_valid(const struct crt_conditional *variable)
{
    return crt_object_is(variable, CRT_KIND_CONDITIONAL);
}

enum crt_result crt_conditional_create(struct crt_graph *graph, struct crt_context *ctx,
                                       uint32_t initial, unsigned flags,
                                       struct crt_conditional **variable)
{
    if (!crt_graph_is_valid(graph) || (flags & ~CRT_CONDITION_ASSIGN_DEFAULT))
        return CRT_INVALID_VALUE;
    struct crt_conditional *created = crt_object_create(CRT_KIND_CONDITIONAL, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    atomic_store(&created->refs, 1);
    created->graph_id = graph->id;
    created->ctx = ctx;
    created->initial = initial;
    created->has_default = (flags & CRT_CONDITION_ASSIGN_DEFAULT) != 0;
    LL_APPEND(graph->conditionals, created);
    *variable = created;
    return CRT_SUCCESS;
}

struct crt_conditional *crt_conditional_retain(struct crt_conditional *variable)
{
    atomic_fetch_add_explicit(&variable->refs, 1, memory_order_relaxed);
    return variable;
}

void crt_conditional_release(struct crt_conditional *variable)
{
    if (variable && atomic_fetch_sub_explicit(&variable->refs, 1, memory_order_acq_rel) == 1)
        crt_object_destroy(CRT_KIND_CONDITIONAL, variable);
}

void crt_conditional_reset(struct crt_conditional *variable)
{
    if (variable->has_default)
        atomic_store_explicit(&variable->value, variable->initial, memory_order_relaxed);
}

int crt_condition_choose(const struct crt_condition *condition)
{
    uint32_t value = atomic_load_explicit(&condition->variable->value, memory_order_relaxed);
    switch (condition->kind) {
    case CRT_CONDITION_IF:
        return value ? 0 : condition->body_count > 1 ? 1 : -1;
    case CRT_CONDITION_WHILE:
        return value ? 0 : -1;
    case CRT_CONDITION_SWITCH:
        break;
    }
    return value < condition->body_count ? (int)value : -1;
}

/* Called by kernels. A handle that never was one faults like any bad pointer. */
void rt_graph_set_conditional(struct rt_thread *thread, uint64_t handle, uint32_t value)
{
    struct crt_conditional *variable = (struct crt_conditional *)(uintptr_t)handle;
    if (!crt_conditional_is_valid(variable))
        rt_fault(thread, PXR_FAULT_ADDRESS, handle);
    atomic_store_explicit(&variable->value, value, memory_order_relaxed);
}
