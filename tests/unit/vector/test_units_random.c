/* SPDX-License-Identifier: Apache-2.0
 *
 * Random functions with any control flow become iterations of loops over threads. They are run for
 * all threads of a block, and what is planned for them must be true of every run: which lanes come
 * to a unit, which loops they leave together, and what values they have in common, also those of
 * different rows.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "tests/unit/analysis/interpret.h"
#include "tests/unit/analysis/random_function.h"
#include "translator/collapse/collapse.h"
#include "translator/module/marks.h"
#include "translator/module/passes.h"
#include "translator/vector/plan/plan.h"

#define THREADS 64
#define ROW     8 /* threads, where there are rows */

struct run {
    uint64_t seed;
    struct tr_iteration iteration;
    bool is_jammed;
    struct trace *traces;
    uint32_t claims; /* that were checked and said something */
};

/* ---- a nest ---- */

struct loop {
    LLVMBasicBlockRef header;
    LLVMBasicBlockRef latch;
    LLVMValueRef counter;
};

/* The loop's latch is at the end of the function, and goes on to `after`. */
static struct loop add_loop(struct generator *g, LLVMBasicBlockRef before, LLVMBasicBlockRef header,
                            LLVMBasicBlockRef after, uint32_t count)
{
    struct loop loop = {.header = header};
    loop.latch = LLVMAppendBasicBlockInContext(g->context, g->function, "latch");
    LLVMValueRef first = LLVMGetFirstInstruction(header);
    if (first == NULL)
        LLVMPositionBuilderAtEnd(g->builder, header);
    else
        LLVMPositionBuilderBefore(g->builder, first);
    loop.counter = LLVMBuildPhi(g->builder, g->i32, "");
    LLVMPositionBuilderAtEnd(g->builder, loop.latch);
    LLVMValueRef next = LLVMBuildAdd(g->builder, loop.counter, LLVMConstInt(g->i32, 1, false), "");
    LLVMValueRef more =
        LLVMBuildICmp(g->builder, LLVMIntULT, next, LLVMConstInt(g->i32, count, false), "");
    LLVMBuildCondBr(g->builder, more, header, after);
    LLVMValueRef values[] = {LLVMConstInt(g->i32, 0, false), next};
    LLVMBasicBlockRef blocks[] = {before, loop.latch};
    LLVMAddIncoming(loop.counter, values, blocks, 2);
    return loop;
}

static void replace_register(struct generator *g, const char *name, LLVMValueRef value)
{
    LLVMValueRef callee = LLVMGetNamedFunction(g->module, name);
    LLVMUseRef use = callee == NULL ? NULL : LLVMGetFirstUse(callee);
    while (use != NULL) {
        LLVMValueRef call = LLVMGetUser(use);
        use = LLVMGetNextUse(use);
        LLVMReplaceAllUsesWith(call, value);
        LLVMInstructionEraseFromParent(call);
    }
}

static void replace_returns(struct generator *g, LLVMBasicBlockRef last, LLVMBasicBlockRef latch)
{
    LLVMBasicBlockRef block = LLVMGetEntryBasicBlock(g->function);
    for (; block != last; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (LLVMGetInstructionOpcode(end) != LLVMRet)
            continue;
        LLVMInstructionEraseFromParent(end);
        LLVMPositionBuilderAtEnd(g->builder, block);
        LLVMBuildBr(g->builder, latch);
    }
}

/* Loops over the threads around all that the function does. */
static void make_nest(struct generator *g, bool is_jammed)
{
    LLVMBasicBlockRef iteration = LLVMGetEntryBasicBlock(g->function);
    LLVMBasicBlockRef row = LLVMInsertBasicBlockInContext(g->context, iteration, "row");
    LLVMBasicBlockRef enter = LLVMInsertBasicBlockInContext(g->context, row, "enter");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(g->context, g->function, "done");
    LLVMPositionBuilderAtEnd(g->builder, done);
    LLVMBuildRetVoid(g->builder);
    LLVMPositionBuilderAtEnd(g->builder, enter);
    LLVMBuildBr(g->builder, row);
    LLVMBasicBlockRef after = done;
    if (is_jammed) {
        struct loop y = add_loop(g, enter, row, done, THREADS / ROW);
        replace_register(g, "rt_sreg_tid_y", y.counter);
        tr_mark_threads(y.latch, 'y', 0);
        after = y.latch;
    }
    LLVMPositionBuilderAtEnd(g->builder, row);
    LLVMBuildBr(g->builder, iteration);
    struct loop x = add_loop(g, row, iteration, after, is_jammed ? ROW : THREADS);
    replace_register(g, "rt_sreg_tid_x", x.counter);
    tr_mark_threads(x.latch, 'x', 0);
    replace_returns(g, done, x.latch);
    cr_assert_eq(LLVMVerifyModule(g->module, LLVMReturnStatusAction, NULL), 0);
    cr_assert_eq(tr_run_passes(g->module, "function(loop-simplify,lcssa)", NULL, NULL), PXR_OK);
}

