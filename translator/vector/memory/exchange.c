/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic operations. On the block's memory they are a volatile load, the operation and a volatile
 * store, which a lane has to finish before the next one begins. Where all lanes change the same
 * integer, their operands are combined and change it once; where the lanes of a sum ask for the old
 * value, they get the values they would have got one after the other.
 */
#include "translator/module/walk.h"
#include "translator/vector/memory/load_store.h"

#include "translator/analysis/shape.h"
#include "translator/vector/emit/form.h"

static const struct tr_value *value_of(const struct tr_iteration *iteration, uint32_t value)
{
    return &iteration->graph.values[value];
}

/* ---- operations that can be combined ---- */

enum identity { IDENTITY_ZEROS, IDENTITY_ONES, IDENTITY_LEAST, IDENTITY_GREATEST };

struct operation {
    const char *reduce;    /* combines the lanes of a vector */
    const char *intrinsic; /* combines two values; NULL: opcode does */
    LLVMOpcode opcode;
    LLVMAtomicRMWBinOp atomic;
    enum identity identity;
    bool is_idempotent; /* x op x is x */
};

static const struct operation operations[] = {
    {"llvm.vector.reduce.add", NULL, LLVMAdd, LLVMAtomicRMWBinOpAdd, IDENTITY_ZEROS, false},
    {"llvm.vector.reduce.add", NULL, LLVMSub, LLVMAtomicRMWBinOpSub, IDENTITY_ZEROS, false},
    {"llvm.vector.reduce.and", NULL, LLVMAnd, LLVMAtomicRMWBinOpAnd, IDENTITY_ONES, true},
    {"llvm.vector.reduce.or", NULL, LLVMOr, LLVMAtomicRMWBinOpOr, IDENTITY_ZEROS, true},
    {"llvm.vector.reduce.xor", NULL, LLVMXor, LLVMAtomicRMWBinOpXor, IDENTITY_ZEROS, false},
    {"llvm.vector.reduce.smax", "llvm.smax", LLVMCall, LLVMAtomicRMWBinOpMax, IDENTITY_LEAST, true},
    {"llvm.vector.reduce.smin", "llvm.smin", LLVMCall, LLVMAtomicRMWBinOpMin, IDENTITY_GREATEST,
     true},
    {"llvm.vector.reduce.umax", "llvm.umax", LLVMCall, LLVMAtomicRMWBinOpUMax, IDENTITY_ZEROS,
     true},
    {"llvm.vector.reduce.umin", "llvm.umin", LLVMCall, LLVMAtomicRMWBinOpUMin, IDENTITY_ONES, true},
};

#define OPERATION_COUNT (sizeof operations / sizeof operations[0])

static const struct operation *operation_of(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    for (size_t i = 0; i < OPERATION_COUNT; i++) {
        const struct operation *operation = &operations[i];
        if (opcode == LLVMAtomicRMW) {
            if (LLVMGetAtomicRMWBinOp(inst) == operation->atomic)
                return operation;
        } else if (opcode == operation->opcode) {
            if (operation->intrinsic == NULL || tr_calls_intrinsic(inst, operation->intrinsic))
                return operation;
        }
    }
    return NULL;
}

/* An operation that can combine the operands of lanes. */
struct change {
    const struct operation *operation;
    LLVMValueRef address;
    LLVMValueRef operand;
    LLVMValueRef inst; /* the operation */
    unsigned position; /* its operand */
    bool has_result;   /* the old value is used */
};

static bool is_atomic_change(const struct tr_iteration *iteration,
                             const struct tr_sequence *sequence, struct change *change)
{
    const struct tr_value *atomic = value_of(iteration, sequence->values[0]);
    if (sequence->count != 1 || atomic->opcode != LLVMAtomicRMW)
        return false;
    change->has_result = atomic->use_count != 0;
    change->address = LLVMGetOperand(atomic->llvm, 0);
    change->inst = atomic->llvm;
    change->position = 1;
    return true;
}

static bool is_stored_change(const struct tr_iteration *iteration,
                             const struct tr_sequence *sequence, struct change *change)
{
    if (sequence->count != 3)
        return false;
    const struct tr_value *load = value_of(iteration, sequence->values[0]);
    const struct tr_value *operation = value_of(iteration, sequence->values[1]);
    const struct tr_value *store = value_of(iteration, sequence->values[2]);
    if (operation->operand_count < 2 || store->operands[0] != sequence->values[1])
        return false;
    change->has_result = load->use_count != 1 || operation->use_count != 1;
    change->address = LLVMGetOperand(load->llvm, 0);
    change->inst = operation->llvm;
    change->position = operation->operands[0] == sequence->values[0] ? 1 : 0;
    bool is_subtrahend = operation->opcode == LLVMSub && change->position == 0;
    return operation->operands[0] != operation->operands[1] && !is_subtrahend;
}

