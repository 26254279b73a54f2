/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans how values get across sync points. crossing.c decides for one sync point; this file for
 * all: saving a value that nobody needed behind a sync point makes it needed behind the sync points
 * before it, so they are looked at again until nothing changes. The sets of needed values only
 * grow.
 */
#include <string.h>

#include <llvm-c/Target.h>

#include "translator/collapse/crossing.h"

static const struct tr_value *value_of(const struct tr_plan *plan, uint32_t value)
{
    return &plan->kernel->graph.values[value];
}

/* ---- preparing ---- */

/* Memory for count elements; sets *has_room to false if there is none. */
static void *allocate(struct pxr_arena *arena, uint32_t count, size_t size, bool *has_room)
{
    void *memory = pxr_arena_alloc_array(arena, count, size);
    *has_room = *has_room && memory != NULL;
    return memory;
}

#define ALLOCATE(field, count)                                                                     \
    ((field) = allocate(&plan->scratch, count, sizeof *(field), &has_room))

static bool allocate_plan(struct tr_plan *plan)
{
    uint32_t values = plan->kernel->graph.value_count;
    uint32_t segments = plan->kernel->graph.segment_count;
    uint32_t sync_points = plan->kernel->sync_count;
    bool has_room = true;
    ALLOCATE(plan->kind, values);
    ALLOCATE(plan->cost, values);
    ALLOCATE(plan->bytes, values);
    ALLOCATE(plan->is_cheap, values);
    ALLOCATE(plan->cuts, sync_points);
    ALLOCATE(plan->is_dirty, sync_points);
    ALLOCATE(plan->sync, segments);
    ALLOCATE(plan->is_visited, segments);
    ALLOCATE(plan->queue, segments);
    ALLOCATE(plan->leading, sync_points);
    ALLOCATE(plan->members, values);
    ALLOCATE(plan->index, values);
    ALLOCATE(plan->distance, values);
    ALLOCATE(plan->saving, values);
    ALLOCATE(plan->making, values);
    ALLOCATE(plan->least, values);
    ALLOCATE(plan->users, values);
    if (!has_room)
        return false;
    memset(plan->sync, 0xff, segments * sizeof *plan->sync);
    memset(plan->index, 0xff, values * sizeof *plan->index);
    return true;
}

static bool allocate_crossings(struct tr_plan *plan)
{
    struct pxr_arena *arena = &plan->kernel->graph.arena;
    uint32_t values = plan->kernel->graph.value_count;
    uint32_t sync_points = plan->kernel->sync_count;
    bool has_room = true;
    plan->crossings = allocate(arena, sync_points, sizeof *plan->crossings, &has_room);
    for (uint32_t j = 0; has_room && j < sync_points; j++) {
        plan->crossings[j].saved = tr_set_make(arena, values);
        plan->crossings[j].home = allocate(arena, values, 1, &has_room);
        plan->crossings[j].needed = tr_set_make(arena, values);
        has_room = has_room && plan->crossings[j].saved.words && plan->crossings[j].needed.words;
    }
    return has_room;
}

static uint8_t limit_to_byte(uint64_t n)
{
    return (uint8_t)(n < UINT8_MAX ? n : UINT8_MAX);
}

static void classify_values(struct tr_plan *plan)
{
    const struct tr_graph *graph = &plan->kernel->graph;
    LLVMModuleRef module = LLVMGetGlobalParent(graph->function);
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        plan->kind[v] = (uint8_t)tr_again_kind(value);
        plan->cost[v] = limit_to_byte(tr_cost_again(value, plan->costs));
        LLVMTypeRef type = LLVMTypeOf(value->llvm);
        if (LLVMTypeIsSized(type))
            plan->bytes[v] = limit_to_byte(LLVMStoreSizeOfType(layout, type));
    }
}

/* In the order of numbers every value but a phi comes after its operands; phis are not PURE. */
static void find_cheap(struct tr_plan *plan)
{
    const struct tr_graph *graph = &plan->kernel->graph;
    uint32_t *chain_cost = plan->least; /* of all cheap values that it is made from */
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        bool is_uniform = plan->kernel->shapes.values[v].kind == TR_UNIFORM;
        uint32_t cost = is_uniform ? TR_COST_UNIFORM : plan->cost[v];
        bool is_cheap = plan->kind[v] == TR_AGAIN_PURE;
        for (uint32_t i = 0; is_cheap && i < value->operand_count; i++) {
            uint32_t operand = value->operands[i];
            if (operand == TR_NONE || plan->kind[operand] == TR_AGAIN_AT_HAND)
                continue;
            is_cheap = plan->is_cheap[operand];
            cost += chain_cost[operand];
        }
        plan->is_cheap[v] = is_cheap && cost <= TR_COST_CHEAP;
        chain_cost[v] = cost;
    }
}

