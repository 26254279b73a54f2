/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that are to neighbours in memory unless an index of fewer bits than an address wraps
 * between two lanes (memory/checked.c).
 */
#include "translator/vector/plan/access.h"

/* A bound on the lanes behind the first one: width * jam is less. */
#define MAX_LANES 4096

static struct tr_shape shape_of(const struct tr_iteration *iteration, LLVMValueRef operand)
{
    uint32_t number = tr_graph_number(&iteration->graph, operand);
    return number == TR_NONE ? (struct tr_shape){.kind = TR_UNIFORM}
                             : iteration->shapes.values[number];
}

static bool is_same_in_row(const struct tr_iteration *iteration, LLVMValueRef operand)
{
    struct tr_shape shape = shape_of(iteration, operand);
    return shape.kind != TR_VARYING && shape.stride == 0;
}

/* The only term that differs along the row, if there is one. */
static bool find_term(const struct tr_iteration *iteration, struct tr_checked *checked)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < checked->sum.count; i++) {
        if (is_same_in_row(iteration, checked->sum.terms[i].index))
            continue;
        checked->term = i;
        found++;
    }
    return found == 1 && is_same_in_row(iteration, checked->sum.base);
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
    return shape.kind == TR_AFFINE && shape.stride > 0 && shape.stride < INT32_MAX / MAX_LANES;
}

bool tr_plan_find_checked(const struct tr_iteration *iteration, const struct tr_memory *memory,
                          struct tr_checked *checked)
{
    if (memory->kind != TR_MEMORY_GENERAL || memory->has_stride || !memory->is_word ||
        (LLVMGetVolatile(memory->inst) && !tr_plan_is_relaxed(memory->inst)))
        return false;
    checked->sum = tr_plan_sum(iteration, memory->address);
    return find_term(iteration, checked) && find_narrow(iteration, checked) &&
           (uint64_t)checked->stride * checked->sum.terms[checked->term].factor == memory->bytes;
}
