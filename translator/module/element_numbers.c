/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of vectors by number. LLVM's passes take an element out in front of the question whether
 * there is one of that number: then the result is poison, which nobody uses. LLVM 22 makes of it an
 * access to memory, whose number it limits to the vector unless flags of what computes the number
 * (`sub nuw 3, x`) promise that, though they promise nothing where the result is poison. What is
 * frozen has no flags for code generators.
 */
#include <llvm-c/Core.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

static bool is_of_element(LLVMValueRef inst)
{
    return LLVMIsAExtractElementInst(inst) != NULL || LLVMIsAInsertElementInst(inst) != NULL;
}

void tr_mend_element_numbers(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn) {
            unsigned last = (unsigned)LLVMGetNumOperands(inst) - 1;
            if (!is_of_element(inst) || LLVMIsAConstant(LLVMGetOperand(inst, last)))
                continue;
            LLVMPositionBuilderBefore(b, inst);
            LLVMSetOperand(inst, last, LLVMBuildFreeze(b, LLVMGetOperand(inst, last), ""));
        }
    LLVMDisposeBuilder(b);
}
