/* SPDX-License-Identifier: Apache-2.0
 *
 * Prefetches for the loads of loops: machines fetch in advance what follows within a page, but not
 * the memory of later iterations, so loads ask for what they will read some iterations later.
 *
 * This is done in loops over the whole grid (`for (i = thread; i < n; i += threads)`) that will run
 * long enough, and in loops that count the same for all threads, however long, but there only for
 * columns of matrices, which many rows load at once: the rest is often there already, from other
 * threads.
 */
#include "translator/vector/plan/turn_step.h"
#include "translator/vector/tuning/tuning.h"

/* A load and the innermost loop around it. */
struct around {
    struct tr_widen *widen;
    struct tr_turning *turning;
    uint32_t first; /* copy of the row: one answer does for all */
};

static LLVMValueRef i64(const struct around *around, int64_t n)
{
    return LLVMConstInt(around->widen->i64, (uint64_t)n, true);
}

/* ---- whether there will be many iterations ---- */

/* A comparison that decides whether a loop goes on. */
struct test {
    LLVMValueRef compare;
    bool goes_on; /* it goes on if the comparison has this result */
    LLVMValueRef counter;
    unsigned side; /* the operand that counts: counter + added */
    struct tr_number *added;
    struct tr_number *step;
};

/* The phi of the header that the value counts from; NULL: none in which threads differ. */
static LLVMValueRef counter_of(const struct around *around, LLVMValueRef value)
{
    while (tr_turn_is_inside(around->turning, value) && LLVMIsAPHINode(value) == NULL &&
           tr_turn_is_sum(value))
        value = LLVMGetOperand(value,
                               tr_turn_is_fixed(around->turning, LLVMGetOperand(value, 0)) ? 1 : 0);
    if (!tr_turn_is_inside(around->turning, value) || LLVMIsAPHINode(value) == NULL)
        return NULL;
    struct tr_shape shape = tr_widen_shape(around->widen, value);
    return shape.kind == TR_AFFINE && shape.stride != 0 ? value : NULL;
}

static bool find_counter(const struct around *around, struct test *test)
{
    const struct tr_graph *graph = &around->turning->iteration->graph;
    test->side = tr_turn_is_fixed(around->turning, LLVMGetOperand(test->compare, 0)) ? 1 : 0;
    LLVMValueRef counted = LLVMGetOperand(test->compare, test->side);
    if (!tr_turn_is_fixed(around->turning, LLVMGetOperand(test->compare, 1 - test->side)) ||
        LLVMGetTypeKind(LLVMTypeOf(counted)) != LLVMIntegerTypeKind)
        return false;
    test->counter = counter_of(around, counted);
    if (test->counter == NULL)
        return false;
    test->added = tr_turn_added(around->turning, counted, test->counter);
    test->step =
        tr_turn_step_of_phi(around->turning, &graph->values[tr_graph_number(graph, test->counter)]);
    return test->added != NULL && test->step != NULL;
}

static bool find_test(const struct around *around, uint32_t segment, struct test *test)
{
    const struct tr_graph *graph = &around->turning->iteration->graph;
    const struct tr_segment *from = &graph->segments[segment];
    LLVMValueRef branch = graph->values[from->first_value + from->value_count - 1].llvm;
    if (from->succ_count != 2 || LLVMIsABranchInst(branch) == NULL)
        return false;
    bool stays[2];
    for (uint32_t i = 0; i < 2; i++)
        stays[i] = tr_set_has(&around->turning->loop->segments, from->succs[i]);
    test->compare = LLVMGetCondition(branch);
    test->goes_on = stays[0];
    return stays[0] != stays[1] && tr_turn_is_inside(around->turning, test->compare) &&
           LLVMIsAICmpInst(test->compare) != NULL && find_counter(around, test);
}

/* The first value of a phi of the header; NULL: there are several. */
static LLVMValueRef start_of_phi(const struct around *around, LLVMValueRef phi)
{
    const struct tr_graph *graph = &around->turning->iteration->graph;
    const struct tr_value *value = &graph->values[tr_graph_number(graph, phi)];
    LLVMValueRef start = NULL;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        if (value->incoming[i] == TR_NONE ||
            tr_set_has(&around->turning->loop->segments, value->incoming[i]))
            continue;
        LLVMValueRef operand = LLVMGetOperand(phi, i);
        if (start != NULL && start != operand)
            return NULL;
        start = operand;
    }
    return start;
}

static LLVMValueRef code(const struct around *around, struct tr_number *number)
{
    return tr_widen_number(around->widen, number, around->first);
}

/* Whether the loop will go on; uses only values known before it, so that LLVM moves the question
 * out of it. */
