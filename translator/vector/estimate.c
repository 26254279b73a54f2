/* SPDX-License-Identifier: Apache-2.0
 *
 * What a nest takes, as vectors and one thread after another: an estimate from the shapes in the
 * iteration and the target's figures (module/figures.def).
 */
#include <string.h>

#include "translator/module/marks.h"
#include "translator/vector/control.h"
#include "translator/vector/plan/groups.h"
#include "translator/vector/version.h"

/* What follows is about programs, not about machines: how often loops run, how lanes part, how much
 * an estimate may be wrong. */

/* Iterations that a loop is taken to make if nobody knows. */
#define LOOP_ITERATIONS 16.0
#define MAX_WEIGHT      4096.0

/* Loops take so much longer if each lane leaves them on its own. */
#define DIVERGENT_LOOP 1.5

/* Gathers by few lanes, selected by data, each from memory of its own: scalar code skips the other
 * lanes, and finds neighbours of the last element in its cache. */
#define SPARSE 1.5

/* Of a single thread whose turns are far apart: each takes a line of its own, which is often gone
 * when the next thread comes for its part, as distances are mostly powers of two. */
#define FAR_ACCESS 16.0

/* At most this part of the time of single threads: the estimate is no better than that. */
#define WORTHWHILE 0.85

static LLVMTypeRef type_of(const struct tr_iteration *iteration, uint32_t value)
{
    return LLVMTypeOf(iteration->graph.values[value].llvm);
}

/* ---- one instruction ---- */

/* What is left of an index for single threads, about. */
#define FOLDED 0.25

/* A call that tells checks of races what a thread does, or what all lanes do. */
#define RACE_CALL 100

static bool is_access(const struct tr_value *value)
{
    return value->opcode == LLVMLoad || value->opcode == LLVMStore;
}

/* Instructions of a multiplication by the inverse, with corrections. */
#define INVERSE 4

/* Of a quotient by a number of all lanes, whose inverse is made once: as much of a quotient. */
#define BY_ONE_NUMBER 0.25

/* The code generator is quick with the instructions of a fused operation on f16: none is used but
 * by the next. */
#define FUSED_HALF_EFFORT 6

static uint32_t fused_half(const struct tr_target *target)
{
    return target->has_roundings ? TR_FUSED_HALF_ROUNDED : TR_FUSED_HALF;
}

static double scalar_cost(const struct tr_figures *figures, const struct tr_value *value)
{
    switch (tr_arithmetic_of(value->llvm)) {
    case TR_ARITHMETIC_NONE:
        return 0;
    case TR_ARITHMETIC_ADDRESS:
        return 0.5;
    case TR_ARITHMETIC_DIVIDE:
        return figures->divide;
    case TR_ARITHMETIC_INTEGER_DIVIDE:
        return figures->integer_divide;
    case TR_ARITHMETIC_INVERSE:
        return INVERSE;
    case TR_ARITHMETIC_FUSED: /* without an instruction it is the same for a vector */
        return figures->fused / figures->vector;
    case TR_ARITHMETIC_FUSED_HALF:
        return TR_FUSED_HALF;
    case TR_ARITHMETIC_SIMPLE:
    case TR_ARITHMETIC_CONVERT:
    case TR_ARITHMETIC_CONVERT_UNSIGNED:
        return 1;
    }
    return 1;
}

/* Of one thread. Indices that grow evenly from thread to thread are mostly folded into addresses:
 * one register serves all that are at a distance from each other. What a row has in common is
 * mostly computed before it. */
static double scalar_cost_of(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_value *value = &iteration->graph.values[number];
    bool is_folded = iteration->shapes.values[number].kind == TR_AFFINE && !is_access(value);
    if (tr_memory_is_race_check(iteration, value->llvm))
        return RACE_CALL;
    return scalar_cost(&iteration->target->figures, value) * (is_folded ? FOLDED : 1);
}

/* Of a whole register. */
static double figure_of(const struct tr_target *target, const struct tr_value *value)
{
    const struct tr_figures *figures = &target->figures;
    switch (tr_arithmetic_of(value->llvm)) {
    case TR_ARITHMETIC_NONE:
        return 0;
    case TR_ARITHMETIC_ADDRESS:
        return figures->vector / 2;
    case TR_ARITHMETIC_DIVIDE:
        return figures->vector_divide;
    case TR_ARITHMETIC_INTEGER_DIVIDE:
        return figures->vector_integer_divide;
    case TR_ARITHMETIC_INVERSE:
        return INVERSE * figures->vector;
    case TR_ARITHMETIC_CONVERT:
        return figures->convert;
    case TR_ARITHMETIC_CONVERT_UNSIGNED:
        return figures->convert_unsigned;
    case TR_ARITHMETIC_FUSED:
        return figures->fused;
    case TR_ARITHMETIC_FUSED_HALF:
        return fused_half(target) * figures->vector;
    case TR_ARITHMETIC_SIMPLE:
        return figures->vector;
    }
    return figures->vector;
}

