/* SPDX-License-Identifier: Apache-2.0
 *
 * An iteration as a graph of its own: all that control can reach from the beginning of a loop over
 * threads to the latch. Values from outside are the same for all threads; only the counters tell
 * threads apart.
 */
#include "translator/module/marks.h"
#include "translator/module/trips.h"
#include "translator/vector/emit/form.h"
#include "translator/vector/plan/groups.h"

/* Analyses take time that grows faster than this. */
#define MOST_SEGMENTS 4096

struct iteration_build {
    struct tr_iteration *iteration;
    const struct tr_nest *nest;
    const struct tr_expectations *expected;
    bool is_jammed;
    bool has_implied; /* comparisons are taken to be common if that follows (common_turns.c) */
    const char *obstacle;
};

/* ---- the graph ---- */

static uint32_t count_phis(LLVMBasicBlockRef block)
{
    uint32_t count = 0;
    LLVMValueRef inst = LLVMGetFirstInstruction(block);
    for (; LLVMIsAPHINode(inst) != NULL; inst = LLVMGetNextInstruction(inst))
        count++;
    return count;
}

/* Adds the counter, then the other phis, which nobody uses. */
static uint32_t add_phis(const struct tr_counted *loop, LLVMValueRef *phis)
{
    uint32_t count = 0;
    phis[count++] = loop->counter;
    LLVMValueRef inst = LLVMGetFirstInstruction(loop->header);
    for (; LLVMIsAPHINode(inst) != NULL; inst = LLVMGetNextInstruction(inst))
        if (inst != loop->counter)
            phis[count++] = inst;
    return count;
}

static uint32_t cut_latch(const struct tr_counted *loop, bool is_last, struct tr_edge *cuts)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(loop->latch);
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2; i++)
        if (is_last || LLVMGetSuccessor(branch, i) == loop->header)
            cuts[count++] = (struct tr_edge){.terminator = branch, .successor = i};
    return count;
}

static enum pxr_status build_part(struct iteration_build *b, struct pxr_arena *scratch,
                                  struct pxr_error *err)
{
    const struct tr_guard *guards = b->expected->guards;
    uint32_t guard_count = b->expected->guard_count;
    const struct tr_counted *x = &b->nest->x;
    const struct tr_counted *y = b->is_jammed ? &b->nest->y : NULL;
    uint32_t phi_count = count_phis(x->header) + (y == NULL ? 0 : count_phis(y->header));
    LLVMValueRef *phis = pxr_arena_alloc_array(scratch, phi_count, sizeof *phis);
    struct tr_edge *cuts = pxr_arena_alloc_array(scratch, 4 + (size_t)guard_count, sizeof *cuts);
    if (phis == NULL || cuts == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a loop over threads");
    struct tr_part part = {.cuts = cuts, .arguments = phis};
    part.entry = y == NULL ? x->header : y->header;
    part.cut_count = cut_latch(x, y == NULL, cuts);
    part.argument_count = add_phis(x, phis);
    b->iteration->x = 0;
    b->iteration->y = TR_NONE;
    if (y != NULL) {
        b->iteration->y = part.argument_count;
        part.cut_count += cut_latch(y, true, cuts + part.cut_count);
        part.argument_count += add_phis(y, phis + part.argument_count);
    }
    for (uint32_t i = 0; i < guard_count; i++)
        cuts[part.cut_count++] =
            (struct tr_edge){.terminator = guards[i].branch, .successor = 1 - guards[i].expected};
    LLVMValueRef function = LLVMGetBasicBlockParent(x->header);
    return tr_graph_build_part(&b->iteration->graph, function, &part, err);
}

/* ---- what is in the way ---- */

/* TR_NONE: iterations never reach the block. */
static uint32_t segment_of(const struct tr_graph *graph, LLVMBasicBlockRef block)
{
    uint32_t number = tr_graph_number(graph, LLVMGetBasicBlockTerminator(block));
    return number == TR_NONE ? TR_NONE : graph->values[number].segment;
}

static bool is_repeatable(const struct tr_graph *graph, uint32_t number)
{
    const struct tr_segment *segment = &graph->segments[number];
    for (uint32_t v = 0; v < segment->value_count; v++)
        if (tr_is_seen(graph->values[segment->first_value + v].llvm))
            return false;
    return true;
}

/* Whether the code before and behind the x loop is straight and may be repeated for every
 * vector. */
static bool can_repeat_rows(const struct iteration_build *b)
{
    const struct tr_graph *graph = &b->iteration->graph;
    uint32_t s = 0;
    for (; graph->segments[s].llvm != b->nest->x.header; s = graph->segments[s].succs[0])
        if (!is_repeatable(graph, s))
            return false;
    s = segment_of(graph, b->nest->x.latch);
    while (s != TR_NONE && s != b->iteration->end) {
        s = graph->segments[s].succs[0];
        if (!is_repeatable(graph, s))
            return false;
    }
    return true;
}

static bool is_from_outside(const struct tr_graph *graph, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(graph, value);
    return number == TR_NONE || graph->values[number].segment == TR_NONE;
}

static bool has_strange_type(const struct tr_graph *graph)
{
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].segment != TR_NONE &&
            !tr_is_holdable(LLVMTypeOf(graph->values[v].llvm)))
            return true;
    return false;
}

