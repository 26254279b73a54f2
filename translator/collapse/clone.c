/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies segments. These are in reverse postorder, and a definition dominates its uses, so a
 * value's copy exists before it is needed; phis get their values at the end.
 */
#include "translator/collapse/clone.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "translator/collapse/kept.h"

enum pxr_status tr_clone_init(struct tr_clone *clone, const struct tr_kernel *kernel,
                              struct pxr_error *err)
{
    struct pxr_arena *arena = (struct pxr_arena *)&kernel->graph.arena;
    const struct tr_graph *graph = &kernel->graph;
    clone->kernel = kernel;
    clone->copies = pxr_arena_alloc_array(arena, graph->value_count, sizeof(LLVMValueRef));
    clone->homes = pxr_arena_alloc_array(arena, graph->value_count, sizeof(LLVMValueRef));
    clone->blocks = pxr_arena_alloc_array(arena, graph->segment_count, sizeof(LLVMBasicBlockRef));
    clone->ends = pxr_arena_alloc_array(arena, graph->segment_count, sizeof(LLVMBasicBlockRef));
    if (!clone->copies || !clone->homes || !clone->blocks || !clone->ends)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    return PXR_OK;
}

void tr_clone_reset(struct tr_clone *clone)
{
    const struct tr_graph *graph = &clone->kernel->graph;
    memset(clone->copies, 0, graph->value_count * sizeof(LLVMValueRef));
    memset(clone->homes, 0, graph->value_count * sizeof(LLVMValueRef));
    memset(clone->blocks, 0, graph->segment_count * sizeof(LLVMBasicBlockRef));
    memset(clone->ends, 0, graph->segment_count * sizeof(LLVMBasicBlockRef));
}

void tr_clone_locate(struct tr_clone *clone, uint32_t value)
{
    LLVMValueRef inst = clone->kernel->graph.values[value].llvm;
    LLVMSetCurrentDebugLocation2(
        clone->builder,
        LLVMDIBuilderCreateDebugLocation(clone->llvm, LLVMGetDebugLocLine(inst),
                                         LLVMGetDebugLocColumn(inst), clone->subprogram, NULL));
}

/* The value as the copy of the segment uses it. */
LLVMValueRef tr_clone_use(struct tr_clone *clone, uint32_t value, uint32_t segment)
{
    const struct tr_value *used = &clone->kernel->graph.values[value];
    if (clone->homes[value] == NULL || used->segment == segment)
        return clone->copies[value];
    LLVMTypeRef type = LLVMTypeOf(used->llvm);
    return clone->has_kept_homes ? tr_load_kept(clone->builder, type, clone->homes[value])
                                 : LLVMBuildLoad2(clone->builder, type, clone->homes[value], "");
}

LLVMValueRef tr_clone_operand(struct tr_clone *clone, uint32_t value, uint32_t i, uint32_t segment)
{
    const struct tr_value *inst = &clone->kernel->graph.values[value];
    if (inst->operands[i] == TR_NONE)
        return LLVMGetOperand(inst->llvm, i);
    return tr_clone_use(clone, inst->operands[i], segment);
}

void tr_clone_store_home(struct tr_clone *clone, uint32_t value)
{
    if (clone->homes[value] == NULL)
        return;
    if (clone->has_kept_homes)
        tr_store_kept(clone->builder, clone->copies[value], clone->homes[value]);
    else
        LLVMBuildStore(clone->builder, clone->copies[value], clone->homes[value]);
}

static LLVMValueRef copy_instruction(struct tr_clone *clone, uint32_t value, uint32_t segment)
{
    const struct tr_value *inst = &clone->kernel->graph.values[value];
    LLVMValueRef copy = LLVMInstructionClone(inst->llvm);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i] != TR_NONE)
            LLVMSetOperand(copy, i, tr_clone_use(clone, inst->operands[i], segment));
    tr_clone_locate(clone, value);
    LLVMInsertIntoBuilder(clone->builder, copy);
    clone->copies[value] = copy;
    return copy;
}

