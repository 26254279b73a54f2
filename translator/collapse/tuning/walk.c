/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of the walk. A block of 32x8 threads touches eight short pieces of memory, each in
 * another row of the data, and the next block the pieces beside them: no machine guesses what comes
 * next. Where nothing orders the threads of a grid, row after row of neighbouring blocks runs as if
 * they were one wide block.
 *
 * It is right where a thread's only knowledge of its column is %ctaid.x * %ntid.x + %tid.x, which
 * the loop along x counts, and where threads leave nothing behind that others could see in an
 * order: no shared or local memory, no atomic operations. It gains where addresses are neighbours'
 * along x and lead elsewhere in the next row; where threads are far apart along x, rows of a block
 * may share what they load, and blocks stay blocks. Loops of a thread walk on their own.
 */
#include "translator/collapse/tuning/walk.h"

#include <stddef.h>

#include "translator/analysis/address.h"
#include "translator/collapse/prepare.h"
#include "translator/module/sregs.h"

/* What a piece of a row reaches of one array, in bytes: most rows as a whole. A few rows of a few
 * arrays should stay in the second cache, and where pieces are short the machine begins to prefetch
 * again and again: pieces of a page each are the worst. */
#define PIECE_BYTES 32768

/* Threads further apart along x than this share no line of memory. */
#define LINE_BYTES 64

/* What a value depends on: the thread's place along x; its row, in its block or in the grid. */
#define ON_COLUMN 1
#define ON_ROW    2

struct question {
    struct tr_kernel *kernel;
    const struct tr_facts *facts;
    struct tr_sum_query query;
    uint8_t *depends;      /* by value: a set of ON_… */
    bool *is_sum;          /* by value: %ctaid.x * %ntid.x + %tid.x */
    bool is_known;         /* some value is */
    uint32_t moving;       /* accesses that lead elsewhere in the next row … */
    uint32_t staying;      /* … and to the same places in all rows */
    uint64_t stride_bytes; /* of neighbouring threads, at most */
};

static const struct tr_value *value_of(const struct question *q, uint32_t number)
{
    return &q->kernel->graph.values[number];
}

/* ---- columns ---- */

/* The value before it was extended; special registers are not negative. */
static uint32_t narrow(const struct question *q, uint32_t number)
{
    if (number == TR_NONE)
        return TR_NONE;
    const struct tr_value *value = value_of(q, number);
    return value->opcode == LLVMSExt || value->opcode == LLVMZExt ? value->operands[0] : number;
}

static bool is_register(const struct question *q, uint32_t number, enum tr_quantity quantity)
{
    uint32_t narrowed = narrow(q, number);
    return narrowed != TR_NONE && value_of(q, narrowed)->segment != TR_NONE &&
           tr_sreg_axis(value_of(q, narrowed)->llvm, quantity) == 0;
}

/* Whether operand i of the product is the number of threads along x, or shifts by that. */
static bool is_width(const struct question *q, const struct tr_value *product, unsigned i)
{
    LLVMValueRef operand = LLVMGetOperand(product->llvm, i);
    uint32_t width = q->facts->block[0];
    if (LLVMIsAConstantInt(operand) == NULL)
        return product->opcode == LLVMMul &&
               is_register(q, product->operands[i], TR_QUANTITY_BLOCK_SIZE);
    uint64_t constant = LLVMConstIntGetZExtValue(operand);
    if (product->opcode == LLVMShl)
        return constant < 32 && UINT64_C(1) << constant == width;
    return constant == width;
}

/* %ctaid.x * %ntid.x */
static bool is_first(const struct question *q, uint32_t number)
{
    if (number == TR_NONE)
        return false;
    const struct tr_value *value = value_of(q, number);
    if (value->opcode == LLVMShl)
        return is_register(q, value->operands[0], TR_QUANTITY_BLOCK_INDEX) && is_width(q, value, 1);
    if (value->opcode != LLVMMul)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (is_register(q, value->operands[i], TR_QUANTITY_BLOCK_INDEX) &&
            is_width(q, value, 1 - i))
            return true;
    return false;
}

static bool is_sum(const struct question *q, const struct tr_value *value)
{
    bool is_added =
        value->opcode == LLVMAdd || (value->opcode == LLVMOr && LLVMGetIsDisjoint(value->llvm));
    for (unsigned i = 0; is_added && i < 2; i++)
        if (is_first(q, value->operands[i]) &&
            is_register(q, value->operands[1 - i], TR_QUANTITY_THREAD_INDEX))
            return true;
    return false;
}

