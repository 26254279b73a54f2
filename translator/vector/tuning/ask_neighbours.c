/* SPDX-License-Identifier: Apache-2.0
 *
 * Gathers and scatters whose lanes are neighbours nearly everywhere, for all that the program
 * shows: an index that grows along the row goes through something that changes it at a border, as
 * `x == 0 ? columns - 1 : x - 1`, `(x + 1) % columns` and `(x - 1) & (columns - 1)` do. The lanes'
 * indices are compared with those of neighbours, which is a small part of a gather's price. Where
 * rows may be short, as those of a tile of 34 columns that is filled by the number of an element,
 * many a vector lies in two of them: then it is two accesses, each under a mask.
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

/* Whether lanes are expected to be neighbours, where rows are as long as that. */
static bool is_row(const struct tr_access_question *question, uint32_t length)
{
    const struct tr_iteration *iteration = question->iteration;
    const struct tr_graph *graph = &iteration->graph;
    const struct tr_shapes *shapes = &iteration->shapes;
    struct tr_sum sum = tr_plan_sum(iteration, question->memory->address);
    struct tr_row_growth growth = tr_row_growth_of(graph, shapes, length, sum.base);
    for (uint32_t i = 0; i < sum.count; i++)
        growth =
            tr_row_growth_sum(growth, tr_row_growth_of(graph, shapes, length, sum.terms[i].index),
                              (int64_t)sum.terms[i].factor);
    return growth.is_known && growth.stride == (int64_t)question->memory->bytes;
}

/* Two accesses under a mask and the comparisons, against one access lane by lane. */
#define LESS_THAN_BY_LANE 4

/* Lanes of a second row are loaded as what follows in memory: AVX-512 has an instruction. */
static bool gains_in_two(const struct tr_access_question *question)
{
    const struct tr_target *target = question->iteration->target;
    const struct tr_figures *figures = &target->figures;
    if (!target->masks_all)
        return false;
    if (question->memory->stored != NULL)
        return LESS_THAN_BY_LANE * figures->masked_store < figures->scatter;
    return LESS_THAN_BY_LANE * figures->masked_load < figures->gather;
}

/* What is asked of the lanes. */
struct asked {
    bool is_of_two; /* whether they are neighbours in two rows; otherwise, in one */
};

static const struct asked of_one = {.is_of_two = false};
static const struct asked of_two = {.is_of_two = true};

/* Of rows as long as so many vectors, three vectors of four are within one. */
#define VECTORS_OF_ROW 4

/* Short rows are asked for two at once, where that gains. Those of unknown length are expected to
 * be long. */
static const struct asked *asked_of(const struct tr_access_question *question)
{
    bool is_for_two = gains_in_two(question);
    uint32_t length = VECTORS_OF_ROW * question->width;
    if (is_for_two || length > TR_LONG_ROW)
        length = TR_LONG_ROW;
    if (is_row(question, length))
        return &of_one;
    return is_for_two && is_row(question, question->width) ? &of_two : NULL;
}

static const void *find(struct tr_access_question *question)
{
    const struct tr_memory *memory = question->memory;
    const struct tr_target *target = question->iteration->target;
    bool is_masked_badly =
        question->lanes == TR_LANES_MASKED && tr_plan_is_masked_badly(target, memory);
    bool may_be_asked = question->width >= LEAST_WIDTH && memory->kind == TR_MEMORY_GENERAL &&
                        !memory->has_stride && memory->is_word &&
                        tr_is_plain_access(memory->inst) && !is_masked_badly;
    return may_be_asked ? asked_of(question) : NULL;
}

/* ---- a row that has one of the vector's ends ---- */

enum end { FIRST, LAST };

static LLVMValueRef end_lane(struct tr_widen *widen, LLVMValueRef vector, enum end end)
{
    uint32_t lane = end == FIRST ? 0 : widen->width - 1;
    return LLVMBuildExtractElement(widen->builder, vector, tr_memory_i32(widen, lane), "");
}

/* By lane: so many steps from the end. */
static LLVMValueRef distances(struct tr_widen *widen, const struct tr_lane_index *index,
                              enum end end)
{
    LLVMValueRef lanes[TR_MAX_WIDTH];
    LLVMTypeRef type = LLVMGetElementType(LLVMTypeOf(index->vector));
    uint64_t from = end == FIRST ? 0 : widen->width - 1;
    for (uint32_t lane = 0; lane < widen->width; lane++)
        lanes[lane] = LLVMConstInt(type, index->step * (lane - from), false);
    return LLVMConstVector(lanes, widen->width);
}

/* The end's index in all lanes, or one nearer to 0 if the other end's would wrap. */
static LLVMValueRef end_index(struct tr_widen *widen, const struct tr_lane_index *index,
                              enum end end)
{
    LLVMTypeRef types[] = {LLVMTypeOf(index->vector)};
    LLVMTypeRef type = LLVMGetElementType(types[0]);
    uint64_t largest = (UINT64_C(1) << (LLVMGetIntTypeWidth(type) - 1)) - 1;
    uint64_t length = index->step * (widen->width - 1);
    uint64_t limit = end == FIRST ? largest - length : length - largest - 1;
    LLVMValueRef operands[] = {tr_widen_splat(widen, end_lane(widen, index->vector, end)),
                               tr_widen_splat(widen, LLVMConstInt(type, limit, false))};
    return tr_memory_call(widen, end == FIRST ? "llvm.smin" : "llvm.smax", types, 1, operands, 2);
}

