/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the loops over threads, which were marked when they were built, after LLVM's passes have
 * been over them: their counters and how often they run. A loop in which anything goes from one
 * iteration to the next, or out of it, cannot run its iterations side by side.
 */
#include "translator/module/marks.h"
#include "translator/module/relation.h"
#include "translator/vector/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

/* ---- the counter ---- */

/* A loop while it is looked at. */
struct candidate {
    const struct tr_graph *graph;
    char axis;
    uint32_t header; /* segments */
    uint32_t latch;
    struct tr_set inside; /* segments that can be reached from the header, except past the latch */
    struct tr_counted loop;
    const char *obstacle;
};

static LLVMValueRef terminator_of(const struct tr_graph *graph, uint32_t number)
{
    const struct tr_segment *segment = &graph->segments[number];
    return graph->values[segment->first_value + segment->value_count - 1].llvm;
}

static bool is_constant(LLVMValueRef value, uint64_t constant)
{
    return LLVMIsAConstantInt(value) != NULL && LLVMConstIntGetZExtValue(value) == constant;
}

static bool is_i32(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 32;
}

/* value + constant */
static bool is_sum(LLVMValueRef sum, LLVMValueRef value, int64_t constant)
{
    if (LLVMIsAInstruction(sum) == NULL || LLVMGetInstructionOpcode(sum) != LLVMAdd)
        return false;
    LLVMValueRef right = LLVMGetOperand(sum, 1);
    return LLVMGetOperand(sum, 0) == value && LLVMIsAConstantInt(right) != NULL &&
           LLVMConstIntGetSExtValue(right) == constant;
}

/* Whether the phi counts from 0 in steps of 1. */
static bool is_counter(const struct candidate *c, LLVMValueRef phi)
{
    bool is_from_zero = false;
    bool is_step_one = false;
    if (!is_i32(phi) || LLVMCountIncoming(phi) != 2)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        if (LLVMGetIncomingBlock(phi, i) == c->loop.latch)
            is_step_one = is_sum(value, phi, 1);
        else
            is_from_zero = is_constant(value, 0);
    }
    return is_from_zero && is_step_one;
}

static const char *find_counter(struct candidate *c)
{
    LLVMValueRef phi = LLVMGetFirstInstruction(c->loop.header);
    for (; LLVMIsAPHINode(phi) != NULL; phi = LLVMGetNextInstruction(phi)) {
        if (LLVMGetFirstUse(phi) == NULL)
            continue;
        if (c->loop.counter != NULL || !is_counter(c, phi))
            return "a value goes from one thread to the next";
        c->loop.counter = phi;
    }
    return c->loop.counter == NULL ? "the loop over threads has no counter" : NULL;
}

/* ---- how often ---- */

/* The loop goes on while `tested` is in this relation to `limit`; tested is the counter or
 * (is_next) the counter of the next iteration. */
struct condition {
    LLVMIntPredicate relation;
    LLVMValueRef limit;
    bool is_next;
};

static bool find_condition(const struct candidate *c, struct condition *condition)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(c->loop.latch);
    LLVMValueRef icmp = LLVMGetCondition(branch);
    LLVMValueRef counter = c->loop.counter;
    if (LLVMIsAICmpInst(icmp) == NULL)
        return false;
    condition->relation = LLVMGetICmpPredicate(icmp);
    if (LLVMGetSuccessor(branch, 0) != c->loop.header)
        condition->relation = tr_relation_inverse(condition->relation);
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef tested = LLVMGetOperand(icmp, i);
        condition->limit = LLVMGetOperand(icmp, 1 - i);
        condition->is_next = is_sum(tested, counter, 1);
        if (i == 1)
            condition->relation = tr_relation_swapped(condition->relation);
        if (tested == counter || condition->is_next)
            return true;
    }
    return false;
}

