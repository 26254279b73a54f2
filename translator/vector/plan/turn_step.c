/* SPDX-License-Identifier: Apache-2.0
 *
 * How far values go on in a turn of a loop, as a sum of products of what does not change in it.
 */
#include "translator/vector/plan/turn_step.h"

#include "translator/vector/plan/access_plan.h"

/* Sums of sums of the same values are not looked at for ever. */
#define VALUES_MAX 200

struct tr_turning tr_turning_around(const struct tr_iteration *iteration, uint32_t value)
{
    uint32_t loop = iteration->loops.innermost[iteration->graph.values[value].segment];
    return (struct tr_turning){.iteration = iteration,
                               .loop = loop == TR_NONE ? NULL : &iteration->loops.loops[loop],
                               .values_left = VALUES_MAX,
                               .context = {.arena = (struct pxr_arena *)&iteration->graph.arena,
                                           .layout = LLVMGetModuleDataLayout(
                                               LLVMGetGlobalParent(iteration->graph.function))}};
}

bool tr_turn_is_inside(const struct tr_turning *turning, LLVMValueRef operand)
{
    uint32_t number = tr_graph_number(&turning->iteration->graph, operand);
    if (number == TR_NONE)
        return false;
    uint32_t segment = turning->iteration->graph.values[number].segment;
    return segment != TR_NONE && tr_set_has(&turning->loop->segments, segment);
}

bool tr_turn_is_fixed(const struct tr_turning *turning, LLVMValueRef operand)
{
    return !tr_turn_is_inside(turning, operand) && tr_is_same_in_row(turning->iteration, operand);
}

static struct tr_number *number(const struct tr_turning *turning, uint64_t n)
{
    return tr_number_constant(&turning->context, 64, n);
}

/* A fixed value as 64 bits. */
static struct tr_number *fixed(const struct tr_turning *turning, LLVMValueRef operand)
{
    struct tr_number *as_it_is = tr_number_of(&turning->context, operand);
    return tr_number_combined(&turning->context, TR_NUMBER_SEXT, 64, as_it_is, NULL);
}

static struct tr_number *sum(const struct tr_turning *turning, struct tr_number *a,
                             struct tr_number *b)
{
    return tr_number_combined(&turning->context, TR_NUMBER_SUM, 64, a, b);
}

static struct tr_number *product(const struct tr_turning *turning, struct tr_number *a,
                                 struct tr_number *b)
{
    return tr_number_combined(&turning->context, TR_NUMBER_PRODUCT, 64, a, b);
}

/* The factor of a multiplication by a constant, or 0. */
static int64_t constant_factor(LLVMValueRef inst)
{
    LLVMValueRef operand = LLVMGetOperand(inst, 1);
    if (LLVMIsAConstantInt(operand) == NULL)
        return 0;
    uint64_t constant = LLVMConstIntGetZExtValue(operand);
    if (LLVMGetInstructionOpcode(inst) == LLVMMul)
        return LLVMConstIntGetSExtValue(operand);
    return constant < 32 ? (int64_t)1 << constant : 0;
}

bool tr_turn_is_sum(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    return opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(inst));
}

struct tr_number *tr_turn_added(const struct tr_turning *turning, LLVMValueRef value,
                                LLVMValueRef start)
{
    if (value == start)
        return number(turning, 0);
    if (!tr_turn_is_inside(turning, value))
        return NULL;
    struct tr_number *added = NULL;
    LLVMValueRef from = NULL;
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind) {
        struct tr_sum parts = tr_plan_sum(turning->iteration, value);
        added = number(turning, parts.offset);
        from = parts.base == value ? NULL : parts.base;
        for (uint32_t i = 0; i < parts.count; i++) {
            if (!tr_turn_is_fixed(turning, parts.terms[i].index))
                return NULL;
            struct tr_number *factor = number(turning, parts.terms[i].factor);
            struct tr_number *more = fixed(turning, parts.terms[i].index);
            added = sum(turning, added, product(turning, more, factor));
        }
    } else if (tr_turn_is_sum(value)) {
        unsigned other = tr_turn_is_fixed(turning, LLVMGetOperand(value, 1)) ? 1 : 0;
        if (!tr_turn_is_fixed(turning, LLVMGetOperand(value, other)))
            return NULL;
        added = fixed(turning, LLVMGetOperand(value, other));
        from = LLVMGetOperand(value, 1 - other);
    }
    return from == NULL ? NULL : sum(turning, tr_turn_added(turning, from, start), added);
}

struct tr_number *tr_turn_step_of_phi(const struct tr_turning *turning, const struct tr_value *phi)
{
    LLVMValueRef next = NULL;
    if (phi->segment != turning->loop->header)
        return NULL;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        if (phi->incoming[i] == TR_NONE || !tr_set_has(&turning->loop->segments, phi->incoming[i]))
            continue;
        LLVMValueRef operand = LLVMGetOperand(phi->llvm, i);
        if (next != NULL && next != operand)
            return NULL;
        next = operand;
    }
    return next == NULL ? NULL : tr_turn_added(turning, next, phi->llvm);
}

