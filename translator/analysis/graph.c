/* SPDX-License-Identifier: Apache-2.0
 *
 * A function as numbers: its blocks, cut where threads may stop, in reverse postorder; its
 * arguments and instructions; who uses what.
 */
#include "translator/analysis/analysis.h"

#include <llvm-c/Core.h>

#include "ptx/hash.h"

struct number {
    const void *key; /* LLVMValueRef or LLVMBasicBlockRef */
    uint32_t number;
    UT_hash_handle hh;
};

/* Blocks while the graph is built. Those that cannot be reached are not visited. */
struct block {
    LLVMBasicBlockRef llvm;
    LLVMValueRef terminator;
    bool is_visited;
    uint32_t next_successor; /* during the search: what to look at next */
    uint32_t first_segment;
    uint32_t last_segment;
};

struct builder {
    struct tr_graph *graph;
    bool (*ends_segment)(LLVMValueRef inst);
    struct number *block_numbers;
    uint32_t block_count;
    struct block *blocks;
    uint32_t order_count;
    uint32_t *order; /* the blocks that can be reached, in postorder */
};

/* ---- numbers ---- */

static bool set_number(struct pxr_arena *arena, struct number **table, const void *key,
                       uint32_t number)
{
    struct pxr_arena *hash_arena = arena;
    bool hash_failed = false;
    struct number *entry = pxr_arena_alloc(arena, sizeof *entry);
    if (entry == NULL)
        return false;
    entry->key = key;
    entry->number = number;
    HASH_ADD_PTR(*table, key, entry);
    return !hash_failed;
}

static uint32_t find_number(struct number *table, const void *key)
{
    struct number *entry = NULL;
    HASH_FIND_PTR(table, &key, entry);
    return entry == NULL ? TR_NONE : entry->number;
}

uint32_t tr_graph_number(const struct tr_graph *graph, LLVMValueRef value)
{
    return find_number(graph->numbers, value);
}

static bool number_value(struct builder *b, LLVMValueRef value, uint32_t segment)
{
    struct tr_graph *graph = b->graph;
    struct number *table = graph->numbers;
    uint32_t n = graph->value_count;
    bool is_inst = segment != TR_NONE;
    graph->values[n] = (struct tr_value){
        .llvm = value,
        .opcode = is_inst ? (uint32_t)LLVMGetInstructionOpcode(value) : 0,
        .segment = segment,
    };
    if (!set_number(&graph->arena, &table, value, n))
        return false;
    graph->numbers = table;
    graph->value_count++;
    return true;
}

/* ---- the order of blocks ---- */

static bool collect_blocks(struct builder *b)
{
    struct pxr_arena *arena = &b->graph->arena;
    b->block_count = LLVMCountBasicBlocks(b->graph->function);
    b->blocks = pxr_arena_alloc_array(arena, b->block_count, sizeof *b->blocks);
    b->order = pxr_arena_alloc_array(arena, b->block_count, sizeof *b->order);
    if (b->blocks == NULL || b->order == NULL)
        return false;
    LLVMBasicBlockRef llvm = LLVMGetFirstBasicBlock(b->graph->function);
    for (uint32_t i = 0; i < b->block_count; i++, llvm = LLVMGetNextBasicBlock(llvm)) {
        b->blocks[i].llvm = llvm;
        b->blocks[i].terminator = LLVMGetBasicBlockTerminator(llvm);
        if (!set_number(arena, &b->block_numbers, llvm, i))
            return false;
    }
    return true;
}

/* Depth first, without recursion: functions may have very many blocks. */
static bool order_blocks(struct builder *b)
{
    uint32_t *stack = pxr_arena_alloc_array(&b->graph->arena, b->block_count, sizeof *stack);
    if (stack == NULL)
        return false;
    uint32_t depth = 0;
    stack[depth++] = 0;
    b->blocks[0].is_visited = true;
    while (depth > 0) {
        struct block *block = &b->blocks[stack[depth - 1]];
        if (block->next_successor == LLVMGetNumSuccessors(block->terminator)) {
            b->order[b->order_count++] = stack[--depth];
            continue;
        }
        LLVMBasicBlockRef next = LLVMGetSuccessor(block->terminator, block->next_successor++);
        uint32_t n = find_number(b->block_numbers, next);
        if (!b->blocks[n].is_visited) {
            b->blocks[n].is_visited = true;
            stack[depth++] = n;
        }
    }
    return true;
}

