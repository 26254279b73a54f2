/* SPDX-License-Identifier: Apache-2.0
 *
 * The effects of a single instruction besides its value: whether it may be repeated, whether it may
 * be done for a thread that does not exist, and how long it takes.
 */
#include "translator/analysis/calls.h"
#include "translator/vector/plan/plan.h"

#include <string.h>

static bool is_plain_access(LLVMValueRef inst)
{
    return !LLVMGetVolatile(inst) && LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic;
}

bool tr_is_seen(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        return !is_plain_access(inst);
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicCmpXchg:
    case LLVMAtomicRMW:
    case LLVMAlloca:
    case LLVMInvoke:
    case LLVMCallBr:
        return true;
    case LLVMCall:
        return !tr_is_pure_call(inst);
    default:
        return false;
    }
}

/* Whether the divisor is neither zero nor -1 (the least number divided by it traps). */
static bool is_safe_divisor(LLVMValueRef divisor)
{
    return LLVMIsAConstantInt(divisor) != NULL && LLVMGetIntTypeWidth(LLVMTypeOf(divisor)) <= 64 &&
           LLVMConstIntGetSExtValue(divisor) != 0 && LLVMConstIntGetSExtValue(divisor) != -1;
}

bool tr_is_for_active_lanes(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        return true;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        return !is_safe_divisor(LLVMGetOperand(inst, 1));
    default:
        return tr_is_seen(inst);
    }
}

static bool is_root(LLVMValueRef inst)
{
    static const char name[] = "llvm.sqrt";
    LLVMValueRef callee = LLVMIsACallInst(inst) == NULL ? NULL : LLVMGetCalledValue(inst);
    bool is_function = callee != NULL && LLVMIsAFunction(callee) != NULL;
    return is_function &&
           LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(name, sizeof name - 1);
}

uint32_t tr_cost(const struct tr_target *target, LLVMValueRef inst)
{
    bool is_slow = LLVMGetInstructionOpcode(inst) == LLVMFDiv || is_root(inst);
    return is_slow ? target->vectors.slow : 1;
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

bool tr_is_hint(LLVMValueRef call)
{
    static const char *const hints[] = {
        "assume",     "lifetime.", "dbg.",        "donothing",  "experimental.noalias.scope.decl",
        "invariant.", "prefetch",  "pseudoprobe", "sideeffect", "var.annotation"};
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (strlen(hints[i]) <= len && memcmp(name, hints[i], strlen(hints[i])) == 0)
            return true;
    return false;
}
