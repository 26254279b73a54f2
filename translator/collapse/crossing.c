/* SPDX-License-Identifier: Apache-2.0
 *
 * How values get across one sync point: saved or computed again, by a minimum cut (the idea is
 * Polygeist's). docs/values-across-barriers.md has the model and an example.
 *
 * Every value that may be of use behind the sync point has two nodes. `have` is on the sink's side
 * of the cut if the value is there behind the sync point, `make` if it is computed again there:
 *     source --cost of computing--> make(v)       never, if v cannot be computed again
 *     make(v) --cost of saving--> have(v)         cut if v is there but not made: it is saved
 *     have(operand) --never--> make(v)            what v is made from must be there
 *     have(v) --never--> sink                     v is needed
 */
#include <string.h>

#include "translator/collapse/crossing.h"
#include "translator/collapse/mincut.h"

/* One cut decides about at most so many values; beyond that, all needed ones are saved. */
#define MAX_CUT_VALUES 4096
/* Cuts for one sync point; beyond that, likewise. */
#define MAX_CUTS 16
/* Rounds of leaving out values that cannot be worth it. */
#define PRUNE_ROUNDS 3

static const struct tr_value *value_of(const struct tr_plan *plan, uint32_t value)
{
    return &plan->kernel->graph.values[value];
}

/* ---- costs at the sync point ---- */

static struct tr_shape shape_at_sync(const struct tr_plan *plan, uint32_t value, uint32_t sync)
{
    const struct tr_kernel *kernel = plan->kernel;
    return tr_shape_at(&kernel->graph, &kernel->loops, &kernel->shapes, value,
                       tr_sync_segment(kernel, sync));
}

/* Whether a value may be kept once for the group. Threads that come to a sync point that is not
 * fused go on one by one, and may be in different iterations of a loop. */
static bool can_be_group(const struct tr_plan *plan, uint32_t value, uint32_t sync)
{
    uint32_t segment = tr_sync_segment(plan->kernel, sync);
    return plan->kernel->sync_points[sync].is_fused &&
           plan->kernel->shapes.is_uniform_segment[segment] &&
           shape_at_sync(plan, value, sync).kind == TR_UNIFORM;
}

/* Whether the value's element has been written before in every region that leads to the sync
 * point. */
static bool is_passed_through(const struct tr_plan *plan, uint32_t value)
{
    for (uint32_t i = 0; i < plan->leading_count; i++) {
        uint32_t r = plan->leading[i];
        if (tr_region_defines(plan->kernel, r, value) ||
            plan->crossings[r].home[value] != TR_HOME_THREAD)
            return false;
    }
    return true;
}

/* Whether threads in a row are expected to have numbers that go up evenly. */
static bool is_affine(const struct tr_plan *plan, uint32_t value, struct tr_shape shape)
{
    const struct tr_kernel *kernel = plan->kernel;
    if (shape.kind != TR_VARYING)
        return shape.kind == TR_AFFINE;
    struct tr_row_growth growth =
        tr_row_growth_of(&kernel->graph, &kernel->shapes, TR_LONG_ROW, value_of(plan, value)->llvm);
    return growth.is_known && growth.stride != 0;
}

static void set_costs(struct tr_plan *plan, uint32_t value, uint32_t sync)
{
    struct tr_shape shape = shape_at_sync(plan, value, sync);
    bool is_pure = plan->kind[value] == TR_AGAIN_PURE;
    struct tr_saving saving = {.is_group = can_be_group(plan, value, sync),
                               .is_affine = is_pure && is_affine(plan, value, shape),
                               .is_there = is_passed_through(plan, value),
                               .bytes = plan->bytes[value]};
    plan->saving[value] = tr_cost_saved(saving, plan->costs);
    plan->making[value] = 0;
    uint32_t cost = shape.kind == TR_UNIFORM ? TR_COST_UNIFORM : plan->cost[value];
    if (is_pure && plan->distance[value] <= TR_COST_CHAIN && cost < plan->saving[value])
        plan->making[value] = cost;
}

