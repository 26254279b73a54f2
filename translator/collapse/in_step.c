/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps lanes in step in programs that wait (they have polls that stay). These are written for
 * warps whose lanes go on together: lane 0 takes a lock, each lane stores its word, lane 1 gives
 * the lock back. A machine reunites lanes that have parted where their paths meet, and lanes that
 * are together make an access together. That matters at accesses that release other threads or
 * wait for them: strong ones (atomic, volatile) and fences. So lanes gather (rt_warp_converge)
 *  - before a fence, an atomic operation and a strong store: all lanes have done what comes before,
 *  - where paths meet of which one has a strong access, or a loop that waits: no lane goes past.
 * Such a place moves up to the access before it, through branches, too: all lanes come there. It
 * moves out of code that only one lane of the warp executes: that lane waits for nobody in there.
 * Nothing is added where a program does not wait, nor in the very loop that waits, unless all lanes
 * meet in each of its turns: there lanes go different ways for good.
 *
 * If waiting lanes come to the place next in any case, a machine would reunite the paths between
 * the two; then the lanes that are there first wait for those that poll, too.
 *
 * Who waits for a phase of an mbarrier waits, too, but such programs say themselves what comes
 * before what: by arrivals. Only where some lanes arrive for all of the warp do the others have to
 * have done what comes before: lanes gather before an arrival that not all lanes of the warp make,
 * if it comes after a wait and nothing between the two brings all lanes together.
 */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "kernel_abi/rt.h"
#include "translator/collapse/prepare.h"
#include "translator/module/declare.h"
#include "translator/module/sregs.h"

struct in_step {
    struct tr_graph *graph;
    const struct tr_loops *loops;
    const struct tr_dominators *dominators;
    struct tr_shapes shapes;
    bool is_row;                   /* a warp is in one row of the block, or meant to be */
    struct tr_dominators meetings; /* post-dominators on all ways that do not fault */
    const bool *is_needed;         /* by value: a poll that stays */
    bool has_polls;
    struct tr_set meeting;     /* segments in which all lanes of the warp meet */
    struct tr_set polled;      /* loops that wait */
    struct tr_set around;      /* segments to which a loop's header leads without a meeting */
    struct tr_set waiting;     /* segments of loops that wait and where lanes need not meet */
    struct tr_set follows;     /* segments that threads which poll come to next */
    struct tr_set climbed;     /* segments from which meetings have been searched */
    struct tr_set after_phase; /* segments to which a wait for a phase leads without a meeting */
    struct tr_set places;      /* values before which lanes gather */
    LLVMBuilderRef builder;
    LLVMValueRef thread;
    uint32_t count;
};

/* ---- what an instruction is ---- */

enum access {
    ACCESS_NONE,
    ACCESS_WEAK,
    ACCESS_STRONG_LOAD,
    ACCESS_STRONG, /* others may be released by it, or see it */
    ACCESS_FENCE,
    ACCESS_MEETING /* all lanes of the warp come together there */
};

static bool is_strong(LLVMValueRef inst)
{
    return LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
}

/* Half of an atomic operation on shared memory, which only one worker accesses: a load and a store,
 * volatile but not atomic (those of PTX are both). Nothing may come between the two. */
static bool is_half_of_atomic(LLVMValueRef inst)
{
    return LLVMGetVolatile(inst) && !is_strong(inst);
}

/* A register that stays in memory, in kernels compiled without passes. */
static bool is_register(const struct tr_value *value, unsigned pointer)
{
    return LLVMIsAAllocaInst(LLVMGetOperand(value->llvm, pointer)) != NULL;
}

/* The member mask is the last operand of the operations that have one. */
static bool is_for_all_lanes(LLVMValueRef call)
{
    LLVMValueRef mask = LLVMGetOperand(call, LLVMGetNumArgOperands(call) - 1);
    return LLVMIsAConstantInt(mask) != NULL &&
           (uint32_t)LLVMConstIntGetZExtValue(mask) == UINT32_MAX;
}

/* Whether it is there for a check of what comes behind it. Lanes gather in the same places with
 * checks as without. */
static bool is_check_in_front(LLVMValueRef call)
{
    enum rt_placeholder placeholder = tr_placeholder_of(call);
    return placeholder == RT_CALL_CHECK || placeholder == RT_CALL_MARK ||
           placeholder == RT_CALL_RACE_ACCESS || placeholder == RT_CALL_RACE_RELEASE ||
           strcmp(tr_callee_name(call), "rt_mbarrier_exists") == 0;
}

