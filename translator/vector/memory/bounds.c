/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of memory (rt_check): whether all lanes may access what they ask for, by one look at the
 * memory that they touch together. If not all of them may, each lane asks alone: then the last
 * lanes of a row may have no such access, or their memory ends within the grain of the shadow.
 */
#include "translator/vector/memory/load_store.h"

#include "kernel_abi/rt.h"
#include "translator/analysis/calls.h"
#include "translator/module/checks.h"

/* So much memory with a shadow is looked at as a whole, whatever lies between the lanes. */
#define MAX_SPAN_BYTES 512

/* A gather gives so many bytes of the shadow for each lane. */
#define WORD_GRAINS 4

/* Accesses of so many bytes are in that many grains at most; of this many in twice as many. */
#define MAX_WORD_BYTES  (RT_SHADOW_GRAIN * (WORD_GRAINS - 1) + 1)
#define MAX_WORDS_BYTES (RT_SHADOW_GRAIN * (2 * WORD_GRAINS - 1) + 1)

struct check {
    struct tr_widen *widen;
    LLVMValueRef inst;
    uint64_t bytes;     /* of an access */
    LLVMValueRef begin; /* scalars */
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

/* The greatest power of two that is not above it. */
static uint32_t floor_power(uint32_t count)
{
    uint32_t power = 1;
    while (2 * power <= count)
        power *= 2;
    return power;
}

static LLVMValueRef grain_of(const struct check *check, LLVMValueRef place)
{
    return LLVMBuildUDiv(check->widen->builder, place, number(check, RT_SHADOW_GRAIN), "");
}

/* i1: [first, first + span) can be accessed. The shadow is looked at in two pieces, from the first
 * grain on and up to the last, which overlap; where the address is not inside, at the beginning,
 * which decides nothing. */
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
    uint32_t count = floor_power((uint32_t)((span + RT_SHADOW_GRAIN - 1) / RT_SHADOW_GRAIN));
    LLVMValueRef safe = LLVMBuildSelect(b, is_inside, place, number(check, 0), "");
    LLVMValueRef last = LLVMBuildAdd(b, safe, number(check, span - 1), "");
    LLVMValueRef behind = LLVMBuildSub(b, grain_of(check, last), number(check, count - 1), "");
    LLVMValueRef open = are_open(check, grain_of(check, safe), count);
    open = LLVMBuildAnd(b, open, are_open(check, behind, count), "");
    return LLVMBuildAnd(b, is_inside, open, "");
}

/* ---- lanes anywhere ---- */

static LLVMValueRef splat_number(const struct check *check, uint64_t n)
{
    return tr_widen_splat(check->widen, number(check, n));
}

/* <width x i32> of the shadow, from each lane's grain on. */
static LLVMValueRef gather_grains(const struct check *check, LLVMValueRef grains)
{
    struct tr_widen *widen = check->widen;
    LLVMTypeRef words = LLVMVectorType(widen->i32, widen->width);
    LLVMValueRef pointers = LLVMBuildGEP2(widen->builder, widen->i8, check->shadow, &grains, 1, "");
    LLVMTypeRef types[] = {words, LLVMTypeOf(pointers)};
    LLVMValueRef operands[] = {pointers, tr_widen_mask_constant(widen, true), LLVMGetPoison(words)};
    LLVMValueRef found = tr_memory_call(widen, "llvm.masked.gather", types, 2, operands, 3);
    tr_memory_set_align(widen, found, 0, 1);
    return found;
}

/* <width x i1>: the grains of each lane are open, from its place on. Of a single word only those up
 * to the last count. */
static LLVMValueRef are_lanes_open(const struct check *check, LLVMValueRef places)
{
    struct tr_widen *widen = check->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMTypeRef words = LLVMVectorType(widen->i32, widen->width);
    LLVMValueRef all = LLVMConstAllOnes(words);
    LLVMValueRef grain = splat_number(check, RT_SHADOW_GRAIN);
    LLVMValueRef first = LLVMBuildUDiv(b, places, grain, "");
    LLVMValueRef last = LLVMBuildAdd(b, places, splat_number(check, check->bytes - 1), "");
    last = LLVMBuildUDiv(b, last, grain, "");
    LLVMValueRef found = gather_grains(check, first);
    LLVMValueRef over = splat_number(check, WORD_GRAINS - 1);
    if (check->bytes <= MAX_WORD_BYTES) {
        over = LLVMBuildSub(b, over, LLVMBuildSub(b, last, first, ""), "");
        over = LLVMBuildMul(b, LLVMBuildTrunc(b, over, words, ""),
                            tr_widen_splat(widen, tr_memory_i32(widen, 8)), "");
        LLVMValueRef wanted = LLVMBuildLShr(b, all, over, "");
        found = LLVMBuildOr(b, found, LLVMBuildNot(b, wanted, ""), "");
    } else {
        LLVMValueRef behind = LLVMBuildSub(b, last, over, "");
        found = LLVMBuildAnd(b, found, gather_grains(check, behind), "");
    }
    return LLVMBuildICmp(b, LLVMIntEQ, found, all, "");
}

