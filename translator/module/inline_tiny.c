/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include <llvm-c/Core.h>

#include "translator/module/budget.h"
#include "translator/module/link_rt.h"
#include "translator/module/passes.h"
#include "translator/module/walk.h"

/* Helpers of one block with so many instructions are inlined: a call would take as many. */
#define TINY_HELPER 8

bool tr_is_always_inline(LLVMValueRef function)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       kind) != NULL;
}

static bool is_tiny(LLVMValueRef function)
{
    return LLVMCountBasicBlocks(function) == 1 && tr_instruction_count(function) <= TINY_HELPER;
}

static void keep_helper(LLVMValueRef function)
{
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMRemoveEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                   always);
}

/* Helpers call helpers, not deeply. */
#define CALL_DEPTH 8

/* Calls of what has no body here, such as a fault, but not of LLVM's own functions. */
static bool leads_outside(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) == NULL ||
           (LLVMIsDeclaration(callee) && LLVMGetIntrinsicID(callee) == 0);
}

/* Instructions of the helper and of those that it calls; 0: one of them may do more than compute,
 * or they are too deep. What computes needs no line that a fault could ask for. */
static uint64_t computing_length(LLVMValueRef function, unsigned depth)
{
    uint64_t length = 0;
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        bool is_call = LLVMIsACallInst(inst) != NULL;
        if (LLVMIsALoadInst(inst) || LLVMIsAStoreInst(inst) || LLVMIsAAtomicRMWInst(inst) ||
            LLVMIsAAtomicCmpXchgInst(inst) || (is_call && leads_outside(inst)))
            return 0;
        length++;
        if (!is_call || LLVMIsDeclaration(LLVMGetCalledValue(inst)))
            continue;
        uint64_t more = depth > 0 ? computing_length(LLVMGetCalledValue(inst), depth - 1) : 0;
        if (more == 0)
            return 0;
        length += more;
    }
    return length;
}

static uint64_t call_count(LLVMValueRef function)
{
    uint64_t calls = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = LLVMGetNextUse(use))
        calls++;
    return calls;
}

/* Instructions that inlining one helper wherever it is called may add to a module. */
#define COPIES_MAX 400

/* The constant that an argument is in all calls. NULL: it differs, or not all uses are calls. */
static LLVMValueRef common_argument(LLVMValueRef function, unsigned number)
{
    LLVMValueRef common = NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef call = LLVMGetUser(use);
        if (LLVMIsACallInst(call) == NULL || LLVMGetCalledValue(call) != function)
            return NULL;
        LLVMValueRef argument = LLVMGetOperand(call, number);
        if (!LLVMIsConstant(argument) || (common != NULL && argument != common))
            return NULL;
        common = argument;
    }
    return common;
}

/* Which format, how to round: what all calls say alike the function need not ask. */
static void fix_parameters(LLVMValueRef function)
{
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        LLVMValueRef constant = common_argument(function, i);
        if (constant != NULL)
            LLVMReplaceAllUsesWith(LLVMGetParam(function, i), constant);
    }
}

void tr_call_helpers(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && tr_is_always_inline(f) && !is_tiny(f) &&
            call_count(f) * computing_length(f, CALL_DEPTH) > COPIES_MAX) {
            keep_helper(f);
            fix_parameters(f);
        }
}

static void keep_helpers(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && tr_is_always_inline(f) && !is_tiny(f))
            keep_helper(f);
}

enum pxr_status tr_inline_tiny(LLVMModuleRef module, struct pxr_error *err)
{
    keep_helpers(module);
    return tr_run_passes(module, "always-inline,globaldce", NULL, err);
}
