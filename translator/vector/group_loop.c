/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds the loop over groups (groups.h) around the blocks that control comes to from the quotients
 * only: the *region*, which ends in one place.
 *
 *     block:  … ; br head
 *     head:   first = freeze place; quotient = first / divisor; rest = place - quotient * divisor
 *             br rest < divisor && place >= first, body, latch
 *     body:   … ; br latch
 *     latch:  br phi [ true, body ], [ false, head ], behind, head
 *     behind: br to where the region ends
 */
#include "translator/vector/group_loop.h"

#include <llvm-c/DebugInfo.h>

#include "translator/analysis/shape.h"
#include "translator/module/marks.h"
#include "translator/module/walk.h"
#include "translator/vector/emit/replace.h"

/* Instructions that a loop's next iteration needs, which are done before this one's region. */
#define DEPTH_MAX 8

struct region {
    const struct tr_iteration *iteration;
    LLVMBuilderRef builder;
    LLVMContextRef llvm;
    uint32_t segment;
    uint32_t latch;          /* segment: of the loop around it; of threads, if there is none */
    LLVMBasicBlockRef block; /* of the segment, up to the quotients */
    LLVMBasicBlockRef head, body, group_latch, behind;
    LLVMBasicBlockRef end; /* where all ways out of it lead */
};

static LLVMBasicBlockRef block_of(const struct region *region, uint32_t segment)
{
    return segment == region->segment ? region->body
                                      : region->iteration->graph.segments[segment].llvm;
}

/* What is behind the loop around it is not inside. */
static bool is_inside(const struct region *region, uint32_t segment)
{
    const struct tr_loops *loops = &region->iteration->loops;
    uint32_t loop = loops->innermost[region->segment];
    return tr_dominates(&region->iteration->dominators, region->segment, segment) &&
           (loop == TR_NONE || tr_set_has(&loops->loops[loop].segments, segment));
}

static LLVMBasicBlockRef new_block(const struct region *region, LLVMBasicBlockRef before,
                                   const char *name)
{
    return LLVMInsertBasicBlockInContext(region->llvm, before, name);
}

/* Moves the instructions from `first` on to the end of another block, which the branch's phis name
 * then. */
static void move_rest(const struct region *region, LLVMValueRef first, LLVMBasicBlockRef to)
{
    LLVMBasicBlockRef from = LLVMGetInstructionParent(first);
    LLVMValueRef next = NULL;
    LLVMPositionBuilderAtEnd(region->builder, to);
    for (LLVMValueRef inst = first; inst != NULL; inst = next) {
        next = LLVMGetNextInstruction(inst);
        LLVMInstructionRemoveFromParent(inst);
        LLVMInsertIntoBuilder(region->builder, inst);
    }
    LLVMValueRef end = LLVMGetBasicBlockTerminator(to);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        tr_move_phis(region->builder, LLVMGetSuccessor(end, i), from, to);
}

/* ---- whether there is such a region ---- */

/* The only segment of the loop from which control comes back to its header; TR_NONE: several. */
static uint32_t latch_of(const struct tr_iteration *iteration, uint32_t loop)
{
    const struct tr_segment *header =
        &iteration->graph.segments[iteration->loops.loops[loop].header];
    uint32_t latch = TR_NONE;
    for (uint32_t i = 0; i < header->pred_count; i++) {
        if (!tr_set_has(&iteration->loops.loops[loop].segments, header->preds[i]))
            continue;
        if (latch != TR_NONE)
            return TR_NONE;
        latch = header->preds[i];
    }
    return latch;
}

/* Finds the block that all ways out of the region lead to; the latch's own lead on from there. */
static bool find_end(struct region *region)
{
    const struct tr_iteration *iteration = region->iteration;
    uint32_t end = is_inside(region, region->latch) ? region->latch : TR_NONE;
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++) {
        const struct tr_segment *segment = &iteration->graph.segments[s];
        for (uint32_t i = 0; is_inside(region, s) && s != region->latch && i < segment->succ_count;
             i++) {
            uint32_t next = segment->succs[i];
            if (is_inside(region, next) || iteration->is_lost[next])
                continue;
            if (end != TR_NONE && next != end)
                return false;
            end = next;
        }
    }
    if (end == TR_NONE)
        return false;
    region->end = iteration->graph.segments[end].llvm;
    return true;
}

