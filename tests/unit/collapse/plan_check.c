/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of a plan; see plan_check.h.
 */
#include "plan_check.h"

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <stdlib.h>
#include <string.h>

#define WALK_STEPS 3000

/* ---- lists ---- */

static bool is_at_hand(const struct tr_value *value)
{
    return value->opcode == 0 || value->opcode == LLVMAlloca;
}

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool may_compute_again(const struct tr_value *value)
{
    const char *callee = tr_callee_name(value->llvm);
    switch (value->opcode) {
    case LLVMPHI:
    case LLVMAlloca:
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMInvoke:
    case LLVMFreeze:
        return false;
    case LLVMLoad: {
        LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(value->llvm));
        return LLVMGetMetadata(value->llvm,
                               LLVMGetMDKindIDInContext(context, "invariant.load", 14)) != NULL;
    }
    case LLVMCall:
        return begins(callee, "llvm.") ||
               (begins(callee, "rt_sreg_") && !strstr(callee, "clock") && !strstr(callee, "timer"));
    default:
        return LLVMIsATerminatorInst(value->llvm) == NULL;
    }
}

static bool dominates_sync(const struct tr_kernel *kernel, uint32_t value, uint32_t sync)
{
    uint32_t at = kernel->sync_points[sync].value;
    uint32_t from = kernel->graph.values[value].segment;
    uint32_t to = kernel->graph.values[at].segment;
    return from == to ? value < at : tr_dominates(&kernel->dominators, from, to);
}

static void check_saved(const struct tr_kernel *kernel, uint32_t sync, uint32_t value,
                        enum tr_home home)
{
    const struct tr_value *at = &kernel->graph.values[kernel->sync_points[sync].value];
    cr_assert(dominates_sync(kernel, value, sync), "value %u at synchronisation point %u", value,
              sync);
    cr_assert(!is_at_hand(&kernel->graph.values[value]), "value %u at synchronisation point %u",
              value, sync);
    if (home == TR_HOME_THREAD)
        return;
    cr_assert_eq(home, TR_HOME_GROUP);
    cr_assert(kernel->sync_points[sync].is_fused);
    cr_assert(kernel->shapes.is_uniform_segment[at->segment]);
    cr_assert_eq(
        tr_shape_at(&kernel->graph, &kernel->loops, &kernel->shapes, value, at->segment).kind,
        TR_UNIFORM);
}

static void check_again(const struct tr_kernel *kernel, const struct tr_crossing *crossing)
{
    bool *is_there = calloc(kernel->graph.value_count, 1);
    for (uint32_t i = 0; i < crossing->again_count; i++) {
        uint32_t v = crossing->again[i];
        const struct tr_value *value = &kernel->graph.values[v];
        cr_assert_eq(crossing->home[v], TR_HOME_AGAIN);
        cr_assert(!is_there[v], "value %u is listed twice", v);
        cr_assert(may_compute_again(value), "value %u", v);
        for (uint32_t k = 0; k < value->operand_count; k++) {
            uint32_t operand = value->operands[k];
            cr_assert(operand == TR_NONE || is_there[operand] ||
                          is_at_hand(&kernel->graph.values[operand]) ||
                          tr_set_has(&crossing->saved, operand),
                      "value %u is made of %u, which is not there", v, operand);
        }
        is_there[v] = true;
    }
    for (uint32_t v = 0; v < kernel->graph.value_count; v++)
        cr_assert_eq(is_there[v], crossing->home[v] == TR_HOME_AGAIN);
    free(is_there);
}

