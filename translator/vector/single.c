/* SPDX-License-Identifier: Apache-2.0
 *
 * Units for one lane: `if (tid == 0)`, the borders of tiles, results of reductions. A unit that
 * only one lane of a row can reach becomes scalar code for that lane, without a mask; if the lane
 * is known at compile time no vectors remain.
 */
#include <llvm-c/DebugInfo.h>

#include "translator/vector/control.h"
#include "translator/vector/emit/form.h"

/* Instructions before the unit, one behind another, that are computed again for its lane. */
#define DEPTH_MAX 6

struct single {
    struct tr_widen *widen;
    uint32_t segment;
    uint32_t copy;
    LLVMValueRef lane;  /* i32, in its copy */
    LLVMValueRef *made; /* by instruction of the segment: its value in that lane */
};

/* ---- which units ---- */

static bool is_from_iteration(const struct tr_widen *widen, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(&widen->iteration->graph, value);
    return number != TR_NONE && widen->iteration->graph.values[number].segment != TR_NONE;
}

/* The number of the equality's operand that names a lane: other lanes have other values. 2: there
 * is none. */
static unsigned naming_operand(const struct tr_widen *widen, LLVMValueRef icmp, bool expected)
{
    if (LLVMIsAICmpInst(icmp) == NULL ||
        LLVMGetICmpPredicate(icmp) != (expected ? LLVMIntEQ : LLVMIntNE) ||
        LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(icmp, 0))) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(icmp, 0))) < 16) /* a row may be longer */
        return 2;
    for (unsigned i = 0; i < 2; i++)
        if (tr_widen_shape(widen, LLVMGetOperand(icmp, i)).stride == 1 &&
            tr_widen_shape(widen, LLVMGetOperand(icmp, 1 - i)).stride == 0 &&
            tr_widen_shape(widen, LLVMGetOperand(icmp, 1 - i)).kind != TR_VARYING)
            return i;
    return 2;
}

/* The comparison that names the lane, among those that must all hold; NULL: none does. */
static LLVMValueRef naming_comparison(const struct tr_widen *widen, LLVMValueRef condition,
                                      bool expected)
{
    LLVMValueRef parts[2];
    if (!is_from_iteration(widen, condition))
        return NULL;
    if (naming_operand(widen, condition, expected) < 2)
        return condition;
    if (!tr_control_is_pair(condition, expected, parts))
        return NULL;
    LLVMValueRef first = naming_comparison(widen, parts[0], expected);
    return first != NULL ? first : naming_comparison(widen, parts[1], expected);
}

bool tr_control_is_simple(const struct tr_control *control, uint32_t segment)
{
    const struct tr_iteration *iteration = control->iteration;
    const struct tr_segment *s = &iteration->graph.segments[segment];
    const struct tr_unit *unit = &iteration->units[segment];
    return unit->child_count == 0 && unit->follower_count == 0 && s->succ_count == 1 &&
           iteration->units[s->succs[0]].kind == TR_UNIT_ALWAYS &&
           control->joins[s->succs[0]].phi_count == 0 && control->joins[segment].phi_count == 0 &&
           !tr_control_is_back_edge(iteration, segment, s->succs[0]);
}

bool tr_control_is_single(const struct tr_control *control, uint32_t segment)
{
    const struct tr_join *join = &control->joins[segment];
    return join->of_condition != NULL && tr_control_is_simple(control, segment) &&
           naming_comparison(control->widen, join->condition, join->expected) != NULL;
}

/* ---- the lane's values ---- */

static LLVMValueRef value_of(struct single *single, LLVMValueRef operand, unsigned depth);

static LLVMValueRef clone(struct single *single, LLVMValueRef inst, unsigned depth)
{
    LLVMValueRef copy = LLVMInstructionClone(inst);
    unsigned count = (unsigned)LLVMGetNumOperands(inst);
    if (LLVMIsACallInst(inst) != NULL)
        count = LLVMGetNumArgOperands(inst);
    for (unsigned i = 0; i < count; i++)
        LLVMSetOperand(copy, i, value_of(single, LLVMGetOperand(inst, i), depth));
    LLVMInsertIntoBuilder(single->widen->builder, copy);
    return copy;
}

