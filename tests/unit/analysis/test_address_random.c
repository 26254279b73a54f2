/* SPDX-License-Identifier: Apache-2.0
 *
 * Random functions that compute addresses are run for some threads, and what the analysis of
 * addresses says of each value must be true of every dynamic instance.
 */
#include "translator/analysis/address.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "interpret.h"
#include "kernel_abi/rt.h"
#include "random_address.h"

#define THREADS 5

/* Memory that is never there: so far from each other that no sum leads to another by chance. */
#define MEMORY(n) ((UINT64_C(1) << 61) + (uint64_t)(n) * (UINT64_C(5) << 50))
#define NEAR      (UINT64_C(1) << 46)

enum claim { CLAIM_ROOT, CLAIM_SUM, CLAIM_DISTANCE, CLAIM_MOVE, CLAIMS };

struct run {
    uint64_t seed;
    struct tr_graph graph;
    struct tr_loops loops;
    struct interpreter interpreter;
    struct trace *trace;    /* of the thread that is looked at */
    const uint64_t *values; /* by number, as the thread has them at this step */
    uint64_t params[PARAMS];
    void *slots[VARIABLES];
    struct rt_launch launch;
    struct rt_block block;
    struct rt_thread thread;
    uint64_t *counts; /* by kind of claim: those that were checked and said something */
};

static void fail(const struct run *run, const char *what, uint32_t value)
{
    char *function = LLVMPrintValueToString(run->graph.function);
    char *line = LLVMPrintValueToString(run->graph.values[value].llvm);
    cr_assert_fail("seed %llu: %s: %s\n%s", (unsigned long long)run->seed, what, line, function);
}

static uint64_t value_of(const struct run *run, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(&run->graph, value);
    if (LLVMIsAConstantInt(value) != NULL)
        return LLVMConstIntGetZExtValue(value);
    cr_assert_neq(number, TR_NONE);
    return run->values[number];
}

/* ---- where memory comes from ---- */

struct place {
    uint8_t origin;
    uint32_t param;
    uint64_t base;
};

/* Where the address really leads to; false: nowhere. */
static bool find_place(const struct run *run, uint64_t address, struct place *place)
{
    struct place places[PARAMS + VARIABLES] = {
        {TR_ORIGIN_SHARED, 0, (uint64_t)(uintptr_t)run->block.shared}};
    for (uint32_t i = 0; i < PARAMS - 1; i++)
        places[1 + i] = (struct place){TR_ORIGIN_PARAM, i * 8 + 1, run->params[i]};
    for (uint32_t i = 0; i < VARIABLES; i++)
        places[PARAMS + i] =
            (struct place){TR_ORIGIN_VARIABLE, 0, (uint64_t)(uintptr_t)run->slots[i]};
    for (uint32_t i = 0; i < PARAMS + VARIABLES; i++)
        if (address - places[i].base + NEAR < 2 * NEAR) {
            *place = places[i];
            return true;
        }
    return false;
}

static void check_root(struct run *run, uint32_t value, struct tr_root root)
{
    struct place place;
    if (root.origins == 0 || (root.origins & TR_ORIGIN_UNKNOWN) != 0 ||
        !find_place(run, run->values[value], &place))
        return;
    run->counts[CLAIM_ROOT]++;
    if ((root.origins & place.origin) == 0)
        fail(run, "not from there", value);
    if (place.param != 0 && root.param != place.param && root.param != TR_PARAM_ANY)
        fail(run, "not of this parameter", value);
}

/* ---- sums ---- */

static uint64_t signed_value(const struct run *run, LLVMValueRef value)
{
    unsigned width = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind
                         ? 64
                         : LLVMGetIntTypeWidth(LLVMTypeOf(value));
    return (uint64_t)((int64_t)(value_of(run, value) << (64 - width)) >> (64 - width));
}