/* ---- segments and their values ---- */

static bool is_stop(const struct builder *b, LLVMValueRef inst)
{
    return b->ends_segment != NULL && LLVMIsATerminatorInst(inst) == NULL && b->ends_segment(inst);
}

static bool count_and_allocate(struct builder *b)
{
    struct tr_graph *graph = b->graph;
    size_t segments = b->order_count;
    size_t values = LLVMCountParams(graph->function);
    for (uint32_t i = 0; i < b->order_count; i++) {
        LLVMValueRef inst = LLVMGetFirstInstruction(b->blocks[b->order[i]].llvm);
        for (; inst != NULL; inst = LLVMGetNextInstruction(inst)) {
            values++;
            segments += is_stop(b, inst);
        }
    }
    if (values >= TR_NONE)
        return false;
    graph->values = pxr_arena_alloc_array(&graph->arena, values, sizeof *graph->values);
    graph->segments = pxr_arena_alloc_array(&graph->arena, segments, sizeof *graph->segments);
    return graph->values != NULL && graph->segments != NULL;
}

static bool number_block(struct builder *b, struct block *block)
{
    struct tr_graph *graph = b->graph;
    block->first_segment = graph->segment_count;
    struct tr_segment *segment = NULL;
    LLVMValueRef inst = LLVMGetFirstInstruction(block->llvm);
    for (; inst != NULL; inst = LLVMGetNextInstruction(inst)) {
        if (segment == NULL) {
            segment = &graph->segments[graph->segment_count++];
            segment->llvm = block->llvm;
            segment->first_value = graph->value_count;
        }
        if (!number_value(b, inst, graph->segment_count - 1))
            return false;
        segment->value_count++;
        segment->is_stop = is_stop(b, inst);
        if (segment->is_stop)
            segment = NULL;
    }
    block->last_segment = graph->segment_count - 1;
    return true;
}

static bool number_everything(struct builder *b)
{
    struct tr_graph *graph = b->graph;
    for (uint32_t i = 0; i < LLVMCountParams(graph->function); i++)
        if (!number_value(b, LLVMGetParam(graph->function, i), TR_NONE))
            return false;
    for (uint32_t i = b->order_count; i-- > 0;)
        if (!number_block(b, &b->blocks[b->order[i]]))
            return false;
    return true;
}

/* ---- edges ---- */

static bool fill_succs(struct builder *b, const struct block *block)
{
    struct tr_graph *graph = b->graph;
    for (uint32_t s = block->first_segment; s <= block->last_segment; s++) {
        struct tr_segment *segment = &graph->segments[s];
        segment->succ_count = segment->is_stop ? 1 : LLVMGetNumSuccessors(block->terminator);
        uint32_t *succs = pxr_arena_alloc_array(&graph->arena, segment->succ_count, sizeof *succs);
        if (succs == NULL)
            return false;
        for (uint32_t i = 0; i < segment->succ_count; i++) {
            LLVMBasicBlockRef to = segment->is_stop ? NULL : LLVMGetSuccessor(block->terminator, i);
            succs[i] = segment->is_stop
                           ? s + 1
                           : b->blocks[find_number(b->block_numbers, to)].first_segment;
        }
        segment->succs = succs;
    }
    return true;
}

static bool is_repeated_succ(const struct tr_segment *segment, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (segment->succs[i] == segment->succs[index])
            return true;
    return false;
}

static bool fill_preds(struct tr_graph *graph)
{
    uint32_t **preds = pxr_arena_alloc_array(&graph->arena, graph->segment_count, sizeof *preds);
    if (preds == NULL)
        return false;
    for (uint32_t s = 0; s < graph->segment_count; s++)
        for (uint32_t i = 0; i < graph->segments[s].succ_count; i++)
            if (!is_repeated_succ(&graph->segments[s], i))
                graph->segments[graph->segments[s].succs[i]].pred_count++;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        struct tr_segment *segment = &graph->segments[s];
        preds[s] = pxr_arena_alloc_array(&graph->arena, segment->pred_count, sizeof **preds);
        if (preds[s] == NULL)
            return false;
        segment->preds = preds[s];
        segment->pred_count = 0;
    }
    for (uint32_t s = 0; s < graph->segment_count; s++)
        for (uint32_t i = 0; i < graph->segments[s].succ_count; i++) {
            uint32_t to = graph->segments[s].succs[i];
            if (!is_repeated_succ(&graph->segments[s], i))
                preds[to][graph->segments[to].pred_count++] = s;
        }
    return true;
}

