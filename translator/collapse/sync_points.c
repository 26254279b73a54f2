/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the instructions that are sync points, and those of them that loops can pass.
 */
#include "translator/collapse/collapse.h"

#include "translator/collapse/kernel_steps.h"

static bool is_barrier(LLVMValueRef call)
{
    enum rt_placeholder placeholder = tr_placeholder_of(call);
    return placeholder == RT_CALL_BAR_SYNC || placeholder == RT_CALL_BAR_ARRIVE ||
           placeholder == RT_CALL_BAR_RED;
}

/* The barrier's number, or -1 if it is not constant. Operand 0 is the thread. */
static int64_t barrier_id(LLVMValueRef call)
{
    LLVMValueRef id = LLVMGetOperand(call, 1);
    return LLVMIsAConstantInt(id) != NULL ? (int64_t)LLVMConstIntGetZExtValue(id) : -1;
}

/* Whether it is for all threads of the block, and every thread names the same barrier. */
static bool is_whole_barrier(LLVMValueRef call)
{
    LLVMValueRef count = LLVMGetOperand(call, 2);
    return barrier_id(call) >= 0 && LLVMIsAConstantInt(count) != NULL &&
           LLVMConstIntGetZExtValue(count) == 0;
}

static enum rt_sync classify(LLVMValueRef call)
{
    enum rt_sync kind = tr_placeholder_info(call)->sync;
    bool is_whole_kind = kind == RT_SYNC_BARRIER || kind == RT_SYNC_BARRIER_RED;
    return is_whole_kind && !is_whole_barrier(call) ? RT_SYNC_OTHER : kind;
}

/* Whether something may be pending at a barrier when all threads come to it: arrivals that nobody
 * waits for, and counted ones. Only the scheduler counts them. */
static bool may_be_pending(const struct tr_kernel *kernel, LLVMValueRef barrier)
{
    for (uint32_t j = 1; j < kernel->sync_count; j++) {
        const struct tr_sync_point *sync = &kernel->sync_points[j];
        LLVMValueRef call = kernel->graph.values[sync->value].llvm;
        if (sync->kind == RT_SYNC_OTHER && is_barrier(call) &&
            (barrier_id(call) < 0 || barrier_id(call) == barrier_id(barrier)))
            return true;
    }
    return false;
}

static bool can_be_fused(const struct tr_kernel *kernel, const struct tr_sync_point *sync)
{
    switch (sync->kind) {
    case RT_SYNC_BARRIER:
    case RT_SYNC_BARRIER_RED:
        return !may_be_pending(kernel, kernel->graph.values[sync->value].llvm);
    case RT_SYNC_WARP:
        return kernel->scope == TR_SCOPE_WARP;
    case RT_SYNC_OTHER:
        return false;
    case RT_SYNC_LINE_UP:
    case RT_SYNC_CLUSTER:
    case RT_SYNC_NONE:
    default:
        return true;
    }
}

uint32_t tr_sync_segment(const struct tr_kernel *kernel, uint32_t sync)
{
    return kernel->graph.values[kernel->sync_points[sync].value].segment;
}

bool tr_is_warp_sync_point(const struct tr_kernel *kernel, uint32_t sync)
{
    return kernel->sync_points[sync].kind == RT_SYNC_WARP && kernel->sync_points[sync].is_fused;
}

bool tr_is_block_sync_point(const struct tr_kernel *kernel, uint32_t sync)
{
    return kernel->sync_points[sync].kind != RT_SYNC_WARP && kernel->sync_points[sync].is_fused;
}

static bool may_differ_in_masks(const struct tr_kernel *kernel, const struct tr_sync_point *sync)
{
    const struct tr_value *call = &kernel->graph.values[sync->value];
    int parameter = rt_find_parameter(tr_placeholder_of(call->llvm), RT_TYPE_MASK);
    uint32_t mask = parameter < 0 ? TR_NONE : call->operands[parameter];
    if (mask == TR_NONE)
        return false;
    struct tr_shape shape =
        tr_shape_at(&kernel->graph, &kernel->loops, &kernel->shapes, mask, call->segment);
    return shape.kind != TR_UNIFORM || !kernel->shapes.is_uniform_segment[call->segment];
}

enum pxr_status tr_find_sync_points(struct tr_kernel *kernel, struct pxr_error *err)
{
    struct tr_graph *graph = &kernel->graph;
    uint32_t count = 1;
    for (uint32_t s = 0; s < graph->segment_count; s++)
        count += graph->segments[s].is_sync_point;
    if (count > RT_ENTRY_MAX)
        return pxr_fail(err, PXR_UNSUPPORTED, "more than %u places to wait at", RT_ENTRY_MAX);
    kernel->sync_points = pxr_arena_alloc_array(&graph->arena, count, sizeof *kernel->sync_points);
    if (kernel->sync_points == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    kernel->sync_points[0] =
        (struct tr_sync_point){.kind = RT_SYNC_NONE, .value = TR_NONE, .is_fused = true};
    kernel->sync_count = 1;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        const struct tr_segment *segment = &graph->segments[s];
        if (!segment->is_sync_point)
            continue;
        uint32_t value = segment->first_value + segment->value_count - 1;
        kernel->sync_points[kernel->sync_count++] =
            (struct tr_sync_point){.kind = classify(graph->values[value].llvm),
                                   .value = value,
                                   .resume = segment->succs[0]};
    }
    for (uint32_t j = 1; j < count; j++) {
        kernel->sync_points[j].is_fused = can_be_fused(kernel, &kernel->sync_points[j]);
        kernel->sync_points[j].asks_masks = may_differ_in_masks(kernel, &kernel->sync_points[j]);
    }
    return PXR_OK;
}
