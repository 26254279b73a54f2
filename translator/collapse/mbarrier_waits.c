/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops that wait for a phase of an mbarrier. Each question is preceded by rt_line_up, at which
 * loops over threads bring all of the block together, so that those that the phase waits for have
 * arrived; a thread that is told no gives way (rt_give_way).
 *
 * Where not all threads of the block come to the loop, lining up would only part those that do from
 * the others: it is left out. The same where there is no loop around the question.
 *
 * A wait is *certain* if nothing but the phase ends it and the thread changes nothing meanwhile:
 * the loop stores nothing, calls nothing but clocks and sleeps, and its exits depend on the answer
 * and on what comes from before the loop. Threads need not sleep there. If all threads of a block
 * wait so the scheduler knows that none will go on.
 */
#include <string.h>

#include "translator/collapse/prepare.h"
#include "translator/module/declare.h"
#include "translator/module/sregs.h"

struct waits {
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_loops loops;
    struct tr_shapes shapes;
};

static bool is_question(LLVMValueRef inst)
{
    return strcmp(tr_callee_name(inst), "rt_mbarrier_ask") == 0 ||
           strcmp(tr_callee_name(inst), "rt_mbarrier_exists") == 0;
}

/* Whether the thread does nothing by it that anybody sees. */
static bool is_idle(const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMLoad:
        return !LLVMGetVolatile(value->llvm);
    case LLVMCall:
        switch (tr_placeholder_of(value->llvm)) {
        case RT_CALL_LINE_UP:
        case RT_CALL_GIVE_WAY:
        case RT_CALL_NANOSLEEP:
        case RT_CALL_SPIN:
        case RT_CALL_CLOCK:
        case RT_CALL_GLOBALTIMER:
        case RT_CALL_RACE_ACCESS:  /* checks are told of questions, too, … */
        case RT_CALL_RACE_ACQUIRE: /* … and of answers */
            return true;
        default:
            return is_question(value->llvm) || tr_sreg_of(value->llvm) != PTX_SREG_NONE ||
                   tr_effect_of_call(value->llvm) == RT_EFFECT_NONE;
        }
    case LLVMStore:
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return false;
    default:
        return true;
    }
}

static bool is_settled(const struct waits *waits, const struct tr_loop *loop, uint32_t v);

static uint32_t last_of(const struct waits *waits, uint32_t s)
{
    const struct tr_segment *segment = &waits->graph.segments[s];
    return segment->first_value + segment->value_count - 1;
}

/* Whether the way on which the phi is reached is settled: all branches are from the place where the
 * ways part. */
static bool is_choice_settled(const struct waits *waits, const struct tr_loop *loop, uint32_t s)
{
    uint32_t parting = waits->dominators.idom[s];
    if (waits->loops.innermost[s] == TR_NONE || s == loop->header || parting == TR_NONE ||
        &waits->loops.loops[waits->loops.innermost[s]] != loop)
        return false;
    for (uint32_t t = tr_set_next(&loop->segments, 0); t != TR_NONE;
         t = tr_set_next(&loop->segments, t + 1))
        if (t != s && waits->graph.segments[t].succ_count > 1 &&
            tr_dominates(&waits->dominators, parting, t) &&
            !tr_dominates(&waits->dominators, s, t) && !is_settled(waits, loop, last_of(waits, t)))
            return false;
    return true;
}

static bool is_settled_call(LLVMValueRef call)
{
    return is_question(call) || tr_is_pure_call(call) || tr_sregs[tr_sreg_of(call)].is_steady ||
           strncmp(tr_callee_name(call), "llvm.", 5) == 0;
}

/* Whether the value is the same in all iterations of the loop while mbarriers stay as they are. */
static bool is_settled(const struct waits *waits, const struct tr_loop *loop, uint32_t v)
{
    const struct tr_value *value = v == TR_NONE ? NULL : &waits->graph.values[v];
    if (value == NULL || value->segment == TR_NONE || !tr_set_has(&loop->segments, value->segment))
        return true;
    if (value->opcode == LLVMCall && !is_settled_call(value->llvm))
        return false;
    if (value->opcode == LLVMLoad && !tr_is_invariant_load(value->llvm))
        return false;
    if (value->opcode == LLVMPHI && !is_choice_settled(waits, loop, value->segment))
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!is_settled(waits, loop, value->operands[i]))
            return false;
    return true;
}