/* ---- what threads did ---- */

static void fail(const struct run *run, const char *what, uint32_t segment, uint32_t value)
{
    char *text = tr_plan_text(run->iteration.graph.function);
    char *line =
        value == TR_NONE ? NULL : LLVMPrintValueToString(run->iteration.graph.values[value].llvm);
    char *function = LLVMPrintValueToString(run->iteration.graph.function);
    cr_assert_fail("seed %llu: %s: segment %u%s\n%s\n%s", (unsigned long long)run->seed, what,
                   segment, line == NULL ? "" : line, function, text);
}

/* The thread did not come to the iteration's end, for reasons that say nothing. */
static bool is_gone(const struct run *run, const struct trace *trace)
{
    return trace->is_cut || run->iteration.is_lost[trace->steps[trace->step_count - 1].at.segment];
}

static uint32_t count_visits(const struct trace *trace, const struct instance *at)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->step_count; i++)
        count += is_same_instance(&trace->steps[i].at, at);
    return count;
}

static uint32_t depth_at(const struct run *run, uint32_t segment)
{
    uint32_t loop = run->iteration.loops.innermost[segment];
    return loop == TR_NONE ? 0 : run->iteration.loops.loops[loop].depth;
}

static bool is_follower(const struct run *run, uint32_t segment)
{
    const struct tr_unit *anchor = &run->iteration.units[run->iteration.units[segment].anchor];
    for (uint32_t i = 0; i < anchor->follower_count; i++)
        if (anchor->followers[i] == segment)
            return true;
    return false;
}

/* ---- units ---- */

/* Whether the thread was at the unit's anchor in the step; then *at is where it comes to the unit.
 */
static bool is_at_anchor(const struct run *run, uint32_t segment, const struct instance *step,
                         struct instance *at)
{
    uint32_t anchor = run->iteration.units[segment].anchor;
    if (step->segment != anchor)
        return false;
    uint32_t depth = depth_at(run, anchor);
    *at = (struct instance){.segment = segment};
    if (is_follower(run, segment)) { /* the thread enters the loop */
        if (step->iteration[--depth] != 0)
            return false;
    }
    for (uint32_t i = 0; i < depth; i++)
        at->iteration[i] = step->iteration[i];
    return true;
}

static void check_always(struct run *run, uint32_t segment, const struct trace *trace)
{
    struct instance at;
    for (uint32_t i = 0; i < trace->step_count && !is_gone(run, trace); i++) {
        if (!is_at_anchor(run, segment, &trace->steps[i].at, &at))
            continue;
        run->claims++;
        if (count_visits(trace, &at) != 1)
            fail(run, "not always", segment, TR_NONE);
    }
}

static void check_uniform(struct run *run, uint32_t segment, const struct trace *a,
                          const struct trace *b)
{
    struct instance at;
    for (uint32_t i = 0; i < a->step_count && !is_gone(run, a) && !is_gone(run, b); i++) {
        if (!is_at_anchor(run, segment, &a->steps[i].at, &at) ||
            count_visits(b, &a->steps[i].at) == 0)
            continue;
        run->claims++;
        if (count_visits(a, &at) != count_visits(b, &at))
            fail(run, "not uniform", segment, TR_NONE);
    }
}

static void check_units(struct run *run, const struct trace *a, const struct trace *b)
{
    for (uint32_t s = 1; s < run->iteration.graph.segment_count; s++) {
        if (run->iteration.units[s].kind == TR_UNIT_ALWAYS)
            check_always(run, s, a);
        if (run->iteration.units[s].kind == TR_UNIT_UNIFORM)
            check_uniform(run, s, a, b);
    }
}

/* Threads that are in one iteration of a loop that is left together: both go on, or none. */
static void check_loops(struct run *run, const struct trace *a, const struct trace *b)
{
    const struct tr_loops *loops = &run->iteration.loops;
    for (uint32_t i = 0; i < a->step_count && !is_gone(run, a) && !is_gone(run, b); i++) {
        struct instance at = a->steps[i].at;
        uint32_t loop = loops->innermost[at.segment];
        if (loop == TR_NONE || loops->loops[loop].header != at.segment ||
            run->iteration.is_divergent_loop[loop] || count_visits(b, &at) == 0)
            continue;
        at.iteration[loops->loops[loop].depth - 1]++;
        run->claims++;
        if (count_visits(a, &at) != count_visits(b, &at))
            fail(run, "loop not left together", at.segment, TR_NONE);
    }
}