static struct tr_number *step_of_product(struct tr_turning *turning, LLVMValueRef inst)
{
    unsigned other = tr_turn_is_fixed(turning, LLVMGetOperand(inst, 1)) ? 1 : 0;
    if (!tr_turn_is_fixed(turning, LLVMGetOperand(inst, other)))
        return NULL;
    struct tr_number *step = tr_turn_step(turning, LLVMGetOperand(inst, 1 - other));
    int64_t factor = constant_factor(inst);
    if (step == NULL || (LLVMGetInstructionOpcode(inst) == LLVMShl && factor == 0))
        return NULL;
    struct tr_number *by = factor != 0 ? number(turning, (uint64_t)factor)
                                       : fixed(turning, LLVMGetOperand(inst, other));
    return product(turning, step, by);
}

static struct tr_number *step_of_address(struct tr_turning *turning, LLVMValueRef address)
{
    struct tr_sum parts = tr_plan_sum(turning->iteration, address);
    struct tr_number *step = parts.base == address ? NULL : tr_turn_step(turning, parts.base);
    for (uint32_t i = 0; step != NULL && i < parts.count; i++) {
        struct tr_number *more = tr_turn_step(turning, parts.terms[i].index);
        step = sum(turning, step, product(turning, more, number(turning, parts.terms[i].factor)));
    }
    return step;
}

struct tr_number *tr_turn_step(struct tr_turning *turning, LLVMValueRef value)
{
    if (!tr_turn_is_inside(turning, value))
        return number(turning, 0);
    if (turning->values_left == 0)
        return NULL;
    turning->values_left--;
    const struct tr_graph *graph = &turning->iteration->graph;
    const struct tr_value *inst = &graph->values[tr_graph_number(graph, value)];
    if (inst->opcode == LLVMPHI)
        return tr_turn_step_of_phi(turning, inst);
    if (inst->opcode == LLVMSExt || inst->opcode == LLVMZExt || inst->opcode == LLVMIntToPtr)
        return tr_turn_step(turning, LLVMGetOperand(value, 0));
    if (inst->opcode == LLVMGetElementPtr)
        return step_of_address(turning, value);
    if (inst->opcode == LLVMMul || inst->opcode == LLVMShl)
        return step_of_product(turning, value);
    if (!tr_turn_is_sum(value))
        return NULL;
    struct tr_number *a = tr_turn_step(turning, LLVMGetOperand(value, 0));
    return a == NULL ? NULL : sum(turning, a, tr_turn_step(turning, LLVMGetOperand(value, 1)));
}

/* From lane to lane of an access that goes through neighbours; 0: it does not, or is done together
 * with another. */
static uint32_t bytes_apart(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_access_plan *plan = iteration->accesses[number];
    if (plan == NULL)
        return 0;
    if (plan->forms[TR_LANES_ALL] == TR_ACCESS_CHECKED)
        return plan->memory.bytes;
    bool is_wide = plan->forms[TR_LANES_ALL] == TR_ACCESS_WIDE;
    bool is_done_with_another = plan->fields.place != number;
    int64_t stride = is_wide && !is_done_with_another ? plan->memory.stride : 0;
    return (uint32_t)(stride < 0 ? -stride : stride);
}

bool tr_turns_are_far(const struct tr_iteration *iteration, uint32_t number)
{
    if (bytes_apart(iteration, number) == 0)
        return false;
    struct tr_turning turning = tr_turning_around(iteration, number);
    if (turning.loop == NULL)
        return false;
    struct tr_number *step = tr_turn_step(&turning, iteration->accesses[number]->memory.address);
    int64_t least = iteration->target->ahead.least_step;
    return step != NULL && (!tr_is_constant_number(step) || tr_constant_of(step) >= least ||
                            tr_constant_of(step) <= -least);
}

static void look_at_loop(const struct tr_iteration *iteration, uint32_t loop,
                         struct tr_far_turns *turns)
{
    uint32_t length = 0;
    uint32_t accesses = 0;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        uint32_t segment = iteration->graph.values[v].segment;
        if (segment == TR_NONE || iteration->loops.innermost[segment] != loop)
            continue;
        length += iteration->shapes.values[v].kind == TR_VARYING;
        if (!tr_turns_are_far(iteration, v))
            continue;
        uint32_t bytes = bytes_apart(iteration, v);
        accesses++;
        if (turns->bytes == 0 || bytes < turns->bytes)
            turns->bytes = bytes;
    }
    if (accesses > turns->accesses)
        turns->accesses = accesses;
    if (length > turns->length)
        turns->length = length;
}

/* Of kernels with more loops nobody knows which is the one that counts. */
#define LOOPS_MAX 16

struct tr_far_turns tr_find_far_turns(const struct tr_iteration *iteration)
{
    struct tr_far_turns turns = {0};
    for (uint32_t l = 0; iteration->loops.count <= LOOPS_MAX && l < iteration->loops.count; l++)
        look_at_loop(iteration, l, &turns);
    return turns;
}
