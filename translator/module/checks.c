/* SPDX-License-Identifier: Apache-2.0
 *
 * When threads have become loops and vectors, rt_check and rt_number become their helpers
 * (translator/rt/check.c, number.c).
 */
#include "translator/module/checks.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "kernel_abi/placeholders.h"
#include "translator/module/link_rt.h"

#define WORDS (sizeof(struct rt_checked_access) / sizeof(uint32_t))

/* ---- what a check says of its accesses ---- */

static LLVMValueRef add_constant(LLVMModuleRef module, LLVMValueRef data, const char *name)
{
    LLVMValueRef constant = LLVMAddGlobal(module, LLVMTypeOf(data), name);
    LLVMSetInitializer(constant, data);
    LLVMSetGlobalConstant(constant, true);
    LLVMSetLinkage(constant, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(constant, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(constant, sizeof(uint32_t));
    return constant;
}

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
    return add_constant(module, data, "accesses");
}

/* LLVM has each constant once. */
LLVMValueRef tr_make_variable(LLVMModuleRef module, enum rt_variable_space space, const char *name)
{
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    LLVMValueRef fields[] = {LLVMConstInt(LLVMInt32TypeInContext(llvm), space, false),
                             LLVMConstStringInContext2(llvm, name, strlen(name), false)};
    LLVMValueRef data = LLVMConstStructInContext(llvm, fields, 2, false);
    LLVMValueRef known = LLVMGetNamedGlobal(module, name);
    bool is_known = known != NULL && LLVMGetInitializer(known) == data;
    return is_known ? known : add_constant(module, data, name);
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

/* ---- the helpers ---- */

static const struct {
    enum rt_placeholder check;
    const char *name;
} helpers[] = {{RT_CALL_CHECK, "rt_checked"},         {RT_CALL_WRITTEN, "rt_ask_written"},
               {RT_CALL_MARK, "rt_mark_written"},     {RT_CALL_MARK_LANES, "rt_mark_runs"},
               {RT_CALL_CHECK_OWN, "rt_own_checked"}, {RT_CALL_NUMBER, "rt_number_checked"}};

static LLVMValueRef find_check(LLVMModuleRef module, enum rt_placeholder placeholder)
{
    const struct rt_placeholder_info *check = &rt_placeholders[placeholder];
    return LLVMGetNamedFunctionWithLength(module, check->name, check->name_len);
}

static bool is_called(LLVMModuleRef module, enum rt_placeholder placeholder)
{
    LLVMValueRef check = find_check(module, placeholder);
    return check != NULL && LLVMGetFirstUse(check) != NULL;
}

bool tr_has_memory_checks(LLVMModuleRef module)
{
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (helpers[i].check != RT_CALL_NUMBER && is_called(module, helpers[i].check))
            return true;
    return false;
}

bool tr_has_number_checks(LLVMModuleRef module)
{
    return is_called(module, RT_CALL_NUMBER);
}

enum pxr_status tr_link_checks(LLVMModuleRef module, struct pxr_error *err)
{
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (is_called(module, helpers[i].check))
            LLVMSetValueName2(find_check(module, helpers[i].check), helpers[i].name,
                              strlen(helpers[i].name));
    return tr_link_rt(module, false, err);
}

/* ---- checks of numbers ---- */

void tr_drop_idle_checks(LLVMModuleRef module)
{
    LLVMValueRef check = find_check(module, RT_CALL_NUMBER);
    LLVMUseRef next = check == NULL ? NULL : LLVMGetFirstUse(check);
    while (next != NULL) {
        LLVMValueRef call = LLVMGetUser(next);
        next = LLVMGetNextUse(next);
        if (LLVMIsNull(LLVMGetOperand(call, TR_NUMBER_IS_WRONG)))
            LLVMInstructionEraseFromParent(call);
    }
}
