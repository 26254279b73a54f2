/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions: the code that can be reached from each sync point without passing another. Also puts
 * together all that the region former knows of a kernel.
 */
#include "translator/collapse/kernel_steps.h"

#include <string.h>

bool tr_segment_exits(const struct tr_kernel *kernel, uint32_t segment)
{
    const struct tr_segment *at = &kernel->graph.segments[segment];
    const struct tr_value *values = &kernel->graph.values[at->first_value];
    if (values[at->value_count - 1].opcode == LLVMRet)
        return true;
    if (values[at->value_count - 1].opcode != LLVMUnreachable)
        return false;
    for (uint32_t i = 0; i < at->value_count; i++)
        if (tr_placeholder_of(values[i].llvm) == RT_CALL_EXIT)
            return true;
    return false;
}

static bool is_sync_result(const struct tr_kernel *kernel, uint32_t value)
{
    uint32_t s = kernel->graph.values[value].segment;
    const struct tr_segment *segment = &kernel->graph.segments[s];
    return segment->is_sync_point && value == segment->first_value + segment->value_count - 1;
}

bool tr_region_defines(const struct tr_kernel *kernel, uint32_t region, uint32_t value)
{
    uint32_t segment = kernel->graph.values[value].segment;
    if (segment == TR_NONE)
        return false;
    if (is_sync_result(kernel, value))
        return kernel->sync_points[region].value == value;
    return tr_set_has(&kernel->regions[region].segments, segment);
}

/* `pending` is a stack of added segments that wait, of segment_count elements. */
static void fill_region(const struct tr_kernel *kernel, const uint32_t *sync_of, uint32_t first,
                        uint32_t *pending, struct tr_region *region)
{
    uint32_t count = 0;
    pending[count++] = first;
    tr_set_add(&region->segments, first);
    while (count > 0) {
        uint32_t s = pending[--count];
        const struct tr_segment *segment = &kernel->graph.segments[s];
        if (segment->is_sync_point) {
            tr_set_add(&region->outcomes, sync_of[s]);
            continue;
        }
        if (tr_segment_exits(kernel, s)) {
            bool is_together = kernel->shapes.is_uniform_segment[s];
            region->may_exit = true;
            region->splits_group |= !is_together;
            region->exits_apart |= !is_together || kernel->scope == TR_SCOPE_WARP;
        }
        for (uint32_t i = 0; i < segment->succ_count; i++) {
            uint32_t next = segment->succs[i];
            if (tr_set_has(&region->segments, next))
                continue;
            tr_set_add(&region->segments, next);
            pending[count++] = next;
        }
    }
}

enum pxr_status tr_find_regions(struct tr_kernel *kernel, struct pxr_error *err)
{
    struct tr_graph *graph = &kernel->graph;
    struct pxr_arena *arena = &graph->arena;
    uint32_t *sync_of = pxr_arena_alloc_array(arena, graph->segment_count, sizeof *sync_of);
    uint32_t *pending = pxr_arena_alloc_array(arena, graph->segment_count, sizeof *pending);
    kernel->regions = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *kernel->regions);
    if (sync_of == NULL || pending == NULL || kernel->regions == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    for (uint32_t j = 1; j < kernel->sync_count; j++)
        sync_of[tr_sync_segment(kernel, j)] = j;
    for (uint32_t r = 0; r < kernel->sync_count; r++) {
        struct tr_region *region = &kernel->regions[r];
        region->segments = tr_set_make(arena, graph->segment_count);
        region->outcomes = tr_set_make(arena, kernel->sync_count);
        if (region->segments.words == NULL || region->outcomes.words == NULL)
            return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
        fill_region(kernel, sync_of, kernel->sync_points[r].resume, pending, region);
    }
    return PXR_OK;
}

/* All threads of the group come to a sync point in a uniform segment, or none does. */
bool tr_may_part(const struct tr_kernel *kernel, uint32_t region)
{
    const struct tr_set *outcomes = &kernel->regions[region].outcomes;
    bool is_uniform = true;
    for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1))
        is_uniform &= kernel->shapes.is_uniform_segment[tr_sync_segment(kernel, j)];
    return !is_uniform && tr_set_count(outcomes) > 1;
}

void tr_find_ways(const struct tr_kernel *kernel, struct tr_set *pending, struct tr_set *ways)
{
    for (uint32_t r = tr_set_next(pending, 0); r != TR_NONE; r = tr_set_next(pending, 0)) {
        const struct tr_set *outcomes = &kernel->regions[r].outcomes;
        tr_set_remove(pending, r);
        tr_set_add(ways, r);
        for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1))
            if (tr_is_warp_sync_point(kernel, j) && !tr_set_has(ways, j))
                tr_set_add(pending, j);
    }
}

static enum pxr_status analyse(struct tr_kernel *kernel, const struct tr_facts *facts,
                               struct pxr_error *err)
{
    struct tr_graph *graph = &kernel->graph;
    struct tr_shape_facts shape_facts = tr_shape_facts_of(facts);
    enum pxr_status status = tr_dominators_build(graph, false, &kernel->dominators, err);
    if (status == PXR_OK)
        status = tr_loops_build(graph, &kernel->loops, err);
    if (status == PXR_OK)
        status = tr_liveness_build(graph, &kernel->liveness, err);
    if (status == PXR_OK)
        status = tr_shapes_build(graph, &kernel->loops, kernel->scope, &shape_facts,
                                 &kernel->shapes, err);
    return status;
}

enum pxr_status tr_kernel_build(struct tr_kernel *kernel, LLVMValueRef function,
                                enum tr_scope scope, const struct tr_facts *facts,
                                struct pxr_error *err)
{
    memset(kernel, 0, sizeof *kernel);
    kernel->scope = scope;
    enum pxr_status status = tr_graph_build(&kernel->graph, function, tr_is_sync_point, err);
    if (status != PXR_OK)
        return status;
    status = analyse(kernel, facts, err);
    if (status == PXR_OK)
        status = tr_find_sync_points(kernel, err);
    if (status == PXR_OK)
        status = tr_find_regions(kernel, err);
    if (status != PXR_OK)
        tr_kernel_fini(kernel);
    return status;
}

void tr_kernel_fini(struct tr_kernel *kernel)
{
    tr_graph_fini(&kernel->graph);
}
