/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/declare.h"

#include <string.h>

#include <llvm-c/Core.h>

static LLVMTypeRef type_of(LLVMContextRef llvm, enum rt_type type)
{
    switch (type) {
    case RT_TYPE_VOID:
        return LLVMVoidTypeInContext(llvm);
    case RT_TYPE_THREAD:
    case RT_TYPE_POINTER:
    case RT_TYPE_CODE:
        return LLVMPointerTypeInContext(llvm, 0);
    case RT_TYPE_U64:
    case RT_TYPE_PAIR:
        return LLVMInt64TypeInContext(llvm);
    case RT_TYPE_QUAD:
        return LLVMInt128TypeInContext(llvm);
    default:
        return LLVMInt32TypeInContext(llvm);
    }
}

static LLVMTypeRef signature(LLVMContextRef llvm, const struct rt_placeholder_info *info)
{
    LLVMTypeRef types[RT_PARAMETERS_MAX];
    unsigned count = 0;
    for (; info->parameters[count] != RT_TYPE_VOID; count++)
        types[count] = type_of(llvm, info->parameters[count]);
    return LLVMFunctionType(type_of(llvm, info->result), types, count, false);
}

static void add_attribute(LLVMValueRef function, LLVMContextRef llvm, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(llvm, kind, 0));
}

/* Nothing of the program's depends on a check: accesses may change places with it. */
static void describe_check(LLVMValueRef function, LLVMContextRef llvm)
{
    enum { INACCESSIBLE_MEMORY = 2, READ_AND_WRITE = 3 }; /* LLVM's MemoryEffects: shift and bits */
    static const char name[] = "memory";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(llvm, kind, (uint64_t)READ_AND_WRITE << INACCESSIBLE_MEMORY));
    add_attribute(function, llvm, "willreturn");
}

LLVMValueRef tr_declare_placeholder(LLVMModuleRef module, enum rt_placeholder placeholder)
{
    const struct rt_placeholder_info *info = &rt_placeholders[placeholder];
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    LLVMValueRef function = LLVMGetNamedFunctionWithLength(module, info->name, info->name_len);
    if (function != NULL)
        return function;
    function = LLVMAddFunction(module, info->name, signature(llvm, info));
    add_attribute(function, llvm, "nounwind");
    if (placeholder == RT_CALL_CHECK || placeholder == RT_CALL_WRITTEN ||
        placeholder == RT_CALL_MARK || placeholder == RT_CALL_MARK_LANES ||
        placeholder == RT_CALL_CHECK_OWN || placeholder == RT_CALL_NUMBER)
        describe_check(function, llvm);
    else
        add_attribute(function, llvm, "convergent");
    if (rt_is_end(placeholder))
        add_attribute(function, llvm, "noreturn");
    return function;
}
