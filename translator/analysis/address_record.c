/* SPDX-License-Identifier: Apache-2.0
 *
 * Identifies records of the run time by the loads that lead to them.
 */
#include "translator/analysis/address.h"

#include <stddef.h>

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"

/* Fields that point to another record. */
static const struct {
    enum tr_record from;
    uint64_t offset;
    enum tr_record to;
} links[] = {
    {TR_RECORD_THREAD, offsetof(struct rt_thread, block), TR_RECORD_BLOCK},
    {TR_RECORD_BLOCK, offsetof(struct rt_block, launch), TR_RECORD_LAUNCH},
    {TR_RECORD_BLOCK, offsetof(struct rt_block, threads), TR_RECORD_THREAD},
    {TR_RECORD_LAUNCH, offsetof(struct rt_launch, params), TR_RECORD_PARAMS},
    {TR_RECORD_LAUNCH, offsetof(struct rt_launch, slots), TR_RECORD_SLOTS},
};

static bool is_byte(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 8;
}

/* Takes offsets off a pointer; *offset: their sum. False: it is not constant. */
static bool strip_offsets(LLVMValueRef *pointer, uint64_t *offset)
{
    bool is_constant = true;
    *offset = 0;
    while (LLVMIsAGetElementPtrInst(*pointer) != NULL) {
        LLVMValueRef index = LLVMGetOperand(*pointer, 1);
        is_constant &= LLVMGetNumOperands(*pointer) == 2 && LLVMIsAConstantInt(index) != NULL &&
                       is_byte(LLVMGetGEPSourceElementType(*pointer));
        if (is_constant)
            *offset += (uint64_t)LLVMConstIntGetSExtValue(index);
        *pointer = LLVMGetOperand(*pointer, 0);
    }
    return is_constant;
}

enum tr_record tr_record_at(LLVMValueRef pointer, enum tr_record first)
{
    if (LLVMIsAArgument(pointer) != NULL)
        return pointer == LLVMGetParam(LLVMGetParamParent(pointer), 0) ? first : TR_RECORD_NONE;
    struct tr_field field = tr_field_of(pointer, first);
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (field.record == links[i].from && field.has_offset && field.offset == links[i].offset)
            return links[i].to;
    return TR_RECORD_NONE;
}

struct tr_field tr_field_of(LLVMValueRef load, enum tr_record first)
{
    struct tr_field field = {.record = TR_RECORD_NONE};
    if (LLVMIsALoadInst(load) == NULL)
        return field;
    LLVMValueRef pointer = LLVMGetOperand(load, 0);
    field.has_offset = strip_offsets(&pointer, &field.offset);
    field.record = tr_record_at(pointer, first);
    return field;
}

bool tr_is_field(LLVMValueRef load, enum tr_record first, enum tr_record record, uint64_t offset)
{
    struct tr_field field = tr_field_of(load, first);
    return field.record == record && field.has_offset && field.offset == offset;
}
