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

/* Instructions, one behind the other, that an index goes through. */
#define MOST_DEPTH 8

/* ---- which ---- */

/* How much a value is expected to grow from lane to lane. */
struct growth {
    bool is_known;
    int64_t stride;
};

static struct growth growth_of(const struct tr_iteration *iteration, LLVMValueRef value,
                               unsigned depth);

static struct growth grows_by(int64_t stride)
{
    return (struct growth){.is_known = true, .stride = stride};
}

/* Of one of two values, of which the one that grows is expected. */
static struct growth either_of(struct growth a, struct growth b)
{
    if (!a.is_known || !b.is_known || (a.stride != 0 && b.stride != 0 && a.stride != b.stride))
        return (struct growth){.is_known = false};
    return a.stride != 0 ? a : b;
}

static struct growth sum_of(struct growth a, struct growth b, int64_t factor)
{
    int64_t stride = 0;
    bool is_known = a.is_known && b.is_known &&
                    !__builtin_mul_overflow(b.stride, factor, &stride) &&
                    !__builtin_add_overflow(a.stride, stride, &stride);
    return (struct growth){.is_known = is_known, .stride = stride};
}

static struct growth multiple_of(struct growth growth, LLVMValueRef factor, bool is_shift)
{
    uint64_t constant = LLVMIsAConstantInt(factor) ? LLVMConstIntGetZExtValue(factor) : UINT32_MAX;
    if (constant > (is_shift ? 31 : INT32_MAX))
        return (struct growth){.is_known = false};
    return sum_of(grows_by(0), growth, (int64_t)(is_shift ? UINT64_C(1) << constant : constant));
}

/* Of what an operation such as a remainder does to a number, with one that all lanes have in
 * common. */
static struct growth growth_of_rest(const struct tr_iteration *iteration, LLVMValueRef inst,
                                    unsigned depth)
{
    bool is_commutative = LLVMGetInstructionOpcode(inst) == LLVMAnd;
    for (unsigned common = 0; common < 2; common++)
        if ((is_commutative || common == 1) &&
            tr_is_same_in_row(iteration, LLVMGetOperand(inst, common)))
            return growth_of(iteration, LLVMGetOperand(inst, 1 - common), depth);
    return (struct growth){.is_known = false};
}

/* A truth is 0 or 1 for all. */
static struct growth growth_of_cast(const struct tr_iteration *iteration, LLVMValueRef cast,
                                    unsigned depth)
{
    LLVMValueRef operand = LLVMGetOperand(cast, 0);
    return LLVMGetIntTypeWidth(LLVMTypeOf(operand)) == 1 ? grows_by(0)
                                                         : growth_of(iteration, operand, depth);
}

static struct growth growth_of_call(const struct tr_iteration *iteration, LLVMValueRef call,
                                    unsigned depth)
{
    static const char *const limits[] = {"smin", "smax", "umin", "umax"};
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (len == 4 && strncmp(name, limits[i], 4) == 0)
            return either_of(growth_of(iteration, LLVMGetOperand(call, 0), depth),
                             growth_of(iteration, LLVMGetOperand(call, 1), depth));
    if (len == 3 && strncmp(name, "abs", 3) == 0)
        return growth_of(iteration, LLVMGetOperand(call, 0), depth);
    if (len == 8 && strncmp(name, "usub.sat", 8) == 0)
        return sum_of(growth_of(iteration, LLVMGetOperand(call, 0), depth),
                      growth_of(iteration, LLVMGetOperand(call, 1), depth), -1);
    return (struct growth){.is_known = false};
}

static struct growth growth_of_inst(const struct tr_iteration *iteration, LLVMValueRef inst,
                                    unsigned depth)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMCall)
        return growth_of_call(iteration, inst, depth);
    if (opcode == LLVMSelect)
        return either_of(growth_of(iteration, LLVMGetOperand(inst, 1), depth),
                         growth_of(iteration, LLVMGetOperand(inst, 2), depth));
    LLVMValueRef first = LLVMGetOperand(inst, 0);
    switch (opcode) {
    case LLVMFreeze:
        return growth_of(iteration, first, depth);
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
        return growth_of_cast(iteration, inst, depth);
    case LLVMOr:
        if (!LLVMGetIsDisjoint(inst))
            return (struct growth){.is_known = false};
        /* fall through */
    case LLVMAdd:
    case LLVMSub:
        return sum_of(growth_of(iteration, first, depth),
                      growth_of(iteration, LLVMGetOperand(inst, 1), depth),
                      opcode == LLVMSub ? -1 : 1);
    case LLVMMul:
    case LLVMShl:
        return multiple_of(growth_of(iteration, first, depth), LLVMGetOperand(inst, 1),
                           opcode == LLVMShl);
    case LLVMURem:
    case LLVMSRem:
    case LLVMAnd:
        return growth_of_rest(iteration, inst, depth);
    default:
        return (struct growth){.is_known = false};
    }
}

static struct growth growth_of(const struct tr_iteration *iteration, LLVMValueRef value,
                               unsigned depth)
{
    uint32_t number = tr_graph_number(&iteration->graph, value);
    if (number == TR_NONE)
        return grows_by(0);
    struct tr_shape shape = iteration->shapes.values[number];
    if (shape.kind != TR_VARYING)
        return grows_by(shape.kind == TR_AFFINE ? shape.stride : 0);
    if (depth == MOST_DEPTH || LLVMIsAInstruction(value) == NULL ||
        LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMIntegerTypeKind)
        return (struct growth){.is_known = false};
    return growth_of_inst(iteration, value, depth + 1);
}

/* Whether lanes are expected to be neighbours. */
static bool is_row(const struct tr_iteration *iteration, const struct tr_memory *memory)
{
    struct tr_sum sum = tr_plan_sum(iteration, memory->address);
    struct growth growth = growth_of(iteration, sum.base, MOST_DEPTH);
    for (uint32_t i = 0; i < sum.count; i++)
        growth = sum_of(growth, growth_of(iteration, sum.terms[i].index, 0),
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