static bool is_effect(uint32_t opcode)
{
    return opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg || opcode == LLVMFence;
}

static bool is_in_divergent_loop(const struct tr_iteration *iteration, uint32_t segment)
{
    uint32_t loop = iteration->loops.innermost[segment];
    return loop != TR_NONE && tr_is_left_apart(iteration, loop);
}

/* Whether some lanes do not come to the segment's loop. */
static bool is_loop_for_some(const struct tr_iteration *iteration, uint32_t segment)
{
    uint32_t loop = iteration->loops.innermost[segment];
    return tr_is_for_some(iteration, iteration->loops.loops[loop].header);
}

/* Whether the gather is one at borders only. */
static bool expects_neighbours(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_access_plan *plan = iteration->accesses[number];
    return plan->forms[TR_LANES_ALL] == TR_ACCESS_TUNED &&
           plan->steps[TR_LANES_ALL]->expects_neighbours;
}

/* Cost of the instruction for one vector. */
static double vector_cost(const struct tr_iteration *iteration, uint32_t width, uint32_t number,
                          struct tr_estimate *estimate, bool *is_gather)
{
    const struct tr_target *target = iteration->target;
    const struct tr_value *value = &iteration->graph.values[number];
    if (is_access(value) && tr_has_vector_form(iteration, number)) {
        double cost = tr_access_cost(iteration, width, number, is_gather);
        bool is_alone = *is_gather && is_in_divergent_loop(iteration, value->segment);
        estimate->gathers_alone |= is_alone;
        estimate->gathers_sparsely |= is_alone && !expects_neighbours(iteration, number) &&
                                      is_loop_for_some(iteration, value->segment);
        return cost;
    }
    if (tr_memory_is_race_check(iteration, value->llvm))
        return RACE_CALL;
    bool is_control = value->opcode == LLVMPHI || LLVMIsATerminatorInst(value->llvm) != NULL;
    if (is_effect(value->opcode) || (!is_control && !tr_has_vector_form(iteration, number)))
        return tr_by_lane(target, width, target->figures.serial);
    if (iteration->shapes.values[number].kind != TR_VARYING || is_control)
        return scalar_cost(&target->figures, value) / 2; /* shared with other copies, or folded into
                                                            an address */
    bool is_by_one = tr_arithmetic_of(value->llvm) == TR_ARITHMETIC_INTEGER_DIVIDE &&
                     tr_is_same_in_row(iteration, LLVMGetOperand(value->llvm, 1));
    double figure = figure_of(target, value) * (is_by_one ? BY_ONE_NUMBER : 1);
    return tr_of_vector(target, width, figure);
}

/* How often the segment runs, about. */
static double weight_of(const struct tr_iteration *iteration, uint32_t segment, bool is_vector)
{
    if (iteration->is_lost[segment])
        return 0; /* who comes there ends the launch */
    double weight = 1;
    for (uint32_t l = iteration->loops.innermost[segment]; l != TR_NONE;
         l = iteration->loops.loops[l].parent) {
        weight *= iteration->turns[l] != 0 ? iteration->turns[l] : LOOP_ITERATIONS;
        weight *= is_vector && tr_is_left_apart(iteration, l) ? DIVERGENT_LOOP : 1;
    }
    return weight < MAX_WEIGHT ? weight : MAX_WEIGHT;
}

/* How often an instruction of the segment runs for each time that its iteration does, about. */
static double times_of(const struct tr_iteration *iteration, const struct tr_value *value,
                       bool is_vector)
{
    double weight = weight_of(iteration, value->segment, is_vector);
    return tr_is_marked(value->llvm, TR_MARK_LAST) ? weight / LOOP_ITERATIONS : weight;
}

/* ---- the iteration ---- */

static unsigned bits_of(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMDoubleTypeKind:
        return 64;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type);
    case LLVMVectorTypeKind:
        return LLVMGetVectorSize(type) * bits_of(LLVMGetElementType(type));
    default:
        return 32;
    }
}

/* An address of neighbours, or of one place, of which a vector needs that of the first lane. */
static bool is_address_of_vector(const struct tr_iteration *iteration, uint32_t access,
                                 LLVMValueRef value)
{
    const struct tr_access_plan *plan = iteration->accesses[access];
    return plan != NULL && plan->memory.address == value && plan->memory.stored != value &&
           plan->forms[TR_LANES_ALL] != TR_ACCESS_GATHER &&
           plan->forms[TR_LANES_ALL] != TR_ACCESS_SERIAL &&
           plan->forms[TR_LANES_ALL] != TR_ACCESS_TUNED;
}

