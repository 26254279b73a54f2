/* SPDX-License-Identifier: Apache-2.0
 *
 * Volatile and relaxed accesses of lanes side by side. The memory model orders what one thread does
 * to one address, not what different threads do, so a vector may do the access for all of its lanes
 * at once. LLVM has no atomic vectors; machines access naturally aligned elements of a vector each
 * as a whole, and masked elements, gathers and scatters likewise. What is left to prevent is that
 * LLVM leaves out, repeats or moves such accesses: they are volatile, or fenced for the compiler.
 */
#include "translator/vector/memory/load_store.h"

void tr_memory_set_relaxed(LLVMValueRef from, LLVMValueRef access, LLVMTypeRef type)
{
    if (!tr_plan_is_relaxed(from))
        return;
    LLVMSetVolatile(access, true);
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        LLVMSetOrdering(access, LLVMAtomicOrderingMonotonic);
}

/* The fence is for the compiler: it makes no instruction. */
void tr_memory_keep_order(struct tr_widen *widen, LLVMValueRef from)
{
    if (tr_plan_is_relaxed(from))
        LLVMBuildFence(widen->builder, LLVMAtomicOrderingAcquireRelease, true, "");
}
