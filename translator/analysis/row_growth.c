/* SPDX-License-Identifier: Apache-2.0
 *
 * How much a value grows from thread to thread along a row, where nothing changes it at a border:
 * the number of a column goes through a limit, a choice or a remainder before it becomes an index,
 * as in `min(x + 1, last)`, `x == 0 ? columns - 1 : x - 1` and `(x + 1) % columns`, and the shape
 * analysis calls the result varying.
 */
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/analysis/analysis.h"
#include "translator/analysis/calls.h"

/* Instructions, one behind the other, that a value goes through. */
#define MOST_DEPTH 8

struct walk {
    const struct tr_graph *graph;
    const struct tr_shapes *shapes;
};

static const struct tr_row_growth unknown = {.is_known = false};

static struct tr_row_growth growth_of(const struct walk *walk, LLVMValueRef value, unsigned depth);

static struct tr_row_growth grows_by(int64_t stride)
{
    return (struct tr_row_growth){.is_known = true, .stride = stride};
}

/* Of one of two values, of which the one that grows is expected. */
static struct tr_row_growth either_of(struct tr_row_growth a, struct tr_row_growth b)
{
    if (!a.is_known || !b.is_known || (a.stride != 0 && b.stride != 0 && a.stride != b.stride))
        return unknown;
    return a.stride != 0 ? a : b;
}

struct tr_row_growth tr_row_growth_sum(struct tr_row_growth a, struct tr_row_growth b,
                                       int64_t factor)
{
    int64_t stride = 0;
    bool is_known = a.is_known && b.is_known &&
                    !__builtin_mul_overflow(b.stride, factor, &stride) &&
                    !__builtin_add_overflow(a.stride, stride, &stride);
    return (struct tr_row_growth){.is_known = is_known, .stride = stride};
}

static struct tr_row_growth multiple_of(struct tr_row_growth growth, LLVMValueRef factor,
                                        bool is_shift)
{
    uint64_t constant = LLVMIsAConstantInt(factor) ? LLVMConstIntGetZExtValue(factor) : UINT32_MAX;
    if (constant > (is_shift ? 31 : INT32_MAX))
        return unknown;
    return tr_row_growth_sum(grows_by(0), growth,
                             (int64_t)(is_shift ? UINT64_C(1) << constant : constant));
}

bool tr_is_same_along_row(const struct tr_graph *graph, const struct tr_shapes *shapes,
                          LLVMValueRef value)
{
    uint32_t number = tr_graph_number(graph, value);
    if (number == TR_NONE)
        return true;
    struct tr_shape shape = shapes->values[number];
    return shape.kind != TR_VARYING && shape.stride == 0;
}

/* Of what an operation such as a remainder does to a number, with one that all lanes have in
 * common. */
static struct tr_row_growth growth_of_rest(const struct walk *walk, LLVMValueRef inst,
                                           unsigned depth)
{
    bool is_commutative = LLVMGetInstructionOpcode(inst) == LLVMAnd;
    for (unsigned common = 0; common < 2; common++)
        if ((is_commutative || common == 1) &&
            tr_is_same_along_row(walk->graph, walk->shapes, LLVMGetOperand(inst, common)))
            return growth_of(walk, LLVMGetOperand(inst, 1 - common), depth);
    return unknown;
}

/* A truth is 0 or 1 for all. */
static struct tr_row_growth growth_of_cast(const struct walk *walk, LLVMValueRef cast,
                                           unsigned depth)
{
    LLVMValueRef operand = LLVMGetOperand(cast, 0);
    LLVMTypeRef type = LLVMTypeOf(operand);
    bool is_truth = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
    return is_truth ? grows_by(0) : growth_of(walk, operand, depth);
}

static struct tr_row_growth growth_of_call(const struct walk *walk, LLVMValueRef call,
                                           unsigned depth)
{
    static const char *const limits[] = {"smin", "smax", "umin", "umax"};
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (len == 4 && strncmp(name, limits[i], 4) == 0)
            return either_of(growth_of(walk, LLVMGetOperand(call, 0), depth),
                             growth_of(walk, LLVMGetOperand(call, 1), depth));
    if (len == 3 && strncmp(name, "abs", 3) == 0)
        return growth_of(walk, LLVMGetOperand(call, 0), depth);
    if (len == 8 && strncmp(name, "usub.sat", 8) == 0)
        return tr_row_growth_sum(growth_of(walk, LLVMGetOperand(call, 0), depth),
                                 growth_of(walk, LLVMGetOperand(call, 1), depth), -1);
    return unknown;
}

/* Of an address that is so many bytes behind another. */
static struct tr_row_growth growth_of_gep(const struct walk *walk, LLVMValueRef gep, unsigned depth)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    bool is_of_bytes = LLVMGetNumOperands(gep) == 2 &&
                       LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
                       LLVMGetIntTypeWidth(type) == 8;
    if (!is_of_bytes)
        return unknown;
    return tr_row_growth_sum(growth_of(walk, LLVMGetOperand(gep, 0), depth),
                             growth_of(walk, LLVMGetOperand(gep, 1), depth), 1);
}

static struct tr_row_growth growth_of_inst(const struct walk *walk, LLVMValueRef inst,
                                           unsigned depth)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMCall)
        return growth_of_call(walk, inst, depth);
    if (opcode == LLVMGetElementPtr)
        return growth_of_gep(walk, inst, depth);
    if (opcode == LLVMSelect)
        return either_of(growth_of(walk, LLVMGetOperand(inst, 1), depth),
                         growth_of(walk, LLVMGetOperand(inst, 2), depth));
    switch (opcode) {
    case LLVMFreeze:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return growth_of_cast(walk, inst, depth);
    case LLVMOr:
        if (!LLVMGetIsDisjoint(inst))
            return unknown;
        /* fall through */
    case LLVMAdd:
    case LLVMSub:
        return tr_row_growth_sum(growth_of(walk, LLVMGetOperand(inst, 0), depth),
                                 growth_of(walk, LLVMGetOperand(inst, 1), depth),
                                 opcode == LLVMSub ? -1 : 1);
    case LLVMMul:
    case LLVMShl:
        return multiple_of(growth_of(walk, LLVMGetOperand(inst, 0), depth), LLVMGetOperand(inst, 1),
                           opcode == LLVMShl);
    case LLVMURem:
    case LLVMSRem:
    case LLVMAnd:
        return growth_of_rest(walk, inst, depth);
    default:
        return unknown;
    }
}

static bool is_index(LLVMValueRef value)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
    return kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind;
}

static struct tr_row_growth growth_of(const struct walk *walk, LLVMValueRef value, unsigned depth)
{
    uint32_t number = tr_graph_number(walk->graph, value);
    if (number == TR_NONE)
        return grows_by(0);
    struct tr_shape shape = walk->shapes->values[number];
    if (shape.kind != TR_VARYING)
        return grows_by(shape.kind == TR_AFFINE ? shape.stride : 0);
    if (depth == MOST_DEPTH || LLVMIsAInstruction(value) == NULL || !is_index(value))
        return unknown;
    return growth_of_inst(walk, value, depth + 1);
}

struct tr_row_growth tr_row_growth_of(const struct tr_graph *graph, const struct tr_shapes *shapes,
                                      LLVMValueRef value)
{
    struct walk walk = {graph, shapes};
    return growth_of(&walk, value, 0);
}
