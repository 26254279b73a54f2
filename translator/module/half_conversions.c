/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions between f16 and f32 for CPUs without instructions for them: LLVM 22 would call a
 * function for each, vectors lane by lane. Here they become arithmetic on integers, with the
 * results of the instructions: rounded to nearest even, NaN made quiet and cut.
 */
#include <llvm-c/Core.h>

#include "translator/module/elements.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

#define SIGN           0x80000000u
#define INF            0x7f800000u
#define QUIET          0x00400000u
#define CUT_BITS       13          /* of an f32's mantissa */
#define BIAS_STEP      0x38000000u /* what the exponents differ by: 127 - 15 */
#define SMALLEST       0x38800000u /* 2^-14, the smallest normal f16, as f32 */
#define BEYOND         0x47800000u /* 2^16, above all finite f16 */
#define HALF_INF       0x7c00u
#define HALF_QUIET     0x7e00u
#define HALF_INF_MOVED (HALF_INF << CUT_BITS)

/* A sum with 0.5 has its last place where a subnormal f16 has its own. */
#define HALF_UNIT 0x3f000000u

struct conversion {
    LLVMBuilderRef builder;
    LLVMTypeRef words;  /* i32, or a vector of as many as are converted */
    LLVMTypeRef shorts; /* i16 likewise */
    LLVMTypeRef floats;
};

static LLVMValueRef word(const struct conversion *c, uint32_t value)
{
    return tr_number_like(c->words, value);
}

static LLVMValueRef and_word(const struct conversion *c, LLVMValueRef value, uint32_t mask)
{
    return LLVMBuildAnd(c->builder, value, word(c, mask), "");
}

static LLVMValueRef add_word(const struct conversion *c, LLVMValueRef value, uint32_t addend)
{
    return LLVMBuildAdd(c->builder, value, word(c, addend), "");
}

static LLVMValueRef shift_right(const struct conversion *c, LLVMValueRef value, uint32_t count)
{
    return LLVMBuildLShr(c->builder, value, word(c, count), "");
}

static LLVMValueRef shift_left(const struct conversion *c, LLVMValueRef value, uint32_t count)
{
    return LLVMBuildShl(c->builder, value, word(c, count), "");
}

/* value, but otherwise where the first one is above the limit. Neither has the sign bit set. */
static LLVMValueRef unless_above(const struct conversion *c, LLVMValueRef first, uint32_t limit,
                                 LLVMValueRef otherwise, LLVMValueRef value)
{
    LLVMValueRef is_above = LLVMBuildICmp(c->builder, LLVMIntSGT, first, word(c, limit), "");
    return LLVMBuildSelect(c->builder, is_above, otherwise, value, "");
}

static LLVMValueRef as_floats(const struct conversion *c, LLVMValueRef bits)
{
    return LLVMBuildBitCast(c->builder, bits, c->floats, "");
}

static LLVMValueRef as_words(const struct conversion *c, LLVMValueRef floats)
{
    return LLVMBuildBitCast(c->builder, floats, c->words, "");
}

/* The mantissa moves to its place in an f32. Subnormals: behind the exponent of 2^-14 it counts as
 * a fraction, and 2^-14 is taken off again. */
static LLVMValueRef extend(const struct conversion *c, LLVMValueRef half)
{
    LLVMBuilderRef b = c->builder;
    LLVMValueRef bits = LLVMBuildBitCast(b, half, c->shorts, "");
    bits = LLVMBuildZExt(b, bits, c->words, "");
    LLVMValueRef sign = shift_left(c, and_word(c, bits, 0x8000), 16);
    LLVMValueRef moved = shift_left(c, and_word(c, bits, 0x7fff), CUT_BITS);
    LLVMValueRef normal = add_word(c, moved, BIAS_STEP);
    LLVMValueRef fraction = as_floats(c, add_word(c, moved, SMALLEST));
    LLVMValueRef smallest = as_floats(c, word(c, SMALLEST));
    LLVMValueRef subnormal = as_words(c, LLVMBuildFSub(b, fraction, smallest, ""));
    LLVMValueRef infinite = LLVMBuildOr(b, moved, word(c, INF), "");
    LLVMValueRef quiet = LLVMBuildOr(b, moved, word(c, INF | QUIET), "");
    LLVMValueRef result = unless_above(c, moved, (1u << (CUT_BITS + 10)) - 1, normal, subnormal);
    result = unless_above(c, moved, HALF_INF_MOVED - 1, infinite, result);
    result = unless_above(c, moved, HALF_INF_MOVED, quiet, result);
    return as_floats(c, LLVMBuildOr(b, result, sign, ""));
}

