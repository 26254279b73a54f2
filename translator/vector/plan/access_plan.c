/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans how each access will be done, and prices it.
 */
#include "translator/vector/plan/access_plan.h"
#include "translator/vector/plan/groups.h"

struct planner {
    struct tr_iteration *iteration;
    uint32_t width;
    const struct tr_access_step *const *steps;
    bool is_out_of_memory;
};

static bool is_access(const struct tr_iteration *iteration, uint32_t value)
{
    uint32_t opcode = iteration->graph.values[value].opcode;
    return (opcode == LLVMLoad || opcode == LLVMStore) &&
           iteration->graph.values[value].segment != TR_NONE;
}

/* ---- the form ---- */

/* Volatile accesses stay in order, unless a vector of neighbours is one access. */
static bool is_serial(const struct tr_access_plan *plan, enum tr_lanes lanes)
{
    LLVMValueRef inst = plan->memory.inst;
    if (tr_plan_is_ordered(inst))
        return true;
    if (!LLVMGetVolatile(inst) || tr_plan_is_relaxed(inst))
        return false;
    bool is_vector = plan->memory.kind == TR_MEMORY_CONTIGUOUS && lanes == TR_LANES_ALL;
    return !is_vector || plan->is_in_exchange;
}

/* Whole vectors of which every step-th element is taken, against a gather. A mask is spread over
 * the vectors, with a shuffle or two for each and a comparison. */
#define SPREAD_MASK 3

static bool is_faster_wide(const struct tr_figures *figures, uint32_t step, bool is_masked)
{
    double of_lanes =
        figures->strided_load < figures->gather ? figures->strided_load : figures->gather;
    if (!is_masked)
        return step * figures->load + (step - 1) * figures->shuffle < of_lanes;
    double each = figures->masked_load + SPREAD_MASK * figures->shuffle;
    return step * each + (step - 1) * figures->shuffle < figures->masked_gather;
}

/* Whole vectors of which some words are stored, against words lane by lane: instructions for masks
 * take long on some machines. */
static bool is_faster_stored_wide(const struct tr_figures *figures,
                                  const struct tr_access_plan *plan, uint32_t step,
                                  enum tr_lanes lanes)
{
    uint32_t count = plan->fields.count;
    double of_lanes =
        figures->strided_store < figures->scatter ? figures->strided_store : figures->scatter;
    double each = figures->masked_store + count * figures->shuffle;
    if (lanes == TR_LANES_MASKED) {
        of_lanes = figures->masked_scatter != 0 ? figures->masked_scatter
                                                : figures->masked_scatter_by_lane;
        each += SPREAD_MASK * figures->shuffle;
    }
    return step * each < count * of_lanes;
}

/* Without instructions for masks, a vector is loaded whole for some lanes of neighbours, and one of
 * many short elements is stored by a loop over them (memory/under_mask.c). */
static bool is_wide_without_masks(const struct tr_memory *memory)
{
    return memory->kind == TR_MEMORY_CONTIGUOUS && tr_is_plain_access(memory->inst) &&
           (memory->stored == NULL || memory->bytes < 4);
}

static bool is_wide(const struct tr_target *target, const struct tr_access_plan *plan,
                    enum tr_lanes lanes)
{
    const struct tr_memory *memory = &plan->memory;
    bool is_masked = lanes == TR_LANES_MASKED;
    int64_t stride = memory->stride < 0 ? -memory->stride : memory->stride;
    uint32_t step = (uint32_t)(stride / memory->bytes);
    if (memory->kind == TR_MEMORY_GENERAL)
        return false;
    if (memory->kind == TR_MEMORY_STRIDED && memory->stored != NULL)
        is_masked |= plan->fields.count < step;
    if (is_masked && tr_plan_is_masked_badly(target, memory) && !is_wide_without_masks(memory))
        return false;
    if (memory->kind == TR_MEMORY_STRIDED && tr_plan_is_relaxed(memory->inst))
        return false;
    if (memory->kind == TR_MEMORY_STRIDED && memory->stored != NULL && memory->bytes >= 4)
        return !is_masked || is_faster_stored_wide(&target->figures, plan, step, lanes);
    return memory->kind != TR_MEMORY_STRIDED || memory->stored != NULL || plan->fields.count > 1 ||
           memory->bytes < 4 || is_faster_wide(&target->figures, step, is_masked);
}

static enum tr_access_form form_of(const struct tr_target *target,
                                   const struct tr_access_plan *plan, enum tr_lanes lanes)
{
    if (is_serial(plan, lanes))
        return TR_ACCESS_SERIAL;
    bool is_masked_badly =
        lanes == TR_LANES_MASKED && tr_plan_is_masked_badly(target, &plan->memory);
    if (plan->checked != NULL && !is_masked_badly)
        return TR_ACCESS_CHECKED;
    if (plan->memory.kind == TR_MEMORY_SAME)
        return TR_ACCESS_UNIFORM;
    return is_wide(target, plan, lanes) ? TR_ACCESS_WIDE : TR_ACCESS_GATHER;
}

