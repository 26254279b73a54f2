/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/analysis/calls.h"

#include <string.h>

#include <llvm-c/Core.h>

static const char *callee_name(LLVMValueRef inst, size_t *len)
{
    *len = 0;
    if (LLVMIsACallInst(inst) == NULL)
        return "";
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    return LLVMIsAFunction(callee) == NULL ? "" : LLVMGetValueName2(callee, len);
}

const char *tr_callee_name(LLVMValueRef inst)
{
    size_t len = 0;
    return callee_name(inst, &len);
}

const char *tr_intrinsic_name(LLVMValueRef call, size_t *len)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    unsigned id = LLVMIsAFunction(callee) == NULL ? 0 : LLVMGetIntrinsicID(callee);
    *len = 0;
    if (id == 0)
        return "";
    const char *name = LLVMIntrinsicGetName(id, len);
    *len -= strlen("llvm.");
    return name + strlen("llvm.");
}

enum rt_placeholder tr_placeholder_of(LLVMValueRef inst)
{
    size_t len = 0;
    const char *name = callee_name(inst, &len);
    return rt_find_placeholder(name, len);
}

const struct rt_placeholder_info *tr_placeholder_info(LLVMValueRef inst)
{
    return &rt_placeholders[tr_placeholder_of(inst)];
}

static bool find_attribute(LLVMValueRef function, const char *name, uint64_t *value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAttributeRef attribute =
        LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
    if (attribute == NULL)
        return false;
    *value = LLVMGetEnumAttributeValue(attribute);
    return true;
}

/* memory(none) and not convergent: the result depends on the arguments only. */
bool tr_is_pure_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    uint64_t memory = 0;
    uint64_t ignored = 0;
    return LLVMIsAFunction(callee) != NULL && find_attribute(callee, "memory", &memory) &&
           memory == 0 && !find_attribute(callee, "convergent", &ignored);
}

/* Whether it is an intrinsic that only says something about memory. */
static bool is_remark(const char *name)
{
    static const char *const prefixes[] = {"llvm.lifetime.", "llvm.assume", "llvm.dbg.",
                                           "llvm.prefetch"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

enum rt_effect tr_effect_of_call(LLVMValueRef call)
{
    enum rt_placeholder placeholder = tr_placeholder_of(call);
    if (placeholder != RT_CALL_NONE)
        return rt_placeholders[placeholder].effect;
    bool has_none = tr_is_pure_call(call) || is_remark(tr_callee_name(call));
    return has_none ? RT_EFFECT_NONE : RT_EFFECT_ANY;
}

bool tr_is_sync_point(LLVMValueRef inst)
{
    return tr_placeholder_info(inst)->sync != RT_SYNC_NONE;
}

bool tr_is_meeting(LLVMValueRef sync)
{
    return tr_placeholder_info(sync)->waits != RT_WAITS_ANYBODY;
}

bool tr_waits_for_anybody(LLVMValueRef call)
{
    return tr_placeholder_info(call)->waits == RT_WAITS_ANYBODY &&
           tr_placeholder_of(call) != RT_CALL_LINE_UP;
}

bool tr_is_fault(LLVMValueRef inst)
{
    return tr_placeholder_info(inst)->effect == RT_EFFECT_FAULT;
}
