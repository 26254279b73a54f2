/* SPDX-License-Identifier: Apache-2.0
 *
 * Edges: when control leaves a segment, each edge brings the values of the phis of the segment it
 * leads to, and the mask of the lanes that come. Nothing jumps: the segments that edges lead to are
 * emitted later, behind this one.
 */
#include "translator/vector/control.h"

/* Which of the segment's active lanes take an edge. */
struct edge {
    uint32_t from;
    uint32_t to;
    bool is_always;                     /* all of them; otherwise … */
    LLVMValueRef scalar;                /* … all or none, as this i1 says, or … */
    LLVMValueRef vector[TR_MAX_COPIES]; /* … if it is NULL, those whose bit is set */
};

/* ---- the graph ---- */

static uint32_t terminator_of(const struct tr_iteration *iteration, uint32_t segment)
{
    const struct tr_segment *s = &iteration->graph.segments[segment];
    return s->first_value + s->value_count - 1;
}

bool tr_control_is_back_edge(const struct tr_iteration *iteration, uint32_t from, uint32_t to)
{
    uint32_t loop = iteration->loops.innermost[to];
    return loop != TR_NONE && iteration->loops.loops[loop].header == to &&
           tr_set_has(&iteration->loops.loops[loop].segments, from);
}

uint32_t tr_control_phi_count(const struct tr_iteration *iteration, uint32_t segment)
{
    const struct tr_segment *s = &iteration->graph.segments[segment];
    uint32_t count = 0;
    while (count < s->value_count &&
           iteration->graph.values[s->first_value + count].opcode == LLVMPHI)
        count++;
    return count;
}

static bool is_single_way(const struct tr_segment *segment)
{
    for (uint32_t i = 1; i < segment->succ_count; i++)
        if (segment->succs[i] != segment->succs[0])
            return false;
    return true;
}

/* ---- conditions ---- */

/* i1, or <width x i1> of a copy: whether the terminator takes its i-th way. */
static LLVMValueRef way_condition(struct tr_widen *widen, LLVMValueRef terminator, unsigned i,
                                  LLVMValueRef operand)
{
    LLVMBuilderRef b = widen->builder;
    if (LLVMGetInstructionOpcode(terminator) == LLVMBr)
        return i == 0 ? operand : LLVMBuildNot(b, operand, "");
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(operand)) == LLVMVectorTypeKind;
    LLVMValueRef any = NULL;
    for (unsigned k = 1; k < LLVMGetNumSuccessors(terminator); k++) {
        if (i != 0 && i != k)
            continue;
        LLVMValueRef label = LLVMGetSwitchCaseValue(terminator, k);
        if (is_vector)
            label = tr_widen_splat(widen, label);
        LLVMValueRef equal = LLVMBuildICmp(b, LLVMIntEQ, operand, label, "");
        any = any == NULL ? equal : LLVMBuildOr(b, any, equal, "");
    }
    if (any == NULL) /* a switch without cases */
        return is_vector ? tr_widen_mask_constant(widen, true) : LLVMConstInt(widen->i1, 1, false);
    return i == 0 ? LLVMBuildNot(b, any, "") : any; /* 0 is the default */
}

/* Whether the terminator takes any of its ways to `to`. */
static LLVMValueRef condition_of(struct tr_widen *widen, LLVMValueRef terminator,
                                 LLVMBasicBlockRef to, LLVMValueRef operand)
{
    LLVMValueRef any = NULL;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++) {
        if (LLVMGetSuccessor(terminator, i) != to)
            continue;
        LLVMValueRef one = way_condition(widen, terminator, i, operand);
        any = any == NULL ? one : LLVMBuildOr(widen->builder, any, one, "");
    }
    return any;
}

static LLVMValueRef branch_operand(LLVMValueRef terminator)
{
    return LLVMGetInstructionOpcode(terminator) == LLVMBr ? LLVMGetCondition(terminator)
                                                          : LLVMGetOperand(terminator, 0);
}

/* Copies that cannot differ share the condition, and so the mask. */
static void fill_vector_condition(struct tr_widen *widen, LLVMValueRef terminator,
                                  struct edge *edge)
{
    LLVMBasicBlockRef to = widen->iteration->graph.segments[edge->to].llvm;
    LLVMValueRef operand = branch_operand(terminator);
    uint32_t number = tr_graph_number(&widen->iteration->graph, operand);
    for (uint32_t c = 0; c < widen->copies; c++) {
        uint32_t holder = number == TR_NONE ? 0 : tr_widen_holder(widen, number, c);
        if (tr_widen_shape(widen, operand).kind == TR_AFFINE &&
            tr_widen_shape(widen, operand).stride != 0)
            holder = c;
        edge->vector[c] =
            holder < c ? edge->vector[holder]
                       : condition_of(widen, terminator, to, tr_widen_vector(widen, operand, c));
    }
}

/* A uniform operand is frozen where no lane may be active: it may be poison there, and would still
 * decide where to go. */