/* ---- operands and uses ---- */

static bool fill_phi(struct builder *b, struct tr_value *value)
{
    struct tr_graph *graph = b->graph;
    value->operand_count = LLVMCountIncoming(value->llvm);
    uint32_t *operands =
        pxr_arena_alloc_array(&graph->arena, value->operand_count, sizeof *operands);
    uint32_t *incoming =
        pxr_arena_alloc_array(&graph->arena, value->operand_count, sizeof *incoming);
    if (operands == NULL || incoming == NULL)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(value->llvm, i);
        const struct block *block = &b->blocks[find_number(b->block_numbers, from)];
        incoming[i] = block->is_visited ? block->last_segment : TR_NONE;
        operands[i] = block->is_visited
                          ? tr_graph_number(graph, LLVMGetIncomingValue(value->llvm, i))
                          : TR_NONE;
    }
    value->operands = operands;
    value->incoming = incoming;
    return true;
}

static bool fill_operands(struct builder *b, struct tr_value *value)
{
    if (value->opcode == LLVMPHI)
        return fill_phi(b, value);
    struct tr_graph *graph = b->graph;
    value->operand_count = (uint32_t)LLVMGetNumOperands(value->llvm);
    uint32_t *operands =
        pxr_arena_alloc_array(&graph->arena, value->operand_count, sizeof *operands);
    if (operands == NULL)
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = tr_graph_number(graph, LLVMGetOperand(value->llvm, i));
    value->operands = operands;
    return true;
}

static bool is_repeated_operand(const struct tr_value *value, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (value->operands[i] == value->operands[index])
            return true;
    return false;
}

static bool fill_uses(struct tr_graph *graph)
{
    uint32_t **uses = pxr_arena_alloc_array(&graph->arena, graph->value_count, sizeof *uses);
    if (uses == NULL)
        return false;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        for (uint32_t i = 0; i < value->operand_count; i++)
            if (value->operands[i] != TR_NONE && !is_repeated_operand(value, i))
                graph->values[value->operands[i]].use_count++;
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        struct tr_value *value = &graph->values[v];
        uses[v] = pxr_arena_alloc_array(&graph->arena, value->use_count, sizeof **uses);
        if (uses[v] == NULL)
            return false;
        value->uses = uses[v];
        value->use_count = 0;
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        for (uint32_t i = 0; i < value->operand_count; i++) {
            uint32_t operand = value->operands[i];
            if (operand != TR_NONE && !is_repeated_operand(value, i))
                uses[operand][graph->values[operand].use_count++] = v;
        }
    }
    return true;
}

/* ---- all together ---- */

static bool build(struct builder *b)
{
    struct tr_graph *graph = b->graph;
    if (!collect_blocks(b) || !order_blocks(b) || !count_and_allocate(b) || !number_everything(b))
        return false;
    for (uint32_t i = 0; i < b->order_count; i++)
        if (!fill_succs(b, &b->blocks[b->order[i]]))
            return false;
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].segment != TR_NONE && !fill_operands(b, &graph->values[v]))
            return false;
    return fill_preds(graph) && fill_uses(graph);
}

enum pxr_status tr_graph_build(struct tr_graph *graph, LLVMValueRef function,
                               bool (*ends_segment)(LLVMValueRef inst), struct pxr_error *err)
{
    *graph = (struct tr_graph){.function = function};
    pxr_arena_init(&graph->arena, 0);
    struct builder b = {.graph = graph, .ends_segment = ends_segment};
    if (build(&b))
        return PXR_OK;
    tr_graph_fini(graph);
    return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a kernel");
}

void tr_graph_fini(struct tr_graph *graph)
{
    pxr_arena_fini(&graph->arena);
    *graph = (struct tr_graph){0};
}
