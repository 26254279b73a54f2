/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM 22's loop vectoriser may take `base[i & 3]` for an array of as many elements as the loop has
 * iterations. It may: the index is a step of two bits that is widened, and it asks while the
 * program runs that such a step does not wrap. But of two such questions it drops the one that
 * follows from the other, and believes that a step that does not wrap in 32 bits does not wrap in
 * two either (llvm-project issue 191382; mended in LLVM 23). A freeze is a value of which it knows
 * no steps: the elements are gathered then.
 *
 * Steps of 32 bits stay as they are: the only wider ones are those of pointers, and it keeps
 * numbers and pointers apart.
 */
#include <llvm-c/Core.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* How far to look for a value's operands; beyond that a value counts as a step. */
#define STEP_DEPTH 6

#define STEP_BITS  32
#define LOW_WORD   0xffffffffu

static bool is_integer(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind;
}

static unsigned bits_of(LLVMValueRef value)
{
    return LLVMGetIntTypeWidth(LLVMTypeOf(value));
}

/* Whether the value may come from one that a loop counts up: not through memory or arguments. */
static bool may_step(LLVMValueRef value, unsigned depth)
{
    if (LLVMIsAInstruction(value) == NULL || !is_integer(value) || LLVMIsALoadInst(value) ||
        LLVMIsAFreezeInst(value))
        return false;
    if (depth == 0 || LLVMIsAPHINode(value))
        return true;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (may_step(LLVMGetOperand(value, (unsigned)i), depth - 1))
            return true;
    return false;
}

/* Whether LLVM takes the value for a widened one of fewer bits. */
static bool widens_narrow(LLVMValueRef inst)
{
    if (!is_integer(inst))
        return false;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMZExt:
    case LLVMSExt:
        return is_integer(LLVMGetOperand(inst, 0)) && bits_of(LLVMGetOperand(inst, 0)) < STEP_BITS;
    case LLVMAnd: {
        LLVMValueRef mask = LLVMGetOperand(inst, 1);
        return LLVMIsAConstantInt(mask) && bits_of(inst) <= 64 &&
               LLVMConstIntGetZExtValue(mask) != LOW_WORD;
    }
    case LLVMURem:
    case LLVMAShr:
        return LLVMIsAConstantInt(LLVMGetOperand(inst, 1));
    default:
        return false;
    }
}

static void freeze(LLVMBuilderRef b, LLVMValueRef inst)
{
    LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(inst));
    LLVMValueRef frozen = LLVMBuildFreeze(b, inst, "");
    LLVMReplaceAllUsesWith(inst, frozen);
    LLVMSetOperand(frozen, 0, inst);
}

void tr_hide_narrow_steps(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn)
            if (widens_narrow(inst) && may_step(LLVMGetOperand(inst, 0), STEP_DEPTH))
                freeze(b, inst);
    LLVMDisposeBuilder(b);
}