static uint64_t add_up(const struct run *run, const struct tr_sum *sum)
{
    uint64_t value = sum->offset + (sum->base == NULL ? 0 : value_of(run, sum->base));
    for (int d = 0; d < 3; d++)
        value += sum->tid[d] * run->trace->tid[d] + sum->ctaid[d] * 3;
    for (uint32_t i = 0; i < sum->count; i++)
        value += sum->terms[i].factor * signed_value(run, sum->terms[i].index);
    return value;
}

static bool is_equal(const struct tr_sum *sum, uint64_t a, uint64_t b)
{
    return (a - b) << (64 - sum->bits) == 0;
}

static void check_sum(struct run *run, uint32_t value, const struct tr_sum *sum)
{
    if (!sum->is_known)
        return;
    run->counts[CLAIM_SUM]++;
    if (!is_equal(sum, add_up(run, sum), run->values[value]))
        fail(run, "not this sum", value);
}

static void check_distance(struct run *run, uint32_t a, uint32_t b, const struct tr_sum sums[2])
{
    int64_t distance = 0;
    if (!tr_sum_distance(&sums[0], &sums[1], &distance))
        return;
    run->counts[CLAIM_DISTANCE] += a != b;
    if (!is_equal(&sums[0], run->values[b] - run->values[a], (uint64_t)distance))
        fail(run, "not so far apart", b);
}

/* ---- moves: from one iteration of the loop to the next ---- */

static uint64_t cut(uint64_t number, unsigned bits)
{
    return number << (64 - bits) >> (64 - bits);
}

static int64_t extend(uint64_t number, unsigned bits)
{
    return (int64_t)(number << (64 - bits)) >> (64 - bits);
}

static uint64_t evaluate(const struct run *run, const struct tr_number *number)
{
    uint64_t a = number->a == NULL ? 0 : evaluate(run, number->a);
    uint64_t b = number->b == NULL ? 0 : evaluate(run, number->b);
    switch (number->kind) {
    case TR_NUMBER_CONSTANT:
        return cut(number->constant, number->bits);
    case TR_NUMBER_VALUE:
        return value_of(run, number->value);
    case TR_NUMBER_SUM:
        return cut(a + b, number->bits);
    case TR_NUMBER_DIFFERENCE:
        return cut(a - b, number->bits);
    case TR_NUMBER_PRODUCT:
        return cut(a * b, number->bits);
    case TR_NUMBER_SHIFTED:
        return cut(a << b, number->bits);
    case TR_NUMBER_SEXT:
        return cut((uint64_t)extend(a, number->a->bits), number->bits);
    default:
        return cut(a, number->bits);
    }
}

static bool is_in_loop(const struct run *run, uint32_t value)
{
    uint32_t segment = run->graph.values[value].segment;
    return segment != TR_NONE && run->loops.innermost[segment] != TR_NONE;
}

/* The loop's first phi counts. */
static struct tr_move move_of_operand(const struct run *run, const struct tr_move_context *context,
                                      const struct tr_move *moves, LLVMValueRef operand)
{
    uint32_t value = tr_graph_number(&run->graph, operand);
    if (value == TR_NONE || !is_in_loop(run, value))
        return tr_move_by(context, operand, 0);
    bool is_counter = value == run->graph.segments[run->graph.values[value].segment].first_value;
    return is_counter ? tr_move_by(context, operand, 1) : moves[value];
}

static struct tr_move *ask_moves(struct run *run)
{
    LLVMModuleRef module = LLVMGetGlobalParent(run->graph.function);
    struct tr_move_context context = {.arena = &run->graph.arena,
                                      .layout = LLVMGetModuleDataLayout(module)};
    struct tr_move *moves =
        pxr_arena_alloc_array(&run->graph.arena, run->graph.value_count, sizeof *moves);
    for (uint32_t v = 0; v < run->graph.value_count; v++) {
        const struct tr_value *value = &run->graph.values[v];
        struct tr_move operands[2] = {{.by = NULL}, {.by = NULL}};
        if (!is_in_loop(run, v) || value->opcode == LLVMPHI)
            continue;
        for (uint32_t i = 0; i < value->operand_count && i < 2; i++)
            operands[i] = move_of_operand(run, &context, moves, LLVMGetOperand(value->llvm, i));
        moves[v] = tr_move_of_inst(&context, value->llvm, operands);
    }
    return moves;
}

