/* SPDX-License-Identifier: Apache-2.0
 *
 * Random functions with any control flow are run for all threads of a block, and what the shape
 * analysis says about them must be true of every dynamic instance.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "interpret.h"
#include "translator/collapse/collapse.h"

#define THREADS   64
#define VARIABLES 9 /* the first OWN begin with what differs between threads */
#define OWN       3
#define BLOCKS    14

/* ---- random functions ---- */

struct generator {
    uint64_t state;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMValueRef variables[VARIABLES];
    LLVMBasicBlockRef blocks[BLOCKS];
    uint32_t block_count;
    LLVMTypeRef i32;
    uint32_t own_share;  /* in 100: how often what threads have of their own is used */
    uint32_t back_share; /* in 100: how often control may go back */
};

static uint32_t roll(struct generator *g, uint32_t below)
{
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(g->state >> 33) % below;
}

static LLVMValueRef number(struct generator *g, uint32_t value)
{
    return LLVMConstInt(g->i32, value, false);
}

static LLVMValueRef declare(struct generator *g, const char *name, LLVMTypeRef type, bool is_pure)
{
    LLVMValueRef function = LLVMGetNamedFunction(g->module, name);
    if (function != NULL)
        return function;
    function = LLVMAddFunction(g->module, name, type);
    unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    if (is_pure)
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(g->context, kind, 0));
    return function;
}

static LLVMValueRef read_register(struct generator *g, const char *name)
{
    LLVMTypeRef pointer = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef type = LLVMFunctionType(g->i32, &pointer, 1, false);
    LLVMValueRef thread = LLVMGetParam(g->function, 0);
    return LLVMBuildCall2(g->builder, type, declare(g, name, type, true), &thread, 1, "");
}

static void add_stop(struct generator *g)
{
    LLVMTypeRef types[] = {LLVMPointerTypeInContext(g->context, 0), g->i32, g->i32};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), types, 3, false);
    LLVMValueRef arguments[] = {LLVMGetParam(g->function, 0), number(g, 0), number(g, 0)};
    LLVMBuildCall2(g->builder, type, declare(g, "rt_bar_sync", type, false), arguments, 3, "");
}

/* Of the first ones, or of the others. */
static uint32_t pick_variable(struct generator *g, bool is_own)
{
    return is_own ? roll(g, OWN) : OWN + roll(g, VARIABLES - OWN);
}

static LLVMValueRef read_variable(struct generator *g)
{
    uint32_t variable = pick_variable(g, roll(g, 100) < g->own_share);
    return LLVMBuildLoad2(g->builder, g->i32, g->variables[variable], "");
}

static LLVMValueRef condition(struct generator *g)
{
    static const LLVMIntPredicate predicates[] = {LLVMIntEQ,  LLVMIntNE,  LLVMIntULT,
                                                  LLVMIntUGT, LLVMIntSLT, LLVMIntSGE};
    LLVMValueRef value = read_variable(g);
    LLVMValueRef other = roll(g, 2) == 0 ? read_variable(g) : number(g, roll(g, 12));
    return LLVMBuildICmp(g->builder, predicates[roll(g, 6)], value, other, "");
}

/* Through a narrower type and back. */
static LLVMValueRef narrowed(struct generator *g, LLVMValueRef value)
{
    LLVMTypeRef narrow = LLVMIntTypeInContext(g->context, roll(g, 2) ? 8 : 4);
    value = LLVMBuildTrunc(g->builder, value, narrow, "");
    return roll(g, 2) ? LLVMBuildSExt(g->builder, value, g->i32, "")
                      : LLVMBuildZExt(g->builder, value, g->i32, "");
}

static LLVMValueRef expression(struct generator *g)
{
    LLVMValueRef a = read_variable(g);
    switch (roll(g, 13)) {
    case 0:
    case 1:
        return LLVMBuildAdd(g->builder, a, number(g, roll(g, 4)), "");
    case 2:
        return LLVMBuildAdd(g->builder, a, read_variable(g), "");
    case 3:
        return LLVMBuildSub(g->builder, a, read_variable(g), "");
    case 4:
        return LLVMBuildMul(g->builder, a, number(g, roll(g, 9)), "");
    case 5:
        return LLVMBuildShl(g->builder, a, number(g, roll(g, 2) ? roll(g, 4) : 28 + roll(g, 4)),
                            "");
    case 6:
        return LLVMBuildXor(g->builder, a, number(g, roll(g, 2) ? UINT32_MAX : 5), "");
    case 7:
        return LLVMBuildAnd(g->builder, a, number(g, 15), "");
    case 8:
        return LLVMBuildSelect(g->builder, condition(g), a, read_variable(g), "");
    case 9:
        return LLVMBuildZExt(g->builder, condition(g), g->i32, "");
    case 10:
        return narrowed(g, a);
    case 11:
        return LLVMBuildURem(g->builder, a, number(g, 1 + roll(g, 7)), "");
    default:
        return number(g, roll(g, 5));
    }
}