/* Whether all that uses the value are sums, or extensions and products that only they use. */
static bool is_only_in_sums(const struct question *q, uint32_t number)
{
    const struct tr_value *value = value_of(q, number);
    for (uint32_t i = 0; i < value->use_count; i++) {
        uint32_t use = value->uses[i];
        bool is_part = narrow(q, use) == number || is_first(q, use);
        if (!q->is_sum[use] && !(is_part && is_only_in_sums(q, use)))
            return false;
    }
    return true;
}

static bool finds_columns(struct question *q)
{
    const struct tr_graph *graph = &q->kernel->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        q->is_sum[v] = graph->values[v].segment != TR_NONE && is_sum(q, &graph->values[v]);
        q->is_known |= q->is_sum[v];
    }
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].segment != TR_NONE &&
            (tr_sreg_axis(graph->values[v].llvm, TR_QUANTITY_THREAD_INDEX) == 0 ||
             tr_sreg_axis(graph->values[v].llvm, TR_QUANTITY_BLOCK_INDEX) == 0) &&
            !is_only_in_sums(q, v))
            return false;
    return q->is_known;
}

/* ---- what threads do ---- */

static bool is_plain_call(LLVMValueRef call)
{
    enum ptx_sreg sreg = tr_sreg_of(call);
    if (sreg == PTX_SREG_NONE)
        return tr_placeholder_of(call) == RT_CALL_EXIT ||
               LLVMGetIntrinsicID(LLVMGetCalledValue(call)) != 0;
    enum tr_quantity quantity = tr_sregs[sreg].quantity;
    return quantity == TR_QUANTITY_THREAD_INDEX || quantity == TR_QUANTITY_BLOCK_INDEX ||
           (tr_sregs[sreg].scope > TR_SREG_BLOCK && tr_sregs[sreg].is_steady);
}

/* Whether the load reads where something of the thread's or block's own lies. */
static bool leads_to_own_memory(LLVMValueRef load)
{
    struct tr_field field = tr_field_of(load, TR_RECORD_THREAD);
    if (field.record == TR_RECORD_THREAD)
        return !field.has_offset || field.offset != offsetof(struct rt_thread, block);
    return field.record == TR_RECORD_BLOCK &&
           (!field.has_offset || field.offset != offsetof(struct rt_block, launch));
}

/* Whether nobody can tell in which order threads do it, or what other threads of the block there
 * are. */
static bool is_plain(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        return !LLVMGetVolatile(inst) && LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic &&
               !leads_to_own_memory(inst);
    case LLVMStore:
        return !LLVMGetVolatile(inst) && LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic;
    case LLVMCall:
        return is_plain_call(inst);
    case LLVMAlloca:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMFence:
        return false;
    default:
        return true;
    }
}

/* Faults that the launch decides are not in the loops. */
static bool is_behind_fault(const struct tr_collapsing *collapsing,
                            const struct tr_segment *segment)
{
    const struct tr_faults *faults = &collapsing->fuse.faults;
    const struct tr_kernel *kernel = &collapsing->kernel;
    for (uint32_t i = 0; i < faults->count; i++) {
        const struct tr_value *branch = &kernel->graph.values[faults->branches[i]];
        const struct tr_segment *from = &kernel->graph.segments[branch->segment];
        uint32_t other = tr_fault_bypass(kernel, faults, faults->branches[i]);
        for (uint32_t k = 0; k < from->succ_count; k++)
            if (from->succs[k] != other && &kernel->graph.segments[from->succs[k]] == segment)
                return segment->pred_count == 1;
    }
    return false;
}

static bool does_plain_things(const struct tr_collapsing *collapsing)
{
    const struct tr_graph *graph = &collapsing->kernel.graph;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        const struct tr_segment *segment = &graph->segments[s];
        if (is_behind_fault(collapsing, segment))
            continue;
        for (uint32_t i = 0; i < segment->value_count; i++)
            if (!is_plain(graph->values[segment->first_value + i].llvm))
                return false;
    }
    return true;
}

/* ---- addresses ---- */

static uint8_t own_dependence(LLVMValueRef inst)
{
    int axis = tr_sreg_axis(inst, TR_QUANTITY_THREAD_INDEX);
    if (axis == 0)
        return ON_COLUMN;
    return axis > 0 || tr_sreg_axis(inst, TR_QUANTITY_BLOCK_INDEX) > 0 ? ON_ROW : 0;
}

/* There are no loops: operands come first. */
static void find_dependences(const struct question *q)
{
    const struct tr_graph *graph = &q->kernel->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        q->depends[v] = value->segment == TR_NONE ? 0 : own_dependence(value->llvm);
        for (uint32_t i = 0; i < value->operand_count; i++)
            if (value->operands[i] != TR_NONE)
                q->depends[v] |= q->depends[value->operands[i]];
    }
}