/* Nothing else comes back to the region's beginning. */
static bool is_region(struct region *region)
{
    const struct tr_iteration *iteration = region->iteration;
    uint32_t loop = iteration->loops.innermost[region->segment];
    region->latch = loop == TR_NONE ? iteration->end : latch_of(iteration, loop);
    return region->latch != TR_NONE && find_end(region);
}

/* ---- what the loop around it needs ---- */

static bool is_in_region(const struct region *region, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(&region->iteration->graph, value);
    if (number == TR_NONE || region->iteration->graph.values[number].segment == TR_NONE)
        return false;
    return is_inside(region, region->iteration->graph.values[number].segment) &&
           LLVMGetInstructionParent(value) != region->block;
}

static bool can_be_early(const struct region *region, LLVMValueRef value, uint32_t depth)
{
    if (!is_in_region(region, value))
        return true;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    bool is_simple = opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMICmp ||
                     opcode == LLVMGetElementPtr || opcode == LLVMShl || opcode == LLVMMul ||
                     opcode == LLVMZExt || opcode == LLVMSExt || opcode == LLVMTrunc;
    if (!is_simple || depth == 0)
        return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (!can_be_early(region, LLVMGetOperand(value, (unsigned)i), depth - 1))
            return false;
    return true;
}

static void make_early(const struct region *region, LLVMValueRef value)
{
    if (!is_in_region(region, value))
        return;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        make_early(region, LLVMGetOperand(value, (unsigned)i));
    LLVMInstructionRemoveFromParent(value);
    LLVMPositionBuilderBefore(region->builder, LLVMGetBasicBlockTerminator(region->block));
    LLVMInsertIntoBuilder(region->builder, value);
}

static void rise(const struct region *region, LLVMValueRef value)
{
    if (can_be_early(region, value, DEPTH_MAX))
        make_early(region, value);
}

/* The loop's own counters do not go through the region. */
static void rise_counters(const struct region *region, LLVMBasicBlockRef latch)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(latch);
    if (LLVMIsABranchInst(end) != NULL && LLVMIsConditional(end))
        rise(region, LLVMGetCondition(end));
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
        LLVMValueRef phi = LLVMGetFirstInstruction(LLVMGetSuccessor(end, i));
        for (; LLVMIsAPHINode(phi) != NULL; phi = LLVMGetNextInstruction(phi))
            for (unsigned k = 0; k < LLVMCountIncoming(phi); k++)
                if (LLVMGetIncomingBlock(phi, k) == latch)
                    rise(region, LLVMGetIncomingValue(phi, k));
    }
}

/* ---- the quotients ---- */

static void replace(LLVMValueRef inst, LLVMValueRef quotient, LLVMValueRef rest)
{
    LLVMReplaceAllUsesWith(inst, tr_is_rest(inst) ? rest : quotient);
    LLVMInstructionEraseFromParent(inst);
}

/* Replaces the quotient, and others and remainders of the same numbers. */
static void replace_quotients(LLVMBasicBlockRef head, LLVMValueRef quotient, LLVMValueRef result,
                              LLVMValueRef rest)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(head), next = NULL; inst != NULL;
         inst = next) {
        next = LLVMGetNextInstruction(inst);
        if (inst == quotient || !tr_is_of_quotient(inst, quotient))
            continue;
        replace(inst, result, rest);
    }
    replace(quotient, result, rest);
}

struct quotient {
    LLVMValueRef inst;
    LLVMValueRef place, divisor;
    LLVMValueRef first; /* place */
    LLVMValueRef result, rest;
};

/* Places of a row as long as `length` that begins with a rest of 0, whose numbers are not less than
 * the first lane's, as they would be if they had wrapped. */
static LLVMValueRef build_together(const struct region *region, const struct quotient *quotient,
                                   LLVMValueRef rest, LLVMValueRef length)
{
    LLVMBuilderRef b = region->builder;
    LLVMIntPredicate order = tr_is_signed_division(quotient->inst) ? LLVMIntSGE : LLVMIntUGE;
    LLVMValueRef is_near = LLVMBuildICmp(b, LLVMIntULT, rest, length, "");
    LLVMValueRef is_behind = LLVMBuildICmp(b, order, quotient->place, quotient->first, "");
    return LLVMBuildAnd(b, is_near, is_behind, "");
}

