/* SPDX-License-Identifier: Apache-2.0
 *
 * Control flow of an iteration for lanes side by side. Units (plan.h) are emitted one after
 * another, inner ones within outer ones. A unit that all lanes come to just follows; one that all
 * or none come to is in an `if`; any other is in an `if` that asks whether any lane comes, with a
 * copy without masks for when all do. So divergent branches become straight code (Karrenberg and
 * Hack's linearisation, as far as Moll and Hack's partial one finds necessary), uniform ones stay.
 *
 * Values that a segment defines are used in its own unit only, or go through phis (the loops are in
 * LCSSA form), so that where ways meet (merge.c) only the values that edges bring (edges.c) have to
 * be merged.
 */
#include "translator/vector/control.h"
#include "translator/vector/tuning/tuning.h"

/* A unit with at most so many instructions, no loops, and nothing that inactive lanes must not do,
 * is cheaper to run with no lane active than to branch around. */
#define FLATTEN_MAX 12

/* A unit larger than this, times copies, gets no second copy for when all lanes come, unless there
 * is a loop in it, which would have masks in every turn. */
#define SPLIT_MAX 400

static void set_all_active(struct tr_widen *widen)
{
    for (uint32_t c = 0; c < widen->copies; c++)
        widen->active.mask[c] = NULL;
}

static bool is_header(const struct tr_iteration *iteration, uint32_t segment)
{
    uint32_t loop = iteration->loops.innermost[segment];
    return loop != TR_NONE && iteration->loops.loops[loop].header == segment;
}

/* ---- segments ---- */

static void check_guard(struct tr_control *control, const struct tr_guard *guard)
{
    struct tr_widen *widen = control->widen;
    LLVMValueRef condition = LLVMGetCondition(guard->branch);
    bool expected = guard->expected == 0;
    LLVMValueRef all = tr_control_all_take(widen, condition, expected);
    LLVMBasicBlockRef go_on = tr_widen_new_block(widen, "expected");
    LLVMBasicBlockRef not_all = tr_widen_new_block(widen, "not_all");
    LLVMBuildCondBr(widen->builder, all, go_on, not_all);
    LLVMPositionBuilderAtEnd(widen->builder, not_all);
    LLVMValueRef some = tr_control_any_takes(widen, condition, expected);
    LLVMBuildCondBr(widen->builder, some, control->exits->other, control->exits->none);
    LLVMPositionBuilderAtEnd(widen->builder, go_on);
}

static void check_common(struct tr_control *control, LLVMValueRef quotient)
{
    struct tr_widen *widen = control->widen;
    LLVMValueRef all = tr_control_all_share(widen, quotient);
    LLVMBasicBlockRef go_on = tr_widen_new_block(widen, "expected");
    LLVMBuildCondBr(widen->builder, all, go_on, control->exits->other);
    LLVMPositionBuilderAtEnd(widen->builder, go_on);
}

/* i1: whether rows of that length are whole vectors, if one begins with one. */
static LLVMValueRef is_of_vectors(struct tr_widen *widen, LLVMValueRef length)
{
    LLVMBuilderRef b = widen->builder;
    LLVMTypeRef type = LLVMTypeOf(length);
    LLVMValueRef rest =
        LLVMBuildURem(b, length, LLVMConstInt(type, widen->width * widen->jam[0], false), "");
    LLVMValueRef is_whole = LLVMBuildICmp(b, LLVMIntEQ, rest, LLVMConstInt(type, 0, false), "");
    LLVMValueRef is_some = LLVMBuildICmp(b, LLVMIntSGT, length, LLVMConstInt(type, 0, false), "");
    return LLVMBuildAnd(b, is_whole, is_some, "");
}

/* Leaves the fast version if its vectors have many groups each. */
static void check_divisors(struct tr_control *control)
{
    struct tr_widen *widen = control->widen;
    uint32_t count = control->exits == NULL ? 0 : control->exits->expected->divisor_count;
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef divisor = control->exits->expected->divisors[i];
        LLVMValueRef least = LLVMConstInt(LLVMTypeOf(divisor), widen->least_divisor, false);
        LLVMBasicBlockRef go_on = tr_widen_new_block(widen, "expected");
        LLVMValueRef is_large = LLVMBuildICmp(widen->builder, LLVMIntSGE, divisor, least, "");
        is_large = LLVMBuildOr(widen->builder, is_large, is_of_vectors(widen, divisor), "");
        LLVMBuildCondBr(widen->builder, is_large, go_on, control->exits->apart);
        LLVMPositionBuilderAtEnd(widen->builder, go_on);
    }
}

