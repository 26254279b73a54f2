/* SPDX-License-Identifier: Apache-2.0
 *
 * One lane after the other: instructions with effects that have no vector form. Lanes and copies
 * come in order. Operands that are vectors wait in memory, where each lane reads its own element.
 *
 * Where nobody asks for a result, one loop runs the lanes of several copies. A processor remembers
 * for each instruction which stores its loads have to wait for: with sums written out for 256
 * lanes, each of which may be at the place of any of the last ones, it guesses wrong all the time,
 * and begins anew each time. For 16 lanes it does not, and they need no loop.
 */
#include "translator/vector/memory/load_store.h"

#include <string.h>

#define MAX_SPILLS 64

/* So many instructions without calls are written out for so many lanes, if there is no mask. */
#define MAX_WRITTEN_OUT 8
#define MAX_LANES_OUT   16

struct spill {
    LLVMValueRef operand;
    LLVMValueRef variable;
};

/* The instructions that lanes of a copy do one after the other. */
struct serial {
    struct tr_widen *widen;
    const struct tr_sequence *sequence;
    uint32_t copy;   /* the first … */
    uint32_t copies; /* … of so many whose lanes are done one after the other */
    uint32_t spill_count;
    struct spill spills[MAX_SPILLS];
};

static LLVMValueRef instruction(const struct serial *serial, uint32_t index)
{
    return serial->widen->iteration->graph.values[serial->sequence->values[index]].llvm;
}

static LLVMTypeRef result_type(const struct serial *serial)
{
    LLVMTypeRef type = LLVMTypeOf(instruction(serial, 0));
    return LLVMGetTypeKind(type) == LLVMVoidTypeKind ? NULL : type;
}

/* ---- operands ---- */

static uint32_t index_in_sequence(const struct tr_sequence *sequence, uint32_t value)
{
    for (uint32_t i = 0; i < sequence->count; i++)
        if (sequence->values[i] == value)
            return i;
    return TR_NONE;
}

/* Whether the type can wait in memory: only whole bytes can. The elements of all lanes' vectors lie
 * one after the other. */
static bool can_wait(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: {
        unsigned width = LLVMGetIntTypeWidth(type);
        return width == 1 || width == 8 || width == 16 || width == 32 || width == 64 ||
               width == 128;
    }
    case LLVMVectorTypeKind: {
        LLVMTypeRef element = LLVMGetElementType(type);
        unsigned count = LLVMGetVectorSize(type);
        return (count & (count - 1)) == 0 && can_wait(element) &&
               !(LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
                 LLVMGetIntTypeWidth(element) == 1);
    }
    case LLVMHalfTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind:
        return true;
    default:
        return false;
    }
}

static bool is_spilled(const struct serial *serial, LLVMValueRef variable)
{
    for (uint32_t i = 0; i < serial->spill_count; i++)
        if (serial->spills[i].variable == variable)
            return true;
    return false;
}

/* Takes the variable of an earlier instruction if there is one: it is free again. */
static LLVMValueRef find_variable(const struct serial *serial, LLVMTypeRef type)
{
    static const char name[] = "lanes";
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(serial->widen->function);
    for (LLVMValueRef inst = LLVMGetFirstInstruction(entry); LLVMIsAAllocaInst(inst) != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        size_t length = 0;
        if (LLVMGetAllocatedType(inst) == type && !is_spilled(serial, inst) &&
            strncmp(LLVMGetValueName2(inst, &length), name, sizeof name - 1) == 0)
            return inst;
    }
    return tr_memory_variable(serial->widen, type, name);
}

static LLVMValueRef waiting_vector(const struct serial *serial, LLVMValueRef operand, uint32_t copy)
{
    struct tr_widen *widen = serial->widen;
    LLVMValueRef vector = tr_widen_vector(widen, operand, copy);
    if (LLVMTypeOf(operand) != widen->i1)
        return vector;
    return LLVMBuildZExt(widen->builder, vector, LLVMVectorType(widen->i8, widen->width), "");
}