void plan_check_lists(const struct tr_kernel *kernel, const struct tr_storage *storage)
{
    for (uint32_t j = 1; j < kernel->sync_count; j++) {
        const struct tr_crossing *crossing = &storage->crossings[j];
        for (uint32_t v = 0; v < kernel->graph.value_count; v++) {
            enum tr_home home = crossing->home[v];
            bool is_saved = home == TR_HOME_THREAD || home == TR_HOME_GROUP;
            cr_assert_eq(tr_set_has(&crossing->saved, v), is_saved);
            if (is_saved)
                check_saved(kernel, j, v, home);
        }
        check_again(kernel, crossing);
        const struct tr_set *live = &kernel->liveness.live_in[kernel->sync_points[j].resume];
        for (uint32_t v = tr_set_next(live, 0); v != TR_NONE; v = tr_set_next(live, v + 1))
            cr_assert(crossing->home[v] != TR_HOME_NONE || v == kernel->sync_points[j].value ||
                          is_at_hand(&kernel->graph.values[v]),
                      "value %u is lost at synchronisation point %u", v, j);
    }
}

/* ---- availability on all paths ---- */

struct flow {
    const struct tr_kernel *kernel;
    const struct tr_storage *storage;
    uint32_t *sync_of; /* by segment */
    bool **in;         /* by segment, by value: given on every path; NULL: not reached yet */
};

static void give_at_start(const struct flow *flow, uint32_t region, bool *given)
{
    const struct tr_graph *graph = &flow->kernel->graph;
    for (uint32_t v = 0; v < graph->value_count; v++)
        given[v] = is_at_hand(&graph->values[v]);
    if (region == 0)
        return;
    for (uint32_t v = 0; v < graph->value_count; v++)
        given[v] |= flow->storage->crossings[region].home[v] != TR_HOME_NONE;
    given[flow->kernel->sync_points[region].value] = true;
}

/* Also checks uses, once all that is given is known. */
static void pass_segment(const struct flow *flow, uint32_t s, bool *given, bool check)
{
    const struct tr_segment *segment = &flow->kernel->graph.segments[s];
    for (uint32_t i = 0; i < segment->value_count; i++) {
        uint32_t v = segment->first_value + i;
        const struct tr_value *value = &flow->kernel->graph.values[v];
        for (uint32_t k = 0; check && value->opcode != LLVMPHI && k < value->operand_count; k++)
            cr_assert(value->operands[k] == TR_NONE || given[value->operands[k]],
                      "value %u uses %u, which is not there", v, value->operands[k]);
        given[v] = true;
    }
    uint32_t sync = flow->sync_of[s];
    for (uint32_t v = 0; check && sync != TR_NONE && v < flow->kernel->graph.value_count; v++)
        cr_assert(!tr_set_has(&flow->storage->crossings[sync].saved, v) || given[v],
                  "value %u is not there to be saved at synchronisation point %u", v, sync);
}

static void check_edge(const struct flow *flow, uint32_t from, uint32_t to, const bool *given)
{
    const struct tr_segment *segment = &flow->kernel->graph.segments[to];
    for (uint32_t i = 0; i < segment->value_count; i++) {
        const struct tr_value *value = &flow->kernel->graph.values[segment->first_value + i];
        for (uint32_t k = 0; value->opcode == LLVMPHI && k < value->operand_count; k++)
            cr_assert(value->incoming[k] != from || value->operands[k] == TR_NONE ||
                          given[value->operands[k]],
                      "a phi uses %u, which is not there", value->operands[k]);
    }
}

static bool merge_into(const struct flow *flow, uint32_t s, const bool *given)
{
    uint32_t count = flow->kernel->graph.value_count;
    bool changed = false;
    if (flow->in[s] == NULL) {
        flow->in[s] = malloc(count);
        memcpy(flow->in[s], given, count);
        return true;
    }
    for (uint32_t v = 0; v < count; v++) {
        changed |= flow->in[s][v] && !given[v];
        flow->in[s][v] = flow->in[s][v] && given[v];
    }
    return changed;
}

