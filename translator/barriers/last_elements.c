/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that have no element of their own often take the last one, so that all threads come to
 * shuffles and barriers: i = min(i, n - 1). Where elements are changed in place, several threads
 * change the last one. On a GPU the threads of a block begin together, and all of them have read it
 * long before the first one stores. In loops over threads, and thread by thread, the second would
 * change once more what the first has stored.
 *
 * So where all threads of a block load at an address that is made of such a number, and store at
 * the same address with no barrier between, the block meets behind the load.
 */
#include "translator/barriers/last_elements.h"

#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/analysis.h"
#include "translator/barriers/effects.h"
#include "translator/module/declare.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* Kernels with more segments are left alone. */
#define SEGMENTS_MAX 4096

/* Of how many operations an address is made at most of the number of the element. */
#define ADDRESS_DEPTH_MAX 12

struct last_elements {
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_loops loops;
    struct tr_shapes shapes;
};

/* ---- addresses ---- */

static bool is_choice(LLVMValueRef value)
{
    return tr_is_opcode(value, LLVMSelect) || tr_calls_intrinsic(value, "llvm.smin") ||
           tr_calls_intrinsic(value, "llvm.umin");
}

static bool makes_address(LLVMValueRef value)
{
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMOr:
    case LLVMMul:
    case LLVMShl:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMIntToPtr:
    case LLVMGetElementPtr:
        return true;
    default:
        return false;
    }
}

/* The choice of a number that the address is made of; NULL: none. */
static LLVMValueRef choice_in(LLVMValueRef value, int depth)
{
    if (LLVMIsAInstruction(value) == NULL || depth == 0)
        return NULL;
    if (is_choice(value))
        return value;
    LLVMValueRef choice = NULL;
    for (int i = 0; makes_address(value) && choice == NULL && i < LLVMGetNumOperands(value); i++)
        choice = choice_in(LLVMGetOperand(value, (unsigned)i), depth - 1);
    return choice;
}

static bool is_plain(LLVMValueRef access)
{
    return !LLVMGetVolatile(access) && LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic;
}

/* A store at the address of this load; NULL: none. */
static LLVMValueRef store_back(LLVMValueRef load)
{
    LLVMValueRef pointer = LLVMGetOperand(load, 0);
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (tr_is_opcode(user, LLVMStore) && LLVMGetOperand(user, 1) == pointer && is_plain(user))
            return user;
    }
    return NULL;
}

static bool is_candidate(LLVMValueRef inst)
{
    return tr_is_opcode(inst, LLVMLoad) && is_plain(inst) &&
           LLVMIsAInstruction(LLVMGetOperand(inst, 0)) != NULL && store_back(inst) != NULL &&
           choice_in(LLVMGetOperand(inst, 0), ADDRESS_DEPTH_MAX) != NULL;
}

static bool has_candidates(LLVMValueRef function)
{
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (is_candidate(inst))
            return true;
    return false;
}

/* ---- threads ---- */

static bool is_common(const struct last_elements *e, LLVMValueRef value)
{
    uint32_t v = tr_graph_number(&e->graph, value);
    return v == TR_NONE || e->shapes.values[v].kind == TR_UNIFORM;
}

/* Whether each thread has a number of its own, or one that all have in common. */
static bool limits(const struct last_elements *e, LLVMValueRef choice)
{
    unsigned first = tr_is_opcode(choice, LLVMSelect) ? 1 : 0;
    return is_common(e, LLVMGetOperand(choice, first)) !=
           is_common(e, LLVMGetOperand(choice, first + 1));
}

static uint32_t segment_of(const struct last_elements *e, LLVMValueRef inst)
{
    uint32_t v = tr_graph_number(&e->graph, inst);
    return v == TR_NONE ? TR_NONE : e->graph.values[v].segment;
}

/* Barriers end segments. Where the two are not in one, only a barrier that all ways lead through
 * could come between. */