static void find_needs(struct tr_plan *plan)
{
    const struct tr_kernel *kernel = plan->kernel;
    for (uint32_t j = 1; j < kernel->sync_count; j++) {
        const struct tr_sync_point *sync = &kernel->sync_points[j];
        plan->sync[tr_sync_segment(kernel, j)] = j;
        plan->is_dirty[j] = true;
        const struct tr_set *live = &kernel->liveness.live_in[sync->resume];
        for (uint32_t v = tr_set_next(live, 0); v != TR_NONE; v = tr_set_next(live, v + 1))
            if (v != sync->value && plan->kind[v] != TR_AGAIN_AT_HAND)
                tr_set_add(&plan->crossings[j].needed, v);
    }
}

/* ---- all sync points ---- */

static void need_behind(struct tr_plan *plan, uint32_t value, uint32_t sync)
{
    if (value == plan->kernel->sync_points[sync].value ||
        tr_set_has(&plan->crossings[sync].needed, value))
        return;
    tr_set_add(&plan->crossings[sync].needed, value);
    plan->is_dirty[sync] = true;
}

/* A value saved at the sync point is needed at the sync points from which a thread may come there
 * without passing its definition. */
static void demand_before(struct tr_plan *plan, uint32_t value, uint32_t sync)
{
    const struct tr_graph *graph = &plan->kernel->graph;
    uint32_t definition = value_of(plan, value)->segment;
    uint32_t tail = 0;
    memset(plan->is_visited, 0, graph->segment_count * sizeof *plan->is_visited);
    if (tr_sync_segment(plan->kernel, sync) != definition)
        plan->queue[tail++] = tr_sync_segment(plan->kernel, sync);
    for (uint32_t head = 0; head < tail; head++) {
        const struct tr_segment *segment = &graph->segments[plan->queue[head]];
        for (uint32_t i = 0; i < segment->pred_count; i++) {
            uint32_t pred = segment->preds[i];
            if (plan->sync[pred] != TR_NONE) {
                need_behind(plan, value, plan->sync[pred]);
            } else if (pred != definition && !plan->is_visited[pred]) {
                plan->is_visited[pred] = true;
                plan->queue[tail++] = pred;
            }
        }
    }
}

/* Values that are live behind the sync point anyway are known to the sync points before, by
 * liveness. */
static void demand_saved(struct tr_plan *plan, uint32_t sync)
{
    const struct tr_set *live =
        &plan->kernel->liveness.live_in[plan->kernel->sync_points[sync].resume];
    const uint8_t *home = plan->crossings[sync].home;
    for (uint32_t i = 0; i < plan->member_count; i++) {
        uint32_t v = plan->members[i];
        if ((home[v] == TR_HOME_THREAD || home[v] == TR_HOME_GROUP) && !tr_set_has(live, v))
            demand_before(plan, v, sync);
    }
}

static bool choose_all(struct tr_plan *plan)
{
    bool has_changed = true;
    while (has_changed) {
        has_changed = false;
        for (uint32_t j = 1; j < plan->kernel->sync_count; j++) {
            if (!plan->is_dirty[j])
                continue;
            plan->is_dirty[j] = false;
            has_changed = true;
            if (!tr_plan_choose(plan, j))
                return false;
            demand_saved(plan, j);
        }
    }
    return true;
}

static bool list_homes(struct tr_plan *plan)
{
    uint32_t value_count = plan->kernel->graph.value_count;
    bool has_room = true;
    for (uint32_t j = 1; j < plan->kernel->sync_count; j++) {
        struct tr_crossing *crossing = &plan->crossings[j];
        uint32_t count = 0;
        for (uint32_t v = 0; v < value_count; v++) {
            if (crossing->home[v] == TR_HOME_AGAIN)
                plan->members[count++] = v;
            else if (crossing->home[v] != TR_HOME_NONE)
                tr_set_add(&crossing->saved, v);
        }
        crossing->again =
            allocate(&plan->kernel->graph.arena, count, sizeof *crossing->again, &has_room);
        if (!has_room)
            return false;
        crossing->again_count = count;
        memcpy(crossing->again, plan->members, count * sizeof *crossing->again);
    }
    return true;
}

static bool make_plan(struct tr_plan *plan)
{
    if (!allocate_plan(plan) || !allocate_crossings(plan))
        return false;
    classify_values(plan);
    find_cheap(plan);
    find_needs(plan);
    return choose_all(plan) && list_homes(plan);
}

enum pxr_status tr_storage_plan(struct tr_kernel *kernel, const struct tr_again_costs *costs,
                                struct tr_storage *storage, struct pxr_error *err)
{
    struct tr_plan plan = {.kernel = kernel, .costs = costs};
    pxr_arena_init(&plan.scratch, 0);
    bool is_made = make_plan(&plan);
    pxr_arena_fini(&plan.scratch);
    storage->crossings = plan.crossings;
    return is_made ? PXR_OK : pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
}
