/* SPDX-License-Identifier: Apache-2.0
 *
 * Polls (rt_spin) mark where a program may be waiting for another thread; step 1 puts one before
 * every access that a waiting loop could make. Most are in no such loop, and each that stays is a
 * sync point. A loop can only wait if one of its exits depends on memory that the loop reads:
 * otherwise it ends, or does not, whatever others do. Loops of attempts do not wait either.
 */
#include <string.h>

#include "translator/collapse/prepare.h"
#include "translator/module/sregs.h"

struct polls {
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_loops loops;
    struct tr_set reads; /* in the current loop: values that depend on memory read in it */
    bool *waits;         /* by loop */
};

static bool is_poll(LLVMValueRef inst)
{
    return tr_placeholder_of(inst) == RT_CALL_SPIN;
}

/* Who sleeps in no loop that may wait need not: no time is too short. */
static bool is_sleep(LLVMValueRef inst)
{
    return tr_placeholder_of(inst) == RT_CALL_NANOSLEEP;
}

static bool reads_memory(const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMLoad:
        return !tr_is_invariant_load(value->llvm);
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return true;
    case LLVMCall: {
        const char *name = tr_callee_name(value->llvm);
        return !tr_sregs[tr_sreg_of(value->llvm)].is_steady && strncmp(name, "llvm.", 5) != 0;
    }
    default:
        return false;
    }
}

static uint32_t terminator_of(const struct tr_graph *graph, uint32_t s)
{
    return graph->segments[s].first_value + graph->segments[s].value_count - 1;
}

/* Whether loaded values decide which way a phi is reached: by a branch between the place where the
 * ways part and the phi. At a loop's header the ways are those around the loop. */
static bool is_chosen_by_reads(const struct polls *polls, const struct tr_loop *loop,
                               uint32_t segment)
{
    const struct tr_graph *graph = &polls->graph;
    uint32_t parting = polls->dominators.idom[segment];
    if (segment == loop->header) {
        uint32_t back_edges = 0;
        for (uint32_t i = 0; i < graph->segments[segment].pred_count; i++)
            back_edges += tr_set_has(&loop->segments, graph->segments[segment].preds[i]);
        if (back_edges < 2)
            return false;
        parting = segment;
    }
    for (uint32_t s = tr_set_next(&loop->segments, 0); s != TR_NONE;
         s = tr_set_next(&loop->segments, s + 1))
        if (graph->segments[s].succ_count > 1 &&
            tr_set_has(&polls->reads, terminator_of(graph, s)) &&
            (parting == TR_NONE || tr_dominates(&polls->dominators, parting, s)))
            return true;
    return false;
}

static bool depends_on_reads(const struct polls *polls, const struct tr_loop *loop, uint32_t v)
{
    const struct tr_value *value = &polls->graph.values[v];
    if (reads_memory(value))
        return true;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (value->operands[i] != TR_NONE && tr_set_has(&polls->reads, value->operands[i]))
            return true;
    return value->opcode == LLVMPHI && is_chosen_by_reads(polls, loop, value->segment);
}

static void find_reads(struct polls *polls, const struct tr_loop *loop)
{
    const struct tr_graph *graph = &polls->graph;
    memset(polls->reads.words, 0, polls->reads.word_count * sizeof *polls->reads.words);
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t s = tr_set_next(&loop->segments, 0); s != TR_NONE;
             s = tr_set_next(&loop->segments, s + 1)) {
            const struct tr_segment *segment = &graph->segments[s];
            for (uint32_t i = 0; i < segment->value_count; i++) {
                uint32_t v = segment->first_value + i;
                if (tr_set_has(&polls->reads, v) || !depends_on_reads(polls, loop, v))
                    continue;
                tr_set_add(&polls->reads, v);
                again = true;
            }
        }
    }
}

/* Whether the loop may wait. A loop without exit may end by the thread's exit, or be meant to run
 * for ever. */
static bool may_wait(struct polls *polls, const struct tr_loop *loop)
{
    const struct tr_graph *graph = &polls->graph;
    bool has_exit = false;
    if (tr_is_loop_of_attempts(graph, loop))
        return false;
    find_reads(polls, loop);
    for (uint32_t s = tr_set_next(&loop->segments, 0); s != TR_NONE;
         s = tr_set_next(&loop->segments, s + 1)) {
        const struct tr_segment *segment = &graph->segments[s];
        for (uint32_t i = 0; i < segment->succ_count; i++) {
            if (tr_set_has(&loop->segments, segment->succs[i]))
                continue;
            has_exit = true;
            if (tr_set_has(&polls->reads, terminator_of(graph, s)))
                return true;
        }
    }
    return !has_exit;
}