static bool is_sum(const struct change *change)
{
    return change->operation->opcode == LLVMAdd || change->operation->opcode == LLVMSub;
}

static bool find_change(const struct tr_iteration *iteration, const struct tr_sequence *sequence,
                        struct change *change)
{
    if (!is_atomic_change(iteration, sequence, change) &&
        !is_stored_change(iteration, sequence, change))
        return false;
    change->operation = operation_of(change->inst);
    change->operand = LLVMGetOperand(change->inst, change->position);
    LLVMTypeRef type = LLVMTypeOf(change->operand);
    return change->operation != NULL && LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(type) <= 64 && tr_is_same_in_row(iteration, change->address) &&
           (!change->has_result || is_sum(change));
}

bool tr_memory_can_combine(const struct tr_iteration *iteration, const struct tr_sequence *sequence)
{
    struct change change = {0};
    return find_change(iteration, sequence, &change);
}

/* ---- combining ---- */

static LLVMValueRef identity_of(const struct change *change)
{
    LLVMTypeRef type = LLVMTypeOf(change->operand);
    uint64_t top = UINT64_C(1) << (LLVMGetIntTypeWidth(type) - 1);
    switch (change->operation->identity) {
    case IDENTITY_ONES:
        return LLVMConstAllOnes(type);
    case IDENTITY_LEAST:
        return LLVMConstInt(type, top, false);
    case IDENTITY_GREATEST:
        return LLVMConstInt(type, top - 1, false);
    default:
        return LLVMConstNull(type);
    }
}

static LLVMValueRef active_count(struct tr_widen *widen, LLVMValueRef mask, LLVMTypeRef type)
{
    if (mask == NULL)
        return LLVMConstInt(type, widen->width, false);
    LLVMValueRef bits = tr_memory_bits(widen, mask);
    LLVMTypeRef bits_type = LLVMTypeOf(bits);
    LLVMValueRef count = tr_memory_call(widen, "llvm.ctpop", &bits_type, 1, &bits, 1);
    return LLVMBuildIntCast2(widen->builder, count, type, false, "");
}

/* Each lane's operand, and in lanes that are not active one that changes nothing. */
static LLVMValueRef active_operands(struct tr_widen *widen, const struct change *change,
                                    uint32_t copy)
{
    LLVMValueRef vector = tr_widen_vector(widen, change->operand, copy);
    LLVMValueRef mask = widen->active.mask[copy];
    if (mask == NULL || tr_widen_seed(widen, TR_VECTOR_SEED_MASK))
        return vector;
    LLVMValueRef nothing = tr_widen_splat(widen, identity_of(change));
    return LLVMBuildSelect(widen->builder, mask, vector, nothing, "");
}

static LLVMValueRef combine_lanes(struct tr_widen *widen, const struct change *change,
                                  uint32_t copy)
{
    const struct operation *operation = change->operation;
    LLVMValueRef mask = widen->active.mask[copy];
    if (tr_is_same_in_row(widen->iteration, change->operand)) {
        LLVMValueRef scalar = tr_widen_scalar(widen, change->operand, copy);
        LLVMTypeRef type = LLVMTypeOf(scalar);
        if (is_sum(change))
            return LLVMBuildMul(widen->builder, scalar, active_count(widen, mask, type), "");
        if (operation->is_idempotent &&
            (mask == NULL || tr_memory_is_same_for_all(widen, change->operand)))
            return scalar;
    }
    LLVMValueRef vector = active_operands(widen, change, copy);
    LLVMTypeRef type = LLVMTypeOf(vector);
    return tr_memory_call(widen, operation->reduce, &type, 1, &vector, 1);
}

static LLVMValueRef combine_two(struct tr_widen *widen, const struct change *change, LLVMValueRef a,
                                LLVMValueRef b)
{
    const struct operation *operation = change->operation;
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef both[] = {a, b};
    if (operation->intrinsic != NULL)
        return tr_memory_call(widen, operation->intrinsic, &type, 1, both, 2);
    LLVMOpcode opcode = operation->opcode == LLVMSub ? LLVMAdd : operation->opcode;
    return LLVMBuildBinOp(widen->builder, opcode, a, b, "");
}