/* Stores a value of each copy, one behind the other. */
static LLVMValueRef store_in_order(struct serial *serial, const LLVMValueRef *values)
{
    LLVMBuilderRef builder = serial->widen->builder;
    LLVMTypeRef type = LLVMTypeOf(values[0]);
    LLVMValueRef variable = find_variable(serial, LLVMArrayType2(type, serial->copies));
    for (uint32_t c = 0; c < serial->copies; c++) {
        LLVMValueRef index = tr_memory_i32(serial->widen, c);
        LLVMValueRef place = LLVMBuildInBoundsGEP2(builder, type, variable, &index, 1, "");
        LLVMBuildStore(builder, values[c], place);
    }
    return variable;
}

/* Whether lanes read it from memory. Of one copy they compute what is affine. */
static bool has_to_wait(const struct serial *serial, LLVMValueRef operand)
{
    enum tr_shape_kind kind = tr_widen_shape(serial->widen, operand).kind;
    return kind == TR_VARYING || (kind == TR_AFFINE && serial->copies > 1);
}

static void spill(struct serial *serial, LLVMValueRef operand)
{
    LLVMValueRef vectors[TR_MAX_COPIES];
    if (serial->spill_count == MAX_SPILLS || !can_wait(LLVMTypeOf(operand)) ||
        !has_to_wait(serial, operand))
        return;
    for (uint32_t i = 0; i < serial->spill_count; i++)
        if (serial->spills[i].operand == operand)
            return;
    for (uint32_t c = 0; c < serial->copies; c++)
        vectors[c] = waiting_vector(serial, operand, serial->copy + c);
    LLVMValueRef variable = store_in_order(serial, vectors);
    serial->spills[serial->spill_count++] =
        (struct spill){.operand = operand, .variable = variable};
}

static void for_each_operand(struct serial *serial,
                             void (*act)(struct serial *serial, LLVMValueRef operand))
{
    const struct tr_graph *graph = &serial->widen->iteration->graph;
    for (uint32_t k = 0; k < serial->sequence->count; k++) {
        LLVMValueRef inst = instruction(serial, k);
        for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
            LLVMValueRef operand = LLVMGetOperand(inst, (unsigned)i);
            uint32_t number = tr_graph_number(graph, operand);
            if (number != TR_NONE && index_in_sequence(serial->sequence, number) == TR_NONE)
                act(serial, operand);
        }
    }
}

static void spill_operands(struct serial *serial)
{
    serial->spill_count = 0;
    for_each_operand(serial, spill);
}

static LLVMValueRef lane_operand(const struct serial *serial, LLVMValueRef operand,
                                 LLVMValueRef lane)
{
    struct tr_widen *widen = serial->widen;
    LLVMTypeRef type = LLVMTypeOf(operand);
    LLVMTypeRef waiting = type == widen->i1 ? widen->i8 : type;
    for (uint32_t i = 0; i < serial->spill_count; i++) {
        if (serial->spills[i].operand != operand)
            continue;
        LLVMValueRef place = LLVMBuildInBoundsGEP2(widen->builder, waiting,
                                                   serial->spills[i].variable, &lane, 1, "");
        LLVMValueRef value = LLVMBuildLoad2(widen->builder, waiting, place, "");
        return waiting == type ? value : LLVMBuildTrunc(widen->builder, value, type, "");
    }
    return tr_widen_lane(widen, operand, serial->copy, lane);
}

/* ---- one lane ---- */

/* Returns the result of the first instruction. */
static LLVMValueRef do_lane(const struct serial *serial, LLVMValueRef lane)
{
    struct tr_widen *widen = serial->widen;
    LLVMValueRef clones[TR_MAX_SEQUENCE];
    for (uint32_t k = 0; k < serial->sequence->count; k++) {
        LLVMValueRef inst = instruction(serial, k);
        clones[k] = LLVMInstructionClone(inst);
        for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
            LLVMValueRef operand = LLVMGetOperand(inst, (unsigned)i);
            uint32_t number = tr_graph_number(&widen->iteration->graph, operand);
            if (number == TR_NONE)
                continue; /* a constant, a function, metadata */
            uint32_t before = index_in_sequence(serial->sequence, number);
            LLVMSetOperand(clones[k], (unsigned)i,
                           before == TR_NONE ? lane_operand(serial, operand, lane)
                                             : clones[before]);
        }
        LLVMInsertIntoBuilder(widen->builder, clones[k]);
    }
    return clones[0];
}

