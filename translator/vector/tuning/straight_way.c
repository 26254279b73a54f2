/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds where the straight way goes: the expected ways of branches, and the questions they would
 * ask.
 */
#include "translator/vector/tuning/straight.h"

/* Most segments on it. */
#define SEGMENTS_MAX 500

LLVMBasicBlockRef tr_straight_new_block(const struct tr_way *way, const char *name)
{
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(way->function));
    return LLVMAppendBasicBlockInContext(llvm, way->function, name);
}

bool tr_straight_is_inside(const struct tr_way *way, uint32_t segment)
{
    return segment != way->loop->header && segment < way->join + way->has_join &&
           tr_set_has(&way->loop->segments, segment);
}

LLVMValueRef tr_straight_terminator(const struct tr_way *way, uint32_t segment)
{
    return LLVMGetBasicBlockTerminator(way->graph.segments[segment].llvm);
}

/* ---- questions ---- */

/* Whether it can be computed before it is known that the block goes this way. */
static bool is_harmless(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    switch (opcode) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        return false;
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSelect:
    case LLVMFreeze:
    case LLVMGetElementPtr:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
        return true;
    default:
        return LLVMIsABinaryOperator(inst) != NULL || LLVMIsACastInst(inst) != NULL;
    }
}

/* Moves the value to the place of the questions. false: it is not known there. */
static bool ask_first(struct tr_way *way, LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) == NULL)
        return true;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
    bool is_on_way = false;
    for (LLVMBasicBlockRef b = way->first; b != NULL && !is_on_way; b = LLVMGetNextBasicBlock(b))
        is_on_way = b == block;
    if (!is_on_way)
        return true; /* it was there before: in the header, or outside of the loop */
    if (!is_harmless(value))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (!ask_first(way, LLVMGetOperand(value, (unsigned)i)))
            return false;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(way->builder);
    LLVMInstructionRemoveFromParent(value);
    LLVMPositionBuilderBefore(way->builder, LLVMGetBasicBlockTerminator(way->header));
    LLVMInsertIntoBuilder(way->builder, value);
    LLVMPositionBuilderAtEnd(way->builder, here);
    return true;
}

/* A later question may be poison if an earlier one has not been answered as expected. */
static bool expect(struct tr_way *way, LLVMValueRef condition, bool expected)
{
    if (!ask_first(way, condition))
        return false;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(way->builder);
    LLVMPositionBuilderBefore(way->builder, LLVMGetBasicBlockTerminator(way->header));
    LLVMValueRef answer = expected ? condition : LLVMBuildNot(way->builder, condition, "");
    LLVMValueRef no = LLVMConstInt(LLVMTypeOf(condition), 0, false);
    way->answer =
        way->answer == NULL ? answer : LLVMBuildSelect(way->builder, way->answer, answer, no, "");
    LLVMPositionBuilderAtEnd(way->builder, here);
    return true;
}

/* ---- where to go ---- */

static bool has_exception(const struct tr_way *way, const struct tr_segment *segment)
{
    for (uint32_t v = 0; v < segment->value_count; v++)
        if (tr_straight_is_exception(way->graph.values[segment->first_value + v].llvm))
            return true;
    return false;
}

/* Counts the work from each segment to the join along the way with most work and no exceptions. */
bool tr_straight_find_work(struct tr_way *way)
{
    const struct tr_graph *graph = &way->graph;
    way->work = pxr_arena_alloc_array(&way->graph.arena, graph->segment_count, sizeof *way->work);
    for (uint32_t s = graph->segment_count; way->work != NULL && s-- > 0;) {
        const struct tr_segment *segment = &graph->segments[s];
        uint32_t most = s == way->join ? 1 : 0;
        for (uint32_t i = 0; i < segment->succ_count; i++)
            if (segment->succs[i] > s && way->work[segment->succs[i]] > most)
                most = way->work[segment->succs[i]];
        if (most > 0 && tr_set_has(&way->loop->segments, s) && !has_exception(way, segment))
            way->work[s] = most + segment->value_count;
    }
    return way->work != NULL;
}

