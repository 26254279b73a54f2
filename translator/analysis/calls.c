/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/analysis/calls.h"

#include <string.h>

#include <llvm-c/Core.h>

static const struct {
    const char *name;
    enum tr_stop_kind kind;
} placeholders[] = {
    {"rt_bar_sync", TR_STOP_BARRIER},   {"rt_bar_red", TR_STOP_BARRIER_RED},
    {"rt_bar_arrive", TR_STOP_OTHER},   {"rt_warp_sync", TR_STOP_WARP},
    {"rt_shfl", TR_STOP_WARP},          {"rt_vote", TR_STOP_WARP},
    {"rt_match", TR_STOP_WARP},         {"rt_redux", TR_STOP_WARP},
    {"rt_activemask", TR_STOP_WARP},    {"rt_elect", TR_STOP_WARP},
    {"rt_warp_converge", TR_STOP_WARP}, {"rt_poll", TR_STOP_OTHER},
    {"rt_nanosleep", TR_STOP_OTHER},
};

const char *tr_callee_name(LLVMValueRef inst)
{
    if (LLVMIsACallInst(inst) == NULL)
        return "";
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAFunction(callee) == NULL)
        return "";
    size_t len = 0;
    return LLVMGetValueName2(callee, &len);
}

bool tr_find_stop(LLVMValueRef inst, enum tr_stop_kind *kind)
{
    const char *name = tr_callee_name(inst);
    for (size_t i = 0; i < sizeof placeholders / sizeof placeholders[0]; i++) {
        if (strcmp(name, placeholders[i].name) == 0) {
            *kind = placeholders[i].kind;
            return true;
        }
    }
    return false;
}

bool tr_is_stop(LLVMValueRef inst)
{
    enum tr_stop_kind kind;
    return tr_find_stop(inst, &kind);
}
