/* SPDX-License-Identifier: Apache-2.0
 *
 * Random expressions over an iteration's variables.
 */
#include "tests/vector/random_iteration.h"

#include <string.h>

#include <llvm-c/Core.h>

/* ---- variables ---- */

static uint32_t pick_int(struct random_generator *g)
{
    bool is_own = random_roll(g, 100) < g->own_share;
    return is_own ? random_roll(g, RANDOM_OWN)
                  : RANDOM_OWN + random_roll(g, RANDOM_INTS - RANDOM_OWN);
}

LLVMValueRef random_read(struct random_generator *g)
{
    return LLVMBuildLoad2(g->builder, g->i32, g->ints[pick_int(g)], "");
}

static LLVMValueRef read_long(struct random_generator *g)
{
    return LLVMBuildLoad2(g->builder, g->i64, g->longs[random_roll(g, RANDOM_LONGS)], "");
}

static LLVMValueRef read_float(struct random_generator *g)
{
    return LLVMBuildLoad2(g->builder, g->f32, g->floats[random_roll(g, RANDOM_FLOATS)], "");
}

/* ---- conditions ---- */

static LLVMValueRef compare_floats(struct random_generator *g)
{
    static const LLVMRealPredicate predicates[] = {LLVMRealOLT, LLVMRealOGE, LLVMRealUEQ,
                                                   LLVMRealONE};
    LLVMValueRef other =
        random_roll(g, 2) ? read_float(g) : LLVMConstReal(g->f32, random_roll(g, 5));
    return LLVMBuildFCmp(g->builder, predicates[random_roll(g, 4)], read_float(g), other, "");
}

static LLVMValueRef compare_longs(struct random_generator *g)
{
    static const LLVMIntPredicate predicates[] = {LLVMIntEQ, LLVMIntULT, LLVMIntSLT};
    LLVMIntPredicate predicate = predicates[random_roll(g, 3)];
    LLVMValueRef value = read_long(g);
    LLVMValueRef other =
        random_roll(g, 2) ? read_long(g) : LLVMConstInt(g->i64, random_roll(g, 20), false);
    return LLVMBuildICmp(g->builder, predicate, value, other, "");
}

static LLVMValueRef compare_ints(struct random_generator *g)
{
    static const LLVMIntPredicate predicates[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT, LLVMIntUGT,
                                                  LLVMIntULE, LLVMIntSLT, LLVMIntSGT, LLVMIntSGE};
    LLVMIntPredicate predicate = predicates[random_roll(g, 8)];
    LLVMValueRef value = random_read(g);
    if (random_roll(g, 2)) /* often both ways */
        value = LLVMBuildAnd(g->builder, value, random_number(g, 1 + random_roll(g, 7)), "");
    LLVMValueRef other =
        random_roll(g, 3) == 0 ? random_read(g) : random_number(g, random_roll(g, 9));
    return LLVMBuildICmp(g->builder, predicate, value, other, "");
}

LLVMValueRef random_condition(struct random_generator *g)
{
    uint32_t kind = random_roll(g, 8);
    LLVMValueRef condition = kind == 0   ? compare_floats(g)
                             : kind == 1 ? compare_longs(g)
                                         : compare_ints(g);
    switch (random_roll(g, 11)) {
    case 4:
        return LLVMBuildOr(g->builder, condition,
                           LLVMBuildLoad2(g->builder, g->i1, g->flags[0], ""), "");
    case 0:
        return LLVMBuildAnd(g->builder, condition, compare_ints(g), "");
    case 1:
        return LLVMBuildOr(g->builder, condition, compare_ints(g), "");
    case 2: /* logical and */
        return LLVMBuildSelect(g->builder, condition, compare_ints(g),
                               LLVMConstInt(g->i1, 0, false), "");
    case 3:
        return LLVMBuildNot(g->builder, condition, "");
    default:
        return condition;
    }
}

/* ---- integers ---- */

/* i32: of all threads, or of one; small, or anything. Neither 0 nor -1. */
static LLVMValueRef random_divisor(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    static const enum random_parameter shared[] = {N, NX, Y};
    LLVMValueRef number =
        random_roll(g, 2) ? g->parameters[shared[random_roll(g, 3)]] : random_read(g);
    switch (random_roll(g, 4)) {
    case 0: /* has any sign, and ends in 10 */
        number = LLVMBuildOr(b, LLVMBuildMul(b, number, random_number(g, 0x01234567), ""),
                             random_number(g, 3), "");
        return LLVMBuildXor(b, number, random_number(g, 1), "");
    case 1:
        return LLVMBuildSub(b, random_number(g, (uint32_t)-2),
                            LLVMBuildAnd(b, number, random_number(g, 255), ""), "");
    default:
        number = LLVMBuildAnd(b, number, random_number(g, random_roll(g, 2) ? 15 : 1023), "");
        return LLVMBuildAdd(b, number, random_number(g, 1), "");
    }
}

