/* SPDX-License-Identifier: Apache-2.0
 *
 * Quotients by constants, which compilers write as a product with the inverse, of which the upper
 * bits are taken (Granlund and Montgomery, Division by invariant integers using multiplication):
 * `i / 100` is `i * 1374389535 >> 37`; or, of a signed number and a power of two, as a shift of
 * what has been moved towards 0: `i / 128` is `(i + ((unsigned)(i >> 31) >> 25)) >> 7`. They become
 * divisions again, so that everything that asks for quotients of places finds them; the code
 * generator multiplies and shifts in the end.
 */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* Operations that make a quotient, at most. */
#define DEPTH_MAX 6

/* dividend * factor >> shift, rounded down. */
struct product {
    LLVMValueRef dividend; /* i32; NULL: it is none */
    unsigned bits;         /* the dividend has no more */
    bool is_signed;        /* the dividend may be negative, and so the product */
    __int128 factor;
    unsigned shift;
};

static const struct product none = {.dividend = NULL};

static unsigned width_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

static bool find_shift(LLVMValueRef inst, uint64_t *shift)
{
    if ((!tr_is_opcode(inst, LLVMLShr) && !tr_is_opcode(inst, LLVMAShr)) || width_of(inst) > 64 ||
        LLVMIsAConstantInt(LLVMGetOperand(inst, 1)) == NULL)
        return false;
    *shift = LLVMConstIntGetZExtValue(LLVMGetOperand(inst, 1));
    return *shift < 64;
}

/* i64: a product whose bits below `shift` have been cut off. */
static struct product long_product(LLVMValueRef value)
{
    uint64_t shift = 0;
    if (!find_shift(value, &shift) || shift < 32 || width_of(value) != 64)
        return none;
    LLVMValueRef product = LLVMGetOperand(value, 0);
    if (!tr_is_opcode(product, LLVMMul) || LLVMIsAConstantInt(LLVMGetOperand(product, 1)) == NULL)
        return none;
    LLVMValueRef wide = LLVMGetOperand(product, 0);
    bool is_signed = tr_is_opcode(wide, LLVMSExt);
    if ((!is_signed && !tr_is_opcode(wide, LLVMZExt)) || width_of(LLVMGetOperand(wide, 0)) != 32)
        return none;
    return (struct product){.dividend = LLVMGetOperand(wide, 0),
                            .bits = !is_signed && !LLVMGetNNeg(wide) ? 32 : 31,
                            .is_signed = is_signed,
                            .factor = LLVMConstIntGetSExtValue(LLVMGetOperand(product, 1)),
                            .shift = (unsigned)shift};
}

/* Whether it has 31 bits for all dividends, as a number that is not negative. */
static bool is_short(const struct product *product)
{
    __int128 most = ((__int128)1 << product->bits) - 1;
    return product->factor > 0 && (most * product->factor) >> product->shift <= INT32_MAX;
}

static struct product short_product(LLVMValueRef value, int depth);

/* The upper half, and what that leaves of a factor of 33 bits, which is the dividend once more. */
static struct product sum_of(LLVMValueRef sum, int depth)
{
    for (unsigned i = 0; i < 2; i++) {
        struct product product = short_product(LLVMGetOperand(sum, i), depth - 1);
        if (product.dividend == NULL || product.dividend != LLVMGetOperand(sum, 1 - i) ||
            product.shift != 32 || product.factor >= 0)
            continue;
        product.factor += (__int128)1 << 32;
        return product;
    }
    return none;
}

/* i32 */
static struct product short_product(LLVMValueRef value, int depth)
{
    uint64_t shift = 0;
    if (depth == 0 || LLVMIsAInstruction(value) == NULL || width_of(value) != 32)
        return none;
    if (tr_is_opcode(value, LLVMTrunc))
        return long_product(LLVMGetOperand(value, 0));
    if (tr_is_opcode(value, LLVMAdd))
        return sum_of(value, depth);
    if (!find_shift(value, &shift))
        return none;
    struct product product = short_product(LLVMGetOperand(value, 0), depth - 1);
    bool is_whole = product.is_signed ? tr_is_opcode(value, LLVMAShr) : is_short(&product);
    if (product.dividend == NULL || !is_whole)
        return none;
    product.shift += (unsigned)shift;
    return product;
}

/* The sign of a number, which is added to a quotient that was rounded down: 0 if it is never
 * negative. */
static bool is_sign_of(LLVMValueRef sign, LLVMValueRef number)
{
    uint64_t shift = 0;
    return tr_is_opcode(sign, LLVMLShr) && find_shift(sign, &shift) && shift == 31 &&
           LLVMGetOperand(sign, 0) == number;
}

/* The number that the sum's first part is of, before the last shift. */
static LLVMValueRef before_shift(LLVMValueRef value)
{
    uint64_t shift = 0;
    return find_shift(value, &shift) ? LLVMGetOperand(value, 0) : value;
}

/* A quotient that is rounded towards 0, and so with a sum at its end if it is signed. */
static struct product rounded_product(LLVMValueRef value)
{
    if (width_of(value) == 64) {
        struct product product = long_product(value);
        return product.is_signed || product.factor <= 0 ? none : product;
    }
    if (tr_is_opcode(value, LLVMAdd)) {
        for (unsigned i = 0; i < 2; i++) {
            LLVMValueRef part = LLVMGetOperand(value, i);
            struct product product = short_product(part, DEPTH_MAX);
            if (product.dividend != NULL && product.factor > 0 &&
                is_sign_of(LLVMGetOperand(value, 1 - i), before_shift(part)))
                return product;
        }
        return none;
    }
    struct product product = short_product(value, DEPTH_MAX);
    return product.is_signed || !is_short(&product) ? none : product;
}

