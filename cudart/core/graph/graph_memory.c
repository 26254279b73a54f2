/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes that allocate and free memory.
 */
#include "cudart/core/graph/graph_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <utlist.h>

#include "cudart/core/base/device.h"
#include "cudart/core/graph/graph.h"
#include "cudart/core/memory/graph_blocks.h"
#include "cudart/core/streams/context.h"

/* Marks the nodes that a node depends on, at any distance. Recursion would be as deep as the
 * longest chain of nodes, hence a list. */
static enum crt_result mark_ancestors(struct crt_graph *graph, struct crt_node *const *deps,
                                      size_t dep_count)
{
    struct crt_node *node;
    struct crt_node **open = malloc((graph->node_count + dep_count + 1) * sizeof open[0]);
    size_t count = 0;
    if (!open)
        return CRT_OUT_OF_MEMORY;
    DL_FOREACH(graph->nodes, node)
    node->index = 0;
    for (size_t i = 0; i < dep_count; i++) {
        if (!deps[i]->index)
            open[count++] = deps[i];
        deps[i]->index = 1;
    }
    while (count) {
        node = open[--count];
        for (size_t i = 0; i < node->dep_count; i++) {
            if (!node->deps[i]->index)
                open[count++] = node->deps[i];
            node->deps[i]->index = 1;
        }
    }
    free(open);
    return CRT_SUCCESS;
}

/* Whether each allocation of this block in the graph has been freed by a marked node. */
static bool is_all_freed(const struct crt_graph *graph, uintptr_t base)
{
    size_t allocs = 0;
    size_t frees = 0;
    const struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        if (node->work.kind == CRT_NODE_ALLOC)
            allocs += node->work.memory.base == base;
        else if (node->work.kind == CRT_NODE_FREE)
            frees += node->work.memory.base == base && node->index;
    }
    return allocs && allocs == frees;
}

/* Memory of the graph that is free before a node with marked ancestors; a reference, or NULL. */
static struct crt_graph_block *find_reusable(const struct crt_graph *graph, int device,
                                             size_t size_bytes)
{
    const struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        if (node->work.kind != CRT_NODE_ALLOC || node->work.memory.device != device ||
            node->work.memory.size_bytes != size_bytes)
            continue;
        if (is_all_freed(graph, node->work.memory.base)) {
            crt_graph_block_retain(node->work.memory.block);
            return node->work.memory.block;
        }
    }
    return NULL;
}

enum crt_result crt_work_alloc(struct crt_graph *graph, struct crt_node *const *deps,
                               size_t dep_count, struct crt_context *ctx, size_t size_bytes,
                               struct crt_work *work)
{
    if (!crt_graph_is_valid(graph) || (dep_count && !deps) || size_bytes == 0)
        return CRT_INVALID_VALUE;
    for (size_t i = 0; i < dep_count; i++)
        if (!crt_node_is_valid(deps[i]) || deps[i]->graph != graph)
            return CRT_INVALID_VALUE;
    enum crt_result result = mark_ancestors(graph, deps, dep_count);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_graph_block *block = find_reusable(graph, ctx->device->index, size_bytes);
    if (!block)
        result = crt_graph_block_create(ctx, size_bytes, &block);
    if (result == CRT_SUCCESS)
        *work = crt_graph_block_work(block);
    return result;
}

/* Allocations of the graph that it has not freed, of this block; frees of memory of others: -1. */
static long balance(const struct crt_graph *graph, uintptr_t base)
{
    long open = 0;
    const struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    {
        if (node->work.kind == CRT_NODE_ALLOC)
            open += node->work.memory.base == base;
        else if (node->work.kind == CRT_NODE_FREE)
            open -= node->work.memory.base == base;
    }
    return open;
}

static bool has_alloc(const struct crt_graph *graph, uintptr_t base)
{
    const struct crt_node *node;
    DL_FOREACH(graph->nodes, node)
    if (node->work.kind == CRT_NODE_ALLOC && node->work.memory.base == base)
        return true;
    return false;
}

enum crt_result crt_work_free_memory(const struct crt_graph *graph, uintptr_t base,
                                     struct crt_work *work)
{
    if (!crt_graph_is_valid(graph))
        return CRT_INVALID_VALUE;
    if (!crt_graph_block_exists(base) || balance(graph, base) < (has_alloc(graph, base) ? 1 : 0))
        return CRT_INVALID_VALUE;
    *work = (struct crt_work){.kind = CRT_NODE_FREE, .memory = {.base = base}};
    return CRT_SUCCESS;
}
