/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of memory (rt_check): whether all lanes may access what they ask for, by one look at the
 * memory that they touch together. If not all of them may, each lane asks alone: then the last
 * lanes of a row may have no such access, or their memory ends within the grain of the shadow.
 * Likewise what has been written (rt_written), and has to be marked so (rt_mark): most has been
 * already, or is a piece of memory that nobody else writes to.
 */
#include "translator/vector/memory/load_store.h"

#include "kernel_abi/rt.h"
#include "translator/analysis/calls.h"
#include "translator/module/checks.h"
#include "translator/module/declare.h"

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
    enum rt_placeholder placeholder;
    uint64_t bytes;     /* of an access */
    LLVMValueRef begin; /* scalars */
    LLVMValueRef size;
    LLVMValueRef shadow; /* NULL: none */
    bool wraps;          /* the shadow can be looked at for any place modulo the size */
};

bool tr_memory_is_check(LLVMValueRef inst)
{
    enum rt_placeholder placeholder = tr_placeholder_of(inst);
    return placeholder == RT_CALL_CHECK || placeholder == RT_CALL_WRITTEN ||
           placeholder == RT_CALL_MARK || placeholder == RT_CALL_CHECK_OWN;
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

static LLVMValueRef place_of(const struct check *check, LLVMValueRef address)
{
    LLVMBuilderRef b = check->widen->builder;
    address = LLVMBuildPtrToInt(b, address, check->widen->i64, "");
    return LLVMBuildFreeze(b, LLVMBuildSub(b, address, check->begin, ""), "");
}

/* Modulo the size, which is a power of two; one place or several. */
static LLVMValueRef wrap(const struct check *check, LLVMValueRef place)
{
    LLVMBuilderRef b = check->widen->builder;
    LLVMValueRef low = LLVMBuildSub(b, check->size, number(check, 1), "");
    bool is_vector = LLVMGetTypeKind(LLVMTypeOf(place)) == LLVMVectorTypeKind;
    return LLVMBuildAnd(b, place, is_vector ? tr_widen_splat(check->widen, low) : low, "");
}

/* i1: [place, place + span) is in the memory. */
static LLVMValueRef is_piece_inside(const struct check *check, LLVMValueRef place, uint64_t span)
{
    LLVMBuilderRef b = check->widen->builder;
    LLVMValueRef room = LLVMBuildSub(b, check->size, place, "");
    return LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntULT, place, check->size, ""),
                        LLVMBuildICmp(b, LLVMIntUGE, room, number(check, span), ""), "");
}

/* i1: [first, first + span) can be accessed. The shadow is looked at in two pieces, from the first
 * grain on and up to the last, which overlap; where the address is not inside, at the beginning,
 * which decides nothing. */
static LLVMValueRef is_piece_open(const struct check *check, LLVMValueRef first, uint64_t span)
{
    LLVMBuilderRef b = check->widen->builder;
    LLVMValueRef place = place_of(check, first);
    LLVMValueRef is_inside = check->wraps ? NULL : is_piece_inside(check, place, span);
    if (check->shadow == NULL)
        return is_inside;
    uint32_t count = floor_power((uint32_t)((span + RT_SHADOW_GRAIN - 1) / RT_SHADOW_GRAIN));
    LLVMValueRef safe = is_inside == NULL
                            ? wrap(check, place)
                            : LLVMBuildSelect(b, is_inside, place, number(check, 0), "");
    LLVMValueRef last = LLVMBuildAdd(b, safe, number(check, span - 1), "");
    LLVMValueRef behind = LLVMBuildSub(b, grain_of(check, last), number(check, count - 1), "");
    LLVMValueRef open = are_open(check, grain_of(check, safe), count);
    open = LLVMBuildAnd(b, open, are_open(check, behind, count), "");
    return join(check, is_inside, open);
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

/* <width x i1>: what each lane asks for is in the memory. */
static LLVMValueRef are_lanes_inside(const struct check *check, LLVMValueRef places)
{
    LLVMBuilderRef b = check->widen->builder;
    LLVMValueRef size = tr_widen_splat(check->widen, check->size);
    LLVMValueRef room = LLVMBuildSub(b, size, places, "");
    return LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntULT, places, size, ""),
                        LLVMBuildICmp(b, LLVMIntUGE, room, splat_number(check, check->bytes), ""),
                        "");
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
    LLVMValueRef open = check->wraps ? NULL : are_lanes_inside(check, place);
    if (check->shadow != NULL) {
        LLVMValueRef safe = check->wraps ? wrap(check, place)
                                         : LLVMBuildSelect(b, open, place, LLVMConstNull(wide), "");
        open = join(check, open, are_lanes_open(check, safe));
    }
    LLVMValueRef mask = widen->active.mask[copy];
    if (mask != NULL)
        open = LLVMBuildOr(b, open, LLVMBuildNot(b, mask, ""), "");
    LLVMTypeRef bits = LLVMIntTypeInContext(widen->llvm, widen->width);
    open = LLVMBuildBitCast(b, open, bits, "");
    return LLVMBuildICmp(b, LLVMIntEQ, open, LLVMConstAllOnes(bits), "");
}