/* ---- what the cut is about ---- */

static void find_leading(struct tr_plan *plan, uint32_t sync)
{
    plan->leading_count = 0;
    for (uint32_t r = 0; r < plan->kernel->sync_count; r++)
        if (r != sync && tr_set_has(&plan->kernel->regions[r].outcomes, sync))
            plan->leading[plan->leading_count++] = r;
}

/* Counts a use: `value` is needed, or something is made from it. */
static void add_use(struct tr_plan *plan, uint32_t value, uint32_t distance)
{
    if (value == TR_NONE || plan->kind[value] == TR_AGAIN_AT_HAND)
        return;
    if (plan->index[value] != TR_NONE) {
        plan->users[value]++;
        return;
    }
    plan->users[value] = 1;
    plan->distance[value] = distance;
    plan->index[value] = plan->member_count;
    plan->members[plan->member_count++] = value;
}

static bool is_repeated(const struct tr_value *value, uint32_t operand)
{
    for (uint32_t i = 0; i < operand; i++)
        if (value->operands[i] == value->operands[operand])
            return true;
    return false;
}

/* Finds the values needed behind the sync point, and all that they may be made from. All of them
 * dominate the sync point, and none is its own result. Unless is_first, costs are known. */
static void find_members(struct tr_plan *plan, uint32_t sync, bool is_first)
{
    for (uint32_t i = 0; i < plan->member_count; i++)
        plan->index[plan->members[i]] = TR_NONE;
    plan->member_count = 0;
    const struct tr_set *need = &plan->crossings[sync].needed;
    for (uint32_t v = tr_set_next(need, 0); v != TR_NONE; v = tr_set_next(need, v + 1)) {
        add_use(plan, v, 0);
        plan->users[v] = 2; /* it is available in any case */
    }
    for (uint32_t i = 0; i < plan->member_count; i++) {
        uint32_t v = plan->members[i];
        if (is_first)
            set_costs(plan, v, sync);
        if (plan->making[v] == 0)
            continue;
        const struct tr_value *value = value_of(plan, v);
        for (uint32_t k = 0; k < value->operand_count; k++)
            if (!is_repeated(value, k))
                add_use(plan, value->operands[k], plan->distance[v] + plan->making[v]);
    }
}

/* A lower bound for making the value: its own cost, and that of operands that nothing else uses. */
static uint32_t least_cost(const struct tr_plan *plan, uint32_t value)
{
    const struct tr_value *inst = value_of(plan, value);
    uint32_t cost = plan->making[value];
    for (uint32_t k = 0; k < inst->operand_count; k++) {
        uint32_t operand = inst->operands[k];
        if (operand != TR_NONE && plan->index[operand] != TR_NONE && plan->users[operand] == 1)
            cost += plan->least[operand];
    }
    return cost;
}

/* Leaves out values that cost less to save than to make, whatever else is chosen; true: there were
 * some. Operands have lower numbers. */
static bool prune(struct tr_plan *plan)
{
    bool has_changed = false;
    for (uint32_t v = 0; v < plan->kernel->graph.value_count; v++) {
        if (plan->index[v] == TR_NONE)
            continue;
        plan->least[v] = plan->saving[v];
        if (plan->making[v] == 0)
            continue;
        uint32_t cost = least_cost(plan, v);
        if (cost < plan->saving[v]) {
            plan->least[v] = cost;
        } else {
            plan->making[v] = 0;
            has_changed = true;
        }
    }
    return has_changed;
}

/* ---- the cut ---- */

static uint32_t have(uint32_t member)
{
    return 2 * member;
}

static uint32_t make(uint32_t member)
{
    return 2 * member + 1;
}

static void save(struct tr_plan *plan, uint32_t value, uint32_t sync)
{
    plan->crossings[sync].home[value] =
        can_be_group(plan, value, sync) ? TR_HOME_GROUP : TR_HOME_THREAD;
}