static enum access access_of_call(LLVMValueRef call)
{
    const char *name = tr_callee_name(call);
    enum rt_placeholder placeholder = tr_placeholder_of(call);
    if (placeholder == RT_CALL_BAR_SYNC || placeholder == RT_CALL_BAR_RED)
        return ACCESS_MEETING;
    if (tr_is_sync_point(call) && is_for_all_lanes(call))
        return ACCESS_MEETING;
    bool is_no_access = tr_sreg_of(call) != PTX_SREG_NONE || placeholder == RT_CALL_SPIN ||
                        placeholder == RT_CALL_LINE_UP || placeholder == RT_CALL_GIVE_WAY ||
                        placeholder == RT_CALL_FAULT || is_check_in_front(call) ||
                        (strncmp(name, "llvm.", 5) == 0 && strncmp(name, "llvm.mem", 8) != 0);
    return is_no_access ? ACCESS_NONE : ACCESS_WEAK;
}

static enum access access_of(const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMFence:
        return ACCESS_FENCE;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return ACCESS_STRONG;
    case LLVMStore:
        if (is_strong(value->llvm))
            return ACCESS_STRONG;
        return is_register(value, 1) ? ACCESS_NONE : ACCESS_WEAK;
    case LLVMLoad:
        if (is_strong(value->llvm))
            return ACCESS_STRONG_LOAD;
        if (is_half_of_atomic(value->llvm))
            return ACCESS_STRONG;
        return is_register(value, 0) || tr_is_invariant_load(value->llvm) ? ACCESS_NONE
                                                                          : ACCESS_WEAK;
    case LLVMCall:
        return access_of_call(value->llvm);
    default:
        return ACCESS_NONE;
    }
}

static bool exits(const struct tr_value *value)
{
    return value->opcode == LLVMRet || tr_placeholder_of(value->llvm) == RT_CALL_EXIT;
}

/* An arrival at an mbarrier, or bytes that it counts. */
static bool is_arrival(LLVMValueRef inst)
{
    const char *name = tr_callee_name(inst);
    return strcmp(name, "rt_mbarrier_update") == 0 || strcmp(name, "rt_bulk_multicast") == 0;
}

static bool is_phase_wait(const struct tr_value *value)
{
    return tr_placeholder_of(value->llvm) == RT_CALL_GIVE_WAY;
}

/* ---- what is known of segments ---- */

static enum pxr_status find_meetings(struct in_step *lanes, struct pxr_error *err)
{
    const struct tr_graph *graph = lanes->graph;
    struct tr_set ends = tr_set_make(&lanes->graph->arena, graph->segment_count);
    if (ends.words == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].segment != TR_NONE && exits(&graph->values[v]))
            tr_set_add(&ends, graph->values[v].segment);
    if (tr_set_count(&ends) == 0)
        return tr_dominators_build(lanes->graph, true, &lanes->meetings, err);
    return tr_post_dominators_to_ends(lanes->graph, &ends, &lanes->meetings, err);
}

static enum pxr_status find_shapes(struct in_step *lanes, const struct tr_facts *facts,
                                   struct pxr_error *err)
{
    struct tr_shape_facts known = tr_shape_facts_of(facts);
    for (int i = 1; i < 3 && lanes->is_row; i++)
        known.block[i] = known.block[i] == 0 ? 1 : known.block[i];
    return tr_shapes_build(lanes->graph, lanes->loops, TR_SCOPE_WARP, &known, &lanes->shapes, err);
}

/* Whether the program knows of no rows: it is for blocks of one. In others its lanes could not tell
 * themselves from each other. */
static bool knows_no_rows(const struct tr_graph *graph)
{
    for (uint32_t v = 0; v < graph->value_count; v++) {
        enum ptx_sreg sreg = tr_sreg_of(graph->values[v].llvm);
        if (sreg == PTX_SREG_TID_Y || sreg == PTX_SREG_TID_Z)
            return false;
    }
    return true;
}

