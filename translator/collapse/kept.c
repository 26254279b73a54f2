/* SPDX-License-Identifier: Apache-2.0
 *
 * See kept.h.
 */
#include "translator/collapse/kept.h"

#include <stdbool.h>

LLVMTypeRef tr_kept_type(LLVMTypeRef type)
{
    bool is_bit = LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
    return is_bit ? LLVMInt8TypeInContext(LLVMGetTypeContext(type)) : type;
}

void tr_store_kept(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef place)
{
    LLVMTypeRef type = tr_kept_type(LLVMTypeOf(value));
    if (type != LLVMTypeOf(value))
        value = LLVMBuildZExt(builder, value, type, "");
    LLVMBuildStore(builder, value, place);
}

LLVMValueRef tr_load_kept(LLVMBuilderRef builder, LLVMTypeRef type, LLVMValueRef place)
{
    LLVMTypeRef element = tr_kept_type(type);
    LLVMValueRef kept = LLVMBuildLoad2(builder, element, place, "");
    return element == type ? kept : LLVMBuildTrunc(builder, kept, type, "");
}