/* Whether all that is made of the value are such addresses. is_in_address: of the values behind. */
static bool is_in_addresses(const struct tr_iteration *iteration, uint32_t number,
                            const bool *is_in_address)
{
    LLVMValueRef value = iteration->graph.values[number].llvm;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
        uint32_t user = tr_graph_number(&iteration->graph, LLVMGetUser(use));
        if (user == TR_NONE ||
            (!is_in_address[user] && !is_address_of_vector(iteration, user, value)))
            return false;
    }
    return true;
}

/* Of what the value has in a vector, or stores. */
static unsigned bits_in_vector(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_value *value = &iteration->graph.values[number];
    if (value->opcode == LLVMStore)
        return bits_of(LLVMTypeOf(LLVMGetOperand(value->llvm, 0)));
    bool is_control = LLVMIsATerminatorInst(value->llvm) != NULL;
    return is_control || iteration->shapes.values[number].kind != TR_VARYING
               ? 0
               : bits_of(LLVMTypeOf(value->llvm));
}

enum pxr_status tr_find_element_bits(struct tr_iteration *iteration, struct tr_element_bits *bits,
                                     struct pxr_error *err)
{
    uint32_t count = iteration->graph.value_count;
    bool *is_in_address = pxr_arena_alloc_array(&iteration->graph.arena, count, 1);
    if (is_in_address == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    memset(is_in_address, 0, count);
    *bits = (struct tr_element_bits){0};
    for (uint32_t v = count; v-- > 0;) {
        bool is_accessed = is_access(&iteration->graph.values[v]);
        is_in_address[v] = !is_accessed && is_in_addresses(iteration, v, is_in_address);
        unsigned own = is_in_address[v] ? 0 : bits_in_vector(iteration, v);
        bool is_shorter = bits->shortest_access == 0 || own < bits->shortest_access;
        bits->longest = own > bits->longest ? own : bits->longest;
        bits->shortest_access = is_accessed && own >= 8 && is_shorter ? own : bits->shortest_access;
    }
    return PXR_OK;
}

/* Instructions for each lane of what is done lane by lane: elements are taken out of vectors and
 * put back, and what some lanes do not do has a branch around it. */
#define LANE_DIVISION 3
#define LANE_ACCESS   4
#define LANE_CALL     5

/* How many of LLVM's instructions it becomes. */
static uint32_t length_of(const struct tr_iteration *iteration, uint32_t number)
{
    LLVMValueRef inst = iteration->graph.values[number].llvm;
    bool is_long = tr_arithmetic_of(inst) == TR_ARITHMETIC_FUSED_HALF;
    return is_long ? fused_half(iteration->target) : 1;
}

/* How many instructions of the processor the code generator gets of it, about. */
static uint32_t effort_of(const struct tr_iteration *iteration, uint32_t width, uint32_t number)
{
    const struct tr_value *value = &iteration->graph.values[number];
    bool is_control = value->opcode == LLVMPHI || LLVMIsATerminatorInst(value->llvm) != NULL;
    if (is_effect(value->opcode) || (!is_control && !tr_has_vector_form(iteration, number)))
        return LANE_CALL * width;
    if (is_access(value) && tr_access_is_serial(iteration, number))
        return LANE_ACCESS * width;
    if (iteration->shapes.values[number].kind != TR_VARYING)
        return 1;
    if (tr_is_integer_division(value->llvm))
        return LANE_DIVISION * width;
    unsigned bits = width * bits_of(type_of(iteration, number));
    unsigned most = iteration->target->vector_bits;
    uint32_t registers = bits > most ? (bits + most - 1) / most : 1;
    bool is_fused_half = tr_arithmetic_of(value->llvm) == TR_ARITHMETIC_FUSED_HALF;
    return registers * (is_fused_half ? FUSED_HALF_EFFORT : 1);
}

static void look_at_load(const struct tr_iteration *iteration, uint32_t number,
                         struct tr_estimate *estimate)
{
    const struct tr_value *value = &iteration->graph.values[number];
    bool is_in_loop = iteration->loops.innermost[value->segment] != TR_NONE;
    if (value->opcode != LLVMLoad || iteration->y == TR_NONE)
        return;
    struct tr_shape shape = iteration->shapes.values[number];
    bool depends_on_row = iteration->depends_on_row[number];
    bool is_of_rows = shape.kind == TR_VARYING && !depends_on_row;
    bool is_of_row = shape.kind == TR_AFFINE && shape.stride == 0 && depends_on_row;
    estimate->shares_rows |= is_in_loop && is_of_rows;
    estimate->shares_row |= is_in_loop && is_of_row;
    estimate->flat_rows += !is_in_loop && is_of_rows;
    estimate->flat_row += !is_in_loop && is_of_row;
    if (is_of_rows)
        estimate->is_wide |= bits_of(type_of(iteration, number)) > 32;
}

/* How many vectors of 32 bits the value takes. What is longer than a register of one thread is
 * accessed thread by thread, all of it at once. */
static double parts_of(const struct tr_iteration *iteration, uint32_t number)
{
    unsigned bits = bits_of(type_of(iteration, number));
    bool is_load = iteration->graph.values[number].opcode == LLVMLoad;
    if (iteration->shapes.values[number].kind != TR_VARYING || bits <= 32 || (is_load && bits > 64))
        return 1;
    return bits / 32.0;
}

static void look_at_value(const struct tr_iteration *iteration, uint32_t width, uint32_t number,
                          struct tr_estimate *estimate)
{
    const struct tr_value *value = &iteration->graph.values[number];
    double parts = parts_of(iteration, number);
    bool is_gather = false;
    double cost = parts * vector_cost(iteration, width, number, estimate, &is_gather) *
                  times_of(iteration, value, true);
    estimate->vector += cost;
    bool is_by_lane = is_gather || (is_access(value) && tr_access_is_serial(iteration, number));
    estimate->by_lane += is_by_lane ? cost : 0;
    estimate->scalar +=
        scalar_cost_of(iteration, number) * width * times_of(iteration, value, false);
    estimate->length += length_of(iteration, number);
    estimate->effort += effort_of(iteration, width, number);
    look_at_load(iteration, number, estimate);
}

static uint32_t registers_of(const struct tr_iteration *iteration, uint32_t value)
{
    if (iteration->shapes.values[value].kind != TR_VARYING ||
        bits_of(type_of(iteration, value)) == 1)
        return 0;
    return bits_of(type_of(iteration, value)) > 32 ? 2 : 1;
}

static enum pxr_status count_live(struct tr_iteration *iteration, struct tr_estimate *estimate,
                                  struct pxr_error *err)
{
    struct tr_liveness liveness;
    enum pxr_status status = tr_liveness_build(&iteration->graph, &liveness, err);
    for (uint32_t s = 0; status == PXR_OK && s < iteration->graph.segment_count; s++) {
        uint32_t live = 0;
        uint32_t first = iteration->graph.segments[s].first_value;
        for (uint32_t v = first; v < first + tr_control_phi_count(iteration, s); v++)
            live += registers_of(iteration, v);
        const struct tr_set *in = &liveness.live_in[s];
        for (uint32_t v = tr_set_next(in, 0); v != TR_NONE; v = tr_set_next(in, v + 1))
            live += registers_of(iteration, v);
        estimate->live = live > estimate->live ? live : estimate->live;
    }
    return status;
}

static double scalar_cost_of_far_turns(const struct tr_iteration *iteration, uint32_t width)
{
    double cost = 0;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++)
        if (iteration->graph.values[v].segment != TR_NONE && tr_turns_are_far(iteration, v))
            cost += FAR_ACCESS * width * times_of(iteration, &iteration->graph.values[v], false);
    return cost;
}

