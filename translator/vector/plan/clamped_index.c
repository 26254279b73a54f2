/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that are to neighbours in memory where no lane is at a border: programs limit an index
 * to the range of an array, `min(x + 1, last)`, and only the lanes at its ends are not neighbours
 * (memory/checked.c). A lane that is at the border often has nothing to do there.
 */
#include <string.h>

#include "translator/vector/plan/access.h"

static bool add_parts(const struct tr_iteration *iteration, LLVMValueRef value, uint64_t factor,
                      struct tr_checked *checked);

static bool add_term(const struct tr_iteration *iteration, LLVMValueRef value, uint64_t factor,
                     struct tr_checked *checked)
{
    struct tr_sum *sum = &checked->unclamped;
    uint32_t number = tr_graph_number(&iteration->graph, value);
    if (LLVMIsAConstantInt(value) != NULL) {
        sum->offset += factor * (uint64_t)LLVMConstIntGetSExtValue(value);
        return true;
    }
    if (sum->count == TR_SUM_TERMS)
        return false;
    sum->terms[sum->count++] = (struct tr_term){.index = value, .factor = factor};
    if (number != TR_NONE)
        checked->stride += (int64_t)factor * iteration->shapes.values[number].stride;
    return true;
}

/* The operand that the call limits, where all lanes have the limit in common; NULL: it is no such
 * call. */
static LLVMValueRef find_limited(const struct tr_iteration *iteration, LLVMValueRef call)
{
    static const char *const names[] = {"smin", "smax", "umin", "umax"};
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (len != strlen(names[i]) || strncmp(name, names[i], len) != 0)
            continue;
        for (unsigned operand = 0; operand < 2; operand++)
            if (tr_plan_is_same_in_row(iteration, LLVMGetOperand(call, 1 - operand)))
                return LLVMGetOperand(call, operand);
    }
    return NULL;
}

static bool add_scaled(const struct tr_iteration *iteration, LLVMValueRef inst, uint64_t factor,
                       struct tr_checked *checked)
{
    LLVMValueRef right = LLVMGetOperand(inst, 1);
    if (LLVMIsAConstantInt(right) == NULL)
        return false;
    uint64_t constant = LLVMConstIntGetZExtValue(right);
    bool is_shift = LLVMGetInstructionOpcode(inst) == LLVMShl;
    if (is_shift && constant > 31)
        return false;
    return add_parts(iteration, LLVMGetOperand(inst, 0),
                     factor * (is_shift ? UINT64_C(1) << constant : constant), checked);
}

static bool add_instruction(const struct tr_iteration *iteration, LLVMValueRef inst,
                            uint64_t factor, struct tr_checked *checked)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    LLVMValueRef limited;
    switch (opcode) {
    case LLVMOr:
        if (!LLVMGetIsDisjoint(inst))
            return false;
        break;
    case LLVMAdd:
    case LLVMSub:
        break;
    case LLVMMul:
    case LLVMShl:
        return add_scaled(iteration, inst, factor, checked);
    case LLVMCall:
        limited = find_limited(iteration, inst);
        checked->is_clamped |= limited != NULL;
        return limited != NULL && add_parts(iteration, limited, factor, checked);
    default:
        return false;
    }
    uint64_t of_right = opcode == LLVMSub ? -factor : factor;
    return add_parts(iteration, LLVMGetOperand(inst, 0), factor, checked) &&
           add_parts(iteration, LLVMGetOperand(inst, 1), of_right, checked);
}

/* Adds a value, without its limits, as multiples of what is a scalar in vector code. Sums may wrap:
 * lanes are compared with what they add up to. */
static bool add_parts(const struct tr_iteration *iteration, LLVMValueRef value, uint64_t factor,
                      struct tr_checked *checked)
{
    uint32_t number = tr_graph_number(&iteration->graph, value);
    bool is_varying = number != TR_NONE && iteration->shapes.values[number].kind == TR_VARYING;
    if (!is_varying)
        return add_term(iteration, value, factor, checked);
    return LLVMIsAInstruction(value) != NULL && add_instruction(iteration, value, factor, checked);
}

bool tr_plan_find_clamped(const struct tr_iteration *iteration, struct tr_checked *checked)
{
    LLVMValueRef index = checked->sum.terms[checked->term].index;
    bool is_zero_extended = LLVMIsAZExtInst(index) != NULL;
    bool is_extended = LLVMIsASExtInst(index) != NULL || is_zero_extended;
    checked->is_signed = !is_zero_extended || LLVMGetNNeg(index);
    checked->narrow = is_extended ? LLVMGetOperand(index, 0) : index;
    checked->stride = 0;
    checked->unclamped = (struct tr_sum){0};
    uint32_t bits = LLVMGetIntTypeWidth(LLVMTypeOf(checked->narrow));
    return (bits == 32 || bits == 64) && add_parts(iteration, checked->narrow, 1, checked) &&
           checked->is_clamped && checked->stride > 0 && checked->stride < INT32_MAX / TR_MAX_LANES;
}
