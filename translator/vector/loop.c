/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops of an iteration. A loop that all lanes leave together stays as it is. One that each lane
 * leaves on its own runs until none is left in it; lanes that have left keep the values they have
 * brought behind the loop (a blend), and may compute anything else. As long as no lane has left,
 * such a loop runs in a copy of its own without masks: all lanes leave most loops of most programs
 * in the same iteration, or in the last few.
 */
#include "translator/vector/control.h"
#include "translator/vector/plan/groups.h"

struct loop {
    uint32_t header;
    LLVMBasicBlockRef before;
    LLVMBasicBlockRef head;
    bool has_masks; /* phis hold the masks of lanes that are in the loop */
    bool keeps;     /* lanes that have left keep the values they have brought behind the loop */
    LLVMValueRef live[TR_MAX_COPIES]; /* lanes in the loop; NULL: all */
    struct tr_slots next;             /* filled by edges back to the header */
    struct tr_slots behind;           /* filled by edges out of the loop */
    LLVMValueRef *next_phis;          /* by slot of next; NULL: none */
    LLVMValueRef *behind_phis;
};

/* ---- phis at the loop's head ---- */

static LLVMValueRef begin_phi(struct tr_control *control, const struct loop *loop,
                              LLVMValueRef value, LLVMValueRef nothing)
{
    LLVMBasicBlockRef before = loop->before;
    LLVMValueRef phi = LLVMBuildPhi(control->widen->builder, LLVMTypeOf(nothing), "");
    if (value == NULL)
        value = nothing;
    LLVMAddIncoming(phi, &value, &before, 1);
    return phi;
}

static void end_phi(LLVMValueRef phi, LLVMValueRef value, LLVMValueRef nothing,
                    LLVMBasicBlockRef end)
{
    if (value == NULL)
        value = nothing;
    LLVMAddIncoming(phi, &value, &end, 1);
}

/* TR_NONE: the slot is no mask of the header. */
static uint32_t copy_of_mask(const struct tr_control *control, const struct tr_join *join,
                             LLVMValueRef *const slot)
{
    bool is_mask = slot >= join->mask && slot < join->mask + control->widen->copies;
    return is_mask ? (uint32_t)(slot - join->mask) : TR_NONE;
}

/* Makes the header's own phis from the values brought to it, and the live lanes. */
static void begin_next(struct tr_control *control, struct loop *loop)
{
    struct tr_widen *widen = control->widen;
    struct tr_join *join = &control->joins[loop->header];
    for (uint32_t i = 0; i < loop->next.count; i++) {
        LLVMValueRef *slot = loop->next.slots[i];
        uint32_t copy = copy_of_mask(control, join, slot);
        if (slot == &join->predicate || (copy != TR_NONE && !loop->has_masks))
            continue;
        LLVMValueRef value = *slot;
        if (copy != TR_NONE)
            value =
                loop->live[copy] != NULL ? loop->live[copy] : tr_widen_mask_constant(widen, true);
        loop->next_phis[i] = begin_phi(control, loop, value, loop->next.nothing[i]);
        if (copy != TR_NONE)
            widen->active.mask[copy] = loop->next_phis[i];
        else
            *slot = loop->next_phis[i];
    }
}

static void begin_behind(struct tr_control *control, struct loop *loop)
{
    for (uint32_t i = 0; i < loop->behind.count && loop->keeps; i++) {
        LLVMValueRef *slot = loop->behind.slots[i];
        *slot = loop->behind_phis[i] = begin_phi(control, loop, *slot, loop->behind.nothing[i]);
    }
}

static bool find_slots(struct tr_control *control, struct loop *loop)
{
    const struct tr_unit *unit = &control->iteration->units[loop->header];
    struct tr_slots followers = tr_control_slots(control, unit->followers, unit->follower_count);
    struct tr_slots escapes = tr_control_slots(control, unit->escapes, unit->escape_count);
    loop->next = tr_control_slots(control, &loop->header, 1);
    loop->behind = tr_control_slots_join(control, followers, escapes);
    loop->next_phis = pxr_arena_alloc_array(&control->arena, loop->next.count, sizeof(void *));
    loop->behind_phis = pxr_arena_alloc_array(&control->arena, loop->behind.count, sizeof(void *));
    control->is_out_of_memory |= loop->next_phis == NULL || loop->behind_phis == NULL;
    return !control->is_out_of_memory;
}