static LLVMValueRef divide_unsigned(const struct region *region, struct quotient *quotient)
{
    LLVMBuilderRef b = region->builder;
    LLVMValueRef divisor = quotient->divisor;
    LLVMValueRef length = divisor;
    LLVMValueRef start = NULL;
    if (LLVMGetInstructionOpcode(quotient->inst) == LLVMLShr) {
        length = LLVMBuildShl(b, LLVMConstInt(LLVMTypeOf(divisor), 1, false), divisor, "");
        quotient->result = LLVMBuildLShr(b, quotient->first, divisor, "");
        start = LLVMBuildShl(b, quotient->result, divisor, "");
    } else {
        quotient->result = LLVMBuildUDiv(b, quotient->first, divisor, "");
        start = LLVMBuildMul(b, quotient->result, divisor, "");
    }
    quotient->rest = LLVMBuildSub(b, quotient->place, start, "");
    return build_together(region, quotient, quotient->rest, length);
}

/* The divisor is positive: others have no groups (tr_expectations.divisors). Places below 0 are
 * alone in their groups, as quotients are rounded towards 0. */
static LLVMValueRef divide_signed(const struct region *region, struct quotient *quotient)
{
    LLVMBuilderRef b = region->builder;
    LLVMTypeRef type = LLVMTypeOf(quotient->place);
    quotient->result = LLVMBuildSDiv(b, quotient->first, quotient->divisor, "");
    LLVMValueRef start = LLVMBuildMul(b, quotient->result, quotient->divisor, "");
    quotient->rest = LLVMBuildSub(b, quotient->place, start, "");
    LLVMValueRef is_alone =
        LLVMBuildICmp(b, LLVMIntSLT, quotient->first, LLVMConstInt(type, 0, false), "");
    LLVMValueRef distance = LLVMBuildSub(b, quotient->place, quotient->first, "");
    LLVMValueRef rest = LLVMBuildSelect(b, is_alone, distance, quotient->rest, "");
    LLVMValueRef length =
        LLVMBuildSelect(b, is_alone, LLVMConstInt(type, 1, false), quotient->divisor, "");
    return build_together(region, quotient, rest, length);
}

/* PTX divides by -1 apart: `divisor == -1 ? 0 - place : quotient`. With a positive divisor nobody
 * asks whose place that is. */
static void use_first_place(const struct region *region, const struct quotient *quotient)
{
    LLVMBuilderRef b = region->builder;
    LLVMTypeRef type = LLVMTypeOf(quotient->place);
    for (LLVMUseRef use = LLVMGetFirstUse(quotient->inst); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef choice = LLVMGetUser(use);
        LLVMValueRef other =
            tr_is_opcode(choice, LLVMSelect) ? LLVMGetOperand(choice, 1) : quotient->inst;
        if (!tr_is_opcode(other, LLVMSub) || LLVMGetOperand(other, 1) != quotient->place ||
            LLVMGetOperand(other, 0) != LLVMConstNull(type))
            continue;
        LLVMSetOperand(choice, 1, LLVMBuildSub(b, LLVMConstNull(type), quotient->first, ""));
    }
}

/* i1: whether the lane is in the first one's group. */
static LLVMValueRef build_quotient(const struct region *region, LLVMValueRef inst)
{
    LLVMBuilderRef b = region->builder;
    struct quotient quotient = {
        .inst = inst, .place = LLVMGetOperand(inst, 0), .divisor = LLVMGetOperand(inst, 1)};
    LLVMPositionBuilderBefore(b, inst);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(inst));
    quotient.first = LLVMBuildFreeze(b, quotient.place, "");
    tr_mark(quotient.first, TR_MARK_GROUP_PLACE);
    LLVMValueRef is_together = tr_is_signed_division(inst) ? divide_signed(region, &quotient)
                                                           : divide_unsigned(region, &quotient);
    if (tr_is_signed_division(inst))
        use_first_place(region, &quotient);
    /* The new instructions are before it, and none of them is one of those. */
    replace_quotients(region->head, inst, quotient.result, quotient.rest);
    return is_together;
}

/* Whether it is made in the body, of what needs no memory. */
static bool is_made_in_body(const struct region *region, LLVMValueRef value, uint32_t depth,
                            bool *is_possible)
{
    if (LLVMIsAInstruction(value) == NULL || LLVMGetInstructionParent(value) != region->body)
        return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    *is_possible &= depth > 0 && (tr_is_arithmetic(opcode) || tr_is_integer_division(value));
    for (int i = 0; *is_possible && i < LLVMGetNumOperands(value); i++)
        is_made_in_body(region, LLVMGetOperand(value, (unsigned)i), depth - 1, is_possible);
    return true;
}

