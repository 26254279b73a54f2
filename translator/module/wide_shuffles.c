/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX shuffles 32 bits at a time, so programs shuffle the halves of 64 and put them together again.
 * Where the halves of vectors come from the same lanes, the whole is shuffled: a fraction of the
 * instructions.
 */
#include <llvm-c/Core.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

#define HALF_BITS 32
#define LANES_MAX 64

/* Shuffles of shuffles that are followed. */
#define DEPTH_MAX 6

/* Where an element comes from. */
struct origin {
    LLVMValueRef vector; /* of i64; NULL: any value will do */
    int lane;
};

/* The operand that the instruction of this opcode has; NULL: it is another one. */
static LLVMValueRef operand_of(LLVMValueRef inst, LLVMOpcode opcode)
{
    bool is_it = LLVMIsAInstruction(inst) != NULL && LLVMGetInstructionOpcode(inst) == opcode;
    return is_it ? LLVMGetOperand(inst, 0) : NULL;
}

static bool is_vector_of(LLVMTypeRef type, unsigned bits)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMGetElementType(type)) == bits;
}

/* The operand that is shifted by half of 64 bits. */
static LLVMValueRef shifted_by_half(LLVMValueRef inst, LLVMOpcode opcode)
{
    LLVMValueRef shifted = operand_of(inst, opcode);
    if (shifted == NULL)
        return NULL;
    LLVMValueRef by = LLVMGetOperand(inst, 1);
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(inst)); i++) {
        LLVMValueRef element = LLVMIsAConstant(by) ? LLVMGetAggregateElement(by, i) : NULL;
        if (element == NULL || LLVMIsAConstantInt(element) == NULL ||
            LLVMConstIntGetZExtValue(element) != HALF_BITS)
            return NULL;
    }
    return shifted;
}

/* The vector of i64 that these are the halves of; NULL: there is none. */
static LLVMValueRef whole_of(LLVMValueRef high, LLVMValueRef low)
{
    LLVMValueRef whole = operand_of(low, LLVMTrunc);
    LLVMValueRef upper = operand_of(high, LLVMTrunc);
    bool are_halves = whole != NULL && upper != NULL && is_vector_of(LLVMTypeOf(whole), 64) &&
                      shifted_by_half(upper, LLVMLShr) == whole;
    return are_halves ? whole : NULL;
}

/* Of an element of vectors of halves. */
static bool find_origin(LLVMValueRef high, LLVMValueRef low, int lane, struct origin *origin)
{
    for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
        LLVMValueRef whole = whole_of(high, low);
        *origin = (struct origin){.vector = whole, .lane = lane};
        if (whole != NULL)
            return true;
        if (operand_of(high, LLVMShuffleVector) == NULL ||
            operand_of(low, LLVMShuffleVector) == NULL)
            return false;
        int from = LLVMGetMaskValue(high, (unsigned)lane);
        int lanes = (int)LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(high, 0)));
        if (from != LLVMGetMaskValue(low, (unsigned)lane) ||
            LLVMTypeOf(LLVMGetOperand(high, 0)) != LLVMTypeOf(LLVMGetOperand(low, 0)))
            return false;
        if (from == LLVMGetUndefMaskElem())
            return true;
        unsigned side = from >= lanes;
        high = LLVMGetOperand(high, side);
        low = LLVMGetOperand(low, side);
        lane = side ? from - lanes : from;
    }
    return false;
}

static bool has_one_use(LLVMValueRef value)
{
    LLVMUseRef use = LLVMGetFirstUse(value);
    return use != NULL && LLVMGetNextUse(use) == NULL;
}

