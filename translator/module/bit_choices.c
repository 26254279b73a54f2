/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a constant says which bits come from which of two vectors, and a selection then keeps one
 * of the two in some lanes, LLVM 22 makes one instruction of it (AVX-512: `vpternlog` under a mask)
 * that takes an operand for the constant. Here the lanes' own vector has those bits changed that
 * differ, kept ^ ((kept ^ other) & mask), which LLVM makes right code of.
 */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* Elements of one vector. */
#define MOST_ELEMENTS 256

/* Operands of a selection. */
enum { IF_TRUE = 1, IF_FALSE = 2 };

/* The bits of `ones` where the mask has ones, and those of `zeros` where it has zeros. */
struct bit_choice {
    LLVMValueRef ones, zeros;
    LLVMValueRef mask; /* a constant vector of integers */
};

static LLVMValueRef without_casts(LLVMValueRef value)
{
    while (LLVMIsABitCastInst(value))
        value = LLVMGetOperand(value, 0);
    return value;
}

/* A vector of integers as wide as these elements, each of which has only its highest bit set. */
static LLVMValueRef highest_bits(LLVMTypeRef type)
{
    LLVMValueRef lanes[MOST_ELEMENTS];
    unsigned count = LLVMGetVectorSize(type);
    LLVMContextRef llvm = LLVMGetTypeContext(type);
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetElementType(type));
    unsigned width = kind == LLVMDoubleTypeKind ? 64 : kind == LLVMFloatTypeKind ? 32 : 16;
    for (unsigned i = 0; i < count; i++)
        lanes[i] = LLVMConstInt(LLVMIntTypeInContext(llvm, width), 1ull << (width - 1), false);
    return LLVMConstVector(lanes, count);
}

/* Whether the value is a vector with the sign of one number and the rest of another. */
static bool chooses_signs(LLVMValueRef value, struct bit_choice *choice)
{
    if (!tr_calls_intrinsic(value, "llvm.copysign") ||
        LLVMGetVectorSize(LLVMTypeOf(value)) > MOST_ELEMENTS)
        return false;
    *choice = (struct bit_choice){
        .ones = LLVMGetOperand(value, 1),
        .zeros = LLVMGetOperand(value, 0),
        .mask = highest_bits(LLVMTypeOf(value)),
    };
    return true;
}

/* The constant that the value is masked with; NULL: it is not. */
static LLVMValueRef mask_of(LLVMValueRef value)
{
    LLVMValueRef mask = LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMAnd
                            ? LLVMGetOperand(value, 1)
                            : NULL;
    return mask != NULL && LLVMIsAConstant(mask) ? mask : NULL;
}

static bool chooses_by_masks(LLVMValueRef value, struct bit_choice *choice)
{
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionOpcode(value) != LLVMOr)
        return false;
    LLVMValueRef a = LLVMGetOperand(value, 0), b = LLVMGetOperand(value, 1);
    LLVMValueRef mask = mask_of(a), rest = mask_of(b);
    if (mask == NULL || rest == NULL || LLVMConstNot(mask) != rest)
        return false;
    *choice = (struct bit_choice){LLVMGetOperand(a, 0), LLVMGetOperand(b, 0), mask};
    return true;
}

/* Whether the value chooses between bits of `kept` and of another. */
static bool chooses_from(LLVMValueRef value, LLVMValueRef kept, struct bit_choice *choice)
{
    if (!chooses_signs(value, choice) && !chooses_by_masks(value, choice))
        return false;
    return without_casts(choice->ones) == kept || without_casts(choice->zeros) == kept;
}

/* The bits that the choice has, as changes of what is kept. */
static LLVMValueRef build_changes(LLVMBuilderRef b, const struct bit_choice *choice,
                                  LLVMValueRef kept)
{
    LLVMTypeRef bits = LLVMTypeOf(choice->mask);
    bool keeps_zeros = without_casts(choice->zeros) == kept;
    LLVMValueRef mask = keeps_zeros ? choice->mask : LLVMConstNot(choice->mask);
    LLVMValueRef ones = LLVMBuildBitCast(b, choice->ones, bits, "");
    LLVMValueRef zeros = LLVMBuildBitCast(b, choice->zeros, bits, "");
    LLVMValueRef differ = LLVMBuildAnd(b, LLVMBuildXor(b, ones, zeros, ""), mask, "");
    return LLVMBuildXor(b, keeps_zeros ? zeros : ones, differ, "");
}

/* Rewrites what the selection takes for some lanes, if the other lanes keep one of its operands. */
static void mend_arm(LLVMBuilderRef b, LLVMValueRef select, unsigned arm)
{
    LLVMValueRef value = LLVMGetOperand(select, arm);
    LLVMValueRef kept = without_casts(LLVMGetOperand(select, IF_TRUE + IF_FALSE - arm));
    struct bit_choice choice;
    if (!chooses_from(without_casts(value), kept, &choice))
        return;
    LLVMPositionBuilderBefore(b, select);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(select));
    LLVMValueRef changed = build_changes(b, &choice, kept);
    LLVMSetOperand(select, arm, LLVMBuildBitCast(b, changed, LLVMTypeOf(value), ""));
}

void tr_mend_bit_choices(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn)
            if (LLVMIsASelectInst(inst) &&
                LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMVectorTypeKind) {
                mend_arm(b, inst, IF_TRUE);
                mend_arm(b, inst, IF_FALSE);
            }
    LLVMDisposeBuilder(b);
}
