/* SPDX-License-Identifier: Apache-2.0
 *
 * How a value moves from one iteration or row to the next, from the moves of its operands.
 */
#include "translator/analysis/address.h"

#include <llvm-c/Core.h>

/* Constant steps up to this size can be added up or multiplied without overflow. */
#define SMALL_STEP (1 << 12)
/* … also when shifted by less than this. */
#define MOST_BITS 13

static const struct tr_move unknown = {.by = NULL};

/* ---- numbers ---- */

bool tr_is_constant_number(const struct tr_number *number)
{
    return number->kind == TR_NUMBER_CONSTANT;
}

static int64_t extended(uint64_t bits, unsigned width)
{
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

int64_t tr_constant_of(const struct tr_number *number)
{
    return extended(number->constant, number->bits);
}

static uint64_t unsigned_constant(const struct tr_number *number)
{
    return number->constant << (64 - number->bits) >> (64 - number->bits);
}

/* NULL: out of memory, which callers need not tell from an unknown step. */
static struct tr_number *new_number(const struct tr_move_context *context,
                                    struct tr_number contents)
{
    struct tr_number *number = pxr_arena_alloc_array(context->arena, 1, sizeof *number);
    if (number != NULL)
        *number = contents;
    return number;
}

struct tr_number *tr_number_constant(const struct tr_move_context *context, unsigned bits,
                                     uint64_t constant)
{
    return new_number(context, (struct tr_number){
                                   .kind = TR_NUMBER_CONSTANT, .bits = bits, .constant = constant});
}

struct tr_number *tr_number_of(const struct tr_move_context *context, LLVMValueRef operand)
{
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(operand));
    if (bits > 64)
        return NULL;
    if (LLVMIsAConstantInt(operand) != NULL)
        return tr_number_constant(context, bits, LLVMConstIntGetZExtValue(operand));
    return new_number(context,
                      (struct tr_number){.kind = TR_NUMBER_VALUE, .bits = bits, .value = operand});
}

static uint64_t folded(enum tr_number_kind kind, const struct tr_number *a,
                       const struct tr_number *b)
{
    switch (kind) {
    case TR_NUMBER_SUM:
        return a->constant + b->constant;
    case TR_NUMBER_DIFFERENCE:
        return a->constant - b->constant;
    case TR_NUMBER_PRODUCT:
        return a->constant * b->constant;
    case TR_NUMBER_SHIFTED:
        return a->constant << b->constant;
    case TR_NUMBER_ZEXT:
        return unsigned_constant(a);
    default:
        return (uint64_t)tr_constant_of(a);
    }
}

struct tr_number *tr_number_combined(const struct tr_move_context *context,
                                     enum tr_number_kind kind, unsigned bits, struct tr_number *a,
                                     struct tr_number *b)
{
    bool is_conversion = kind >= TR_NUMBER_ZEXT;
    if (a == NULL || (b == NULL && !is_conversion))
        return NULL;
    if (is_conversion && a->bits == bits)
        return a;
    if (tr_is_constant_number(a) && (is_conversion || tr_is_constant_number(b)))
        return tr_number_constant(context, bits, folded(kind, a, b));
    return new_number(context, (struct tr_number){.kind = kind, .bits = bits, .a = a, .b = b});
}

/* ---- steps ---- */

bool tr_is_no_move(const struct tr_move *step)
{
    return tr_is_constant_number(step->by) && unsigned_constant(step->by) == 0;
}

static bool is_small(const struct tr_number *number)
{
    return tr_is_constant_number(number) && tr_constant_of(number) < SMALL_STEP &&
           tr_constant_of(number) > -SMALL_STEP;
}

/* Bits of distances between values of this type; 0: there are none. */
static unsigned distance_bits(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return 64;
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
        return 0;
    unsigned bits = LLVMGetIntTypeWidth(type);
    return bits >= 8 && bits <= 64 ? bits : 0;
}

/* Whether it is known not to wrap, in any sense. */
static bool is_safe(const struct tr_move *step)
{
    return tr_is_no_move(step) || (step->nuw && step->nsw && step->is_positive);
}

struct tr_move tr_move_by(const struct tr_move_context *context, LLVMValueRef value, int64_t by)
{
    unsigned bits = distance_bits(LLVMTypeOf(value));
    bool is_constant = LLVMIsAConstantInt(value) != NULL;
    if (bits == 0)
        return unknown;
    return (struct tr_move){.by = tr_number_constant(context, bits, (uint64_t)by),
                            .nuw = true,
                            .nsw = true,
                            .is_positive =
                                by > 0 || (is_constant && LLVMConstIntGetSExtValue(value) >= 0)};
}

/* ---- by instruction ---- */

static struct tr_move sum(const struct tr_move_context *context, LLVMValueRef inst,
                          struct tr_move a, struct tr_move b)
{
    bool is_or = LLVMGetInstructionOpcode(inst) == LLVMOr;
    if (a.by == NULL || b.by == NULL || (is_or && !LLVMGetIsDisjoint(inst)))
        return unknown;
    bool is_exact = tr_is_no_move(&a) || tr_is_no_move(&b) || (is_small(a.by) && is_small(b.by));
    struct tr_move step = {.by =
                               tr_number_combined(context, TR_NUMBER_SUM, a.by->bits, a.by, b.by)};
    step.nuw = a.nuw && b.nuw && (is_or || LLVMGetNUW(inst));
    step.nsw = is_exact && is_safe(&a) && is_safe(&b) && (is_or || LLVMGetNSW(inst));
    step.is_positive = step.nsw && a.is_positive && b.is_positive;
    return step;
}

