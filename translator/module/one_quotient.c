/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotients of 64 bits. nvcc divides by 32 bits where both numbers have no more:
 *
 *     q = a < 2^32 ? (unsigned)a / (unsigned)b : a / b
 *
 * Both ways give the same, and processors that divide 64 bits slowly ask again in LLVM's code
 * generator. But in between the branch hides the quotient: for a loop over the grid,
 *
 *     for (long i = place; i < n; i += threads)
 *
 * it is the number of turns that neighbours have in common (common_quotients.c). So where the
 * quotient is such a number there is one division. Other quotients keep their branch: divided lane
 * by lane, 32 bits are much faster.
 */
#include <llvm-c/DebugInfo.h>

#include "translator/module/module_steps.h"
#include "translator/module/places.h"
#include "translator/module/walk.h"

#define WAYS 2

/* How a phi gets its quotient. */
struct quotient {
    LLVMValueRef wide;   /* udiv i64 */
    LLVMValueRef narrow; /* udiv i32 of the low halves */
    LLVMBasicBlockRef wide_block;
    LLVMBasicBlockRef narrow_block;
};

static bool is_division(LLVMValueRef value, unsigned bits)
{
    return tr_is_opcode(value, LLVMUDiv) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) == bits;
}

static bool find_quotient(LLVMValueRef phi, struct quotient *quotient)
{
    if (LLVMCountIncoming(phi) != WAYS || LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind)
        return false;
    for (unsigned i = 0; i < WAYS; i++) {
        LLVMValueRef wide = LLVMGetIncomingValue(phi, i);
        LLVMValueRef extended = LLVMGetIncomingValue(phi, 1 - i);
        if (!is_division(wide, 64) || LLVMIsAZExtInst(extended) == NULL ||
            !is_division(LLVMGetOperand(extended, 0), 32))
            continue;
        *quotient =
            (struct quotient){wide, LLVMGetOperand(extended, 0), LLVMGetIncomingBlock(phi, i),
                              LLVMGetIncomingBlock(phi, 1 - i)};
        return true;
    }
    return false;
}

static bool is_cut(LLVMValueRef half, LLVMValueRef whole)
{
    return LLVMIsATruncInst(half) != NULL && LLVMGetOperand(half, 0) == whole;
}

/* Whether the number of 64 bits has this one as its low half and, where both are used, nothing
 * else. */
static bool is_all_of(LLVMValueRef half, LLVMValueRef whole)
{
    return (LLVMIsAZExtInst(whole) != NULL && LLVMGetOperand(whole, 0) == half) ||
           (is_cut(half, whole) && LLVMGetNUW(half));
}

static bool is_low_half(LLVMValueRef half, LLVMValueRef whole)
{
    return is_cut(half, whole) || is_all_of(half, whole);
}

/* The branch that alone leads to the block; NULL: there are other ways, or it is none. */
static LLVMValueRef only_way_to(LLVMBasicBlockRef block)
{
    LLVMValueRef branch = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (branch != NULL || LLVMIsABranchInst(user) == NULL)
            return NULL;
        branch = user;
    }
    return branch;
}

/* Of a number that has only 32 bits where control comes to the block; NULL: nobody asks. */
static LLVMValueRef number_asked_for(LLVMBasicBlockRef narrow_block)
{
    LLVMValueRef branch = only_way_to(narrow_block);
    if (branch == NULL || !LLVMIsConditional(branch) ||
        LLVMIsAICmpInst(LLVMGetCondition(branch)) == NULL)
        return NULL;
    LLVMValueRef question = LLVMGetCondition(branch);
    bool is_true = LLVMGetSuccessor(branch, 0) == narrow_block;
    int64_t limit;
    if (!tr_find_constant(LLVMGetOperand(question, 1), &limit))
        return NULL;
    LLVMIntPredicate relation = LLVMGetICmpPredicate(question);
    bool is_asked = is_true ? relation == LLVMIntULT && limit == INT64_C(1) << 32
                            : relation == LLVMIntUGT && limit == UINT32_MAX;
    return is_asked ? LLVMGetOperand(question, 0) : NULL;
}

static bool is_in(LLVMValueRef value, const struct quotient *quotient)
{
    if (LLVMIsAInstruction(value) == NULL)
        return false;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(value);
    return block == quotient->wide_block || block == quotient->narrow_block;
}

static bool is_or_of(LLVMValueRef value, LLVMValueRef a, LLVMValueRef b)
{
    return tr_is_opcode(value, LLVMOr) &&
           ((LLVMGetOperand(value, 0) == a && LLVMGetOperand(value, 1) == b) ||
            (LLVMGetOperand(value, 0) == b && LLVMGetOperand(value, 1) == a));
}

/* Whether both ways give the same. Both divide, so that the divisor is no zero. */
static bool is_one(const struct quotient *quotient)
{
    LLVMValueRef dividend = LLVMGetOperand(quotient->wide, 0);
    LLVMValueRef divisor = LLVMGetOperand(quotient->wide, 1);
    LLVMValueRef asked = number_asked_for(quotient->narrow_block);
    LLVMValueRef low_divisor = LLVMGetOperand(quotient->narrow, 1);
    if (asked == NULL || is_in(dividend, quotient) ||
        is_in(LLVMIsAZExtInst(divisor) != NULL ? LLVMGetOperand(divisor, 0) : divisor, quotient) ||
        !is_low_half(LLVMGetOperand(quotient->narrow, 0), dividend) ||
        !is_low_half(low_divisor, divisor))
        return false;
    return (asked == dividend && is_all_of(low_divisor, divisor)) ||
           is_or_of(asked, dividend, divisor);
}

bool tr_counts_turns(LLVMValueRef quotient)
{
    for (LLVMUseRef use = LLVMGetFirstUse(quotient); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool is_count = tr_is_opcode(user, LLVMAdd) || tr_is_opcode(user, LLVMAnd) ||
                        tr_is_opcode(user, LLVMICmp);
        if (!is_count || LLVMIsAConstantInt(LLVMGetOperand(user, 1)) == NULL)
            return false;
    }
    return true;
}

static void divide_once(LLVMBuilderRef b, LLVMValueRef phi, const struct quotient *quotient)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(phi);
    LLVMPositionBuilderBefore(b, tr_first_behind_phis(block));
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(quotient->wide));
    LLVMValueRef divisor = LLVMGetOperand(quotient->wide, 1);
    if (LLVMIsAZExtInst(divisor) != NULL) /* it may stand on the wide way only */
        divisor = LLVMBuildZExt(b, LLVMGetOperand(divisor, 0), LLVMTypeOf(divisor), "");
    LLVMValueRef one = LLVMBuildUDiv(b, LLVMGetOperand(quotient->wide, 0), divisor, "");
    LLVMReplaceAllUsesWith(phi, one);
    LLVMInstructionEraseFromParent(phi);
}

void tr_divide_once(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            struct quotient quotient;
            if (LLVMIsAPHINode(inst) != NULL && find_quotient(inst, &quotient) &&
                is_one(&quotient) && tr_counts_turns(inst))
                divide_once(b, inst, &quotient);
        }
    }
    LLVMDisposeBuilder(b);
}