/* Whether to compute it again: addresses and conditions cost less than taking a lane out of a
 * vector. */
static bool is_cheap(const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMGetElementPtr:
    case LLVMICmp:
    case LLVMSelect:
        return LLVMGetTypeKind(LLVMTypeOf(value->llvm)) != LLVMVectorTypeKind;
    default:
        return false;
    }
}

/* depth: how many cheap instructions may still be computed again. */
static LLVMValueRef value_of(struct single *single, LLVMValueRef operand, unsigned depth)
{
    const struct tr_iteration *iteration = single->widen->iteration;
    uint32_t number = tr_graph_number(&iteration->graph, operand);
    if (number != TR_NONE && iteration->graph.values[number].segment == single->segment)
        return single->made[number - iteration->graph.segments[single->segment].first_value];
    if (depth > 0 && number != TR_NONE && iteration->shapes.values[number].kind == TR_VARYING &&
        is_cheap(&iteration->graph.values[number]))
        return clone(single, operand, depth - 1);
    return tr_widen_lane(single->widen, operand, single->copy, single->lane);
}

/* ---- the unit ---- */

/* The number of the lane, as if the copy had any number of them. */
static LLVMValueRef named_lane(struct single *single, LLVMValueRef comparison, bool expected)
{
    struct tr_widen *widen = single->widen;
    unsigned i = naming_operand(widen, comparison, expected);
    LLVMValueRef first = tr_widen_scalar(widen, LLVMGetOperand(comparison, i), single->copy);
    LLVMValueRef wanted = tr_widen_scalar(widen, LLVMGetOperand(comparison, 1 - i), single->copy);
    return LLVMBuildSub(widen->builder, wanted, first, "");
}

static void emit_instructions(struct single *single)
{
    const struct tr_iteration *iteration = single->widen->iteration;
    const struct tr_segment *segment = &iteration->graph.segments[single->segment];
    for (uint32_t k = 0; k + 1 < segment->value_count; k++) {
        LLVMValueRef inst = iteration->graph.values[segment->first_value + k].llvm;
        LLVMSetCurrentDebugLocation2(single->widen->builder, LLVMInstructionGetDebugLoc(inst));
        single->made[k] = clone(single, inst, DEPTH_MAX);
    }
}

static void emit_copy(struct single *single, const struct tr_join *join)
{
    struct tr_widen *widen = single->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef comparison = naming_comparison(widen, join->condition, join->expected);
    LLVMValueRef lane = named_lane(single, comparison, join->expected);
    LLVMValueRef width = LLVMConstInt(LLVMTypeOf(lane), widen->width, false);
    LLVMBasicBlockRef here = tr_widen_new_block(widen, "here");
    LLVMBasicBlockRef come = tr_widen_new_block(widen, "single");
    LLVMBasicBlockRef next = tr_widen_new_block(widen, "next");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, lane, width, ""), here, next);
    LLVMPositionBuilderAtEnd(b, here);
    single->lane = LLVMBuildIntCast2(b, lane, widen->i32, false, "");
    LLVMValueRef condition = value_of(single, join->condition, DEPTH_MAX);
    if (join->expected)
        LLVMBuildCondBr(b, condition, come, next);
    else
        LLVMBuildCondBr(b, condition, next, come);
    LLVMPositionBuilderAtEnd(b, come);
    emit_instructions(single);
    LLVMBuildBr(b, next);
    LLVMPositionBuilderAtEnd(b, next);
}

void tr_control_emit_single(struct tr_control *control, uint32_t segment)
{
    const struct tr_segment *s = &control->iteration->graph.segments[segment];
    struct single single = {.widen = control->widen, .segment = segment};
    single.made = pxr_arena_alloc_array(&control->arena, s->value_count, sizeof *single.made);
    control->is_out_of_memory |= single.made == NULL;
    for (uint32_t c = 0; c < control->widen->copies && !control->is_out_of_memory; c++) {
        single.copy = c;
        emit_copy(&single, &control->joins[segment]);
    }
}
