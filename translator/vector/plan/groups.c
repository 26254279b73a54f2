/* SPDX-License-Identifier: Apache-2.0
 *
 * Which quotients make groups.
 */
#include "translator/vector/plan/groups.h"

#include "translator/analysis/address.h"
#include "translator/analysis/shape.h"
#include "translator/module/marks.h"
#include "translator/module/walk.h"

/* Of constant divisors: with smaller ones, most vectors have several groups. What is not known is
 * asked before (tr_expectations.divisors). */
#define LEAST_DIVISOR 32

/* As in agree.c. */
#define MAX_STRIDE (1 << 16)

/* Iterations of more values would become too long: there are two copies of what follows the
 * quotients, and one that has no groups. */
#define MOST_VALUES 400

/* What a value becomes if lanes have the quotients found so far in common. */
enum in_group { ANYHOW, SAME, GROWING };

struct search {
    const struct tr_iteration *iteration;
    enum in_group *in_group; /* by value; only of the segment's own */
    struct tr_groups *groups;
};

static bool is_from_outside(const struct tr_iteration *iteration, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(&iteration->graph, value);
    return number == TR_NONE || iteration->graph.values[number].segment == TR_NONE;
}

static enum in_group in_group_of(const struct search *search, LLVMValueRef operand)
{
    const struct tr_iteration *iteration = search->iteration;
    uint32_t number = tr_graph_number(&iteration->graph, operand);
    if (number == TR_NONE || tr_is_same_in_row(iteration, operand))
        return SAME;
    if (search->in_group[number] != ANYHOW)
        return search->in_group[number];
    struct tr_shape shape = iteration->shapes.values[number];
    bool grows = shape.kind == TR_AFFINE && shape.stride > 0 && shape.stride < MAX_STRIDE;
    return grows ? GROWING : ANYHOW;
}

static bool is_word(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) >= 32 &&
           LLVMGetIntTypeWidth(type) <= 64;
}

static bool is_large(LLVMValueRef divisor, LLVMOpcode opcode)
{
    uint64_t constant = 0;
    if (!tr_find_unsigned(divisor, &constant))
        return opcode != LLVMLShr;
    if (opcode == LLVMLShr)
        return constant < 32 && UINT32_C(1) << constant >= LEAST_DIVISOR;
    return LLVMConstIntGetSExtValue(divisor) >= LEAST_DIVISOR;
}

/* Whether what the number is multiplied by is taken from the place: a remainder by two
 * instructions. */
static bool is_taken_from(LLVMValueRef number, LLVMValueRef place, uint32_t depth)
{
    for (LLVMUseRef use = LLVMGetFirstUse(number); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if ((tr_is_opcode(user, LLVMSub) && LLVMGetOperand(user, 0) == place) ||
            (tr_is_opcode(user, LLVMAdd) &&
             (LLVMGetOperand(user, 0) == place || LLVMGetOperand(user, 1) == place)))
            return true;
        bool passes_on = tr_is_opcode(user, LLVMSelect) || tr_is_opcode(user, LLVMMul);
        if (passes_on && depth > 0 && is_taken_from(user, place, depth - 1))
            return true;
    }
    return false;
}

/* Whether the program uses what the quotient leaves, too. */
static bool has_rest(LLVMValueRef quotient)
{
    LLVMValueRef place = LLVMGetOperand(quotient, 0);
    for (LLVMUseRef use = LLVMGetFirstUse(place); use != NULL; use = LLVMGetNextUse(use))
        if (tr_is_rest(LLVMGetUser(use)) && tr_is_of_quotient(LLVMGetUser(use), quotient))
            return true;
    return is_taken_from(quotient, place, 3);
}

/* What a quotient leaves is divided again where planes have rows; but also by small numbers, as
 * `column / 2`, of which the program does not want the rest. */
static bool is_likely_row(const struct search *search, LLVMValueRef inst)
{
    uint32_t place = tr_graph_number(&search->iteration->graph, LLVMGetOperand(inst, 0));
    return search->in_group[place] == ANYHOW || has_rest(inst);
}

/* Whether it divides what grows along the row by a number that is known before the iteration. */
static bool divides_place(const struct search *search, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (!tr_is_integer_division(inst) && opcode != LLVMLShr)
        return false;
    LLVMValueRef divisor = LLVMGetOperand(inst, 1);
    return is_word(inst) && is_from_outside(search->iteration, divisor) &&
           is_large(divisor, opcode) && in_group_of(search, LLVMGetOperand(inst, 0)) == GROWING &&
           is_likely_row(search, inst);
}

