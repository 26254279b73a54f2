/* SPDX-License-Identifier: Apache-2.0
 *
 * How much a value grows from thread to thread along a row, where nothing changes it at a border:
 * the number of a column goes through a limit, a choice or a remainder before it becomes an index,
 * as in `min(x + 1, last)`, `x == 0 ? columns - 1 : x - 1` and `(x + 1) % columns`, or that of an
 * element is taken apart, as in `i / columns * pitch + i % columns`, and the shape analysis calls
 * the result varying.
 */
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/analysis/analysis.h"
#include "translator/analysis/calls.h"

/* Instructions that are looked at for one value. */
#define MOST_LOOKS 128

struct walk {
    const struct tr_graph *graph;
    const struct tr_shapes *shapes;
    uint32_t row_length;
    uint32_t looks; /* that are left */
};

static const struct tr_row_growth unknown = {.is_known = false};

static struct tr_row_growth growth_of(struct walk *walk, LLVMValueRef value);

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
    bool is_constant = LLVMIsAConstantInt(factor) && LLVMGetIntTypeWidth(LLVMTypeOf(factor)) <= 64;
    uint64_t constant = is_constant ? LLVMConstIntGetZExtValue(factor) : UINT64_MAX;
    bool is_wide = is_constant && LLVMGetIntTypeWidth(LLVMTypeOf(factor)) == 64;
    if (constant > (is_shift ? 31 : is_wide ? UINT32_MAX : INT32_MAX))
        return unknown;
    return tr_row_growth_sum(grows_by(0), growth,
                             (int64_t)(is_shift ? UINT64_C(1) << constant : constant));
}

static bool is_level(struct tr_row_growth growth)
{
    return growth.is_known && growth.stride == 0;
}

/* A multiple, or a product of what is the same along the row. */
static struct tr_row_growth growth_of_product(struct walk *walk, LLVMValueRef inst)
{
    LLVMValueRef factor = LLVMGetOperand(inst, 1);
    struct tr_row_growth growth = growth_of(walk, LLVMGetOperand(inst, 0));
    if (is_level(growth) && is_level(growth_of(walk, factor)))
        return growth;
    return multiple_of(growth, factor, LLVMGetInstructionOpcode(inst) == LLVMShl);
}

/* The divisor, or 2 to the power of the digits that are shifted out; 0: it is not constant. */
static uint64_t constant_divisor(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    LLVMValueRef divisor = LLVMGetOperand(inst, 1);
    if (LLVMIsAConstantInt(divisor) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(divisor)) > 64)
        return 0;
    uint64_t number = LLVMConstIntGetZExtValue(divisor);
    bool is_shift = opcode == LLVMLShr || opcode == LLVMAShr;
    return is_shift ? UINT64_C(1) << (number & 63) : number;
}

static bool is_quotient(LLVMValueRef value)
{
    LLVMOpcode opcode =
        LLVMIsAInstruction(value) != NULL ? LLVMGetInstructionOpcode(value) : LLVMUnreachable;
    return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMLShr || opcode == LLVMAShr;
}

static bool is_other_width(LLVMValueRef value)
{
    return LLVMIsATruncInst(value) != NULL || LLVMIsASExtInst(value) != NULL ||
           LLVMIsAZExtInst(value) != NULL;
}

/* The dividend of a quotient, which may be a constant's quotient itself: `i / 34` is a product of
 * which the upper half is taken, and shifted. */
static LLVMValueRef first_dividend(LLVMValueRef inst, uint64_t *divisor)
{
    LLVMValueRef dividend = LLVMGetOperand(inst, 0);
    while (*divisor != 0 && (is_other_width(dividend) || is_quotient(dividend))) {
        uint64_t by = is_quotient(dividend) ? constant_divisor(dividend) : 1;
        uint64_t both = 0;
        if (by == 0 || __builtin_mul_overflow(*divisor, by, &both))
            break;
        *divisor = both;
        dividend = LLVMGetOperand(dividend, 0);
    }
    return dividend;
}

