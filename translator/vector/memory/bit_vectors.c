/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of i1 in memory: when a program stores the integer of a ballot, LLVM stores a <32 x i1>.
 * For several threads that would be a vector of bits again, whose elements are no bytes; so these
 * stores become stores of integers before anything is widened.
 */
#include "translator/vector/memory/bit_vectors.h"

#include <stddef.h>

#include <llvm-c/Core.h>

#include "translator/module/walk.h"

/* The integer type as long as a vector of i1; NULL: the type is no such vector. */
static LLVMTypeRef integer_for(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return NULL;
    LLVMTypeRef element = LLVMGetElementType(type);
    if (LLVMGetTypeKind(element) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(element) != 1)
        return NULL;
    return LLVMIntTypeInContext(LLVMGetTypeContext(type), LLVMGetVectorSize(type));
}

static void store_integer(LLVMBuilderRef builder, LLVMValueRef store)
{
    LLVMValueRef bits = LLVMGetOperand(store, 0);
    LLVMTypeRef type = integer_for(LLVMTypeOf(bits));
    if (type == NULL)
        return;
    LLVMPositionBuilderBefore(builder, store);
    LLVMSetOperand(store, 0, LLVMBuildBitCast(builder, bits, type, ""));
}

static void load_integer(LLVMBuilderRef builder, LLVMValueRef load)
{
    LLVMTypeRef type = integer_for(LLVMTypeOf(load));
    if (type == NULL)
        return;
    LLVMPositionBuilderBefore(builder, load);
    LLVMValueRef integer = LLVMBuildLoad2(builder, type, LLVMGetOperand(load, 0), "");
    LLVMSetAlignment(integer, LLVMGetAlignment(load));
    LLVMSetVolatile(integer, LLVMGetVolatile(load));
    LLVMReplaceAllUsesWith(load, LLVMBuildBitCast(builder, integer, LLVMTypeOf(load), ""));
    LLVMInstructionEraseFromParent(load);
}

void tr_bits_in_memory(LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        if (LLVMIsAStoreInst(inst) != NULL)
            store_integer(builder, inst);
        else if (LLVMIsALoadInst(inst) != NULL)
            load_integer(builder, inst);
    }
    LLVMDisposeBuilder(builder);
}