/* The innermost loop of a poll that stays; TR_NONE: the value is no such poll. */
static uint32_t waiting_loop(const struct in_step *lanes, uint32_t v)
{
    return lanes->is_needed[v] ? lanes->loops->innermost[lanes->graph->values[v].segment] : TR_NONE;
}

/* The same for a wait for a phase. */
static uint32_t phase_loop(const struct in_step *lanes, uint32_t v)
{
    const struct tr_value *value = &lanes->graph->values[v];
    return value->segment != TR_NONE && is_phase_wait(value)
               ? lanes->loops->innermost[value->segment]
               : TR_NONE;
}

static void find_meeting_segments(struct in_step *lanes)
{
    const struct tr_graph *graph = lanes->graph;
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].segment != TR_NONE && access_of(&graph->values[v]) == ACCESS_MEETING)
            tr_set_add(&lanes->meeting, graph->values[v].segment);
}

/* Adds the segments of the loop to which `from` leads without a meeting; true: one is its header.
 */
static bool go_on(struct in_step *lanes, const struct tr_loop *loop, uint32_t from)
{
    const struct tr_segment *segment = &lanes->graph->segments[from];
    for (uint32_t i = 0; i < segment->succ_count; i++) {
        uint32_t to = segment->succs[i];
        if (to == loop->header)
            return true;
        if (tr_set_has(&loop->segments, to) && !tr_set_has(&lanes->meeting, to))
            tr_set_add(&lanes->around, to);
    }
    return false;
}

/* Whether all ways around the loop lead through a place where all lanes of the warp meet. */
static bool meets_each_turn(struct in_step *lanes, const struct tr_loop *loop)
{
    if (tr_set_has(&lanes->meeting, loop->header))
        return true;
    memset(lanes->around.words, 0, lanes->around.word_count * sizeof *lanes->around.words);
    tr_set_add(&lanes->around, loop->header);
    for (uint32_t before = 0, count = 1; count != before; count = tr_set_count(&lanes->around)) {
        before = count;
        for (uint32_t s = tr_set_next(&lanes->around, 0); s != TR_NONE;
             s = tr_set_next(&lanes->around, s + 1))
            if (go_on(lanes, loop, s))
                return false;
    }
    return true;
}

/* Adds to after_phase what its segments lead to without a meeting. */
static void spread(struct in_step *lanes)
{
    struct tr_set *after = &lanes->after_phase;
    for (uint32_t before = 0, count = tr_set_count(after); count != before;
         count = tr_set_count(after)) {
        before = count;
        for (uint32_t s = tr_set_next(after, 0); s != TR_NONE; s = tr_set_next(after, s + 1)) {
            const struct tr_segment *segment = &lanes->graph->segments[s];
            for (uint32_t i = 0; i < segment->succ_count && !tr_set_has(&lanes->meeting, s); i++)
                tr_set_add(after, segment->succs[i]);
        }
    }
}

static void find_waiting(struct in_step *lanes)
{
    const struct tr_graph *graph = lanes->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        uint32_t phase = phase_loop(lanes, v);
        uint32_t loop = phase != TR_NONE ? phase : waiting_loop(lanes, v);
        if (loop == TR_NONE)
            continue;
        tr_set_add(&lanes->polled, loop);
        uint32_t s = graph->values[v].segment;
        if (phase != TR_NONE)
            tr_set_add(&lanes->after_phase, s);
        for (; s != TR_NONE && !tr_set_has(&lanes->follows, s); s = lanes->meetings.idom[s])
            tr_set_add(&lanes->follows, s);
    }
    spread(lanes);
    for (uint32_t i = tr_set_next(&lanes->polled, 0); i != TR_NONE;
         i = tr_set_next(&lanes->polled, i + 1))
        if (!meets_each_turn(lanes, &lanes->loops->loops[i]))
            tr_set_merge(&lanes->waiting, &lanes->loops->loops[i].segments);
}

/* ---- places ---- */

static uint32_t first_of(const struct tr_graph *graph, uint32_t s)
{
    uint32_t v = graph->segments[s].first_value;
    while (graph->values[v].opcode == LLVMPHI)
        v++;
    return v;
}

/* What the comparison sees of its operand. */
static struct tr_shape shape_of(const struct in_step *lanes, const struct tr_value *comparison,
                                uint32_t i)
{
    uint32_t operand = comparison->operands[i];
    return operand == TR_NONE ? (struct tr_shape){.kind = TR_UNIFORM}
                              : tr_shape_at(lanes->graph, lanes->loops, &lanes->shapes, operand,
                                            comparison->segment);
}

