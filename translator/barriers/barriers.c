/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers that order nothing go. Only barriers for the whole block are touched, and only in
 * kernels in which all threads come to the same barriers in the same order, as long as they come to
 * any.
 *
 * What a barrier means. A barrier X orders what any thread did before X before what any thread does
 * after it. For race-free programs only pairs of accesses matter that conflict: made by different
 * threads, to the same memory, at least one of them a write. (Within one thread the order of the
 * program stays.) Exits count as arrivals, so what a thread did before it ended is ordered too.
 *
 * Rule 1, removal. Let before(X) be the accesses from which X can be reached without another
 * barrier in between, and after(X) those that can be reached from X in the same way; paths that
 * come back to X go on through it, since it is about to be no barrier. If no access of before(X)
 * conflicts with one of after(X), X orders nothing: a pair (a, b) that it ordered and that
 * conflicts has another barrier Y between a and X or between X and b. All threads come to the same
 * sequence of barriers, so Y is one of all of them, and orders the pair without X. Threads that
 * leave this sequence because they come to no barrier any more count as well: what they still do,
 * before(X) contains. Removing a barrier only makes the sets of the others larger: one that had to
 * stay has to stay, and one look at each of them is enough, as long as each look sees what has been
 * removed before.
 *
 * Rule 2, merging, is rule 1 where one of the sets is empty because there is another barrier on all
 * ways there. Which of the barriers' numbers is kept does not matter: in kernels where a barrier is
 * for some threads only, or where a thread arrives without waiting, nothing is done at all.
 *
 * Rule 3, forwarding. A load L gets the value of a store S, which dominates it, if (1) both name
 * the same bytes: S's address is made of values that dominate S, and a path from one such
 * definition to L leads through S again, so the values that L's address is made of are those that
 * S's was made of; (2) on no path from S to L that does not come to S again does the thread write
 * to these bytes; (3) no write of the kernel, made by another thread of the block at whatever time,
 * can meet them. For that an address must be a sum of values that are the same in all threads at
 * all times, and of %tid with strides that keep the threads' bytes apart. So whatever barriers
 * there are, the bytes hold what the thread stored. Other blocks: without anything that orders
 * blocks (a "wall" of effects.h) in the kernel, a write of theirs would be a race; with it only
 * shared memory, which no other block sees, is considered. What barriers are removed does not
 * depend on it: bytes that no other thread writes make no conflict with the thread's loads.
 *
 * Rule 4, dead stores. A store S to shared memory goes if no load of the kernel, by whatever
 * thread, can meet it; or if a store T to the same bytes (as in rule 3, with T in L's place)
 * follows on every way on which the thread does not fault, with no other S in between, and nothing
 * reads the bytes before T: not the thread itself on the ways from S to T, and no other thread in
 * any phase, that is between the same two barriers, that these ways touch. Other threads' reads in
 * later phases see what T stored, those in earlier ones what was there before S.
 *
 * Rule 5, own elements. Accesses to shared memory become accesses to a variable of the thread if
 * all of them are to the same bytes (as in rule 3, but with an address that is the same whenever
 * the thread gets there), and nothing else in the kernel, in this thread or another, can touch
 * these bytes. What was never written is 0.
 *
 * Where a barrier stands beside something that orders by other means (atomic and volatile accesses,
 * fences, polls, warp operations, unknown calls) it stays, unless it is the last thing that threads
 * come to, or merges.
 */
#include "translator/barriers/barriers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "translator/analysis/calls.h"
#include "translator/barriers/effects.h"
#include "translator/module/keep_lines.h"
#include "translator/module/module_steps.h"

/* Kernels with more segments are left alone: the sets of paths take segments^2 bits. */
#define SEGMENTS_MAX 4096
/* Pairs of accesses that are compared in a kernel, at most. */
#define PAIRS_MAX 4000000u
/* Rules 3 to 5 look at pairs of accesses, and for each at paths through the segments: so many steps
 * at most. */
#define STEPS_MAX 500000000u

struct optimiser {
    LLVMValueRef function;
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_loops loops;
    struct tr_shapes shapes;
    struct tr_effects effects;
    bool *is_barrier;      /* by segment: it ends with one that has not been removed */
    struct tr_set leading; /* segments from which a barrier or reduction can be reached */
    struct tr_set before;  /* segments, for the current barrier */
    struct tr_set after;
    uint32_t *work;
    uint64_t pairs_left;
    struct tr_barrier_report *report;
    FILE *text;
};

static uint32_t line_of(LLVMValueRef inst)
{
    return tr_line_near(inst);
}

static LLVMValueRef last_value(const struct optimiser *o, uint32_t segment)
{
    const struct tr_segment *s = &o->graph.segments[segment];
    return o->graph.values[s->first_value + s->value_count - 1].llvm;
}

/* ---- which kernels ---- */

/* Looks for barriers in other functions, for some threads, or with a number that is not constant:
 * the phases of a barrier could shift against each other. NULL if there are none; otherwise the
 * obstacle in words. */
static const char *find_obstacle(LLVMModuleRef module, LLVMValueRef kernel)
{
    static const enum rt_placeholder barriers[] = {RT_CALL_BAR_SYNC, RT_CALL_BAR_ARRIVE,
                                                   RT_CALL_BAR_RED};
    for (size_t i = 0; i < sizeof barriers / sizeof barriers[0]; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(module, rt_placeholders[barriers[i]].name);
        LLVMUseRef use = function == NULL ? NULL : LLVMGetFirstUse(function);
        for (; use != NULL; use = LLVMGetNextUse(use)) {
            LLVMValueRef call = LLVMGetUser(use);
            if (LLVMIsACallInst(call) == NULL ||
                LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)) != kernel)
                return "functions that are not inlined have some";
            if (!tr_is_whole_block(call))
                return "some are not for all threads of the block";
        }
    }
    return NULL;
}

