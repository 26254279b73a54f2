/* SPDX-License-Identifier: Apache-2.0
 *
 * The work of nodes: making, copying, checking and freeing it; attributes of kernel nodes.
 */
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "cudart/core/code/conditional.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/graph/graph.h"
#include "cudart/core/memory/copy.h"
#include "cudart/core/memory/graph_blocks.h"
#include "cudart/core/memory/mem_op.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/event.h"

#define ATTRIBUTE_COOPERATIVE      2
#define ATTRIBUTE_CLUSTER          4
#define ATTRIBUTE_DEVICE_UPDATABLE 13

enum crt_result crt_work_child(struct crt_graph *child, bool is_moved, struct crt_work *work)
{
    *work = (struct crt_work){.kind = CRT_NODE_CHILD, .child = child};
    if (!is_moved)
        return crt_graph_clone(child, &work->child);
    if (!crt_graph_is_valid(child) || child->owner || crt_graph_has_instances(child) ||
        crt_graph_contains(child, CRT_NODE_CONDITIONAL))
        return CRT_INVALID_VALUE;
    child->is_moved = true;
    return CRT_SUCCESS;
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

/* The graph that a body, at whatever depth, is a part of. */
static const struct crt_graph *outermost(const struct crt_graph *graph)
{
    while (graph->owner)
        graph = graph->owner->graph;
    return graph;
}

static void free_bodies(struct crt_condition *condition)
{
    for (unsigned i = 0; i < condition->body_count; i++)
        if (condition->bodies[i])
            crt_graph_free(condition->bodies[i]);
    free(condition->bodies);
    condition->bodies = NULL;
    crt_conditional_release(condition->variable);
}

static bool is_body_count(enum crt_condition_kind kind, unsigned count)
{
    switch (kind) {
    case CRT_CONDITION_IF:
        return count == 1 || count == 2;
    case CRT_CONDITION_WHILE:
        return count == 1;
    case CRT_CONDITION_SWITCH:
        return count >= 1 && count <= CRT_CONDITION_BODIES_MAX;
    }
    return false;
}

enum crt_result crt_work_conditional(struct crt_graph *graph, struct crt_conditional *variable,
                                     enum crt_condition_kind kind, unsigned body_count,
                                     struct crt_work *work)
{
    if (!crt_graph_is_valid(graph) || !crt_conditional_is_valid(variable) ||
        !is_body_count(kind, body_count) || variable->is_used)
        return CRT_INVALID_VALUE;
    if (variable->graph_id != graph->id && variable->graph_id != outermost(graph)->id)
        return CRT_INVALID_VALUE;
    struct crt_condition condition = {.variable = crt_conditional_retain(variable),
                                      .kind = kind,
                                      .body_count = body_count,
                                      .bodies = calloc(body_count, sizeof(struct crt_graph *))};
    enum crt_result result = condition.bodies ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
    if (!condition.bodies)
        condition.body_count = 0;
    for (unsigned i = 0; i < condition.body_count && result == CRT_SUCCESS; i++)
        result = crt_graph_create(&condition.bodies[i]);
    if (result != CRT_SUCCESS) {
        free_bodies(&condition);
        return result;
    }
    variable->is_used = true;
    *work = (struct crt_work){.kind = CRT_NODE_CONDITIONAL, .condition = condition};
    return CRT_SUCCESS;
}

void crt_work_free(struct crt_work *work)
{
    switch (work->kind) {
    case CRT_NODE_KERNEL:
        free(work->launch.params);
        free(work->launch.attributes);
        break;
    case CRT_NODE_CHILD:
        if (work->child)
            crt_graph_free(work->child);
        break;
    case CRT_NODE_ALLOC:
        crt_graph_block_release(work->memory.block);
        break;
    case CRT_NODE_MEM_OPS:
        free(work->mem_ops.ops);
        break;
    case CRT_NODE_CONDITIONAL:
        free_bodies(&work->condition);
        break;
    default:
        break;
    }
    *work = (struct crt_work){.kind = CRT_NODE_EMPTY};
}

static enum crt_result copy_launch(const struct crt_work *work, struct crt_work *copy)
{
    enum crt_result result =
        crt_work_launch(work->launch.kernel, &work->launch.config, work->launch.params, NULL, copy);
    if (result != CRT_SUCCESS)
        return result;
    copy->ctx = work->ctx;
    if (!work->launch.attributes)
        return CRT_SUCCESS;
    copy->launch.attributes = malloc(sizeof *copy->launch.attributes);
    if (!copy->launch.attributes) {
        crt_work_free(copy);
        return CRT_OUT_OF_MEMORY;
    }
    *copy->launch.attributes = *work->launch.attributes;
    return CRT_SUCCESS;
}

static enum crt_result copy_condition(const struct crt_condition *from, struct crt_condition *copy)
{
    *copy = *from;
    crt_conditional_retain(copy->variable);
    copy->bodies = calloc(from->body_count, sizeof copy->bodies[0]);
    if (!copy->bodies)
        copy->body_count = 0;
    enum crt_result result = copy->bodies ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
    for (unsigned i = 0; i < copy->body_count && result == CRT_SUCCESS; i++)
        result = crt_graph_copy(from->bodies[i], &copy->bodies[i]);
    if (result != CRT_SUCCESS)
        free_bodies(copy);
    return result;
}

enum crt_result crt_work_copy(const struct crt_work *work, struct crt_work *copy)
{
    *copy = *work;
    switch (work->kind) {
    case CRT_NODE_KERNEL:
        return copy_launch(work, copy);
    case CRT_NODE_CHILD:
        return crt_graph_copy(work->child, &copy->child);
    case CRT_NODE_ALLOC:
        crt_graph_block_retain(copy->memory.block);
        return CRT_SUCCESS;
    case CRT_NODE_MEM_OPS:
        return crt_work_mem_ops(work->mem_ops.ops, work->mem_ops.count, work->mem_ops.flags, copy);
    case CRT_NODE_CONDITIONAL:
        return copy_condition(&work->condition, &copy->condition);
    default:
        return CRT_SUCCESS;
    }
}

enum crt_result crt_work_check(const struct crt_work *work)
{
    switch (work->kind) {
    case CRT_NODE_KERNEL:
        if (!crt_kernel_is_valid(work->launch.kernel))
            return CRT_INVALID_HANDLE;
        return crt_launch_check(work->launch.kernel, &work->launch.config);
    case CRT_NODE_COPY:
        return crt_copy_check(&work->copy);
    case CRT_NODE_FILL:
        return crt_fill_check(&work->fill);
    case CRT_NODE_WAIT_EVENT:
    case CRT_NODE_RECORD_EVENT:
        return crt_event_is_valid(work->event) ? CRT_SUCCESS : CRT_INVALID_HANDLE;
    default:
        return CRT_SUCCESS;
    }
}

/* ---- attributes of kernel nodes ---- */

static bool has_attribute(const struct crt_node *node, int attribute)
{
    return crt_node_is_valid(node) && node->work.kind == CRT_NODE_KERNEL && attribute > 0 &&
           attribute < CRT_NODE_ATTRIBUTES;
}

enum crt_result crt_node_get_attribute(const struct crt_node *node, int attribute, void *value)
{
    if (!has_attribute(node, attribute))
        return CRT_INVALID_VALUE;
    memset(value, 0, CRT_NODE_ATTRIBUTE_BYTES);
    if (attribute == ATTRIBUTE_COOPERATIVE) {
        int is_cooperative = node->work.launch.config.is_cooperative;
        memcpy(value, &is_cooperative, sizeof is_cooperative);
    } else if (attribute == ATTRIBUTE_CLUSTER) {
        memcpy(value, node->work.launch.config.cluster, sizeof node->work.launch.config.cluster);
    } else if (node->work.launch.attributes) {
        memcpy(value, node->work.launch.attributes->values[attribute], CRT_NODE_ATTRIBUTE_BYTES);
    }
    return CRT_SUCCESS;
}

/* Attributes that change the meaning of a launch are obeyed or refused, as in a launch. */
static enum crt_result apply_attribute(struct crt_launch_config *config, int attribute,
                                       const void *value)
{
    unsigned numbers[3];
    memcpy(numbers, value, sizeof numbers);
    if (attribute == ATTRIBUTE_COOPERATIVE)
        config->is_cooperative = numbers[0] != 0;
    if (attribute == ATTRIBUTE_CLUSTER)
        memcpy(config->cluster, numbers, sizeof config->cluster);
    if (attribute == ATTRIBUTE_DEVICE_UPDATABLE && numbers[0])
        return crt_not_supported("update of kernel nodes by kernels");
    return CRT_SUCCESS;
}

enum crt_result crt_node_set_attribute(struct crt_node *node, int attribute, const void *value)
{
    if (!has_attribute(node, attribute))
        return CRT_INVALID_VALUE;
    enum crt_result result = apply_attribute(&node->work.launch.config, attribute, value);
    if (result != CRT_SUCCESS)
        return result;
    if (!node->work.launch.attributes)
        node->work.launch.attributes = calloc(1, sizeof *node->work.launch.attributes);
    if (!node->work.launch.attributes)
        return CRT_OUT_OF_MEMORY;
    memcpy(node->work.launch.attributes->values[attribute], value, CRT_NODE_ATTRIBUTE_BYTES);
    node->work.launch.attributes->is_set |= 1u << attribute;
    return CRT_SUCCESS;
}

enum crt_result crt_node_copy_attributes(struct crt_node *node, const struct crt_node *from)
{
    if (!has_attribute(node, ATTRIBUTE_COOPERATIVE) || !has_attribute(from, ATTRIBUTE_COOPERATIVE))
        return CRT_INVALID_VALUE;
    struct crt_node_attributes *copy = NULL;
    if (from->work.launch.attributes) {
        copy = malloc(sizeof *copy);
        if (!copy)
            return CRT_OUT_OF_MEMORY;
        *copy = *from->work.launch.attributes;
    }
    free(node->work.launch.attributes);
    node->work.launch.attributes = copy;
    crt_launch_keep_attributes(&node->work.launch.config, &from->work.launch.config);
    return CRT_SUCCESS;
}