/* ---- values ---- */

static bool has_integer(const struct run *run, uint32_t value)
{
    LLVMTypeRef type = LLVMTypeOf(run->iteration.graph.values[value].llvm);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
}

/* In one row. */
static bool is_affine(const struct run *run, uint32_t value, const struct trace *threads[2],
                      const uint64_t bits[2])
{
    struct tr_shape shape = run->iteration.shapes.values[value];
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(run->iteration.graph.values[value].llvm));
    int64_t distance = (int64_t)threads[1]->tid[0] - (int64_t)threads[0]->tid[0];
    uint64_t expected = bits[0] + (uint64_t)(shape.stride * distance);
    int64_t first = (int64_t)(bits[0] << (64 - width)) >> (64 - width);
    int64_t second = (int64_t)(bits[1] << (64 - width)) >> (64 - width);
    bool is_exact = !shape.no_wrap || first + shape.stride * distance == second;
    return (expected ^ bits[1]) << (64 - width) == 0 && is_exact;
}

static void check_value(struct run *run, uint32_t value, const struct trace *threads[2],
                        const uint64_t bits[2])
{
    const struct tr_iteration *iteration = &run->iteration;
    uint32_t segment = iteration->graph.values[value].segment;
    struct tr_shape shape = iteration->shapes.values[value];
    run->claims += shape.kind != TR_VARYING || !iteration->depends_on_row[value];
    if (shape.kind == TR_UNIFORM && bits[0] != bits[1])
        fail(run, "not uniform", segment, value);
    if (shape.kind == TR_AFFINE && threads[0]->tid[1] == threads[1]->tid[1] &&
        !is_affine(run, value, threads, bits))
        fail(run, "not affine", segment, value);
    if (!iteration->depends_on_row[value] && threads[0]->tid[0] == threads[1]->tid[0] &&
        bits[0] != bits[1])
        fail(run, "depends on the row", segment, value);
}

static void check_step(struct run *run, const struct trace *threads[2], const struct step *first,
                       const struct step *second)
{
    const struct tr_segment *segment = &run->iteration.graph.segments[first->at.segment];
    for (uint32_t i = 0; i < segment->value_count; i++) {
        uint64_t bits[2] = {first->values[i], second->values[i]};
        if (has_integer(run, segment->first_value + i))
            check_value(run, segment->first_value + i, threads, bits);
    }
}

static void check_values(struct run *run, const struct trace *a, const struct trace *b)
{
    const struct trace *threads[2] = {a, b};
    for (uint32_t i = 0; i < a->step_count; i++)
        for (uint32_t j = 0; j < b->step_count; j++)
            if (is_same_instance(&a->steps[i].at, &b->steps[j].at))
                check_step(run, threads, &a->steps[i], &b->steps[j]);
}

/* ---- order ---- */

static void note_place(const struct run *run, uint32_t segment, uint32_t *place, uint32_t *next)
{
    const struct tr_unit *unit = &run->iteration.units[segment];
    place[segment] = (*next)++;
    for (uint32_t i = 0; i < unit->child_count; i++)
        note_place(run, unit->children[i], place, next);
    for (uint32_t i = 0; i < unit->follower_count; i++)
        note_place(run, unit->followers[i], place, next);
}

/* The segment is emitted within the unit. */
static bool is_in_unit(const struct run *run, uint32_t unit, uint32_t segment)
{
    while (segment != TR_NONE && segment != unit)
        segment = run->iteration.units[segment].anchor;
    return segment == unit;
}

static uint32_t count_escapes(const struct tr_unit *unit, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < unit->escape_count; i++)
        count += unit->escapes[i] == to;
    return count;
}

/* Each unit names what control leaves it for, once, and nothing else. */
static void check_escapes(struct run *run)
{
    const struct tr_graph *graph = &run->iteration.graph;
    for (uint32_t unit = 0; unit < graph->segment_count; unit++)
        for (uint32_t to = 0; to < graph->segment_count; to++) {
            bool is_left_for = false;
            for (uint32_t i = 0; i < graph->segments[to].pred_count; i++)
                is_left_for |= is_in_unit(run, unit, graph->segments[to].preds[i]);
            is_left_for &= !is_in_unit(run, unit, to);
            if (count_escapes(&run->iteration.units[unit], to) != is_left_for)
                fail(run, "wrong ways out", unit, TR_NONE);
        }
}

