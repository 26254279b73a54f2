/* SPDX-License-Identifier: Apache-2.0
 *
 * Counters that are never negative. LLVM's indvars makes them 64 bits long and leaves a `trunc nuw
 * nsw` for the rest, which says that the sign is 0 to everybody who asks for both flags; no other
 * pass of LLVM 22 does. What nvcc writes for `i / 64`, and for `i % 64` with it, is
 * (i + (i >> 31 >>> 26)) >> 6: it becomes the shift that unsigned numbers have.
 */
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

static bool is_never_negative(LLVMValueRef value)
{
    return LLVMIsATruncInst(value) != NULL && LLVMGetNUW(value) && LLVMGetNSW(value);
}

static void replace(LLVMValueRef inst, LLVMValueRef with)
{
    LLVMReplaceAllUsesWith(inst, with);
    LLVMInstructionEraseFromParent(inst);
}

static void set_operands(LLVMValueRef user, LLVMValueRef from, LLVMValueRef to)
{
    for (int i = 0; i < LLVMGetNumOperands(user); i++)
        if (LLVMGetOperand(user, (unsigned)i) == from)
            LLVMSetOperand(user, (unsigned)i, to);
}

static void make_zero(LLVMValueRef inst);

/* The value is 0. */
static void tell_user(LLVMValueRef user, LLVMValueRef value)
{
    bool is_first = LLVMGetOperand(user, 0) == value;
    switch (LLVMIsABinaryOperator(user) == NULL ? LLVMRet : LLVMGetInstructionOpcode(user)) {
    case LLVMAnd:
        make_zero(user);
        return;
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        if (is_first)
            make_zero(user);
        else
            replace(user, LLVMGetOperand(user, 0));
        return;
    case LLVMAdd:
    case LLVMOr:
    case LLVMXor:
        if (LLVMGetOperand(user, 0) == LLVMGetOperand(user, 1))
            make_zero(user);
        else
            replace(user, LLVMGetOperand(user, is_first ? 1 : 0));
        return;
    default:
        set_operands(user, value, LLVMConstNull(LLVMTypeOf(value)));
    }
}

static void make_zero(LLVMValueRef inst)
{
    while (LLVMGetFirstUse(inst) != NULL)
        tell_user(LLVMGetUser(LLVMGetFirstUse(inst)), inst);
    LLVMInstructionEraseFromParent(inst);
}

/* An arithmetic shift of the number by a constant; NULL: there is none. */
static LLVMValueRef find_shift(LLVMValueRef number)
{
    for (LLVMUseRef use = LLVMGetFirstUse(number); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (LLVMIsABinaryOperator(user) != NULL && LLVMGetInstructionOpcode(user) == LLVMAShr &&
            LLVMGetOperand(user, 0) == number &&
            LLVMIsAConstantInt(LLVMGetOperand(user, 1)) != NULL)
            return user;
    }
    return NULL;
}

static void use_sign(LLVMBuilderRef builder, LLVMValueRef number)
{
    unsigned sign = LLVMGetIntTypeWidth(LLVMTypeOf(number)) - 1;
    for (LLVMValueRef shift = find_shift(number); shift != NULL; shift = find_shift(number)) {
        LLVMValueRef by = LLVMGetOperand(shift, 1);
        LLVMPositionBuilderBefore(builder, shift);
        if (LLVMConstIntGetZExtValue(by) == sign)
            make_zero(shift);
        else
            replace(shift, LLVMBuildLShr(builder, number, by, ""));
    }
}

void tr_use_signs(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef function = LLVMGetFirstFunction(module); function != NULL;
         function = LLVMGetNextFunction(function))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
                 inst = LLVMGetNextInstruction(inst))
                if (is_never_negative(inst) &&
                    LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMIntegerTypeKind)
                    use_sign(builder, inst);
    LLVMDisposeBuilder(builder);
}
