/* SPDX-License-Identifier: Apache-2.0
 *
 * The effects of a single instruction besides its value: whether it may be repeated, whether it may
 * be done for a thread that does not exist, and how long it takes; and what lanes have in common.
 */
#include "translator/analysis/calls.h"
#include "translator/module/walk.h"
#include "translator/vector/plan/plan.h"

#include <string.h>

bool tr_is_plain_access(LLVMValueRef inst)
{
    return !LLVMGetVolatile(inst) && LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic;
}

bool tr_is_same_in_row(const struct tr_iteration *iteration, LLVMValueRef operand)
{
    return tr_is_same_along_row(&iteration->graph, &iteration->shapes, operand);
}

uint32_t tr_accessed_address(const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMLoad:
    case LLVMAtomicRMW:
        return value->operands[0];
    case LLVMStore:
        return value->operands[1];
    default:
        return TR_NONE;
    }
}

bool tr_is_seen(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        return !tr_is_plain_access(inst);
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicCmpXchg:
    case LLVMAtomicRMW:
    case LLVMAlloca:
    case LLVMInvoke:
    case LLVMCallBr:
        return true;
    case LLVMCall:
        return !tr_is_pure_call(inst) && !tr_is_hint(inst);
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

bool tr_is_integer_division(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        return true;
    default:
        return false;
    }
}

bool tr_is_signed_division(LLVMValueRef inst)
{
    return LLVMGetInstructionOpcode(inst) == LLVMSDiv || LLVMGetInstructionOpcode(inst) == LLVMSRem;
}

bool tr_is_rest(LLVMValueRef inst)
{
    return LLVMGetInstructionOpcode(inst) == LLVMURem || LLVMGetInstructionOpcode(inst) == LLVMSRem;
}

enum tr_arithmetic tr_arithmetic_of(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMFDiv:
        return TR_ARITHMETIC_DIVIDE;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        return LLVMIsAConstant(LLVMGetOperand(inst, 1)) != NULL ? TR_ARITHMETIC_INVERSE
                                                                : TR_ARITHMETIC_INTEGER_DIVIDE;
    case LLVMSIToFP:
    case LLVMFPToSI:
    case LLVMFPExt:
    case LLVMFPTrunc:
        return TR_ARITHMETIC_CONVERT;
    case LLVMUIToFP:
    case LLVMFPToUI:
        return TR_ARITHMETIC_CONVERT_UNSIGNED;
    case LLVMPHI:
    case LLVMBitCast:
    case LLVMFreeze:
        return TR_ARITHMETIC_NONE;
    case LLVMGetElementPtr:
        return TR_ARITHMETIC_ADDRESS;
    default:
        break;
    }
    if (tr_calls_intrinsic(inst, "llvm.sqrt"))
        return TR_ARITHMETIC_DIVIDE;
    if (!tr_calls_intrinsic(inst, "llvm.fma"))
        return TR_ARITHMETIC_SIMPLE;
    return LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMHalfTypeKind ? TR_ARITHMETIC_FUSED_HALF
                                                                 : TR_ARITHMETIC_FUSED;
}

uint32_t tr_cost(const struct tr_target *target, LLVMValueRef inst)
{
    const struct tr_figures *figures = &target->figures;
    bool is_slow = tr_arithmetic_of(inst) == TR_ARITHMETIC_DIVIDE;
    return is_slow ? (uint32_t)(figures->vector_divide / figures->vector + 0.5) : 1;
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
