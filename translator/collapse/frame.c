/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of a block's frame.
 */
#include "translator/collapse/frame.h"

#include <string.h>

#include <llvm-c/Target.h>

#include "translator/collapse/again.h"
#include "translator/collapse/interleave.h"
#include "translator/collapse/prepare.h"

#define ENTRY_BYTES       2
#define OPERAND_BYTES     8
#define LOCAL_ALIGN_BYTES 64

static uint32_t take_bytes(uint64_t *used, uint64_t bytes)
{
    uint32_t at = (uint32_t)*used;
    *used += bytes;
    return at;
}

static uint32_t value_bytes(const struct tr_kernel *kernel, LLVMTargetDataRef target,
                            uint32_t value)
{
    LLVMTypeRef type = LLVMTypeOf(kernel->graph.values[value].llvm);
    return (uint32_t)LLVMABISizeOfType(target, type);
}

static bool is_made_of(const struct tr_kernel *kernel, const struct tr_value *value,
                       const struct tr_set *made)
{
    for (uint32_t i = 0; i < value->operand_count; i++) {
        uint32_t operand = value->operands[i];
        if (operand != TR_NONE && kernel->graph.values[operand].segment != TR_NONE &&
            !tr_set_has(made, operand))
            return false;
    }
    return true;
}

/* Finds the values that a thread computes from its context alone: they need no memory, unless some
 * plan saves them all the same, since the loops look for them there. */
static void find_at_hand(struct tr_frame *frame, const struct tr_kernel *kernel,
                         const struct tr_storage *storage, struct tr_set *saved)
{
    const struct tr_graph *graph = &kernel->graph;
    struct tr_set *made = &frame->at_hand;
    for (uint32_t j = 1; j < kernel->sync_count; j++)
        tr_set_merge(saved, &storage->crossings[j].saved);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        bool may_be_early = value->opcode != LLVMLoad || tr_is_launch_load(value->llvm);
        if (value->segment != TR_NONE && !tr_set_has(saved, v) && may_be_early &&
            tr_again_kind(value) == TR_AGAIN_PURE && is_made_of(kernel, value, made))
            tr_set_add(made, v);
    }
    /* Values among these that are kept otherwise, and their operands. */
    struct tr_set *needed = saved;
    memset(needed->words, 0, needed->word_count * sizeof *needed->words);
    for (uint32_t v = graph->value_count; v-- > 0;) {
        const struct tr_value *value = &graph->values[v];
        if (!tr_set_has(made, v) || !(tr_set_has(&frame->tracked, v) || tr_set_has(needed, v)))
            continue;
        tr_set_add(needed, v);
        for (uint32_t i = 0; i < value->operand_count; i++)
            if (value->operands[i] != TR_NONE)
                tr_set_add(needed, value->operands[i]);
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (!tr_set_has(needed, v))
            tr_set_remove(made, v);
        if (tr_set_has(made, v))
            tr_set_remove(&frame->tracked, v);
    }
}

/* Finds the values that have an array with an element per thread. */
static void find_tracked(struct tr_frame *frame, const struct tr_kernel *kernel,
                         const struct tr_storage *storage, bool has_step)
{
    for (uint32_t j = 1; j < kernel->sync_count; j++) {
        const struct tr_crossing *crossing = &storage->crossings[j];
        const struct tr_set *saved = &crossing->saved;
        for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1))
            if (has_step ||
                (crossing->home[v] == TR_HOME_THREAD && !tr_is_warp_sync_point(kernel, j)))
                tr_set_add(&frame->tracked, v);
        if (!has_step)
            continue;
        tr_set_merge(&frame->tracked, &kernel->liveness.live_in[kernel->sync_points[j].resume]);
        tr_set_merge(&frame->tracked, &crossing->needed);
    }
    /* Every function that runs threads makes these itself. */
    for (uint32_t v = 0; v < kernel->graph.value_count; v++)
        if (kernel->graph.values[v].segment == TR_NONE ||
            kernel->graph.values[v].opcode == LLVMAlloca)
            tr_set_remove(&frame->tracked, v);
}

static void lay_out_threads(struct tr_frame *frame, const struct tr_kernel *kernel,
                            LLVMTargetDataRef target)
{
    take_bytes(&frame->thread_bytes, ENTRY_BYTES);
    for (uint32_t v = 0; v < kernel->graph.value_count; v++) {
        frame->thread_array[v] = TR_NONE;
        if (tr_set_has(&frame->tracked, v))
            frame->thread_array[v] =
                take_bytes(&frame->thread_bytes, value_bytes(kernel, target, v));
    }
    for (uint32_t i = 0; i < TR_SYNC_OPERANDS; i++)
        frame->operand_array[i] = take_bytes(&frame->thread_bytes, OPERAND_BYTES);
    frame->result_array = take_bytes(&frame->thread_bytes, OPERAND_BYTES);
}

