/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes of values: the smallest solution, found by assuming the best of everything and taking back
 * what does not hold. Two parts feed each other: shapes of values tell which branches are
 * divergent, and these (divergence.c) tell where phis, and values that leave loops, are varying.
 */
#include "translator/analysis/shape.h"

#include <llvm-c/Core.h>
#include <string.h>

#include "kernel_abi/rt.h"

struct solver {
    struct tr_graph *graph;
    const struct tr_loops *loops;
    struct tr_shapes *shapes;
    const struct tr_shape_facts *facts;
    struct tr_divergence divergence;
    struct tr_shape_context context;
    struct tr_set *moves;      /* by loop: values in it that can differ between its iterations */
    bool *is_known;            /* by value: it has a shape; otherwise it has not been reached */
    struct tr_set pending;     /* values to look at again */
    struct tr_shape *operands; /* shapes of the operands of any instruction */
};

/* ---- values that leave loops ---- */

static bool is_left_apart(const struct solver *solver, uint32_t loop, uint32_t from_segment)
{
    const struct tr_divergence *d = &solver->divergence;
    return d->is_last[from_segment] ? d->is_left_apart_last[loop] : d->is_left_apart[loop];
}

/* Temporal divergence: threads that are at the segment together may have left the value's loop in
 * different iterations. */
static bool is_from_elsewhere(const struct solver *solver, uint32_t value, uint32_t segment)
{
    const struct tr_loops *loops = solver->loops;
    uint32_t home = solver->graph->values[value].segment;
    if (home == TR_NONE || home == segment)
        return false;
    uint32_t loop = loops->innermost[home];
    while (loop != TR_NONE && !tr_set_has(&loops->loops[loop].segments, segment)) {
        if (is_left_apart(solver, loop, segment) && tr_set_has(&solver->moves[loop], value))
            return true;
        loop = loops->loops[loop].parent;
    }
    return false;
}

static struct tr_shape operand_shape(const struct solver *solver, uint32_t value, uint32_t segment)
{
    if (value == TR_NONE)
        return tr_shape_uniform();
    if (is_from_elsewhere(solver, value, segment))
        return tr_shape_varying();
    return solver->shapes->values[value];
}

/* Values computed from others that do not change in the loop are the same in all of its
 * iterations. */
static void find_moves(struct solver *solver, uint32_t loop)
{
    const struct tr_graph *graph = solver->graph;
    const struct tr_set *in = &solver->loops->loops[loop].segments;
    struct tr_set *moves = &solver->moves[loop];
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        const struct tr_segment *segment = &graph->segments[s];
        for (uint32_t v = segment->first_value; v < segment->first_value + segment->value_count;
             v++) {
            const struct tr_value *value = &graph->values[v];
            bool is_moving = !tr_is_function_of_operands(value);
            for (uint32_t i = 0; i < value->operand_count && !is_moving; i++)
                is_moving = value->operands[i] != TR_NONE && tr_set_has(moves, value->operands[i]);
            if (is_moving)
                tr_set_add(moves, v);
        }
    }
}

/* ---- values ---- */

/* Whether threads that are here together, having come through different edges, may have brought
 * different values. is_latch: edges from inside the header's loop. */
static bool has_several_values(const struct tr_value *phi, const struct tr_set *loop, bool is_latch)
{
    LLVMValueRef single = NULL;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        if (phi->incoming[i] == TR_NONE ||
            (loop != NULL && tr_set_has(loop, phi->incoming[i]) != is_latch))
            continue;
        LLVMValueRef incoming = LLVMGetIncomingValue(phi->llvm, i);
        if (single != NULL && single != incoming)
            return true;
        single = incoming;
    }
    return false;
}

