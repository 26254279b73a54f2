/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM 22 makes one instruction of `a > b ? a : b`, which gives other bits for some numbers:
 * AArch64's `fmaxnm` is NaN if one of them is a signalling NaN, and x86-64's `maxps` flushes
 * subnormals in a mode that does; the selection gives a or b. It does so where the selection takes
 * what the comparison compares, so here it takes a frozen copy, which costs no instruction.
 */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

enum { CONDITION, IF_TRUE, IF_FALSE };

static bool takes(LLVMValueRef select, LLVMValueRef value)
{
    return LLVMGetOperand(select, IF_TRUE) == value || LLVMGetOperand(select, IF_FALSE) == value;
}

/* Whether it selects from what its condition compares. */
static bool is_choice(LLVMValueRef inst)
{
    if (!LLVMIsASelectInst(inst))
        return false;
    LLVMValueRef condition = LLVMGetOperand(inst, CONDITION);
    return LLVMIsAFCmpInst(condition) && takes(inst, LLVMGetOperand(condition, 0)) &&
           takes(inst, LLVMGetOperand(condition, 1));
}

static void freeze_operand(LLVMBuilderRef b, LLVMValueRef select, unsigned index)
{
    LLVMValueRef value = LLVMGetOperand(select, index);
    if (LLVMIsAConstant(value))
        return;
    LLVMPositionBuilderBefore(b, select);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(select));
    LLVMSetOperand(select, index, LLVMBuildFreeze(b, value, ""));
}

void tr_keep_selects(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn)
            if (is_choice(inst)) {
                freeze_operand(b, inst, IF_TRUE);
                freeze_operand(b, inst, IF_FALSE);
            }
    LLVMDisposeBuilder(b);
}

bool tr_loses_selects(LLVMModuleRef module)
{
    return strncmp(LLVMGetTarget(module), "aarch64", 7) == 0 || tr_has_flush_mode(module);
}