static void find_obstacle(struct iteration_build *b)
{
    struct tr_iteration *iteration = b->iteration;
    const struct tr_loops *loops = &iteration->loops;
    if (has_strange_type(&iteration->graph))
        b->obstacle = "a value has a type that there are no vectors of";
    if (b->is_jammed && !is_from_outside(&iteration->graph, b->nest->x.count))
        b->obstacle = "rows of threads have different lengths";
    if (b->is_jammed && !can_repeat_rows(b))
        b->obstacle = "the loop over rows of threads does more than run them";
    for (uint32_t l = 0; l < loops->count; l++) {
        if (loops->loops[l].is_irreducible)
            b->obstacle = "a loop of the kernel has several entries";
        if (iteration->is_lost[loops->loops[l].header])
            b->obstacle = "a loop of the kernel has no way to the thread's end";
    }
}

/* ---- faults ---- */

static bool find_lost(struct tr_iteration *iteration)
{
    uint32_t count = iteration->graph.segment_count;
    iteration->is_lost =
        pxr_arena_alloc_array(&iteration->graph.arena, count, sizeof *iteration->is_lost);
    if (iteration->is_lost == NULL)
        return false;
    for (uint32_t s = 0; s < count; s++)
        iteration->is_lost[s] = s != iteration->end && iteration->post.idom[s] == TR_NONE;
    return true;
}

static bool has_way_from_outside(const struct tr_iteration *iteration, uint32_t loop,
                                 uint32_t segment)
{
    const struct tr_segment *to = &iteration->graph.segments[segment];
    for (uint32_t i = 0; i < to->pred_count; i++)
        if (!tr_set_has(&iteration->loops.loops[loop].segments, to->preds[i]))
            return true;
    return false;
}

/* Puts segments of faults into the loops that all ways to them come from: lanes that go to a fault
 * need not wait until others have left the loop. */
static void adopt_faults(struct tr_iteration *iteration)
{
    struct tr_loops *loops = &iteration->loops;
    for (uint32_t s = 1; s < iteration->graph.segment_count; s++) {
        if (!iteration->is_lost[s])
            continue;
        /* Faults have no loops, so all segments that lead to one have lower numbers and are
         * done. */
        uint32_t loop = loops->innermost[iteration->dominators.idom[s]];
        while (loop != TR_NONE && has_way_from_outside(iteration, loop, s))
            loop = loops->loops[loop].parent;
        loops->innermost[s] = loop;
        for (; loop != TR_NONE; loop = loops->loops[loop].parent)
            tr_set_add(&loops->loops[loop].segments, s);
    }
}

/* ---- loops ---- */

