/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the launch that the caller promises: what reads them from the launch becomes a
 * constant, before the threads of a block are collapsed.
 */
#include <llvm-c/Core.h>

#include "translator/translator.h"

/* Every call of the placeholder becomes the constant. */
static void replace_calls(LLVMModuleRef module, const char *placeholder, uint32_t value)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, placeholder);
    if (function == NULL)
        return;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    LLVMUseRef use = LLVMGetFirstUse(function);
    while (use != NULL) {
        LLVMValueRef call = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        LLVMReplaceAllUsesWith(call, LLVMConstInt(i32, value, false));
        LLVMInstructionEraseFromParent(call);
    }
}

void tr_assume_block_shape(LLVMModuleRef module, const uint32_t block[3])
{
    static const char *const placeholders[3] = {"rt_sreg_ntid_x", "rt_sreg_ntid_y",
                                                "rt_sreg_ntid_z"};
    for (int i = 0; i < 3; i++)
        replace_calls(module, placeholders[i], block[i]);
}