bool tr_is_of_quotient(LLVMValueRef inst, LLVMValueRef quotient)
{
    bool is_such = LLVMGetInstructionOpcode(inst) == LLVMGetInstructionOpcode(quotient) ||
                   (tr_is_integer_division(inst) && tr_is_integer_division(quotient) &&
                    tr_is_signed_division(inst) == tr_is_signed_division(quotient));
    return is_such && LLVMGetOperand(inst, 0) == LLVMGetOperand(quotient, 0) &&
           LLVMGetOperand(inst, 1) == LLVMGetOperand(quotient, 1);
}

/* False: there are too many. */
static bool add(struct tr_groups *groups, LLVMValueRef inst)
{
    for (uint32_t i = 0; i < groups->count; i++)
        if (tr_is_of_quotient(inst, groups->quotients[i]))
            return true;
    if (groups->count == TR_MAX_QUOTIENTS)
        return false;
    groups->quotients[groups->count++] = inst;
    return true;
}

/* What another instruction makes of such values. */
static enum in_group outcome(const struct search *search, const struct tr_value *value)
{
    bool is_sum = value->opcode == LLVMAdd || value->opcode == LLVMSub;
    enum in_group worst = SAME;
    if (!tr_is_function_of_operands(value) || value->opcode == LLVMLoad || value->opcode == LLVMPHI)
        return ANYHOW;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        enum in_group of_operand = in_group_of(search, LLVMGetOperand(value->llvm, i));
        if (of_operand == GROWING && is_sum && worst == SAME &&
            (i == 0 || value->opcode == LLVMAdd))
            worst = GROWING;
        else if (of_operand != SAME)
            return ANYHOW;
    }
    return worst;
}

/* Whether it may be done before it is known who is in the group. What the launch or the block says
 * is there for every lane. */
static bool can_be_in_header(LLVMValueRef inst)
{
    return !tr_is_seen(inst) && (LLVMIsALoadInst(inst) == NULL || tr_is_invariant_load(inst));
}

/* Follows the segment from its first such quotient on. What must not be done before it is known who
 * is in the group ends the search for further ones. */
static void follow(struct search *search, uint32_t number)
{
    const struct tr_graph *graph = &search->iteration->graph;
    const struct tr_segment *segment = &graph->segments[number];
    struct tr_groups *groups = search->groups;
    uint32_t last = segment->first_value + segment->value_count - 1;
    bool is_open = true;
    for (uint32_t v = segment->first_value; v < last; v++) {
        const struct tr_value *value = &graph->values[v];
        is_open &= groups->count == 0 || can_be_in_header(value->llvm);
        if (is_open && divides_place(search, value->llvm) && add(groups, value->llvm)) {
            groups->first = groups->count == 1 && groups->end == 0 ? v : groups->first;
            search->in_group[v] = tr_is_rest(value->llvm) ? GROWING : SAME;
            groups->segment = number;
            groups->end = v + 1;
            continue;
        }
        search->in_group[v] = groups->count > 0 ? outcome(search, value) : ANYHOW;
        bool is_derived = tr_is_integer_division(value->llvm) && search->in_group[v] == SAME &&
                          !tr_is_same_in_row(search->iteration, value->llvm);
        if (is_derived && groups->derived_count < TR_MAX_DERIVED)
            groups->derived[groups->derived_count++] = value->llvm;
    }
}

/* Whether the groups' order could be told from that of threads: where atomic operations, which may
 * round, or calls are done behind the quotients. */
static bool has_order(const struct tr_iteration *iteration, const struct tr_groups *groups)
{
    for (uint32_t v = groups->first; v < iteration->graph.value_count; v++) {
        const struct tr_value *value = &iteration->graph.values[v];
        bool is_plain_store = value->opcode == LLVMStore && tr_is_plain_access(value->llvm);
        if (value->segment != TR_NONE && !iteration->is_lost[value->segment] &&
            tr_dominates(&iteration->dominators, groups->segment, value->segment) &&
            tr_is_seen(value->llvm) && !is_plain_store)
            return true;
    }
    return false;
}

