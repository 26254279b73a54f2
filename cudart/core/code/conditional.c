/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables of conditional nodes, as kernels see them.
 */
#include "cudart/core/code/conditional.h"

#include "kernel_abi/rt.h"

bool crt_conditional_is_valid(const struct crt_conditional *variable)
{
    return crt_object_is(variable, CRT_KIND_CONDITIONAL);
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

/* Called by kernels. A handle that never was one faults like any bad pointer. */
void rt_graph_set_conditional(struct rt_thread *thread, uint64_t handle, uint32_t value)
{
    struct crt_conditional *variable = (struct crt_conditional *)(uintptr_t)handle;
    if (!crt_conditional_is_valid(variable))
        rt_fault(thread, PXR_FAULT_ADDRESS, handle);
    atomic_store_explicit(&variable->value, value, memory_order_relaxed);
}
