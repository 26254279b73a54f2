/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that run in a mode in which the CPU flushes subnormal sources and results of arithmetic
 * by itself. What the PTX flushes is marked by llvm.canonicalize, since LLVM's passes may make x of
 * x * 1.0, and that flushes nothing. At the end a mark goes where arithmetic is left before it;
 * elsewhere it is a multiplication by 1.
 */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "translator/module/elements.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

#define MODE_KEY   "denormal-fp-math-f32"
#define MODE_VALUE "preserve-sign,preserve-sign"

#define FLAG       "ptxrun.flushes"

void tr_note_flush_mode(LLVMModuleRef module)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    LLVMMetadataRef one = LLVMValueAsMetadata(LLVMConstInt(i32, 1, false));
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, FLAG, strlen(FLAG), one);
}

bool tr_has_flush_mode(LLVMModuleRef module)
{
    return LLVMGetModuleFlag(module, FLAG, strlen(FLAG)) != NULL;
}

void tr_spread_flush_mode(LLVMModuleRef module)
{
    if (!tr_has_flush_mode(module))
        return;
    LLVMAttributeRef mode = LLVMCreateStringAttribute(
        LLVMGetModuleContext(module), MODE_KEY, strlen(MODE_KEY), MODE_VALUE, strlen(MODE_VALUE));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        if (!LLVMIsDeclaration(fn))
            LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mode);
}

static bool is_mark(LLVMValueRef value)
{
    return tr_calls_intrinsic(value, "llvm.canonicalize");
}

/* Instructions of the CPU that flush. */
static bool is_arithmetic(LLVMValueRef value)
{
    if (!LLVMIsAInstruction(value))
        return false;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFDiv:
    case LLVMFPTrunc:
        return true;
    default:
        return tr_calls_intrinsic(value, "llvm.fma") || tr_calls_intrinsic(value, "llvm.sqrt");
    }
}

/* Conversions that give no subnormal. */
static bool is_conversion(LLVMValueRef value)
{
    return LLVMIsASIToFPInst(value) || LLVMIsAUIToFPInst(value) || LLVMIsAFPExtInst(value);
}

static bool is_negation(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMFNeg;
}

/* A number that is normal or zero; of vectors, the one that all elements are. */
static bool is_flushed_constant(LLVMValueRef value)
{
    LLVMBool loses;
    if (LLVMIsAConstantAggregateZero(value))
        return true;
    if (!LLVMIsAConstantFP(value))
        return false;
    double number = LLVMConstRealGetDouble(value, &loses);
    return number == 0 || !(number < 0x1p-126 && number > -0x1p-126);
}

/* Enough for a choice of a choice; phis that wait for each other are not followed. */
#define DEPTH_MAX 4

static bool is_flushed(LLVMValueRef value, unsigned depth)
{
    if (LLVMIsAConstant(value))
        return is_flushed_constant(value);
    if (is_arithmetic(value) || is_conversion(value) || is_mark(value))
        return true;
    if (depth == DEPTH_MAX)
        return false;
    if (is_negation(value) || LLVMIsAFreezeInst(value) || tr_calls_intrinsic(value, "llvm.fabs"))
        return is_flushed(LLVMGetOperand(value, 0), depth + 1);
    if (LLVMIsASelectInst(value))
        return is_flushed(LLVMGetOperand(value, 1), depth + 1) &&
               is_flushed(LLVMGetOperand(value, 2), depth + 1);
    return false;
}

static void replace_mark(LLVMValueRef mark, LLVMValueRef value)
{
    LLVMReplaceAllUsesWith(mark, value);
    LLVMInstructionEraseFromParent(mark);
}

#define NARROW 2 /* floats of a vector that no register has */
#define WIDE   4

static bool is_narrow(LLVMValueRef mark)
{
    LLVMTypeRef type = LLVMTypeOf(mark);
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == NARROW &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMFloatTypeKind;
}

/* LLVM 22 cannot make code of a mark of two floats: four are flushed, of which two are anything. */
static void widen_mark(LLVMBuilderRef b, LLVMValueRef mark)
{
    LLVMValueRef value = LLVMGetOperand(mark, 0);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(value)));
    LLVMTypeRef wide = LLVMVectorType(LLVMGetElementType(LLVMTypeOf(value)), WIDE);
    LLVMValueRef places[WIDE];
    for (unsigned i = 0; i < WIDE; i++)
        places[i] = i < NARROW ? LLVMConstInt(i32, i, false) : LLVMGetPoison(i32);
    LLVMPositionBuilderBefore(b, mark);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(mark));
    LLVMValueRef none = LLVMGetPoison(LLVMTypeOf(value));
    value = LLVMBuildShuffleVector(b, value, none, LLVMConstVector(places, WIDE), "");
    value = tr_call_intrinsic(b, "llvm.canonicalize", wide, &value, 1);
    none = LLVMGetPoison(wide);
    replace_mark(mark, LLVMBuildShuffleVector(b, value, none, LLVMConstVector(places, NARROW), ""));
}

/* Of floats: others are not flushed. */
static bool is_constant_sum(LLVMValueRef value)
{
    if (!tr_calls_intrinsic(value, "llvm.fma") ||
        tr_element_kind(LLVMTypeOf(value)) != LLVMFloatTypeKind)
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (!LLVMIsAConstant(LLVMGetOperand(value, i)))
            return false;
    return true;
}

/* The code generator, too, would take such a sum in place of the CPU. A mark that is left is
 * nothing it knows the value of. */
static void hide_constant(LLVMBuilderRef b, LLVMValueRef sum)
{
    LLVMValueRef first = LLVMGetOperand(sum, 0);
    LLVMPositionBuilderBefore(b, sum);
    LLVMValueRef mark = tr_call_intrinsic(b, "llvm.canonicalize", LLVMTypeOf(first), &first, 1);
    LLVMSetOperand(sum, 0, mark);
    if (is_narrow(mark))
        widen_mark(b, mark);
}

void tr_end_flushes(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn) {
            if (is_constant_sum(inst))
                hide_constant(b, inst);
            if (!is_mark(inst))
                continue;
            if (is_flushed(LLVMGetOperand(inst, 0), 0))
                replace_mark(inst, LLVMGetOperand(inst, 0));
            else if (is_narrow(inst))
                widen_mark(b, inst);
        }
    LLVMDisposeBuilder(b);
}
