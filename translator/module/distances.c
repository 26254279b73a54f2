/* SPDX-License-Identifier: Apache-2.0
 *
 * The distance from a place to the end of a row. A loop over the grid in 64 bits,
 *
 *     for (long i = place; i < n; i += threads)
 *
 * runs (n - 1 - place) / threads more times, and nvcc, which divides by that when it unrolls the
 * loop, asks first whether 32 bits are enough. They are where the launch promises a small n: behind
 * `place < n` the distance is less than n. LLVM relates no two variables so, and with a branch
 * there nobody would see that neighbours have their quotient in common (common_quotients.c).
 */
#include "translator/module/module_steps.h"
#include "translator/module/relation.h"
#include "translator/module/walk.h"

/* How many branches to look back for the comparison of place and end. */
#define BRANCHES_MAX 16

/* end - 1 - place */
struct distance {
    LLVMValueRef end;
    LLVMValueRef place;
};

static bool is_opcode(LLVMValueRef value, LLVMOpcode opcode)
{
    return LLVMIsAInstruction(value) != NULL && LLVMGetInstructionOpcode(value) == opcode;
}

static bool is_complement(LLVMValueRef value)
{
    if (!is_opcode(value, LLVMXor))
        return false;
    LLVMValueRef mask = LLVMGetOperand(value, 1);
    return LLVMIsAConstantInt(mask) != NULL && LLVMConstIntGetSExtValue(mask) == -1;
}

static bool find_distance(LLVMValueRef value, struct distance *distance)
{
    if (!is_opcode(value, LLVMAdd))
        return false;
    unsigned which = is_complement(LLVMGetOperand(value, 1));
    LLVMValueRef complement = LLVMGetOperand(value, which);
    if (!is_complement(complement))
        return false;
    distance->end = LLVMGetOperand(value, !which);
    distance->place = LLVMGetOperand(complement, 0);
    return true;
}

/* Whether metadata says that the number, without sign, is at most so large. */
static bool is_at_most(LLVMValueRef value, uint64_t most)
{
    static const char name[] = "range";
    if (LLVMIsAInstruction(value) == NULL)
        return false;
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(value));
    unsigned kind = LLVMGetMDKindIDInContext(llvm, name, sizeof name - 1);
    LLVMValueRef node = LLVMGetMetadata(value, kind);
    if (node == NULL || LLVMGetMDNodeNumOperands(node) != 2)
        return false;
    LLVMValueRef ends[2];
    LLVMGetMDNodeOperands(node, ends);
    uint64_t first = LLVMConstIntGetZExtValue(ends[0]);
    uint64_t behind = LLVMConstIntGetZExtValue(ends[1]);
    return first < behind && behind - 1 <= most;
}

/* Whether a comparison with this result says that the place lies before the end. */
static bool tells_order(LLVMValueRef comparison, bool result, const struct distance *distance)
{
    if (LLVMIsAICmpInst(comparison) == NULL)
        return false;
    LLVMIntPredicate relation = LLVMGetICmpPredicate(comparison);
    if (!result)
        relation = tr_relation_inverse(relation);
    LLVMValueRef first = LLVMGetOperand(comparison, 0);
    LLVMValueRef second = LLVMGetOperand(comparison, 1);
    return (relation == LLVMIntULT && first == distance->place && second == distance->end) ||
           (relation == LLVMIntUGT && first == distance->end && second == distance->place);
}

/* The branch through which alone control comes to the block; NULL: there are other ways, or it is
 * no branch. */
static LLVMValueRef only_way_to(LLVMBasicBlockRef block)
{
    LLVMValueRef branch = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsATerminatorInst(user) == NULL)
            continue;
        if (branch != NULL || LLVMIsABranchInst(user) == NULL)
            return NULL;
        branch = user;
    }
    return branch;
}

static bool is_in_order(LLVMBasicBlockRef block, const struct distance *distance)
{
    LLVMValueRef branch = only_way_to(block);
    for (unsigned i = 0; i < BRANCHES_MAX && branch != NULL; i++) {
        if (LLVMIsConditional(branch) &&
            tells_order(LLVMGetCondition(branch), LLVMGetSuccessor(branch, 0) == block, distance))
            return true;
        block = LLVMGetInstructionParent(branch);
        branch = only_way_to(block);
    }
    return false;
}

/* Whether the comparison asks whether a distance is small, and it is. */
static bool is_surely_small(LLVMValueRef comparison)
{
    struct distance distance;
    if (LLVMIsAICmpInst(comparison) == NULL || LLVMGetICmpPredicate(comparison) != LLVMIntULT)
        return false;
    LLVMValueRef limit = LLVMGetOperand(comparison, 1);
    return LLVMIsAConstantInt(limit) != NULL && LLVMGetIntTypeWidth(LLVMTypeOf(limit)) <= 64 &&
           find_distance(LLVMGetOperand(comparison, 0), &distance) &&
           is_at_most(distance.end, LLVMConstIntGetZExtValue(limit)) &&
           is_in_order(LLVMGetInstructionParent(comparison), &distance);
}

void tr_bound_distances(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            if (!is_surely_small(inst))
                continue;
            LLVMReplaceAllUsesWith(inst, LLVMConstInt(LLVMTypeOf(inst), 1, false));
            LLVMInstructionEraseFromParent(inst);
        }
    }
}