/* The divisor whose quotients the product gives for all dividends; 0: there is none. */
static uint64_t divisor_of(const struct product *product)
{
    __int128 one = (__int128)1 << product->shift;
    if (product->shift < product->bits || product->factor <= 0 || product->factor > UINT32_MAX)
        return 0;
    __int128 divisor = (one + product->factor - 1) / product->factor;
    __int128 error = product->factor * divisor - one;
    bool is_right = divisor > 1 && divisor <= INT32_MAX &&
                    error <= (__int128)1 << (product->shift - product->bits) &&
                    (error > 0 || !product->is_signed);
    return is_right ? (uint64_t)divisor : 0;
}

/* ---- powers of two ---- */

/* The i32 that the sum moves towards 0 by up to 2 to the power of *digits, less 1, if it is
 * negative; NULL: it does something else. 2 to the power of 31 is no i32 that could divide. */
static LLVMValueRef moved_towards_0(LLVMValueRef sum, unsigned *digits)
{
    for (unsigned i = 0; i < 2 && tr_is_opcode(sum, LLVMAdd) && width_of(sum) == 32; i++) {
        LLVMValueRef number = LLVMGetOperand(sum, 1 - i);
        LLVMValueRef more = LLVMGetOperand(sum, i);
        uint64_t shifts[2] = {0, 0};
        if (!tr_is_opcode(more, LLVMLShr) || !find_shift(more, &shifts[0]))
            continue;
        LLVMValueRef sign = LLVMGetOperand(more, 0);
        if (!tr_is_opcode(sign, LLVMAShr) || !find_shift(sign, &shifts[1]) || shifts[1] != 31 ||
            LLVMGetOperand(sign, 0) != number || shifts[0] < 2 || shifts[0] > 31)
            continue;
        *digits = 32 - (unsigned)shifts[0];
        return number;
    }
    return NULL;
}

/* A quotient by a power of two, or that times the power. */
static LLVMValueRef divide_by_power(LLVMBuilderRef builder, LLVMValueRef value)
{
    uint64_t shift = 0;
    unsigned digits = 0;
    bool is_shift = tr_is_opcode(value, LLVMAShr) && find_shift(value, &shift);
    if (!is_shift && !tr_is_opcode(value, LLVMAnd))
        return NULL;
    LLVMValueRef number = moved_towards_0(LLVMGetOperand(value, 0), &digits);
    LLVMValueRef mask = LLVMGetOperand(value, 1);
    if (number == NULL || (is_shift && shift != digits) ||
        (!is_shift && (LLVMIsAConstantInt(mask) == NULL ||
                       LLVMConstIntGetSExtValue(mask) != -(INT64_C(1) << digits))))
        return NULL;
    LLVMTypeRef type = LLVMTypeOf(number);
    LLVMValueRef by = LLVMConstInt(type, UINT64_C(1) << digits, false);
    LLVMValueRef quotient = LLVMBuildSDiv(builder, number, by, "");
    return is_shift ? quotient
                    : LLVMBuildShl(builder, quotient, LLVMConstInt(type, digits, false), "");
}

/* ---- all of them ---- */

/* Divides in place of what may be a quotient. */
static void divide(LLVMBuilderRef builder, LLVMValueRef value, bool has_powers)
{
    LLVMPositionBuilderBefore(builder, value);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(value));
    LLVMValueRef by_power = has_powers ? divide_by_power(builder, value) : NULL;
    if (by_power != NULL) {
        LLVMReplaceAllUsesWith(value, by_power);
        return;
    }
    struct product product = rounded_product(value);
    uint64_t divisor = product.dividend == NULL ? 0 : divisor_of(&product);
    if (divisor == 0)
        return;
    LLVMValueRef by = LLVMConstInt(LLVMTypeOf(product.dividend), divisor, false);
    LLVMValueRef quotient = product.is_signed ? LLVMBuildSDiv(builder, product.dividend, by, "")
                                              : LLVMBuildUDiv(builder, product.dividend, by, "");
    if (width_of(value) == 64) {
        quotient = LLVMBuildZExt(builder, quotient, LLVMTypeOf(value), "");
        LLVMSetNNeg(quotient, true);
    }
    LLVMReplaceAllUsesWith(value, quotient);
}

/* What quotients are made of. */
static bool is_part(LLVMValueRef inst)
{
    return tr_is_opcode(inst, LLVMMul) || tr_is_opcode(inst, LLVMLShr) ||
           tr_is_opcode(inst, LLVMAShr) || tr_is_opcode(inst, LLVMAdd) ||
           tr_is_opcode(inst, LLVMAnd) || tr_is_opcode(inst, LLVMTrunc);
}

/* The last operation of a quotient comes last, and the others have no users then. */
static void divide_in(LLVMBuilderRef builder, LLVMBasicBlockRef block, bool has_powers)
{
    LLVMValueRef inst = LLVMGetLastInstruction(block);
    while (inst != NULL) {
        LLVMValueRef before = LLVMGetPreviousInstruction(inst);
        if (is_part(inst) && LLVMGetFirstUse(inst) != NULL)
            divide(builder, inst, has_powers);
        if (is_part(inst) && LLVMGetFirstUse(inst) == NULL)
            LLVMInstructionEraseFromParent(inst);
        inst = before;
    }
}

void tr_take_quotients_back(LLVMModuleRef module, bool has_powers)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            divide_in(builder, block, has_powers);
    LLVMDisposeBuilder(builder);
}
