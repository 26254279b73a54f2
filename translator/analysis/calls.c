/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/analysis/calls.h"

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

bool tr_is_stop(LLVMValueRef inst)
{
    return tr_placeholder_info(inst)->stop != RT_STOP_NONE;
}

bool tr_is_meeting(LLVMValueRef stop)
{
    return tr_placeholder_info(stop)->waits != RT_WAITS_ANYBODY;
}

bool tr_is_fault(LLVMValueRef inst)
{
    return tr_placeholder_info(inst)->effect == RT_EFFECT_FAULT;
}
