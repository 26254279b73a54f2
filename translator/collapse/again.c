/* SPDX-License-Identifier: Apache-2.0
 *
 * Which instructions can be computed again, and which of the target's costs each has.
 */
#include "translator/collapse/again.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "translator/module/sregs.h"

/* ---- what can be computed again ---- */

static bool name_begins(const char *name, size_t len, const char *prefix)
{
    size_t prefix_len = strlen(prefix);
    return len >= prefix_len && memcmp(name, prefix, prefix_len) == 0;
}

/* Intrinsics that cost about as much as an instruction, each with a dot behind it. */
static const char *const cheap_intrinsics[] = {
    "abs",    "smax",   "smin",       "umax",      "umin",       "ctpop",      "ctlz",
    "cttz",   "bswap",  "bitreverse", "fshl",      "fshr",       "sadd",       "uadd",
    "ssub",   "usub",   "smul",       "umul",      "fma",        "fabs",       "copysign",
    "minnum", "maxnum", "minimum",    "maximum",   "minimumnum", "maximumnum", "floor",
    "ceil",   "trunc",  "rint",       "roundeven", "nearbyint",  "fptosi",     "fptoui",
};

static bool is_cheap_intrinsic(const char *name, size_t len)
{
    static const char prefix[] = "llvm.";
    if (!name_begins(name, len, prefix))
        return false;
    name += sizeof prefix - 1;
    len -= sizeof prefix - 1;
    for (size_t i = 0; i < sizeof cheap_intrinsics / sizeof cheap_intrinsics[0]; i++) {
        size_t part = strlen(cheap_intrinsics[i]);
        if (len > part && name[part] == '.' && memcmp(name, cheap_intrinsics[i], part) == 0)
            return true;
    }
    return false;
}

static bool is_pure_call(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAFunction(callee) == NULL || !LLVMIsDeclaration(callee))
        return false;
    size_t len = 0;
    const char *name = LLVMGetValueName2(callee, &len);
    return tr_sregs[tr_find_sreg(callee)].is_steady || is_cheap_intrinsic(name, len);
}

/* Whether it loads memory that does not change while the grid runs. It may be read again, because
 * the load dominates the sync point. */
static bool is_steady_load(LLVMValueRef load)
{
    return tr_is_invariant_load(load) && !LLVMGetVolatile(load) &&
           LLVMGetOrdering(load) == LLVMAtomicOrderingNotAtomic;
}

static bool divides_by_constant(LLVMValueRef division)
{
    LLVMValueRef divisor = LLVMIsAConstantInt(LLVMGetOperand(division, 1));
    return divisor != NULL && !LLVMIsNull(divisor) &&
           LLVMGetIntTypeWidth(LLVMTypeOf(divisor)) <= 64 &&
           LLVMConstIntGetSExtValue(divisor) != -1;
}

static bool is_fixed_alloca(LLVMValueRef alloca)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(alloca));
    return LLVMGetInstructionParent(alloca) == LLVMGetEntryBasicBlock(function) &&
           LLVMIsAConstantInt(LLVMGetOperand(alloca, 0)) != NULL;
}

/* Not freeze: of poison it makes any value, and not always the same one. */
uint32_t tr_cost_again(const struct tr_value *value, const struct tr_again_costs *costs)
{
    switch (value->opcode) {
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMExtractValue:
    case LLVMInsertValue:
        return costs->retype;
    case LLVMAdd:
    case LLVMSub:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMICmp:
    case LLVMSelect:
    case LLVMGetElementPtr:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
        return costs->simple;
    case LLVMMul:
        return costs->multiply;
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFNeg:
    case LLVMFCmp:
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
        return costs->floating;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        return divides_by_constant(value->llvm) ? costs->constant_division : 0;
    case LLVMLoad:
        return is_steady_load(value->llvm) ? costs->load : 0;
    case LLVMCall:
        if (!is_pure_call(value->llvm))
            return 0;
        return LLVMGetNumArgOperands(value->llvm) == 1 ? costs->simple : costs->intrinsic;
    default:
        return 0;
    }
}

/* With any costs, as none of them is 0. */
static bool can_be_again(const struct tr_value *value)
{
    static const struct tr_again_costs one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return tr_cost_again(value, &one) > 0;
}

enum tr_again tr_again_kind(const struct tr_value *value)
{
    if (value->opcode == 0)
        return TR_AGAIN_AT_HAND;
    if (value->opcode == LLVMAlloca && is_fixed_alloca(value->llvm))
        return TR_AGAIN_AT_HAND;
    return can_be_again(value) ? TR_AGAIN_PURE : TR_AGAIN_NEVER;
}

uint32_t tr_cost_saved(struct tr_saving saving, const struct tr_again_costs *costs)
{
    if (saving.is_group)
        return costs->group_element;
    uint32_t byte_cost = costs->byte * saving.bytes;
    uint32_t cost = costs->read + byte_cost;
    if (!saving.is_there)
        cost += costs->write + byte_cost;
    return cost + (saving.is_affine ? costs->lost_stride : 0);
}