/* limit + more, if such a value exists already. */
static LLVMValueRef limit_plus(LLVMValueRef limit, unsigned more)
{
    if (more == 0)
        return limit;
    if (LLVMIsAConstantInt(limit) != NULL)
        return LLVMConstInt(LLVMTypeOf(limit), LLVMConstIntGetZExtValue(limit) + more, false);
    bool is_less = more == 1 && LLVMIsAInstruction(limit) != NULL &&
                   LLVMGetNumOperands(limit) == 2 && is_sum(limit, LLVMGetOperand(limit, 0), -1);
    return is_less ? LLVMGetOperand(limit, 0) : NULL;
}

/* The loop's count. There is at least one thread, and not very many, so signed and unsigned
 * comparisons agree. */
static LLVMValueRef count_of(const struct condition *condition)
{
    unsigned more = condition->is_next ? 0 : 1;
    switch (condition->relation) {
    case LLVMIntULT:
    case LLVMIntSLT:
    case LLVMIntNE:
        return limit_plus(condition->limit, more);
    case LLVMIntULE:
    case LLVMIntSLE:
        return limit_plus(condition->limit, more + 1);
    case LLVMIntEQ: /* only after the first iteration */
        return is_constant(condition->limit, 1 - more)
                   ? LLVMConstInt(LLVMTypeOf(condition->limit), 2, false)
                   : NULL;
    default:
        return NULL;
    }
}

static bool is_inside(const struct candidate *c, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(c->graph, value);
    uint32_t segment = number == TR_NONE ? TR_NONE : c->graph->values[number].segment;
    return segment != TR_NONE && tr_set_has(&c->inside, segment);
}

static const char *find_count(struct candidate *c)
{
    static const char words[] = "how often the loop runs is not known when it begins";
    struct condition condition;
    if (!find_condition(c, &condition))
        return words;
    c->loop.count = count_of(&condition);
    return c->loop.count == NULL || is_inside(c, c->loop.count) ? words : NULL;
}

void tr_counted_shorten(const struct tr_counted *loop, LLVMValueRef count)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(loop->latch);
    LLVMValueRef counter = loop->counter;
    bool is_first = LLVMGetIncomingBlock(counter, 0) == loop->latch;
    LLVMValueRef next = LLVMGetIncomingValue(counter, is_first ? 0 : 1);
    bool goes_on_if = LLVMGetSuccessor(branch, 0) == loop->header;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(count)));
    LLVMPositionBuilderBefore(builder, branch);
    LLVMSetCondition(branch,
                     LLVMBuildICmp(builder, goes_on_if ? LLVMIntULT : LLVMIntUGE, next, count, ""));
    LLVMDisposeBuilder(builder);
}

/* ---- ways in and out ---- */

static bool find_inside(struct candidate *c, struct pxr_arena *arena)
{
    const struct tr_graph *graph = c->graph;
    uint32_t *stack = pxr_arena_alloc_array(arena, graph->segment_count, sizeof *stack);
    uint32_t depth = 0;
    c->inside = tr_set_make(arena, graph->segment_count);
    if (stack == NULL || c->inside.words == NULL)
        return false;
    tr_set_add(&c->inside, c->header);
    stack[depth++] = c->header;
    while (depth > 0) {
        uint32_t from = stack[--depth];
        const struct tr_segment *segment = &graph->segments[from];
        for (uint32_t i = 0; from != c->latch && i < segment->succ_count; i++) {
            if (tr_set_has(&c->inside, segment->succs[i]))
                continue;
            tr_set_add(&c->inside, segment->succs[i]);
            stack[depth++] = segment->succs[i];
        }
    }
    return true;
}

static const char *find_way_in(struct candidate *c)
{
    const struct tr_segment *header = &c->graph->segments[c->header];
    for (uint32_t i = 0; i < header->pred_count; i++) {
        uint32_t pred = header->preds[i];
        if (pred == c->latch)
            continue;
        if (tr_set_has(&c->inside, pred))
            return "there are several ways to the next thread";
        if (c->loop.before != NULL || c->graph->segments[pred].succ_count != 1)
            return "the loop over threads is entered from several places";
        c->loop.before = c->graph->segments[pred].llvm;
    }
    return c->loop.before == NULL ? "the loop over threads is never entered" : NULL;
}

