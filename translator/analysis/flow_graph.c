/* SPDX-License-Identifier: Apache-2.0
 *
 * A function, or a part of one, as numbers: its blocks, cut where threads may stop, in reverse
 * postorder; its arguments and instructions; the users of each value.
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
    const struct tr_part *part; /* NULL: the whole function */
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

/* ---- what belongs to the part ---- */

static bool is_cut(const struct builder *b, LLVMValueRef terminator, uint32_t successor)
{
    for (uint32_t i = 0; b->part != NULL && i < b->part->cut_count; i++)
        if (b->part->cuts[i].terminator == terminator && b->part->cuts[i].successor == successor)
            return true;
    return false;
}

/* Whether the part takes this phi for a value from outside. */
static bool is_given(const struct builder *b, LLVMValueRef inst)
{
    for (uint32_t i = 0; b->part != NULL && i < b->part->argument_count; i++)
        if (b->part->arguments[i] == inst)
            return true;
    return false;
}

static struct block *find_block(const struct builder *b, LLVMBasicBlockRef llvm)
{
    return &b->blocks[find_number(b->block_numbers, llvm)];
}

static bool has_cut(const struct builder *b, LLVMValueRef terminator)
{
    for (uint32_t i = 0; b->part != NULL && i < b->part->cut_count; i++)
        if (b->part->cuts[i].terminator == terminator)
            return true;
    return false;
}

/* Whether there is an edge from the block to its successor in LLVM's graph. */
static bool has_edge(const struct builder *b, const struct block *from, LLVMBasicBlockRef to)
{
    if (!from->is_visited || !has_cut(b, from->terminator))
        return from->is_visited;
    for (uint32_t i = 0; i < LLVMGetNumSuccessors(from->terminator); i++)
        if (LLVMGetSuccessor(from->terminator, i) == to && !is_cut(b, from->terminator, i))
            return true;
    return false;
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
    struct block *entry = b->part == NULL ? &b->blocks[0] : find_block(b, b->part->entry);
    stack[depth++] = (uint32_t)(entry - b->blocks);
    entry->is_visited = true;
    while (depth > 0) {
        struct block *block = &b->blocks[stack[depth - 1]];
        if (block->next_successor == LLVMGetNumSuccessors(block->terminator)) {
            b->order[b->order_count++] = stack[--depth];
            continue;
        }
        uint32_t successor = block->next_successor++;
        struct block *next = find_block(b, LLVMGetSuccessor(block->terminator, successor));
        if (!next->is_visited && !is_cut(b, block->terminator, successor)) {
            next->is_visited = true;
            stack[depth++] = (uint32_t)(next - b->blocks);
        }
    }
    return true;
}

/* ---- segments and their values ---- */

static bool is_sync_point(const struct builder *b, LLVMValueRef inst)
{
    return b->ends_segment != NULL && LLVMIsATerminatorInst(inst) == NULL && b->ends_segment(inst);
}

/* Counts values, at most: every operand of a part's instructions may be one more. */
static bool count_and_allocate(struct builder *b)
{
    struct tr_graph *graph = b->graph;
    size_t segments = b->order_count;
    size_t values = b->part == NULL ? LLVMCountParams(graph->function) : b->part->argument_count;
    for (uint32_t i = 0; i < b->order_count; i++) {
        LLVMValueRef inst = LLVMGetFirstInstruction(b->blocks[b->order[i]].llvm);
        for (; inst != NULL; inst = LLVMGetNextInstruction(inst)) {
            values += b->part == NULL ? 1 : 1 + (size_t)LLVMGetNumOperands(inst);
            segments += is_sync_point(b, inst);
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
        if (is_given(b, inst))
            continue;
        if (segment == NULL) {
            segment = &graph->segments[graph->segment_count++];
            segment->llvm = block->llvm;
            segment->first_value = graph->value_count;
        }
        if (!number_value(b, inst, graph->segment_count - 1))
            return false;
        segment->value_count++;
        segment->is_sync_point = is_sync_point(b, inst);
        if (segment->is_sync_point)
            segment = NULL;
    }
    block->last_segment = graph->segment_count - 1;
    return true;
}

static bool is_from_outside(const struct builder *b, LLVMValueRef value)
{
    if (LLVMIsAArgument(value) != NULL)
        return true;
    return LLVMIsAInstruction(value) != NULL &&
           !find_block(b, LLVMGetInstructionParent(value))->is_visited;
}

/* Numbers the values from outside that the instruction uses. */
static bool number_outside(struct builder *b, LLVMValueRef inst)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(inst);
    bool is_phi = LLVMGetInstructionOpcode(inst) == LLVMPHI;
    uint32_t count = (uint32_t)LLVMGetNumOperands(inst);
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(inst, i);
        if (is_phi && !has_edge(b, find_block(b, LLVMGetIncomingBlock(inst, i)), block))
            continue;
        if (is_from_outside(b, operand) && tr_graph_number(b->graph, operand) == TR_NONE &&
            !number_value(b, operand, TR_NONE))
            return false;
    }
    return true;
}