static bool decides(const struct tr_iteration *iteration, const struct tr_groups *groups)
{
    for (uint32_t v = groups->first; v < groups->end; v++) {
        LLVMValueRef inst = iteration->graph.values[v].llvm;
        if ((tr_is_integer_division(inst) || tr_is_opcode(inst, LLVMLShr)) &&
            tr_decides_access(iteration, v))
            return true;
    }
    return false;
}

struct tr_groups tr_find_groups(const struct tr_iteration *iteration)
{
    struct tr_groups groups = {0};
    const struct tr_graph *graph = &iteration->graph;
    struct pxr_arena scratch;
    if (graph->value_count > MOST_VALUES || iteration->y != TR_NONE)
        return groups;
    pxr_arena_init(&scratch, 0);
    struct search search = {
        .iteration = iteration,
        .in_group = pxr_arena_alloc_array(&scratch, graph->value_count, sizeof *search.in_group),
        .groups = &groups};
    for (uint32_t s = 0; search.in_group != NULL && s < graph->segment_count; s++) {
        if (iteration->is_lost[s])
            continue;
        groups = (struct tr_groups){0};
        for (uint32_t v = 0; v < graph->value_count; v++)
            search.in_group[v] = ANYHOW;
        follow(&search, s);
        if (groups.count > 0 && decides(iteration, &groups) && !has_order(iteration, &groups))
            break;
        groups.count = 0;
    }
    pxr_arena_fini(&scratch);
    return groups;
}

void tr_expect_groups(const struct tr_iteration *iteration, struct tr_expectations *expected)
{
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        const struct tr_value *value = &iteration->graph.values[v];
        if (value->segment == TR_NONE || !tr_is_integer_division(value->llvm) ||
            !tr_is_marked(LLVMGetOperand(value->llvm, 0), TR_MARK_GROUP_PLACE))
            continue;
        LLVMValueRef divisor = LLVMGetOperand(value->llvm, 1);
        if (expected->divisor_count < TR_MAX_QUOTIENTS)
            expected->divisors[expected->divisor_count++] = divisor;
    }
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++)
        expected->has_groups |= tr_is_group_branch(iteration, s);
}

/* What the number is promised to be less than; 0: nothing is known. */
static uint64_t promised_bound(LLVMValueRef number)
{
    uint64_t constant = 0;
    if (tr_find_unsigned(number, &constant))
        return constant + 1;
    if (tr_calls_intrinsic(number, "llvm.umax"))
        return promised_bound(LLVMGetOperand(number, 0));
    if (tr_is_opcode(number, LLVMZExt) || tr_is_opcode(number, LLVMSExt))
        return promised_bound(LLVMGetOperand(number, 0));
    if (tr_is_opcode(number, LLVMMul)) {
        uint64_t factors[2] = {promised_bound(LLVMGetOperand(number, 0)),
                               promised_bound(LLVMGetOperand(number, 1))};
        return factors[0] < UINT32_MAX && factors[1] < UINT32_MAX ? factors[0] * factors[1] : 0;
    }
    static const char name[] = "range";
    LLVMValueRef range =
        tr_is_opcode(number, LLVMLoad)
            ? LLVMGetMetadata(number,
                              LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(number)), name,
                                                       sizeof name - 1))
            : NULL;
    LLVMValueRef ends[2] = {NULL, NULL};
    if (range == NULL || LLVMGetMDNodeNumOperands(range) != 2)
        return 0;
    LLVMGetMDNodeOperands(range, ends);
    return LLVMConstIntGetZExtValue(ends[1]);
}

bool tr_groups_are_long(const struct tr_expectations *expected)
{
    for (uint32_t i = 0; i < expected->divisor_count; i++)
        if (promised_bound(expected->divisors[i]) <= TR_LONG_DIVISOR + 1)
            return false;
    return expected->divisor_count > 0;
}

bool tr_is_left_apart(const struct tr_iteration *iteration, uint32_t loop)
{
    return iteration->is_divergent_loop[loop] &&
           !tr_is_group_branch(iteration, iteration->loops.loops[loop].header);
}

bool tr_is_group_branch(const struct tr_iteration *iteration, uint32_t segment)
{
    const struct tr_segment *from = &iteration->graph.segments[segment];
    LLVMValueRef end = iteration->graph.values[from->first_value + from->value_count - 1].llvm;
    return LLVMIsABranchInst(end) != NULL && LLVMIsConditional(end) &&
           LLVMIsAInstruction(LLVMGetCondition(end)) != NULL &&
           tr_is_marked(LLVMGetCondition(end), TR_MARK_GROUP);
}