/* ---- one loop ---- */

static void begin_loop(struct tr_control *control, struct loop *loop)
{
    struct tr_widen *widen = control->widen;
    loop->before = LLVMGetInsertBlock(widen->builder);
    loop->head = tr_widen_new_block(widen, "again");
    LLVMBuildBr(widen->builder, loop->head);
    LLVMPositionBuilderAtEnd(widen->builder, loop->head);
    begin_next(control, loop);
    begin_behind(control, loop);
    tr_control_define_phis(control, loop->header, control->joins[loop->header].pending);
    for (uint32_t i = 0; i < loop->next.count; i++)
        *loop->next.slots[i] = NULL;
    control->anchors[loop->header] = widen->active; /* the anchor of edges back to it */
}

static bool has_back_mask(const struct tr_control *control, const struct loop *loop)
{
    return control->joins[loop->header].mask[0] != NULL;
}

/* Ends the loop, which goes on if `more`; the builder goes behind it. */
static void end_loop(struct tr_control *control, struct loop *loop, LLVMValueRef more)
{
    struct tr_widen *widen = control->widen;
    LLVMBasicBlockRef after = tr_widen_new_block(widen, "behind");
    if (more == NULL)
        more = LLVMConstInt(widen->i1, 0, false);
    LLVMBasicBlockRef end = LLVMGetInsertBlock(widen->builder);
    LLVMBuildCondBr(widen->builder, more, loop->head, after);
    for (uint32_t i = 0; i < loop->next.count; i++)
        if (loop->next_phis[i] != NULL)
            end_phi(loop->next_phis[i], *loop->next.slots[i], loop->next.nothing[i], end);
    for (uint32_t i = 0; i < loop->behind.count; i++)
        if (loop->behind_phis[i] != NULL)
            end_phi(loop->behind_phis[i], *loop->behind.slots[i], loop->behind.nothing[i], end);
    LLVMPositionBuilderAtEnd(widen->builder, after);
}

static void forget_next(const struct loop *loop)
{
    for (uint32_t i = 0; i < loop->next.count; i++)
        *loop->next.slots[i] = NULL;
}

/* ---- kinds of loops ---- */

static void emit_uniform_loop(struct tr_control *control, uint32_t header)
{
    struct loop loop = {.header = header};
    if (!find_slots(control, &loop))
        return;
    begin_loop(control, &loop);
    tr_control_emit_segment(control, header);
    end_loop(control, &loop, control->joins[header].predicate);
    forget_next(&loop);
}

/* Emits the loop for the lanes in `live`. */
static void emit_masked_loop(struct tr_control *control, uint32_t header, const LLVMValueRef *live)
{
    struct loop loop = {.header = header, .has_masks = true, .keeps = true};
    if (!find_slots(control, &loop))
        return;
    for (uint32_t c = 0; c < control->widen->copies; c++)
        loop.live[c] = live[c];
    begin_loop(control, &loop);
    tr_control_emit_segment(control, header);
    LLVMValueRef more = NULL;
    if (has_back_mask(control, &loop))
        more = tr_widen_mask_any(control->widen, control->joins[header].mask);
    end_loop(control, &loop, more);
    forget_next(&loop);
}