static bool sweep_region(const struct flow *flow, bool check)
{
    const struct tr_graph *graph = &flow->kernel->graph;
    bool *given = malloc(graph->value_count);
    bool changed = false;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        if (flow->in[s] == NULL)
            continue;
        memcpy(given, flow->in[s], graph->value_count);
        pass_segment(flow, s, given, check);
        if (flow->sync_of[s] != TR_NONE)
            continue;
        for (uint32_t i = 0; i < graph->segments[s].succ_count; i++) {
            uint32_t next = graph->segments[s].succs[i];
            changed |= merge_into(flow, next, given);
            if (check)
                check_edge(flow, s, next, given);
        }
    }
    free(given);
    return changed;
}

static uint32_t *sync_points_by_segment(const struct tr_kernel *kernel)
{
    uint32_t *sync_of = malloc(kernel->graph.segment_count * sizeof *sync_of);
    memset(sync_of, 0xff, kernel->graph.segment_count * sizeof *sync_of);
    for (uint32_t j = 1; j < kernel->sync_count; j++)
        sync_of[kernel->graph.values[kernel->sync_points[j].value].segment] = j;
    return sync_of;
}

void plan_check_available(const struct tr_kernel *kernel, const struct tr_storage *storage)
{
    uint32_t segments = kernel->graph.segment_count;
    struct flow flow = {.kernel = kernel,
                        .storage = storage,
                        .sync_of = sync_points_by_segment(kernel),
                        .in = calloc(segments, sizeof *flow.in)};
    bool *start = malloc(kernel->graph.value_count);
    for (uint32_t r = 0; r < kernel->sync_count; r++) {
        give_at_start(&flow, r, start);
        merge_into(&flow, kernel->sync_points[r].resume, start);
        while (sweep_region(&flow, false))
            ;
        sweep_region(&flow, true);
        for (uint32_t s = 0; s < segments; s++) {
            free(flow.in[s]);
            flow.in[s] = NULL;
        }
    }
    free(start);
    free(flow.in);
    free(flow.sync_of);
}

/* ---- one thread on a random path ---- */

/* What a value stands for: a number that tells every outcome from every other. 0: not there. */
struct walk {
    const struct tr_kernel *kernel;
    const struct tr_storage *storage;
    uint32_t *sync_of;
    uint64_t *real;   /* by value: in the kernel as it is */
    uint64_t *given;  /* by value: with the plan */
    uint64_t *thread; /* by value: the thread's element */
    uint64_t *group;  /* by value: the group's element */
    uint64_t *next;   /* by value: of phis, until all of a segment have been read */
    uint64_t random;
    uint64_t outcomes; /* so far */
    uint32_t region;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    return (x ^ (x >> 29)) * UINT64_C(0x94d049bb133111eb) | 1;
}

static uint32_t draw(struct walk *walk, uint32_t limit)
{
    walk->random = walk->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(walk->random >> 33) % limit;
}

static uint64_t operand_of(struct walk *walk, uint32_t user, uint32_t operand)
{
    if (operand == TR_NONE)
        return 1;
    cr_assert_neq(walk->given[operand], 0, "value %u uses %u, which is not there", user, operand);
    cr_assert_eq(walk->given[operand], walk->real[operand],
                 "value %u uses %u, which is not what it was", user, operand);
    return walk->given[operand];
}

static uint64_t compute(struct walk *walk, uint32_t v)
{
    const struct tr_value *value = &walk->kernel->graph.values[v];
    uint64_t outcome = v + 1;
    for (uint32_t k = 0; k < value->operand_count; k++)
        outcome = mix(outcome, operand_of(walk, v, value->operands[k]));
    if (is_at_hand(value) || may_compute_again(value))
        return outcome;
    return mix(outcome, ++walk->outcomes);
}

/* All phis of a segment read before any is written. */
static uint32_t enter_segment(struct walk *walk, uint32_t from, uint32_t to)
{
    const struct tr_segment *segment = &walk->kernel->graph.segments[to];
    uint32_t count = 0;
    for (; count < segment->value_count; count++) {
        uint32_t v = segment->first_value + count;
        const struct tr_value *value = &walk->kernel->graph.values[v];
        if (value->opcode != LLVMPHI)
            break;
        for (uint32_t k = 0; k < value->operand_count; k++)
            if (value->incoming[k] == from)
                walk->next[v] = mix(v + 1, operand_of(walk, v, value->operands[k]));
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = segment->first_value + i;
        walk->real[v] = walk->given[v] = walk->next[v];
    }
    return count;
}