static const struct tr_checked *find_checked(struct planner *planner,
                                             const struct tr_memory *memory)
{
    struct tr_checked found;
    if (!tr_plan_find_checked(planner->iteration, memory, &found))
        return NULL;
    struct tr_checked *kept =
        pxr_arena_alloc_array(&planner->iteration->graph.arena, 1, sizeof *kept);
    planner->is_out_of_memory |= kept == NULL;
    if (kept != NULL)
        *kept = found;
    return kept;
}

static bool is_in_exchange(const struct tr_iteration *iteration, uint32_t value)
{
    struct tr_sequence sequence;
    return tr_plan_find_exchange(iteration, value, &sequence) ||
           tr_plan_ends_exchange(iteration, value);
}

static void plan_access(struct planner *planner, uint32_t value, struct tr_access_plan *plan)
{
    struct tr_iteration *iteration = planner->iteration;
    plan->memory = tr_plan_describe(iteration, value);
    plan->is_in_exchange = is_in_exchange(iteration, value);
    plan->checked = find_checked(planner, &plan->memory);
    plan->fields = tr_plan_is_relaxed(plan->memory.inst) ? tr_plan_only(&plan->memory)
                                                         : tr_plan_fields(iteration, &plan->memory);
    for (int lanes = 0; lanes < TR_LANES_COUNT; lanes++)
        plan->forms[lanes] = form_of(iteration->target, plan, (enum tr_lanes)lanes);
    iteration->accesses[value] = plan;
}

/* ---- tuning ---- */

/* Each step sees the accesses that earlier steps have left: they are still gathers. */
static void ask_step(struct planner *planner, const struct tr_access_step *step,
                     enum tr_lanes lanes)
{
    struct tr_iteration *iteration = planner->iteration;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        struct tr_access_plan *plan = iteration->accesses[v];
        if (plan == NULL || plan->forms[lanes] != TR_ACCESS_GATHER)
            continue;
        struct tr_access_question question = {.iteration = iteration,
                                              .memory = &plan->memory,
                                              .width = planner->width,
                                              .lanes = lanes,
                                              .arena = &iteration->graph.arena};
        plan->details[lanes] = step->find(&question);
        plan->steps[lanes] = plan->details[lanes] == NULL ? NULL : step;
        planner->is_out_of_memory |= question.is_out_of_memory;
    }
    for (uint32_t v = 0; v < iteration->graph.value_count; v++)
        if (iteration->accesses[v] != NULL && iteration->accesses[v]->steps[lanes] == step)
            iteration->accesses[v]->forms[lanes] = TR_ACCESS_TUNED;
}

/* ---- all of them ---- */

static bool allocate(struct tr_iteration *iteration, struct tr_access_plan **plans)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++)
        count += is_access(iteration, v);
    *plans = pxr_arena_alloc_array(&iteration->graph.arena, count, sizeof **plans);
    iteration->accesses = pxr_arena_alloc_array(
        &iteration->graph.arena, iteration->graph.value_count, sizeof *iteration->accesses);
    return *plans != NULL && iteration->accesses != NULL;
}

enum pxr_status tr_plan_accesses(struct tr_iteration *iteration, uint32_t width,
                                 const struct tr_access_step *const *steps, struct pxr_error *err)
{
    struct planner planner = {.iteration = iteration, .width = width, .steps = steps};
    struct tr_access_plan *plan;
    if (!allocate(iteration, &plan))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory planning accesses");
    for (uint32_t v = 0; v < iteration->graph.value_count; v++)
        if (is_access(iteration, v))
            plan_access(&planner, v, plan++);
    for (; *planner.steps != NULL; planner.steps++)
        for (int lanes = 0; lanes < TR_LANES_COUNT; lanes++)
            ask_step(&planner, *planner.steps, (enum tr_lanes)lanes);
    if (planner.is_out_of_memory)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory planning accesses");
    return PXR_OK;
}

/* ---- estimates ---- */

static double cost_of_neighbours(const struct tr_figures *figures,
                                 const struct tr_access_plan *plan)
{
    return plan->memory.stored != NULL ? figures->store : figures->load;
}

/* The comparison of all lanes with what they would have without a limit. */
#define COMPARE_LANES 4

static double cost_of_checked(const struct tr_figures *figures, const struct tr_access_plan *plan)
{
    double check = plan->checked->clamp_count > 0 ? COMPARE_LANES : plan->checked->is_exact ? 0 : 1;
    return cost_of_neighbours(figures, plan) + check;
}