static uint32_t turns_of(const struct tr_iteration *iteration, uint32_t header)
{
    const struct tr_graph *graph = &iteration->graph;
    const struct tr_segment *segment = &graph->segments[header];
    if (tr_is_group_branch(iteration, header))
        return 1;
    for (uint32_t i = 0; i < segment->value_count; i++) {
        struct tr_counter counter;
        const struct tr_value *value = &graph->values[segment->first_value + i];
        if (value->opcode != LLVMPHI)
            break;
        if (!tr_find_counter(value->llvm, &counter) || LLVMIsAConstantInt(counter.start) == NULL)
            continue;
        uint64_t turns = tr_trips_from(&counter, LLVMConstIntGetSExtValue(counter.start));
        if (turns != 0)
            return turns < UINT32_MAX ? (uint32_t)turns : UINT32_MAX;
    }
    return 0;
}

static bool find_turns(struct tr_iteration *iteration)
{
    const struct tr_loops *loops = &iteration->loops;
    iteration->turns =
        pxr_arena_alloc_array(&iteration->graph.arena, loops->count, sizeof *iteration->turns);
    for (uint32_t l = 0; iteration->turns != NULL && l < loops->count; l++)
        iteration->turns[l] = turns_of(iteration, loops->loops[l].header);
    return iteration->turns != NULL;
}

/* ---- what threads have in common ---- */

/* By value; NULL: out of memory. */
static bool *find_common(struct iteration_build *b)
{
    struct tr_graph *graph = &b->iteration->graph;
    bool *is_common = pxr_arena_alloc_array(&graph->arena, graph->value_count, sizeof *is_common);
    for (uint32_t v = 0; is_common != NULL && v < graph->value_count; v++)
        is_common[v] = false;
    for (uint32_t i = 0; is_common != NULL && i < b->expected->common_count; i++)
        is_common[tr_graph_number(graph, b->expected->common[i])] = true;
    enum tr_mark alike = b->iteration->has_groups ? TR_MARK_GROUP_PLACE : TR_MARK_GROUP;
    for (uint32_t v = 0; is_common != NULL && v < graph->value_count; v++)
        is_common[v] |=
            graph->values[v].segment != TR_NONE && tr_is_marked(graph->values[v].llvm, alike);
    if (is_common != NULL && b->has_implied)
        tr_mark_implied(b->iteration, b->expected, is_common);
    return is_common;
}

/* By value; NULL: out of memory. */
static bool *find_steady(struct iteration_build *b)
{
    struct tr_graph *graph = &b->iteration->graph;
    bool *is_steady = pxr_arena_alloc_array(&graph->arena, graph->value_count, sizeof *is_steady);
    for (uint32_t v = 0; is_steady != NULL && v < graph->value_count; v++)
        is_steady[v] = false;
    for (uint32_t i = 0; is_steady != NULL && i < b->expected->steady_count; i++) {
        uint32_t number = tr_graph_number(graph, b->expected->steady[i].extension);
        if (number != TR_NONE)
            is_steady[number] = true;
    }
    return is_steady;
}

