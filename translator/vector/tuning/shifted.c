/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads whose lanes read what the next or the previous lane of another load reads: neighbours along
 * a diagonal of a tile, or in a column of one. One of the two gathers is done, for the lanes of
 * both, and moved by one lane in registers; a scalar load brings the element that comes in at the
 * end.
 *
 * As in word_blocks.c the second load moves up to the first, which only accesses of the same thread
 * could forbid. Every lane reads an address of its own, or one of its neighbour's.
 */
#include "translator/vector/emit/form.h"
#include "translator/vector/tuning/tuning.h"

/* Lane t of `second` reads where lane t + `by` of `first` does: by is 1 or -1. */
struct couple {
    uint32_t first, second; /* in order of the segment */
    int by;
};

/* ---- which ---- */

/* Whether no other step has taken the access. */
static bool is_alone(const struct tr_access_question *question, uint32_t value)
{
    return question->iteration->accesses[value]->forms[question->lanes] == TR_ACCESS_GATHER;
}

static bool can_be_shifted(const struct tr_iteration *iteration, const struct tr_memory *memory)
{
    return memory->stored == NULL && memory->kind == TR_MEMORY_GENERAL && memory->has_stride &&
           tr_plan_is_gatherable(iteration->target, memory) && !LLVMGetVolatile(memory->inst) &&
           LLVMGetOrdering(memory->inst) == LLVMAtomicOrderingNotAtomic &&
           LLVMGetTypeKind(memory->type) != LLVMVectorTypeKind;
}

/* The access behind value i of the group that forms a couple with it. */
static uint32_t find_second(const struct tr_group *group, int64_t stride, const bool *is_taken,
                            uint32_t i, int *by)
{
    for (uint32_t k = i + 1; k < group->count; k++) {
        int64_t offset = group->offsets[k] - group->offsets[i];
        if (is_taken[k] || (offset != stride && offset != -stride))
            continue;
        *by = offset == stride ? 1 : -1;
        return k;
    }
    return TR_NONE;
}

/* Couples are formed from the beginning on, so that both accesses find the same. */
static bool find_couple(const struct tr_iteration *iteration, const struct tr_memory *memory,
                        struct couple *couple)
{
    bool is_taken[TR_GROUP_MAX] = {false};
    struct tr_group group = tr_tuning_group(iteration, memory);
    for (uint32_t i = 0; i < group.count; i++) {
        uint32_t k =
            is_taken[i] ? TR_NONE : find_second(&group, memory->stride, is_taken, i, &couple->by);
        if (k == TR_NONE)
            continue;
        is_taken[k] = true;
        couple->first = group.values[i];
        couple->second = group.values[k];
        if (couple->first == memory->value || couple->second == memory->value)
            return true;
    }
    return false;
}

/* ---- emission ---- */

/* Moves the vector's lanes, so that lane t has the value of lane t + by; at the end come lanes of
 * `more`. */
static LLVMValueRef move_lanes(struct tr_widen *widen, LLVMValueRef vector, LLVMValueRef more,
                               int by)
{
    uint32_t elements[TR_MAX_WIDTH];
    for (uint32_t i = 0; i < widen->width; i++) {
        bool is_end = i == (by > 0 ? widen->width - 1 : 0);
        elements[i] = is_end ? widen->width + i : (uint32_t)((int)i + by);
    }
    return tr_widen_shuffle(widen, vector, more, elements, widen->width);
}

/* The lanes whose element one of the two accesses needs. */
static LLVMValueRef mask_of_both(struct tr_widen *widen, LLVMValueRef mask, int by)
{
    LLVMTypeRef type = LLVMVectorType(widen->i1, widen->width);
    if (mask == NULL)
        return LLVMConstAllOnes(type);
    LLVMValueRef moved = move_lanes(widen, mask, LLVMConstNull(type), -by);
    return LLVMBuildOr(widen->builder, mask, moved, "");
}