/* Mostly to blocks further on, so that functions end. */
static LLVMBasicBlockRef target(struct generator *g, uint32_t from)
{
    if (roll(g, 100) < g->back_share)
        return g->blocks[1 + roll(g, g->block_count - 1)];
    uint32_t left = g->block_count - from - 1;
    return left == 0 ? g->blocks[g->block_count - 1]
                     : g->blocks[from + 1 + roll(g, left < 3 ? left : 3)];
}

/* Loops need something that counts. */
static void count_up(struct generator *g)
{
    LLVMValueRef variable = g->variables[pick_variable(g, roll(g, 4) == 0)];
    LLVMValueRef value = LLVMBuildLoad2(g->builder, g->i32, variable, "");
    LLVMBuildStore(g->builder, LLVMBuildAdd(g->builder, value, number(g, 1 + roll(g, 3)), ""),
                   variable);
}

static void fill_block(struct generator *g, uint32_t index)
{
    LLVMPositionBuilderAtEnd(g->builder, g->blocks[index]);
    if (roll(g, 2) == 0)
        count_up(g);
    for (uint32_t i = roll(g, 3); i > 0; i--)
        LLVMBuildStore(g->builder, expression(g),
                       g->variables[pick_variable(g, roll(g, 100) < g->own_share)]);
    if (roll(g, 3) == 0)
        add_stop(g);
    if (index + 1 == g->block_count) {
        LLVMBuildRetVoid(g->builder);
        return;
    }
    uint32_t kind = roll(g, 10);
    if (kind < 2) {
        LLVMBuildBr(g->builder, target(g, index));
    } else if (kind < 9) {
        LLVMValueRef way = condition(g);
        LLVMBuildCondBr(g->builder, way, target(g, index), target(g, index));
    } else {
        LLVMValueRef which = LLVMBuildSwitch(g->builder, read_variable(g), target(g, index), 2);
        LLVMAddCase(which, number(g, 0), target(g, index));
        LLVMAddCase(which, number(g, 1), target(g, index));
    }
}

static void begin_function(struct generator *g)
{
    static const char *const own[] = {"rt_sreg_tid_x", "rt_sreg_tid_y", "rt_sreg_laneid",
                                      "rt_sreg_warpid"};
    LLVMPositionBuilderAtEnd(g->builder, g->blocks[0]);
    for (uint32_t i = 0; i < VARIABLES; i++)
        g->variables[i] = LLVMBuildAlloca(g->builder, g->i32, "");
    for (uint32_t i = 0; i < OWN; i++)
        LLVMBuildStore(g->builder, read_register(g, own[roll(g, 4)]), g->variables[i]);
    LLVMBuildStore(g->builder, read_register(g, "rt_sreg_ctaid_x"), g->variables[OWN]);
    for (uint32_t i = OWN + 1; i < VARIABLES; i++)
        LLVMBuildStore(g->builder, number(g, roll(g, 3)), g->variables[i]);
}

static void generate(struct generator *g, uint64_t seed)
{
    *g = (struct generator){.state = seed * 2 + 1, .context = LLVMContextCreate()};
    roll(g, 2);
    g->module = LLVMModuleCreateWithNameInContext("random", g->context);
    g->builder = LLVMCreateBuilderInContext(g->context);
    g->i32 = LLVMInt32TypeInContext(g->context);
    LLVMTypeRef pointer = LLVMPointerTypeInContext(g->context, 0);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(g->context), &pointer, 1, false);
    g->function = LLVMAddFunction(g->module, "random", type);
    g->own_share = 5 + roll(g, 40);
    g->back_share = 15 + roll(g, 30);
    g->block_count = 4 + roll(g, BLOCKS - 3);
    for (uint32_t i = 0; i < g->block_count; i++)
        g->blocks[i] = LLVMAppendBasicBlockInContext(g->context, g->function, "");
    begin_function(g);
    LLVMBuildBr(g->builder, g->blocks[1]);
    for (uint32_t i = 1; i < g->block_count; i++)
        fill_block(g, i);
    cr_assert_eq(LLVMVerifyModule(g->module, LLVMReturnStatusAction, NULL), 0);
    cr_assert_eq(tr_run_passes(g->module, "function(sroa)", NULL, NULL), PXR_OK);
}

static void forget(struct generator *g)
{
    LLVMDisposeBuilder(g->builder);
    LLVMContextDispose(g->context);
}

/* ---- a run ---- */