/* Whether the segment ends at a barrier or reduction; all are for the whole block. */
static bool ends_at_barrier(const struct optimiser *o, uint32_t segment)
{
    return o->graph.segments[segment].is_sync_point;
}

static void find_leading(struct optimiser *o)
{
    struct tr_set *leading = &o->leading;
    uint32_t count = 0;
    for (uint32_t s = 0; s < o->graph.segment_count; s++)
        if (ends_at_barrier(o, s)) {
            tr_set_add(leading, s);
            o->work[count++] = s;
        }
    while (count > 0) {
        const struct tr_segment *segment = &o->graph.segments[o->work[--count]];
        for (uint32_t i = 0; i < segment->pred_count; i++)
            if (!tr_set_has(leading, segment->preds[i])) {
                tr_set_add(leading, segment->preds[i]);
                o->work[count++] = segment->preds[i];
            }
    }
}

/* One step of the search for the segments on every way to the next barrier: the intersection over
 * the successors, plus the segment itself. */
static bool intersect(const struct optimiser *o, struct tr_set *passed, uint32_t segment)
{
    const struct tr_set *leading = &o->leading;
    const struct tr_segment *s = &o->graph.segments[segment];
    bool is_changed = false;
    for (uint32_t w = 0; w < leading->word_count; w++) {
        uint64_t word = ends_at_barrier(o, segment) ? 0 : UINT64_MAX;
        for (uint32_t i = 0; i < s->succ_count && word != 0; i++)
            if (tr_set_has(leading, s->succs[i]))
                word &= passed[s->succs[i]].words[w];
        if (segment / 64 == w)
            word |= UINT64_C(1) << (segment % 64);
        is_changed |= word != passed[segment].words[w];
        passed[segment].words[w] = word;
    }
    return is_changed;
}

static bool is_parting(const struct optimiser *o, uint32_t segment)
{
    const struct tr_segment *s = &o->graph.segments[segment];
    uint32_t first = TR_NONE;
    if (!o->shapes.is_divergent[segment])
        return false;
    for (uint32_t i = 0; i < s->succ_count; i++) {
        if (!tr_set_has(&o->leading, s->succs[i]))
            continue;
        if (first != TR_NONE && first != s->succs[i])
            return true;
        first = s->succs[i];
    }
    return false;
}

/* Whether all threads come to the same sequence of barriers, of which some may see only the first
 * few: where threads part and more than one way leads to a barrier, there must be a segment, before
 * or at the next barrier, through which all these ways pass. */
