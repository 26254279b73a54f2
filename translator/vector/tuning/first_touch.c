/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks whose threads load elements a block's width apart (in[i], in[i + blockDim.x], …) ask for
 * their memory in its order before they load it. Vectors go from one of these rows to the other and
 * back, in which no machine recognises a stream: a sum took twice as long as one row after the
 * other (docs/measurements.md).
 */
#include "translator/module/marks.h"
#include "translator/vector/tuning/tuning.h"

/* Rows of more memory than this are streams of their own. */
#define RUN_BYTES_MAX 16384

/* Blocks that begin with more loads than this ask for nothing: each is compared with all others. */
#define LOADS_MAX 32

/* A load whose threads' elements lie side by side. */
struct row {
    uint32_t load; /* value number */
    int64_t bytes;
    struct tr_sum address;
};

struct rows {
    struct row rows[LOADS_MAX]; /* in the iteration's order */
    uint32_t count;
};

/* Rows of several loads, side by side in memory; relative to one of them. */
struct run {
    int64_t first; /* where it begins, in bytes */
    int64_t end;
    uint32_t first_load; /* value number: the one that comes first */
    uint32_t load_count;
};

static LLVMValueRef address_of(const struct tr_iteration *iteration, uint32_t load)
{
    return LLVMGetOperand(iteration->graph.values[load].llvm, 0);
}

/* The bytes that a row of threads loads, one thread's behind the other's; 0: they are elsewhere, or
 * nobody knows how many threads there are. */
static int64_t row_bytes(const struct tr_widen *widen, uint32_t load)
{
    const struct tr_iteration *iteration = widen->iteration;
    const struct tr_value *value = &iteration->graph.values[load];
    const struct tr_access_plan *plan = iteration->accesses[load];
    if (value->opcode != LLVMLoad || plan == NULL || !tr_is_marked(value->llvm, TR_MARK_FIRST))
        return 0;
    bool is_row = plan->forms[TR_LANES_ALL] == TR_ACCESS_CHECKED ||
                  (plan->forms[TR_LANES_ALL] == TR_ACCESS_WIDE && plan->memory.has_stride &&
                   plan->memory.stride == (int64_t)plan->memory.bytes);
    return is_row ? (int64_t)plan->memory.bytes * iteration->row_threads : 0;
}

static struct tr_sum sum_of(const struct tr_widen *widen, uint32_t load)
{
    struct tr_sum_query query = {.layout = widen->layout,
                                 .through = TR_THROUGH_SUMS | TR_THROUGH_PRODUCTS |
                                            TR_THROUGH_CONVERSIONS};
    struct tr_sum sum;
    tr_sum_of(&query, address_of(widen->iteration, load), &sum);
    return sum;
}

/* False: there are too many. */
static bool find_rows(const struct tr_widen *widen, struct rows *rows)
{
    rows->count = 0;
    for (uint32_t v = 0; v < widen->iteration->graph.value_count; v++) {
        int64_t bytes = row_bytes(widen, v);
        if (bytes == 0)
            continue;
        if (rows->count == LOADS_MAX)
            return false;
        rows->rows[rows->count++] = (struct row){v, bytes, sum_of(widen, v)};
    }
    return true;
}

/* Adds the loads whose rows touch the run. Whether there was one. */
static bool grow(const struct rows *rows, const struct tr_sum *from, struct run *run)
{
    struct run before = *run;
    run->load_count = 0;
    run->first_load = TR_NONE;
    for (const struct row *row = rows->rows; row < rows->rows + rows->count; row++) {
        int64_t at = 0;
        bool is_known = tr_sum_distance(from, &row->address, &at);
        at = (int32_t)at; /* sums hold modulo 2^32; further away there is no run */
        if (!is_known || at > run->end || at + row->bytes < run->first)
            continue;
        run->first = at < run->first ? at : run->first;
        run->end = at + row->bytes > run->end ? at + row->bytes : run->end;
        run->first_load = run->first_load == TR_NONE ? row->load : run->first_load;
        run->load_count++;
    }
    return run->load_count > before.load_count;
}

static bool find_run(const struct tr_widen *widen, uint32_t load, struct run *run)
{
    struct rows rows;
    int64_t bytes = row_bytes(widen, load);
    if (bytes == 0 || widen->iteration->y != TR_NONE || !find_rows(widen, &rows))
        return false;
    struct tr_sum from = sum_of(widen, load);
    *run = (struct run){.end = bytes};
    while (grow(&rows, &from, run))
        ;
    return run->end - run->first >= 2 * bytes && run->end - run->first <= RUN_BYTES_MAX;
}

static void ask_for_lines(struct tr_widen *widen, LLVMValueRef start, int64_t bytes)
{
    LLVMBuilderRef b = widen->builder;
    int64_t line_bytes = widen->iteration->target->ahead.line_bytes;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef line = tr_widen_new_block(widen, "line");
    LLVMBasicBlockRef behind = tr_widen_new_block(widen, "behind");
    LLVMValueRef zero = LLVMConstInt(widen->i64, 0, false);
    LLVMBuildBr(b, line);
    LLVMPositionBuilderAtEnd(b, line);
    LLVMValueRef at = LLVMBuildPhi(b, widen->i64, "");
    tr_tuning_prefetch_line(widen, LLVMBuildGEP2(b, widen->i8, start, &at, 1, ""));
    LLVMValueRef way = LLVMConstInt(widen->i64, (uint64_t)line_bytes, false);
    LLVMValueRef next = LLVMBuildNUWAdd(b, at, way, "");
    LLVMAddIncoming(at, &zero, &before, 1);
    LLVMAddIncoming(at, &next, &line, 1);
    LLVMValueRef end = LLVMConstInt(widen->i64, (uint64_t)bytes, false);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, next, end, ""), line, behind);
    LLVMPositionBuilderAtEnd(b, behind);
}

/* Before the row's first thread loads anything of the run. */
static void ask_for_run(struct tr_widen *widen, const struct run *run, LLVMValueRef address)
{
    LLVMBuilderRef b = widen->builder;
    const struct tr_iteration *iteration = widen->iteration;
    LLVMBasicBlockRef ask = tr_widen_new_block(widen, "ask");
    LLVMBasicBlockRef asked = tr_widen_new_block(widen, "asked");
    LLVMValueRef x = tr_widen_scalar(widen, iteration->graph.values[iteration->x].llvm, 0);
    LLVMValueRef is_first = LLVMBuildICmp(b, LLVMIntEQ, x, LLVMConstNull(LLVMTypeOf(x)), "");
    LLVMBuildCondBr(b, is_first, ask, asked);
    LLVMPositionBuilderAtEnd(b, ask);
    ask_for_lines(widen, tr_memory_advance(widen, address, run->first), run->end - run->first);
    LLVMBuildBr(b, asked);
    LLVMPositionBuilderAtEnd(b, asked);
}

bool tr_tuning_is_in_run(const struct tr_widen *widen, uint32_t load)
{
    struct run run;
    return find_run(widen, load, &run);
}

void tr_tuning_ask_for_run(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                           LLVMValueRef address)
{
    struct run run;
    if (copy == 0 && find_run(widen, memory->value, &run) && run.first_load == memory->value)
        ask_for_run(widen, &run, address);
}