static void save_at(struct walk *walk, uint32_t sync)
{
    const struct tr_crossing *crossing = &walk->storage->crossings[sync];
    const uint8_t *before = walk->storage->crossings[walk->region].home;
    for (uint32_t v = 0; v < walk->kernel->graph.value_count; v++) {
        if (crossing->home[v] == TR_HOME_GROUP)
            walk->group[v] = operand_of(walk, v, v);
        bool is_there = walk->region != 0 && before[v] == TR_HOME_THREAD &&
                        !tr_region_defines(walk->kernel, walk->region, v);
        if (crossing->home[v] == TR_HOME_THREAD && !is_there)
            walk->thread[v] = operand_of(walk, v, v);
    }
}

static void resume_behind(struct walk *walk, uint32_t sync)
{
    const struct tr_crossing *crossing = &walk->storage->crossings[sync];
    uint32_t result = walk->kernel->sync_points[sync].value;
    for (uint32_t v = 0; v < walk->kernel->graph.value_count; v++) {
        if (is_at_hand(&walk->kernel->graph.values[v]) || v == result)
            continue;
        walk->given[v] = 0;
        if (crossing->home[v] == TR_HOME_THREAD)
            walk->given[v] = walk->thread[v];
        else if (crossing->home[v] == TR_HOME_GROUP)
            walk->given[v] = walk->group[v];
    }
    for (uint32_t i = 0; i < crossing->again_count; i++)
        walk->given[crossing->again[i]] = compute(walk, crossing->again[i]);
    walk->region = sync;
}

static uint32_t walk_segment(struct walk *walk, uint32_t from, uint32_t s)
{
    const struct tr_segment *segment = &walk->kernel->graph.segments[s];
    uint32_t i = from == TR_NONE ? 0 : enter_segment(walk, from, s);
    for (; i < segment->value_count; i++) {
        uint32_t v = segment->first_value + i;
        if (is_at_hand(&walk->kernel->graph.values[v]))
            continue;
        walk->real[v] = walk->given[v] = compute(walk, v);
    }
    if (walk->sync_of[s] != TR_NONE) {
        save_at(walk, walk->sync_of[s]);
        resume_behind(walk, walk->sync_of[s]);
    }
    return segment->succ_count == 0 ? TR_NONE : segment->succs[draw(walk, segment->succ_count)];
}

void plan_check_walk(const struct tr_kernel *kernel, const struct tr_storage *storage,
                     uint64_t seed)
{
    uint32_t count = kernel->graph.value_count;
    struct walk walk = {.kernel = kernel,
                        .storage = storage,
                        .sync_of = sync_points_by_segment(kernel),
                        .real = calloc(count, sizeof(uint64_t)),
                        .given = calloc(count, sizeof(uint64_t)),
                        .thread = calloc(count, sizeof(uint64_t)),
                        .group = calloc(count, sizeof(uint64_t)),
                        .next = calloc(count, sizeof(uint64_t)),
                        .random = seed};
    for (uint32_t v = 0; v < count; v++)
        if (is_at_hand(&kernel->graph.values[v]))
            walk.real[v] = walk.given[v] = v + 1;
    uint32_t from = TR_NONE;
    uint32_t at = 0;
    for (uint32_t step = 0; step < WALK_STEPS && at != TR_NONE; step++) {
        uint32_t next = walk_segment(&walk, from, at);
        from = at;
        at = next;
    }
    free(walk.sync_of);
    free(walk.real);
    free(walk.given);
    free(walk.thread);
    free(walk.group);
    free(walk.next);
}