static void add_edges(struct tr_plan *plan, struct tr_cut *cut, uint32_t sync, uint32_t member)
{
    uint32_t source = 2 * plan->member_count;
    uint32_t sink = source + 1;
    uint32_t v = plan->members[member];
    const struct tr_value *value = value_of(plan, v);
    bool can_be_made = plan->making[v] > 0;
    for (uint32_t k = 0; can_be_made && k < value->operand_count; k++) {
        uint32_t operand = value->operands[k];
        if (operand != TR_NONE && plan->index[operand] != TR_NONE)
            tr_cut_add_edge(cut, have(plan->index[operand]), make(member), TR_CUT_NEVER);
    }
    tr_cut_add_edge(cut, source, make(member), can_be_made ? plan->making[v] : TR_CUT_NEVER);
    tr_cut_add_edge(cut, make(member), have(member), plan->saving[v]);
    if (tr_set_has(&plan->crossings[sync].needed, v))
        tr_cut_add_edge(cut, have(member), sink, TR_CUT_NEVER);
}

static uint32_t count_edges(const struct tr_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->member_count; i++)
        count += 3 + value_of(plan, plan->members[i])->operand_count;
    return count;
}

static bool cut_at_sync(struct tr_plan *plan, uint32_t sync)
{
    struct pxr_arena arena;
    pxr_arena_init(&arena, 0);
    uint32_t node_count = 2 * plan->member_count + 2;
    struct tr_cut cut;
    bool *is_below = pxr_arena_alloc_array(&arena, node_count, sizeof *is_below);
    bool has_room = is_below != NULL && tr_cut_init(&cut, &arena, node_count, count_edges(plan));
    if (has_room) {
        for (uint32_t i = 0; i < plan->member_count; i++)
            add_edges(plan, &cut, sync, i);
        tr_cut_find(&cut, node_count - 2, node_count - 1, is_below);
        for (uint32_t i = 0; i < plan->member_count; i++) {
            if (is_below[make(i)])
                plan->crossings[sync].home[plan->members[i]] = TR_HOME_AGAIN;
            else if (is_below[have(i)])
                save(plan, plan->members[i], sync);
        }
    }
    pxr_arena_fini(&arena);
    return has_room;
}

/* Plans without a cut: cheap values are computed again, with the cheap values that they are made
 * of; the others are saved. */
static void save_all(struct tr_plan *plan, uint32_t sync)
{
    uint8_t *home = plan->crossings[sync].home;
    const struct tr_set *need = &plan->crossings[sync].needed;
    for (uint32_t v = plan->kernel->graph.value_count; v-- > 0;) {
        if (home[v] == TR_HOME_NONE && tr_set_has(need, v)) {
            if (plan->is_cheap[v])
                home[v] = TR_HOME_AGAIN;
            else
                save(plan, v, sync);
        }
        if (home[v] != TR_HOME_AGAIN)
            continue;
        const struct tr_value *value = value_of(plan, v);
        for (uint32_t k = 0; k < value->operand_count; k++) {
            uint32_t operand = value->operands[k];
            if (operand != TR_NONE && plan->kind[operand] != TR_AGAIN_AT_HAND)
                home[operand] = TR_HOME_AGAIN;
        }
    }
}

bool tr_plan_choose(struct tr_plan *plan, uint32_t sync)
{
    memset(plan->crossings[sync].home, TR_HOME_NONE, plan->kernel->graph.value_count);
    find_leading(plan, sync);
    find_members(plan, sync, true);
    for (int round = 0; round < PRUNE_ROUNDS && prune(plan); round++)
        find_members(plan, sync, false);
    if (plan->member_count <= MAX_CUT_VALUES && plan->cuts[sync]++ < MAX_CUTS)
        return cut_at_sync(plan, sync);
    save_all(plan, sync);
    return true;
}
