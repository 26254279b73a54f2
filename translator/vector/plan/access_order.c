/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses whose order matters: which ones a vector may do for all lanes at once, and which belong
 * to an exchange that a lane finishes before the next one begins.
 */
#include "translator/analysis/shape.h"
#include "translator/vector/plan/access.h"

/* ---- order ---- */

/* Bytes of the type; 0: there are no atomic accesses of it. */
static uint32_t word_bytes(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind: {
        unsigned width = LLVMGetIntTypeWidth(type);
        return width == 8 || width == 16 || width == 32 || width == 64 ? width / 8 : 0;
    }
    case LLVMFloatTypeKind:
        return 4;
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind:
        return 8;
    default:
        return 0;
    }
}

bool tr_plan_is_relaxed(LLVMValueRef access)
{
    bool is_store = LLVMIsAStoreInst(access) != NULL;
    if ((!is_store && LLVMIsALoadInst(access) == NULL) ||
        LLVMGetOrdering(access) != LLVMAtomicOrderingMonotonic)
        return false;
    uint32_t bytes = word_bytes(LLVMTypeOf(is_store ? LLVMGetOperand(access, 0) : access));
    return bytes != 0 && LLVMGetAlignment(access) >= bytes;
}

bool tr_plan_is_ordered(LLVMValueRef access)
{
    return LLVMGetOrdering(access) != LLVMAtomicOrderingNotAtomic && !tr_plan_is_relaxed(access);
}

/* ---- exchanges ---- */

static const struct tr_value *value_of(const struct tr_iteration *iteration, uint32_t value)
{
    return &iteration->graph.values[value];
}

static uint32_t segment_end(const struct tr_iteration *iteration, uint32_t value)
{
    const struct tr_segment *segment =
        &iteration->graph.segments[value_of(iteration, value)->segment];
    return segment->first_value + segment->value_count;
}

static bool is_volatile_access(const struct tr_value *value, uint32_t opcode)
{
    return value->opcode == opcode && LLVMGetVolatile(value->llvm) &&
           LLVMGetOrdering(value->llvm) == LLVMAtomicOrderingNotAtomic;
}

static bool is_hint(const struct tr_value *value)
{
    return value->opcode == LLVMCall && tr_is_hint(value->llvm);
}

/* The store to the address of the load, with only arithmetic in between; TR_NONE: none. */
static uint32_t find_end(const struct tr_iteration *iteration, uint32_t load)
{
    LLVMValueRef pointer = LLVMGetOperand(value_of(iteration, load)->llvm, 0);
    for (uint32_t v = load + 1; v < segment_end(iteration, load); v++) {
        const struct tr_value *value = value_of(iteration, v);
        if (is_volatile_access(value, LLVMStore))
            return LLVMGetOperand(value->llvm, 1) == pointer ? v : TR_NONE;
        if (!tr_is_function_of_operands(value) && !is_hint(value))
            return TR_NONE;
    }
    return TR_NONE;
}

static bool uses(const struct tr_value *user, uint32_t value)
{
    for (uint32_t i = 0; i < user->operand_count; i++)
        if (user->operands[i] == value)
            return true;
    return false;
}

/* Collects, from the store back to the load, the instructions that compute the stored value. */
static bool collect(const struct tr_iteration *iteration, uint32_t load, uint32_t store,
                    struct tr_sequence *sequence)
{
    uint32_t found[TR_MAX_SEQUENCE] = {store};
    uint32_t count = 1;
    for (uint32_t v = store - 1; v > load; v--) {
        bool is_needed = false;
        for (uint32_t i = 0; i < count; i++)
            is_needed |= uses(value_of(iteration, found[i]), v);
        if (!is_needed)
            continue;
        if (count + 1 == TR_MAX_SEQUENCE)
            return false;
        found[count++] = v;
    }
    found[count++] = load;
    sequence->count = count;
    for (uint32_t i = 0; i < count; i++)
        sequence->values[i] = found[count - 1 - i];
    return true;
}

bool tr_plan_find_exchange(const struct tr_iteration *iteration, uint32_t load,
                           struct tr_sequence *sequence)
{
    if (!is_volatile_access(value_of(iteration, load), LLVMLoad))
        return false;
    uint32_t store = find_end(iteration, load);
    return store != TR_NONE && collect(iteration, load, store, sequence);
}

bool tr_plan_ends_exchange(const struct tr_iteration *iteration, uint32_t store)
{
    struct tr_sequence sequence;
    if (!is_volatile_access(value_of(iteration, store), LLVMStore))
        return false;
    const struct tr_segment *segment =
        &iteration->graph.segments[value_of(iteration, store)->segment];
    for (uint32_t v = store; v-- > segment->first_value;)
        if (is_volatile_access(value_of(iteration, v), LLVMLoad))
            return tr_plan_find_exchange(iteration, v, &sequence) &&
                   sequence.values[sequence.count - 1] == store;
    return false;
}