/* ---- all lanes ---- */

static LLVMValueRef collect(const struct serial *serial, LLVMValueRef results, LLVMValueRef result,
                            LLVMValueRef lane)
{
    if (results == NULL)
        return NULL;
    return tr_memory_insert_lane(serial->widen, result_type(serial), results, result, lane);
}

static LLVMValueRef no_results(const struct serial *serial)
{
    LLVMTypeRef type = result_type(serial);
    return type == NULL ? NULL : LLVMGetPoison(tr_widen_type(serial->widen, type));
}

static LLVMValueRef phi_of(const struct serial *serial, LLVMValueRef first, LLVMBasicBlockRef from)
{
    if (first == NULL)
        return NULL;
    LLVMValueRef phi = LLVMBuildPhi(serial->widen->builder, LLVMTypeOf(first), "");
    LLVMAddIncoming(phi, &first, &from, 1);
    return phi;
}

static void add_way(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from)
{
    if (phi != NULL)
        LLVMAddIncoming(phi, &value, &from, 1);
}

/* What a lane is in all copies whose operands wait. */
static LLVMValueRef place_of(const struct serial *serial, LLVMValueRef first, LLVMValueRef lane)
{
    return first == NULL ? lane : LLVMBuildNUWAdd(serial->widen->builder, first, lane, "");
}

/* Takes the mask's bits away one by one, from the lowest. first: the number of lane 0, NULL: 0. */
static LLVMValueRef do_active_lanes(struct serial *serial, LLVMValueRef bits, LLVMValueRef first)
{
    struct tr_widen *widen = serial->widen;
    LLVMBuilderRef builder = widen->builder;
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(bits));
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder);
    LLVMBasicBlockRef body = tr_widen_new_block(widen, "lane");
    LLVMBasicBlockRef after = tr_widen_new_block(widen, "lanes.done");
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntNE, bits, zero, ""), body, after);
    LLVMPositionBuilderAtEnd(builder, body);
    LLVMValueRef rest = phi_of(serial, bits, before);
    LLVMValueRef results = phi_of(serial, no_results(serial), before);
    LLVMValueRef lane = tr_memory_lowest(widen, rest);
    LLVMValueRef result = do_lane(serial, place_of(serial, first, lane));
    LLVMValueRef more = collect(serial, results, result, lane);
    LLVMValueRef less = LLVMBuildAdd(builder, rest, LLVMConstAllOnes(LLVMTypeOf(bits)), "");
    less = LLVMBuildAnd(builder, rest, less, "");
    add_way(rest, less, body);
    add_way(results, more, body);
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntNE, less, zero, ""), body, after);
    LLVMPositionBuilderAtEnd(builder, after);
    LLVMValueRef all = phi_of(serial, no_results(serial), before);
    add_way(all, more, body);
    return all;
}

/* A loop over lanes, or copies, that counts with 64 bits: each turn's place follows from that of
 * the one before in one step. */
struct count {
    LLVMBasicBlockRef body;
    LLVMValueRef value; /* i64 */
    uint64_t end;
};

static struct count begin_count(const struct serial *serial, uint64_t end)
{
    struct tr_widen *widen = serial->widen;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(widen->builder);
    struct count count = {.body = tr_widen_new_block(widen, "lane"), .end = end};
    LLVMBuildBr(widen->builder, count.body);
    LLVMPositionBuilderAtEnd(widen->builder, count.body);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(widen->llvm);
    count.value = phi_of(serial, LLVMConstInt(i64, 0, false), before);
    return count;
}

static void end_count(const struct serial *serial, const struct count *count)
{
    struct tr_widen *widen = serial->widen;
    LLVMBuilderRef builder = widen->builder;
    LLVMTypeRef i64 = LLVMTypeOf(count->value);
    LLVMBasicBlockRef after = tr_widen_new_block(widen, "lanes.done");
    LLVMValueRef next = LLVMBuildNUWAdd(builder, count->value, LLVMConstInt(i64, 1, false), "");
    LLVMValueRef end = LLVMConstInt(i64, count->end, false);
    add_way(count->value, next, LLVMGetInsertBlock(builder));
    LLVMBuildCondBr(builder, LLVMBuildICmp(builder, LLVMIntEQ, next, end, ""), after, count->body);
    LLVMPositionBuilderAtEnd(builder, after);
}