/* Gathers at the addresses of all lanes, which follow from the first one's. */
static LLVMValueRef gather(struct tr_widen *widen, const struct tr_memory *memory,
                           const struct tr_fields *fields, LLVMValueRef base, LLVMValueRef mask)
{
    LLVMValueRef steps[TR_MAX_WIDTH];
    for (uint32_t i = 0; i < widen->width; i++)
        steps[i] = LLVMConstInt(widen->i64, (uint64_t)(memory->stride * i), true);
    LLVMValueRef offsets = LLVMConstVector(steps, widen->width);
    LLVMValueRef addresses = LLVMBuildGEP2(widen->builder, widen->i8, base, &offsets, 1, "");
    LLVMTypeRef type = LLVMVectorType(memory->type, widen->width);
    LLVMTypeRef types[] = {type, LLVMTypeOf(addresses)};
    LLVMValueRef operands[] = {addresses, mask, LLVMGetPoison(type)};
    LLVMValueRef result = tr_memory_call(widen, "llvm.masked.gather", types, 2, operands, 3);
    tr_memory_set_align(widen, result, 0, fields->align);
    tr_memory_keep_hints(widen, fields, result);
    return result;
}

/* Loads the element for the end, where a lane has no neighbour. */
static LLVMValueRef load_end(struct tr_widen *widen, const struct tr_memory *second,
                             LLVMValueRef base, int by, LLVMValueRef mask)
{
    LLVMBuilderRef b = widen->builder;
    int64_t lane = by > 0 ? (int64_t)widen->width : -1;
    LLVMValueRef address = tr_memory_advance(widen, base, lane * second->stride);
    if (mask != NULL && !tr_widen_seed(widen, TR_VECTOR_SEED_MASK)) {
        LLVMValueRef end = tr_memory_i32(widen, by > 0 ? widen->width - 1 : 0);
        LLVMValueRef is_active = LLVMBuildExtractElement(b, mask, end, "");
        address =
            LLVMBuildSelect(b, is_active, address, tr_memory_nowhere(widen, second->bytes), "");
    }
    struct tr_fields fields = tr_plan_only(second);
    return tr_memory_load(widen, &fields, second->type, address, second->align, NULL);
}

static void load_couple(struct tr_widen *widen, const struct couple *couple, uint32_t copy)
{
    struct tr_memory first = tr_plan_describe(widen->iteration, couple->first);
    struct tr_memory second = tr_plan_describe(widen->iteration, couple->second);
    struct tr_fields fields = {.count = 2,
                               .values = {first.value, second.value},
                               .place = first.value,
                               .align = first.align < second.align ? first.align : second.align};
    LLVMValueRef mask = tr_widen_mask_for(widen, first.value, copy);
    LLVMValueRef base =
        tr_memory_seed_stride(widen, &first, tr_widen_scalar(widen, first.address, copy));
    LLVMValueRef found =
        gather(widen, &first, &fields, base, mask_of_both(widen, mask, couple->by));
    LLVMValueRef end = load_end(widen, &second, base, couple->by, mask);
    tr_widen_define(widen, first.value, copy, found);
    tr_widen_define(widen, second.value, copy,
                    move_lanes(widen, found, tr_widen_splat(widen, end), couple->by));
}

/* ---- the step ---- */

static const void *find_own_couple(struct tr_access_question *question)
{
    struct couple found;
    if (!can_be_shifted(question->iteration, question->memory) ||
        !find_couple(question->iteration, question->memory, &found) ||
        !is_alone(question, found.first) || !is_alone(question, found.second))
        return NULL;
    struct couple *couple = pxr_arena_alloc_array(question->arena, 1, sizeof *couple);
    question->is_out_of_memory |= couple == NULL;
    if (couple != NULL)
        *couple = found;
    return couple;
}

/* Loads both at the place of the first of them; at the place of the second, does nothing. */
static void load_shifted(struct tr_widen *widen, const struct tr_memory *memory, const void *detail)
{
    const struct couple *couple = detail;
    for (uint32_t c = 0; c < widen->copies && memory->value == couple->first; c++)
        if (tr_widen_holder(widen, memory->value, c) == c)
            load_couple(widen, couple, c);
}

const struct tr_access_step tr_shifted = {
    .name = "shifted by a lane", .find = find_own_couple, .emit = load_shifted};
