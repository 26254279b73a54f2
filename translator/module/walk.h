/* SPDX-License-Identifier: Apache-2.0
 *
 * The instructions of a function: walks over them, and calls of LLVM's own functions among them.
 */
#ifndef PTXRUN_TRANSLATOR_WALK_H
#define PTXRUN_TRANSLATOR_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <llvm-c/Core.h>

/* For each instruction of a function, in order. The body may erase it, and does not come to what it
 * puts behind it. `break` leaves the basic block only. */
#define TR_FOR_EACH_INSTRUCTION(inst, function)                                                    \
    for (LLVMBasicBlockRef block_ = LLVMGetFirstBasicBlock(function); block_ != NULL;              \
         block_ = LLVMGetNextBasicBlock(block_))                                                   \
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block_), next_ = NULL;                    \
             inst != NULL && (next_ = LLVMGetNextInstruction(inst), true); inst = next_)

static inline bool tr_is_opcode(LLVMValueRef value, LLVMOpcode opcode)
{
    return LLVMIsAInstruction(value) != NULL && LLVMGetInstructionOpcode(value) == opcode;
}

/* The block's first instruction that is no phi. */
static inline LLVMValueRef tr_first_behind_phis(LLVMBasicBlockRef block)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(inst) != NULL)
        inst = LLVMGetNextInstruction(inst);
    return inst;
}

/* The number that a comparison asks whether it is NaN. NULL: it asks something else, or is none. */
static inline LLVMValueRef tr_asked_for_nan(LLVMValueRef inst)
{
    if (LLVMIsAFCmpInst(inst) == NULL || LLVMGetFCmpPredicate(inst) != LLVMRealUNO)
        return NULL;
    LLVMValueRef value = LLVMGetOperand(inst, 0);
    LLVMValueRef other = LLVMGetOperand(inst, 1);
    return other == value || LLVMIsNull(other) ? value : NULL;
}

/* Whether the value is a call of this function of LLVM's, such as "llvm.fma", of any type. */
static inline bool tr_calls_intrinsic(LLVMValueRef value, const char *name)
{
    LLVMValueRef callee = LLVMIsACallInst(value) != NULL ? LLVMGetCalledValue(value) : NULL;
    return callee != NULL && LLVMIsAFunction(callee) != NULL &&
           LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(name, strlen(name));
}

/* Calls such a function at the builder's place. type: what it is overloaded by; NULL: nothing. */
static inline LLVMValueRef tr_call_intrinsic(LLVMBuilderRef builder, const char *name,
                                             LLVMTypeRef type, LLVMValueRef *args, unsigned count)
{
    LLVMModuleRef module =
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)));
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(module, id, &type, type != NULL);
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(callee), callee, args, count, "");
}

/* A call that LLVM's passes must not replace by its value, even if all it is given is constant. */
#define TR_KEPT_CALL "nobuiltin"

static inline unsigned tr_kept_call_kind(void)
{
    return LLVMGetEnumAttributeKindForName(TR_KEPT_CALL, sizeof TR_KEPT_CALL - 1);
}

static inline void tr_keep_call(LLVMValueRef call)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(call));
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(context, tr_kept_call_kind(), 0));
}

static inline bool tr_is_kept_call(LLVMValueRef call)
{
    return LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                        tr_kept_call_kind()) != NULL;
}

#endif