static bool is_mixed(const struct solver *solver, const struct tr_value *phi)
{
    const struct tr_loops *loops = solver->loops;
    uint32_t segment = phi->segment;
    /* Nothing is known of ways there. */
    if (solver->facts->is_lost != NULL && solver->facts->is_lost[segment])
        return true;
    uint32_t loop = loops->innermost[segment];
    bool is_header = loop != TR_NONE && loops->loops[loop].header == segment &&
                     !loops->loops[loop].is_irreducible;
    const struct tr_set *in = is_header ? &loops->loops[loop].segments : NULL;
    return (solver->divergence.is_join[segment] && has_several_values(phi, in, false)) ||
           (solver->divergence.is_latch_join[segment] && has_several_values(phi, in, true));
}

/* False: no operand is known. */
static bool evaluate_phi(const struct solver *solver, const struct tr_value *phi,
                         struct tr_shape *shape)
{
    if (is_mixed(solver, phi)) {
        *shape = tr_shape_varying();
        return true;
    }
    bool is_known = false;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        uint32_t operand = phi->operands[i];
        if (phi->incoming[i] == TR_NONE || (operand != TR_NONE && !solver->is_known[operand]))
            continue;
        struct tr_shape incoming = operand_shape(solver, operand, phi->segment);
        *shape = is_known ? tr_shape_join(&solver->context, *shape, incoming) : incoming;
        is_known = true;
    }
    return is_known;
}

/* The shape of a value that is no phi, from those of its operands. */
static struct tr_shape shape_of(const struct solver *solver, const struct tr_value *value)
{
    const bool *is_steady = solver->facts->is_steady;
    if (is_steady != NULL && is_steady[value - solver->graph->values])
        return tr_shape_of_steady(&solver->context, value, solver->operands);
    return tr_shape_of_value(&solver->context, value, solver->operands);
}

static bool evaluate(struct solver *solver, const struct tr_value *value, struct tr_shape *shape)
{
    bool has_varying = false;
    const bool *is_common = solver->facts->is_common;
    if (is_common != NULL && is_common[value - solver->graph->values]) {
        *shape = tr_shape_uniform();
        return true;
    }
    if (value->opcode == LLVMPHI)
        return evaluate_phi(solver, value, shape);
    for (uint32_t i = 0; i < value->operand_count; i++) {
        uint32_t operand = value->operands[i];
        if (operand != TR_NONE && !solver->is_known[operand])
            return false;
        solver->operands[i] = operand_shape(solver, operand, value->segment);
        has_varying |= solver->operands[i].kind == TR_VARYING;
    }
    solver->context.is_uniform_segment = solver->divergence.is_uniform[value->segment];
    *shape = has_varying && solver->facts->is_never_better ? tr_shape_varying()
                                                           : shape_of(solver, value);
    return true;
}

static bool has_result(const struct tr_value *value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value->llvm)) != LLVMVoidTypeKind;
}

static bool is_same_shape(struct tr_shape a, struct tr_shape b)
{
    return a.kind == b.kind && a.stride == b.stride && a.no_wrap == b.no_wrap;
}

static void update(struct solver *solver, uint32_t number)
{
    const struct tr_value *value = &solver->graph->values[number];
    struct tr_shape *old = &solver->shapes->values[number];
    struct tr_shape shape = tr_shape_uniform();
    if (!has_result(value) || !evaluate(solver, value, &shape))
        return;
    /* Shapes only go down, so that this ends. */
    if (solver->is_known[number])
        shape = tr_shape_join(&solver->context, *old, shape);
    if (solver->is_known[number] && is_same_shape(*old, shape))
        return;
    *old = shape;
    solver->is_known[number] = true;
    for (uint32_t i = 0; i < value->use_count; i++)
        tr_set_add(&solver->pending, value->uses[i]);
}

static void update_values(struct solver *solver)
{
    uint32_t v = tr_set_next(&solver->pending, 0);
    while (v != TR_NONE) {
        tr_set_remove(&solver->pending, v);
        update(solver, v);
        /* In the order of control flow; values before it wait for the next round. */
        v = tr_set_next(&solver->pending, v + 1);
        if (v == TR_NONE)
            v = tr_set_next(&solver->pending, 0);
    }
}

/* ---- branches ---- */

