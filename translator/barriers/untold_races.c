/* SPDX-License-Identifier: Apache-2.0
 *
 * A relaxed access tells nothing without a fence, so what counts are fences, and releases that are
 * ordered themselves.
 */
#include "translator/barriers/untold_races.h"

#include <llvm-c/Core.h>

#include "kernel_abi/placeholders.h"
#include "kernel_abi/rt.h"

/* Operands of rt_race_release and rt_race_access. */
enum { RELEASE_IS_ORDERED = 2, ACCESS_WHAT = 4 };

static LLVMUseRef first_use(LLVMModuleRef module, enum rt_placeholder placeholder)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, rt_placeholders[placeholder].name);
    return function ? LLVMGetFirstUse(function) : NULL;
}

static bool is_zero(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) != NULL && LLVMConstIntGetZExtValue(value) == 0;
}

static bool has_ordered_releases(LLVMModuleRef module)
{
    LLVMUseRef use = first_use(module, RT_CALL_RACE_RELEASE);
    for (; use != NULL; use = LLVMGetNextUse(use))
        if (!is_zero(LLVMGetOperand(LLVMGetUser(use), RELEASE_IS_ORDERED)))
            return true;
    return false;
}

bool tr_has_untold_races(LLVMModuleRef module)
{
    return first_use(module, RT_CALL_RACE_ACCESS) != NULL &&
           first_use(module, RT_CALL_RACE_FENCE) == NULL && !has_ordered_releases(module);
}

static void drop_calls(LLVMModuleRef module, enum rt_placeholder placeholder)
{
    for (LLVMUseRef use; (use = first_use(module, placeholder)) != NULL;)
        LLVMInstructionEraseFromParent(LLVMGetUser(use));
}

void tr_mark_untold_races(LLVMModuleRef module)
{
    drop_calls(module, RT_CALL_RACE_RELEASE);
    drop_calls(module, RT_CALL_RACE_ACQUIRE);
    LLVMUseRef use = first_use(module, RT_CALL_RACE_ACCESS);
    for (; use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);
        LLVMValueRef what = LLVMGetOperand(call, ACCESS_WHAT);
        if (LLVMIsAConstantInt(what) == NULL)
            continue;
        uint64_t marked = LLVMConstIntGetZExtValue(what) | RT_RACE_UNTOLD;
        LLVMSetOperand(call, ACCESS_WHAT, LLVMConstInt(LLVMTypeOf(what), marked, false));
    }
}