/* Whether it is the lane, made of tid.x by a mask. */
static bool is_masked_lane(const struct in_step *lanes, LLVMValueRef value)
{
    if (LLVMIsAInstruction(value) == NULL || LLVMGetInstructionOpcode(value) != LLVMAnd)
        return false;
    uint32_t masked = tr_graph_number(lanes->graph, LLVMGetOperand(value, 0));
    LLVMValueRef mask = LLVMIsAConstantInt(LLVMGetOperand(value, 1));
    return mask != NULL && masked != TR_NONE && lanes->shapes.is_lane_number[masked] &&
           LLVMConstIntGetZExtValue(mask) % RT_WARP_SIZE == RT_WARP_SIZE - 1;
}

/* Whether the operand is different in all lanes of the warp. */
static bool tells_lanes_apart(const struct in_step *lanes, const struct tr_value *comparison,
                              uint32_t i)
{
    LLVMValueRef operand = LLVMGetOperand(comparison->llvm, i);
    struct tr_shape shape = shape_of(lanes, comparison, i);
    if (LLVMGetTypeKind(LLVMTypeOf(operand)) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(LLVMTypeOf(operand)) > 64)
        return false;
    unsigned unused_bits = 64 - LLVMGetIntTypeWidth(LLVMTypeOf(operand));
    bool is_apart = shape.kind == TR_AFFINE;
    for (uint64_t lane = 1; lane < RT_WARP_SIZE && is_apart; lane++)
        is_apart = (uint64_t)shape.stride * lane << unused_bits != 0;
    return is_apart || is_masked_lane(lanes, operand);
}

/* Whether the comparison is one of a number that is different in all lanes of the warp with one
 * that they share. */
static bool compares_lane(const struct in_step *lanes, const struct tr_value *comparison)
{
    for (uint32_t i = 0; i < 2; i++)
        if (shape_of(lanes, comparison, i).kind == TR_UNIFORM &&
            tells_lanes_apart(lanes, comparison, 1 - i))
            return true;
    return false;
}

/* The segment to which at most one lane of the warp goes from the end of s; TR_NONE: none. */
static uint32_t one_lane_way(const struct in_step *lanes, uint32_t s)
{
    const struct tr_segment *segment = &lanes->graph->segments[s];
    const struct tr_value *branch =
        &lanes->graph->values[segment->first_value + segment->value_count - 1];
    if (!lanes->is_row || branch->opcode != LLVMBr || segment->succ_count != 2 ||
        branch->operands[0] == TR_NONE)
        return TR_NONE;
    const struct tr_value *condition = &lanes->graph->values[branch->operands[0]];
    if (condition->opcode != LLVMICmp || !compares_lane(lanes, condition))
        return TR_NONE;
    switch (LLVMGetICmpPredicate(condition->llvm)) {
    case LLVMIntEQ:
        return segment->succs[0];
    case LLVMIntNE:
        return segment->succs[1];
    default:
        return TR_NONE;
    }
}

/* The segment whose branch only one lane of the warp takes to come to s; TR_NONE: there is none. */
static uint32_t one_lane_branch(const struct in_step *lanes, uint32_t s)
{
    const struct tr_graph *graph = lanes->graph;
    for (uint32_t from; (from = lanes->dominators->idom[s]) != TR_NONE; s = from)
        if (graph->segments[s].pred_count == 1 && one_lane_way(lanes, from) == s)
            return tr_set_has(&lanes->waiting, from) ? TR_NONE : from;
    return TR_NONE;
}

static uint32_t end_of(const struct tr_graph *graph, uint32_t s)
{
    return graph->segments[s].first_value + graph->segments[s].value_count - 1;
}

/* The segment that control comes from, if there is only one and no lanes part there for good;
 * TR_NONE: there is none. */
static uint32_t only_way_to(const struct in_step *lanes, uint32_t s)
{
    const struct tr_segment *segment = &lanes->graph->segments[s];
    bool has_one = segment->pred_count == 1 && !tr_set_has(&lanes->waiting, segment->preds[0]);
    return has_one ? segment->preds[0] : TR_NONE;
}

