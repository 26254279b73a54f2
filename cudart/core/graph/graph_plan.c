/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans of graphs.
 */
#include "cudart/core/graph/graph_plan.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/code/conditional.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/streams/context.h"

#define LAUNCH_ALIGN       CRT_PARAMS_ALIGN_MAX
#define ATTRIBUTE_PRIORITY 8 /* of kernel nodes */

static bool grow(void **array, size_t *cap, size_t count, size_t elem_bytes)
{
    if (count < *cap)
        return true;
    size_t wanted = *cap ? *cap * 2 : 16;
    void *grown = realloc(*array, wanted * elem_bytes);
    if (!grown)
        return false;
    *array = grown;
    *cap = wanted;
    return true;
}

/* Makes the step added last wait for another one. */
static bool add_dep(struct crt_plan *plan, size_t dep)
{
    if (!grow((void **)&plan->deps, &plan->dep_cap, plan->dep_count, sizeof plan->deps[0]))
        return false;
    plan->deps[plan->dep_count++] = dep;
    plan->steps[plan->count - 1].dep_count++;
    plan->steps[dep].has_successor = true;
    return true;
}

static struct crt_step *add_step(struct crt_plan *plan)
{
    if (!grow((void **)&plan->steps, &plan->cap, plan->count, sizeof plan->steps[0]))
        return NULL;
    struct crt_step *step = &plan->steps[plan->count++];
    memset(step, 0, sizeof *step);
    step->work.kind = CRT_NODE_EMPTY;
    step->first_dep = plan->dep_count;
    return step;
}

static bool add_deps(struct crt_plan *plan, const size_t *deps, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!add_dep(plan, deps[i]))
            return false;
    return true;
}

/* ---- what a step does ---- */

static enum crt_result create_bodies(struct crt_step *step, struct crt_node **culprit)
{
    const struct crt_condition *condition = &step->work.condition;
    crt_conditional_retain(condition->variable);
    step->bodies = calloc(condition->body_count, sizeof step->bodies[0]);
    if (!step->bodies)
        return CRT_OUT_OF_MEMORY;
    for (unsigned i = 0; i < condition->body_count; i++) {
        enum crt_result result = crt_plan_create(condition->bodies[i], &step->bodies[i], culprit);
        if (result != CRT_SUCCESS)
            return result;
    }
    return CRT_SUCCESS;
}

static size_t launch_bytes(const struct crt_kernel *kernel)
{
    size_t bytes = sizeof(struct crt_launch) + kernel->func->param_bytes + 16 +
                   crt_params_align(kernel->func) - CRT_PARAMS_ALIGN;
    return (bytes + LAUNCH_ALIGN - 1) & ~(LAUNCH_ALIGN - 1);
}

/* The step does what its node does; room for a launch is reserved. */
static enum crt_result fill_step(struct crt_plan *plan, struct crt_step *step,
                                 struct crt_node *node, struct crt_node **culprit)
{
    step->node = node;
    *culprit = node;
    enum crt_result result = crt_work_check(&node->work);
    if (result != CRT_SUCCESS)
        return result;
    step->work = node->work;
    switch (node->work.kind) {
    case CRT_NODE_KERNEL:
        step->launch_offset =
            plan->launch_bytes +
            crt_launch_padding(node->work.launch.kernel->func, plan->launch_bytes);
        plan->launch_bytes += launch_bytes(node->work.launch.kernel);
        plan->calls_runtime |= node->work.launch.kernel->outline->needs.calls_runtime;
        break;
    case CRT_NODE_HOST:
        plan->host_count++;
        break;
    case CRT_NODE_ALLOC:
    case CRT_NODE_FREE:
        plan->memory_count++;
        break;
    case CRT_NODE_CONDITIONAL:
        plan->condition_count++;
        result = create_bodies(step, culprit);
        break;
    default:
        break;
    }
    if (node->is_disabled)
        step->work.kind = CRT_NODE_EMPTY;
    return result;
}

/* ---- from graphs to steps ---- */

static enum crt_result append_graph(struct crt_plan *plan, struct crt_graph *graph,
                                    const size_t *entry, size_t entry_count,
                                    struct crt_node **culprit);

