/* SPDX-License-Identifier: Apache-2.0
 *
 * Two buffers in turn: `s[k ^ 1][i]`. Where LLVM knows that no i reaches the bit that is flipped,
 * it flips it of the sum, `(k * 512 | i) ^ 512`, and nothing tells any more that neighbouring
 * threads have neighbouring elements. So it is flipped of the part again that has the bit.
 */
#include "translator/module/walk.h"
#include "translator/vector/plan/plan.h"

/* Longer chains of operations are not followed. */
#define DEPTH_MAX 8

struct search {
    const struct tr_nest *nests; /* whose counters are known to end */
    uint32_t count;
};

static uint64_t ones(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* All bits up to the highest one that is set. */
static uint64_t filled(uint64_t number)
{
    return number == 0 ? 0 : ones(64 - (unsigned)__builtin_clzll(number));
}

/* The bits that a loop's counter may have, whose turns are counted by a constant. */
static bool find_counter(const struct search *search, LLVMValueRef value, uint64_t *bits)
{
    for (uint32_t i = 0; i < search->count; i++) {
        const struct tr_counted *of[] = {&search->nests[i].x, &search->nests[i].y};
        for (unsigned k = 0; k < 2; k++)
            if (of[k]->header != NULL && of[k]->counter == value &&
                tr_find_unsigned(of[k]->count, bits)) {
                *bits = filled(*bits - 1);
                return true;
            }
    }
    return false;
}

static uint64_t possible_bits(const struct search *search, LLVMValueRef value, unsigned depth);

static uint64_t bits_of_binary(const struct search *search, LLVMValueRef inst, unsigned depth)
{
    uint64_t a = possible_bits(search, LLVMGetOperand(inst, 0), depth);
    uint64_t b = possible_bits(search, LLVMGetOperand(inst, 1), depth), number = 0;
    bool is_constant = tr_find_unsigned(LLVMGetOperand(inst, 1), &number);
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAnd:
        return a & b;
    case LLVMOr:
    case LLVMXor:
        return a | b;
    case LLVMAdd:
        return (a | b) >> 62 != 0 ? UINT64_MAX : filled(a + b);
    case LLVMShl:
        return is_constant && number < 64 ? a << number : UINT64_MAX;
    case LLVMLShr:
        return is_constant && number < 64 ? a >> number : a;
    default:
        return UINT64_MAX;
    }
}

/* The bits of an integer that may be set. */
static uint64_t possible_bits(const struct search *search, LLVMValueRef value, unsigned depth)
{
    uint64_t bits = UINT64_MAX;
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) > 64)
        return UINT64_MAX;
    uint64_t all = ones(LLVMGetIntTypeWidth(type));
    if (tr_find_unsigned(value, &bits) || find_counter(search, value, &bits))
        return bits;
    if (depth == DEPTH_MAX || LLVMIsAInstruction(value) == NULL)
        return all;
    if (LLVMIsABinaryOperator(value) != NULL)
        return bits_of_binary(search, value, depth + 1) & all;
    bool is_cut = LLVMIsAZExtInst(value) != NULL || LLVMIsATruncInst(value) != NULL;
    return is_cut ? possible_bits(search, LLVMGetOperand(value, 0), depth + 1) & all : all;
}

/* The operand of the sum that may have the flipped bits where the other one has none of them; -1:
 * there is none. */
static int operand_with(const struct search *search, LLVMValueRef sum, uint64_t flipped)
{
    for (unsigned i = 0; i < 2; i++)
        if ((possible_bits(search, LLVMGetOperand(sum, 1 - i), 0) & flipped) == 0)
            return (int)i;
    return -1;
}

static bool is_disjoint_or(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) != NULL && LLVMGetInstructionOpcode(value) == LLVMOr &&
           LLVMGetIsDisjoint(value);
}

/* Of the sum's parts, and the parts of these. */
static LLVMValueRef flip(const struct search *search, LLVMBuilderRef b, LLVMValueRef sum,
                         LLVMValueRef constant, unsigned depth)
{
    uint64_t flipped = 0;
    tr_find_unsigned(constant, &flipped);
    int part = depth < DEPTH_MAX && is_disjoint_or(sum) ? operand_with(search, sum, flipped) : -1;
    if (part < 0)
        return LLVMBuildXor(b, sum, constant, "");
    LLVMValueRef changed =
        flip(search, b, LLVMGetOperand(sum, (unsigned)part), constant, depth + 1);
    LLVMValueRef whole = LLVMBuildOr(b, changed, LLVMGetOperand(sum, 1 - (unsigned)part), "");
    if (LLVMIsAInstruction(whole) != NULL)
        LLVMSetIsDisjoint(whole, true);
    return whole;
}

void tr_flip_parts(LLVMValueRef function, const struct tr_nest *nests, uint32_t count)
{
    const struct search search = {nests, count};
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        uint64_t flipped = 0;
        if (LLVMGetInstructionOpcode(inst) != LLVMXor ||
            !tr_find_unsigned(LLVMGetOperand(inst, 1), &flipped) ||
            !is_disjoint_or(LLVMGetOperand(inst, 0)) ||
            operand_with(&search, LLVMGetOperand(inst, 0), flipped) < 0)
            continue;
        LLVMPositionBuilderBefore(b, inst);
        LLVMValueRef flipped_part =
            flip(&search, b, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1), 0);
        LLVMReplaceAllUsesWith(inst, flipped_part);
        LLVMInstructionEraseFromParent(inst);
    }
    LLVMDisposeBuilder(b);
}
