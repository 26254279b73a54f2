/* SPDX-License-Identifier: Apache-2.0
 *
 * Fused multiply-adds that the CPU has no instruction for: those of f32 on CPUs before FMA, for
 * which LLVM would call the C library's fmaf, vectors lane by lane; and those of f16, which LLVM
 * would round twice, to f32 and then to f16.
 *
 * They are done in the format of twice the bits, where the product is exact. If the sum is not, the
 * one of its two neighbours that has an odd last bit takes its place, so that the rounding to the
 * format asked for finds no tie that was none, and rounds as if it were the only one. An exact sum
 * may be infinite, NaN or a zero of either sign, and stays as it is.
 *
 * Which neighbour that is, the error of the sum tells. Vectors of AVX-512 are rounded down and up
 * instead, by two instructions for some ten.
 */
#include <math.h>

#include <llvm-c/Core.h>

#include "translator/module/elements.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* ---- by the error of the sum ---- */

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
    LLVMValueRef is_smaller = LLVMBuildICmp(b, LLVMIntSLT, signs, LLVMConstNull(words), "");
    LLVMValueRef below = LLVMBuildAdd(b, bits, LLVMBuildSExt(b, is_smaller, words, ""), "");
    return LLVMBuildOr(b, below, tr_number_like(words, 1), "");
}

/* has_fused: of f32, which is sooner there than by the product. */
static LLVMValueRef odd_by_error(LLVMBuilderRef b, LLVMValueRef operands[3], LLVMTypeRef words,
                                 bool has_fused)
{
    LLVMTypeRef type = LLVMTypeOf(operands[2]);
    LLVMValueRef product = LLVMBuildFMul(b, operands[0], operands[1], "");
    LLVMValueRef sum = has_fused ? tr_call_intrinsic(b, "llvm.fma", type, operands, 3)
                                 : LLVMBuildFAdd(b, product, operands[2], "");
    LLVMValueRef error = error_of(b, sum, product, operands[2]);
    LLVMValueRef is_inexact = LLVMBuildFCmp(b, LLVMRealONE, error, LLVMConstNull(type), "");
    LLVMValueRef odd = odd_neighbour(b, sum, error, words);
    LLVMValueRef bits = LLVMBuildBitCast(b, sum, words, "");
    return LLVMBuildBitCast(b, LLVMBuildSelect(b, is_inexact, odd, bits, ""), type, "");
}

/* ---- by two roundings ---- */

#define ROUNDED    "llvm.x86.avx512.vfmadd.ps.512"
#define LANES      16 /* of its vectors */
#define ROUND_DOWN 9  /* its last operand: towards minus infinity, without exceptions */
#define ROUND_UP   10

static LLVMValueRef rounded(LLVMBuilderRef b, LLVMValueRef operands[3], unsigned rounding)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(operands[0])));
    LLVMValueRef args[] = {operands[0], operands[1], operands[2],
                           LLVMConstInt(i32, rounding, false)};
    return tr_call_intrinsic(b, ROUNDED, NULL, args, 4);
}

/* Of two neighbours one is odd. What needs no rounding is the same twice, but for differences that
 * are zero: rounded down they are -0, so the other one is taken. */
static LLVMValueRef odd_by_rounding(LLVMBuilderRef b, LLVMValueRef operands[3], LLVMTypeRef words)
{
    LLVMValueRef down = rounded(b, operands, ROUND_DOWN);
    LLVMValueRef up = rounded(b, operands, ROUND_UP);
    LLVMValueRef last = LLVMBuildBitCast(b, down, words, "");
    last = LLVMBuildAnd(b, last, tr_number_like(words, 1), "");
    LLVMValueRef is_odd = LLVMBuildICmp(b, LLVMIntNE, last, LLVMConstNull(words), "");
    return LLVMBuildSelect(b, is_odd, down, up, "");
}

/* ---- the instructions ---- */

/* The number that all lanes of a vector are. NULL: they may differ. */
static LLVMValueRef number_of_all(LLVMValueRef vector)
{
    if (!tr_is_opcode(vector, LLVMShuffleVector))
        return NULL;
    LLVMValueRef first = LLVMGetOperand(vector, 0);
    for (unsigned i = 0; i < tr_lane_count(LLVMTypeOf(vector)); i++)
        if (LLVMGetMaskValue(vector, (int)i) != 0)
            return NULL;
    if (!tr_is_opcode(first, LLVMInsertElement) || !LLVMIsNull(LLVMGetOperand(first, 2)))
        return NULL;
    return LLVMGetOperand(first, 1);
}

static LLVMValueRef widen(LLVMBuilderRef b, LLVMValueRef operand, LLVMTypeRef wide)
{
    LLVMValueRef number = number_of_all(operand);
    if (number == NULL)
        return LLVMBuildFPExt(b, operand, wide, "");
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(wide));
    LLVMValueRef poison = LLVMGetPoison(wide);
    LLVMValueRef first = LLVMBuildFPExt(b, number, LLVMGetElementType(wide), "");
    first = LLVMBuildInsertElement(b, poison, first, LLVMConstNull(i32), "");
    return LLVMBuildShuffleVector(b, first, poison, LLVMConstNull(tr_like(wide, i32)), "");
}