static bool is_certain(const struct waits *waits, const struct tr_loop *loop)
{
    const struct tr_graph *graph = &waits->graph;
    for (uint32_t s = tr_set_next(&loop->segments, 0); s != TR_NONE;
         s = tr_set_next(&loop->segments, s + 1)) {
        const struct tr_segment *segment = &graph->segments[s];
        bool leaves = false;
        for (uint32_t i = 0; i < segment->value_count; i++)
            if (!is_idle(&graph->values[segment->first_value + i]))
                return false;
        for (uint32_t i = 0; i < segment->succ_count; i++)
            leaves |= !tr_set_has(&loop->segments, segment->succs[i]);
        if (leaves && !is_settled(waits, loop, segment->first_value + segment->value_count - 1))
            return false;
    }
    return true;
}

static bool asks(const struct waits *waits, const struct tr_loop *loop)
{
    for (uint32_t v = 0; v < waits->graph.value_count; v++) {
        const struct tr_value *value = &waits->graph.values[v];
        if (value->segment != TR_NONE && tr_set_has(&loop->segments, value->segment) &&
            value->opcode == LLVMCall && is_question(value->llvm))
            return true;
    }
    return false;
}

/* Whether all threads of the block come to the loop, or none does. */
static bool comes_whole_block(const struct waits *waits, uint32_t loop)
{
    uint32_t before = waits->dominators.idom[waits->loops.loops[loop].header];
    return before != TR_NONE && waits->shapes.is_uniform_segment[before];
}

/* certain: by loop. */
static void settle(const struct waits *waits, const bool *certain, bool drops_line_ups)
{
    for (uint32_t v = 0; v < waits->graph.value_count; v++) {
        const struct tr_value *value = &waits->graph.values[v];
        if (value->opcode != LLVMCall || value->segment == TR_NONE)
            continue;
        uint32_t loop = waits->loops.innermost[value->segment];
        bool is_in_certain = loop != TR_NONE && certain[loop];
        enum rt_placeholder placeholder = tr_placeholder_of(value->llvm);
        if (placeholder == RT_CALL_GIVE_WAY && is_in_certain) {
            LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(value->llvm, 1));
            LLVMSetOperand(value->llvm, 1, LLVMConstInt(type, 1, false));
        }
        bool lines_up_in_vain = placeholder == RT_CALL_LINE_UP && drops_line_ups &&
                                (loop == TR_NONE || !comes_whole_block(waits, loop));
        if (lines_up_in_vain || (placeholder == RT_CALL_NANOSLEEP && is_in_certain))
            LLVMInstructionEraseFromParent(value->llvm);
    }
}

static enum pxr_status analyse(struct waits *waits, const struct tr_facts *facts,
                               struct pxr_error *err)
{
    struct tr_shape_facts known = tr_shape_facts_of(facts);
    enum pxr_status status = tr_dominators_build(&waits->graph, false, &waits->dominators, err);
    if (status == PXR_OK)
        status = tr_loops_build(&waits->graph, &waits->loops, err);
    if (status == PXR_OK)
        status = tr_shapes_build(&waits->graph, &waits->loops, TR_SCOPE_BLOCK, &known,
                                 &waits->shapes, err);
    return status;
}

enum pxr_status tr_find_mbarrier_waits(LLVMValueRef function, bool drops_line_ups,
                                       const struct tr_facts *facts, struct pxr_error *err)
{
    struct waits waits = {0};
    enum pxr_status status = tr_graph_build(&waits.graph, function, NULL, err);
    if (status != PXR_OK)
        return status;
    status = analyse(&waits, facts, err);
    bool *certain = NULL;
    if (status == PXR_OK) {
        certain = pxr_arena_alloc_array(&waits.graph.arena, waits.loops.count, sizeof *certain);
        if (certain == NULL)
            status = pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < waits.loops.count && status == PXR_OK; i++)
        certain[i] =
            asks(&waits, &waits.loops.loops[i]) && is_certain(&waits, &waits.loops.loops[i]);
    if (status == PXR_OK)
        settle(&waits, certain, drops_line_ups);
    tr_graph_fini(&waits.graph);
    return status;
}
