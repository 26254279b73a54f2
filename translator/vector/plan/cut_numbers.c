/* SPDX-License-Identifier: Apache-2.0
 *
 * `sext(3 * i) * 4`, with i of 64 bits cut to 32, becomes a product and a shift in LLVM's hands:
 * `(i * (3 << 32)) >> 30`. That is as short, but nothing tells any more that it is an index of 32
 * bits, which does not wrap in most programs (steady_indices.c). So it is taken back.
 */
#include "translator/module/walk.h"
#include "translator/vector/plan/plan.h"

#define HALF 32

/* The constant that the number is a multiple of, itself a multiple of 2^32; 0: it has another
 * form. */
static uint64_t factor_of(LLVMValueRef product)
{
    uint64_t constant = 0;
    if (LLVMIsABinaryOperator(product) == NULL ||
        !tr_find_unsigned(LLVMGetOperand(product, 1), &constant))
        return 0;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(product);
    if (opcode == LLVMShl)
        constant = constant < 2 * HALF ? UINT64_C(1) << constant : 0;
    else if (opcode != LLVMMul)
        return 0;
    return (uint32_t)constant == 0 ? constant : 0;
}

static void take_back(LLVMBuilderRef b, LLVMValueRef shift)
{
    uint64_t bits = 0;
    LLVMTypeRef type = LLVMTypeOf(shift);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) != 2 * HALF ||
        !tr_find_unsigned(LLVMGetOperand(shift, 1), &bits) || bits > HALF)
        return;
    LLVMValueRef product = LLVMGetOperand(shift, 0);
    uint64_t factor = factor_of(product) >> HALF;
    if (factor == 0)
        return;
    LLVMTypeRef half = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    LLVMPositionBuilderBefore(b, shift);
    LLVMValueRef number = LLVMBuildTrunc(b, LLVMGetOperand(product, 0), half, "");
    number = LLVMBuildMul(b, number, LLVMConstInt(half, factor, false), "");
    number = LLVMBuildSExt(b, number, type, "");
    number = LLVMBuildShl(b, number, LLVMConstInt(type, HALF - bits, false), "");
    LLVMReplaceAllUsesWith(shift, number);
    LLVMInstructionEraseFromParent(shift);
}

void tr_take_back_cuts(LLVMValueRef function)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(function)));
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (LLVMGetInstructionOpcode(inst) == LLVMAShr)
            take_back(b, inst);
    LLVMDisposeBuilder(b);
}
