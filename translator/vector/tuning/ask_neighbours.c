/* SPDX-License-Identifier: Apache-2.0
 *
 * Gathers and scatters whose lanes are neighbours nearly everywhere, for all that the program
 * shows: an index that grows along the row goes through something that changes it at a border, as
 * `x == 0 ? columns - 1 : x - 1`, `(x + 1) % columns` and `(x - 1) & (columns - 1)` do. The lanes'
 * indices are compared with those of neighbours, which is a small part of a gather's price.
 *
 * Indices that are loaded, or computed otherwise, are not asked: where they are neighbours now and
 * then, the processor guesses wrong, and a kernel of gathers takes up to 1.7 times as long.
 */
#include <string.h>

#include "translator/vector/emit/form.h"
#include "translator/vector/tuning/tuning.h"

/* Of fewer lanes, few are accessed as quickly as they are compared. */
#define LEAST_WIDTH 8

/* ---- which ---- */

/* Whether lanes are expected to be neighbours. */
static bool is_row(const struct tr_iteration *iteration, const struct tr_memory *memory)
{
    const struct tr_graph *graph = &iteration->graph;
    struct tr_sum sum = tr_plan_sum(iteration, memory->address);
    struct tr_row_growth growth = tr_row_growth_of(graph, &iteration->shapes, sum.base);
    for (uint32_t i = 0; i < sum.count; i++)
        growth = tr_row_growth_sum(growth,
                                   tr_row_growth_of(graph, &iteration->shapes, sum.terms[i].index),
                                   (int64_t)sum.terms[i].factor);
    return growth.is_known && growth.stride == (int64_t)memory->bytes;
}

static const void *find(struct tr_access_question *question)
{
    const struct tr_memory *memory = question->memory;
    const struct tr_target *target = question->iteration->target;
    bool is_masked_badly =
        question->lanes == TR_LANES_MASKED && tr_plan_is_masked_badly(target, memory);
    bool is_asked = question->width >= LEAST_WIDTH && memory->kind == TR_MEMORY_GENERAL &&
                    !memory->has_stride && memory->is_word && tr_is_plain_access(memory->inst) &&
                    !is_masked_badly && is_row(question->iteration, memory);
    return is_asked ? memory : NULL;
}

/* ---- the question ---- */

/* By lane: so many steps. */
static LLVMValueRef distances(struct tr_widen *widen, const struct tr_lane_index *index)
{
    LLVMValueRef lanes[TR_MAX_WIDTH];
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(index->vector));
    for (uint32_t lane = 0; lane < widen->width; lane++)
        lanes[lane] = LLVMConstInt(type, index->step * lane, false);
    return LLVMConstVector(lanes, widen->width);
}

static LLVMValueRef first_lane(struct tr_widen *widen, LLVMValueRef vector)
{
    return LLVMBuildExtractElement(widen->builder, vector, tr_memory_i32(widen, 0), "");
}

/* Lane 0 of the index in all lanes, or a lower number if the last neighbour's index would wrap. */
static LLVMValueRef first_index(struct tr_widen *widen, const struct tr_lane_index *index)
{
    LLVMTypeRef types[] = {LLVMTypeOf(index->vector)};
    LLVMTypeRef type = LLVMGetElementType(types[0]);
    uint64_t largest = (UINT64_C(1) << (LLVMGetIntTypeWidth(type) - 1)) - 1;
    uint64_t most = largest - index->step * (widen->width - 1);
    LLVMValueRef operands[] = {tr_widen_splat(widen, first_lane(widen, index->vector)),
                               tr_widen_splat(widen, LLVMConstInt(type, most, false))};
    return tr_memory_call(widen, "llvm.smin", types, 1, operands, 2);
}

/* <width x i1>: the lanes of the mask that are not where neighbours of lane 0 would be. */
static LLVMValueRef lanes_elsewhere(struct tr_widen *widen, const struct tr_lane_index *index,
                                    LLVMValueRef mask)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef wanted = LLVMBuildAdd(b, first_index(widen, index), distances(widen, index), "");
    LLVMValueRef differs = LLVMBuildICmp(b, LLVMIntNE, index->vector, wanted, "");
    return tr_widen_mask_and(widen, mask, differs);
}

/* i1, true only if lane 0 is active: what it would access is not known otherwise. */
static LLVMValueRef is_first_active(struct tr_widen *widen, LLVMValueRef mask, LLVMValueRef check)
{
    return LLVMBuildSelect(widen->builder, first_lane(widen, mask), check,
                           LLVMConstInt(widen->i1, 0, false), "");
}

/* i1: the active lanes of each copy are neighbours. */
static LLVMValueRef are_neighbours(struct tr_widen *widen, const struct tr_memory *memory,
                                   const void *detail)
{
    (void)detail;
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef elsewhere = NULL;
    LLVMValueRef begin = NULL; /* the lanes that all copies need, to know where they begin */
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (!tr_memory_does_access(widen, memory, c))
            continue;
        LLVMValueRef mask = tr_memory_mask(widen, memory, c);
        struct tr_lane_index index = tr_memory_lane_index(widen, memory, c);
        LLVMValueRef lanes = lanes_elsewhere(widen, &index, mask);
        elsewhere = elsewhere == NULL ? lanes : LLVMBuildOr(b, elsewhere, lanes, "");
        if (mask != NULL)
            begin = begin == NULL ? mask : LLVMBuildAnd(b, begin, mask, "");
    }
    LLVMValueRef none = LLVMBuildNot(b, tr_widen_any(widen, elsewhere), "");
    return begin == NULL ? none : is_first_active(widen, begin, none);
}

/* ---- the access ---- */

static LLVMValueRef first_address(struct tr_widen *widen, const struct tr_memory *memory,
                                  const void *detail, uint32_t copy)
{
    (void)detail;
    return first_lane(widen, tr_memory_lane_addresses(widen, memory, copy));
}

static void access_either(struct tr_widen *widen, const struct tr_memory *memory,
                          const void *detail)
{
    (void)detail;
    struct tr_neighbours neighbours = {
        .first_address = first_address, .check = are_neighbours, .is_guess = true};
    tr_memory_access_neighbours(widen, memory, &neighbours);
}

const struct tr_access_step tr_ask_neighbours = {
    .name = "neighbouring elements except at borders", .find = find, .emit = access_either};