/* NULL if all ways end at the latch or in a fault. */
static const char *check_ways_out(const struct candidate *c)
{
    const struct tr_set *inside = &c->inside;
    for (uint32_t s = tr_set_next(inside, 0); s != TR_NONE; s = tr_set_next(inside, s + 1)) {
        LLVMOpcode opcode = LLVMGetInstructionOpcode(terminator_of(c->graph, s));
        if (opcode == LLVMRet)
            return "a thread leaves the loop over threads";
        if (opcode != LLVMBr && opcode != LLVMSwitch && opcode != LLVMUnreachable)
            return "a thread has control flow of an unusual kind";
    }
    return NULL;
}

static bool is_used_outside(const struct candidate *c, const struct tr_value *value)
{
    for (uint32_t i = 0; i < value->use_count; i++)
        if (!tr_set_has(&c->inside, c->graph->values[value->uses[i]].segment))
            return true;
    return false;
}

static const char *check_values(const struct candidate *c)
{
    const struct tr_set *inside = &c->inside;
    for (uint32_t s = tr_set_next(inside, 0); s != TR_NONE; s = tr_set_next(inside, s + 1)) {
        const struct tr_segment *segment = &c->graph->segments[s];
        for (uint32_t v = 0; v < segment->value_count; v++) {
            const struct tr_value *value = &c->graph->values[segment->first_value + v];
            if (is_used_outside(c, value))
                return "a value of the last thread is used behind the loop";
            if (value->opcode == LLVMAlloca)
                return "a thread allocates memory";
        }
    }
    return NULL;
}

static void recognise(struct candidate *c)
{
    c->obstacle = find_way_in(c);
    if (c->obstacle == NULL)
        c->obstacle = check_ways_out(c);
    if (c->obstacle == NULL)
        c->obstacle = find_counter(c);
    if (c->obstacle == NULL)
        c->obstacle = find_count(c);
    if (c->obstacle == NULL)
        c->obstacle = check_values(c);
}

/* ---- all marked loops ---- */

struct search {
    struct tr_graph graph;
    struct tr_dominators dominators;
    uint32_t count;
    struct candidate *candidates;
};

static bool is_known_header(const struct search *search, uint32_t header)
{
    for (uint32_t i = 0; i < search->count; i++)
        if (search->candidates[i].header == header)
            return true;
    return false;
}

/* False: out of memory. */
static bool add_candidate(struct search *search, uint32_t latch, char axis)
{
    struct tr_graph *graph = &search->graph;
    const struct tr_segment *segment = &graph->segments[latch];
    for (uint32_t i = 0; i < segment->succ_count && segment->succ_count == 2; i++) {
        uint32_t header = segment->succs[i];
        uint32_t after = segment->succs[1 - i];
        if (!tr_dominates(&search->dominators, header, latch) || after == header ||
            is_known_header(search, header))
            continue;
        struct candidate *c = &search->candidates[search->count++];
        *c = (struct candidate){.graph = graph, .axis = axis, .header = header, .latch = latch};
        c->loop.block_row = tr_thread_loop_of(terminator_of(graph, latch)).block_row;
        c->loop.header = graph->segments[header].llvm;
        c->loop.latch = segment->llvm;
        c->loop.after = graph->segments[after].llvm;
        if (!find_inside(c, &graph->arena))
            return false;
        recognise(c);
        return true;
    }
    return true;
}

static bool find_candidates(struct search *search)
{
    struct tr_graph *graph = &search->graph;
    search->candidates =
        pxr_arena_alloc_array(&graph->arena, graph->segment_count, sizeof *search->candidates);
    if (search->candidates == NULL)
        return false;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        LLVMValueRef terminator = terminator_of(graph, s);
        char axis = tr_thread_axis(terminator);
        if (axis != 0 && LLVMGetInstructionOpcode(terminator) == LLVMBr &&
            !add_candidate(search, s, axis))
            return false;
    }
    return true;
}

/* ---- a row and rows ---- */

