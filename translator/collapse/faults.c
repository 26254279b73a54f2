/* SPDX-License-Identifier: Apache-2.0
 *
 * A branch to a fault keeps LLVM from making vectors of a loop over threads, even if its condition
 * is the same for all of them. So such conditions are tested once, at the beginning of a chunk of
 * blocks; if one says that a fault may happen, the blocks run thread by thread, with all checks
 * (fuse.c). Correct programs never come there.
 */
#include "translator/collapse/prepare.h"

#include <llvm-c/DebugInfo.h>

#include "translator/analysis/shape.h"
#include "translator/module/sregs.h"

/* Depth of a condition that is looked at: checks are short. */
#define MAX_DEPTH 8

/* ---- what depends on the launch only ---- */

static bool is_of_launch(const struct tr_kernel *kernel, uint32_t number, unsigned depth)
{
    if (number == TR_NONE)
        return true; /* a constant */
    const struct tr_value *value = &kernel->graph.values[number];
    if (value->segment == TR_NONE)
        return false;
    if (tr_is_launch_load(value->llvm) || tr_sreg_axis(value->llvm, TR_QUANTITY_BLOCK_SIZE) >= 0)
        return true;
    if (depth == MAX_DEPTH || !tr_is_arithmetic(value->opcode))
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!is_of_launch(kernel, value->operands[i], depth + 1))
            return false;
    return true;
}

/* ---- branches ---- */

static bool ends_in_fault(const struct tr_kernel *kernel, uint32_t number)
{
    const struct tr_segment *segment = &kernel->graph.segments[number];
    const struct tr_value *values = &kernel->graph.values[segment->first_value];
    if (values[segment->value_count - 1].opcode != LLVMUnreachable)
        return false;
    for (uint32_t i = 0; i < segment->value_count; i++)
        if (tr_is_fault(values[i].llvm))
            return true;
    return false;
}

/* Which of the two ways from the segment's end is a fault; -1: not one of two. */
static int fault_way(const struct tr_kernel *kernel, const struct tr_segment *segment)
{
    uint32_t end = segment->first_value + segment->value_count - 1;
    if (kernel->graph.values[end].opcode != LLVMBr || segment->succ_count != 2)
        return -1;
    bool first = ends_in_fault(kernel, segment->succs[0]);
    bool second = ends_in_fault(kernel, segment->succs[1]);
    return first == second ? -1 : first ? 0 : 1;
}

enum pxr_status tr_find_faults(struct tr_kernel *kernel, struct tr_faults *faults,
                               struct pxr_error *err)
{
    const struct tr_graph *graph = &kernel->graph;
    faults->count = 0;
    faults->branches =
        pxr_arena_alloc_array(&kernel->graph.arena, graph->segment_count, sizeof *faults->branches);
    if (faults->branches == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        const struct tr_segment *segment = &graph->segments[s];
        uint32_t end = segment->first_value + segment->value_count - 1;
        if (fault_way(kernel, segment) >= 0 &&
            is_of_launch(kernel, graph->values[end].operands[0], 0))
            faults->branches[faults->count++] = end;
    }
    return PXR_OK;
}

uint32_t tr_fault_bypass(const struct tr_kernel *kernel, const struct tr_faults *faults,
                         uint32_t branch)
{
    for (uint32_t i = 0; i < faults->count; i++) {
        if (faults->branches[i] != branch)
            continue;
        const struct tr_segment *segment =
            &kernel->graph.segments[kernel->graph.values[branch].segment];
        return segment->succs[1 - fault_way(kernel, segment)];
    }
    return TR_NONE;
}

/* ---- the test ---- */

/* Makes the value anew in the function of the blocks; operand: the original, if it is a
 * constant. */
static LLVMValueRef make_value(const struct tr_fuse *fuse, uint32_t number, LLVMValueRef operand)
{
    if (number == TR_NONE)
        return operand;
    const struct tr_value *value = &fuse->kernel->graph.values[number];
    int dimension = tr_sreg_axis(value->llvm, TR_QUANTITY_BLOCK_SIZE);
    if (dimension >= 0)
        return fuse->ntid[dimension];
    if (value->opcode == LLVMLoad && value->operands[0] == 0)
        return fuse->block;
    LLVMValueRef copy = LLVMInstructionClone(value->llvm);
    for (uint32_t i = 0; i < value->operand_count; i++)
        LLVMSetOperand(copy, i,
                       make_value(fuse, value->operands[i], LLVMGetOperand(value->llvm, i)));
    LLVMInstructionSetDebugLoc(copy, NULL);
    LLVMInsertIntoBuilder(fuse->builder, copy);
    return copy;
}

/* Its condition may follow from other conditions that lead to the branch, and have no value
 * elsewhere: then either answer is right. */
static LLVMValueRef build_one(const struct tr_fuse *fuse, uint32_t branch)
{
    const struct tr_kernel *kernel = fuse->kernel;
    const struct tr_value *end = &kernel->graph.values[branch];
    LLVMValueRef test = make_value(fuse, end->operands[0], LLVMGetOperand(end->llvm, 0));
    test = LLVMBuildFreeze(fuse->builder, test, "");
    if (fault_way(kernel, &kernel->graph.segments[end->segment]) == 1)
        test = LLVMBuildNot(fuse->builder, test, "");
    return test;
}

LLVMValueRef tr_build_fault_test(const struct tr_fuse *fuse, const struct tr_faults *faults)
{
    LLVMValueRef any = LLVMConstInt(fuse->i1, 0, false);
    for (uint32_t i = 0; i < faults->count; i++)
        any = LLVMBuildOr(fuse->builder, any, build_one(fuse, faults->branches[i]), "");
    return any;
}