/* ---- a copy ---- */

static struct tr_shape address_shape(const struct check *check)
{
    return tr_widen_shape(check->widen, LLVMGetOperand(check->inst, TR_CHECK_ADDRESS));
}

/* Between neighbouring lanes; not if their addresses vary. */
static uint64_t stride_of(const struct check *check)
{
    int64_t stride = address_shape(check).stride;
    return (uint64_t)(stride < 0 ? -stride : stride);
}

/* From the first byte that a lane of the copy accesses to the last. */
static uint64_t span_of(const struct check *check)
{
    return stride_of(check) * (check->widen->width - 1) + check->bytes;
}

static LLVMValueRef lowest_address(const struct check *check, uint32_t copy)
{
    struct tr_widen *widen = check->widen;
    LLVMValueRef first =
        tr_widen_scalar(widen, LLVMGetOperand(check->inst, TR_CHECK_ADDRESS), copy);
    if (address_shape(check).stride >= 0)
        return first;
    return tr_memory_advance(widen, first, -(int64_t)(span_of(check) - check->bytes));
}

/* Memory without a shadow has no gaps: there lanes may be anywhere. */
static LLVMValueRef is_copy_open(const struct check *check, uint32_t copy)
{
    uint64_t most = check->shadow == NULL ? UINT32_MAX : MAX_SPAN_BYTES;
    if (address_shape(check).kind == TR_VARYING || stride_of(check) > most || span_of(check) > most)
        return are_scattered_open(check, copy);
    return is_piece_open(check, lowest_address(check, copy), span_of(check));
}

/* Whether the copy need not be looked at, as another one's lanes access the same. */
static bool is_same_as_other(const struct check *check, uint32_t copy)
{
    LLVMValueRef address = LLVMGetOperand(check->inst, TR_CHECK_ADDRESS);
    return address_shape(check).kind != TR_VARYING &&
           tr_memory_holder(check->widen, address, copy) != copy;
}

static LLVMValueRef are_copies_open(const struct check *check)
{
    LLVMValueRef open = NULL;
    for (uint32_t c = 0; c < check->widen->copies; c++)
        if (!is_same_as_other(check, c))
            open = join(check, open, is_copy_open(check, c));
    return open;
}

/* ---- marks ---- */

/* i1: what all active lanes write, or have read of arrays of their own, has been written; NULL: it
 * always has. */
static LLVMValueRef are_values_written(const struct check *check)
{
    struct tr_widen *widen = check->widen;
    LLVMBuilderRef b = widen->builder;
    bool is_mark = check->placeholder == RT_CALL_MARK;
    LLVMValueRef written = LLVMGetOperand(check->inst, is_mark ? TR_CHECK_MARKED : TR_OWN_WRITTEN);
    LLVMValueRef all = NULL;
    if (LLVMIsAConstantInt(written) != NULL && LLVMConstIntGetZExtValue(written) == RT_WRITTEN_ALL)
        return NULL;
    for (uint32_t c = 0; c < widen->copies; c++) {
        LLVMValueRef lanes = tr_widen_vector(widen, written, c);
        lanes = LLVMBuildICmp(b, LLVMIntEQ, lanes, LLVMConstAllOnes(LLVMTypeOf(lanes)), "");
        LLVMValueRef mask = widen->active.mask[c];
        if (mask != NULL) /* others may be poison */
            lanes = LLVMBuildSelect(b, mask, lanes, tr_widen_mask_constant(widen, true), "");
        LLVMTypeRef bits = LLVMIntTypeInContext(widen->llvm, widen->width);
        lanes = LLVMBuildBitCast(b, lanes, bits, "");
        all = join(check, all, LLVMBuildICmp(b, LLVMIntEQ, lanes, LLVMConstAllOnes(bits), ""));
    }
    return all;
}

/* Whether the lanes of each copy that write do so side by side. */
static bool writes_pieces(const struct check *check)
{
    bool has_mask = check->widen->active.mask[0] != NULL;
    return check->placeholder == RT_CALL_MARK && address_shape(check).kind != TR_VARYING &&
           stride_of(check) == check->bytes && (!has_mask || address_shape(check).stride > 0);
}

