/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of memory (rt_check): whether all lanes may access what they ask for, by one look at the
 * memory that they touch together. If not all of them may, each lane asks alone: then the last
 * lanes of a row may have no such access, or their memory ends within the grain of the shadow.
 */
#include "translator/vector/memory/load_store.h"

#include "kernel_abi/rt.h"
#include "translator/analysis/calls.h"

/* So much memory is looked at as a whole, whatever lies between the lanes. */
#define MAX_SPAN_BYTES 1024

/* Operands of rt_check. */
enum { ADDRESS = 1, BYTES, BEGIN, SIZE, SHADOW };

struct check {
    struct tr_widen *widen;
    LLVMValueRef inst;
    uint64_t bytes;      /* of an access */
    LLVMValueRef begin;  /* scalars */
    LLVMValueRef size;
    LLVMValueRef shadow; /* NULL: none */
};

bool tr_memory_is_check(LLVMValueRef inst)
{
    return tr_placeholder_of(inst) == RT_CALL_CHECK;
}

static LLVMValueRef number(const struct check *check, uint64_t n)
{
    return LLVMConstInt(check->widen->i64, n, false);
}

static LLVMValueRef join(const struct check *check, LLVMValueRef a, LLVMValueRef b)
{
    return a == NULL ? b : LLVMBuildAnd(check->widen->builder, a, b, "");
}

/* ---- memory in one piece ---- */

/* i1: grains of the shadow, one after the other, are open. */
static LLVMValueRef are_open(const struct check *check, LLVMValueRef grain, uint32_t count)
{
    struct tr_widen *widen = check->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef pointer = LLVMBuildGEP2(b, widen->i8, check->shadow, &grain, 1, "");
    LLVMTypeRef type = LLVMVectorType(widen->i8, count);
    LLVMValueRef grains = LLVMBuildLoad2(b, type, pointer, "");
    LLVMSetAlignment(grains, 1);
    LLVMTypeRef bits = LLVMIntTypeInContext(widen->llvm, 8 * count);
    grains = LLVMBuildBitCast(b, grains, bits, "");
    return LLVMBuildICmp(b, LLVMIntEQ, grains, LLVMConstAllOnes(bits), "");
}

static uint32_t next_power(uint32_t count)
{
    uint32_t power = 1;
    while (power < count)
        power *= 2;
    return power;
}

/* i1: [first, first + span) can be accessed. The shadow is looked at in two pieces that overlap;
 * where the address is not inside, at its beginning, which decides nothing. */
static LLVMValueRef is_piece_open(const struct check *check, LLVMValueRef first, uint64_t span)
{
    LLVMBuilderRef b = check->widen->builder;
    first = LLVMBuildPtrToInt(b, first, check->widen->i64, "");
    LLVMValueRef place = LLVMBuildFreeze(b, LLVMBuildSub(b, first, check->begin, ""), "");
    LLVMValueRef room = LLVMBuildSub(b, check->size, place, "");
    LLVMValueRef is_inside =
        LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntULT, place, check->size, ""),
                     LLVMBuildICmp(b, LLVMIntUGE, room, number(check, span), ""), "");
    if (check->shadow == NULL)
        return is_inside;
    LLVMValueRef safe = LLVMBuildSelect(b, is_inside, place, number(check, 0), "");
    LLVMValueRef grain = LLVMBuildLShr(b, safe, number(check, 3), "");
    LLVMValueRef last = LLVMBuildAdd(b, safe, number(check, span - 1), "");
    last = LLVMBuildLShr(b, last, number(check, 3), "");
    /* All grains but perhaps the last, as a power of two: from the first on, and up to the last. */
    uint32_t count = next_power((uint32_t)((span + RT_SHADOW_GRAIN - 1) / RT_SHADOW_GRAIN));
    if ((uint64_t)count * RT_SHADOW_GRAIN > span && count > 1)
        count /= 2;
    LLVMValueRef from =
        LLVMBuildSub(b, last, number(check, count - 1), ""); /* never before the first grain */
    LLVMValueRef open = are_open(check, grain, count);
    if (span > check->bytes || span > RT_SHADOW_GRAIN)
        open = LLVMBuildAnd(b, open, are_open(check, from, count), "");
    return LLVMBuildAnd(b, is_inside, open, "");
}

/* ---- lanes anywhere ---- */

/* <width x i1>: the grains of each lane's access are open. */
static LLVMValueRef are_lanes_open(const struct check *check, LLVMValueRef grains)
{
    struct tr_widen *widen = check->widen;
    LLVMBuilderRef b = widen->builder;
    uint64_t count = (check->bytes + RT_SHADOW_GRAIN - 1) / RT_SHADOW_GRAIN;
    LLVMTypeRef words = LLVMVectorType(widen->i32, widen->width);
    LLVMValueRef pointers = LLVMBuildGEP2(b, widen->i8, check->shadow, &grains, 1, "");
    LLVMTypeRef types[] = {words, LLVMTypeOf(pointers)};
    LLVMValueRef operands[] = {pointers, tr_widen_mask_constant(widen, true), LLVMGetPoison(words)};
    LLVMValueRef found = tr_memory_call(widen, "llvm.masked.gather", types, 2, operands, 3);
    tr_memory_set_align(widen, found, 0, 1);
    uint64_t all = count >= sizeof(uint32_t) ? UINT32_MAX : (UINT64_C(1) << 8 * count) - 1;
    LLVMValueRef open = tr_widen_splat(widen, LLVMConstInt(widen->i32, all, false));
    return LLVMBuildICmp(b, LLVMIntEQ, LLVMBuildAnd(b, found, open, ""), open, "");
}

