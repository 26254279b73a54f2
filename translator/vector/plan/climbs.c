/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers that go on by the same steps in every turn of a loop, and how far.
 */
#include "translator/vector/plan/climbs.h"
#include "translator/module/relation.h"

static const struct tr_loop *loop_of_header(const struct tr_iteration *iteration, uint32_t segment)
{
    uint32_t number = iteration->loops.innermost[segment];
    const struct tr_loop *loop = number == TR_NONE ? NULL : &iteration->loops.loops[number];
    return loop != NULL && loop->header == segment && !loop->is_irreducible ? loop : NULL;
}

bool tr_is_fixed_in(const struct tr_iteration *iteration, const struct tr_loop *loop,
                    LLVMValueRef operand)
{
    uint32_t number = tr_graph_number(&iteration->graph, operand);
    uint32_t segment = number == TR_NONE ? TR_NONE : iteration->graph.values[number].segment;
    return segment == TR_NONE || !tr_set_has(&loop->segments, segment);
}

bool tr_is_of_header(const struct tr_iteration *iteration, uint32_t value)
{
    uint32_t segment = iteration->graph.values[value].segment;
    uint32_t loop = iteration->loops.innermost[segment];
    return loop != TR_NONE && iteration->loops.loops[loop].header == segment;
}

/* ---- ranges ---- */

int64_t tr_find_factor(LLVMValueRef multiple)
{
    uint64_t constant = LLVMConstIntGetZExtValue(LLVMGetOperand(multiple, 1));
    return LLVMGetInstructionOpcode(multiple) == LLVMShl
               ? (int64_t)(UINT64_C(1) << constant)
               : LLVMConstIntGetSExtValue(LLVMGetOperand(multiple, 1));
}

static bool has_small_factor(LLVMValueRef multiple)
{
    int64_t factor = tr_find_factor(multiple);
    return factor < TR_STEP_MAX && factor > -TR_STEP_MAX;
}

static bool has_bits(LLVMValueRef number, unsigned bits)
{
    LLVMTypeRef type = LLVMTypeOf(number);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == bits;
}

enum tr_range_of tr_range_of(LLVMValueRef number)
{
    if (!has_bits(number, 32) && !has_bits(number, 64))
        return TR_RANGE_UNKNOWN;
    bool has_constant = LLVMGetNumOperands(number) == 2 && LLVMIsAPHINode(number) == NULL &&
                        LLVMIsAConstantInt(LLVMGetOperand(number, 1)) != NULL;
    switch (LLVMGetInstructionOpcode(number)) {
    case LLVMAdd:
        return TR_RANGE_SUM;
    case LLVMSub:
        return TR_RANGE_DIFFERENCE;
    case LLVMOr:
        return LLVMGetIsDisjoint(number) ? TR_RANGE_SUM : TR_RANGE_UNKNOWN;
    case LLVMMul:
        if (!has_constant)
            return TR_RANGE_PRODUCT;
        return has_small_factor(number) ? TR_RANGE_MULTIPLE : TR_RANGE_UNKNOWN;
    case LLVMShl:
        return has_constant && LLVMConstIntGetZExtValue(LLVMGetOperand(number, 1)) < 16
                   ? TR_RANGE_MULTIPLE
                   : TR_RANGE_UNKNOWN;
    case LLVMTrunc:
        return has_bits(LLVMGetOperand(number, 0), 64) ? TR_RANGE_CUT : TR_RANGE_UNKNOWN;
    case LLVMSExt:
    case LLVMZExt:
        return has_bits(LLVMGetOperand(number, 0), 32) ? TR_RANGE_EXTENDED : TR_RANGE_UNKNOWN;
    case LLVMPHI:
        return TR_RANGE_PHI;
    default:
        return TR_RANGE_UNKNOWN;
    }
}

/* ---- steps ---- */

/* Takes the sum apart until it is the phi. */
static bool find_steps(const struct tr_iteration *iteration, struct tr_climb *climb)
{
    LLVMValueRef sum = climb->next;
    while (sum != climb->phi) {
        if (LLVMIsABinaryOperator(sum) == NULL || LLVMGetInstructionOpcode(sum) != LLVMAdd ||
            climb->step_count == TR_STEPS_MAX)
            return false;
        unsigned fixed = tr_is_fixed_in(iteration, climb->loop, LLVMGetOperand(sum, 1)) ? 1 : 0;
        LLVMValueRef step = LLVMGetOperand(sum, fixed);
        if (!tr_is_fixed_in(iteration, climb->loop, step))
            return false;
        climb->steps[climb->step_count++] = step;
        sum = LLVMGetOperand(sum, 1 - fixed);
    }
    return climb->step_count > 0;
}

bool tr_find_climb(const struct tr_iteration *iteration, LLVMValueRef phi, struct tr_climb *climb)
{
    uint32_t number = tr_graph_number(&iteration->graph, phi);
    const struct tr_value *value = &iteration->graph.values[number];
    *climb = (struct tr_climb){.phi = phi, .loop = loop_of_header(iteration, value->segment)};
    if (climb->loop == NULL || value->operand_count != 2)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (value->incoming[i] == TR_NONE)
            return false;
        bool is_latch = tr_set_has(&climb->loop->segments, value->incoming[i]);
        *(is_latch ? &climb->next : &climb->start) = LLVMGetIncomingValue(phi, i);
        if (is_latch)
            climb->latch = value->incoming[i];
    }
    return climb->next != NULL && climb->start != NULL && find_steps(iteration, climb);
}