/* Leaves the fast version if lanes do not share the quotient, which has been emitted: what comes
 * behind it, in its segment too, may not be done twice. */
static void check_quotient(struct tr_control *control, LLVMValueRef quotient)
{
    uint32_t count = control->exits == NULL ? 0 : control->exits->expected->common_count;
    for (uint32_t i = 0; i < count; i++)
        if (control->exits->expected->common[i] == quotient)
            check_common(control, quotient);
}

/* Leaves the copy for one group if there are several. */
static void check_group(struct tr_control *control, uint32_t number)
{
    struct tr_widen *widen = control->widen;
    const struct tr_segment *segment = &control->iteration->graph.segments[number];
    if (number != control->one_group)
        return;
    uint32_t last = segment->first_value + segment->value_count - 1;
    LLVMValueRef branch = control->iteration->graph.values[last].llvm;
    LLVMBasicBlockRef go_on = tr_widen_new_block(widen, "group");
    LLVMValueRef all = tr_control_all_take(widen, LLVMGetCondition(branch), true);
    LLVMBuildCondBr(widen->builder, all, go_on, control->groups);
    LLVMPositionBuilderAtEnd(widen->builder, go_on);
}

/* Leaves the fast version if lanes do not go from the segment, all of whose instructions but the
 * last have been emitted, where they are expected to. */
static void check_guards(struct tr_control *control, uint32_t number)
{
    const struct tr_graph *graph = &control->iteration->graph;
    const struct tr_segment *segment = &graph->segments[number];
    LLVMValueRef last = graph->values[segment->first_value + segment->value_count - 1].llvm;
    if (control->exits == NULL)
        return;
    const struct tr_expectations *expected = control->exits->expected;
    for (uint32_t i = 0; i < expected->guard_count; i++)
        if (expected->guards[i].branch == last)
            check_guard(control, &expected->guards[i]);
}

void tr_control_emit_segment(struct tr_control *control, uint32_t number)
{
    struct tr_widen *widen = control->widen;
    const struct tr_iteration *iteration = control->iteration;
    const struct tr_segment *segment = &iteration->graph.segments[number];
    const struct tr_unit *unit = &iteration->units[number];
    uint32_t last = segment->first_value + segment->value_count - 1;
    uint32_t v = segment->first_value + tr_control_phi_count(iteration, number);
    for (uint32_t phi = segment->first_value; phi < v; phi++)
        tr_control_check_steady(control, iteration->graph.values[phi].llvm);
    if (number == control->one_group) {
        tr_control_emit_group_header(control, number);
        v = last;
    }
    for (; v < last; v++) {
        tr_control_instruction(widen, v);
        check_quotient(control, iteration->graph.values[v].llvm);
        tr_control_check_steady(control, iteration->graph.values[v].llvm);
    }
    for (uint32_t i = 0; i < unit->child_count; i++)
        control->anchors[unit->children[i]] = widen->active;
    check_group(control, number);
    check_guards(control, number);
    tr_control_leave(control, number);
    for (uint32_t i = 0; i < unit->child_count; i++)
        tr_control_emit_unit(control, unit->children[i]);
}

void tr_control_define_phis(struct tr_control *control, uint32_t segment,
                            const LLVMValueRef *pending)
{
    struct tr_widen *widen = control->widen;
    uint32_t copies = widen->copies;
    uint32_t first = control->iteration->graph.segments[segment].first_value;
    for (uint32_t i = 0; i < control->joins[segment].phi_count * copies; i++)
        if (pending[i] != NULL)
            tr_widen_define(widen, first + i / copies, i % copies, pending[i]);
}

/* ---- units ---- */

/* Emits the unit for the active lanes. */
static void emit_inside(struct tr_control *control, uint32_t segment, LLVMValueRef *pending)
{
    if (control->is_out_of_memory)
        return;
    if (is_header(control->iteration, segment)) {
        tr_control_emit_loop(control, segment, pending);
        return;
    }
    tr_control_define_phis(control, segment, pending);
    tr_control_emit_segment(control, segment);
}