static void move_to_head(const struct region *region, LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) == NULL || LLVMGetInstructionParent(value) != region->body)
        return;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        move_to_head(region, LLVMGetOperand(value, (unsigned)i));
    LLVMInstructionRemoveFromParent(value);
    LLVMPositionBuilderAtEnd(region->builder, region->head);
    LLVMInsertIntoBuilder(region->builder, value);
}

/* A quotient of quotients is made with them, and kept with them (group_header.c). */
static void divide_in_head(const struct region *region, LLVMValueRef quotient)
{
    bool is_possible = true;
    if (is_made_in_body(region, quotient, DEPTH_MAX, &is_possible) && is_possible)
        move_to_head(region, quotient);
}

static void build_head(const struct region *region, const struct tr_groups *groups)
{
    LLVMBuilderRef b = region->builder;
    LLVMValueRef all[TR_MAX_QUOTIENTS];
    for (uint32_t i = 0; i < groups->count; i++)
        all[i] = build_quotient(region, groups->quotients[i]);
    LLVMPositionBuilderAtEnd(b, region->head);
    LLVMValueRef is_together = all[0];
    for (uint32_t i = 1; i < groups->count; i++)
        is_together = LLVMBuildAnd(b, is_together, all[i], "");
    tr_mark(is_together, TR_MARK_GROUP);
    LLVMBuildCondBr(b, is_together, region->body, region->group_latch);
}

/* ---- values that leave the region ---- */

static bool is_exit(const struct region *region, uint32_t segment)
{
    return is_inside(region, segment) && !region->iteration->is_lost[segment];
}

/* Phis at the loop's latch and behind it, of which every way to the latch brings `value`; of
 * several ways to the end, those of the phi there. */
static LLVMValueRef bring_out(const struct region *region, LLVMValueRef value, LLVMValueRef phi)
{
    LLVMBuilderRef b = region->builder;
    LLVMTypeRef type = LLVMTypeOf(phi != NULL ? phi : value);
    LLVMValueRef first = LLVMGetFirstInstruction(region->group_latch);
    LLVMPositionBuilderBefore(b, first);
    LLVMValueRef at_latch = LLVMBuildPhi(b, type, "");
    LLVMValueRef nothing = LLVMGetPoison(type);
    LLVMBasicBlockRef head = region->head;
    for (uint32_t s = 0; s < region->iteration->graph.segment_count; s++) {
        if (!is_exit(region, s))
            continue;
        LLVMBasicBlockRef from = block_of(region, s);
        LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
        LLVMValueRef brought = value;
        for (unsigned k = 0; phi != NULL && k < LLVMCountIncoming(phi); k++)
            if (LLVMGetIncomingBlock(phi, k) == from)
                brought = LLVMGetIncomingValue(phi, k);
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
            if (LLVMGetSuccessor(end, i) == region->group_latch)
                LLVMAddIncoming(at_latch, &brought, &from, 1);
    }
    LLVMAddIncoming(at_latch, &nothing, &head, 1);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(region->behind));
    LLVMValueRef behind = LLVMBuildPhi(b, type, "");
    LLVMBasicBlockRef latch = region->group_latch;
    LLVMAddIncoming(behind, &at_latch, &latch, 1);
    return behind;
}

static bool is_from_region(const struct region *region, LLVMBasicBlockRef block)
{
    for (uint32_t s = 0; s < region->iteration->graph.segment_count; s++)
        if (is_inside(region, s) && block_of(region, s) == block)
            return true;
    return false;
}

/* The end's phis take from behind the loop what they took from the region. */
static void lead_phis(const struct region *region)
{
    LLVMBuilderRef b = region->builder;
    LLVMValueRef phi = LLVMGetFirstInstruction(region->end);
    while (LLVMIsAPHINode(phi) != NULL) {
        LLVMValueRef next = LLVMGetNextInstruction(phi);
        LLVMValueRef behind = bring_out(region, NULL, phi);
        LLVMBasicBlockRef from = region->behind;
        LLVMPositionBuilderBefore(b, phi);
        LLVMValueRef led = LLVMBuildPhi(b, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            if (!is_from_region(region, block))
                LLVMAddIncoming(led, &value, &block, 1);
        }
        LLVMAddIncoming(led, &behind, &from, 1);
        LLVMReplaceAllUsesWith(phi, led);
        LLVMInstructionEraseFromParent(phi);
        phi = next;
    }
}