/* A child's steps wait for all that its node waits for; steps that depend on the node wait for a
 * step that waits for the child's last ones. */
static enum crt_result append_child(struct crt_plan *plan, struct crt_node *node,
                                    const size_t *deps, size_t dep_count, struct crt_node **culprit)
{
    size_t begin = plan->count;
    enum crt_result result = append_graph(plan, node->work.child, deps, dep_count, culprit);
    if (result != CRT_SUCCESS)
        return result;
    size_t end = plan->count;
    struct crt_step *step = add_step(plan);
    if (!step)
        return CRT_OUT_OF_MEMORY;
    step->node = node;
    if (begin == end && !add_deps(plan, deps, dep_count))
        return CRT_OUT_OF_MEMORY;
    for (size_t i = begin; i < end; i++)
        if (!plan->steps[i].has_successor && !add_dep(plan, i))
            return CRT_OUT_OF_MEMORY;
    return CRT_SUCCESS;
}

static enum crt_result append_node(struct crt_plan *plan, struct crt_node *node,
                                   const size_t *entry, size_t entry_count,
                                   struct crt_node **culprit)
{
    size_t dep_count = node->dep_count ? node->dep_count : entry_count;
    size_t *deps = malloc((dep_count + 1) * sizeof deps[0]);
    if (!deps)
        return CRT_OUT_OF_MEMORY;
    for (size_t i = 0; i < dep_count; i++)
        deps[i] = node->dep_count ? node->deps[i]->index : entry[i];
    enum crt_result result = CRT_SUCCESS;
    if (node->work.kind == CRT_NODE_CHILD) {
        result = append_child(plan, node, deps, dep_count, culprit);
    } else {
        struct crt_step *step = add_step(plan);
        if (!step || !add_deps(plan, deps, dep_count))
            result = CRT_OUT_OF_MEMORY;
        else
            result = fill_step(plan, step, node, culprit);
    }
    node->index = plan->count - 1;
    free(deps);
    return result;
}

static enum crt_result append_graph(struct crt_plan *plan, struct crt_graph *graph,
                                    const size_t *entry, size_t entry_count,
                                    struct crt_node **culprit)
{
    struct crt_node **order = malloc((graph->node_count + 1) * sizeof order[0]);
    if (!order)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = crt_graph_sort(graph, order, culprit);
    for (size_t i = 0; i < graph->node_count && result == CRT_SUCCESS; i++)
        result = append_node(plan, order[i], entry, entry_count, culprit);
    free(order);
    return result;
}

static void read_priority(struct crt_step *step)
{
    const struct crt_node_attributes *attributes = step->work.launch.attributes;
    step->has_priority = attributes && (attributes->is_set >> ATTRIBUTE_PRIORITY & 1);
    if (step->has_priority)
        memcpy(&step->priority, attributes->values[ATTRIBUTE_PRIORITY], sizeof step->priority);
}

/* The first state of a kernel's launch: its parameters. */
static void fill_launch(const struct crt_plan *plan, struct crt_step *step)
{
    read_priority(step);
    struct crt_launch *launch = crt_step_launch(step, plan->launches);
    struct crt_kernel *kernel = step->work.launch.kernel;
    memset(launch, 0, sizeof *launch);
    launch->kernel = kernel;
    crt_launch_copy_params(kernel, step->work.launch.params, NULL, launch->params);
}

static enum crt_result fill_tables(struct crt_plan *plan)
{
    plan->launches = aligned_alloc(LAUNCH_ALIGN, plan->launch_bytes + LAUNCH_ALIGN);
    plan->memory = calloc(plan->memory_count + 1, sizeof plan->memory[0]);
    if (!plan->launches || !plan->memory)
        return CRT_OUT_OF_MEMORY;
    memset(plan->launches, 0, plan->launch_bytes);
    size_t memory = 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct crt_step *step = &plan->steps[i];
        const struct crt_work *work = &step->work;
        if (work->kind == CRT_NODE_KERNEL)
            fill_launch(plan, step);
        if (work->kind == CRT_NODE_ALLOC || work->kind == CRT_NODE_FREE)
            plan->memory[memory++] = (struct crt_graph_memory_step){
                .base = work->memory.base, .is_alloc = work->kind == CRT_NODE_ALLOC};
    }
    return CRT_SUCCESS;
}