/* <width x i1>: the lanes of the mask that are not where neighbours of the end would be. */
static LLVMValueRef lanes_elsewhere(struct tr_widen *widen, const struct tr_lane_index *index,
                                    enum end end, LLVMValueRef mask)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef wanted =
        LLVMBuildAdd(b, end_index(widen, index, end), distances(widen, index, end), "");
    LLVMValueRef differs = LLVMBuildICmp(b, LLVMIntNE, index->vector, wanted, "");
    return tr_widen_mask_and(widen, mask, differs);
}

/* ---- the question ---- */

struct answer {
    bool is_of_two;
    LLVMValueRef *second; /* by copy, <width x i1>: the first lane of the second row, and all behind
                             it */
};

/* <width x i1>: the lowest lane of a mask, and all behind it. */
static LLVMValueRef from_lowest(struct tr_widen *widen, LLVMValueRef mask)
{
    LLVMBuilderRef b = widen->builder;
    LLVMTypeRef type = LLVMIntTypeInContext(widen->llvm, widen->width);
    LLVMValueRef bits = LLVMBuildBitCast(b, mask, type, "");
    bits = LLVMBuildOr(b, bits, LLVMBuildNeg(b, bits, ""), "");
    return LLVMBuildBitCast(b, bits, LLVMTypeOf(mask), "");
}

/* <width x i1>: the active lanes behind the first row that are not in the second. Its last lane has
 * to be active. */
static LLVMValueRef lanes_in_neither(struct tr_widen *widen, const struct tr_lane_index *index,
                                     LLVMValueRef second, LLVMValueRef mask)
{
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef elsewhere = lanes_elsewhere(widen, index, LAST, mask);
    if (mask != NULL)
        elsewhere = LLVMBuildSelect(b, end_lane(widen, mask, LAST), elsewhere, mask, "");
    return LLVMBuildAnd(b, second, elsewhere, "");
}

/* i1, true only if lane 0 is active: what it would access is not known otherwise. */
static LLVMValueRef if_first_active(struct tr_widen *widen, LLVMValueRef mask, LLVMValueRef check)
{
    return LLVMBuildSelect(widen->builder, end_lane(widen, mask, FIRST), check,
                           LLVMConstInt(widen->i1, 0, false), "");
}

/* i1: the active lanes of each copy are neighbours in as many rows as are asked for. */
static LLVMValueRef ask(struct tr_widen *widen, const struct tr_memory *memory, const void *detail)
{
    LLVMBuilderRef b = widen->builder;
    const struct answer *answer = detail;
    LLVMValueRef wrong = NULL;
    LLVMValueRef begin = NULL; /* the lanes that all copies need, to know where they begin */
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (!tr_memory_does_access(widen, memory, c))
            continue;
        LLVMValueRef mask = tr_memory_mask(widen, memory, c);
        struct tr_lane_index index = tr_memory_lane_index(widen, memory, c);
        LLVMValueRef lanes = lanes_elsewhere(widen, &index, FIRST, mask);
        if (answer->is_of_two) {
            answer->second[c] = from_lowest(widen, lanes);
            lanes = lanes_in_neither(widen, &index, answer->second[c], mask);
        }
        wrong = wrong == NULL ? lanes : LLVMBuildOr(b, wrong, lanes, "");
        if (mask != NULL)
            begin = begin == NULL ? mask : LLVMBuildAnd(b, begin, mask, "");
    }
    LLVMValueRef none = LLVMBuildNot(b, tr_widen_any(widen, wrong), "");
    return begin == NULL ? none : if_first_active(widen, begin, none);
}

/* ---- the access ---- */

static LLVMValueRef first_address(struct tr_widen *widen, const struct tr_memory *memory,
                                  const void *detail, uint32_t copy)
{
    (void)detail;
    return end_lane(widen, tr_memory_lane_addresses(widen, memory, copy), FIRST);
}

/* Without a last lane no lane is in the second row; then it is anywhere where there is a page. */
static struct tr_second_row second_row(struct tr_widen *widen, const struct tr_memory *memory,
                                       const void *detail, uint32_t copy)
{
    const struct answer *answer = detail;
    LLVMValueRef mask = tr_memory_mask(widen, memory, copy);
    LLVMValueRef addresses = tr_memory_lane_addresses(widen, memory, copy);
    LLVMValueRef last = end_lane(widen, addresses, LAST);
    if (mask != NULL)
        last = LLVMBuildSelect(widen->builder, end_lane(widen, mask, LAST), last,
                               end_lane(widen, addresses, FIRST), "");
    return (struct tr_second_row){.lanes = answer->second[copy], .last_address = last};
}

static void access_either(struct tr_widen *widen, const struct tr_memory *memory,
                          const void *detail)
{
    LLVMValueRef second[TR_MAX_COPIES];
    struct answer answer = {.is_of_two = detail == &of_two, .second = second};
    struct tr_neighbours neighbours = {.first_address = first_address,
                                       .second_row = answer.is_of_two ? second_row : NULL,
                                       .check = ask,
                                       .detail = &answer,
                                       .is_guess = true};
    tr_memory_access_neighbours(widen, memory, &neighbours);
}

const struct tr_access_step tr_ask_neighbours = {
    .name = "neighbouring elements except at borders",
    .expects_neighbours = true,
    .find = find,
    .emit = access_either,
};