static enum pxr_status find_agreement(struct optimiser *o, bool *is_agreed, struct pxr_error *err)
{
    struct pxr_arena *arena = &o->graph.arena;
    uint32_t segments = o->graph.segment_count;
    struct tr_set *passed = pxr_arena_alloc_array(arena, segments, sizeof *passed);
    if (passed == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory optimising barriers");
    for (uint32_t s = 0; s < segments; s++) {
        passed[s] = tr_set_make(arena, segments);
        if (passed[s].words == NULL)
            return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory optimising barriers");
        memset(passed[s].words, 0xff, passed[s].word_count * sizeof *passed[s].words);
    }
    find_leading(o);
    bool is_changed = true;
    while (is_changed) {
        is_changed = false;
        for (uint32_t s = segments; s-- > 0;)
            if (tr_set_has(&o->leading, s))
                is_changed |= intersect(o, passed, s);
    }
    *is_agreed = true;
    for (uint32_t s = 0; s < segments; s++)
        if (is_parting(o, s) && tr_set_count(&passed[s]) < 2)
            *is_agreed = false;
    return PXR_OK;
}

/* ---- rules 1 and 2 ---- */

static void clear(struct tr_set *set)
{
    memset(set->words, 0, set->word_count * sizeof *set->words);
}

static void find_after(struct optimiser *o, uint32_t barrier)
{
    uint32_t count = 0;
    clear(&o->after);
    o->work[count++] = barrier;
    while (count > 0) {
        uint32_t s = o->work[--count];
        const struct tr_segment *segment = &o->graph.segments[s];
        if (o->is_barrier[s] && s != barrier)
            continue;
        for (uint32_t i = 0; i < segment->succ_count; i++)
            if (!tr_set_has(&o->after, segment->succs[i])) {
                tr_set_add(&o->after, segment->succs[i]);
                o->work[count++] = segment->succs[i];
            }
    }
}

/* Adds segments to those that lead to the barrier: the ones into which threads branch off that come
 * to no barrier any more. */
static void add_last_segments(struct optimiser *o, uint32_t barrier)
{
    uint32_t count = 0;
    for (uint32_t s = tr_set_next(&o->before, 0); s != TR_NONE; s = tr_set_next(&o->before, s + 1))
        if (s != barrier)
            o->work[count++] = s;
    while (count > 0) {
        const struct tr_segment *segment = &o->graph.segments[o->work[--count]];
        for (uint32_t i = 0; i < segment->succ_count; i++) {
            uint32_t next = segment->succs[i];
            if (tr_set_has(&o->leading, next) || tr_set_has(&o->before, next))
                continue;
            tr_set_add(&o->before, next);
            o->work[count++] = next;
        }
    }
}

static void find_before(struct optimiser *o, uint32_t barrier)
{
    uint32_t count = 0;
    clear(&o->before);
    tr_set_add(&o->before, barrier);
    o->work[count++] = barrier;
    while (count > 0) {
        const struct tr_segment *segment = &o->graph.segments[o->work[--count]];
        for (uint32_t i = 0; i < segment->pred_count; i++) {
            uint32_t p = segment->preds[i];
            if (tr_set_has(&o->before, p) || (o->is_barrier[p] && p != barrier))
                continue;
            tr_set_add(&o->before, p);
            o->work[count++] = p;
        }
    }
    add_last_segments(o, barrier);
}

static bool is_empty(const struct optimiser *o, const struct tr_set *segments)
{
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
        for (uint32_t i = o->effects.first_access[s]; i < o->effects.first_access[s + 1]; i++)
            if (!o->effects.accesses[i].is_gone)
                return false;
    return true;
}

static const struct tr_access *find_wall(const struct optimiser *o, const struct tr_set *segments)
{
    for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
        for (uint32_t i = o->effects.first_access[s]; i < o->effects.first_access[s + 1]; i++)
            if (o->effects.accesses[i].is_wall)
                return &o->effects.accesses[i];
    return NULL;
}

struct conflict {
    const struct tr_access *before; /* NULL: there was no time to compare all pairs */
    const struct tr_access *after;
};

static bool conflicts_with(struct optimiser *o, const struct tr_access *access,
                           struct conflict *conflict)
{
    const struct tr_effects *effects = &o->effects;
    for (uint32_t s = tr_set_next(&o->after, 0); s != TR_NONE; s = tr_set_next(&o->after, s + 1))
        for (uint32_t i = effects->first_access[s]; i < effects->first_access[s + 1]; i++) {
            if (o->pairs_left == 0)
                return true;
            o->pairs_left--;
            if (!tr_conflict(effects, access, &effects->accesses[i]))
                continue;
            *conflict = (struct conflict){access, &effects->accesses[i]};
            return true;
        }
    return false;
}

static bool find_conflict(struct optimiser *o, struct conflict *conflict)
{
    const struct tr_effects *effects = &o->effects;
    for (uint32_t s = tr_set_next(&o->before, 0); s != TR_NONE; s = tr_set_next(&o->before, s + 1))
        for (uint32_t i = effects->first_access[s]; i < effects->first_access[s + 1]; i++)
            if (conflicts_with(o, &effects->accesses[i], conflict))
                return true;
    return false;
}

/* Whether the ways into (or out of) the segments end at other barriers only: not at the kernel's
 * beginning (or a return). */
static bool is_bounded_before(const struct optimiser *o)
{
    return !tr_set_has(&o->before, 0);
}

static bool is_bounded_after(const struct optimiser *o)
{
    for (uint32_t s = tr_set_next(&o->after, 0); s != TR_NONE; s = tr_set_next(&o->after, s + 1))
        if (o->graph.segments[s].succ_count == 0 &&
            LLVMGetInstructionOpcode(last_value(o, s)) == LLVMRet)
            return false;
    return true;
}

static const char *kind_of(const struct tr_access *access)
{
    if (access->is_wall)
        return "an operation that orders memory by itself";
    return access->is_write ? "a write" : "a read";
}

static void note_kept(const struct optimiser *o, LLVMValueRef call, const struct conflict *conflict)
{
    const struct tr_access *accesses[2] = {conflict->before, conflict->after};
    const char *separator = ": ";
    fprintf(o->text, "barrier at line %u stays", line_of(call));
    for (int i = 0; i < 2; i++) {
        if (accesses[i] == NULL)
            continue;
        fprintf(o->text, "%s%s at line %u", separator, kind_of(accesses[i]),
                line_of(o->graph.values[accesses[i]->value].llvm));
        separator = ", ";
    }
    fprintf(o->text, "%s\n", conflict->after == NULL ? ": the kernel is too large" : "");
}

/* Whether step 1 needs it: the first barrier of a kernel may be what brings lanes together that go
 * on to exchange values in step ("Lanes in step" in README.md). */
static bool is_needed(struct optimiser *o, bool is_after_barrier, struct conflict *conflict)
{
    if (find_conflict(o, conflict))
        return true;
    if (!is_after_barrier)
        conflict->after = is_empty(o, &o->before) ? find_wall(o, &o->after) : NULL;
    return conflict->after != NULL;
}

static void look_at(struct optimiser *o, uint32_t barrier)
{
    struct conflict conflict = {0};
    LLVMValueRef call = last_value(o, barrier);
    find_before(o, barrier);
    find_after(o, barrier);
    bool is_after_barrier = is_empty(o, &o->before) && is_bounded_before(o);
    bool is_before_barrier = is_empty(o, &o->after) && is_bounded_after(o);
    if (is_needed(o, is_after_barrier, &conflict)) {
        note_kept(o, call, &conflict);
        return;
    }
    bool is_merged = is_after_barrier || is_before_barrier;
    fprintf(o->text, "barrier at line %u %s\n", line_of(call),
            is_merged ? "merges with the one next to it" : "orders nothing and is removed");
    if (is_merged)
        o->report->merged_count++;
    else
        o->report->removed_count++;
    o->is_barrier[barrier] = false;
    LLVMInstructionEraseFromParent(call);
}

static uint32_t depth_of(const struct optimiser *o, uint32_t segment)
{
    uint32_t loop = o->loops.innermost[segment];
    return loop == TR_NONE ? 0 : o->loops.loops[loop].depth;
}

/* Those in the innermost loops first: which of two can go depends on the order. */
static void remove_barriers(struct optimiser *o)
{
    uint32_t depth = 0;
    for (uint32_t s = 0; s < o->graph.segment_count; s++)
        if (o->is_barrier[s] && depth_of(o, s) > depth)
            depth = depth_of(o, s);
    for (uint32_t d = depth + 1; d-- > 0;)
        for (uint32_t s = 0; s < o->graph.segment_count; s++)
            if (o->is_barrier[s] && depth_of(o, s) == d)
                look_at(o, s);
}

/* ---- rule 3 ---- */

static void note_forwarded(void *data, LLVMValueRef load, LLVMValueRef store)
{
    struct optimiser *o = data;
    o->report->forwarded_count++;
    fprintf(o->text, "load at line %u gets the value stored at line %u\n", line_of(load),
            line_of(store));
}

static void note_dead(void *data, LLVMValueRef store)
{
    struct optimiser *o = data;
    o->report->dead_count++;
    fprintf(o->text, "store at line %u is read by nobody any more and is removed\n",
            line_of(store));
}

/* ---- rule 5 ---- */

static void note_promoted(void *data, LLVMValueRef access)
{
    struct optimiser *o = data;
    o->report->own_count++;
    fprintf(o->text,
            "%s at line %u is to an element that only its thread uses, which becomes a register\n",
            LLVMIsALoadInst(access) != NULL ? "load" : "store", line_of(access));
}

/* ---- all together ---- */

static bool make_sets(struct optimiser *o)
{
    uint32_t segments = o->graph.segment_count;
    o->is_barrier = pxr_arena_alloc_array(&o->graph.arena, segments, sizeof *o->is_barrier);
    o->work = pxr_arena_alloc_array(&o->graph.arena, (size_t)segments + 1, sizeof *o->work);
    o->leading = tr_set_make(&o->graph.arena, segments);
    o->before = tr_set_make(&o->graph.arena, segments);
    o->after = tr_set_make(&o->graph.arena, segments);
    if (o->is_barrier == NULL || o->work == NULL || o->leading.words == NULL ||
        o->before.words == NULL || o->after.words == NULL)
        return false;
    for (uint32_t s = 0; s < segments; s++)
        o->is_barrier[s] = tr_is_block_barrier(last_value(o, s));
    return true;
}

static bool may_look_at_paths(const struct optimiser *o)
{
    uint64_t accesses = o->effects.access_count;
    return accesses * accesses * o->graph.segment_count <= STEPS_MAX;
}

static enum pxr_status optimise(struct optimiser *o, struct pxr_error *err)
{
    const struct tr_forwarding forwarding = {o, note_forwarded, note_dead, note_promoted};
    bool is_agreed = false;
    enum pxr_status status =
        tr_effects_analyse(&o->graph, o->effects.facts, &o->dominators, &o->loops, &o->shapes, err);
    if (status == PXR_OK && !make_sets(o))
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory optimising barriers");
    if (status == PXR_OK)
        status = find_agreement(o, &is_agreed, err);
    if (status != PXR_OK)
        return status;
    if (!is_agreed) {
        fprintf(o->text, "barriers stay: threads may come to different ones\n");
        return PXR_OK;
    }
    o->effects.dominators = &o->dominators;
    o->effects.loops = &o->loops;
    o->effects.shapes = &o->shapes;
    o->effects.is_barrier = o->is_barrier;
    status = tr_effects_build(&o->effects, err);
    if (status != PXR_OK)
        return status;
    remove_barriers(o);
    if (!may_look_at_paths(o)) {
        fprintf(o->text, "accesses stay: there are too many to look at all pairs\n");
        return PXR_OK;
    }
    status = tr_forward_stores(&o->effects, &forwarding, err);
    return status == PXR_OK ? tr_promote_own(&o->effects, &forwarding, err) : status;
}

static uint32_t count_barriers(LLVMModuleRef module)
{
    uint32_t count = 0;
    LLVMValueRef function = LLVMGetNamedFunction(module, rt_placeholders[RT_CALL_BAR_SYNC].name);
    LLVMUseRef use = function == NULL ? NULL : LLVMGetFirstUse(function);
    for (; use != NULL; use = LLVMGetNextUse(use))
        count += LLVMIsACallInst(LLVMGetUser(use)) != NULL;
    return count;
}

static enum pxr_status optimise_kernel(struct optimiser *o, LLVMModuleRef module,
                                       struct pxr_error *err)
{
    const char *obstacle = find_obstacle(module, o->function);
    if (obstacle != NULL) {
        fprintf(o->text, "barriers stay: %s\n", obstacle);
        return PXR_OK;
    }
    enum pxr_status status = tr_graph_build(&o->graph, o->function, tr_is_whole_block, err);
    if (status != PXR_OK)
        return status;
    o->effects.graph = &o->graph;
    o->pairs_left = PAIRS_MAX;
    if (o->graph.segment_count > SEGMENTS_MAX)
        fprintf(o->text, "barriers stay: the kernel is too large\n");
    else
        status = optimise(o, err);
    tr_graph_fini(&o->graph);
    return status;
}

enum pxr_status tr_optimise_barriers(LLVMModuleRef module, const struct ptx_func *kernel,
                                     const struct tr_facts *facts, struct tr_barrier_report *report,
                                     struct pxr_error *err)
{
    *report = (struct tr_barrier_report){.barrier_count = count_barriers(module)};
    struct optimiser o = {.function = LLVMGetNamedFunction(module, TR_KERNEL_NAME),
                          .report = report};
    if (report->barrier_count == 0 || o.function == NULL)
        return PXR_OK;
    static const struct tr_facts nothing = {0};
    o.effects.facts = facts == NULL ? &nothing : facts;
    o.effects.kernel = kernel;
    size_t text_bytes = 0;
    o.text = open_memstream(&report->text, &text_bytes);
    if (o.text == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory optimising barriers");
    enum pxr_status status = optimise_kernel(&o, module, err);
    if (fclose(o.text) != 0 && status == PXR_OK)
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory optimising barriers");
    return status;
}

void tr_barrier_report_fini(struct tr_barrier_report *report)
{
    free(report->text);
    *report = (struct tr_barrier_report){0};
}