static LLVMValueRef divide(struct random_generator *g, LLVMValueRef value)
{
    static const LLVMOpcode opcodes[] = {LLVMUDiv, LLVMURem, LLVMSDiv, LLVMSRem};
    return LLVMBuildBinOp(g->builder, opcodes[random_roll(g, 4)], value, random_divisor(g), "");
}

/* Often of numbers that have few bits more than 32, or all 64. */
static LLVMValueRef divide_long(struct random_generator *g, LLVMValueRef wide)
{
    static const LLVMOpcode opcodes[] = {LLVMUDiv, LLVMURem, LLVMSDiv, LLVMSRem};
    LLVMBuilderRef b = g->builder;
    LLVMValueRef bits = LLVMConstInt(g->i64, random_roll(g, 2) ? 0 : random_roll(g, 32), false);
    LLVMValueRef divisor = LLVMBuildSExt(b, random_divisor(g), g->i64, "");
    return LLVMBuildBinOp(b, opcodes[random_roll(g, 4)], LLVMBuildShl(b, wide, bits, ""),
                          random_roll(g, 4) ? divisor : LLVMBuildShl(b, divisor, bits, ""), "");
}

/* Through another width and back. */
static LLVMValueRef recast(struct random_generator *g, LLVMValueRef value)
{
    LLVMTypeRef narrow = random_roll(g, 2) ? g->i8 : g->i16;
    if (random_roll(g, 3) == 0) {
        LLVMValueRef wide = random_roll(g, 2) ? LLVMBuildSExt(g->builder, value, g->i64, "")
                                              : LLVMBuildZExt(g->builder, value, g->i64, "");
        LLVMValueRef bits = LLVMConstInt(g->i64, random_roll(g, 24), false);
        wide = LLVMBuildAdd(g->builder, wide, read_long(g), "");
        wide = random_roll(g, 2) ? divide_long(g, wide) : LLVMBuildLShr(g->builder, wide, bits, "");
        return LLVMBuildTrunc(g->builder, wide, g->i32, "");
    }
    value = LLVMBuildTrunc(g->builder, value, narrow, "");
    return random_roll(g, 2) ? LLVMBuildSExt(g->builder, value, g->i32, "")
                             : LLVMBuildZExt(g->builder, value, g->i32, "");
}

static LLVMValueRef shift(struct random_generator *g, LLVMValueRef value)
{
    static const LLVMOpcode opcodes[] = {LLVMShl, LLVMLShr, LLVMAShr};
    LLVMOpcode opcode = opcodes[random_roll(g, 3)];
    LLVMValueRef bits = random_roll(g, 2)
                            ? random_number(g, random_roll(g, 32))
                            : LLVMBuildAnd(g->builder, random_read(g), random_number(g, 31), "");
    return LLVMBuildBinOp(g->builder, opcode, value, bits, "");
}

static LLVMValueRef call_intrinsic(struct random_generator *g, LLVMValueRef value)
{
    static const char *const names[] = {"llvm.umin", "llvm.smax", "llvm.uadd.sat", "llvm.ctpop",
                                        "llvm.bitreverse"};
    uint32_t which = random_roll(g, 6);
    LLVMValueRef arguments[3] = {value, random_read(g), random_number(g, random_roll(g, 32))};
    if (which < 5)
        return random_intrinsic(g, names[which], g->i32, arguments, which < 3 ? 2 : 1);
    return random_intrinsic(g, "llvm.fshl", g->i32, arguments, 3);
}

static LLVMValueRef add_overflow(struct random_generator *g, LLVMValueRef value)
{
    LLVMValueRef arguments[2] = {value, random_read(g)};
    LLVMValueRef pair = random_intrinsic(g, "llvm.uadd.with.overflow", g->i32, arguments, 2);
    LLVMValueRef sum = LLVMBuildExtractValue(g->builder, pair, 0, "");
    LLVMValueRef carry = LLVMBuildExtractValue(g->builder, pair, 1, "");
    return LLVMBuildAdd(g->builder, sum, LLVMBuildZExt(g->builder, carry, g->i32, ""), "");
}

static LLVMValueRef of_float(struct random_generator *g)
{
    LLVMValueRef value = read_float(g);
    unsigned id = LLVMLookupIntrinsicID("llvm.fptosi.sat", 15);
    LLVMTypeRef types[] = {g->i32, g->f32};
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, types, 2);
    return LLVMBuildCall2(g->builder, LLVMGlobalGetValueType(function), function, &value, 1, "");
}

