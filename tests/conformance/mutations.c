/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults in the LLVM code of an instruction that no other instruction has instead: a clamp, a test
 * for NaN or a sign that is missing, a constant that is off by one, a comparison with its
 * neighbour, arms of a select the wrong way round, a fused product that is not.
 */
#include <llvm-c/Core.h>
#include <string.h>

#include "tests/conformance/faults.h"

static bool replace(LLVMValueRef inst, LLVMValueRef with)
{
    LLVMReplaceAllUsesWith(inst, with);
    LLVMInstructionEraseFromParent(inst);
    return true;
}

static LLVMBuilderRef builder_at(LLVMValueRef inst)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)))));
    LLVMPositionBuilderBefore(builder, inst);
    return builder;
}

static bool compare_with_neighbour(LLVMValueRef inst)
{
    static const LLVMIntPredicate neighbours[][2] = {
        {LLVMIntEQ, LLVMIntNE},   {LLVMIntNE, LLVMIntEQ},   {LLVMIntUGT, LLVMIntUGE},
        {LLVMIntUGE, LLVMIntUGT}, {LLVMIntULT, LLVMIntULE}, {LLVMIntULE, LLVMIntULT},
        {LLVMIntSGT, LLVMIntSGE}, {LLVMIntSGE, LLVMIntSGT}, {LLVMIntSLT, LLVMIntSLE},
        {LLVMIntSLE, LLVMIntSLT},
    };
    if (LLVMGetInstructionOpcode(inst) != LLVMICmp)
        return false;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(inst);
    for (size_t i = 0; i < sizeof neighbours / sizeof neighbours[0]; i++) {
        if (neighbours[i][0] != predicate)
            continue;
        LLVMBuilderRef builder = builder_at(inst);
        LLVMValueRef made = LLVMBuildICmp(builder, neighbours[i][1], LLVMGetOperand(inst, 0),
                                          LLVMGetOperand(inst, 1), "");
        LLVMDisposeBuilder(builder);
        return replace(inst, made);
    }
    return false;
}

static bool compare_unordered(LLVMValueRef inst)
{
    if (LLVMGetInstructionOpcode(inst) != LLVMFCmp)
        return false;
    LLVMRealPredicate predicate = LLVMGetFCmpPredicate(inst);
    if (predicate == LLVMRealPredicateFalse || predicate == LLVMRealPredicateTrue)
        return false;
    /* bit 3 of a predicate: true for unordered operands */
    LLVMBuilderRef builder = builder_at(inst);
    LLVMValueRef made = LLVMBuildFCmp(builder, (LLVMRealPredicate)(predicate ^ 8),
                                      LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1), "");
    LLVMDisposeBuilder(builder);
    return replace(inst, made);
}

static bool swap_select(LLVMValueRef inst)
{
    if (LLVMGetInstructionOpcode(inst) != LLVMSelect)
        return false;
    LLVMValueRef first = LLVMGetOperand(inst, 1);
    LLVMSetOperand(inst, 1, LLVMGetOperand(inst, 2));
    LLVMSetOperand(inst, 2, first);
    return true;
}

static bool forget_select(LLVMValueRef inst)
{
    return LLVMGetInstructionOpcode(inst) == LLVMSelect && replace(inst, LLVMGetOperand(inst, 2));
}

static bool constant_off_by_one(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (LLVMIsABinaryOperator(inst) == NULL && opcode != LLVMICmp && opcode != LLVMSelect)
        return false;
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(inst); i++) {
        LLVMValueRef operand = LLVMGetOperand(inst, i);
        LLVMTypeRef type = LLVMTypeOf(operand);
        if (LLVMIsAConstantInt(operand) == NULL || LLVMGetIntTypeWidth(type) < 2 ||
            LLVMGetIntTypeWidth(type) > 64)
            continue;
        LLVMSetOperand(inst, i, LLVMConstInt(type, LLVMConstIntGetZExtValue(operand) + 1, false));
        return true;
    }
    return false;
}

static bool other_extension(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    LLVMValueRef source = opcode == LLVMSExt || opcode == LLVMZExt ? LLVMGetOperand(inst, 0) : NULL;
    if (source == NULL || LLVMGetTypeKind(LLVMTypeOf(source)) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(source)) == 1)
        return false;
    LLVMBuilderRef builder = builder_at(inst);
    LLVMValueRef made = opcode == LLVMSExt ? LLVMBuildZExt(builder, source, LLVMTypeOf(inst), "")
                                           : LLVMBuildSExt(builder, source, LLVMTypeOf(inst), "");
    LLVMDisposeBuilder(builder);
    return replace(inst, made);
}

static bool other_operation(LLVMValueRef inst)
{
    static const LLVMOpcode others[][2] = {
        {LLVMAdd, LLVMSub}, {LLVMSub, LLVMAdd},   {LLVMAnd, LLVMOr},    {LLVMOr, LLVMXor},
        {LLVMXor, LLVMOr},  {LLVMLShr, LLVMAShr}, {LLVMAShr, LLVMLShr}, {LLVMShl, LLVMLShr},
    };
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i][0] != opcode)
            continue;
        LLVMBuilderRef builder = builder_at(inst);
        LLVMValueRef made = LLVMBuildBinOp(builder, others[i][1], LLVMGetOperand(inst, 0),
                                           LLVMGetOperand(inst, 1), "");
        LLVMDisposeBuilder(builder);
        return replace(inst, made);
    }
    return false;
}

static bool calls(LLVMValueRef inst, const char *name)
{
    if (LLVMIsACallInst(inst) == NULL || LLVMIsAFunction(LLVMGetCalledValue(inst)) == NULL)
        return false;
    size_t len = 0;
    const char *called = LLVMGetValueName2(LLVMGetCalledValue(inst), &len);
    return strncmp(called, name, strlen(name)) == 0;
}

/* Clamps. */
static bool forget_extreme(LLVMValueRef inst)
{
    static const char *const names[] = {"llvm.umin", "llvm.umax",   "llvm.smin",
                                        "llvm.smax", "llvm.minnum", "llvm.maxnum"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (calls(inst, names[i]))
            return replace(inst, LLVMGetOperand(inst, 0));
    return false;
}

static bool split_fma(LLVMValueRef inst)
{
    if (!calls(inst, "llvm.fma."))
        return false;
    LLVMBuilderRef builder = builder_at(inst);
    LLVMValueRef product =
        LLVMBuildFMul(builder, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1), "");
    LLVMValueRef sum = LLVMBuildFAdd(builder, product, LLVMGetOperand(inst, 2), "");
    LLVMDisposeBuilder(builder);
    return replace(inst, sum);
}

static bool swap_funnel(LLVMValueRef inst)
{
    if (!calls(inst, "llvm.fsh"))
        return false;
    LLVMValueRef first = LLVMGetOperand(inst, 0);
    if (first == LLVMGetOperand(inst, 1))
        return false;
    LLVMSetOperand(inst, 0, LLVMGetOperand(inst, 1));
    LLVMSetOperand(inst, 1, first);
    return true;
}

const struct conf_fault conf_mutations[] = {
#define FAULT(name) {"llvm:" #name, NULL, name}
    FAULT(compare_with_neighbour),
    FAULT(compare_unordered),
    FAULT(swap_select),
    FAULT(forget_select),
    FAULT(constant_off_by_one),
    FAULT(other_extension),
    FAULT(other_operation),
    FAULT(forget_extreme),
    FAULT(split_fma),
    FAULT(swap_funnel),
#undef FAULT
    {NULL, NULL, NULL},
};
