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
 *
 * Where nobody knows that there are threads at all, each division has a question before it:
 *
 *     q = b == 0 ? -1 : a / max(b, 1)
 *
 * which gives another number for 32 bits and for 64. No user of a number of turns can tell them
 * apart.
 */
#include <llvm-c/DebugInfo.h>

#include "translator/module/module_steps.h"
#include "translator/module/places.h"
#include "translator/module/walk.h"

#define WAYS 2

/* One way to a quotient. */
struct way {
    LLVMValueRef division;
    LLVMValueRef divisor; /* without what makes 1 of 0 */
    LLVMValueRef asked;   /* whether this is 0; NULL: nobody asks */
};

/* How a phi gets its quotient. */
struct quotient {
    struct way wide;   /* udiv i64 */
    struct way narrow; /* udiv i32 of the low halves */
    LLVMBasicBlockRef wide_block;
    LLVMBasicBlockRef narrow_block;
};

static bool is_division(LLVMValueRef value, unsigned bits)
{
    return tr_is_opcode(value, LLVMUDiv) && LLVMGetIntTypeWidth(LLVMTypeOf(value)) == bits;
}

static bool is_constant(LLVMValueRef value, int64_t number)
{
    int64_t constant;
    return tr_find_constant(value, &constant) && constant == number;
}

/* What is 0 where the condition holds; NULL: it asks something else. */
static LLVMValueRef asked_for_zero(LLVMValueRef condition)
{
    bool asks = LLVMIsAICmpInst(condition) != NULL &&
                LLVMGetICmpPredicate(condition) == LLVMIntEQ &&
                is_constant(LLVMGetOperand(condition, 1), 0);
    return asks ? LLVMGetOperand(condition, 0) : NULL;
}

static bool find_way(LLVMValueRef value, unsigned bits, struct way *way)
{
    *way = (struct way){.division = value};
    bool has_question = LLVMIsASelectInst(value) != NULL;
    if (has_question) {
        way->asked = asked_for_zero(LLVMGetOperand(value, 0));
        way->division = LLVMGetOperand(value, 2);
        if (way->asked == NULL || !is_constant(LLVMGetOperand(value, 1), -1))
            return false;
    }
    if (!is_division(way->division, bits))
        return false;
    way->divisor = LLVMGetOperand(way->division, 1);
    if (!has_question)
        return true;
    bool is_one_of_zero = tr_calls_intrinsic(way->divisor, "llvm.umax") &&
                          is_constant(LLVMGetOperand(way->divisor, 1), 1);
    way->divisor = is_one_of_zero ? LLVMGetOperand(way->divisor, 0) : NULL;
    return is_one_of_zero;
}