static LLVMValueRef scalar_operand(const struct tr_control *control, LLVMValueRef operand)
{
    LLVMValueRef scalar = tr_widen_scalar(control->widen, operand, 0);
    if (!control->may_be_empty || tr_widen_seed(control->widen, TR_VECTOR_SEED_FREEZE))
        return scalar;
    return LLVMBuildFreeze(control->widen->builder, scalar, "");
}

static void fill_condition(struct tr_control *control, LLVMValueRef terminator, struct edge *edge)
{
    struct tr_widen *widen = control->widen;
    if (is_single_way(&control->iteration->graph.segments[edge->from])) {
        edge->is_always = true;
        return;
    }
    LLVMValueRef operand = branch_operand(terminator);
    if (tr_widen_shape(widen, operand).kind == TR_UNIFORM)
        edge->scalar =
            condition_of(widen, terminator, control->iteration->graph.segments[edge->to].llvm,
                         scalar_operand(control, operand));
    else
        fill_vector_condition(widen, terminator, edge);
}

/* ---- what they bring ---- */

/* The mask of the lanes that take the edge, unless it is always, or all or none. NULL: all. */
static void fill_masks(struct tr_widen *widen, const struct edge *edge, LLVMValueRef *mask)
{
    bool is_by_lane = !edge->is_always && edge->scalar == NULL;
    const LLVMValueRef *active = widen->active.mask;
    for (uint32_t c = 0; c < widen->copies; c++) {
        mask[c] = active[c];
        for (uint32_t d = 0; d < c && is_by_lane; d++)
            if (active[d] == active[c] && edge->vector[d] == edge->vector[c])
                mask[c] = mask[d];
        if (is_by_lane && mask[c] == active[c])
            mask[c] = tr_widen_mask_and(widen, active[c], edge->vector[c]);
    }
}

static void add_predicate(struct tr_widen *widen, const struct edge *edge, struct tr_join *join)
{
    LLVMValueRef comes = edge->scalar != NULL ? edge->scalar : LLVMConstInt(widen->i1, 1, false);
    join->predicate = join->predicate == NULL || edge->is_always
                          ? comes
                          : LLVMBuildOr(widen->builder, join->predicate, comes, "");
}

static void add_mask(struct tr_widen *widen, const struct edge *edge, const LLVMValueRef *mask,
                     struct tr_join *join)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef old[TR_MAX_COPIES];
    LLVMValueRef come[TR_MAX_COPIES];
    for (uint32_t c = 0; c < widen->copies; c++) {
        old[c] = join->mask[c];
        come[c] = mask[c] == NULL ? tr_widen_mask_constant(widen, true) : mask[c];
        bool is_same = false;
        for (uint32_t d = 0; d < c && !is_same; d++) {
            is_same = old[d] == old[c] && mask[d] == mask[c];
            if (is_same)
                join->mask[c] = join->mask[d];
        }
        if (is_same)
            continue;
        if (edge->scalar != NULL)
            come[c] =
                LLVMBuildSelect(b, edge->scalar, come[c], tr_widen_mask_constant(widen, false), "");
        join->mask[c] = old[c] == NULL ? come[c] : LLVMBuildOr(b, old[c], come[c], "");
    }
}

/* The value that holds the phi's operand. */
static LLVMValueRef phi_operand(struct tr_widen *widen, const struct tr_value *phi, uint32_t from,
                                struct tr_shape shape, uint32_t copy)
{
    LLVMBasicBlockRef block = widen->iteration->graph.segments[from].llvm;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        if (LLVMGetIncomingBlock(phi->llvm, i) != block)
            continue;
        LLVMValueRef operand = LLVMGetIncomingValue(phi->llvm, i);
        return shape.kind == TR_VARYING ? tr_widen_vector(widen, operand, copy)
                                        : tr_widen_scalar(widen, operand, copy);
    }
    return NULL;
}

/* The lanes of all copies that share the phi's value with this one. True: no lane can have come to
 * the phi's segment by an edge before this one: all that were at the anchor come by it. */
static bool union_of_sharers(struct tr_widen *widen, uint32_t phi, uint32_t copy,
                             const LLVMValueRef *mask, const struct tr_active *anchor,
                             LLVMValueRef *lanes)
{
    bool is_whole = true;
    *lanes = mask[copy];
    for (uint32_t c = copy; c < widen->copies; c++) {
        if (tr_widen_holder(widen, phi, c) != copy)
            continue;
        is_whole &= mask[c] == NULL || mask[c] == anchor->mask[c];
        if (mask[c] != NULL && *lanes != mask[c])
            *lanes = LLVMBuildOr(widen->builder, *lanes, mask[c], "");
    }
    return is_whole;
}

/* What the lanes have in common that come by the edge, if any do: of several edges only one brings
 * lanes, but any of them may be emitted last. */