/* Atomic operations of floats are a load and a loop of attempts with what has been found last, all
 * in one segment: the load, if s is such a loop; TR_NONE: it is not. */
static uint32_t load_of_attempts(const struct in_step *lanes, uint32_t s)
{
    const struct tr_graph *graph = lanes->graph;
    const struct tr_segment *segment = &graph->segments[s];
    const struct tr_value *found = &graph->values[segment->first_value];
    if (segment->pred_count != 2 || found->opcode != LLVMPHI || tr_set_has(&lanes->waiting, s))
        return TR_NONE;
    uint32_t before = segment->preds[segment->preds[0] == s];
    uint32_t load = TR_NONE;
    bool is_attempted = false;
    for (uint32_t i = 0; i < found->operand_count; i++) {
        uint32_t v = found->operands[i];
        bool is_load = v != TR_NONE && graph->values[v].opcode == LLVMLoad;
        if (is_load && is_strong(graph->values[v].llvm) && graph->values[v].segment == before)
            load = v;
        is_attempted |= v != TR_NONE && graph->values[v].opcode == LLVMExtractValue &&
                        graph->values[v].segment == s;
    }
    return is_attempted ? load : TR_NONE;
}

/* Makes lanes gather before v, but behind the access before it, and before all that a single lane
 * does. There is no need where all lanes have just met. */
static void gather_before(struct in_step *lanes, uint32_t v)
{
    const struct tr_graph *graph = lanes->graph;
    uint32_t s = graph->values[v].segment;
    uint32_t branch = one_lane_branch(lanes, s);
    if (branch != TR_NONE) {
        s = branch;
        v = end_of(graph, s);
    }
    for (;;) {
        uint32_t first = first_of(graph, s);
        for (; v > first; v--) {
            enum access before = access_of(&graph->values[v - 1]);
            if (before == ACCESS_MEETING || before == ACCESS_FENCE)
                return;
            if (before != ACCESS_NONE) {
                tr_set_add(&lanes->places, v);
                return;
            }
        }
        uint32_t load = load_of_attempts(lanes, s);
        uint32_t from = load != TR_NONE ? graph->values[load].segment : only_way_to(lanes, s);
        if (from == TR_NONE)
            break;
        s = from;
        v = load != TR_NONE ? load : end_of(graph, s);
    }
    if (s != 0) /* at the program's beginning nothing has been done */
        tr_set_add(&lanes->places, v);
}

/* Makes lanes gather at the beginning of a segment, unless they meet or end anyway before they do
 * anything. */
static void gather_at(struct in_step *lanes, uint32_t s)
{
    const struct tr_graph *graph = lanes->graph;
    if (tr_set_has(&lanes->waiting, s))
        return;
    uint32_t end = graph->segments[s].first_value + graph->segments[s].value_count;
    for (uint32_t v = first_of(graph, s); v < end; v++) {
        enum access access = access_of(&graph->values[v]);
        if (access == ACCESS_MEETING || exits(&graph->values[v]))
            return;
        if (access != ACCESS_NONE)
            break;
    }
    tr_set_add(&lanes->places, first_of(graph, s));
}

/* Makes lanes that come to the segment gather with those that have gone around it. */
static void gather_behind(struct in_step *lanes, uint32_t s)
{
    const struct tr_dominators *meetings = &lanes->meetings;
    while (s != TR_NONE && !tr_set_has(&lanes->climbed, s)) {
        uint32_t branch = lanes->dominators->idom[s];
        tr_set_add(&lanes->climbed, s);
        if (branch != TR_NONE && !tr_dominates(meetings, s, branch) &&
            meetings->idom[branch] != TR_NONE)
            gather_at(lanes, meetings->idom[branch]);
        s = branch;
    }
}

/* Lanes leave a loop that waits one by one: makes them gather behind it. */
static void gather_behind_loop(struct in_step *lanes, const struct tr_loop *loop)
{
    uint32_t s = loop->header;
    while (s != TR_NONE && tr_set_has(&loop->segments, s))
        s = lanes->meetings.idom[s];
    if (s != TR_NONE)
        gather_at(lanes, s);
    gather_behind(lanes, loop->header);
}

/* Whether some lanes of the warp arrive for others, which may still wait for a phase before. */
static bool is_early_arrival(const struct in_step *lanes, const struct tr_value *value)
{
    return value->segment != TR_NONE && tr_set_has(&lanes->after_phase, value->segment) &&
           !lanes->shapes.is_uniform_segment[value->segment] && is_arrival(value->llvm);
}