/* All lanes are active: the first copy runs for as long as all stay, the second for the rest. */
static void emit_loop_together(struct tr_control *control, uint32_t header)
{
    struct tr_widen *widen = control->widen;
    struct tr_join *join = &control->joins[header];
    struct loop loop = {.header = header};
    struct tr_way ways[2];
    LLVMValueRef left[TR_MAX_COPIES];
    if (!find_slots(control, &loop))
        return;
    begin_loop(control, &loop);
    tr_control_emit_segment(control, header);
    if (!has_back_mask(control, &loop)) {
        end_loop(control, &loop, NULL);
        forget_next(&loop);
        return;
    }
    end_loop(control, &loop, tr_control_all_come(widen, join, join->mask));
    for (uint32_t c = 0; c < widen->copies; c++)
        left[c] = join->mask[c];
    LLVMBasicBlockRef rest = tr_widen_new_block(widen, "rest");
    LLVMBasicBlockRef meet = tr_widen_new_block(widen, "meet");
    ways[0] = tr_control_way(control, &loop.behind);
    LLVMBuildCondBr(widen->builder, tr_control_any_comes(widen, join, left), rest, meet);
    LLVMPositionBuilderAtEnd(widen->builder, rest);
    bool is_part = control->is_part;
    control->is_part = true;
    emit_masked_loop(control, header, left);
    control->is_part = is_part;
    ways[1] = tr_control_way(control, &loop.behind);
    LLVMBuildBr(widen->builder, meet);
    LLVMPositionBuilderAtEnd(widen->builder, meet);
    tr_control_merge(control, &loop.behind, ways, 2);
}

/* All lanes are active, at the header of a loop over groups: one copy runs once if there is one
 * group, the other for each group. The header has no effects, and is emitted twice. */
static void emit_loop_by_groups(struct tr_control *control, uint32_t header)
{
    struct tr_widen *widen = control->widen;
    struct loop loop = {.header = header};
    struct tr_way ways[2];
    LLVMValueRef all[TR_MAX_COPIES];
    if (!find_slots(control, &loop))
        return;
    struct tr_way before = tr_control_way(control, &loop.behind);
    LLVMBasicBlockRef parts = tr_widen_new_block(widen, "groups");
    LLVMBasicBlockRef meet = tr_widen_new_block(widen, "meet");
    control->one_group = header;
    control->groups = parts;
    tr_control_emit_segment(control, header);
    control->one_group = TR_NONE;
    forget_next(&loop);
    ways[0] = tr_control_way(control, &loop.behind);
    LLVMBuildBr(widen->builder, meet);
    LLVMPositionBuilderAtEnd(widen->builder, parts);
    tr_control_restore(&loop.behind, &before);
    for (uint32_t c = 0; c < widen->copies; c++)
        all[c] = tr_widen_mask_constant(widen, true);
    bool is_part = control->is_part;
    control->is_part = true;
    emit_masked_loop(control, header, all);
    control->is_part = is_part;
    ways[1] = tr_control_way(control, &loop.behind);
    LLVMBuildBr(widen->builder, meet);
    LLVMPositionBuilderAtEnd(widen->builder, meet);
    tr_control_merge(control, &loop.behind, ways, 2);
}

/* ---- the face ---- */

static bool is_worth_two_copies(const struct tr_control *control, uint32_t header)
{
    const struct tr_widen *widen = control->widen;
    return widen->active.mask[0] == NULL && !control->is_part &&
           control->iteration->units[header].cost * widen->copies <= TR_TOGETHER_MAX;
}

void tr_control_emit_loop(struct tr_control *control, uint32_t header, LLVMValueRef *pending)
{
    struct tr_widen *widen = control->widen;
    const struct tr_iteration *iteration = control->iteration;
    const struct tr_unit *unit = &iteration->units[header];
    struct tr_join *join = &control->joins[header];
    struct tr_active entered = widen->active;
    for (uint32_t i = 0; i < join->phi_count * widen->copies; i++)
        join->pending[i] = pending[i];
    for (uint32_t i = 0; i < unit->follower_count; i++)
        control->anchors[unit->followers[i]] = entered;
    if (!iteration->is_divergent_loop[iteration->loops.innermost[header]])
        emit_uniform_loop(control, header);
    else if (is_worth_two_copies(control, header) && tr_is_group_branch(iteration, header))
        emit_loop_by_groups(control, header);
    else if (is_worth_two_copies(control, header))
        emit_loop_together(control, header);
    else
        emit_masked_loop(control, header, entered.mask);
    widen->active = entered;
    for (uint32_t i = 0; i < unit->follower_count && !control->is_out_of_memory; i++)
        tr_control_emit_unit(control, unit->followers[i]);
}
