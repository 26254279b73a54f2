/* SPDX-License-Identifier: Apache-2.0
 *
 * Random functions with any control flow are run for all threads of a block, and what the shape
 * analysis says about them must be true of every dynamic instance.
 */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "interpret.h"
#include "random_function.h"
#include "translator/collapse/collapse.h"

#define THREADS 64

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
    char *text = tr_analysis_text(run->graph.function, tr_is_sync_point, &facts);
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

/* The step of the instance, which a thread executes once at most; step_count if it never does.
 * Looks at the step `from` first: threads mostly go the same way. */
static uint32_t find_instance(const struct trace *trace, const struct instance *at, uint32_t from)
{
    for (uint32_t i = 0; i < trace->step_count; i++) {
        uint32_t step = (from + i) % trace->step_count;
        if (is_same_instance(at, &trace->steps[step].at))
            return step;
    }
    return trace->step_count;
}

static void check_pair(struct run *run, const struct trace *a, const struct trace *b)
{
    const struct trace *threads[2] = {a, b};
    uint32_t next = 0;
    for (uint32_t i = 0; i < a->step_count; i++) {
        uint32_t same = find_instance(b, &a->steps[i].at, next);
        if (same == b->step_count)
            continue;
        check_instance(run, threads, (uint32_t[2]){i, same});
        next = same + 1;
    }
}

/* The sync point'th sync point of a thread, NULL if it has exited before. */
static const struct step *find_sync_point(const struct run *run, const struct trace *trace,
                                          uint32_t sync)
{
    for (uint32_t i = 0; i < trace->step_count; i++)
        if (run->graph.segments[trace->steps[i].at.segment].is_sync_point && sync-- == 0)
            return &trace->steps[i];
    return NULL;
}

/* A thread at a sync point in a uniform segment: the other is there too, or has exited. */
static void check_sync_points(struct run *run, const struct trace *a, const struct trace *b)
{
    if (b->is_cut)
        return;
    const struct step *at;
    for (uint32_t n = 0; (at = find_sync_point(run, a, n)) != NULL; n++) {
        const struct step *other = find_sync_point(run, b, n);
        if (!run->shapes.is_uniform_segment[at->at.segment])
            continue;
        run->claims++;
        if (other != NULL && !is_same_instance(&at->at, &other->at))
            fail(run, "not all come here", TR_NONE, at);
    }
}

/* A uniform segment that no sync point follows: all execute it. */
static void check_last(struct run *run, const struct trace *a, const struct trace *b)
{
    for (uint32_t i = 0; i < a->step_count && !b->is_cut; i++) {
        const struct step *at = &a->steps[i];
        bool is_there =
            !run->shapes.is_last[at->at.segment] || !run->shapes.is_uniform_segment[at->at.segment];
        if (!is_there && find_instance(b, &at->at, i) == b->step_count)
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
            check_sync_points(run, first, second);
            check_sync_points(run, second, first);
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
    random_function(&generator, seed, 0);
    if (seed / 4 % 2 == 0)
        memcpy(facts.block, block, sizeof facts.block);
    else
        facts.has_whole_warps = block[0] % 32 == 0;
    bool (*ends_segment)(LLVMValueRef) = seed / 8 % 4 == 0 ? NULL : tr_is_sync_point;
    cr_assert_eq(tr_graph_build(&run.graph, generator.function, ends_segment, NULL), PXR_OK);
    cr_assert_eq(tr_loops_build(&run.graph, &run.loops, NULL), PXR_OK);
    run_threads(&run, block);
    for (int scope = 0; scope < 2; scope++) {
        cr_assert_eq(tr_shapes_build(&run.graph, &run.loops, (enum tr_scope)scope, &facts,
                                     &run.shapes, NULL),
                     PXR_OK);
        check_scope(&run);
    }
    tr_graph_fini(&run.graph);
    random_function_fini(&generator);
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
