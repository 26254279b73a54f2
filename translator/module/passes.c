/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/passes.h"

#include <stddef.h>

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

/* On one function, or if that is NULL on all of the module. */
static enum pxr_status run(LLVMModuleRef module, LLVMValueRef function, const char *passes,
                           LLVMTargetMachineRef machine, struct pxr_error *err)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failure = function == NULL
                               ? LLVMRunPasses(module, passes, machine, options)
                               : LLVMRunPassesOnFunction(function, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (failure == NULL)
        return PXR_OK;
    char *message = LLVMGetErrorMessage(failure);
    enum pxr_status status =
        pxr_fail(err, PXR_COMPILE_FAILED, "LLVM passes cannot run: %s", message);
    LLVMDisposeErrorMessage(message);
    return status;
}

enum pxr_status tr_run_passes(LLVMModuleRef module, const char *passes,
                              LLVMTargetMachineRef machine, struct pxr_error *err)
{
    return run(module, NULL, passes, machine, err);
}

enum pxr_status tr_run_function_passes(LLVMValueRef function, const char *passes,
                                       LLVMTargetMachineRef machine, struct pxr_error *err)
{
    return run(NULL, function, passes, machine, err);
}