/* Adding half a place less one, and one more to odd values, carries where it has to be rounded up.
 * Subnormals: the sum with 0.5 is rounded there by the addition. */
static LLVMValueRef truncate(const struct conversion *c, LLVMValueRef floats)
{
    LLVMBuilderRef b = c->builder;
    LLVMValueRef bits = as_words(c, floats);
    LLVMValueRef sign = shift_right(c, and_word(c, bits, SIGN), 16);
    LLVMValueRef magnitude = and_word(c, bits, ~SIGN);
    LLVMValueRef odd = and_word(c, shift_right(c, magnitude, CUT_BITS), 1);
    LLVMValueRef biased = add_word(c, magnitude, (1u << (CUT_BITS - 1)) - 1 - BIAS_STEP);
    LLVMValueRef normal = shift_right(c, LLVMBuildAdd(b, biased, odd, ""), CUT_BITS);
    LLVMValueRef unit = as_floats(c, word(c, HALF_UNIT));
    LLVMValueRef sum = LLVMBuildFAdd(b, as_floats(c, magnitude), unit, "");
    LLVMValueRef subnormal = add_word(c, as_words(c, sum), -HALF_UNIT);
    LLVMValueRef cut = and_word(c, shift_right(c, magnitude, CUT_BITS), 0x3ff);
    LLVMValueRef quiet = LLVMBuildOr(b, cut, word(c, HALF_QUIET), "");
    LLVMValueRef result = unless_above(c, magnitude, SMALLEST - 1, normal, subnormal);
    result = unless_above(c, magnitude, BEYOND - 1, word(c, HALF_INF), result);
    result = unless_above(c, magnitude, INF, quiet, result);
    result = LLVMBuildOr(b, result, sign, "");
    return LLVMBuildTrunc(b, result, c->shorts, "");
}

/* Whether a number is NaN, without converting it. NULL: the instruction asks something else. */
static LLVMValueRef ask_for_nan(LLVMBuilderRef builder, LLVMValueRef inst)
{
    LLVMValueRef value = tr_asked_for_nan(inst);
    if (value == NULL || tr_element_kind(LLVMTypeOf(value)) != LLVMHalfTypeKind)
        return NULL;
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMTypeRef shorts = tr_like(type, LLVMInt16TypeInContext(LLVMGetTypeContext(type)));
    LLVMPositionBuilderBefore(builder, inst);
    LLVMValueRef bits = LLVMBuildBitCast(builder, value, shorts, "");
    bits = LLVMBuildAnd(builder, bits, tr_number_like(shorts, 0x7fff), "");
    return LLVMBuildICmp(builder, LLVMIntSGT, bits, tr_number_like(shorts, HALF_INF), "");
}

/* NULL: the instruction converts something else. */
static LLVMValueRef convert(LLVMBuilderRef builder, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode != LLVMFPExt && opcode != LLVMFPTrunc)
        return NULL;
    LLVMTypeRef from = LLVMTypeOf(LLVMGetOperand(inst, 0));
    LLVMTypeRef to = LLVMTypeOf(inst);
    LLVMTypeRef half = opcode == LLVMFPExt ? from : to;
    LLVMTypeRef wide = opcode == LLVMFPExt ? to : from;
    if (tr_element_kind(half) != LLVMHalfTypeKind || tr_element_kind(wide) != LLVMFloatTypeKind)
        return NULL;
    LLVMContextRef context = LLVMGetTypeContext(from);
    const struct conversion c = {
        .builder = builder,
        .words = tr_like(from, LLVMInt32TypeInContext(context)),
        .shorts = tr_like(from, LLVMInt16TypeInContext(context)),
        .floats = wide,
    };
    LLVMPositionBuilderBefore(builder, inst);
    if (opcode == LLVMFPExt)
        return extend(&c, LLVMGetOperand(inst, 0));
    return LLVMBuildBitCast(builder, truncate(&c, LLVMGetOperand(inst, 0)), to, "");
}

void tr_convert_halves(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            LLVMValueRef result = convert(builder, inst);
            result = result != NULL ? result : ask_for_nan(builder, inst);
            if (result == NULL)
                continue;
            LLVMReplaceAllUsesWith(inst, result);
            LLVMInstructionEraseFromParent(inst);
        }
    LLVMDisposeBuilder(builder);
}