static void emit_uniform(struct tr_control *control, uint32_t segment, LLVMValueRef predicate,
                         LLVMValueRef *pending)
{
    struct tr_widen *widen = control->widen;
    const struct tr_unit *unit = &control->iteration->units[segment];
    struct tr_slots slots = tr_control_slots(control, unit->escapes, unit->escape_count);
    LLVMBasicBlockRef inside = tr_widen_new_block(widen, "then");
    LLVMBasicBlockRef meet = tr_widen_new_block(widen, "meet");
    struct tr_way ways[2];
    ways[0] = tr_control_way(control, &slots);
    LLVMBuildCondBr(widen->builder, predicate, inside, meet);
    LLVMPositionBuilderAtEnd(widen->builder, inside);
    emit_inside(control, segment, pending);
    ways[1] = tr_control_way(control, &slots);
    LLVMBuildBr(widen->builder, meet);
    LLVMPositionBuilderAtEnd(widen->builder, meet);
    tr_control_merge(control, &slots, ways, 2);
}

LLVMValueRef tr_control_all_come(struct tr_widen *widen, const struct tr_join *join,
                                 const LLVMValueRef *mask)
{
    if (join->of_condition != NULL && join->of_condition == mask[0])
        return tr_control_all_take(widen, join->condition, join->expected);
    return tr_widen_mask_all(widen, mask);
}

bool tr_control_is_split(const struct tr_iteration *iteration, uint32_t segment, uint32_t copies,
                         bool is_concise)
{
    const struct tr_unit *unit = &iteration->units[segment];
    uint32_t most = unit->has_loop ? TR_TOGETHER_MAX : SPLIT_MAX;
    return !is_concise && unit->has_effects && !unit->is_fault && unit->cost * copies <= most;
}

/* Emits the copy for all lanes; the builder goes on where not all lanes come. */
static struct tr_way emit_whole(struct tr_control *control, uint32_t segment,
                                const struct tr_slots *slots, LLVMValueRef all_come,
                                LLVMValueRef *pending, LLVMBasicBlockRef meet)
{
    struct tr_widen *widen = control->widen;
    LLVMBasicBlockRef whole = tr_widen_new_block(widen, "all");
    LLVMBasicBlockRef not_all = tr_widen_new_block(widen, "not_all");
    struct tr_way before = tr_control_way(control, slots);
    LLVMBuildCondBr(widen->builder, all_come, whole, not_all);
    LLVMPositionBuilderAtEnd(widen->builder, whole);
    set_all_active(widen);
    emit_inside(control, segment, pending);
    struct tr_way way = tr_control_way(control, slots);
    LLVMBuildBr(widen->builder, meet);
    tr_control_restore(slots, &before);
    LLVMPositionBuilderAtEnd(widen->builder, not_all);
    return way;
}

static void emit_part(struct tr_control *control, uint32_t segment, const LLVMValueRef *mask,
                      LLVMValueRef *pending)
{
    bool is_part = control->is_part;
    for (uint32_t c = 0; c < control->widen->copies; c++)
        control->widen->active.mask[c] = mask[c];
    control->is_part = true;
    emit_inside(control, segment, pending);
    control->is_part = is_part;
}

static void emit_branch_around(struct tr_control *control, uint32_t segment,
                               const LLVMValueRef *mask, LLVMValueRef *pending)
{
    struct tr_widen *widen = control->widen;
    const struct tr_unit *unit = &control->iteration->units[segment];
    struct tr_slots slots = tr_control_slots(control, unit->escapes, unit->escape_count);
    struct tr_way ways[3];
    uint32_t way_count = 0;
    LLVMBasicBlockRef meet = tr_widen_new_block(widen, "meet");
    if (!control->is_part &&
        tr_control_is_split(control->iteration, segment, widen->copies, widen->is_concise))
        ways[way_count++] =
            emit_whole(control, segment, &slots,
                       tr_control_all_come(widen, &control->joins[segment], mask), pending, meet);
    LLVMBasicBlockRef part = tr_widen_new_block(widen, "some");
    LLVMValueRef any = tr_control_any_comes(widen, &control->joins[segment], mask);
    ways[way_count++] = tr_control_way(control, &slots);
    LLVMBuildCondBr(widen->builder, any, part, meet);
    LLVMPositionBuilderAtEnd(widen->builder, part);
    emit_part(control, segment, mask, pending);
    ways[way_count++] = tr_control_way(control, &slots);
    LLVMBuildBr(widen->builder, meet);
    LLVMPositionBuilderAtEnd(widen->builder, meet);
    tr_control_merge(control, &slots, ways, way_count);
}

