/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that are to neighbours in memory unless an index of fewer bits than an address wraps
 * between two lanes (memory/checked.c): where LLVM has found out that it does not, or that it may.
 */
#include "translator/vector/plan/access.h"

static struct tr_shape shape_of(const struct tr_iteration *iteration, LLVMValueRef operand)
{
    uint32_t number = tr_graph_number(&iteration->graph, operand);
    return number == TR_NONE ? (struct tr_shape){.kind = TR_UNIFORM}
                             : iteration->shapes.values[number];
}

/* The only term that differs along the row, if there is one. */
static bool find_term(const struct tr_iteration *iteration, struct tr_checked *checked)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < checked->sum.count; i++) {
        if (tr_is_same_in_row(iteration, checked->sum.terms[i].index))
            continue;
        checked->term = i;
        found++;
    }
    return found == 1 && tr_is_same_in_row(iteration, checked->sum.base);
}

static bool find_narrow(const struct tr_iteration *iteration, struct tr_checked *checked)
{
    LLVMValueRef index = checked->sum.terms[checked->term].index;
    checked->is_signed = LLVMIsASExtInst(index) != NULL;
    if (!checked->is_signed && LLVMIsAZExtInst(index) == NULL)
        return false;
    checked->narrow = LLVMGetOperand(index, 0);
    if (LLVMGetIntTypeWidth(LLVMTypeOf(index)) != 64 ||
        LLVMGetIntTypeWidth(LLVMTypeOf(checked->narrow)) != 32)
        return false;
    struct tr_shape shape = shape_of(iteration, checked->narrow);
    checked->stride = shape.stride;
    return shape.kind == TR_AFFINE && shape.stride > 0 && shape.stride < INT32_MAX / TR_MAX_LANES;
}

/* ---- indices that do not wrap ---- */

static bool add_exact(const struct tr_iteration *iteration, LLVMValueRef narrow, uint64_t factor,
                      struct tr_sum *sum);

static bool add_term(struct tr_sum *sum, LLVMValueRef narrow, uint64_t factor)
{
    if (sum->count == TR_SUM_TERMS)
        return false;
    sum->terms[sum->count++] =
        (struct tr_term){.index = narrow, .factor = factor, .is_unsigned = true};
    return true;
}

static bool get_factor(LLVMValueRef inst, LLVMOpcode opcode, uint64_t *factor)
{
    LLVMValueRef right = LLVMGetOperand(inst, 1);
    if (LLVMIsAConstantInt(right) == NULL || !LLVMGetNUW(inst))
        return false;
    uint64_t constant = LLVMConstIntGetZExtValue(right);
    *factor = opcode == LLVMShl ? UINT64_C(1) << constant : constant;
    return opcode == LLVMMul || constant < 32;
}

/* Of an instruction whose flags say that, as an unsigned number, it does not wrap. */
static bool add_exact_parts(const struct tr_iteration *iteration, LLVMValueRef inst,
                            uint64_t factor, struct tr_sum *sum)
{
    uint64_t by = 0;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    switch (opcode) {
    case LLVMAdd:
    case LLVMOr:
        if (opcode == LLVMAdd ? !LLVMGetNUW(inst) : !LLVMGetIsDisjoint(inst))
            return false;
        return add_exact(iteration, LLVMGetOperand(inst, 0), factor, sum) &&
               add_exact(iteration, LLVMGetOperand(inst, 1), factor, sum);
    case LLVMMul:
    case LLVMShl:
        return get_factor(inst, opcode, &by) &&
               add_exact(iteration, LLVMGetOperand(inst, 0), factor * by, sum);
    default:
        return false;
    }
}

/* Adds a number, extended with zeros, as parts that are the same along the row, and multiples of
 * the row's counter. What the flags say holds in lanes that use the number; in others the sum is
 * what these imply. */
static bool add_exact(const struct tr_iteration *iteration, LLVMValueRef narrow, uint64_t factor,
                      struct tr_sum *sum)
{
    uint32_t number = tr_graph_number(&iteration->graph, narrow);
    if (number == iteration->x || tr_is_same_in_row(iteration, narrow))
        return add_term(sum, narrow, factor);
    return LLVMIsAInstruction(narrow) != NULL && add_exact_parts(iteration, narrow, factor, sum);
}

/* How far the sum's address is from one lane to the next: all that differs is the row's counter. */
static uint64_t step_of(const struct tr_iteration *iteration, const struct tr_sum *sum)
{
    uint64_t step = 0;
    for (uint32_t i = 0; i < sum->count; i++)
        if (tr_graph_number(&iteration->graph, sum->terms[i].index) == iteration->x)
            step += sum->terms[i].factor;
    return step;
}

/* Replaces the term that differs along the row by its parts. */
static bool take_exact(const struct tr_iteration *iteration, const struct tr_memory *memory,
                       struct tr_checked *checked)
{
    struct tr_sum parts = checked->sum;
    uint64_t factor = parts.terms[checked->term].factor;
    parts.terms[checked->term] = parts.terms[--parts.count];
    if (checked->is_signed || !add_exact(iteration, checked->narrow, factor, &parts) ||
        step_of(iteration, &parts) != memory->bytes)
        return false;
    checked->sum = parts;
    checked->is_exact = true;
    return true;
}

bool tr_plan_find_checked(const struct tr_iteration *iteration, const struct tr_memory *memory,
                          struct tr_checked *checked)
{
    if (memory->kind != TR_MEMORY_GENERAL || memory->has_stride || !memory->is_word ||
        (LLVMGetVolatile(memory->inst) && !tr_plan_is_relaxed(memory->inst)))
        return false;
    *checked = (struct tr_checked){.sum = tr_plan_sum(iteration, memory->address)};
    if (!find_term(iteration, checked))
        return false;
    bool is_narrow = find_narrow(iteration, checked);
    if ((!is_narrow && !tr_plan_find_clamped(iteration, checked)) ||
        (uint64_t)checked->stride * checked->sum.terms[checked->term].factor != memory->bytes)
        return false;
    if (is_narrow)
        take_exact(iteration, memory, checked);
    return true;
}
