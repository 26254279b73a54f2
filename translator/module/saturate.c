/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM 22 does llvm.fptosi.sat and llvm.fptoui.sat of vectors lane by lane, eight instructions for
 * each: of 224 instructions of PTX with 15 of them it made 160 KB of code in half a second. Here
 * they become a conversion of the vector, and comparisons that pick the lanes it has no result for.
 */
#include <math.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

#define FLOAT_DIGITS  24
#define DOUBLE_DIGITS 53

struct saturation {
    LLVMBuilderRef builder;
    LLVMValueRef from;
    LLVMTypeRef type; /* of the result: vectors */
    bool is_signed;
    unsigned bits;   /* of the result's elements */
    unsigned digits; /* of the operand's */
};

/* Whether the call is one of these. */
static bool find_saturation(LLVMValueRef call, struct saturation *s)
{
    static const char to_signed[] = "llvm.fptosi.sat.v";
    static const char to_unsigned[] = "llvm.fptoui.sat.v";
    size_t len;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const char *name = LLVMIsAFunction(callee) != NULL ? LLVMGetValueName2(callee, &len) : "";
    s->is_signed = strncmp(name, to_signed, sizeof to_signed - 1) == 0;
    if (!s->is_signed && strncmp(name, to_unsigned, sizeof to_unsigned - 1) != 0)
        return false;
    s->from = LLVMGetOperand(call, 0);
    s->type = LLVMTypeOf(call);
    s->bits = LLVMGetIntTypeWidth(LLVMGetElementType(s->type));
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetElementType(LLVMTypeOf(s->from)));
    s->digits = kind == LLVMFloatTypeKind ? FLOAT_DIGITS : DOUBLE_DIGITS;
    return (kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind) && s->bits >= 8 &&
           s->bits <= 64;
}

static LLVMValueRef splat(LLVMTypeRef type, LLVMValueRef element)
{
    LLVMValueRef lanes[64];
    unsigned count = LLVMGetVectorSize(type);
    for (unsigned i = 0; i < count; i++)
        lanes[i] = element;
    return LLVMConstVector(lanes, count);
}

static LLVMValueRef number(const struct saturation *s, double value)
{
    LLVMTypeRef type = LLVMTypeOf(s->from);
    return splat(type, LLVMConstReal(LLVMGetElementType(type), value));
}

/* The value where the comparison with the limit is true, otherwise what there is. */
static LLVMValueRef pick(const struct saturation *s, LLVMRealPredicate predicate,
                         LLVMValueRef limit, LLVMValueRef value, LLVMValueRef otherwise)
{
    LLVMValueRef is_beyond = LLVMBuildFCmp(s->builder, predicate, s->from, limit, "");
    return LLVMBuildSelect(s->builder, is_beyond, value, otherwise, "");
}

static LLVMValueRef saturate(const struct saturation *s)
{
    unsigned magnitude = s->bits - s->is_signed;
    uint64_t all = UINT64_MAX >> (64 - magnitude);
    /* The largest number that the conversion has a result for. */
    double most = ldexp(1, (int)magnitude) -
                  (magnitude > s->digits ? ldexp(1, (int)(magnitude - s->digits)) : 1);
    double least = s->is_signed ? -ldexp(1, (int)magnitude) : 0;
    LLVMTypeRef element = LLVMGetElementType(s->type);
    LLVMValueRef highest = splat(s->type, LLVMConstInt(element, all, false));
    LLVMValueRef lowest = splat(s->type, LLVMConstInt(element, s->is_signed ? ~all : 0, false));
    LLVMValueRef zero = LLVMConstNull(s->type);
    LLVMValueRef result = s->is_signed ? LLVMBuildFPToSI(s->builder, s->from, s->type, "")
                                       : LLVMBuildFPToUI(s->builder, s->from, s->type, "");
    result = pick(s, LLVMRealULT, number(s, least), lowest, result);
    result = pick(s, LLVMRealOGT, number(s, most), highest, result);
    return s->is_signed ? pick(s, LLVMRealUNO, s->from, zero, result) : result;
}

void tr_saturate_vectors(LLVMModuleRef module)
{
    struct saturation s = {.builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module))};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            if (LLVMIsACallInst(inst) == NULL || !find_saturation(inst, &s))
                continue;
            LLVMPositionBuilderBefore(s.builder, inst);
            LLVMReplaceAllUsesWith(inst, saturate(&s));
            LLVMInstructionEraseFromParent(inst);
        }
    LLVMDisposeBuilder(s.builder);
}
