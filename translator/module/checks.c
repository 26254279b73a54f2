/* SPDX-License-Identifier: Apache-2.0
 *
 * When threads have become loops and vectors, rt_check becomes its helper (translator/rt/check.c).
 */
#include "translator/module/checks.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "kernel_abi/placeholders.h"
#include "translator/module/link_rt.h"

#define WORDS (sizeof(struct rt_checked_access) / sizeof(uint32_t))

/* ---- what a check says of its accesses ---- */

LLVMValueRef tr_make_accesses(LLVMModuleRef module, const struct rt_checked_access *accesses,
                              size_t count)
{
    uint32_t words[1 + TR_ACCESSES_MAX * WORDS] = {(uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        uint32_t *at = &words[1 + i * WORDS];
        at[0] = accesses[i].offset;
        at[1] = accesses[i].bytes;
        at[2] = accesses[i].what;
        at[3] = accesses[i].line;
    }
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    LLVMValueRef data = LLVMConstDataArray(LLVMInt32TypeInContext(llvm), (const char *)words,
                                           (1 + count * WORDS) * sizeof *words);
    LLVMValueRef constant = LLVMAddGlobal(module, LLVMTypeOf(data), "accesses");
    LLVMSetInitializer(constant, data);
    LLVMSetGlobalConstant(constant, true);
    LLVMSetLinkage(constant, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(constant, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(constant, sizeof(uint32_t));
    return constant;
}

static uint32_t word(LLVMValueRef data, size_t index)
{
    LLVMValueRef element = LLVMGetAggregateElement(data, (unsigned)index);
    return (uint32_t)LLVMConstIntGetZExtValue(element);
}

size_t tr_get_accesses(LLVMValueRef constant, struct rt_checked_access accesses[TR_ACCESSES_MAX])
{
    LLVMValueRef data = LLVMGetInitializer(constant);
    size_t count = word(data, 0);
    for (size_t i = 0; i < count; i++) {
        size_t first = 1 + i * WORDS;
        accesses[i] = (struct rt_checked_access){.offset = word(data, first),
                                                 .bytes = word(data, first + 1),
                                                 .what = word(data, first + 2),
                                                 .line = word(data, first + 3)};
    }
    return count;
}

/* ---- the helper ---- */

static const struct {
    enum rt_placeholder placeholder;
    const char *helper;
} checks[] = {{RT_CALL_CHECK, "rt_checked"},
              {RT_CALL_WRITTEN, "rt_ask_written"},
              {RT_CALL_MARK, "rt_mark_written"},
              {RT_CALL_MARK_LANES, "rt_mark_runs"},
              {RT_CALL_CHECK_OWN, "rt_own_checked"}};

#define CHECKS (sizeof checks / sizeof *checks)

static LLVMValueRef function_of(LLVMModuleRef module, enum rt_placeholder placeholder)
{
    const struct rt_placeholder_info *info = &rt_placeholders[placeholder];
    return LLVMGetNamedFunctionWithLength(module, info->name, info->name_len);
}

bool tr_has_checks(LLVMModuleRef module)
{
    for (size_t i = 0; i < CHECKS; i++) {
        LLVMValueRef check = function_of(module, checks[i].placeholder);
        if (check != NULL && LLVMGetFirstUse(check) != NULL)
            return true;
    }
    return false;
}

enum pxr_status tr_link_checks(LLVMModuleRef module, struct pxr_error *err)
{
    for (size_t i = 0; i < CHECKS; i++) {
        LLVMValueRef check = function_of(module, checks[i].placeholder);
        if (check != NULL)
            LLVMSetValueName2(check, checks[i].helper, strlen(checks[i].helper));
    }
    return tr_link_rt(module, false, err);
}