/* before: what the value was an iteration ago. */
static void check_move(struct run *run, uint32_t value, const struct tr_move *move, uint64_t before)
{
    uint64_t now = run->values[value];
    if (move->by == NULL)
        return;
    unsigned bits = move->by->bits;
    uint64_t by = evaluate(run, move->by);
    __int128 far = (__int128)extend(before, bits) + extend(by, bits);
    run->counts[CLAIM_MOVE]++;
    if (cut(before + by, bits) != now)
        fail(run, "does not move so far", value);
    if (move->nuw && (unsigned __int128)before + by != now)
        fail(run, "wraps", value);
    if (move->nsw && far != extend(now, bits))
        fail(run, "wraps as a signed number", value);
    if (move->is_positive && (extend(before, bits) < 0 || extend(now, bits) < 0))
        fail(run, "is negative", value);
}

/* ---- all values of a function ---- */

struct claims {
    struct tr_roots certain;
    struct tr_roots likely;
    struct tr_sum *sums[3]; /* by value: as addends, as indices, as threads */
    struct tr_move *moves;  /* by value: of the loop */
};

static bool is_address(const struct run *run, uint32_t value)
{
    LLVMTypeRef type = LLVMTypeOf(run->graph.values[value].llvm);
    return run->graph.values[value].segment != TR_NONE &&
           (LLVMGetTypeKind(type) == LLVMPointerTypeKind ||
            (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64));
}

static void ask(struct run *run, const uint32_t block[3], struct claims *claims)
{
    static const unsigned through[3] = {TR_AS_ADDENDS, TR_AS_INDICES, TR_AS_THREADS};
    cr_assert(tr_roots_build(&run->graph, TR_RECORD_THREAD, TR_CERTAIN, &claims->certain));
    cr_assert(tr_roots_build(&run->graph, TR_RECORD_THREAD, TR_LIKELY, &claims->likely));
    claims->moves = ask_moves(run);
    LLVMModuleRef module = LLVMGetGlobalParent(run->graph.function);
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
    for (int i = 0; i < 3; i++) {
        struct tr_sum_query query = {.layout = layout,
                                     .through = through[i],
                                     .most_terms = run->seed % 3 == 0 ? 2 : 0,
                                     .block = block};
        claims->sums[i] = pxr_arena_alloc_array(&run->graph.arena, run->graph.value_count,
                                                sizeof *claims->sums[i]);
        for (uint32_t v = 0; v < run->graph.value_count; v++)
            if (is_address(run, v))
                tr_sum_of(&query, run->graph.values[v].llvm, &claims->sums[i][v]);
    }
}

static void check_value(struct run *run, uint32_t value, const struct claims *claims)
{
    LLVMValueRef llvm = run->graph.values[value].llvm;
    check_root(run, value, tr_root_of(&claims->certain, llvm));
    check_root(run, value, tr_root_of(&claims->likely, llvm));
    for (int i = 0; i < 3; i++) {
        check_sum(run, value, &claims->sums[i][value]);
        for (uint32_t other = 0; other <= value; other++) {
            const struct tr_sum pair[2] = {claims->sums[i][other], claims->sums[i][value]};
            if (is_address(run, other) &&
                run->graph.values[other].segment == run->graph.values[value].segment)
                check_distance(run, other, value, pair);
        }
    }
}