enum crt_result crt_plan_create(struct crt_graph *graph, struct crt_plan **plan,
                                struct crt_node **culprit)
{
    struct crt_plan *created = calloc(1, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = append_graph(created, graph, NULL, 0, culprit);
    if (result == CRT_SUCCESS)
        result = fill_tables(created);
    if (result != CRT_SUCCESS) {
        crt_plan_destroy(created);
        return result;
    }
    *culprit = NULL;
    *plan = created;
    return CRT_SUCCESS;
}

void crt_plan_destroy(struct crt_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->count; i++) {
        struct crt_step *step = &plan->steps[i];
        if (step->work.kind != CRT_NODE_CONDITIONAL)
            continue;
        for (unsigned b = 0; step->bodies && b < step->work.condition.body_count; b++)
            crt_plan_destroy(step->bodies[b]);
        free(step->bodies);
        crt_conditional_release(step->work.condition.variable);
    }
    free(plan->steps);
    free(plan->deps);
    free(plan->launches);
    free(plan->memory);
    free(atomic_load(&plan->spare));
    free(plan);
}

/* ---- before launches ---- */

static enum crt_result find_module(struct crt_step *step, struct crt_context *ctx)
{
    struct crt_kernel *kernel = step->work.launch.kernel;
    if (!crt_kernel_is_valid(kernel))
        return CRT_INVALID_HANDLE;
    if (step->module && step->module_ctx_id == ctx->id)
        return CRT_SUCCESS;
    enum crt_result result = crt_module_get(kernel->library, ctx, &step->module);
    step->module_ctx_id = ctx->id;
    return result;
}

/* The best code depends on where the parameters point to, which may have changed; so may the limits
 * of the context. */
static enum crt_result prepare_kernel(const struct crt_plan *plan, struct crt_step *step,
                                      struct crt_context *ctx)
{
    enum crt_result result = find_module(step, ctx);
    if (result != CRT_SUCCESS) {
        step->module = NULL;
        return result;
    }
    struct crt_launch *launch = crt_step_launch(step, plan->launches);
    launch->ctx = ctx;
    result = crt_launch_find_code(launch, &step->work.launch.config);
    if (result == CRT_SUCCESS)
        crt_launch_describe(launch, step->module->slots, &step->work.launch.config, &step->grid);
    return result;
}

enum crt_result crt_plan_prepare(struct crt_plan *plan, struct crt_context *ctx,
                                 struct crt_node **culprit)
{
    enum crt_result result = CRT_SUCCESS;
    for (size_t i = 0; i < plan->count && result == CRT_SUCCESS; i++) {
        struct crt_step *step = &plan->steps[i];
        *culprit = step->node;
        if (step->work.kind == CRT_NODE_KERNEL) {
            struct crt_context *own = step->work.ctx;
            bool is_alive = crt_context_is_valid(own) && atomic_load(&own->is_active);
            result = prepare_kernel(plan, step, is_alive ? own : ctx);
        }
        for (unsigned b = 0; step->bodies && b < step->work.condition.body_count; b++)
            result =
                result == CRT_SUCCESS ? crt_plan_prepare(step->bodies[b], ctx, culprit) : result;
    }
    return result;
}

bool crt_plan_change(struct crt_plan *plan, const struct crt_node *node)
{
    struct crt_step *step = node->index < plan->count ? &plan->steps[node->index] : NULL;
    if (!step || step->node != node || node->is_disabled || step->work.kind != node->work.kind)
        return false;
    switch (node->work.kind) {
    case CRT_NODE_KERNEL:
        if (step->work.launch.kernel != node->work.launch.kernel)
            return false;
        step->work = node->work;
        fill_launch(plan, step);
        return true;
    case CRT_NODE_COPY:
    case CRT_NODE_FILL:
    case CRT_NODE_HOST:
    case CRT_NODE_WAIT_EVENT:
    case CRT_NODE_RECORD_EVENT:
        step->work = node->work;
        return true;
    default:
        return false;
    }
}