/* The number of a row, made of that of an element. */
static struct tr_row_growth growth_of_quotient(struct walk *walk, LLVMValueRef inst)
{
    uint64_t by = constant_divisor(inst);
    struct tr_row_growth growth = growth_of(walk, first_dividend(inst, &by));
    if (!growth.is_known || !is_level(growth_of(walk, LLVMGetOperand(inst, 1))))
        return unknown;
    uint64_t stride = (uint64_t)(growth.stride < 0 ? -growth.stride : growth.stride);
    bool is_row = by == 0 ? stride <= 1 : stride <= by / walk->row_length;
    return is_row ? grows_by(0) : unknown;
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
static struct tr_row_growth growth_of_rest(struct walk *walk, LLVMValueRef inst)
{
    bool is_commutative = LLVMGetInstructionOpcode(inst) == LLVMAnd;
    for (unsigned common = 0; common < 2; common++)
        if ((is_commutative || common == 1) &&
            tr_is_same_along_row(walk->graph, walk->shapes, LLVMGetOperand(inst, common)))
            return growth_of(walk, LLVMGetOperand(inst, 1 - common));
    return unknown;
}

/* A truth is 0 or 1 for all. */
static struct tr_row_growth growth_of_cast(struct walk *walk, LLVMValueRef cast)
{
    LLVMValueRef operand = LLVMGetOperand(cast, 0);
    LLVMTypeRef type = LLVMTypeOf(operand);
    bool is_truth = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
    return is_truth ? grows_by(0) : growth_of(walk, operand);
}

static struct tr_row_growth growth_of_call(struct walk *walk, LLVMValueRef call)
{
    static const char *const limits[] = {"smin", "smax", "umin", "umax"};
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (len == 4 && strncmp(name, limits[i], 4) == 0)
            return either_of(growth_of(walk, LLVMGetOperand(call, 0)),
                             growth_of(walk, LLVMGetOperand(call, 1)));
    if (len == 3 && strncmp(name, "abs", 3) == 0)
        return growth_of(walk, LLVMGetOperand(call, 0));
    if (len == 8 && strncmp(name, "usub.sat", 8) == 0)
        return tr_row_growth_sum(growth_of(walk, LLVMGetOperand(call, 0)),
                                 growth_of(walk, LLVMGetOperand(call, 1)), -1);
    return unknown;
}

/* Of an address that is so many bytes behind another. */
static struct tr_row_growth growth_of_gep(struct walk *walk, LLVMValueRef gep)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    bool is_of_bytes = LLVMGetNumOperands(gep) == 2 &&
                       LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
                       LLVMGetIntTypeWidth(type) == 8;
    if (!is_of_bytes)
        return unknown;
    return tr_row_growth_sum(growth_of(walk, LLVMGetOperand(gep, 0)),
                             growth_of(walk, LLVMGetOperand(gep, 1)), 1);
}

/* Whether a loop makes the next value of this one by a step that the row has in common. */
static bool is_next(struct walk *walk, LLVMValueRef value, LLVMValueRef phi)
{
    bool is_step = LLVMIsAInstruction(value) != NULL &&
                   (LLVMGetInstructionOpcode(value) == LLVMAdd ||
                    (LLVMIsAGetElementPtrInst(value) != NULL && LLVMGetNumOperands(value) == 2));
    return is_step && LLVMGetOperand(value, 0) == phi &&
           is_level(growth_of(walk, LLVMGetOperand(value, 1)));
}

/* Of what comes to a loop that moves it by the same for all, or of what ways bring, if that grows
 * alike. */
static struct tr_row_growth growth_of_phi(struct walk *walk, LLVMValueRef phi)
{
    struct tr_row_growth growth = unknown;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef incoming = LLVMGetIncomingValue(phi, i);
        if (is_next(walk, incoming, phi))
            continue;
        struct tr_row_growth other = growth_of(walk, incoming);
        if (!other.is_known || (growth.is_known && growth.stride != other.stride))
            return unknown;
        growth = other;
    }
    return growth;
}

static struct tr_row_growth growth_of_inst(struct walk *walk, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMCall)
        return growth_of_call(walk, inst);
    if (opcode == LLVMGetElementPtr)
        return growth_of_gep(walk, inst);
    if (opcode == LLVMSelect)
        return either_of(growth_of(walk, LLVMGetOperand(inst, 1)),
                         growth_of(walk, LLVMGetOperand(inst, 2)));
    switch (opcode) {
    case LLVMPHI:
        return growth_of_phi(walk, inst);
    case LLVMFreeze:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return growth_of_cast(walk, inst);
    case LLVMOr:
        if (!LLVMGetIsDisjoint(inst))
            return unknown;
        /* fall through */
    case LLVMAdd:
    case LLVMSub:
        return tr_row_growth_sum(growth_of(walk, LLVMGetOperand(inst, 0)),
                                 growth_of(walk, LLVMGetOperand(inst, 1)),
                                 opcode == LLVMSub ? -1 : 1);
    case LLVMMul:
    case LLVMShl:
        return growth_of_product(walk, inst);
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMLShr:
    case LLVMAShr:
        return growth_of_quotient(walk, inst);
    case LLVMURem:
    case LLVMSRem:
    case LLVMAnd:
        return growth_of_rest(walk, inst);
    default:
        return unknown;
    }
}

static bool is_index(LLVMValueRef value)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
    return kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind;
}

static struct tr_row_growth growth_of(struct walk *walk, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(walk->graph, value);
    if (number == TR_NONE)
        return grows_by(0);
    struct tr_shape shape = walk->shapes->values[number];
    if (shape.kind != TR_VARYING)
        return grows_by(shape.kind == TR_AFFINE ? shape.stride : 0);
    if (walk->looks == 0 || LLVMIsAInstruction(value) == NULL || !is_index(value))
        return unknown;
    walk->looks--;
    return growth_of_inst(walk, value);
}

struct tr_row_growth tr_row_growth_of(const struct tr_graph *graph, const struct tr_shapes *shapes,
                                      uint32_t row_length, LLVMValueRef value)
{
    struct walk walk = {graph, shapes, row_length, MOST_LOOKS};
    return growth_of(&walk, value);
}