static LLVMValueRef do_all_lanes(struct serial *serial)
{
    struct tr_widen *widen = serial->widen;
    spill_operands(serial);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(widen->builder);
    struct count count = begin_count(serial, widen->width);
    LLVMValueRef results = phi_of(serial, no_results(serial), before);
    LLVMValueRef lane = LLVMBuildTrunc(widen->builder, count.value, widen->i32, "");
    LLVMValueRef more = collect(serial, results, do_lane(serial, lane), lane);
    add_way(results, more, LLVMGetInsertBlock(widen->builder));
    end_count(serial, &count);
    return more;
}

static bool has_calls(const struct serial *serial)
{
    for (uint32_t k = 0; k < serial->sequence->count; k++)
        if (LLVMGetInstructionOpcode(instruction(serial, k)) == LLVMCall)
            return true;
    return false;
}

static bool is_short(const struct serial *serial)
{
    return !has_calls(serial) && serial->sequence->count <= MAX_WRITTEN_OUT &&
           serial->widen->width <= MAX_LANES_OUT;
}

static LLVMValueRef write_out_lanes(struct serial *serial)
{
    LLVMValueRef results = no_results(serial);
    for (uint32_t i = 0; i < serial->widen->width; i++) {
        LLVMValueRef lane = tr_memory_i32(serial->widen, i);
        results = collect(serial, results, do_lane(serial, lane), lane);
    }
    return results;
}

static LLVMValueRef do_lanes(struct serial *serial, LLVMValueRef mask)
{
    if (mask == NULL || tr_widen_seed(serial->widen, TR_VECTOR_SEED_MASK))
        return is_short(serial) ? write_out_lanes(serial) : do_all_lanes(serial);
    spill_operands(serial);
    return do_active_lanes(serial, tr_memory_bits(serial->widen, mask), NULL);
}

/* ---- all lanes of all copies ---- */

static bool is_in_sequence(const struct serial *serial, LLVMValueRef inst)
{
    uint32_t number = tr_graph_number(&serial->widen->iteration->graph, inst);
    return number != TR_NONE && index_in_sequence(serial->sequence, number) != TR_NONE;
}

static bool has_users(const struct serial *serial)
{
    for (uint32_t k = 0; k < serial->sequence->count; k++) {
        LLVMUseRef use = LLVMGetFirstUse(instruction(serial, k));
        for (; use != NULL; use = LLVMGetNextUse(use))
            if (!is_in_sequence(serial, LLVMGetUser(use)))
                return true;
    }
    return false;
}

static void count_impossible(struct serial *serial, LLVMValueRef operand)
{
    bool is_uniform = tr_widen_shape(serial->widen, operand).kind == TR_UNIFORM;
    serial->spill_count += !is_uniform && !can_wait(LLVMTypeOf(operand));
}

static bool can_all_wait(struct serial *serial)
{
    serial->spill_count = 0;
    for_each_operand(serial, count_impossible);
    return serial->spill_count == 0;
}