/* Whether control goes from one segment to the other and nowhere else on the way. */
static bool is_straight(const struct tr_graph *graph, uint32_t from, uint32_t to)
{
    uint32_t steps = 0;
    while (from != to) {
        const struct tr_segment *segment = &graph->segments[from];
        if (segment->succ_count != 1 || ++steps > graph->segment_count)
            return false;
        from = segment->succs[0];
    }
    return true;
}

/* Whether the iterations of y contain nothing but the x loop. */
static bool is_directly_around(const struct candidate *y, const struct candidate *x)
{
    const struct tr_graph *graph = y->graph;
    if (y->axis != 'y' || y->obstacle != NULL || !tr_set_has(&y->inside, x->header))
        return false;
    uint32_t after = TR_NONE;
    for (uint32_t i = 0; i < 2; i++)
        if (graph->segments[x->latch].succs[i] != x->header)
            after = graph->segments[x->latch].succs[i];
    return is_straight(graph, y->header, x->header) && is_straight(graph, after, y->latch);
}

/* ---- counters that are one ---- */

static bool counts_like(LLVMValueRef phi, LLVMValueRef other)
{
    if (!is_i32(phi) || LLVMCountIncoming(phi) != 2 || LLVMCountIncoming(other) != 2)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        unsigned k = LLVMGetIncomingBlock(other, 0) == LLVMGetIncomingBlock(phi, i) ? 0 : 1;
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        LLVMValueRef same = LLVMGetIncomingValue(other, k);
        bool is_step = is_sum(value, phi, 1) && is_sum(same, other, 1);
        if (LLVMGetIncomingBlock(other, k) != LLVMGetIncomingBlock(phi, i) ||
            (!is_step && !(is_constant(value, 0) && is_constant(same, 0))))
            return false;
    }
    return true;
}

/* Loops were built with one counter for threads and one for the loop itself. */
static void merge_counters(LLVMBasicBlockRef header)
{
    LLVMValueRef first = LLVMGetFirstInstruction(header);
    if (first == NULL || LLVMIsAPHINode(first) == NULL || !is_i32(first))
        return;
    LLVMValueRef inst = LLVMGetNextInstruction(first);
    while (inst != NULL && LLVMIsAPHINode(inst) != NULL) {
        LLVMValueRef phi = inst;
        inst = LLVMGetNextInstruction(inst);
        if (!counts_like(phi, first))
            continue;
        LLVMReplaceAllUsesWith(phi, first);
        LLVMInstructionEraseFromParent(phi);
    }
}

static void merge_all_counters(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
        if (tr_thread_axis(terminator) == 0 || LLVMGetInstructionOpcode(terminator) != LLVMBr)
            continue;
        for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
            merge_counters(LLVMGetSuccessor(terminator, i));
    }
}

static void make_nests(const struct search *search, struct tr_nest *nests, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < search->count; i++) {
        const struct candidate *x = &search->candidates[i];
        if (x->axis != 'x')
            continue;
        struct tr_nest *nest = &nests[(*count)++];
        *nest = (struct tr_nest){.x = x->loop, .obstacle = x->obstacle};
        for (uint32_t k = 0; k < search->count && x->obstacle == NULL; k++)
            if (is_directly_around(&search->candidates[k], x))
                nest->y = search->candidates[k].loop;
    }
}

enum pxr_status tr_find_nests(LLVMValueRef function, struct tr_nest **nests, uint32_t *count,
                              struct pxr_error *err)
{
    struct search search = {0};
    *nests = NULL;
    *count = 0;
    merge_all_counters(function);
    enum pxr_status status = tr_graph_build(&search.graph, function, NULL, err);
    if (status != PXR_OK)
        return status;
    status = tr_dominators_build(&search.graph, false, &search.dominators, err);
    if (status == PXR_OK && find_candidates(&search))
        *nests = calloc(search.count + 1, sizeof **nests);
    if (*nests != NULL)
        make_nests(&search, *nests, count);
    else if (status == PXR_OK)
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory looking for loops over threads");
    tr_graph_fini(&search.graph);
    return status;
}