void tr_clone_value(struct tr_clone *clone, uint32_t value)
{
    tr_clone_locate(clone, value);
    if (!clone->replace(clone, value))
        copy_instruction(clone, value, TR_NONE);
    tr_clone_store_home(clone, value);
}

static void copy_terminator(struct tr_clone *clone, uint32_t value, uint32_t segment)
{
    LLVMValueRef copy = copy_instruction(clone, value, segment);
    const struct tr_segment *from = &clone->kernel->graph.segments[segment];
    for (uint32_t i = 0; i < from->succ_count; i++)
        LLVMSetSuccessor(copy, i, clone->blocks[from->succs[i]]);
}

/* Makes the phis at the segment's beginning, without values, and counts them. */
static uint32_t begin_phis(struct tr_clone *clone, const struct tr_segment *segment)
{
    const struct tr_value *values = clone->kernel->graph.values;
    uint32_t count = 0;
    while (count < segment->value_count && values[segment->first_value + count].opcode == LLVMPHI) {
        uint32_t value = segment->first_value + count++;
        tr_clone_locate(clone, value);
        clone->copies[value] = LLVMBuildPhi(clone->builder, LLVMTypeOf(values[value].llvm), "");
    }
    for (uint32_t i = 0; i < count; i++)
        tr_clone_store_home(clone, segment->first_value + i);
    return count;
}

/* Whether it is a marker of a lifetime. Only allocas may have these, and local arrays are no longer
 * the function's own. */
static bool is_lifetime(const struct tr_value *value)
{
    return value->opcode == LLVMCall &&
           strncmp(tr_callee_name(value->llvm), "llvm.lifetime.", 14) == 0;
}

static void copy_segment(struct tr_clone *clone, uint32_t s)
{
    const struct tr_segment *segment = &clone->kernel->graph.segments[s];
    LLVMPositionBuilderAtEnd(clone->builder, clone->blocks[s]);
    for (uint32_t i = begin_phis(clone, segment); i < segment->value_count; i++) {
        uint32_t value = segment->first_value + i;
        if (is_lifetime(&clone->kernel->graph.values[value]))
            continue;
        tr_clone_locate(clone, value);
        if (!clone->replace(clone, value)) {
            if (i + 1 == segment->value_count && !segment->is_sync_point)
                copy_terminator(clone, value, s);
            else
                copy_instruction(clone, value, s);
        }
        if (LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(clone->builder)) != NULL)
            break;
        tr_clone_store_home(clone, value);
    }
    clone->ends[s] = LLVMGetInsertBlock(clone->builder);
}

/* A switch may lead to one place in several ways: all must bring the same value. */
static LLVMValueRef find_incoming(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == from)
            return LLVMGetIncomingValue(phi, i);
    return NULL;
}

static void fill_phi(struct tr_clone *clone, uint32_t value, const struct tr_set *segments)
{
    const struct tr_value *phi = &clone->kernel->graph.values[value];
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        uint32_t from = phi->incoming[i];
        if (from == TR_NONE || !tr_set_has(segments, from))
            continue;
        LLVMPositionBuilderBefore(clone->builder, LLVMGetBasicBlockTerminator(clone->ends[from]));
        LLVMValueRef in = find_incoming(clone->copies[value], clone->ends[from]);
        if (in == NULL)
            in = phi->operands[i] == TR_NONE ? LLVMGetOperand(phi->llvm, i)
                                             : tr_clone_use(clone, phi->operands[i], from);
        LLVMAddIncoming(clone->copies[value], &in, &clone->ends[from], 1);
    }
}

void tr_clone_segments(struct tr_clone *clone, const struct tr_set *segments)
{
    const struct tr_graph *graph = &clone->kernel->graph;
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
        clone->blocks[s] = LLVMAppendBasicBlockInContext(clone->llvm, clone->function, "");
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
        copy_segment(clone, s);
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1)) {
        const struct tr_segment *segment = &graph->segments[s];
        for (uint32_t i = 0; i < segment->value_count; i++) {
            uint32_t value = segment->first_value + i;
            if (graph->values[value].opcode != LLVMPHI)
                break;
            fill_phi(clone, value, segments);
        }
    }
}