/* A CPU that flushes does so in its conversions, LLVM does not (flushes.c). */
static LLVMValueRef flushed(LLVMBuilderRef b, LLVMValueRef source)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
    bool is_known =
        LLVMIsAConstant(source) != NULL && tr_element_kind(LLVMTypeOf(source)) == LLVMFloatTypeKind;
    if (!is_known || !tr_has_flush_mode(LLVMGetGlobalParent(function)))
        return source;
    return tr_call_intrinsic(b, "llvm.canonicalize", LLVMTypeOf(source), &source, 1);
}

/* Of f16 or f32. */
static LLVMValueRef multiply_add(LLVMBuilderRef b, LLVMValueRef inst, bool has_fused,
                                 bool has_roundings)
{
    LLVMTypeRef type = LLVMTypeOf(inst);
    LLVMContextRef context = LLVMGetTypeContext(type);
    bool is_half = tr_element_kind(type) == LLVMHalfTypeKind;
    LLVMTypeRef wide =
        tr_like(type, is_half ? LLVMFloatTypeInContext(context) : LLVMDoubleTypeInContext(context));
    LLVMTypeRef words = tr_like(type, LLVMIntTypeInContext(context, is_half ? 32 : 64));
    LLVMValueRef operands[3];
    for (unsigned i = 0; i < 3; i++)
        operands[i] = widen(b, flushed(b, LLVMGetOperand(inst, i)), wide);
    bool is_register = is_half && tr_lane_count(type) == LANES;
    LLVMValueRef sum = has_roundings && is_register ? odd_by_rounding(b, operands, words)
                                                    : odd_by_error(b, operands, words, has_fused);
    return LLVMBuildFPTrunc(b, sum, type, "");
}

/* ---- questions for NaN ---- */

static bool is_constant_nan(LLVMValueRef value)
{
    bool is_vector = tr_lane_count(LLVMTypeOf(value)) > 0;
    LLVMValueRef element = !LLVMIsConstant(value) ? NULL
                           : is_vector            ? LLVMGetAggregateElement(value, 0)
                                                  : value;
    LLVMBool loses;
    return element != NULL && LLVMIsAConstantFP(element) != NULL &&
           isnan(LLVMConstRealGetDouble(element, &loses));
}

static bool is_half_fma(LLVMValueRef value)
{
    return tr_calls_intrinsic(value, "llvm.fma") &&
           tr_element_kind(LLVMTypeOf(value)) == LLVMHalfTypeKind;
}

/* Of fma(x ? NaN : p, …) LLVM makes x ? NaN : fma(p, …). Where x asks whether p is NaN, both sides
 * are. */
static bool chooses_in_vain(LLVMValueRef inst)
{
    if (!tr_is_opcode(inst, LLVMSelect) || !is_constant_nan(LLVMGetOperand(inst, 1)) ||
        !is_half_fma(LLVMGetOperand(inst, 2)))
        return false;
    LLVMValueRef fma = LLVMGetOperand(inst, 2);
    LLVMValueRef p = tr_asked_for_nan(LLVMGetOperand(inst, 0));
    return p != NULL && (p == LLVMGetOperand(fma, 0) || p == LLVMGetOperand(fma, 1) ||
                         p == LLVMGetOperand(fma, 2));
}

/* Which NaN it is does not matter to the user. */
static bool takes_any_nan(LLVMValueRef user)
{
    return LLVMIsAFCmpInst(user) != NULL || is_half_fma(user);
}

static LLVMValueRef next_user(LLVMValueRef inst)
{
    LLVMUseRef use = LLVMGetFirstUse(inst);
    while (use != NULL && !takes_any_nan(LLVMGetUser(use)))
        use = LLVMGetNextUse(use);
    return use != NULL ? LLVMGetUser(use) : NULL;
}

static void use_unchosen(LLVMValueRef inst)
{
    for (LLVMValueRef user = next_user(inst); user != NULL; user = next_user(inst))
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(user); i++)
            if (LLVMGetOperand(user, i) == inst)
                LLVMSetOperand(user, i, LLVMGetOperand(inst, 2));
}

/* ---- the steps ---- */

/* What is NaN was NaN before it was converted. NULL: nothing was. */
static LLVMValueRef ask_unconverted(LLVMBuilderRef b, LLVMValueRef inst)
{
    LLVMValueRef value = tr_asked_for_nan(inst);
    if (value == NULL || !tr_is_opcode(value, LLVMFPTrunc))
        return NULL;
    LLVMValueRef source = LLVMGetOperand(value, 0);
    return LLVMBuildFCmp(b, LLVMRealUNO, source, source, "");
}

/* NULL: it stays. */
static LLVMValueRef part(LLVMBuilderRef b, LLVMValueRef inst, bool parts_f32, bool has_roundings)
{
    LLVMTypeKind kind = tr_element_kind(LLVMTypeOf(inst));
    if (is_half_fma(inst) ||
        (kind == LLVMFloatTypeKind && parts_f32 && tr_calls_intrinsic(inst, "llvm.fma")))
        return multiply_add(b, inst, !parts_f32, has_roundings);
    return ask_unconverted(b, inst);
}

void tr_part_multiply_adds(LLVMModuleRef module, bool parts_f32, bool has_roundings)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        TR_FOR_EACH_INSTRUCTION(inst, f)
            if (chooses_in_vain(inst))
                use_unchosen(inst);
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            LLVMPositionBuilderBefore(builder, inst);
            LLVMValueRef parts = part(builder, inst, parts_f32, has_roundings);
            if (parts == NULL)
                continue;
            LLVMReplaceAllUsesWith(inst, parts);
            LLVMInstructionEraseFromParent(inst);
        }
    }
    LLVMDisposeBuilder(builder);
}