bool tr_find_constant_step(const struct tr_climb *climb, int64_t *step)
{
    *step = 0;
    for (uint32_t i = 0; i < climb->step_count; i++) {
        if (LLVMIsAConstantInt(climb->steps[i]) == NULL)
            return false;
        *step += LLVMConstIntGetSExtValue(climb->steps[i]);
    }
    return *step != 0 && *step < TR_STEP_MAX && *step > -TR_STEP_MAX;
}

/* ---- tests ---- */

/* The comparison that lets the loop go on, if it is asked in every turn. */
static bool read_branch(const struct tr_iteration *iteration, const struct tr_climb *climb,
                        uint32_t segment, struct tr_turn_test *test)
{
    const struct tr_segment *from = &iteration->graph.segments[segment];
    const struct tr_value *branch =
        &iteration->graph.values[from->first_value + from->value_count - 1];
    if (branch->opcode != LLVMBr || from->succ_count != 2 ||
        !tr_dominates(&iteration->dominators, segment, climb->latch))
        return false;
    bool stays[2] = {tr_set_has(&climb->loop->segments, from->succs[0]),
                     tr_set_has(&climb->loop->segments, from->succs[1])};
    LLVMValueRef compare = LLVMGetCondition(branch->llvm);
    if (stays[0] == stays[1] || LLVMIsAICmpInst(compare) == NULL)
        return false;
    bool is_fixed[2] = {tr_is_fixed_in(iteration, climb->loop, LLVMGetOperand(compare, 0)),
                        tr_is_fixed_in(iteration, climb->loop, LLVMGetOperand(compare, 1))};
    if (is_fixed[0] == is_fixed[1])
        return false;
    LLVMIntPredicate relation = LLVMGetICmpPredicate(compare);
    if (!stays[0])
        relation = tr_relation_inverse(relation);
    if (is_fixed[0])
        relation = tr_relation_swapped(relation);
    test->tested = LLVMGetOperand(compare, is_fixed[0] ? 1 : 0);
    test->limit = LLVMGetOperand(compare, is_fixed[0] ? 0 : 1);
    test->relation = relation;
    return tr_is_same_in_row(iteration, test->limit);
}

static bool is_below(LLVMIntPredicate relation)
{
    return relation == LLVMIntSLT || relation == LLVMIntSLE || relation == LLVMIntULT ||
           relation == LLVMIntULE;
}

bool tr_find_end(const struct tr_iteration *iteration, const struct tr_climb *climb,
                 struct tr_turn_test *test)
{
    const struct tr_set *segments = &climb->loop->segments;
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
        if (read_branch(iteration, climb, s, test) && is_below(test->relation) &&
            (test->tested == climb->phi || test->tested == climb->next))
            return true;
    return false;
}

/* Whether the number is the phi, plus or minus what does not change in the loop, or that less the
 * phi. *sign: of the phi. */
static bool is_made_of_phi(const struct tr_iteration *iteration, const struct tr_climb *climb,
                           LLVMValueRef number, int64_t *sign)
{
    *sign = 1;
    for (unsigned depth = 0; number != climb->phi && depth < TR_STEPS_MAX; depth++) {
        if (LLVMIsABinaryOperator(number) == NULL)
            return false;
        LLVMOpcode opcode = LLVMGetInstructionOpcode(number);
        unsigned fixed = tr_is_fixed_in(iteration, climb->loop, LLVMGetOperand(number, 1)) ? 1 : 0;
        if ((opcode != LLVMAdd && opcode != LLVMSub) ||
            !tr_is_fixed_in(iteration, climb->loop, LLVMGetOperand(number, fixed)))
            return false;
        if (opcode == LLVMSub && fixed == 0)
            *sign = -*sign;
        number = LLVMGetOperand(number, 1 - fixed);
    }
    return number == climb->phi;
}

static bool counts_turns(const struct tr_iteration *iteration, uint32_t segment,
                         struct tr_turns *turns)
{
    int64_t sign = 0;
    if (!read_branch(iteration, &turns->climb, segment, &turns->test) ||
        !is_made_of_phi(iteration, &turns->climb, turns->test.tested, &sign))
        return false;
    turns->step = sign * turns->step;
    return turns->test.relation == LLVMIntNE ||
           (is_below(turns->test.relation) && turns->step > 0 && has_bits(turns->test.tested, 32));
}

static bool is_counter(const struct tr_iteration *iteration, LLVMValueRef phi,
                       struct tr_turns *turns)
{
    return (has_bits(phi, 32) || has_bits(phi, 64)) && tr_is_same_in_row(iteration, phi) &&
           tr_find_climb(iteration, phi, &turns->climb) &&
           tr_find_constant_step(&turns->climb, &turns->step);
}

bool tr_find_turns(const struct tr_iteration *iteration, const struct tr_loop *loop,
                   struct tr_turns *turns)
{
    const struct tr_segment *header = &iteration->graph.segments[loop->header];
    for (uint32_t v = header->first_value; v < header->first_value + header->value_count; v++) {
        const struct tr_value *value = &iteration->graph.values[v];
        if (value->opcode != LLVMPHI)
            return false;
        for (uint32_t s = tr_set_next(&loop->segments, 0); s != TR_NONE;
             s = tr_set_next(&loop->segments, s + 1))
            if (is_counter(iteration, value->llvm, turns) && counts_turns(iteration, s, turns))
                return true;
    }
    return false;
}