/* i1: all active lanes of the copy may access what they ask for. */
static LLVMValueRef are_scattered_open(const struct check *check, uint32_t copy)
{
    struct tr_widen *widen = check->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMTypeRef wide = LLVMVectorType(widen->i64, widen->width);
    LLVMValueRef address =
        tr_widen_vector(widen, LLVMGetOperand(check->inst, TR_CHECK_ADDRESS), copy);
    LLVMValueRef place = LLVMBuildSub(b, LLVMBuildPtrToInt(b, address, wide, ""),
                                      tr_widen_splat(widen, check->begin), "");
    place = LLVMBuildFreeze(b, place, "");
    LLVMValueRef size = tr_widen_splat(widen, check->size);
    LLVMValueRef room = LLVMBuildSub(b, size, place, "");
    LLVMValueRef bytes = splat_number(check, check->bytes);
    LLVMValueRef open = LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntULT, place, size, ""),
                                     LLVMBuildICmp(b, LLVMIntUGE, room, bytes, ""), "");
    if (check->shadow != NULL) {
        LLVMValueRef safe = LLVMBuildSelect(b, open, place, LLVMConstNull(wide), "");
        open = LLVMBuildAnd(b, open, are_lanes_open(check, safe), "");
    }
    LLVMValueRef mask = widen->active.mask[copy];
    if (mask != NULL)
        open = LLVMBuildOr(b, open, LLVMBuildNot(b, mask, ""), "");
    LLVMTypeRef bits = LLVMIntTypeInContext(widen->llvm, widen->width);
    open = LLVMBuildBitCast(b, open, bits, "");
    return LLVMBuildICmp(b, LLVMIntEQ, open, LLVMConstAllOnes(bits), "");
}

/* ---- a copy ---- */

/* Memory without a shadow has no gaps: there lanes may be anywhere. */
static LLVMValueRef is_copy_open(const struct check *check, uint32_t copy)
{
    struct tr_widen *widen = check->widen;
    LLVMValueRef address = LLVMGetOperand(check->inst, TR_CHECK_ADDRESS);
    struct tr_shape shape = tr_widen_shape(widen, address);
    uint64_t stride = (uint64_t)(shape.stride < 0 ? -shape.stride : shape.stride);
    uint64_t most = check->shadow == NULL ? UINT32_MAX : MAX_SPAN_BYTES;
    uint64_t distance = stride * (widen->width - 1);
    if (shape.kind == TR_VARYING || stride > most || distance + check->bytes > most)
        return are_scattered_open(check, copy);
    LLVMValueRef first = tr_widen_scalar(widen, address, copy);
    if (shape.stride < 0)
        first = tr_memory_advance(widen, first, -(int64_t)distance);
    return is_piece_open(check, first, distance + check->bytes);
}

static bool find_check(struct tr_widen *widen, LLVMValueRef inst, struct check *check)
{
    LLVMValueRef bytes = LLVMGetOperand(inst, TR_CHECK_BYTES);
    for (unsigned i = TR_CHECK_BEGIN; i <= TR_CHECK_SHADOW; i++)
        if (!tr_memory_is_same_for_all(widen, LLVMGetOperand(inst, i)))
            return false;
    LLVMValueRef shadow = LLVMGetOperand(inst, TR_CHECK_SHADOW);
    uint64_t most = LLVMIsNull(shadow) ? UINT32_MAX : MAX_WORDS_BYTES;
    if (LLVMIsAConstantInt(bytes) == NULL || LLVMConstIntGetZExtValue(bytes) > most)
        return false;
    *check = (struct check){
        .widen = widen,
        .inst = inst,
        .bytes = LLVMConstIntGetZExtValue(bytes),
        .begin = tr_widen_scalar(widen, LLVMGetOperand(inst, TR_CHECK_BEGIN), 0),
        .size = tr_widen_scalar(widen, LLVMGetOperand(inst, TR_CHECK_SIZE), 0),
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
    LLVMValueRef address = LLVMGetOperand(inst, TR_CHECK_ADDRESS);
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