static bool has_choice(const struct tr_segment *segment)
{
    for (uint32_t i = 1; i < segment->succ_count; i++)
        if (segment->succs[i] != segment->succs[0])
            return true;
    return false;
}

static bool is_divergent(const struct solver *solver, uint32_t number)
{
    const struct tr_segment *segment = &solver->graph->segments[number];
    if (!has_choice(segment))
        return false;
    const struct tr_value *terminator =
        &solver->graph->values[segment->first_value + segment->value_count - 1];
    if (terminator->opcode != LLVMBr && terminator->opcode != LLVMSwitch)
        return true;
    struct tr_shape condition = operand_shape(solver, terminator->operands[0], number);
    return condition.kind != TR_UNIFORM;
}

/* Finds divergent branches; true: there are new ones. */
static bool update_branches(struct solver *solver)
{
    bool is_changed = false;
    for (uint32_t s = 0; s < solver->graph->segment_count; s++) {
        if (solver->shapes->is_divergent[s] || !is_divergent(solver, s))
            continue;
        solver->shapes->is_divergent[s] = true;
        tr_divergence_add(&solver->divergence, s);
        is_changed = true;
    }
    if (is_changed)
        tr_divergence_spread(&solver->divergence);
    return is_changed;
}

static void add_all_values(struct solver *solver)
{
    for (uint32_t v = 0; v < solver->graph->value_count; v++)
        if (solver->graph->values[v].segment != TR_NONE)
            tr_set_add(&solver->pending, v);
}

static void solve(struct solver *solver)
{
    do {
        add_all_values(solver);
        update_values(solver);
    } while (update_branches(solver));
}

/* ---- before and after ---- */

static uint32_t most_operands(const struct tr_graph *graph)
{
    uint32_t most = 0;
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].operand_count > most)
            most = graph->values[v].operand_count;
    return most;
}

static bool make_sets(struct solver *solver, struct tr_set **sets)
{
    struct pxr_arena *arena = &solver->graph->arena;
    *sets = pxr_arena_alloc_array(arena, solver->loops->count, sizeof **sets);
    for (uint32_t l = 0; *sets != NULL && l < solver->loops->count; l++) {
        (*sets)[l] = tr_set_make(arena, solver->graph->value_count);
        if ((*sets)[l].words == NULL)
            return false;
    }
    return *sets != NULL;
}

static bool allocate(struct solver *solver)
{
    struct tr_graph *graph = solver->graph;
    struct tr_shapes *shapes = solver->shapes;
    struct pxr_arena *arena = &graph->arena;
    shapes->values = pxr_arena_alloc_array(arena, graph->value_count, sizeof *shapes->values);
    shapes->is_divergent =
        pxr_arena_alloc_array(arena, graph->segment_count, sizeof *shapes->is_divergent);
    shapes->is_lane_number =
        pxr_arena_alloc_array(arena, graph->value_count, sizeof *shapes->is_lane_number);
    solver->is_known = pxr_arena_alloc_array(arena, graph->value_count, sizeof *solver->is_known);
    solver->pending = tr_set_make(arena, graph->value_count);
    solver->operands = pxr_arena_alloc_array(arena, most_operands(graph), sizeof *solver->operands);
    return shapes->values != NULL && shapes->is_divergent != NULL && solver->is_known != NULL &&
           solver->pending.words != NULL && solver->operands != NULL &&
           shapes->is_lane_number != NULL && make_sets(solver, &solver->moves) &&
           make_sets(solver, &shapes->varies_at) && make_sets(solver, &shapes->varies_at_last) &&
           tr_divergence_init(&solver->divergence, graph, solver->loops, solver->facts);
}

/* Arguments of a function differ: they are the thread's own record, and memory of callers. */
static void begin(struct solver *solver)
{
    const struct tr_graph *graph = solver->graph;
    const struct tr_shape *arguments = solver->facts->arguments;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        bool is_argument = graph->values[v].segment == TR_NONE;
        struct tr_shape *shape = &solver->shapes->values[v];
        *shape = is_argument ? tr_shape_varying() : tr_shape_uniform();
        if (is_argument && arguments != NULL)
            *shape = arguments[v];
        solver->is_known[v] = is_argument;
    }
    for (uint32_t l = 0; l < solver->loops->count; l++)
        find_moves(solver, l);
}