static bool find_quotient(LLVMValueRef phi, struct quotient *quotient)
{
    if (LLVMCountIncoming(phi) != WAYS || LLVMGetTypeKind(LLVMTypeOf(phi)) != LLVMIntegerTypeKind)
        return false;
    for (unsigned i = 0; i < WAYS; i++) {
        LLVMValueRef extended = LLVMGetIncomingValue(phi, 1 - i);
        *quotient = (struct quotient){.wide_block = LLVMGetIncomingBlock(phi, i),
                                      .narrow_block = LLVMGetIncomingBlock(phi, 1 - i)};
        if (LLVMIsAZExtInst(extended) != NULL &&
            find_way(LLVMGetIncomingValue(phi, i), 64, &quotient->wide) &&
            find_way(LLVMGetOperand(extended, 0), 32, &quotient->narrow))
            return (quotient->wide.asked == NULL) == (quotient->narrow.asked == NULL);
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

/* Whether both ways ask whether their divisor is 0, or none does. */
static bool asks_alike(const struct quotient *quotient)
{
    const struct way *wide = &quotient->wide, *narrow = &quotient->narrow;
    if (wide->asked == NULL)
        return true;
    return (wide->asked == wide->divisor || is_all_of(wide->asked, wide->divisor)) &&
           (narrow->asked == narrow->divisor || is_low_half(narrow->divisor, narrow->asked));
}

/* Whether both ways give the same, unless the divisor is 0. */
static bool is_one(const struct quotient *quotient)
{
    LLVMValueRef dividend = LLVMGetOperand(quotient->wide.division, 0);
    LLVMValueRef divisor = quotient->wide.divisor;
    LLVMValueRef asked = number_asked_for(quotient->narrow_block);
    LLVMValueRef low_divisor = quotient->narrow.divisor;
    if (asked == NULL || !asks_alike(quotient) || is_in(dividend, quotient) ||
        is_in(LLVMIsAZExtInst(divisor) != NULL ? LLVMGetOperand(divisor, 0) : divisor, quotient) ||
        !is_low_half(LLVMGetOperand(quotient->narrow.division, 0), dividend) ||
        !is_low_half(low_divisor, divisor))
        return false;
    return (asked == dividend && is_all_of(low_divisor, divisor)) ||
           is_or_of(asked, dividend, divisor);
}

/* Whether it says the same of UINT32_MAX and of UINT64_MAX. */
static bool is_of_low_bits(LLVMValueRef user, LLVMValueRef value)
{
    int64_t constant;
    if (LLVMGetOperand(user, 0) != value || !tr_find_constant(LLVMGetOperand(user, 1), &constant) ||
        constant < 0 || constant >= UINT32_MAX)
        return false;
    if (tr_is_opcode(user, LLVMAnd))
        return true;
    return LLVMIsAICmpInst(user) != NULL && LLVMGetICmpPredicate(user) <= LLVMIntULE;
}

/* Whether no user can tell UINT32_MAX from UINT64_MAX. */
static bool is_one_for_zero(LLVMValueRef value, bool is_sum)
{
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool is_alike = is_sum ? tr_is_opcode(user, LLVMAnd) && is_of_low_bits(user, value)
                               : is_of_low_bits(user, value) ||
                                     (tr_is_opcode(user, LLVMAdd) && is_one_for_zero(user, true));
        if (!is_alike)
            return false;
    }
    return true;
}

static bool is_count_of(LLVMValueRef user)
{
    bool is_count =
        tr_is_opcode(user, LLVMAdd) || tr_is_opcode(user, LLVMAnd) || tr_is_opcode(user, LLVMICmp);
    return is_count && LLVMIsAConstantInt(LLVMGetOperand(user, 1)) != NULL;
}

/* Whether it is the quotient unless the divisor is 0. */
static bool is_choice_of(LLVMValueRef user, LLVMValueRef quotient)
{
    return LLVMIsASelectInst(user) != NULL && LLVMGetOperand(user, 2) == quotient &&
           asked_for_zero(LLVMGetOperand(user, 0)) != NULL &&
           is_constant(LLVMGetOperand(user, 1), -1);
}

bool tr_counts_turns(LLVMValueRef quotient)
{
    for (LLVMUseRef use = LLVMGetFirstUse(quotient); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!is_count_of(user) && !(is_choice_of(user, quotient) && tr_counts_turns(user)))
            return false;
    }
    return true;
}

/* max(b, 1), and what the quotient is then. */
static LLVMValueRef divide_unless_zero(LLVMBuilderRef b, LLVMModuleRef module,
                                       LLVMValueRef dividend, LLVMValueRef divisor)
{
    LLVMTypeRef type = LLVMTypeOf(divisor);
    LLVMValueRef least =
        LLVMGetIntrinsicDeclaration(module, LLVMLookupIntrinsicID("llvm.umax", 9), &type, 1);
    LLVMValueRef args[] = {divisor, LLVMConstInt(type, 1, false)};
    LLVMValueRef some = LLVMBuildCall2(b, LLVMGlobalGetValueType(least), least, args, 2, "");
    LLVMValueRef quotient = LLVMBuildUDiv(b, dividend, some, "");
    LLVMValueRef is_zero = LLVMBuildICmp(b, LLVMIntEQ, divisor, LLVMConstInt(type, 0, false), "");
    return LLVMBuildSelect(b, is_zero, LLVMConstAllOnes(type), quotient, "");
}

static void divide_once(LLVMBuilderRef b, LLVMValueRef phi, const struct quotient *quotient)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(phi);
    LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(block));
    LLVMPositionBuilderBefore(b, tr_first_behind_phis(block));
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(quotient->wide.division));
    LLVMValueRef dividend = LLVMGetOperand(quotient->wide.division, 0);
    LLVMValueRef divisor = quotient->wide.divisor;
    if (LLVMIsAZExtInst(divisor) != NULL) /* it may stand on the wide way only */
        divisor = LLVMBuildZExt(b, LLVMGetOperand(divisor, 0), LLVMTypeOf(divisor), "");
    LLVMValueRef one = quotient->wide.asked != NULL
                           ? divide_unless_zero(b, module, dividend, divisor)
                           : LLVMBuildUDiv(b, dividend, divisor, "");
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
                is_one(&quotient) && tr_counts_turns(inst) &&
                (quotient.wide.asked == NULL || is_one_for_zero(inst, false)))
                divide_once(b, inst, &quotient);
        }
    }
    LLVMDisposeBuilder(b);
}