static bool is_needed(const struct polls *polls, uint32_t poll)
{
    uint32_t segment = polls->graph.values[poll].segment;
    uint32_t loop = polls->loops.innermost[segment];
    for (; loop != TR_NONE; loop = polls->loops.loops[loop].parent)
        if (polls->waits[loop])
            return true;
    return false;
}

static enum pxr_status analyse(struct polls *polls, struct pxr_error *err)
{
    enum pxr_status status = tr_dominators_build(&polls->graph, false, &polls->dominators, err);
    if (status == PXR_OK)
        status = tr_loops_build(&polls->graph, &polls->loops, err);
    if (status != PXR_OK)
        return status;
    polls->reads = tr_set_make(&polls->graph.arena, polls->graph.value_count);
    polls->waits =
        pxr_arena_alloc_array(&polls->graph.arena, polls->loops.count, sizeof *polls->waits);
    if (polls->reads.words == NULL || polls->waits == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    for (uint32_t i = 0; i < polls->loops.count; i++)
        polls->waits[i] = may_wait(polls, &polls->loops.loops[i]);
    return PXR_OK;
}

/* Finds the polls that stay, by value. */
static bool *find_needed(struct polls *polls, bool *has_needed)
{
    const struct tr_value *values = polls->graph.values;
    uint32_t count = polls->graph.value_count;
    bool *needed = pxr_arena_alloc_array(&polls->graph.arena, count, sizeof *needed);
    *has_needed = false;
    for (uint32_t v = 0; v < count && needed != NULL; v++) {
        needed[v] = values[v].opcode == LLVMCall && is_poll(values[v].llvm) && is_needed(polls, v);
        *has_needed |= needed[v];
    }
    return needed;
}

/* The struct rt_thread * of those that wait, NULL if none does. */
static LLVMValueRef find_waiting_thread(const struct polls *polls, const bool *needed)
{
    const struct tr_value *values = polls->graph.values;
    for (uint32_t v = 0; v < polls->graph.value_count; v++)
        if (needed[v] ||
            (values[v].opcode == LLVMCall && tr_placeholder_of(values[v].llvm) == RT_CALL_GIVE_WAY))
            return LLVMGetOperand(values[v].llvm, 0);
    return NULL;
}

static void drop(const struct polls *polls, const bool *needed)
{
    for (uint32_t v = 0; v < polls->graph.value_count; v++) {
        const struct tr_value *value = &polls->graph.values[v];
        if (value->opcode != LLVMCall)
            continue;
        if ((is_poll(value->llvm) && !needed[v]) || (is_sleep(value->llvm) && !is_needed(polls, v)))
            LLVMInstructionEraseFromParent(value->llvm);
    }
}

static bool is_called(LLVMModuleRef module, enum rt_placeholder placeholder)
{
    return LLVMGetNamedFunction(module, rt_placeholders[placeholder].name) != NULL;
}

static bool waits_in_loop(const struct polls *polls)
{
    for (uint32_t i = 0; i < polls->loops.count; i++)
        if (polls->waits[i] && polls->loops.loops[i].depth > 1)
            return true;
    return false;
}

enum pxr_status tr_bind_waits(LLVMValueRef function, bool drops_polls, const struct tr_facts *facts,
                              bool *waits_again, struct pxr_error *err)
{
    struct polls polls = {0};
    LLVMModuleRef module = LLVMGetGlobalParent(function);
    enum pxr_status status = PXR_OK;
    if (is_called(module, RT_CALL_GIVE_WAY))
        status = tr_find_mbarrier_waits(function, drops_polls, facts, err);
    if (status != PXR_OK)
        return status;
    if (!is_called(module, RT_CALL_SPIN) && !is_called(module, RT_CALL_NANOSLEEP) &&
        !is_called(module, RT_CALL_GIVE_WAY))
        return PXR_OK;
    status = tr_graph_build(&polls.graph, function, NULL, err);
    if (status != PXR_OK)
        return status;
    status = analyse(&polls, err);
    bool has_polls = false;
    bool *needed = status == PXR_OK ? find_needed(&polls, &has_polls) : NULL;
    if (status == PXR_OK && needed == NULL)
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    *waits_again |= status == PXR_OK && has_polls && waits_in_loop(&polls);
    LLVMValueRef thread = status == PXR_OK ? find_waiting_thread(&polls, needed) : NULL;
    bool is_in_step = thread != NULL && LLVMIsAArgument(thread) != NULL;
    if (status == PXR_OK && is_in_step)
        status = tr_gather_lanes(&polls.graph, &polls.dominators, &polls.loops, needed, has_polls,
                                 thread, facts, err);
    /* Removes polls at which nobody waits: they would count a lane among those that poll. In a
     * function that is called, its caller's loop may wait there. */
    drops_polls |= is_in_step && has_polls && LLVMGetFirstUse(function) == NULL;
    if (status == PXR_OK && drops_polls)
        drop(&polls, needed);
    tr_graph_fini(&polls.graph);
    return status;
}