bool tr_control_is_branched_around(const struct tr_iteration *iteration, uint32_t segment)
{
    const struct tr_unit *unit = &iteration->units[segment];
    return unit->has_effects || unit->has_loop || unit->cost > FLATTEN_MAX;
}

static void emit_masked(struct tr_control *control, uint32_t segment, const LLVMValueRef *mask,
                        LLVMValueRef *pending)
{
    struct tr_active active = control->widen->active;
    bool may_be_empty = control->may_be_empty;
    control->may_be_empty = !tr_control_is_branched_around(control->iteration, segment);
    if (control->may_be_empty)
        emit_part(control, segment, mask, pending);
    else
        emit_branch_around(control, segment, mask, pending);
    control->may_be_empty = may_be_empty;
    control->widen->active = active;
}

/* Takes the values that edges have brought to the segment, so that others can be brought. */
static LLVMValueRef *take_pending(struct tr_control *control, uint32_t segment)
{
    struct tr_join *join = &control->joins[segment];
    uint32_t count = join->phi_count * control->widen->copies;
    LLVMValueRef *pending = pxr_arena_alloc_array(&control->arena, count, sizeof *pending);
    control->is_out_of_memory |= pending == NULL;
    for (uint32_t i = 0; pending != NULL && i < count; i++) {
        pending[i] = join->pending[i];
        join->pending[i] = NULL;
    }
    return pending;
}

void tr_control_emit_unit(struct tr_control *control, uint32_t segment)
{
    struct tr_join *join = &control->joins[segment];
    enum tr_unit_kind kind = control->iteration->units[segment].kind;
    bool has_condition = join->of_condition != NULL && join->of_condition == join->mask[0];
    bool is_single = has_condition && tr_control_is_single(control, segment);
    LLVMValueRef predicate = join->predicate;
    LLVMValueRef mask[TR_MAX_COPIES];
    LLVMValueRef *pending = take_pending(control, segment);
    if (control->is_out_of_memory)
        return;
    join->predicate = NULL;
    for (uint32_t c = 0; c < control->widen->copies; c++) {
        mask[c] = join->mask[c];
        join->mask[c] = NULL;
    }
    if (kind == TR_UNIT_ALWAYS || tr_control_is_whole_group(control, segment))
        emit_inside(control, segment, pending);
    else if (kind == TR_UNIT_UNIFORM && predicate != NULL)
        emit_uniform(control, segment, predicate, pending);
    else if (kind == TR_UNIT_MASKED && mask[0] != NULL && is_single)
        tr_control_emit_single(control, segment);
    else if (kind == TR_UNIT_MASKED && mask[0] != NULL)
        emit_masked(control, segment, mask, pending);
}

/* ---- the face ---- */

static bool allocate(struct tr_control *control)
{
    const struct tr_iteration *iteration = control->iteration;
    uint32_t segments = iteration->graph.segment_count;
    control->joins = pxr_arena_alloc_array(&control->arena, segments, sizeof *control->joins);
    control->anchors = pxr_arena_alloc_array(&control->arena, segments, sizeof *control->anchors);
    if (control->joins == NULL || control->anchors == NULL)
        return false;
    for (uint32_t s = 0; s < segments; s++) {
        struct tr_join *join = &control->joins[s];
        join->phi_count = tr_control_phi_count(iteration, s);
        join->pending =
            pxr_arena_alloc_array(&control->arena, (size_t)join->phi_count * control->widen->copies,
                                  sizeof *join->pending);
        if (join->pending == NULL)
            return false;
    }
    return true;
}

enum pxr_status tr_control_iteration(struct tr_widen *widen, const struct tr_exits_of_fast *exits,
                                     struct pxr_error *err)
{
    struct tr_control control = {
        .widen = widen, .iteration = widen->iteration, .exits = exits, .one_group = TR_NONE};
    struct tr_active active = widen->active;
    pxr_arena_init(&control.arena, 0);
    control.is_part = active.mask[0] != NULL;
    control.is_out_of_memory = !allocate(&control);
    if (!control.is_out_of_memory) {
        LLVMValueRef *pending = take_pending(&control, 0);
        check_divisors(&control);
        tr_control_check_steady(&control, NULL);
        emit_inside(&control, 0, pending);
    }
    widen->active = active;
    pxr_arena_fini(&control.arena);
    return control.is_out_of_memory ? pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory widening")
                                    : PXR_OK;
}