/* i1: all active lanes of the copy may access what they ask for. */
static LLVMValueRef are_scattered_open(const struct check *check, uint32_t copy)
{
    struct tr_widen *widen = check->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMTypeRef wide = LLVMVectorType(widen->i64, widen->width);
    LLVMValueRef address = tr_widen_vector(widen, LLVMGetOperand(check->inst, ADDRESS), copy);
    LLVMValueRef place = LLVMBuildSub(b, LLVMBuildPtrToInt(b, address, wide, ""),
                                      tr_widen_splat(widen, check->begin), "");
    place = LLVMBuildFreeze(b, place, "");
    LLVMValueRef size = tr_widen_splat(widen, check->size);
    LLVMValueRef room = LLVMBuildSub(b, size, place, "");
    LLVMValueRef bytes = tr_widen_splat(widen, number(check, check->bytes));
    LLVMValueRef open = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntULT, place, size, ""),
                                     LLVMBuildICmp(b, LLVMIntUGE, room, bytes, ""), "");
    if (check->shadow != NULL) {
        LLVMValueRef safe = LLVMBuildSelect(b, open, place, LLVMConstNull(wide), "");
        LLVMValueRef shift = tr_widen_splat(widen, number(check, 3));
        open =
            LLVMBuildAnd(b, open, are_lanes_open(check, LLVMBuildLShr(b, safe, shift, "")), "");
    }
    LLVMValueRef mask = widen->active.mask[copy];
    if (mask != NULL)
        open = LLVMBuildOr(b, open, LLVMBuildNot(b, mask, ""), "");
    LLVMTypeRef bits = LLVMIntTypeInContext(widen->llvm, widen->width);
    open = LLVMBuildBitCast(b, open, bits, "");
    return LLVMBuildICmp(b, LLVMIntEQ, open, LLVMConstAllOnes(bits), "");
}

/* ---- a copy ---- */

static LLVMValueRef is_copy_open(const struct check *check, uint32_t copy)
{
    struct tr_widen *widen = check->widen;
    LLVMValueRef address = LLVMGetOperand(check->inst, ADDRESS);
    struct tr_shape shape = tr_widen_shape(widen, address);
    uint64_t stride = (uint64_t)(shape.stride < 0 ? -shape.stride : shape.stride);
    if (shape.kind == TR_VARYING || stride > MAX_SPAN_BYTES)
        return are_scattered_open(check, copy);
    uint64_t distance = stride * (widen->width - 1);
    if (distance + check->bytes > MAX_SPAN_BYTES)
        return are_scattered_open(check, copy);
    LLVMValueRef first = tr_widen_scalar(widen, address, copy);
    if (shape.stride < 0)
        first = tr_memory_advance(widen, first, -(int64_t)distance);
    return is_piece_open(check, first, distance + check->bytes);
}

static bool find_check(struct tr_widen *widen, LLVMValueRef inst, struct check *check)
{
    LLVMValueRef bytes = LLVMGetOperand(inst, BYTES);
    for (unsigned i = BEGIN; i <= SHADOW; i++)
        if (!tr_memory_is_same_for_all(widen, LLVMGetOperand(inst, i)))
            return false;
    if (LLVMIsAConstantInt(bytes) == NULL || LLVMConstIntGetZExtValue(bytes) > MAX_SPAN_BYTES)
        return false;
    LLVMValueRef shadow = LLVMGetOperand(inst, SHADOW);
    *check = (struct check){
        .widen = widen,
        .inst = inst,
        .bytes = LLVMConstIntGetZExtValue(bytes),
        .begin = tr_widen_scalar(widen, LLVMGetOperand(inst, BEGIN), 0),
        .size = tr_widen_scalar(widen, LLVMGetOperand(inst, SIZE), 0),
        .shadow = LLVMIsNull(shadow) ? NULL : tr_widen_scalar(widen, shadow, 0),
    };
    return true;
}

void tr_memory_check(struct tr_widen *widen, uint32_t value)
{
    struct check check;
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef inst = widen->iteration->graph.values[value].llvm;
    if (!find_check(widen, inst, &check)) {
        tr_memory_serial(widen, value);
        return;
    }
    LLVMValueRef open = NULL;
    LLVMValueRef address = LLVMGetOperand(inst, ADDRESS);
    bool is_shared = tr_widen_shape(widen, address).kind != TR_VARYING;
    for (uint32_t c = 0; c < widen->copies; c++)
        if (!is_shared || tr_memory_holder(widen, address, c) == c)
            open = join(&check, open, is_copy_open(&check, c));
    LLVMBasicBlockRef alone = tr_widen_new_block(widen, "check");
    LLVMBasicBlockRef behind = tr_widen_new_block(widen, "checked");
    LLVMBuildCondBr(b, LLVMBuildFreeze(b, open, ""), behind, alone);
    LLVMPositionBuilderAtEnd(b, alone);
    tr_memory_serial(widen, value);
    LLVMBuildBr(b, behind);
    LLVMPositionBuilderAtEnd(b, behind);
}