static LLVMValueRef call_outside(struct random_generator *g, LLVMValueRef value)
{
    const char *name = random_roll(g, 2) ? "outside" : "outside_pure";
    return random_call(g, name, g->i32, &g->i32, &value, 1);
}

/* Of a number of turns, as of a loop that is unrolled: digits of it, taken from what it is a
 * quotient of, and the whole. */
static LLVMValueRef digits_and_quotient(struct random_generator *g, LLVMValueRef part)
{
    LLVMBuilderRef b = g->builder;
    LLVMTypeRef type = LLVMTypeOf(part);
    uint32_t shift = 1 + random_roll(g, 6);
    LLVMValueRef mask = LLVMConstInt(type, (uint64_t)(1 + random_roll(g, 7)) << shift, false);
    part = random_roll(g, 2) ? LLVMBuildXor(b, part, LLVMConstAllOnes(type), "")
                             : LLVMBuildAdd(b, part, LLVMConstInt(type, 37, false), "");
    LLVMValueRef digits = LLVMBuildAnd(b, part, mask, "");
    LLVMValueRef quotient = LLVMBuildLShr(b, part, LLVMConstInt(type, shift, false), "");
    return LLVMBuildXor(b, digits, quotient, "");
}

/* Shifted, cut, extended and shortened, as often as addresses are. */
LLVMValueRef random_part(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef part = random_roll(g, 4) ? g->parameters[X] : g->thread;
    if (random_roll(g, 3) == 0) {
        LLVMValueRef rest = LLVMBuildShl(b, random_read(g), random_number(g, 7), "");
        part = random_roll(g, 2) ? LLVMBuildAdd(b, rest, part, "") : LLVMBuildOr(b, part, rest, "");
    }
    for (uint32_t left = 1 + random_roll(g, 3); left > 0; left--) {
        LLVMTypeRef type = LLVMTypeOf(part);
        LLVMValueRef bits = LLVMConstInt(type, 1 + random_roll(g, 6), false);
        LLVMValueRef low = LLVMConstInt(type, (UINT64_C(1) << (1 + random_roll(g, 7))) - 1, false);
        switch (random_roll(g, 10)) {
        case 0:
            part = LLVMBuildShl(b, part, bits, "");
            break;
        case 1:
        case 2:
            part = LLVMBuildLShr(b, part, bits, "");
            break;
        case 3:
            part = LLVMBuildAnd(b, part, LLVMBuildNot(b, low, ""), "");
            break;
        case 4:
            part = LLVMBuildAdd(b, LLVMBuildAnd(b, part, LLVMBuildNot(b, low, ""), ""), bits, "");
            break;
        case 5:
            part = type == g->i32 ? LLVMBuildZExt(b, part, g->i64, "") : part;
            break;
        case 6:
            part = LLVMBuildTrunc(b, part, random_roll(g, 2) ? g->i8 : g->i16, "");
            part = random_roll(g, 2) ? LLVMBuildZExt(b, part, g->i32, "")
                                     : LLVMBuildSExt(b, part, g->i32, "");
            break;
        case 7:
            part = digits_and_quotient(g, part);
            break;
        default:
            part = LLVMBuildAnd(b, part, low, "");
        }
    }
    return LLVMBuildIntCast2(b, part, g->i32, false, "");
}

static LLVMValueRef simple_expression(struct random_generator *g, LLVMValueRef value)
{
    LLVMBuilderRef b = g->builder;
    switch (random_roll(g, 9)) {
    case 0:
    case 1:
        return LLVMBuildAdd(b, value, random_number(g, random_roll(g, 5)), "");
    case 2:
        return LLVMBuildAdd(b, value, random_read(g), "");
    case 3:
        return LLVMBuildSub(b, value, random_read(g), "");
    case 4:
        return LLVMBuildMul(b, value, random_number(g, random_roll(g, 9)), "");
    case 5:
        return LLVMBuildXor(b, value, random_number(g, random_roll(g, 2) ? UINT32_MAX : 5), "");
    case 6:
        return LLVMBuildAnd(b, value, random_number(g, 15), "");
    case 7:
        return LLVMBuildMul(b, value, random_read(g), "");
    default:
        return random_number(g, random_roll(g, 6));
    }
}