static LLVMValueRef goes_on(const struct around *around, const struct test *test)
{
    LLVMBuilderRef b = around->widen->builder;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(test->compare);
    LLVMValueRef start = start_of_phi(around, test->counter);
    if (predicate == LLVMIntEQ || predicate == LLVMIntNE || start == NULL)
        return NULL;
    LLVMValueRef limit = tr_widen_scalar(
        around->widen, LLVMGetOperand(test->compare, 1 - test->side), around->first);
    LLVMTypeRef type = LLVMTypeOf(limit);
    LLVMValueRef added = LLVMBuildIntCast2(b, code(around, test->added), type, true, "");
    LLVMValueRef first = tr_widen_scalar(around->widen, start, around->first);
    first = LLVMBuildAdd(b, first, added, "");
    LLVMValueRef way =
        LLVMBuildMul(b, code(around, test->step),
                     i64(around, around->turning->iteration->target->ahead.least_iterations), "");
    way = LLVMBuildIntCast2(b, way, type, true, "");
    LLVMValueRef then = LLVMBuildAdd(b, first, way, "");
    LLVMValueRef operands[] = {then, limit};
    LLVMValueRef is_true =
        LLVMBuildICmp(b, predicate, operands[test->side], operands[1 - test->side], "");
    return test->goes_on ? is_true : LLVMBuildNot(b, is_true, "");
}

static LLVMValueRef find_goes_on(const struct around *around)
{
    const struct tr_set *segments = &around->turning->loop->segments;
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1)) {
        struct test test = {0};
        if (find_test(around, s, &test))
            return goes_on(around, &test);
    }
    return NULL;
}

/* ---- the load ---- */

/* Whether an earlier load of the segment asks for the same line. */
static bool is_asked_for(const struct tr_iteration *iteration, const struct tr_memory *memory)
{
    int64_t line_bytes = iteration->target->ahead.line_bytes;
    struct tr_sum sum = tr_plan_sum(iteration, memory->address);
    uint32_t first =
        iteration->graph.segments[iteration->graph.values[memory->value].segment].first_value;
    for (uint32_t v = first; v < memory->value; v++) {
        if (iteration->graph.values[v].opcode != LLVMLoad)
            continue;
        struct tr_sum other =
            tr_plan_sum(iteration, LLVMGetOperand(iteration->graph.values[v].llvm, 0));
        int64_t distance = 0;
        if (tr_sum_distance(&sum, &other, &distance) && distance < line_bytes &&
            distance > -line_bytes)
            return true;
    }
    return false;
}

/* Whether the load is done once for many rows. */
static bool is_of_column(const struct tr_widen *widen, uint32_t load)
{
    const struct tr_iteration *iteration = widen->iteration;
    return widen->jam[1] >= iteration->target->ahead.least_rows &&
           iteration->graph.values[load].opcode == LLVMLoad &&
           iteration->shapes.values[load].kind == TR_VARYING && !iteration->depends_on_row[load];
}

static int64_t iterations_of_column(const struct around *around)
{
    const struct tr_iteration *iteration = around->turning->iteration;
    uint32_t loads = 0;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        uint32_t segment = iteration->graph.values[v].segment;
        if (segment != TR_NONE && tr_set_has(&around->turning->loop->segments, segment) &&
            is_of_column(around->widen, v))
            loads++;
    }
    uint32_t lines = iteration->target->ahead.column_lines;
    return loads < lines ? lines / loads : 1;
}

/* The distance from the load's address to the prefetched one: i64; NULL: no prefetch. */
static LLVMValueRef find_way(const struct around *around, struct tr_number *step, uint32_t load)
{
    LLVMBuilderRef b = around->widen->builder;
    LLVMValueRef on = find_goes_on(around);
    if (on == NULL && !is_of_column(around->widen, load))
        return NULL;
    int64_t iterations = on == NULL ? iterations_of_column(around)
                                    : around->turning->iteration->target->ahead.iterations;
    LLVMValueRef way = LLVMBuildMul(b, code(around, step), i64(around, iterations), "");
    return on == NULL ? way : LLVMBuildSelect(b, on, way, i64(around, 0), "");
}

void tr_tuning_prefetch_line(struct tr_widen *widen, LLVMValueRef address)
{
    LLVMValueRef operands[] = {address, tr_memory_i32(widen, 0), tr_memory_i32(widen, 3),
                               tr_memory_i32(widen, 1)};
    tr_memory_call(widen, "llvm.prefetch", &widen->ptr, 1, operands, 4);
}

void tr_tuning_prefetch(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                        LLVMValueRef address)
{
    LLVMBuilderRef b = widen->builder;
    const struct tr_iteration *iteration = widen->iteration;
    const struct tr_ahead *ahead = &iteration->target->ahead;
    tr_tuning_ask_for_run(widen, memory, copy, address);
    struct tr_turning turning = tr_turning_around(iteration, memory->value);
    uint32_t bytes = widen->width * memory->bytes;
    if (turning.loop == NULL || widen->active.mask[copy] != NULL ||
        bytes > ahead->most_lines * ahead->line_bytes ||
        copy % widen->jam[0] * bytes % ahead->line_bytes != 0 || is_asked_for(iteration, memory))
        return;
    struct around around = {
        .widen = widen, .turning = &turning, .first = copy - copy % widen->jam[0]};
    struct tr_number *step = tr_turn_step(&turning, memory->address);
    if (step == NULL)
        return;
    if (tr_is_constant_number(step) && tr_constant_of(step) < ahead->least_step &&
        tr_constant_of(step) > -ahead->least_step)
        return;
    LLVMValueRef way = find_way(&around, step, memory->value);
    if (way == NULL)
        return;
    LLVMValueRef then = LLVMBuildGEP2(b, widen->i8, address, &way, 1, "");
    for (uint32_t i = 0; i < bytes; i += ahead->line_bytes)
        tr_tuning_prefetch_line(widen, tr_memory_advance(widen, then, i));
}