/* Units are emitted once each, before those that control goes to from them. */
static void check_order(struct run *run)
{
    const struct tr_graph *graph = &run->iteration.graph;
    const struct tr_loops *loops = &run->iteration.loops;
    uint32_t *place = pxr_arena_alloc_array(&run->iteration.graph.arena, graph->segment_count, 4);
    uint32_t next = 0;
    note_place(run, 0, place, &next);
    cr_assert_eq(next, graph->segment_count);
    for (uint32_t s = 0; s < graph->segment_count; s++)
        for (uint32_t i = 0; i < graph->segments[s].succ_count; i++) {
            uint32_t to = graph->segments[s].succs[i];
            uint32_t loop = loops->innermost[to];
            bool is_back = loop != TR_NONE && loops->loops[loop].header == to &&
                           tr_set_has(&loops->loops[loop].segments, s);
            if (!is_back && place[to] < place[s])
                fail(run, "emitted too early", to, TR_NONE);
        }
}

/* ---- all of it ---- */

static void run_threads(struct run *run)
{
    struct pxr_arena *arena = &run->iteration.graph.arena;
    uint64_t *arguments = pxr_arena_alloc_array(arena, run->iteration.graph.value_count, 8);
    uint32_t row = run->is_jammed ? ROW : THREADS;
    struct interpreter interpreter = {.graph = &run->iteration.graph,
                                      .loops = &run->iteration.loops,
                                      .block = {row, THREADS / row, 1},
                                      .arguments = arguments,
                                      .arena = arena};
    run->traces = pxr_arena_alloc_array(arena, THREADS, sizeof *run->traces);
    for (uint32_t t = 0; t < THREADS; t++) {
        run->traces[t].tid[0] = t % row;
        run->traces[t].tid[1] = t / row;
        arguments[run->iteration.x] = t % row;
        if (run->is_jammed)
            arguments[run->iteration.y] = t / row;
        interpret(&interpreter, &run->traces[t]);
    }
}

static void check_threads(struct run *run)
{
    static const uint32_t distances[] = {1, 2, 8, 17, 32};
    for (uint32_t t = 0; t < THREADS; t++)
        for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
            const struct trace *a = &run->traces[t];
            const struct trace *b = &run->traces[(t + distances[i]) % THREADS];
            check_units(run, a, b);
            check_loops(run, a, b);
            check_values(run, a, b);
        }
}

/* How many claims were checked. */
static uint32_t check_seed(uint64_t seed)
{
    struct generator generator;
    struct run run = {.seed = seed, .is_jammed = seed % 2 == 0};
    struct tr_target target = tr_target_find("", 512);
    struct tr_nest *nests = NULL;
    const char *obstacle = NULL;
    uint32_t count = 0;
    random_function(&generator, seed, seed % 3 == 0 ? 15 : 0);
    make_nest(&generator, run.is_jammed);
    cr_assert_eq(tr_find_nests(generator.function, &nests, &count, NULL), PXR_OK);
    cr_assert_leq(count, 1);
    if (count == 1 && nests[0].obstacle == NULL) {
        cr_assert_eq(nests[0].y.header != NULL, run.is_jammed, "seed %llu",
                     (unsigned long long)seed);
        cr_assert_eq(tr_iteration_build(&run.iteration, &target, &nests[0], run.is_jammed, NULL,
                                        &obstacle, NULL),
                     PXR_OK);
        if (obstacle == NULL) {
            check_order(&run);
            check_escapes(&run);
            run_threads(&run);
            check_threads(&run);
            tr_iteration_fini(&run.iteration);
        }
    }
    free(nests);
    random_function_fini(&generator);
    return run.claims;
}

Test(units_random, what_is_planned_is_true_of_every_run)
{
    const char *only = getenv("PTXRUN_TEST_SEED");
    const char *count = getenv("PTXRUN_TEST_COUNT");
    uint64_t first = only == NULL ? 1 : strtoull(only, NULL, 10);
    uint64_t seeds = count == NULL ? (only == NULL ? 400 : 1) : strtoull(count, NULL, 10);
    uint64_t claims = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++)
        claims += check_seed(seed);
    cr_assert(claims > 0);
}

/* Lanes are in a loop that others have left before, and all of them leave it by another way. */
Test(units_random, uniform_way_out_of_a_divergent_loop)
{
    cr_assert(check_seed(2587) > 0);
}