/* Whether the sum is zext(low) and zext(high) << 32, and nothing else needs the lower half. */
static bool find_halves(LLVMValueRef sum, LLVMValueRef *high, LLVMValueRef *low)
{
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef upper = LLVMGetOperand(sum, i);
        LLVMValueRef lower = LLVMGetOperand(sum, 1 - i);
        LLVMValueRef shifted = shifted_by_half(upper, LLVMShl);
        *high = shifted == NULL ? NULL : operand_of(shifted, LLVMZExt);
        *low = operand_of(lower, LLVMZExt);
        if (*high != NULL && *low != NULL && is_vector_of(LLVMTypeOf(*high), HALF_BITS) &&
            LLVMTypeOf(*high) == LLVMTypeOf(*low))
            return has_one_use(upper) && has_one_use(lower);
    }
    return false;
}

/* Adds the origin to those of a shuffle of two vectors; its number in their lanes, or -1. */
static int number_of(const struct origin *origin, LLVMValueRef vectors[2])
{
    for (int i = 0; i < 2; i++) {
        if (vectors[i] == NULL)
            vectors[i] = origin->vector;
        if (LLVMTypeOf(vectors[i]) != LLVMTypeOf(origin->vector))
            return -1;
        if (vectors[i] == origin->vector)
            return origin->lane + i * (int)LLVMGetVectorSize(LLVMTypeOf(vectors[i]));
    }
    return -1;
}

/* The shuffle of whole elements that gives the sum; NULL: there is none. */
static LLVMValueRef shuffle_whole(LLVMBuilderRef builder, LLVMValueRef sum)
{
    LLVMValueRef high, low, from[LANES_MAX];
    LLVMValueRef vectors[2] = {NULL, NULL};
    unsigned lanes = LLVMGetVectorSize(LLVMTypeOf(sum));
    if (lanes > LANES_MAX || !find_halves(sum, &high, &low))
        return NULL;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(sum)));
    for (unsigned lane = 0; lane < lanes; lane++) {
        struct origin origin;
        if (!find_origin(high, low, (int)lane, &origin))
            return NULL;
        int number = origin.vector == NULL ? 0 : number_of(&origin, vectors);
        if (number < 0)
            return NULL;
        from[lane] =
            origin.vector == NULL ? LLVMGetPoison(i32) : LLVMConstInt(i32, (uint64_t)number, false);
    }
    if (vectors[0] == NULL)
        return NULL;
    if (vectors[1] == NULL)
        vectors[1] = LLVMGetPoison(LLVMTypeOf(vectors[0]));
    LLVMPositionBuilderBefore(builder, sum);
    return LLVMBuildShuffleVector(builder, vectors[0], vectors[1], LLVMConstVector(from, lanes),
                                  "");
}

static bool is_arithmetic(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMOr:
    case LLVMShl:
    case LLVMLShr:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMShuffleVector:
        return true;
    default:
        return false;
    }
}

/* Erases the arithmetic that nobody uses any more, from users to what they use. */
static void erase_unused(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetLastBasicBlock(function); block != NULL;
         block = LLVMGetPreviousBasicBlock(block)) {
        LLVMValueRef before = NULL;
        for (LLVMValueRef inst = LLVMGetLastInstruction(block); inst != NULL; inst = before) {
            before = LLVMGetPreviousInstruction(inst);
            if (LLVMGetFirstUse(inst) == NULL && is_arithmetic(inst))
                LLVMInstructionEraseFromParent(inst);
        }
    }
}

static bool widen_in(LLVMBuilderRef builder, LLVMValueRef function)
{
    bool has_changed = false;
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        bool is_sum = LLVMGetInstructionOpcode(inst) == LLVMOr &&
                      is_vector_of(LLVMTypeOf(inst), 2 * HALF_BITS);
        LLVMValueRef whole = is_sum ? shuffle_whole(builder, inst) : NULL;
        if (whole == NULL)
            continue;
        LLVMReplaceAllUsesWith(inst, whole);
        has_changed = true;
    }
    return has_changed;
}

void tr_widen_shuffles(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        if (widen_in(builder, f))
            erase_unused(f);
    LLVMDisposeBuilder(builder);
}
