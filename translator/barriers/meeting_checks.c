/* SPDX-License-Identifier: Apache-2.0
 *
 * A check of a barrier for all threads finds nothing where all threads of the block come to it
 * equally often, and none ends before: in a segment that is uniform for the block, in a kernel in
 * which nothing divergent decides who ends. The same holds for operations of all lanes and their
 * warp. A shuffle reads from a lane that takes part if the warps are whole, too.
 */
#include "translator/barriers/meeting_checks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/analysis/analysis.h"
#include "translator/analysis/calls.h"
#include "translator/barriers/effects.h"
#include "translator/module/module_steps.h"

/* Kernels with more segments keep their checks. */
#define SEGMENTS_MAX 4096

static bool is_called(LLVMModuleRef module, enum rt_placeholder placeholder)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, rt_placeholders[placeholder].name);
    return function != NULL && LLVMGetFirstUse(function) != NULL;
}

bool tr_has_meeting_checks(LLVMModuleRef module)
{
    return is_called(module, RT_CALL_MEET_BARRIER) || is_called(module, RT_CALL_MEET_LANES) ||
           is_called(module, RT_CALL_MEET_SOURCE);
}

static bool is_number(LLVMValueRef value, uint64_t number)
{
    return LLVMIsAConstantInt(value) != NULL && LLVMConstIntGetZExtValue(value) == number;
}

/* ---- which checks, where all come ---- */

/* Its operands: thread, id, count. */
static bool is_for_block(LLVMValueRef inst, const struct tr_facts *facts)
{
    (void)facts;
    return tr_placeholder_of(inst) == RT_CALL_MEET_BARRIER &&
           LLVMIsAConstantInt(LLVMGetOperand(inst, 1)) != NULL &&
           is_number(LLVMGetOperand(inst, 2), 0);
}

static bool has_whole_warps(const struct tr_facts *facts)
{
    uint64_t threads = (uint64_t)facts->block[0] * facts->block[1] * facts->block[2];
    return threads > 0 && threads % 32 == 0;
}

static bool is_for_warp(LLVMValueRef inst, const struct tr_facts *facts)
{
    switch (tr_placeholder_of(inst)) {
    case RT_CALL_MEET_LANES:
        return is_number(LLVMGetOperand(inst, 1), UINT32_MAX);
    case RT_CALL_MEET_SOURCE:
        return is_number(LLVMGetOperand(inst, 4), UINT32_MAX) && has_whole_warps(facts);
    default:
        return false;
    }
}

/* ---- where all come ---- */

struct looking {
    struct tr_graph graph;
    struct tr_loops loops;
    struct tr_shapes shapes;
    const struct tr_facts *facts;
};

/* Whether some threads may end where others go on to a sync point. */
static bool decides_who_ends(const struct looking *l, uint32_t segment)
{
    const struct tr_segment *s = &l->graph.segments[segment];
    bool ends = false;
    bool goes_on = false;
    for (uint32_t i = 0; i < s->succ_count; i++) {
        bool is_last = l->shapes.is_last[s->succs[i]];
        ends |= is_last;
        goes_on |= !is_last;
    }
    return l->shapes.is_divergent[segment] && ends && goes_on;
}

static bool has_early_ends(const struct looking *l)
{
    for (uint32_t s = 0; s < l->graph.segment_count; s++)
        if (decides_who_ends(l, s))
            return true;
    return false;
}

static void drop_where_uniform(const struct looking *l,
                               bool (*is_right)(LLVMValueRef, const struct tr_facts *))
{
    for (uint32_t s = 0; s < l->graph.segment_count; s++) {
        const struct tr_segment *segment = &l->graph.segments[s];
        for (uint32_t i = 0; i < segment->value_count && l->shapes.is_uniform_segment[s]; i++) {
            LLVMValueRef inst = l->graph.values[segment->first_value + i].llvm;
            if (is_right(inst, l->facts))
                LLVMInstructionEraseFromParent(inst);
        }
    }
}

static enum pxr_status look(LLVMValueRef function, const struct tr_facts *facts,
                            enum tr_scope scope, bool (*is_sync_point)(LLVMValueRef),
                            bool (*is_right)(LLVMValueRef, const struct tr_facts *),
                            struct pxr_error *err)
{
    struct looking l = {.facts = facts};
    struct tr_shape_facts known = tr_shape_facts_of(facts);
    enum pxr_status status = tr_graph_build(&l.graph, function, is_sync_point, err);
    if (status != PXR_OK)
        return status;
    if (l.graph.segment_count <= SEGMENTS_MAX) {
        status = tr_loops_build(&l.graph, &l.loops, err);
        if (status == PXR_OK)
            status = tr_shapes_build(&l.graph, &l.loops, scope, &known, &l.shapes, err);
        if (status == PXR_OK && !has_early_ends(&l))
            drop_where_uniform(&l, is_right);
    }
    tr_graph_fini(&l.graph);
    return status;
}

/* ---- all together ---- */

static void drop_ends(LLVMModuleRef module)
{
    LLVMValueRef end = LLVMGetNamedFunction(module, rt_placeholders[RT_CALL_MEET_END].name);
    while (end != NULL && LLVMGetFirstUse(end) != NULL)
        LLVMInstructionEraseFromParent(LLVMGetUser(LLVMGetFirstUse(end)));
}

enum pxr_status tr_drop_meeting_checks(LLVMModuleRef module, const struct tr_facts *facts,
                                       struct pxr_error *err)
{
    static const struct tr_facts none;
    LLVMValueRef function = LLVMGetNamedFunction(module, TR_KERNEL_NAME);
    if (facts == NULL)
        facts = &none;
    enum pxr_status status =
        look(function, facts, TR_SCOPE_BLOCK, tr_is_whole_block, is_for_block, err);
    if (status == PXR_OK)
        status = look(function, facts, TR_SCOPE_WARP, tr_is_sync_point, is_for_warp, err);
    if (status == PXR_OK && !tr_has_meeting_checks(module))
        drop_ends(module);
    return status;
}