static LLVMValueRef int_expression(struct random_generator *g)
{
    if (g->takes_apart && random_roll(g, 5) == 0)
        return random_part(g);
    LLVMValueRef value = random_read(g);
    switch (random_roll(g, 24)) {
    case 14:
    case 15:
        return random_read_other(g);
    case 0:
        return divide(g, value);
    case 1:
        return shift(g, value);
    case 2:
        return LLVMBuildSelect(g->builder, random_condition(g), value, random_read(g), "");
    case 3:
        return LLVMBuildZExt(g->builder, random_condition(g), g->i32, "");
    case 4:
        return recast(g, value);
    case 5:
        return call_intrinsic(g, value);
    case 6:
        return add_overflow(g, value);
    case 7:
        return of_float(g);
    case 8:
        return LLVMBuildFreeze(g->builder, value, "");
    case 9:
        return g->is_plain || random_roll(g, 3) ? value : call_outside(g, value);
    case 10:
    case 11:
    case 12:
    case 13:
        return random_load(g);
    default:
        return simple_expression(g, value);
    }
}

/* ---- others ---- */

static LLVMValueRef long_expression(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef value = read_long(g);
    LLVMValueRef narrow = random_read(g);
    LLVMValueRef other = random_roll(g, 2) ? LLVMBuildSExt(b, narrow, g->i64, "")
                                           : LLVMBuildZExt(b, narrow, g->i64, "");
    switch (random_roll(g, 5)) {
    case 0:
        return LLVMBuildAdd(b, value, other, "");
    case 1:
        return LLVMBuildMul(b, other, LLVMConstInt(g->i64, random_roll(g, 9), false), "");
    case 2:
        return LLVMBuildSub(b, other, value, "");
    case 3:
        return LLVMBuildXor(b, value, other, "");
    default:
        return other;
    }
}

/* A NaN's bits may differ between instructions that mean the same. */
static LLVMValueRef without_nan(struct random_generator *g, LLVMValueRef value)
{
    LLVMValueRef is_nan = LLVMBuildFCmp(g->builder, LLVMRealUNO, value, value, "");
    return LLVMBuildSelect(g->builder, is_nan, LLVMConstReal(g->f32, 7.0), value, "");
}

static LLVMValueRef float_expression(struct random_generator *g)
{
    LLVMBuilderRef b = g->builder;
    LLVMValueRef value = read_float(g);
    LLVMValueRef arguments[3] = {value, read_float(g), read_float(g)};
    switch (random_roll(g, 9)) {
    case 0:
        return LLVMBuildFAdd(b, value, arguments[1], "");
    case 1:
        return LLVMBuildFSub(b, value, arguments[1], "");
    case 2:
        return LLVMBuildFMul(b, value, arguments[1], "");
    case 3:
        return LLVMBuildFDiv(b, value, arguments[1], "");
    case 4:
        return random_intrinsic(g, "llvm.fma", g->f32, arguments, 3);
    case 5:
        return LLVMBuildFNeg(b, value, "");
    case 6:
        return random_intrinsic(g, "llvm.sqrt", g->f32, arguments, 1);
    case 7:
        return LLVMBuildSelect(b, random_condition(g), value, arguments[1], "");
    default:
        value = LLVMBuildAnd(b, random_read(g), random_number(g, 0xffff), "");
        return random_roll(g, 2) ? LLVMBuildSIToFP(b, value, g->f32, "")
                                 : LLVMBuildUIToFP(b, value, g->f32, "");
    }
}

void random_assign(struct random_generator *g)
{
    uint32_t kind = random_roll(g, 12);
    if (kind >= 10)
        random_assign_other(g);
    else if (kind < 7)
        LLVMBuildStore(g->builder, int_expression(g), g->ints[pick_int(g)]);
    else if (kind < 8)
        LLVMBuildStore(g->builder, long_expression(g), g->longs[random_roll(g, RANDOM_LONGS)]);
    else
        LLVMBuildStore(g->builder, without_nan(g, float_expression(g)),
                       g->floats[random_roll(g, RANDOM_FLOATS)]);
}

/* ---- calls ---- */

LLVMValueRef random_call(struct random_generator *g, const char *name, LLVMTypeRef result,
                         LLVMTypeRef *types, LLVMValueRef *arguments, unsigned count)
{
    LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
    LLVMValueRef function = LLVMGetNamedFunction(g->module, name);
    if (function == NULL) {
        function = LLVMAddFunction(g->module, name, type);
        static const char *const pure[] = {"memory", "nounwind", "willreturn"};
        for (int i = 0; i < 3 && strcmp(name, "outside_pure") == 0; i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(pure[i], strlen(pure[i]));
            LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                    LLVMCreateEnumAttribute(g->context, kind, 0));
        }
    }
    return LLVMBuildCall2(g->builder, type, function, arguments, count, "");
}

LLVMValueRef random_intrinsic(struct random_generator *g, const char *name, LLVMTypeRef overload,
                              LLVMValueRef *arguments, unsigned count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(g->module, id, &overload, 1);
    return LLVMBuildCall2(g->builder, LLVMGlobalGetValueType(function), function, arguments, count,
                          "");
}
