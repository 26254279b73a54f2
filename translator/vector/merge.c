/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges ways that come together. Between a branch and the place where its ways meet, only the
 * values that edges bring to segments behind that place can have changed (control.h, struct
 * tr_slots); each such slot becomes a phi, unless all ways agree.
 */
#include <string.h>

#include "translator/vector/control.h"

/* ---- slots ---- */

static uint32_t slot_count(const struct tr_control *control, const uint32_t *segments,
                           uint32_t count)
{
    uint32_t slots = 0;
    for (uint32_t i = 0; i < count; i++)
        slots += 1 + control->widen->copies * (1 + control->joins[segments[i]].phi_count);
    return slots;
}

static void add_slot(struct tr_slots *slots, LLVMValueRef *slot, LLVMValueRef nothing)
{
    slots->slots[slots->count] = slot;
    slots->nothing[slots->count++] = nothing;
}

static void add_segment(struct tr_control *control, struct tr_slots *slots, uint32_t segment)
{
    struct tr_widen *widen = control->widen;
    const struct tr_iteration *iteration = control->iteration;
    struct tr_join *join = &control->joins[segment];
    add_slot(slots, &join->predicate, LLVMConstInt(widen->i1, 0, false));
    for (uint32_t c = 0; c < widen->copies; c++)
        add_slot(slots, &join->mask[c], tr_widen_mask_constant(widen, false));
    for (uint32_t k = 0; k < join->phi_count; k++) {
        uint32_t phi = iteration->graph.segments[segment].first_value + k;
        LLVMTypeRef type = LLVMTypeOf(iteration->graph.values[phi].llvm);
        if (iteration->shapes.values[phi].kind == TR_VARYING)
            type = tr_widen_type(widen, type);
        for (uint32_t c = 0; c < widen->copies; c++)
            if (tr_widen_holder(widen, phi, c) == c)
                add_slot(slots, &join->pending[k * widen->copies + c], LLVMGetPoison(type));
    }
}

static struct tr_slots make_slots(struct tr_control *control, uint32_t count)
{
    struct tr_slots slots = {
        .slots = pxr_arena_alloc_array(&control->arena, count, sizeof *slots.slots),
        .nothing = pxr_arena_alloc_array(&control->arena, count, sizeof *slots.nothing),
    };
    control->is_out_of_memory |= slots.slots == NULL || slots.nothing == NULL;
    return slots;
}

struct tr_slots tr_control_slots(struct tr_control *control, const uint32_t *segments,
                                 uint32_t count)
{
    struct tr_slots slots = make_slots(control, slot_count(control, segments, count));
    for (uint32_t i = 0; i < count && !control->is_out_of_memory; i++)
        add_segment(control, &slots, segments[i]);
    return slots;
}

struct tr_slots tr_control_slots_join(struct tr_control *control, struct tr_slots a,
                                      struct tr_slots b)
{
    struct tr_slots slots = make_slots(control, a.count + b.count);
    if (control->is_out_of_memory)
        return slots;
    for (uint32_t i = 0; i < a.count; i++)
        add_slot(&slots, a.slots[i], a.nothing[i]);
    for (uint32_t i = 0; i < b.count; i++)
        add_slot(&slots, b.slots[i], b.nothing[i]);
    return slots;
}

/* ---- ways ---- */

struct tr_way tr_control_way(struct tr_control *control, const struct tr_slots *slots)
{
    struct tr_way way = {
        .end = LLVMGetInsertBlock(control->widen->builder),
        .values = pxr_arena_alloc_array(&control->arena, slots->count, sizeof *way.values),
    };
    control->is_out_of_memory |= way.values == NULL;
    for (uint32_t i = 0; way.values != NULL && i < slots->count; i++)
        way.values[i] = *slots->slots[i];
    return way;
}

void tr_control_restore(const struct tr_slots *slots, const struct tr_way *way)
{
    for (uint32_t i = 0; way->values != NULL && i < slots->count; i++)
        *slots->slots[i] = way->values[i];
}

static bool do_agree(const struct tr_way *ways, uint32_t count, uint32_t slot)
{
    for (uint32_t w = 1; w < count; w++)
        if (ways[w].values[slot] != ways[0].values[slot])
            return false;
    return true;
}

/* An earlier phi, of those from `first` on, for slots with the same values; NULL: none. Copies
 * often share a mask. */
static LLVMValueRef same_phi(const struct tr_slots *slots, const struct tr_way *ways,
                             uint32_t count, uint32_t slot)
{
    for (uint32_t i = 0; i < slot; i++) {
        bool is_same = slots->nothing[i] == slots->nothing[slot];
        for (uint32_t w = 0; w < count && is_same; w++)
            is_same = ways[w].values[i] == ways[w].values[slot];
        if (is_same)
            return *slots->slots[i];
    }
    return NULL;
}

void tr_control_merge(struct tr_control *control, const struct tr_slots *slots,
                      const struct tr_way *ways, uint32_t count)
{
    for (uint32_t w = 0; w < count; w++)
        if (ways[w].values == NULL)
            return;
    for (uint32_t i = 0; i < slots->count; i++) {
        if (do_agree(ways, count, i)) {
            *slots->slots[i] = ways[0].values[i];
            continue;
        }
        LLVMValueRef phi = same_phi(slots, ways, count, i);
        if (phi == NULL) {
            phi = LLVMBuildPhi(control->widen->builder, LLVMTypeOf(slots->nothing[i]), "");
            for (uint32_t w = 0; w < count; w++) {
                LLVMValueRef value = ways[w].values[i];
                LLVMBasicBlockRef end = ways[w].end;
                if (value == NULL)
                    value = slots->nothing[i];
                LLVMAddIncoming(phi, &value, &end, 1);
            }
        }
        *slots->slots[i] = phi;
    }
}