static bool number_arguments_of_part(struct builder *b)
{
    for (uint32_t i = 0; i < b->part->argument_count; i++)
        if (!number_value(b, b->part->arguments[i], TR_NONE))
            return false;
    for (uint32_t i = b->order_count; i-- > 0;) {
        LLVMValueRef inst = LLVMGetFirstInstruction(b->blocks[b->order[i]].llvm);
        for (; inst != NULL; inst = LLVMGetNextInstruction(inst))
            if (!is_given(b, inst) && !number_outside(b, inst))
                return false;
    }
    return true;
}

static bool number_arguments(struct builder *b)
{
    LLVMValueRef function = b->graph->function;
    if (b->part != NULL)
        return number_arguments_of_part(b);
    for (uint32_t i = 0; i < LLVMCountParams(function); i++)
        if (!number_value(b, LLVMGetParam(function, i), TR_NONE))
            return false;
    return true;
}

static bool number_everything(struct builder *b)
{
    if (!number_arguments(b))
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
        uint32_t count = segment->is_sync_point ? 1 : LLVMGetNumSuccessors(block->terminator);
        uint32_t *succs = pxr_arena_alloc_array(&graph->arena, count, sizeof *succs);
        if (succs == NULL)
            return false;
        segment->succs = succs;
        if (segment->is_sync_point) {
            succs[segment->succ_count++] = s + 1;
            continue;
        }
        for (uint32_t i = 0; i < count; i++)
            if (!is_cut(b, block->terminator, i))
                succs[segment->succ_count++] =
                    find_block(b, LLVMGetSuccessor(block->terminator, i))->first_segment;
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
    LLVMBasicBlockRef to = LLVMGetInstructionParent(value->llvm);
    for (uint32_t i = 0; i < value->operand_count; i++) {
        const struct block *from = find_block(b, LLVMGetIncomingBlock(value->llvm, i));
        bool is_edge = has_edge(b, from, to);
        incoming[i] = is_edge ? from->last_segment : TR_NONE;
        operands[i] =
            is_edge ? tr_graph_number(graph, LLVMGetIncomingValue(value->llvm, i)) : TR_NONE;
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

static enum pxr_status build_graph(struct builder *b, LLVMValueRef function, struct pxr_error *err)
{
    *b->graph = (struct tr_graph){.function = function};
    pxr_arena_init(&b->graph->arena, 0);
    if (build(b))
        return PXR_OK;
    tr_graph_fini(b->graph);
    return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory analysing a kernel");
}

enum pxr_status tr_graph_build(struct tr_graph *graph, LLVMValueRef function,
                               bool (*ends_segment)(LLVMValueRef inst), struct pxr_error *err)
{
    struct builder b = {.graph = graph, .ends_segment = ends_segment};
    return build_graph(&b, function, err);
}

enum pxr_status tr_graph_build_part(struct tr_graph *graph, LLVMValueRef function,
                                    const struct tr_part *part, struct pxr_error *err)
{
    struct builder b = {.graph = graph, .part = part};
    return build_graph(&b, function, err);
}

void tr_graph_fini(struct tr_graph *graph)
{
    pxr_arena_fini(&graph->arena);
    *graph = (struct tr_graph){0};
}