static void mark_pieces(const struct check *check)
{
    struct tr_widen *widen = check->widen;
    LLVMValueRef thread = LLVMGetOperand(check->inst, TR_CHECK_THREAD);
    for (uint32_t c = 0; c < widen->copies; c++) {
        LLVMValueRef mask = widen->active.mask[c];
        if (mask == NULL && is_same_as_other(check, c))
            continue;
        enum rt_placeholder mark = mask == NULL ? RT_CALL_MARK : RT_CALL_MARK_LANES;
        LLVMValueRef function = tr_declare_placeholder(widen->module, mark);
        LLVMValueRef lanes = tr_memory_i32(widen, RT_WRITTEN_ALL);
        if (mask != NULL)
            lanes = LLVMBuildZExt(widen->builder, tr_memory_bits(widen, mask), widen->i64, "");
        LLVMValueRef operands[] = {tr_widen_lane(widen, thread, c, tr_memory_i32(widen, 0)),
                                   lowest_address(check, c),
                                   number(check, mask == NULL ? span_of(check) : check->bytes),
                                   check->begin,
                                   check->size,
                                   check->shadow,
                                   lanes};
        LLVMBuildCall2(widen->builder, LLVMGlobalGetValueType(function), function, operands,
                       sizeof operands / sizeof *operands, "");
    }
}

/* Pieces are marked at once, unless what lanes write has not all been written (an i1; NULL: it
 * has). Whether something is left for lanes to do alone. */
static bool mark_together(const struct check *check, LLVMValueRef are_written,
                          LLVMBasicBlockRef behind)
{
    LLVMBuilderRef b = check->widen->builder;
    if (!writes_pieces(check))
        return true;
    LLVMBasicBlockRef alone = NULL;
    if (are_written != NULL) {
        LLVMBasicBlockRef together = tr_widen_new_block(check->widen, "mark");
        alone = tr_widen_new_block(check->widen, "mark.alone");
        LLVMBuildCondBr(b, LLVMBuildFreeze(b, are_written, ""), together, alone);
        LLVMPositionBuilderAtEnd(b, together);
    }
    mark_pieces(check);
    LLVMBuildBr(b, behind);
    if (alone != NULL)
        LLVMPositionBuilderAtEnd(b, alone);
    return alone != NULL;
}

/* ---- results of rt_written ---- */

/* Where lanes have not asked alone, all has been written. */
static void join_results(const struct check *check, uint32_t value, LLVMBasicBlockRef open,
                         LLVMBasicBlockRef alone)
{
    struct tr_widen *widen = check->widen;
    LLVMValueRef all = LLVMConstAllOnes(LLVMVectorType(widen->i32, widen->width));
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (tr_widen_holder(widen, value, c) != c)
            continue;
        LLVMValueRef asked = tr_widen_vector(widen, check->inst, c);
        LLVMValueRef result = LLVMBuildPhi(widen->builder, LLVMTypeOf(asked), "written");
        LLVMAddIncoming(result, &all, &open, 1);
        LLVMAddIncoming(result, &asked, &alone, 1);
        tr_widen_define(widen, value, c, result);
    }
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
        .placeholder = tr_placeholder_of(inst),
        .bytes = LLVMConstIntGetZExtValue(bytes),
        .begin = tr_widen_scalar(widen, LLVMGetOperand(inst, TR_CHECK_BEGIN), 0),
        .size = tr_widen_scalar(widen, LLVMGetOperand(inst, TR_CHECK_SIZE), 0),
        .shadow = LLVMIsNull(shadow) ? NULL : tr_widen_scalar(widen, shadow, 0),
    };
    check->wraps = check->shadow != NULL && LLVMIsAConstantInt(check->size) != NULL;
    return true;
}

/* Does it lane by lane, unless `known`, an i1, says that nothing is left to do. */
static void do_unless(const struct check *check, uint32_t value, LLVMValueRef known,
                      LLVMValueRef are_written)
{
    struct tr_widen *widen = check->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef alone = tr_widen_new_block(widen, "check");
    LLVMBasicBlockRef behind = tr_widen_new_block(widen, "checked");
    LLVMBuildCondBr(b, LLVMBuildFreeze(b, known, ""), behind, alone);
    LLVMPositionBuilderAtEnd(b, alone);
    if (mark_together(check, are_written, behind)) {
        tr_memory_serial(widen, value);
        alone = LLVMGetInsertBlock(b);
        LLVMBuildBr(b, behind);
    }
    LLVMPositionBuilderAtEnd(b, behind);
    if (check->placeholder == RT_CALL_WRITTEN)
        join_results(check, value, before, alone);
}

void tr_memory_check(struct tr_widen *widen, uint32_t value)
{
    LLVMValueRef inst = widen->iteration->graph.values[value].llvm;
    struct check check = {.widen = widen, .inst = inst, .placeholder = tr_placeholder_of(inst)};
    bool is_own = check.placeholder == RT_CALL_CHECK_OWN;
    if (!is_own && !find_check(widen, inst, &check)) {
        tr_memory_serial(widen, value);
        return;
    }
    LLVMValueRef known = is_own ? NULL : are_copies_open(&check);
    LLVMValueRef are_written = NULL;
    if (is_own || check.placeholder == RT_CALL_MARK)
        are_written = are_values_written(&check);
    if (are_written != NULL)
        known = join(&check, known, are_written);
    if (known != NULL)
        do_unless(&check, value, known, are_written);
}