static enum pxr_status find_shapes(struct iteration_build *b, struct tr_shape of_x,
                                   struct tr_shape of_y, struct tr_shapes *shapes,
                                   struct pxr_error *err)
{
    struct tr_iteration *iteration = b->iteration;
    struct tr_graph *graph = &iteration->graph;
    struct tr_shape *arguments =
        pxr_arena_alloc_array(&graph->arena, graph->value_count, sizeof *arguments);
    if (arguments == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a loop over threads");
    for (uint32_t v = 0; v < graph->value_count; v++)
        arguments[v] = (struct tr_shape){.kind = TR_UNIFORM, .no_wrap = true};
    arguments[iteration->x] = of_x;
    if (b->is_jammed)
        arguments[iteration->y] = of_y;
    bool *is_common = find_common(b);
    bool *is_steady = find_steady(b);
    if (is_common == NULL || is_steady == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a loop over threads");
    struct tr_shape_facts facts = {.arguments = arguments,
                                   .is_common = is_common,
                                   .is_steady = is_steady,
                                   .is_lost = iteration->is_lost,
                                   .is_race_free = true,
                                   .is_never_better = true};
    if (!b->is_jammed) /* all threads are of one row */
        facts.block[1] = facts.block[2] = 1;
    return tr_shapes_build(graph, &iteration->loops, TR_SCOPE_BLOCK, &facts, shapes, err);
}

/* Finds the values that differ between rows for threads of one x. */
static enum pxr_status find_row_dependence(struct iteration_build *b, struct pxr_error *err)
{
    struct tr_iteration *iteration = b->iteration;
    struct tr_graph *graph = &iteration->graph;
    iteration->depends_on_row =
        pxr_arena_alloc_array(&graph->arena, graph->value_count, sizeof *iteration->depends_on_row);
    if (iteration->depends_on_row == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a loop over threads");
    if (!b->is_jammed)
        return PXR_OK;
    struct tr_shapes shapes;
    struct tr_shape same = {.kind = TR_UNIFORM, .no_wrap = true};
    struct tr_shape differs = {.kind = TR_VARYING};
    enum pxr_status status = find_shapes(b, same, differs, &shapes, err);
    for (uint32_t v = 0; status == PXR_OK && v < graph->value_count; v++)
        iteration->depends_on_row[v] = shapes.values[v].kind != TR_UNIFORM;
    return status;
}

/* ---- borders ---- */

/* Constants that are compared with the places of a border's threads are small. */
#define BORDER_MAX 64

static bool is_place(const struct tr_iteration *iteration, uint32_t number)
{
    return number != TR_NONE && iteration->shapes.values[number].kind == TR_AFFINE &&
           iteration->shapes.values[number].stride != 0;
}

static bool is_small(LLVMValueRef operand)
{
    if (LLVMIsAConstantInt(operand) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(operand)) > 64)
        return false;
    int64_t constant = LLVMConstIntGetSExtValue(operand);
    return constant > -BORDER_MAX && constant < BORDER_MAX;
}

/* Whether the comparison holds back the threads with which rows of the grid begin: it compares a
 * place with a small constant, or a place less a small constant, as LLVM tests both ends at once.
 */
static bool asks_for_border(const struct tr_iteration *iteration, const struct tr_value *icmp)
{
    uint32_t place = icmp->operands[0];
    if (!is_place(iteration, place))
        return false;
    const struct tr_value *sum = &iteration->graph.values[place];
    bool is_less = sum->opcode == LLVMAdd && is_small(LLVMGetOperand(sum->llvm, 1)) &&
                   LLVMConstIntGetSExtValue(LLVMGetOperand(sum->llvm, 1)) < 0;
    return is_less || is_small(LLVMGetOperand(icmp->llvm, 1));
}

static void find_border(struct tr_iteration *iteration)
{
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        const struct tr_value *value = &iteration->graph.values[v];
        if (value->opcode == LLVMICmp)
            iteration->has_border |= asks_for_border(iteration, value);
    }
}

static enum pxr_status compare_threads(struct iteration_build *b, struct pxr_error *err)
{
    struct tr_shape along_row = {.kind = TR_AFFINE, .stride = 1, .no_wrap = true};
    struct tr_shape row = {.kind = TR_AFFINE, .no_wrap = true};
    b->has_implied = !b->is_jammed && b->expected->common_count > 0;
    enum pxr_status status = find_shapes(b, along_row, row, &b->iteration->shapes, err);
    if (status == PXR_OK && b->has_implied && !tr_holds_implied(b->iteration, b->expected)) {
        b->has_implied = false;
        status = find_shapes(b, along_row, row, &b->iteration->shapes, err);
    }
    if (status != PXR_OK)
        return status;
    find_border(b->iteration);
    return find_row_dependence(b, err);
}

/* ---- all of it ---- */

static enum pxr_status find_flow(struct iteration_build *b, struct pxr_error *err)
{
    struct tr_iteration *iteration = b->iteration;
    struct tr_graph *graph = &iteration->graph;
    const struct tr_counted *last = b->is_jammed ? &b->nest->y : &b->nest->x;
    iteration->end = segment_of(graph, last->latch);
    if (iteration->end == TR_NONE)
        b->obstacle = "threads never come to an end";
    if (graph->segment_count > MOST_SEGMENTS)
        b->obstacle = "the code of a thread is too long";
    if (b->obstacle != NULL)
        return PXR_OK;
    enum pxr_status status = tr_dominators_build(graph, false, &iteration->dominators, err);
    if (status == PXR_OK)
        status = tr_post_dominators_to(graph, iteration->end, &iteration->post, err);
    if (status == PXR_OK)
        status = tr_loops_build(graph, &iteration->loops, err);
    if (status == PXR_OK && (!find_lost(iteration) || !find_turns(iteration)))
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a loop over threads");
    if (status == PXR_OK)
        find_obstacle(b);
    return status;
}

static enum pxr_status build(struct iteration_build *b, struct pxr_error *err)
{
    struct pxr_arena scratch;
    pxr_arena_init(&scratch, 0);
    enum pxr_status status = build_part(b, &scratch, err);
    pxr_arena_fini(&scratch);
    if (status == PXR_OK)
        status = find_flow(b, err);
    if (status != PXR_OK || b->obstacle != NULL)
        return status;
    adopt_faults(b->iteration);
    status = compare_threads(b, err);
    return status == PXR_OK ? tr_units_build(b->iteration, err) : status;
}

enum pxr_status tr_iteration_build(struct tr_iteration *iteration, const struct tr_target *target,
                                   const struct tr_nest *nest, bool is_jammed,
                                   const struct tr_expectations *expected, const char **obstacle,
                                   struct pxr_error *err)
{
    static const struct tr_expectations nothing;
    *iteration = (struct tr_iteration){.target = target,
                                       .is_of_blocks = nest->x.block_row != 0,
                                       .has_groups = expected != NULL && expected->has_groups};
    if (LLVMIsAConstantInt(nest->x.count) != NULL)
        iteration->row_threads = (uint32_t)LLVMConstIntGetZExtValue(nest->x.count);
    struct iteration_build b = {.iteration = iteration,
                                .nest = nest,
                                .expected = expected != NULL ? expected : &nothing,
                                .is_jammed = is_jammed};
    enum pxr_status status = build(&b, err);
    if (status != PXR_OK || b.obstacle != NULL)
        tr_iteration_fini(iteration);
    *obstacle = b.obstacle;
    return status;
}

/* Finds what is to be expected once indices do not wrap: quotients of them, which lanes have in
 * common, and branches on them. */
static enum pxr_status expect_more(struct tr_iteration *whole, const struct tr_nest *nest,
                                   bool is_jammed, bool has_places,
                                   struct tr_expectations *expected, struct pxr_error *err)
{
    const char *obstacle = NULL; /* there was none without expectations */
    struct tr_iteration steady;
    struct tr_expectations indices = {.steady = expected->steady,
                                      .steady_count = expected->steady_count};
    enum pxr_status status =
        tr_iteration_build(&steady, whole->target, nest, is_jammed, &indices, &obstacle, err);
    if (status != PXR_OK || obstacle != NULL)
        return status;
    status = tr_find_expectations(&steady, has_places, &whole->graph.arena, expected, err);
    tr_iteration_fini(&steady);
    return status;
}

enum pxr_status tr_iteration_build_fast(struct tr_iteration *fast, struct tr_iteration *whole,
                                        const struct tr_nest *nest, bool is_jammed, bool has_places,
                                        struct tr_expectations *expected, const char **obstacle,
                                        struct pxr_error *err)
{
    bool has_more = false;
    *expected = (struct tr_expectations){0};
    enum pxr_status status =
        tr_find_expectations(whole, has_places, &whole->graph.arena, expected, err);
    if (status == PXR_OK)
        status = tr_find_steady(whole, whole, expected, &has_more, err);
    if (status == PXR_OK && has_more)
        status = expect_more(whole, nest, is_jammed, has_places, expected, err);
    do {
        has_more = false;
        if (status == PXR_OK)
            status =
                tr_iteration_build(fast, whole->target, nest, is_jammed, expected, obstacle, err);
        if (status == PXR_OK && *obstacle == NULL)
            status = tr_find_steady(whole, fast, expected, &has_more, err);
        if (has_more)
            tr_iteration_fini(fast);
    } while (has_more);
    return status;
}

void tr_iteration_fini(struct tr_iteration *iteration)
{
    tr_graph_fini(&iteration->graph);
    *iteration = (struct tr_iteration){0};
}
