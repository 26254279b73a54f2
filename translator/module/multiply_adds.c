/* SPDX-License-Identifier: Apache-2.0
 *
 * Fused multiply-adds of f32 for CPUs without instructions for them: LLVM would call the C
 * library's fmaf for each, vectors lane by lane. Here they are done in f64, where the product is
 * exact, and so is the error of the sum: if there is one, the sum becomes the neighbour with an odd
 * last bit, so that the rounding to f32 finds no tie that was none, and rounds as if it were the
 * only one. What has no error may be infinite, NaN or a zero of either sign, and stays as it is.
 */
#include <llvm-c/Core.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

static LLVMTypeRef like(LLVMTypeRef type, LLVMTypeRef element)
{
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    return is_vector ? LLVMVectorType(element, LLVMGetVectorSize(type)) : element;
}

static bool is_of_f32(LLVMTypeRef type)
{
    LLVMTypeRef element =
        LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
    return LLVMGetTypeKind(element) == LLVMFloatTypeKind;
}

static bool is_multiply_add(LLVMValueRef inst)
{
    return tr_calls_intrinsic(inst, "llvm.fma") && is_of_f32(LLVMTypeOf(inst));
}

/* What the sum of a product and c has lost, exactly (Knuth's TwoSum). */
static LLVMValueRef error_of(LLVMBuilderRef b, LLVMValueRef sum, LLVMValueRef product,
                             LLVMValueRef c)
{
    LLVMValueRef added = LLVMBuildFSub(b, sum, product, "");
    LLVMValueRef kept = LLVMBuildFSub(b, sum, added, "");
    return LLVMBuildFAdd(b, LLVMBuildFSub(b, product, kept, ""), LLVMBuildFSub(b, c, added, ""),
                         "");
}

/* The neighbour of the sum with an odd last bit. Where the error points to zero, that is the next
 * smaller number, or the sum itself. */
static LLVMValueRef odd_neighbour(LLVMBuilderRef b, LLVMValueRef sum, LLVMValueRef error,
                                  LLVMTypeRef words)
{
    LLVMValueRef bits = LLVMBuildBitCast(b, sum, words, "");
    LLVMValueRef signs = LLVMBuildXor(b, bits, LLVMBuildBitCast(b, error, words, ""), "");
    LLVMTypeRef bit = like(words, LLVMInt1TypeInContext(LLVMGetTypeContext(words)));
    LLVMValueRef is_smaller = LLVMBuildICmp(b, LLVMIntSLT, signs, LLVMConstNull(words), "");
    LLVMValueRef below = LLVMBuildAdd(b, bits, LLVMBuildSExt(b, is_smaller, words, ""), "");
    LLVMValueRef one = LLVMBuildZExt(b, LLVMConstAllOnes(bit), words, "");
    return LLVMBuildOr(b, below, one, "");
}

static LLVMValueRef multiply_add(LLVMBuilderRef b, LLVMValueRef inst)
{
    LLVMTypeRef type = LLVMTypeOf(inst);
    LLVMContextRef context = LLVMGetTypeContext(type);
    LLVMTypeRef wide = like(type, LLVMDoubleTypeInContext(context));
    LLVMTypeRef words = like(type, LLVMInt64TypeInContext(context));
    LLVMValueRef operands[3];
    for (unsigned i = 0; i < 3; i++)
        operands[i] = LLVMBuildFPExt(b, LLVMGetOperand(inst, i), wide, "");
    LLVMValueRef product = LLVMBuildFMul(b, operands[0], operands[1], "");
    LLVMValueRef sum = LLVMBuildFAdd(b, product, operands[2], "");
    LLVMValueRef error = error_of(b, sum, product, operands[2]);
    LLVMValueRef is_inexact = LLVMBuildFCmp(b, LLVMRealONE, error, LLVMConstNull(wide), "");
    LLVMValueRef odd = odd_neighbour(b, sum, error, words);
    LLVMValueRef bits = LLVMBuildBitCast(b, sum, words, "");
    bits = LLVMBuildSelect(b, is_inexact, odd, bits, "");
    return LLVMBuildFPTrunc(b, LLVMBuildBitCast(b, bits, wide, ""), type, "");
}

void tr_part_multiply_adds(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            if (!is_multiply_add(inst))
                continue;
            LLVMPositionBuilderBefore(builder, inst);
            LLVMReplaceAllUsesWith(inst, multiply_add(builder, inst));
            LLVMInstructionEraseFromParent(inst);
        }
    LLVMDisposeBuilder(builder);
}