/* In order of falling size all elements are aligned, whatever the number of groups. */
static void lay_out_groups(struct tr_frame *frame, const struct tr_kernel *kernel,
                           const struct tr_storage *storage, bool has_step,
                           LLVMTargetDataRef target)
{
    for (uint32_t v = 0; v < kernel->graph.value_count; v++)
        frame->group_array[v] = TR_NONE;
    for (uint32_t bytes = 16; bytes > 0; bytes /= 2) {
        for (uint32_t j = 1; j < kernel->sync_count; j++) {
            const struct tr_crossing *crossing = &storage->crossings[j];
            const struct tr_set *saved = &crossing->saved;
            if (!has_step && tr_is_warp_sync_point(kernel, j))
                continue;
            for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1))
                if (crossing->home[v] == TR_HOME_GROUP && frame->group_array[v] == TR_NONE &&
                    value_bytes(kernel, target, v) >= bytes)
                    frame->group_array[v] =
                        take_bytes(&frame->group_bytes, value_bytes(kernel, target, v));
        }
    }
}

/* Each element has its own size, gaps are of 64 bytes, and T times an even number is a multiple of
 * 64. */
static void lay_out_interleaved(struct tr_frame *frame, const struct tr_kernel *kernel,
                                LLVMTargetDataRef target)
{
    for (uint32_t v = 0; v < kernel->graph.value_count; v++) {
        const struct tr_value *value = &kernel->graph.values[v];
        uint32_t unit = value->opcode == LLVMAlloca ? tr_interleaved_unit(value->llvm) : 0;
        if (unit == 0)
            continue;
        frame->interleaved_count++;
        uint64_t bytes = tr_interleaved_bytes(target, value->llvm);
        frame->thread_bytes += frame->thread_bytes % 2;
        frame->local_offset[v] = take_bytes(&frame->thread_bytes, bytes);
        frame->local_gap[v] = frame->gap_bytes;
        if (kernel->scope == TR_SCOPE_BLOCK)
            frame->gap_bytes += (uint32_t)(bytes / unit) * TR_PITCH_GAP_BYTES;
    }
}

static void lay_out_local(struct tr_frame *frame, const struct tr_kernel *kernel, bool has_step,
                          bool has_vectors, LLVMTargetDataRef target)
{
    uint64_t bytes = 0;
    for (uint32_t v = 0; v < kernel->graph.value_count; v++) {
        const struct tr_value *value = &kernel->graph.values[v];
        if (value->opcode != LLVMAlloca || tr_interleaved_unit(value->llvm) != 0)
            continue;
        frame->piece_count++;
        uint64_t align = LLVMGetAlignment(value->llvm);
        bytes = (bytes + align - 1) & ~(align - 1);
        frame->local_offset[v] =
            take_bytes(&bytes, LLVMABISizeOfType(target, LLVMGetAllocatedType(value->llvm)));
    }
    frame->local_bytes =
        (uint32_t)((bytes + LOCAL_ALIGN_BYTES - 1) & ~(uint64_t)(LOCAL_ALIGN_BYTES - 1));
    frame->is_local_shared = kernel->sync_count == 1 && !has_vectors;
    if (frame->is_local_shared && !has_step)
        return;
    /* T times an even number is a multiple of 64. */
    frame->thread_bytes += frame->thread_bytes % 2;
    frame->local = take_bytes(&frame->thread_bytes, frame->local_bytes);
}

enum pxr_status tr_frame_layout(struct tr_frame *frame, struct tr_kernel *kernel,
                                const struct tr_storage *storage, bool has_step, bool has_vectors,
                                LLVMTargetDataRef target, struct pxr_error *err)
{
    struct pxr_arena *arena = &kernel->graph.arena;
    uint32_t count = kernel->graph.value_count;
    *frame = (struct tr_frame){.tracked = tr_set_make(arena, count),
                               .at_hand = tr_set_make(arena, count)};
    struct tr_set scratch = tr_set_make(arena, count);
    frame->thread_array = pxr_arena_alloc_array(arena, count, sizeof *frame->thread_array);
    frame->group_array = pxr_arena_alloc_array(arena, count, sizeof *frame->group_array);
    frame->local_offset = pxr_arena_alloc_array(arena, count, sizeof *frame->local_offset);
    frame->local_gap = pxr_arena_alloc_array(arena, count, sizeof *frame->local_gap);
    if (!frame->tracked.words || !frame->at_hand.words || !scratch.words || !frame->thread_array ||
        !frame->group_array || !frame->local_offset || !frame->local_gap)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    find_tracked(frame, kernel, storage, has_step);
    if (has_step)
        find_at_hand(frame, kernel, storage, &scratch);
    lay_out_threads(frame, kernel, target);
    lay_out_groups(frame, kernel, storage, has_step, target);
    lay_out_local(frame, kernel, has_step, has_vectors, target);
    lay_out_interleaved(frame, kernel, target);
    return PXR_OK;
}