/* Whether the use is behind the region, which the end follows alone. A phi uses where it comes
 * from. */
static bool is_behind(const struct region *region, LLVMValueRef user, unsigned operand)
{
    LLVMBasicBlockRef block = LLVMIsAPHINode(user) != NULL ? LLVMGetIncomingBlock(user, operand)
                                                           : LLVMGetInstructionParent(user);
    return block != region->head && block != region->group_latch && block != region->behind &&
           !is_from_region(region, block);
}

static void lead_uses(const struct region *region, LLVMValueRef value)
{
    LLVMValueRef behind = NULL;
    LLVMUseRef use = LLVMGetFirstUse(value);
    while (use != NULL) {
        LLVMValueRef user = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        for (int i = 0; i < LLVMGetNumOperands(user); i++) {
            if (LLVMGetOperand(user, (unsigned)i) != value || !is_behind(region, user, (unsigned)i))
                continue;
            if (behind == NULL)
                behind = bring_out(region, value, NULL);
            LLVMSetOperand(user, (unsigned)i, behind);
        }
    }
}

static void lead_values_of(const struct region *region, LLVMBasicBlockRef block)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
         inst = LLVMGetNextInstruction(inst))
        lead_uses(region, inst);
}

/* ---- the loop ---- */

static void build_latch(const struct region *region)
{
    LLVMBuilderRef b = region->builder;
    LLVMTypeRef i1 = LLVMInt1TypeInContext(region->llvm);
    LLVMPositionBuilderAtEnd(b, region->group_latch);
    LLVMValueRef is_done = LLVMBuildPhi(b, i1, "");
    LLVMValueRef yes = LLVMConstInt(i1, 1, false);
    LLVMValueRef no = LLVMConstInt(i1, 0, false);
    LLVMBasicBlockRef head = region->head;
    for (uint32_t s = 0; s < region->iteration->graph.segment_count; s++) {
        LLVMBasicBlockRef from = is_exit(region, s) ? block_of(region, s) : NULL;
        LLVMValueRef end = from == NULL ? NULL : LLVMGetBasicBlockTerminator(from);
        for (unsigned i = 0; end != NULL && i < LLVMGetNumSuccessors(end); i++) {
            if (LLVMGetSuccessor(end, i) != region->end)
                continue;
            LLVMSetSuccessor(end, i, region->group_latch);
            LLVMAddIncoming(is_done, &yes, &from, 1);
        }
    }
    LLVMAddIncoming(is_done, &no, &head, 1);
    LLVMBuildCondBr(b, is_done, region->behind, region->head);
    LLVMPositionBuilderAtEnd(b, region->behind);
    LLVMBuildBr(b, region->end);
}

/* Puts the latch's branch into a block of its own, which is the region's end. */
static void cut_latch(struct region *region, struct tr_counted *x)
{
    LLVMBasicBlockRef latch = block_of(region, region->latch);
    LLVMBasicBlockRef old = region->iteration->graph.segments[region->latch].llvm;
    rise_counters(region, latch);
    region->end = new_block(region, latch, "latch");
    LLVMMoveBasicBlockAfter(region->end, latch);
    move_rest(region, LLVMGetBasicBlockTerminator(latch), region->end);
    LLVMPositionBuilderAtEnd(region->builder, latch);
    LLVMBuildBr(region->builder, region->end);
    if (x->latch == old)
        x->latch = region->end;
}