struct run {
    uint64_t seed;
    struct tr_graph graph;
    struct tr_loops loops;
    struct tr_shapes shapes;
    struct trace *traces;
    uint32_t claims; /* that were checked and said something */
};

static bool is_same_scope(const struct run *run, const struct trace *a, const struct trace *b)
{
    return run->shapes.scope == TR_SCOPE_BLOCK || a->linear / 32 == b->linear / 32;
}

static bool is_same_row(const struct trace *a, const struct trace *b)
{
    return a->tid[1] == b->tid[1] && a->tid[2] == b->tid[2];
}

static void fail(const struct run *run, const char *what, uint32_t value, const struct step *at)
{
    struct tr_shape_facts facts = {0};
    char *text = tr_analysis_text(run->graph.function, tr_is_stop, &facts);
    char *line = value == TR_NONE ? NULL : LLVMPrintValueToString(run->graph.values[value].llvm);
    cr_assert_fail("seed %llu, scope %u: %s: %s in segment %u\n%s", (unsigned long long)run->seed,
                   run->shapes.scope, what, line == NULL ? "" : line, at->at.segment, text);
}

/* The value that both threads have of one number, seen in one instance. */
static void check_value(struct run *run, struct tr_shape shape, uint32_t value,
                        const struct trace *threads[2], const uint64_t bits[2],
                        const struct step *at)
{
    unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(run->graph.values[value].llvm));
    run->claims += shape.kind != TR_VARYING;
    if (shape.kind == TR_UNIFORM && bits[0] != bits[1])
        fail(run, "not uniform", value, at);
    if (shape.kind != TR_AFFINE || !is_same_row(threads[0], threads[1]))
        return;
    int64_t distance = (int64_t)threads[1]->tid[0] - (int64_t)threads[0]->tid[0];
    uint64_t expected = bits[0] + (uint64_t)(shape.stride * distance);
    if ((expected ^ bits[1]) << (64 - width) != 0)
        fail(run, "not affine", value, at);
    int64_t first = (int64_t)(bits[0] << (64 - width)) >> (64 - width);
    int64_t second = (int64_t)(bits[1] << (64 - width)) >> (64 - width);
    if (shape.no_wrap && first + shape.stride * distance != second)
        fail(run, "wraps", value, at);
}

static bool has_integer(const struct run *run, uint32_t value)
{
    LLVMTypeRef type = LLVMTypeOf(run->graph.values[value].llvm);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
}

/* What the instruction had at the last time before the step, in its own segment. */
static bool find_before(const struct run *run, const struct trace *trace, uint32_t step,
                        uint32_t value, uint64_t *bits)
{
    const struct tr_value *definition = &run->graph.values[value];
    uint32_t first =
        definition->segment == TR_NONE ? 0 : run->graph.segments[definition->segment].first_value;
    for (uint32_t i = step; i-- > 0;) {
        if (trace->steps[i].at.segment != definition->segment)
            continue;
        *bits = trace->steps[i].values[value - first];
        return true;
    }
    return false;
}

/* Operands from other segments, as they are seen here. */
static void check_operands(struct run *run, const struct tr_value *user,
                           const struct trace *threads[2], const uint32_t steps[2])
{
    const struct step *at = &threads[0]->steps[steps[0]];
    for (uint32_t i = 0; i < user->operand_count; i++) {
        uint32_t value = user->operands[i];
        uint64_t bits[2];
        if (value == TR_NONE || run->graph.values[value].segment == user->segment ||
            user->opcode == LLVMPHI || !has_integer(run, value) ||
            !find_before(run, threads[0], steps[0], value, &bits[0]) ||
            !find_before(run, threads[1], steps[1], value, &bits[1]))
            continue;
        struct tr_shape shape =
            tr_shape_at(&run->graph, &run->loops, &run->shapes, value, user->segment);
        check_value(run, shape, value, threads, bits, at);
    }
}

/* Two threads in the same instance of a segment. */
static void check_instance(struct run *run, const struct trace *threads[2], const uint32_t steps[2])
{
    const struct step *first = &threads[0]->steps[steps[0]];
    const struct step *second = &threads[1]->steps[steps[1]];
    const struct tr_segment *segment = &run->graph.segments[first->at.segment];
    for (uint32_t i = 0; i < segment->value_count; i++) {
        uint32_t value = segment->first_value + i;
        uint64_t bits[2] = {first->values[i], second->values[i]};
        check_operands(run, &run->graph.values[value], threads, steps);
        if (has_integer(run, value))
            check_value(run, run->shapes.values[value], value, threads, bits, first);
    }
    /* The ways they go on. */
    if (!run->shapes.is_divergent[first->at.segment] && steps[0] + 1 < threads[0]->step_count &&
        steps[1] + 1 < threads[1]->step_count && first[1].at.segment != second[1].at.segment)
        fail(run, "divergent", TR_NONE, first);
}

