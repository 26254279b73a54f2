/* SPDX-License-Identifier: Apache-2.0
 *
 * The instructions that can be computed again, and the cost model: the only place with its numbers.
 */
#include "translator/collapse/again.h"

#include <string.h>

#include <llvm-c/Core.h>

/* ---- numbers: quarters of a simple instruction in every thread ---- */

#define COST_FREE         1 /* changes the type only; not 0, so that chains of them end */
#define COST_SIMPLE       4 /* integer add, shift, compare, select, address, a thread's own index */
#define COST_MULTIPLY     6
#define COST_FLOAT        8
#define COST_INTRINSIC    8
#define COST_CONST_DIVIDE 20 /* a multiplication by the inverse, with corrections */
#define COST_LOAD         12 /* of memory that does not change, at an address that differs */

#define COST_GROUP_ELEMENT 8 /* stored and loaded once per group */
#define COST_READ          8 /* of a thread's element, and as much per byte as it takes cache */
#define COST_WRITE         12
#define COST_BYTE          1
/* An index that is loaded is any index: accesses with it are no longer seen to be contiguous. */
#define COST_LOST_STRIDE 64

/* ---- what can be computed again ---- */

static bool name_begins(const char *name, size_t len, const char *prefix)
{
    size_t prefix_len = strlen(prefix);
    return len >= prefix_len && memcmp(name, prefix, prefix_len) == 0;
}

/* Every special register but the clocks (rt/sreg.h). */
static bool is_steady_sreg(const char *name, size_t len)
{
    return name_begins(name, len, "rt_sreg_") && !name_begins(name, len, "rt_sreg_clock") &&
           !name_begins(name, len, "rt_sreg_globaltimer");
}

/* Of the intrinsics, each with a dot behind it: those that cost about as much as an instruction. */
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
    return is_steady_sreg(name, len) || is_cheap_intrinsic(name, len);
}

/* Memory that does not change while the grid runs; that it may be read is known, because it has
 * been: the load dominates the stop. */
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

/* Not freeze: of a poisonous operand it is some value, and need not be the same value twice. */
uint32_t tr_cost_again(const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMExtractValue:
    case LLVMInsertValue:
        return COST_FREE;
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
        return COST_SIMPLE;
    case LLVMMul:
        return COST_MULTIPLY;
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
        return COST_FLOAT;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        return divides_by_constant(value->llvm) ? COST_CONST_DIVIDE : 0;
    case LLVMLoad:
        return is_steady_load(value->llvm) ? COST_LOAD : 0;
    case LLVMCall:
        if (!is_pure_call(value->llvm))
            return 0;
        return LLVMGetNumArgOperands(value->llvm) == 1 ? COST_SIMPLE : COST_INTRINSIC;
    default:
        return 0;
    }
}

enum tr_again tr_again_kind(const struct tr_value *value)
{
    if (value->opcode == 0)
        return TR_AGAIN_AT_HAND;
    if (value->opcode == LLVMAlloca && is_fixed_alloca(value->llvm))
        return TR_AGAIN_AT_HAND;
    return tr_cost_again(value) > 0 ? TR_AGAIN_PURE : TR_AGAIN_NEVER;
}

uint32_t tr_cost_saved(struct tr_saving saving)
{
    if (saving.is_group)
        return COST_GROUP_ELEMENT;
    uint32_t byte_cost = COST_BYTE * saving.bytes;
    uint32_t cost = COST_READ + byte_cost;
    if (!saving.is_there)
        cost += COST_WRITE + byte_cost;
    return cost + (saving.is_affine ? COST_LOST_STRIDE : 0);
}