static uint8_t dependence_of(const struct question *q, LLVMValueRef value)
{
    uint32_t number = value == NULL ? TR_NONE : tr_graph_number(&q->kernel->graph, value);
    return number == TR_NONE ? 0 : q->depends[number];
}

static uint64_t distance(uint64_t bytes)
{
    int32_t low = (int32_t)(uint32_t)bytes;
    return low < 0 ? -(uint64_t)low & UINT32_MAX : (uint64_t)low;
}

/* Whether rows of the block follow each other in memory, as far as is known; of the grid, if blocks
 * have one row. */
static bool is_next_row_near(const struct question *q, const struct tr_sum *sum, uint8_t others)
{
    uint64_t row_bytes = distance(sum->tid[0]) * q->facts->block[0];
    if (q->facts->block[1] == 1 && q->facts->block[2] == 1)
        return !(others & ON_ROW) && sum->ctaid[1] == 0 && sum->ctaid[2] == 0;
    return !(others & ON_ROW) && distance(sum->tid[1]) <= row_bytes &&
           distance(sum->tid[2]) <= row_bytes * q->facts->block[1];
}

/* Notes an access to memory; false: its threads are far apart along x. */
static bool note_access(struct question *q, LLVMValueRef address)
{
    struct tr_sum sum;
    if (!(dependence_of(q, address) & ON_COLUMN))
        return true;
    tr_sum_of(&q->query, address, &sum);
    uint8_t others = dependence_of(q, sum.base);
    for (uint32_t i = 0; i < sum.count; i++)
        others |= dependence_of(q, sum.terms[i].index);
    uint64_t stride_bytes = distance(sum.tid[0]);
    if (!sum.is_known || others & ON_COLUMN || stride_bytes == 0 || stride_bytes > LINE_BYTES)
        return false;
    if (q->stride_bytes < stride_bytes)
        q->stride_bytes = stride_bytes;
    bool is_moving = !is_next_row_near(q, &sum, others);
    q->moving += is_moving;
    q->staying += !is_moving;
    return true;
}

static bool note_accesses(struct question *q)
{
    const struct tr_graph *graph = &q->kernel->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        bool is_access = value->opcode == LLVMLoad || value->opcode == LLVMStore;
        if (is_access && !note_access(q, LLVMGetOperand(value->llvm, value->opcode == LLVMStore)))
            return false;
    }
    return true;
}

/* ---- the answer ---- */

/* NULL: rows of neighbouring blocks run as one. */
static const char *ask(struct question *q, const struct tr_collapsing *collapsing)
{
    const struct tr_facts *facts = q->facts;
    const struct tr_kernel *kernel = q->kernel;
    if (kernel->sync_count > 1 || kernel->scope != TR_SCOPE_BLOCK)
        return "threads wait for each other";
    if (facts->grid_max[0] == 1)
        return "no blocks are side by side";
    if (kernel->loops.count > 0)
        return "threads have loops";
    if (!does_plain_things(collapsing))
        return "threads do what others may see, or have memory of their own";
    if (!finds_columns(q))
        return "a thread's column is not all that it knows of its place";
    find_dependences(q);
    if (!note_accesses(q))
        return "neighbouring threads access memory far apart";
    if (q->moving == 0 || q->moving < q->staying)
        return "rows access the same memory, or memory side by side";
    if (facts->block[0] * q->stride_bytes >= PIECE_BYTES)
        return "rows of a block are long";
    return NULL;
}

enum pxr_status tr_choose_walk(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    struct tr_kernel *kernel = &collapsing->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    const struct tr_facts *facts = collapsing->options->facts;
    struct question q = {.kernel = kernel,
                         .facts = facts,
                         .query = {.layout = LLVMGetModuleDataLayout(collapsing->module),
                                   .through = TR_AS_THREADS,
                                   .block = facts->block}};
    q.depends = pxr_arena_alloc_array(arena, kernel->graph.value_count, sizeof *q.depends);
    q.is_sum = pxr_arena_alloc_array(arena, kernel->graph.value_count, sizeof *q.is_sum);
    if (q.depends == NULL || q.is_sum == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory choosing a walk");
    struct tr_walk *walk = &collapsing->fuse.walk;
    walk->why_not = ask(&q, collapsing);
    if (walk->why_not != NULL)
        return PXR_OK;
    walk->threads = (uint32_t)(PIECE_BYTES / q.stride_bytes);
    walk->is_sum = q.is_sum;
    return PXR_OK;
}