static void set_varies_at(struct solver *solver, uint32_t loop)
{
    const struct tr_set *moves = &solver->moves[loop];
    struct tr_shapes *shapes = solver->shapes;
    for (uint32_t v = tr_set_next(moves, 0); v != TR_NONE; v = tr_set_next(moves, v + 1)) {
        if (shapes->values[v].kind == TR_VARYING || !has_result(&solver->graph->values[v]))
            continue;
        if (solver->divergence.is_left_apart[loop])
            tr_set_add(&shapes->varies_at[loop], v);
        if (solver->divergence.is_left_apart_last[loop])
            tr_set_add(&shapes->varies_at_last[loop], v);
    }
}

static bool has_whole_warps(const struct tr_shape_facts *facts)
{
    return facts->block[0] != 0 ? facts->block[0] % RT_WARP_SIZE == 0 : facts->has_whole_warps;
}

static bool is_row_scope(enum tr_scope scope, const struct tr_shape_facts *facts)
{
    return (facts->block[1] == 1 && facts->block[2] == 1) ||
           (scope == TR_SCOPE_WARP && has_whole_warps(facts));
}

struct tr_shape_facts tr_shape_facts_of(const struct tr_facts *facts)
{
    struct tr_shape_facts shapes = {.has_whole_warps = facts->has_whole_warps};
    memcpy(shapes.block, facts->block, sizeof shapes.block);
    return shapes;
}

bool tr_is_row_scope(enum tr_scope scope, const struct tr_facts *facts)
{
    struct tr_shape_facts shapes = tr_shape_facts_of(facts);
    return is_row_scope(scope, &shapes);
}

enum pxr_status tr_shapes_build(struct tr_graph *graph, const struct tr_loops *loops,
                                enum tr_scope scope, const struct tr_shape_facts *facts,
                                struct tr_shapes *shapes, struct pxr_error *err)
{
    LLVMModuleRef module = LLVMGetGlobalParent(graph->function);
    struct solver solver = {.graph = graph, .loops = loops, .shapes = shapes, .facts = facts};
    solver.context = (struct tr_shape_context){
        .graph = graph,
        .scope = scope,
        .block = facts->block,
        .has_whole_warps = has_whole_warps(facts),
        .is_race_free = facts->is_race_free,
        .is_row_scope = is_row_scope(scope, facts),
        .layout = LLVMGetModuleDataLayout(module),
    };
    *shapes = (struct tr_shapes){.scope = scope};
    if (!allocate(&solver))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a kernel");
    begin(&solver);
    solve(&solver);
    shapes->is_uniform_segment = solver.divergence.is_uniform;
    shapes->is_last = solver.divergence.is_last;
    for (uint32_t l = 0; l < loops->count; l++)
        set_varies_at(&solver, l);
    for (uint32_t v = 0; v < graph->value_count; v++)
        shapes->is_lane_number[v] = tr_shape_is_lane_number(&solver.context, graph->values[v].llvm);
    return PXR_OK;
}

struct tr_shape tr_shape_at(const struct tr_graph *graph, const struct tr_loops *loops,
                            const struct tr_shapes *shapes, uint32_t value, uint32_t segment)
{
    uint32_t home = graph->values[value].segment;
    uint32_t loop = home == TR_NONE ? TR_NONE : loops->innermost[home];
    const struct tr_set *varies =
        shapes->is_last[segment] ? shapes->varies_at_last : shapes->varies_at;
    while (loop != TR_NONE && !tr_set_has(&loops->loops[loop].segments, segment)) {
        if (tr_set_has(&varies[loop], value))
            return tr_shape_varying();
        loop = loops->loops[loop].parent;
    }
    return shapes->values[value];
}