static bool comes_before(const struct last_elements *e, LLVMValueRef load, LLVMValueRef store)
{
    uint32_t from = segment_of(e, load), to = segment_of(e, store);
    if (from == to)
        return tr_graph_number(&e->graph, load) < tr_graph_number(&e->graph, store);
    if (!tr_dominates(&e->dominators, from, to))
        return false;
    for (uint32_t s = 0; s < e->graph.segment_count; s++)
        if (e->graph.segments[s].is_sync_point && tr_dominates(&e->dominators, from, s) &&
            tr_dominates(&e->dominators, s, to))
            return false;
    return true;
}

static bool all_come(const struct last_elements *e, uint32_t segment)
{
    return segment != TR_NONE && e->shapes.is_uniform_segment[segment] &&
           e->loops.innermost[segment] == TR_NONE;
}

static bool is_changed_by_others(const struct last_elements *e, LLVMValueRef load)
{
    return is_candidate(load) && all_come(e, segment_of(e, load)) &&
           limits(e, choice_in(LLVMGetOperand(load, 0), ADDRESS_DEPTH_MAX)) &&
           comes_before(e, load, store_back(load));
}

/* ---- all together ---- */

static void meet_behind(const struct last_elements *e, LLVMBuilderRef builder, LLVMValueRef load)
{
    LLVMModuleRef module = LLVMGetGlobalParent(e->graph.function);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    LLVMValueRef barrier = tr_declare_placeholder(module, RT_CALL_BAR_SYNC);
    LLVMValueRef zero = LLVMConstNull(i32);
    LLVMValueRef args[3] = {LLVMGetParam(e->graph.function, 0), zero, zero};
    LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(load));
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(load));
    LLVMBuildCall2(builder, LLVMGlobalGetValueType(barrier), barrier, args, 3, "");
}

/* One barrier behind the loads of a segment that come before its first store. */
static void meet(const struct last_elements *e)
{
    LLVMBuilderRef builder =
        LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(e->graph.function)));
    for (uint32_t s = 0; s < e->graph.segment_count; s++) {
        const struct tr_segment *segment = &e->graph.segments[s];
        LLVMValueRef last = NULL;
        for (uint32_t i = 0; i < segment->value_count; i++) {
            LLVMValueRef inst = e->graph.values[segment->first_value + i].llvm;
            if (tr_is_opcode(inst, LLVMStore))
                break;
            last = is_changed_by_others(e, inst) ? inst : last;
        }
        if (last != NULL)
            meet_behind(e, builder, last);
    }
    LLVMDisposeBuilder(builder);
}

static enum pxr_status analyse(struct last_elements *e, const struct tr_facts *facts,
                               struct pxr_error *err)
{
    /* Whatever threads load from one place together is the same in all of them: how many elements
     * there are comes from memory at times. */
    struct tr_shape_facts known = {0};
    if (facts != NULL)
        known = tr_shape_facts_of(facts);
    known.is_race_free = true;
    enum pxr_status status = tr_dominators_build(&e->graph, false, &e->dominators, err);
    if (status == PXR_OK)
        status = tr_loops_build(&e->graph, &e->loops, err);
    if (status == PXR_OK)
        status = tr_shapes_build(&e->graph, &e->loops, TR_SCOPE_BLOCK, &known, &e->shapes, err);
    return status;
}

enum pxr_status tr_share_last_elements(LLVMModuleRef module, const struct tr_facts *facts,
                                       struct pxr_error *err)
{
    struct last_elements e = {0};
    LLVMValueRef function = LLVMGetNamedFunction(module, TR_KERNEL_NAME);
    if (!has_candidates(function))
        return PXR_OK;
    enum pxr_status status = tr_graph_build(&e.graph, function, tr_is_whole_block, err);
    if (status != PXR_OK)
        return status;
    if (e.graph.segment_count <= SEGMENTS_MAX) {
        status = analyse(&e, facts, err);
        if (status == PXR_OK)
            meet(&e);
    }
    tr_graph_fini(&e.graph);
    return status;
}
