/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/places.h"

#include <stddef.h>

#include <llvm-c/Core.h>

#define DEPTH_MAX 8

bool tr_find_constant(LLVMValueRef value, int64_t *number)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *number = LLVMConstIntGetSExtValue(value);
    return true;
}

/* One step towards the base; false: this is it. Numbers of fewer bits than an address wrap. */
static bool strip(LLVMTargetDataRef layout, struct tr_place *place)
{
    LLVMValueRef inst = LLVMIsAInstruction(place->base);
    int64_t number;
    if (inst == NULL)
        return false;
    LLVMTypeRef type = LLVMTypeOf(inst);
    bool is_wide = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMGetElementPtr:
        if (LLVMGetNumOperands(inst) != 2 || !tr_find_constant(LLVMGetOperand(inst, 1), &number))
            return false;
        place->offset +=
            number * (int64_t)LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(inst));
        break;
    case LLVMAdd:
        if (!is_wide || !tr_find_constant(LLVMGetOperand(inst, 1), &number))
            return false;
        place->offset += number;
        break;
    case LLVMIntToPtr:
    case LLVMPtrToInt:
        if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && !is_wide)
            return false;
        break;
    default:
        return false;
    }
    place->base = LLVMGetOperand(inst, 0);
    return true;
}

struct tr_place tr_find_place(LLVMTargetDataRef layout, LLVMValueRef address)
{
    struct tr_place place = {.base = address};
    for (int depth = 0; depth < DEPTH_MAX && strip(layout, &place); depth++)
        ;
    return place;
}