static LLVMValueRef common_value(struct tr_widen *widen, const struct edge *edge,
                                 LLVMValueRef lanes, LLVMValueRef value, LLVMValueRef pending)
{
    LLVMValueRef comes = lanes == NULL ? NULL : tr_widen_any(widen, lanes);
    if (edge->scalar != NULL)
        comes =
            comes == NULL ? edge->scalar : LLVMBuildAnd(widen->builder, comes, edge->scalar, "");
    return comes == NULL ? value : LLVMBuildSelect(widen->builder, comes, value, pending, "");
}

/* anchor: the lanes active at the anchor of the phi's segment. */
static void add_values(struct tr_control *control, const struct edge *edge,
                       const LLVMValueRef *mask, const struct tr_active *anchor)
{
    struct tr_widen *widen = control->widen;
    const struct tr_iteration *iteration = control->iteration;
    struct tr_join *join = &control->joins[edge->to];
    uint32_t first = iteration->graph.segments[edge->to].first_value;
    for (uint32_t k = 0; k < join->phi_count; k++) {
        const struct tr_value *phi = &iteration->graph.values[first + k];
        struct tr_shape shape = iteration->shapes.values[first + k];
        for (uint32_t c = 0; c < widen->copies; c++) {
            if (tr_widen_holder(widen, first + k, c) != c)
                continue;
            LLVMValueRef *pending = &join->pending[k * widen->copies + c];
            LLVMValueRef value = phi_operand(widen, phi, edge->from, shape, c);
            LLVMValueRef lanes = NULL;
            if (*pending == NULL || *pending == value ||
                union_of_sharers(widen, first + k, c, mask, anchor, &lanes))
                *pending = value;
            else if (shape.kind == TR_VARYING)
                *pending = tr_widen_blend(widen, LLVMTypeOf(phi->llvm), lanes, value, *pending);
            else
                *pending = common_value(widen, edge, lanes, value, *pending);
        }
    }
}

/* Notes which condition a mask comes from, if that is one branch at which all lanes are active. */
static void note_condition(const struct tr_control *control, const struct edge *edge,
                           LLVMValueRef terminator, const LLVMValueRef *mask, struct tr_join *join)
{
    bool is_branch =
        !edge->is_always && edge->scalar == NULL && LLVMGetInstructionOpcode(terminator) == LLVMBr;
    bool is_only_one = join->mask[0] == NULL && control->widen->active.mask[0] == NULL;
    join->of_condition = NULL;
    if (!is_branch || !is_only_one)
        return;
    join->condition = LLVMGetCondition(terminator);
    join->of_condition = mask[0];
    join->expected =
        LLVMGetSuccessor(terminator, 0) == control->iteration->graph.segments[edge->to].llvm;
}

static void bring(struct tr_control *control, const struct edge *edge, LLVMValueRef terminator)
{
    struct tr_widen *widen = control->widen;
    const struct tr_iteration *iteration = control->iteration;
    struct tr_join *join = &control->joins[edge->to];
    LLVMValueRef mask[TR_MAX_COPIES];
    fill_masks(widen, edge, mask);
    enum tr_unit_kind kind = iteration->units[edge->to].kind;
    if (tr_control_is_back_edge(iteration, edge->from, edge->to))
        kind = iteration->is_divergent_loop[iteration->loops.innermost[edge->to]] ? TR_UNIT_MASKED
                                                                                  : TR_UNIT_UNIFORM;
    if (kind == TR_UNIT_UNIFORM)
        add_predicate(widen, edge, join);
    else if (kind == TR_UNIT_MASKED) {
        note_condition(control, edge, terminator, mask, join);
        add_mask(widen, edge, mask, join);
    }
    add_values(control, edge, mask, &control->anchors[edge->to]);
}

bool tr_control_is_whole_group(const struct tr_control *control, uint32_t segment)
{
    return control->one_group != TR_NONE &&
           control->iteration->graph.segments[control->one_group].succs[0] == segment;
}

void tr_control_leave(struct tr_control *control, uint32_t segment)
{
    const struct tr_iteration *iteration = control->iteration;
    const struct tr_segment *from = &iteration->graph.segments[segment];
    LLVMValueRef terminator = iteration->graph.values[terminator_of(iteration, segment)].llvm;
    if (LLVMGetInstructionOpcode(terminator) == LLVMUnreachable) {
        LLVMBuildUnreachable(control->widen->builder);
        LLVMPositionBuilderAtEnd(control->widen->builder,
                                 tr_widen_new_block(control->widen, "never"));
        return;
    }
    if (segment == control->one_group) {
        struct edge edge = {.from = segment, .to = from->succs[0], .is_always = true};
        bring(control, &edge, terminator);
        return;
    }
    for (uint32_t i = 0; i < from->succ_count; i++) {
        bool is_repeated = false;
        for (uint32_t k = 0; k < i; k++)
            is_repeated |= from->succs[k] == from->succs[i];
        if (is_repeated)
            continue;
        struct edge edge = {.from = segment, .to = from->succs[i]};
        fill_condition(control, terminator, &edge);
        bring(control, &edge, terminator);
    }
}