/* Copies without a mask have all bits set if others have one. NULL: none has. */
static LLVMValueRef store_masks(struct serial *serial)
{
    struct tr_widen *widen = serial->widen;
    LLVMValueRef bits[TR_MAX_COPIES];
    bool has_masks = false;
    for (uint32_t c = 0; c < serial->copies; c++) {
        LLVMValueRef mask = widen->active.mask[c];
        has_masks |= mask != NULL;
        LLVMTypeRef type = LLVMVectorType(widen->i1, widen->width);
        bits[c] = tr_memory_bits(widen, mask != NULL ? mask : LLVMConstAllOnes(type));
    }
    if (!has_masks || tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        return NULL;
    return store_in_order(serial, bits);
}

static void do_active_lanes_of_copies(struct serial *serial, LLVMValueRef masks)
{
    struct tr_widen *widen = serial->widen;
    LLVMBuilderRef builder = widen->builder;
    LLVMTypeRef type = LLVMGetElementType(LLVMGetAllocatedType(masks));
    struct count count = begin_count(serial, serial->copies);
    LLVMValueRef place = LLVMBuildInBoundsGEP2(builder, type, masks, &count.value, 1, "");
    LLVMValueRef bits = LLVMBuildLoad2(builder, type, place, "");
    LLVMValueRef copy = LLVMBuildTrunc(builder, count.value, widen->i32, "");
    LLVMValueRef first = LLVMBuildNUWMul(builder, copy, tr_memory_i32(widen, widen->width), "");
    do_active_lanes(serial, bits, first);
    end_count(serial, &count);
}

/* False: it cannot be done so. */
static bool do_together(struct serial *serial)
{
    struct tr_widen *widen = serial->widen;
    bool is_short = widen->copies * widen->width <= MAX_LANES_OUT;
    if (is_short || widen->copies == 1 || has_users(serial) || has_calls(serial))
        return false;
    serial->copy = 0;
    serial->copies = widen->copies;
    if (!can_all_wait(serial))
        return false;
    LLVMValueRef masks = store_masks(serial);
    spill_operands(serial);
    if (masks != NULL) {
        do_active_lanes_of_copies(serial, masks);
        return true;
    }
    struct count count = begin_count(serial, (uint64_t)widen->width * widen->copies);
    do_lane(serial, count.value);
    end_count(serial, &count);
    return true;
}

/* ---- what is not done by all lanes ---- */

static bool never_returns(LLVMValueRef inst)
{
    LLVMValueRef next = LLVMGetNextInstruction(inst);
    return LLVMGetInstructionOpcode(inst) == LLVMCall && next != NULL &&
           LLVMGetInstructionOpcode(next) == LLVMUnreachable;
}

/* Runs for the first active lane only: no other would come to it. */
static void do_first_lane(struct serial *serial)
{
    struct tr_widen *widen = serial->widen;
    for (uint32_t c = 0; c < widen->copies; c++) {
        LLVMValueRef mask = widen->active.mask[c];
        serial->copy = c;
        if (mask == NULL) {
            do_lane(serial, tr_memory_i32(widen, 0));
            return;
        }
        LLVMBasicBlockRef found = tr_widen_new_block(widen, "first");
        LLVMBasicBlockRef next = tr_widen_new_block(widen, "next");
        LLVMBuildCondBr(widen->builder, tr_widen_any(widen, mask), found, next);
        LLVMPositionBuilderAtEnd(widen->builder, found);
        do_lane(serial, tr_memory_first_lane(widen, mask));
        LLVMBuildUnreachable(widen->builder);
        LLVMPositionBuilderAtEnd(widen->builder, next);
    }
}

/* ---- all of it ---- */

static void do_copies(struct serial *serial)
{
    struct tr_widen *widen = serial->widen;
    uint32_t value = serial->sequence->values[0];
    bool is_seen = tr_is_seen(instruction(serial, 0));
    bool is_done = is_seen && do_together(serial);
    serial->copies = 1;
    for (uint32_t c = 0; c < widen->copies; c++) {
        bool is_holder = result_type(serial) != NULL && tr_widen_holder(widen, value, c) == c;
        if (is_done && is_holder)
            tr_widen_define(widen, value, c, no_results(serial));
        if (is_done || (!is_seen && !is_holder))
            continue;
        serial->copy = c;
        LLVMValueRef mask = is_seen ? widen->active.mask[c] : tr_widen_mask_for(widen, value, c);
        LLVMValueRef results = do_lanes(serial, mask);
        if (is_holder)
            tr_widen_define(widen, value, c, results);
    }
}

void tr_memory_serial(struct tr_widen *widen, uint32_t value)
{
    struct tr_sequence sequence;
    if (tr_plan_ends_exchange(widen->iteration, value))
        return;
    if (!tr_plan_find_exchange(widen->iteration, value, &sequence))
        sequence = (struct tr_sequence){.count = 1, .values = {value}};
    struct serial serial = {.widen = widen, .sequence = &sequence};
    if (never_returns(instruction(&serial, 0)))
        do_first_lane(&serial);
    else if (!tr_memory_combine(widen, &sequence))
        do_copies(&serial);
}
