/* SPDX-License-Identifier: Apache-2.0
 *
 * Rewrites atomic accesses of 16 bytes into forms that LLVM 22's code generators accept. They have
 * no atomic vectors, and where they believe that only a compare-and-swap loads 16 bytes at once,
 * they use it for a load: it would write, and memory that programs read may be read-only. A
 * volatile load of a vector is one instruction wherever there are vectors of 128 bits ("the backend
 * should never split or merge target-legal volatile load/store instructions"). Stores become stores
 * of a number: a move of a vector register, or a compare-and-swap on processors that do not promise
 * that the move is atomic.
 */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

static bool has_16_bytes(LLVMTypeRef type)
{
    unsigned count = 1;
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind) {
        count = LLVMGetVectorSize(type);
        type = LLVMGetElementType(type);
    }
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) * count == 128;
}

static LLVMTypeRef accessed_type(LLVMValueRef access)
{
    bool is_store = LLVMIsAStoreInst(access) != NULL;
    return LLVMTypeOf(is_store ? LLVMGetOperand(access, 0) : access);
}

static bool is_whole_access(LLVMValueRef inst)
{
    bool is_access = LLVMIsALoadInst(inst) != NULL || LLVMIsAStoreInst(inst) != NULL;
    return is_access && LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic &&
           has_16_bytes(accessed_type(inst));
}

static LLVMTypeRef number_type(LLVMValueRef access)
{
    return LLVMIntTypeInContext(LLVMGetTypeContext(accessed_type(access)), 128);
}

static LLVMTypeRef vector_type(LLVMValueRef access)
{
    LLVMContextRef context = LLVMGetTypeContext(accessed_type(access));
    return LLVMVectorType(LLVMInt64TypeInContext(context), 2);
}

/* Copies the flags of an atomic access to its copy of another type. */
static void copy_flags(LLVMValueRef from, LLVMValueRef to)
{
    LLVMSetAlignment(to, LLVMGetAlignment(from));
    LLVMSetVolatile(to, LLVMGetVolatile(from));
    LLVMSetOrdering(to, LLVMGetOrdering(from));
}

static LLVMValueRef volatile_load(LLVMBuilderRef b, LLVMValueRef load)
{
    LLVMValueRef whole = LLVMBuildLoad2(b, vector_type(load), LLVMGetOperand(load, 0), "");
    LLVMSetAlignment(whole, LLVMGetAlignment(load));
    LLVMSetVolatile(whole, true);
    if (LLVMGetOrdering(load) != LLVMAtomicOrderingMonotonic)
        LLVMBuildFence(b, LLVMGetOrdering(load), false, "");
    return whole;
}

static LLVMValueRef number_load(LLVMBuilderRef b, LLVMValueRef load)
{
    LLVMValueRef whole = LLVMBuildLoad2(b, number_type(load), LLVMGetOperand(load, 0), "");
    copy_flags(load, whole);
    return whole;
}

static void lower_store(LLVMBuilderRef b, LLVMValueRef store)
{
    LLVMValueRef value = LLVMBuildBitCast(b, LLVMGetOperand(store, 0), number_type(store), "");
    copy_flags(store, LLVMBuildStore(b, value, LLVMGetOperand(store, 1)));
}

static void lower(LLVMBuilderRef b, LLVMValueRef access, bool has_whole_loads)
{
    LLVMPositionBuilderBefore(b, access);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(access));
    if (LLVMIsAStoreInst(access) != NULL) {
        lower_store(b, access);
    } else {
        LLVMValueRef whole = has_whole_loads ? number_load(b, access) : volatile_load(b, access);
        LLVMReplaceAllUsesWith(access, LLVMBuildBitCast(b, whole, LLVMTypeOf(access), ""));
    }
    LLVMInstructionEraseFromParent(access);
}

void tr_lower_whole_accesses(LLVMModuleRef module, bool has_whole_loads)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn)
            if (is_whole_access(inst))
                lower(b, inst, has_whole_loads);
    LLVMDisposeBuilder(b);
}