bool tr_is_worthwhile(const struct tr_estimate *estimate)
{
    return estimate->vector <= WORTHWHILE * estimate->scalar;
}

/* What a turn of the loop takes in one vector. */
static double work_of_turn(const struct tr_iteration *iteration, uint32_t width, uint32_t loop)
{
    struct tr_estimate unused = {0};
    bool is_gather;
    double work = 0;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        uint32_t segment = iteration->graph.values[v].segment;
        if (segment != TR_NONE && iteration->loops.innermost[segment] == loop)
            work += parts_of(iteration, v) * vector_cost(iteration, width, v, &unused, &is_gather);
    }
    return work;
}

static double find_waiting(struct tr_iteration *iteration, uint32_t width)
{
    double most = 0;
    for (uint32_t l = 0; l < iteration->loops.count; l++) {
        double copies = tr_copies_of_chain(iteration, l, work_of_turn(iteration, width, l));
        most = copies > most ? copies : most;
    }
    return most;
}

enum pxr_status tr_make_estimate(struct tr_iteration *iteration, uint32_t width,
                                 struct tr_estimate *estimate, struct pxr_error *err)
{
    *estimate = (struct tr_estimate){0};
    for (uint32_t v = 0; v < iteration->graph.value_count; v++)
        if (iteration->graph.values[v].segment != TR_NONE)
            look_at_value(iteration, width, v, estimate);
    estimate->far = tr_find_far_turns(iteration);
    estimate->is_straight = iteration->loops.count == 0;
    estimate->waiting = find_waiting(iteration, width);
    if (estimate->gathers_sparsely)
        estimate->vector *= SPARSE;
    if (estimate->far.bytes != 0 && !tr_is_worthwhile(estimate))
        estimate->scalar += scalar_cost_of_far_turns(iteration, width);
    return count_live(iteration, estimate, err);
}