static struct tr_move difference(const struct tr_move_context *context, LLVMValueRef inst,
                                 struct tr_move a, struct tr_move b)
{
    if (a.by == NULL || b.by == NULL)
        return unknown;
    return (struct tr_move){
        .by = tr_number_combined(context, TR_NUMBER_DIFFERENCE, a.by->bits, a.by, b.by),
        .nsw = is_safe(&a) && tr_is_no_move(&b) && LLVMGetNSW(inst)};
}

/* A product of which one factor does not move. */
static struct tr_move product(const struct tr_move_context *context, LLVMValueRef inst,
                              struct tr_move a, struct tr_move b)
{
    if (a.by == NULL || b.by == NULL || (!tr_is_no_move(&a) && !tr_is_no_move(&b)))
        return unknown;
    unsigned growing = tr_is_no_move(&a) ? 1 : 0;
    struct tr_move from = growing == 0 ? a : b;
    struct tr_number *by = tr_number_of(context, LLVMGetOperand(inst, 1 - growing));
    if (by == NULL)
        return unknown;
    bool is_one = tr_is_constant_number(from.by) && unsigned_constant(from.by) == 1;
    bool is_exact = is_one || (is_small(from.by) && is_small(by));
    struct tr_move step = {
        .by = tr_number_combined(context, TR_NUMBER_PRODUCT, by->bits, from.by, by)};
    step.nuw = from.nuw && LLVMGetNUW(inst);
    step.nsw = is_exact && is_safe(&from) && LLVMGetNSW(inst);
    step.is_positive =
        step.nsw && from.is_positive && tr_is_constant_number(by) && tr_constant_of(by) >= 0;
    return step;
}

static struct tr_move shifted(const struct tr_move_context *context, LLVMValueRef inst,
                              struct tr_move a)
{
    LLVMValueRef bits = LLVMGetOperand(inst, 1);
    if (a.by == NULL || LLVMIsAConstantInt(bits) == NULL ||
        LLVMConstIntGetZExtValue(bits) >= MOST_BITS || LLVMConstIntGetZExtValue(bits) >= a.by->bits)
        return unknown;
    struct tr_move step = {.by = tr_number_combined(context, TR_NUMBER_SHIFTED, a.by->bits, a.by,
                                                    tr_number_of(context, bits))};
    step.nuw = a.nuw && LLVMGetNUW(inst);
    step.nsw = is_small(a.by) && is_safe(&a) && LLVMGetNSW(inst);
    step.is_positive = step.nsw && a.is_positive;
    return step;
}

static struct tr_move widened(const struct tr_move_context *context, LLVMValueRef inst,
                              struct tr_move a)
{
    unsigned bits = distance_bits(LLVMTypeOf(inst));
    bool is_zext = LLVMGetInstructionOpcode(inst) == LLVMZExt;
    if (a.by == NULL || bits == 0 || !(is_zext ? a.nuw : a.nsw))
        return unknown;
    if (is_zext)
        return (struct tr_move){.by = tr_number_combined(context, TR_NUMBER_ZEXT, bits, a.by, NULL),
                                .nuw = true,
                                .nsw = true,
                                .is_positive = true};
    return (struct tr_move){.by = tr_number_combined(context, TR_NUMBER_SEXT, bits, a.by, NULL),
                            .nuw = a.nuw && a.is_positive,
                            .nsw = true,
                            .is_positive = a.is_positive};
}

/* The same distance, in so many bits. */
static struct tr_move converted(const struct tr_move_context *context, LLVMValueRef inst,
                                struct tr_move a)
{
    unsigned bits = distance_bits(LLVMTypeOf(inst));
    if (a.by == NULL || bits == 0 || bits > a.by->bits)
        return unknown;
    return (struct tr_move){.by = tr_number_combined(context, TR_NUMBER_TRUNC, bits, a.by, NULL)};
}

static struct tr_move moved(const struct tr_move_context *context, LLVMValueRef gep,
                            struct tr_move base, struct tr_move index)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    if (LLVMGetNumOperands(gep) != 2 || !LLVMTypeIsSized(type) ||
        LLVMGetTypeKind(type) == LLVMScalableVectorTypeKind || base.by == NULL ||
        index.by == NULL || base.by->bits != 64 || index.by->bits != 64)
        return unknown;
    struct tr_number *size =
        tr_number_constant(context, 64, LLVMABISizeOfType(context->layout, type));
    struct tr_number *distance = tr_number_combined(context, TR_NUMBER_PRODUCT, 64, index.by, size);
    return (struct tr_move){.by =
                                tr_number_combined(context, TR_NUMBER_SUM, 64, base.by, distance)};
}

struct tr_move tr_move_of_inst(const struct tr_move_context *context, LLVMValueRef inst,
                               const struct tr_move operands[2])
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
    case LLVMOr:
        return sum(context, inst, operands[0], operands[1]);
    case LLVMSub:
        return difference(context, inst, operands[0], operands[1]);
    case LLVMMul:
        return product(context, inst, operands[0], operands[1]);
    case LLVMShl:
        return shifted(context, inst, operands[0]);
    case LLVMZExt:
    case LLVMSExt:
        return widened(context, inst, operands[0]);
    case LLVMTrunc:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
        return converted(context, inst, operands[0]);
    case LLVMGetElementPtr:
        return moved(context, inst, operands[0], operands[1]);
    default:
        return unknown;
    }
}