/* Without polls only arrivals at mbarriers matter. */
static void find_places(struct in_step *lanes)
{
    const struct tr_graph *graph = lanes->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        if (is_early_arrival(lanes, value))
            gather_before(lanes, v);
        if (!lanes->has_polls)
            continue;
        if (waiting_loop(lanes, v) != TR_NONE)
            gather_behind_loop(lanes, &lanes->loops->loops[waiting_loop(lanes, v)]);
        if (value->segment == TR_NONE || tr_set_has(&lanes->waiting, value->segment))
            continue;
        enum access access = access_of(value);
        if (access == ACCESS_STRONG || access == ACCESS_FENCE)
            gather_before(lanes, v);
        if (access == ACCESS_STRONG || access == ACCESS_STRONG_LOAD)
            gather_behind(lanes, value->segment);
    }
}

/* ---- the program ---- */

static void build_gathering(struct in_step *lanes, uint32_t place)
{
    const struct tr_value *value = &lanes->graph->values[place];
    LLVMModuleRef module = LLVMGetGlobalParent(lanes->graph->function);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    LLVMValueRef function = tr_declare_placeholder(module, RT_CALL_WARP_CONVERGE);
    uint32_t site = RT_SITE_IN_STEP | lanes->count++;
    if (tr_set_has(&lanes->follows, value->segment) ||
        tr_set_has(&lanes->after_phase, value->segment))
        site |= RT_SITE_PATIENT;
    LLVMValueRef args[2] = {lanes->thread, LLVMConstInt(i32, site, false)};
    LLVMPositionBuilderBefore(lanes->builder, value->llvm);
    LLVMSetCurrentDebugLocation2(lanes->builder, LLVMInstructionGetDebugLoc(value->llvm));
    LLVMBuildCall2(lanes->builder, LLVMGlobalGetValueType(function), function, args, 2, "");
    LLVMBuildFence(lanes->builder, LLVMAtomicOrderingAcquireRelease, false, "");
}

static void build_gatherings(struct in_step *lanes)
{
    lanes->builder = LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(lanes->thread)));
    for (uint32_t v = tr_set_next(&lanes->places, 0); v != TR_NONE;
         v = tr_set_next(&lanes->places, v + 1))
        build_gathering(lanes, v);
    LLVMDisposeBuilder(lanes->builder);
}

static bool make_sets(struct in_step *lanes)
{
    struct pxr_arena *arena = &lanes->graph->arena;
    uint32_t segments = lanes->graph->segment_count;
    lanes->meeting = tr_set_make(arena, segments);
    lanes->polled = tr_set_make(arena, lanes->loops->count);
    lanes->around = tr_set_make(arena, segments);
    lanes->waiting = tr_set_make(arena, segments);
    lanes->follows = tr_set_make(arena, segments);
    lanes->climbed = tr_set_make(arena, segments);
    lanes->after_phase = tr_set_make(arena, segments);
    lanes->places = tr_set_make(arena, lanes->graph->value_count);
    return lanes->meeting.words && lanes->polled.words && lanes->around.words &&
           lanes->waiting.words && lanes->follows.words && lanes->climbed.words &&
           lanes->places.words;
}

enum pxr_status tr_gather_lanes(struct tr_graph *graph, const struct tr_dominators *dominators,
                                const struct tr_loops *loops, const bool *is_needed, bool has_polls,
                                LLVMValueRef thread, const struct tr_facts *facts,
                                struct pxr_error *err)
{
    struct in_step lanes = {.graph = graph,
                            .loops = loops,
                            .dominators = dominators,
                            .is_needed = is_needed,
                            .has_polls = has_polls,
                            .is_row = tr_is_row_scope(TR_SCOPE_WARP, facts) || knows_no_rows(graph),
                            .thread = thread};
    if (!make_sets(&lanes))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    enum pxr_status status = find_meetings(&lanes, err);
    if (status == PXR_OK)
        status = find_shapes(&lanes, facts, err);
    if (status != PXR_OK)
        return status;
    find_meeting_segments(&lanes);
    find_waiting(&lanes);
    find_places(&lanes);
    build_gatherings(&lanes);
    return PXR_OK;
}