/* The vectors are shared by all fields, of each of which a tree of shuffles is made. */
static double cost_of_fields(const struct tr_figures *figures, const struct tr_access_plan *plan)
{
    int64_t step = plan->memory.stride / (int64_t)plan->memory.bytes;
    uint32_t pieces = (uint32_t)(step < 0 ? -step : step);
    double vectors = pieces * cost_of_neighbours(figures, plan) / plan->fields.count;
    return vectors + (pieces - 1) * figures->shuffle;
}

/* In such a loop, lanes that have left wait for the others, whose elements come one by one
 * anyway. */
static bool is_in_divergent_loop(const struct tr_iteration *iteration, uint32_t value)
{
    uint32_t loop = iteration->loops.innermost[iteration->graph.values[value].segment];
    return loop != TR_NONE && tr_is_left_apart(iteration, loop);
}

static double cost_of_wide(const struct tr_figures *figures, const struct tr_access_plan *plan)
{
    if (plan->memory.kind == TR_MEMORY_STRIDED)
        return cost_of_fields(figures, plan);
    return cost_of_neighbours(figures, plan) + (plan->memory.stride > 0 ? 0 : figures->reverse);
}

/* Of lanes that wait as many as do something: loops end with the longest of a vector's. */
#define WAITING 2

static double less_of(double a, double b)
{
    return a < b ? a : b;
}

/* What the words of all lanes take; where there is no instruction for some of them it is done lane
 * by lane. */
static double cost_of_words(const struct tr_figures *figures, bool is_apart, bool is_masked)
{
    if (is_masked)
        return figures->masked_gather != 0 ? figures->masked_gather
                                           : figures->masked_gather_by_lane;
    return is_apart ? less_of(figures->gather, figures->strided_load) : figures->gather;
}

static double cost_of_stored_words(const struct tr_figures *figures, bool is_apart, bool is_masked)
{
    if (is_masked)
        return figures->masked_scatter != 0 ? figures->masked_scatter
                                            : figures->masked_scatter_by_lane;
    return is_apart ? less_of(figures->scatter, figures->strided_store) : figures->scatter;
}

/* Words that lanes load from any addresses count as neighbours half of the time, if it is not known
 * that they are apart: programs are written so, even where nothing proves it. */
static double cost_of_gather(const struct tr_iteration *iteration,
                             const struct tr_access_plan *plan, uint32_t value)
{
    const struct tr_figures *figures = &iteration->target->figures;
    double waiting = is_in_divergent_loop(iteration, value) ? WAITING : 1;
    bool is_apart = plan->memory.kind == TR_MEMORY_STRIDED;
    bool is_masked = tr_is_for_some(iteration, iteration->graph.values[value].segment);
    if (plan->memory.bytes < 4)
        return waiting * figures->gather_bytes;
    if (plan->memory.stored != NULL)
        return waiting * cost_of_stored_words(figures, is_apart, is_masked);
    double words = cost_of_words(figures, is_apart, is_masked);
    return waiting * (is_apart ? words : (words + figures->load) / 2);
}

static double cost_of_access(const struct tr_iteration *iteration,
                             const struct tr_access_plan *plan, uint32_t value)
{
    const struct tr_figures *figures = &iteration->target->figures;
    switch (plan->forms[TR_LANES_ALL]) {
    case TR_ACCESS_SERIAL: /* of an exchange: nothing but the address is taken out of a vector */
        return plan->is_in_exchange ? figures->extract : figures->serial;
    case TR_ACCESS_UNIFORM:
        return 1;
    case TR_ACCESS_WIDE:
        return cost_of_wide(figures, plan);
    case TR_ACCESS_CHECKED:
        return cost_of_checked(figures, plan);
    case TR_ACCESS_TUNED: /* a lower price, also of lanes at one distance, would bring copies side
                             by side that cost more than they gain (docs/measurements.md) */
    case TR_ACCESS_GATHER:
        break;
    }
    return cost_of_gather(iteration, plan, value);
}

double tr_access_cost(const struct tr_iteration *iteration, uint32_t width, uint32_t value,
                      bool *is_gather)
{
    const struct tr_access_plan *plan = iteration->accesses[value];
    enum tr_access_form form = plan->forms[TR_LANES_ALL];
    *is_gather = form == TR_ACCESS_TUNED || form == TR_ACCESS_GATHER;
    double cost = cost_of_access(iteration, plan, value);
    bool is_by_lane = *is_gather || form == TR_ACCESS_SERIAL;
    return is_by_lane ? tr_by_lane(iteration->target, width, cost)
                      : tr_of_vector(iteration->target, width, cost);
}

bool tr_access_is_serial(const struct tr_iteration *iteration, uint32_t value)
{
    return iteration->accesses[value]->forms[TR_LANES_ALL] == TR_ACCESS_SERIAL;
}
