/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/sregs.h"

#include <string.h>

#include <llvm-c/Core.h>

#define PREFIX     "rt_sreg_"
#define PREFIX_LEN (sizeof PREFIX - 1)

#define IS_STEADY  true
#define IS_CHANGES false

const struct tr_sreg_info tr_sregs[PTX_SREG_COUNT] = {
    [PTX_SREG_NONE] = {.function = ""},
#define SREG(ID, name, text, type, whose, steadiness, what, along)                                 \
    [PTX_SREG_##ID] = {.function = PREFIX #name,                                                   \
                       .function_len = sizeof PREFIX #name - 1,                                    \
                       .scope = TR_SREG_##whose,                                                   \
                       .is_steady = IS_##steadiness,                                               \
                       .quantity = TR_QUANTITY_##what,                                             \
                       .axis = along},
#include "ptx/sregs.def"
#undef SREG
};

/* The most frequent ones come first in the table. */
enum ptx_sreg tr_find_sreg(LLVMValueRef function)
{
    size_t len = 0;
    const char *name = LLVMGetValueName2(function, &len);
    if (len < PREFIX_LEN || memcmp(name, PREFIX, PREFIX_LEN) != 0)
        return PTX_SREG_NONE;
    for (unsigned i = PTX_SREG_NONE + 1; i < PTX_SREG_COUNT; i++)
        if (tr_sregs[i].function_len == len && memcmp(tr_sregs[i].function, name, len) == 0)
            return (enum ptx_sreg)i;
    return PTX_SREG_NONE;
}

enum ptx_sreg tr_sreg_of(LLVMValueRef inst)
{
    LLVMValueRef callee = LLVMIsACallInst(inst) == NULL ? NULL : LLVMGetCalledValue(inst);
    return callee == NULL || LLVMIsAFunction(callee) == NULL ? PTX_SREG_NONE : tr_find_sreg(callee);
}

int tr_sreg_axis(LLVMValueRef inst, enum tr_quantity quantity)
{
    const struct tr_sreg_info *info = &tr_sregs[tr_sreg_of(inst)];
    return info->quantity == quantity ? (int)info->axis : -1;
}