static void check_thread(struct run *run, const struct claims *claims)
{
    uint64_t *values =
        pxr_arena_alloc_array(&run->graph.arena, run->graph.value_count, sizeof *values);
    uint64_t *before =
        pxr_arena_alloc_array(&run->graph.arena, run->graph.value_count, sizeof *before);
    run->values = values;
    for (uint32_t i = 0; i < run->trace->step_count; i++) {
        const struct step *step = &run->trace->steps[i];
        const struct tr_segment *segment = &run->graph.segments[step->at.segment];
        memcpy(before, values, run->graph.value_count * sizeof *values);
        memcpy(&values[segment->first_value], step->values, segment->value_count * sizeof *values);
        for (uint32_t v = segment->first_value; v < segment->first_value + segment->value_count;
             v++) {
            if (is_address(run, v))
                check_value(run, v, claims);
            if (step->at.iteration[0] > 0)
                check_move(run, v, &claims->moves[v], before[v]);
        }
    }
}

/* ---- a run ---- */

static void make_memory(struct run *run)
{
    for (uint32_t i = 0; i < PARAMS - 1; i++)
        run->params[i] = MEMORY(1 + i);
    run->params[PARAMS - 1] = 1000 + run->seed % 77;
    for (uint32_t i = 0; i < VARIABLES; i++)
        run->slots[i] = (void *)(uintptr_t)MEMORY(11 + i * i);
    run->launch = (struct rt_launch){.params = (const uint8_t *)run->params, .slots = run->slots};
    run->block =
        (struct rt_block){.launch = &run->launch, .shared = (uint8_t *)(uintptr_t)MEMORY(20)};
    run->thread = (struct rt_thread){.block = &run->block};
}

static void run_threads(struct run *run, const struct claims *claims, const uint32_t block[3])
{
    for (uint32_t t = 0; t < THREADS; t++) {
        const uint32_t tid[3] = {t * 7 % block[0], t * 3 % block[1], t % block[2]};
        run->trace = pxr_arena_alloc_array(&run->graph.arena, 1, sizeof *run->trace);
        memcpy(run->trace->tid, tid, sizeof tid);
        interpret(&run->interpreter, run->trace);
        cr_assert_not(run->trace->is_cut);
        check_thread(run, claims);
    }
}

static void check_seed(uint64_t seed, uint64_t counts[CLAIMS])
{
    static const uint32_t shapes[][3] = {{64, 1, 1}, {16, 2, 2}, {8, 8, 1}, {1, 32, 3}};
    static const uint32_t unknown[3] = {0, 0, 0};
    const uint32_t *block = shapes[seed % 4];
    struct address_generator generator;
    struct run run = {.seed = seed, .counts = counts};
    struct claims claims;
    random_address_function(&generator, seed);
    make_memory(&run);
    cr_assert_eq(tr_graph_build(&run.graph, generator.function, NULL, NULL), PXR_OK);
    cr_assert_eq(tr_loops_build(&run.graph, &run.loops, NULL), PXR_OK);
    uint64_t *arguments =
        pxr_arena_alloc_array(&run.graph.arena, run.graph.value_count, sizeof *arguments);
    arguments[0] = (uint64_t)(uintptr_t)&run.thread;
    run.interpreter = (struct interpreter){.graph = &run.graph,
                                           .loops = &run.loops,
                                           .arguments = arguments,
                                           .arena = &run.graph.arena};
    memcpy(run.interpreter.block, block, sizeof run.interpreter.block);
    ask(&run, seed / 4 % 2 == 0 ? block : unknown, &claims);
    run_threads(&run, &claims, block);
    tr_graph_fini(&run.graph);
    random_address_function_fini(&generator);
}

Test(address_random, what_is_claimed_is_true_of_every_run)
{
    const char *only = getenv("PTXRUN_TEST_SEED");
    const char *count = getenv("PTXRUN_TEST_COUNT");
    uint64_t first = only == NULL ? 1 : strtoull(only, NULL, 10);
    uint64_t seeds = count == NULL ? (only == NULL ? 400 : 1) : strtoull(count, NULL, 10);
    uint64_t counts[CLAIMS] = {0};
    for (uint64_t seed = first; seed < first + seeds; seed++)
        check_seed(seed, counts);
    for (int kind = 0; kind < CLAIMS; kind++)
        cr_assert_gt(counts[kind], 100 * seeds, "claims of kind %d: %llu", kind,
                     (unsigned long long)counts[kind]);
}