static void build(struct region *region, const struct tr_groups *groups, struct tr_counted *x)
{
    const struct tr_graph *graph = &region->iteration->graph;
    LLVMBuilderRef b = region->builder;
    LLVMValueRef first = graph->values[groups->first].llvm;
    LLVMValueRef behind = graph->values[groups->end].llvm;
    region->block = LLVMGetInstructionParent(first);
    region->head = new_block(region, region->block, "group");
    region->body = new_block(region, region->block, "grouped");
    region->group_latch = new_block(region, region->block, "grouped_latch");
    region->behind = new_block(region, region->block, "behind_groups");
    move_rest(region, behind, region->body);
    LLVMPositionBuilderAtEnd(b, region->block);
    LLVMBuildBr(b, region->head);
    LLVMValueRef last = LLVMGetBasicBlockTerminator(region->block);
    LLVMPositionBuilderAtEnd(b, region->head);
    for (LLVMValueRef inst = first, next = NULL; inst != last; inst = next) {
        next = LLVMGetNextInstruction(inst);
        LLVMInstructionRemoveFromParent(inst);
        LLVMInsertIntoBuilder(b, inst);
    }
    for (uint32_t i = 0; i < groups->derived_count; i++)
        divide_in_head(region, groups->derived[i]);
    bool has_latch = is_inside(region, region->latch);
    if (has_latch)
        cut_latch(region, x);
    build_head(region, groups);
    build_latch(region);
    if (!has_latch) {
        lead_phis(region);
        return;
    }
    lead_values_of(region, region->head);
    for (uint32_t s = 0; s < graph->segment_count; s++)
        if (is_inside(region, s))
            lead_values_of(region, block_of(region, s));
}

static unsigned place_of_phi(LLVMValueRef phi)
{
    unsigned place = 0;
    LLVMValueRef inst = LLVMGetFirstInstruction(LLVMGetInstructionParent(phi));
    for (; inst != phi; inst = LLVMGetNextInstruction(inst))
        place++;
    return place;
}

static LLVMValueRef phi_at(LLVMBasicBlockRef block, unsigned place)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(block);
    for (unsigned i = 0; i < place; i++)
        inst = LLVMGetNextInstruction(inst);
    return inst;
}

bool tr_build_groups(const struct tr_iteration *iteration, const struct tr_groups *groups,
                     struct tr_counted *x)
{
    LLVMValueRef function = iteration->graph.function;
    struct region region = {.iteration = iteration,
                            .llvm = LLVMGetTypeContext(LLVMTypeOf(function)),
                            .segment = groups->segment};
    if (!is_region(&region))
        return false;
    region.builder = LLVMCreateBuilderInContext(region.llvm);
    /* Phis that name a block that is cut become others, in the same order. */
    unsigned counter = place_of_phi(x->counter);
    build(&region, groups, x);
    x->counter = phi_at(x->header, counter);
    LLVMDisposeBuilder(region.builder);
    return true;
}

/* The phis that the block has from other places. */
static void forget_way(LLVMBuilderRef builder, LLVMBasicBlockRef block, LLVMBasicBlockRef from)
{
    LLVMValueRef phi = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(phi) != NULL) {
        LLVMValueRef next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilderBefore(builder, phi);
        LLVMValueRef left = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMBasicBlockRef source = LLVMGetIncomingBlock(phi, i);
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            if (source != from)
                LLVMAddIncoming(left, &value, &source, 1);
        }
        LLVMReplaceAllUsesWith(phi, left);
        LLVMInstructionEraseFromParent(phi);
        phi = next;
    }
}

/* Makes the block go on to that successor only. */
static void lead_to(LLVMBuilderRef builder, LLVMBasicBlockRef block, unsigned successor)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMBasicBlockRef to = LLVMGetSuccessor(end, successor);
    LLVMInstructionEraseFromParent(end);
    LLVMPositionBuilderAtEnd(builder, block);
    LLVMBuildBr(builder, to);
}

void tr_drop_groups(const struct tr_iteration *iteration)
{
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(iteration->graph.function));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
    uint32_t s = 0;
    while (s < iteration->graph.segment_count && !tr_is_group_branch(iteration, s))
        s++;
    if (s < iteration->graph.segment_count) {
        LLVMBasicBlockRef head = iteration->graph.segments[s].llvm;
        LLVMBasicBlockRef latch = LLVMGetSuccessor(LLVMGetBasicBlockTerminator(head), 1);
        tr_unmark(LLVMGetCondition(LLVMGetBasicBlockTerminator(head)), TR_MARK_GROUP);
        forget_way(builder, latch, head);
        lead_to(builder, latch, 0);
        lead_to(builder, head, 0);
    }
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        const struct tr_value *value = &iteration->graph.values[v];
        if (value->segment == TR_NONE || value->opcode != LLVMFreeze ||
            !tr_is_marked(value->llvm, TR_MARK_GROUP_PLACE))
            continue;
        LLVMReplaceAllUsesWith(value->llvm, LLVMGetOperand(value->llvm, 0));
        LLVMInstructionEraseFromParent(value->llvm);
    }
    LLVMDisposeBuilder(builder);
}
