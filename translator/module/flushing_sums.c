/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums of f32 in global memory: "atom.add.f32 on global memory flushes subnormal inputs and results
 * to sign-preserving zero" (PTX ISA "atom"). No LLVM instruction does, so that it has to be a loop
 * of attempts; but until code is generated each is one `atomicrmw fadd`, with a scope of its own
 * that says so. The vectoriser does such a sum lane by lane. The lanes of a loop would all attempt
 * theirs at once, and where they have the same address only one at a time would succeed.
 */
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "translator/module/link_rt.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

#define SCOPE  "ptxrun.flush"
#define HELPER "rt_atomic_add_f32"

unsigned tr_flush_scope(LLVMContextRef llvm)
{
    return LLVMGetSyncScopeID(llvm, SCOPE, strlen(SCOPE));
}

static bool is_flushing_sum(LLVMValueRef inst, unsigned scope)
{
    return LLVMIsAAtomicRMWInst(inst) != NULL && LLVMGetAtomicSyncScopeID(inst) == scope;
}

bool tr_has_flushing_sums(LLVMModuleRef module)
{
    unsigned scope = tr_flush_scope(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn)
            if (is_flushing_sum(inst, scope))
                return true;
    return false;
}

static void call_sum(LLVMModuleRef module, LLVMBuilderRef b, LLVMValueRef sum)
{
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(llvm);
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(llvm, 0), LLVMFloatTypeInContext(llvm), i32};
    LLVMValueRef args[] = {LLVMGetOperand(sum, 0), LLVMGetOperand(sum, 1),
                           LLVMConstInt(i32, 1, false)};
    LLVMPositionBuilderBefore(b, sum);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(sum));
    LLVMTypeRef type = LLVMFunctionType(types[1], types, 3, false);
    LLVMValueRef helper = LLVMGetNamedFunction(module, HELPER);
    if (helper == NULL)
        helper = LLVMAddFunction(module, HELPER, type);
    LLVMReplaceAllUsesWith(sum, LLVMBuildCall2(b, type, helper, args, 3, ""));
    LLVMInstructionEraseFromParent(sum);
}

enum pxr_status tr_call_flushing_sums(LLVMModuleRef module, struct pxr_error *err)
{
    unsigned scope = tr_flush_scope(LLVMGetModuleContext(module));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn)
            if (is_flushing_sum(inst, scope))
                call_sum(module, b, inst);
    LLVMDisposeBuilder(b);
    return tr_link_rt(module, false, err);
}