static void check_pair(struct run *run, const struct trace *a, const struct trace *b)
{
    const struct trace *threads[2] = {a, b};
    for (uint32_t i = 0; i < a->step_count; i++)
        for (uint32_t j = 0; j < b->step_count; j++)
            if (is_same_instance(&a->steps[i].at, &b->steps[j].at))
                check_instance(run, threads, (uint32_t[2]){i, j});
}

/* The stop'th stop of a thread, NULL if it has exited before. */
static const struct step *find_stop(const struct run *run, const struct trace *trace, uint32_t stop)
{
    for (uint32_t i = 0; i < trace->step_count; i++)
        if (run->graph.segments[trace->steps[i].at.segment].is_stop && stop-- == 0)
            return &trace->steps[i];
    return NULL;
}

/* A thread at a stop in a uniform segment: the other is there too, or has exited. */
static void check_stops(struct run *run, const struct trace *a, const struct trace *b)
{
    if (b->is_cut)
        return;
    const struct step *at;
    for (uint32_t n = 0; (at = find_stop(run, a, n)) != NULL; n++) {
        const struct step *other = find_stop(run, b, n);
        if (!run->shapes.is_uniform_segment[at->at.segment])
            continue;
        run->claims++;
        if (other != NULL && !is_same_instance(&at->at, &other->at))
            fail(run, "not all come here", TR_NONE, at);
    }
}

/* A uniform segment that no stop follows: all execute it. */
static void check_last(struct run *run, const struct trace *a, const struct trace *b)
{
    for (uint32_t i = 0; i < a->step_count && !b->is_cut; i++) {
        const struct step *at = &a->steps[i];
        bool is_there =
            !run->shapes.is_last[at->at.segment] || !run->shapes.is_uniform_segment[at->at.segment];
        for (uint32_t j = 0; j < b->step_count && !is_there; j++)
            is_there = is_same_instance(&at->at, &b->steps[j].at);
        if (!is_there)
            fail(run, "not all execute it", TR_NONE, at);
    }
}

/* Each thread with neighbours, and with some of other rows and warps. */
static void check_scope(struct run *run)
{
    static const uint32_t distances[] = {1, 2, 7, 8, 16, 33};
    for (uint32_t a = 0; a < THREADS; a++)
        for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
            const struct trace *first = &run->traces[a];
            const struct trace *second = &run->traces[(a + distances[i]) % THREADS];
            if (!is_same_scope(run, first, second))
                continue;
            check_pair(run, first, second);
            check_stops(run, first, second);
            check_stops(run, second, first);
            check_last(run, first, second);
            check_last(run, second, first);
        }
}

static void run_threads(struct run *run, const uint32_t block[3])
{
    struct interpreter interpreter = {
        .graph = &run->graph, .loops = &run->loops, .arena = &run->graph.arena};
    memcpy(interpreter.block, block, sizeof interpreter.block);
    run->traces = pxr_arena_alloc_array(&run->graph.arena, THREADS, sizeof *run->traces);
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t *tid = run->traces[t].tid;
        tid[0] = t % block[0];
        tid[1] = t / block[0] % block[1];
        tid[2] = t / block[0] / block[1];
        interpret(&interpreter, &run->traces[t]);
    }
}

/* How many claims were checked. */
static uint32_t check_seed(uint64_t seed)
{
    static const uint32_t shapes[][3] = {{64, 1, 1}, {16, 2, 2}, {8, 8, 1}, {32, 2, 1}};
    const uint32_t *block = shapes[seed % 4];
    struct tr_shape_facts facts = {0};
    struct generator generator;
    struct run run = {.seed = seed};
    generate(&generator, seed);
    if (seed / 4 % 2 == 0)
        memcpy(facts.block, block, sizeof facts.block);
    bool (*ends_segment)(LLVMValueRef) = seed / 8 % 4 == 0 ? NULL : tr_is_stop;
    cr_assert_eq(tr_graph_build(&run.graph, generator.function, ends_segment, NULL), PXR_OK);
    cr_assert_eq(tr_loops_build(&run.graph, &run.loops, NULL), PXR_OK);
    run_threads(&run, block);
    for (int scope = 0; scope < 2; scope++) {
        cr_assert_eq(tr_shapes_build(&run.graph, &run.loops, (enum tr_scope)scope,
                                     &facts, &run.shapes, NULL),
                     PXR_OK);
        check_scope(&run);
    }
    tr_graph_fini(&run.graph);
    forget(&generator);
    return run.claims;
}

Test(shape_random, what_is_claimed_is_true_of_every_run)
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