/* In lane k the sum of the lanes before it. Steps of 1, 2, 4, … lanes. */
static LLVMValueRef sums_before(struct tr_widen *widen, LLVMValueRef vector)
{
    LLVMValueRef zeros = LLVMConstNull(LLVMTypeOf(vector));
    LLVMValueRef sums = vector;
    for (uint32_t distance = 1; distance < widen->width; distance *= 2) {
        uint32_t lanes[TR_MAX_WIDTH];
        for (uint32_t k = 0; k < widen->width; k++)
            lanes[k] = k < distance ? widen->width : k - distance;
        LLVMValueRef earlier = tr_widen_shuffle(widen, sums, zeros, lanes, widen->width);
        sums = LLVMBuildAdd(widen->builder, sums, earlier, "");
    }
    return LLVMBuildSub(widen->builder, sums, vector, "");
}

/* Does the operation once, at this address, with the operand combined from all lanes. Returns the
 * old value. */
static LLVMValueRef change_once(struct tr_widen *widen, const struct tr_sequence *sequence,
                                const struct change *change, LLVMValueRef address,
                                LLVMValueRef operand)
{
    LLVMValueRef before = NULL;
    LLVMValueRef first = NULL;
    for (uint32_t i = 0; i < sequence->count; i++) {
        const struct tr_value *value = value_of(widen->iteration, sequence->values[i]);
        LLVMValueRef clone = LLVMInstructionClone(value->llvm);
        if (value->llvm == change->inst) {
            LLVMSetOperand(clone, change->position, operand);
            LLVMSetOperand(clone, 1 - change->position, before == NULL ? address : before);
            tr_forget_flags(clone);
        } else if (value->opcode == LLVMLoad) {
            LLVMSetOperand(clone, 0, address);
        } else {
            LLVMSetOperand(clone, 0, before);
            LLVMSetOperand(clone, 1, address);
        }
        LLVMInsertIntoBuilder(widen->builder, clone);
        before = clone;
        first = first == NULL ? clone : first;
    }
    return first;
}

/* The copies that share one address. */
struct combined {
    LLVMValueRef operand;               /* of all their lanes */
    LLVMValueRef before[TR_MAX_COPIES]; /* by copy, for a sum whose old value is used: the sum of
                                           the lanes before each */
};

static void combine_copy(struct tr_widen *widen, const struct change *change, uint32_t copy,
                         struct combined *combined)
{
    if (change->has_result) {
        LLVMValueRef before = sums_before(widen, active_operands(widen, change, copy));
        if (combined->operand != NULL)
            before =
                LLVMBuildAdd(widen->builder, before, tr_widen_splat(widen, combined->operand), "");
        combined->before[copy] = before;
    }
    LLVMValueRef more = combine_lanes(widen, change, copy);
    combined->operand =
        combined->operand == NULL ? more : combine_two(widen, change, combined->operand, more);
}

/* Where there are no results to use, only the sequence itself asks for them. */
static LLVMValueRef result_of(struct tr_widen *widen, const struct change *change,
                              LLVMValueRef first, LLVMValueRef before)
{
    if (!change->has_result)
        return LLVMGetPoison(tr_widen_type(widen, LLVMTypeOf(first)));
    LLVMOpcode opcode = change->operation->opcode;
    return LLVMBuildBinOp(widen->builder, opcode, tr_widen_splat(widen, first), before, "");
}

/* Combines the copies whose address is held with copy `holder`. */
static void combine_copies(struct tr_widen *widen, const struct tr_sequence *sequence,
                           const struct change *change, uint32_t holder)
{
    struct combined combined = {0};
    for (uint32_t c = holder; c < widen->copies; c++)
        if (tr_memory_holder(widen, change->address, c) == holder)
            combine_copy(widen, change, c, &combined);
    uint32_t bytes = LLVMGetIntTypeWidth(LLVMTypeOf(change->operand)) / 8;
    LLVMValueRef address = tr_memory_address(widen, change->address, bytes, holder);
    LLVMValueRef first = change_once(widen, sequence, change, address, combined.operand);
    for (uint32_t c = holder; c < widen->copies; c++)
        if (tr_memory_holder(widen, change->address, c) == holder)
            tr_widen_define(widen, sequence->values[0], c,
                            result_of(widen, change, first, combined.before[c]));
}

bool tr_memory_combine(struct tr_widen *widen, const struct tr_sequence *sequence)
{
    struct change change = {0};
    if (!find_change(widen->iteration, sequence, &change))
        return false;
    for (uint32_t c = 0; c < widen->copies; c++)
        if (tr_memory_holder(widen, change.address, c) == c)
            combine_copies(widen, sequence, &change, c);
    return true;
}