/* Whether the segment branches to two ways of doing the same, from which no values come. */
static bool is_fork(const struct tr_way *way, const struct tr_segment *segment)
{
    const struct tr_segment *segments = way->graph.segments;
    uint32_t meet = segments[segment->succs[0]].succ_count == 1
                        ? segments[segment->succs[0]].succs[0]
                        : TR_NONE;
    for (int i = 0; i < 2; i++) {
        const struct tr_segment *side = &segments[segment->succs[i]];
        if (side->succ_count != 1 || side->succs[0] != meet || side->pred_count != 1 ||
            segment->succs[i] >= meet || way->work[segment->succs[i]] == 0)
            return false;
    }
    return way->graph.values[segments[meet].first_value].opcode != LLVMPHI;
}

/* Follows both ways. TR_NONE: they leave shared memory different. */
static uint32_t go_both_ways(struct tr_way *way, const struct tr_segment *segment,
                             LLVMValueRef condition)
{
    uint32_t stores = way->pieces.stores;
    LLVMBasicBlockRef sides[2] = {tr_straight_new_block(way, "side"),
                                  tr_straight_new_block(way, "side")};
    LLVMBasicBlockRef behind = tr_straight_new_block(way, "behind");
    LLVMBuildCondBr(way->builder, condition, sides[0], sides[1]);
    for (int i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(way->builder, sides[i]);
        if (!tr_straight_step_through(way, segment->succs[i]))
            return TR_NONE;
        LLVMBuildBr(way->builder, behind);
    }
    LLVMPositionBuilderAtEnd(way->builder, behind);
    return stores == way->pieces.stores ? way->graph.segments[segment->succs[0]].succs[0] : TR_NONE;
}

/* The way of a switch whose operand is known; TR_NONE: it is not known. */
static uint32_t chosen_case(const struct tr_way *way, const struct tr_segment *segment,
                            LLVMValueRef terminator)
{
    LLVMValueRef operand = tr_straight_now(way, LLVMGetOperand(terminator, 0));
    if (LLVMIsAConstantInt(operand) == NULL)
        return TR_NONE;
    uint32_t chosen = 0; /* the default */
    for (uint32_t i = 1; i < segment->succ_count; i++)
        if (LLVMGetSwitchCaseValue(terminator, i) == operand)
            chosen = i;
    return segment->succs[chosen];
}

/* The next segment on the way; TR_NONE: not known. */
static uint32_t go_on(struct tr_way *way, uint32_t at)
{
    const struct tr_segment *segment = &way->graph.segments[at];
    LLVMValueRef terminator = tr_straight_terminator(way, at);
    if (LLVMIsASwitchInst(terminator) != NULL)
        return chosen_case(way, segment, terminator);
    if (LLVMIsABranchInst(terminator) == NULL)
        return TR_NONE;
    if (!LLVMIsConditional(terminator))
        return segment->succs[0];
    LLVMValueRef condition = tr_straight_now(way, LLVMGetCondition(terminator));
    if (LLVMIsAConstantInt(condition) != NULL)
        return segment->succs[tr_straight_is_bit(condition, true) ? 0 : 1];
    if (segment->succs[0] <= at || segment->succs[1] <= at)
        return TR_NONE; /* a loop whose end is not known */
    if (is_fork(way, segment))
        return go_both_ways(way, segment, condition);
    uint32_t work[2] = {way->work[segment->succs[0]], way->work[segment->succs[1]]};
    unsigned side = work[0] > work[1] ? 0 : 1; /* the side with more work is expected */
    return work[side] > 0 && expect(way, condition, side == 0) ? segment->succs[side] : TR_NONE;
}

/* Walks from the header to the join; the last segment on the way. TR_NONE: there is no such way. */
uint32_t tr_straight_walk(struct tr_way *way)
{
    uint32_t at = way->loop->header;
    for (uint32_t count = 0; count < SEGMENTS_MAX && at != way->join; count++) {
        uint32_t next = go_on(way, at);
        if (next == way->join && !way->has_join)
            return at;
        if (next == TR_NONE || !tr_straight_is_inside(way, next))
            return TR_NONE;
        tr_straight_step_phis(way, next, at);
        if (!tr_straight_step_through(way, next))
            return TR_NONE;
        at = next;
    }
    return at == way->join ? at : TR_NONE;
}
