/* SPDX-License-Identifier: Apache-2.0
 *
 * When threads have become loops and vectors, rt_check becomes its helper (translator/rt/check.c).
 */
#include "translator/module/link_rt.h"

#include <llvm-c/Core.h>

#include "kernel_abi/placeholders.h"

static LLVMValueRef check_of(LLVMModuleRef module)
{
    const struct rt_placeholder_info *check = &rt_placeholders[RT_CALL_CHECK];
    return LLVMGetNamedFunctionWithLength(module, check->name, check->name_len);
}

bool tr_has_checks(LLVMModuleRef module)
{
    LLVMValueRef check = check_of(module);
    return check != NULL && LLVMGetFirstUse(check) != NULL;
}

enum pxr_status tr_link_checks(LLVMModuleRef module, struct pxr_error *err)
{
    static const char helper[] = "rt_checked";
    LLVMSetValueName2(check_of(module), helper, sizeof helper - 1);
    return tr_link_rt(module, false, err);
}
