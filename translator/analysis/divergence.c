/* SPDX-License-Identifier: Apache-2.0
 *
 * The effect of a divergent branch on the graph: where threads meet again that have come through
 * different edges, which loops they leave in different iterations, and which segments only some of
 * them execute.
 *
 * After Rosemann, Moll and Hack, "An Abstract Interpretation for SPMD Divergence on Reducible
 * Control Flow Graphs": from each successor of the branch a label travels along the edges. Where
 * two labels meet, two disjoint paths do, so that phis there tell the paths apart; the meeting
 * point's own label travels on. Within one iteration of a loop there are no cycles, so segments can
 * be visited in reverse postorder; inner loops without the branch count as one segment, which has
 * their header's number. Labels that come back to the header stand for threads that go on with the
 * next iteration; they may leave the loop through any of its exits.
 *
 * Threads with one label are together: where they part again, it is at another divergent branch,
 * which has its own walk. So a segment is executed by only some threads if its label is not the
 * only one alive.
 *
 * Two additions. Labels in segments after which no thread can stop again (is_last) do not count for
 * those before a sync point: if they have not stopped on their way, their threads end without being
 * waited for; if they have, they are lost to the others. And an irreducible loop that threads enter
 * at different places, or about whose iterations they come to disagree, is given up as a whole.
 */
#include "translator/analysis/shape.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "translator/analysis/calls.h"

/* Labels that have come to some place. Counts of present ones are by is_last. */
struct labels {
    uint32_t *label;       /* by segment: of those in present */
    struct tr_set present; /* segments that have one */
    struct tr_set several; /* … those that more than one has come to */
    struct tr_set stopped; /* … those that can be reached past a sync point */
    uint32_t total[2];
    uint32_t *alike[2]; /* by label: segments that only this one has come to */
};

/* The walk from one branch. An inner loop's labels are at its header. */
struct tr_propagation {
    struct tr_divergence *d;
    uint32_t branch;
    uint32_t level;        /* the loop whose iteration is walked; TR_NONE: none */
    struct labels pending; /* in level; not visited yet */
    struct labels left;    /* outside of level */
    uint32_t header_label; /* of threads that come back to level's header; TR_NONE: none */
    bool is_header_several;
    uint32_t lost_label; /* of threads that will not meet the others, TR_NONE: none */
    bool is_lost_several;
    struct tr_set ended; /* labels of threads that have ended; used where no sync point follows */
};

/* ---- preparation ---- */

/* Finds the segments from which no sync point can be reached. */
static void find_last_segments(struct tr_divergence *d)
{
    const struct tr_graph *graph = d->graph;
    bool is_changed = true;
    for (uint32_t s = 0; s < graph->segment_count; s++)
        d->is_last[s] = !graph->segments[s].is_sync_point;
    while (is_changed) {
        is_changed = false;
        for (uint32_t s = graph->segment_count; s-- > 0;)
            for (uint32_t i = 0; d->is_last[s] && i < graph->segments[s].succ_count; i++)
                if (!d->is_last[graph->segments[s].succs[i]]) {
                    d->is_last[s] = false;
                    is_changed = true;
                }
    }
}

/* Finds the segments of faults: they end the whole launch, so that no thread is left to compare
 * with. */
static void find_faults(struct tr_divergence *d, const struct tr_shape_facts *facts)
{
    for (uint32_t s = 0; s < d->graph->segment_count; s++) {
        if (facts->is_lost != NULL) {
            d->is_fault[s] = facts->is_lost[s];
            continue;
        }
        const struct tr_segment *segment = &d->graph->segments[s];
        uint32_t last = segment->first_value + segment->value_count - 1;
        d->is_fault[s] = segment->value_count > 1 && tr_is_fault(d->graph->values[last - 1].llvm) &&
                         d->graph->values[last].opcode == LLVMUnreachable;
    }
}

static bool has_sync_point(const struct tr_divergence *d, uint32_t loop)
{
    const struct tr_set *in = &d->loops->loops[loop].segments;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1))
        if (d->graph->segments[s].is_sync_point)
            return true;
    return false;
}

static bool find_exits(struct tr_divergence *d, uint32_t number)
{
    const struct tr_set *in = &d->loops->loops[number].segments;
    struct tr_exits *exits = &d->exits[number];
    struct tr_set targets = tr_set_make(d->arena, d->graph->segment_count);
    if (targets.words == NULL)
        return false;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        const struct tr_segment *segment = &d->graph->segments[s];
        for (uint32_t i = 0; i < segment->succ_count; i++)
            if (!tr_set_has(in, segment->succs[i]))
                tr_set_add(&targets, segment->succs[i]);
    }
    exits->has_sync_point = has_sync_point(d, number);
    exits->targets = pxr_arena_alloc_array(d->arena, tr_set_count(&targets), sizeof(uint32_t));
    if (exits->targets == NULL)
        return false;
    for (uint32_t s = tr_set_next(&targets, 0); s != TR_NONE; s = tr_set_next(&targets, s + 1))
        exits->targets[exits->count++] = s;
    return true;
}

static bool *make_flags(struct tr_divergence *d, uint32_t count)
{
    return pxr_arena_alloc_array(d->arena, count, sizeof(bool));
}

static bool make_labels(struct tr_divergence *d, struct labels *labels)
{
    uint32_t count = d->graph->segment_count;
    labels->label = pxr_arena_alloc_array(d->arena, count, sizeof *labels->label);
    labels->alike[0] = pxr_arena_alloc_array(d->arena, count, sizeof *labels->alike[0]);
    labels->alike[1] = pxr_arena_alloc_array(d->arena, count, sizeof *labels->alike[1]);
    labels->present = tr_set_make(d->arena, count);
    labels->several = tr_set_make(d->arena, count);
    labels->stopped = tr_set_make(d->arena, count);
    return labels->label != NULL && labels->alike[0] != NULL && labels->alike[1] != NULL &&
           labels->present.words != NULL && labels->several.words != NULL &&
           labels->stopped.words != NULL;
}

bool tr_divergence_init(struct tr_divergence *divergence, struct tr_graph *graph,
                        const struct tr_loops *loops, const struct tr_shape_facts *facts)
{
    struct tr_divergence *d = divergence;
    *d = (struct tr_divergence){.graph = graph, .loops = loops, .arena = &graph->arena};
    d->is_last = make_flags(d, graph->segment_count);
    d->is_uniform = make_flags(d, graph->segment_count);
    d->is_fault = make_flags(d, graph->segment_count);
    d->is_join = make_flags(d, graph->segment_count);
    d->is_latch_join = make_flags(d, graph->segment_count);
    d->is_left_apart = make_flags(d, loops->count);
    d->is_left_apart_last = make_flags(d, loops->count);
    d->exits = pxr_arena_alloc_array(d->arena, loops->count, sizeof *d->exits);
    d->work = pxr_arena_alloc_array(d->arena, 1, sizeof *d->work);
    if (d->is_last == NULL || d->is_fault == NULL || d->is_uniform == NULL || d->is_join == NULL ||
        d->is_latch_join == NULL || d->is_left_apart == NULL || d->is_left_apart_last == NULL ||
        d->exits == NULL || d->work == NULL)
        return false;
    d->work->d = d;
    d->work->ended = tr_set_make(d->arena, graph->segment_count);
    d->behind = tr_set_make(d->arena, graph->segment_count);
    d->waiting = tr_set_make(d->arena, graph->segment_count);
    if (d->behind.words == NULL || d->waiting.words == NULL || d->work->ended.words == NULL)
        return false;
    if (!make_labels(d, &d->work->pending) || !make_labels(d, &d->work->left))
        return false;
    for (uint32_t l = 0; l < loops->count; l++)
        if (!find_exits(d, l))
            return false;
    for (uint32_t s = 0; s < graph->segment_count; s++)
        d->is_uniform[s] = true;
    find_last_segments(d);
    find_faults(d, facts);
    return true;
}

/* ---- results ---- */

static void mark_not_uniform(struct tr_divergence *d, uint32_t segment, uint32_t loop)
{
    if (loop == TR_NONE) {
        d->is_uniform[segment] = false;
        return;
    }
    const struct tr_set *in = &d->loops->loops[loop].segments;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1))
        d->is_uniform[s] = false;
}

/* Notes that threads from the branch come to the segment through different edges. Those that come
 * to the header of a loop around the branch do so from inside. */
static void mark_join(struct tr_propagation *w, uint32_t segment)
{
    const struct tr_loops *loops = w->d->loops;
    uint32_t loop = loops->innermost[segment];
    bool is_latch = loop != TR_NONE && loops->loops[loop].header == segment &&
                    tr_set_has(&loops->loops[loop].segments, w->branch);
    if (is_latch)
        w->d->is_latch_join[segment] = true;
    else
        w->d->is_join[segment] = true;
}

/* Gives up an irreducible loop: threads disagree about what an iteration is. */
static void give_up_loop(struct tr_divergence *d, uint32_t loop)
{
    const struct tr_set *in = &d->loops->loops[loop].segments;
    mark_not_uniform(d, TR_NONE, loop);
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        d->is_join[s] = true;
        d->is_latch_join[s] = true;
    }
    d->is_left_apart[loop] = true;
    d->is_left_apart_last[loop] = true;
}

/* ---- labels ---- */

static void add_label(struct tr_propagation *w, struct labels *labels, uint32_t segment,
                      uint32_t label, bool has_stopped)
{
    bool is_last = w->d->is_last[segment];
    if (has_stopped)
        tr_set_add(&labels->stopped, segment);
    if (!tr_set_has(&labels->present, segment)) {
        tr_set_add(&labels->present, segment);
        labels->label[segment] = label;
        labels->total[is_last]++;
        labels->alike[is_last][label]++;
    } else if (labels->label[segment] != label && !tr_set_has(&labels->several, segment)) {
        tr_set_add(&labels->several, segment);
        labels->alike[is_last][labels->label[segment]]--;
    }
}

static void remove_label(struct tr_propagation *w, struct labels *labels, uint32_t segment)
{
    bool is_last = w->d->is_last[segment];
    labels->total[is_last]--;
    if (!tr_set_has(&labels->several, segment))
        labels->alike[is_last][labels->label[segment]]--;
    tr_set_remove(&labels->present, segment);
    tr_set_remove(&labels->several, segment);
    tr_set_remove(&labels->stopped, segment);
}

static void clear_labels(struct tr_propagation *w, struct labels *labels)
{
    const struct tr_set *present = &labels->present;
    for (uint32_t s = tr_set_next(present, 0); s != TR_NONE; s = tr_set_next(present, s + 1))
        remove_label(w, labels, s);
}

static void lose(struct tr_propagation *w, uint32_t label)
{
    w->is_lost_several |= w->lost_label != TR_NONE && w->lost_label != label;
    w->lost_label = label;
}

/* Whether threads with another label are in segments that are, or are not, is_last. */
static bool has_other_label(const struct labels *labels, uint32_t label, bool is_last)
{
    return labels->total[is_last] != labels->alike[is_last][label];
}

static bool has_other_member(const struct tr_set *set, uint32_t number)
{
    uint32_t first = tr_set_next(set, 0);
    return first != TR_NONE && (first != number || tr_set_next(set, first + 1) != TR_NONE);
}

/* Whether threads with another label are in a segment that matters to those in `at`; TR_NONE: in
 * any. */
static bool are_others_alive(const struct tr_propagation *w, uint32_t label, uint32_t at)
{
    if (w->lost_label != TR_NONE && (w->is_lost_several || w->lost_label != label))
        return true;
    if (w->header_label != TR_NONE && (w->is_header_several || w->header_label != label))
        return true;
    if (has_other_label(&w->pending, label, false) || has_other_label(&w->left, label, false))
        return true;
    if (at != TR_NONE && !w->d->is_last[at])
        return false;
    return has_other_label(&w->pending, label, true) || has_other_label(&w->left, label, true) ||
           has_other_member(&w->ended, label);
}

/* ---- the walk through one iteration ---- */

/* The loop directly inside level that contains the segment; TR_NONE: none. */
static uint32_t inner_loop(const struct tr_propagation *w, uint32_t segment)
{
    const struct tr_loops *loops = w->d->loops;
    uint32_t loop = loops->innermost[segment];
    uint32_t inner = TR_NONE;
    while (loop != w->level) {
        inner = loop;
        loop = loops->loops[loop].parent;
    }
    return inner;
}

/* Threads with the label take an edge to the segment. */
static void arrive(struct tr_propagation *w, uint32_t to, uint32_t label, bool has_stopped)
{
    const struct tr_loops *loops = w->d->loops;
    const struct tr_loop *level = w->level == TR_NONE ? NULL : &loops->loops[w->level];
    if (level != NULL && !tr_set_has(&level->segments, to)) {
        add_label(w, &w->left, to, label, has_stopped);
        return;
    }
    if (level != NULL && level->header == to) {
        w->is_header_several |= w->header_label != TR_NONE && w->header_label != label;
        w->header_label = label;
        return;
    }
    uint32_t inner = inner_loop(w, to);
    uint32_t node = inner == TR_NONE ? to : loops->loops[inner].header;
    add_label(w, &w->pending, node, label, has_stopped);
}

/* The same, from a segment. Threads that have stopped, and come to where none can stop any more, do
 * not meet the others at a sync point. */
static void move(struct tr_propagation *w, uint32_t from, uint32_t to, uint32_t label,
                 bool has_stopped)
{
    struct tr_divergence *d = w->d;
    if (d->is_fault[to]) {
        d->is_uniform[to] = false;
        return;
    }
    if (has_stopped && d->is_last[to] && !d->is_last[from])
        lose(w, label);
    arrive(w, to, label, has_stopped);
}

/* The way ends here, or goes on for ever. */
static void end(struct tr_propagation *w, uint32_t node, uint32_t label)
{
    if (w->d->is_last[node])
        tr_set_add(&w->ended, label);
    else
        lose(w, label);
}

/* Moves out of an inner loop, or of level. label == TR_NONE: every exit is a way of its own. */
static void move_to_exits(struct tr_propagation *w, uint32_t loop, uint32_t label, bool has_stopped)
{
    const struct tr_exits *exits = &w->d->exits[loop];
    for (uint32_t i = 0; i < exits->count; i++) {
        uint32_t to = exits->targets[i];
        move(w, w->d->loops->loops[loop].header, to, label == TR_NONE ? to : label,
             has_stopped || exits->has_sync_point);
    }
}

static void move_on(struct tr_propagation *w, uint32_t node, uint32_t label, bool has_stopped)
{
    const struct tr_segment *segment = &w->d->graph->segments[node];
    if (segment->succ_count == 0)
        end(w, node, label);
    for (uint32_t i = 0; i < segment->succ_count; i++)
        move(w, node, segment->succs[i], label, has_stopped || segment->is_sync_point);
}

/* Visits the next segment in order. False: all threads have met. */
static bool visit(struct tr_propagation *w, uint32_t node)
{
    struct tr_divergence *d = w->d;
    uint32_t inner = inner_loop(w, node);
    bool is_meeting = tr_set_has(&w->pending.several, node);
    bool has_stopped = tr_set_has(&w->pending.stopped, node);
    uint32_t label = is_meeting ? node : w->pending.label[node];
    bool is_given_up = is_meeting && inner != TR_NONE && d->loops->loops[inner].is_irreducible;
    remove_label(w, &w->pending, node);
    if (is_given_up)
        give_up_loop(d, inner);
    else if (is_meeting)
        mark_join(w, node);
    if (!is_given_up && !are_others_alive(w, label, TR_NONE))
        return false;
    if (are_others_alive(w, label, node))
        mark_not_uniform(d, node, inner);
    if (inner == TR_NONE) {
        move_on(w, node, label, has_stopped);
        return true;
    }
    if (d->exits[inner].count == 0)
        end(w, node, label);
    move_to_exits(w, inner, is_given_up ? TR_NONE : label, has_stopped);
    return true;
}

/* ---- from a loop to what is around it ---- */

/* Threads are in different iterations of an irreducible level: they may leave it through any
 * exit. */
static void leave_everywhere(struct tr_propagation *w)
{
    give_up_loop(w->d, w->level);
    clear_labels(w, &w->left);
    move_to_exits(w, w->level, TR_NONE, false);
    for (uint32_t i = 0; i < w->d->exits[w->level].count; i++)
        mark_join(w, w->d->exits[w->level].targets[i]);
}

/* Threads that come back to the header can later leave through any exit. False: all are still
 * together. */
static bool go_round(struct tr_propagation *w)
{
    struct tr_divergence *d = w->d;
    uint32_t header = d->loops->loops[w->level].header;
    uint32_t label = w->is_header_several ? header : w->header_label;
    if (w->is_header_several)
        mark_join(w, header);
    w->header_label = TR_NONE;
    w->is_header_several = false;
    if (!are_others_alive(w, label, TR_NONE))
        return false;
    if (d->loops->loops[w->level].is_irreducible) {
        leave_everywhere(w);
        return true;
    }
    d->is_left_apart_last[w->level] = true;
    if (are_others_alive(w, label, header)) {
        d->is_left_apart[w->level] = true;
        mark_not_uniform(d, header, w->level);
    }
    move_to_exits(w, w->level, label, false);
    return true;
}

/* False: there is nothing more to find. */
static bool leave_level(struct tr_propagation *w)
{
    struct tr_divergence *d = w->d;
    if (w->level == TR_NONE)
        return false;
    if (w->header_label != TR_NONE && !go_round(w))
        return false;
    w->level = d->loops->loops[w->level].parent;
    struct tr_set *left = &w->left.present;
    for (uint32_t t = tr_set_next(left, 0); t != TR_NONE; t = tr_set_next(left, t + 1)) {
        bool is_meeting = tr_set_has(&w->left.several, t);
        bool has_stopped = tr_set_has(&w->left.stopped, t);
        uint32_t label = is_meeting ? t : w->left.label[t];
        remove_label(w, &w->left, t);
        if (is_meeting)
            mark_join(w, t);
        arrive(w, t, label, has_stopped);
    }
    return true;
}

/* ---- out of step ---- */

static bool is_meeting_of_some(const struct tr_divergence *d, uint32_t segment)
{
    const struct tr_segment *at = &d->graph->segments[segment];
    const struct tr_value *last = &d->graph->values[at->first_value + at->value_count - 1];
    return at->is_sync_point && !d->is_uniform[segment] && tr_is_meeting(last->llvm);
}

/* Threads of which only some have met at a sync point are at different places of the kernel from
 * then on, whatever comes: one waits at a barrier in a branch and is released by those at the
 * next. */
void tr_divergence_spread(struct tr_divergence *divergence)
{
    struct tr_divergence *d = divergence;
    struct tr_set *waiting = &d->waiting;
    for (uint32_t i = 0; i < d->graph->segment_count; i++)
        if (is_meeting_of_some(d, i))
            tr_set_add(waiting, i);
    uint32_t s = tr_set_next(waiting, 0);
    for (; s != TR_NONE; s = tr_set_next(waiting, 0)) {
        const struct tr_segment *segment = &d->graph->segments[s];
        tr_set_remove(waiting, s);
        for (uint32_t i = 0; i < segment->succ_count; i++)
            if (!tr_set_has(&d->behind, segment->succs[i])) {
                d->is_uniform[segment->succs[i]] = false;
                tr_set_add(&d->behind, segment->succs[i]);
                tr_set_add(waiting, segment->succs[i]);
            }
    }
}

/* ---- one branch ---- */

void tr_divergence_add(struct tr_divergence *divergence, uint32_t segment)
{
    struct tr_propagation *w = divergence->work;
    const struct tr_loops *loops = divergence->loops;
    const struct tr_segment *branch = &divergence->graph->segments[segment];
    clear_labels(w, &w->pending);
    clear_labels(w, &w->left);
    memset(w->ended.words, 0, w->ended.word_count * sizeof *w->ended.words);
    w->branch = segment;
    w->level = loops->innermost[segment];
    w->header_label = w->lost_label = TR_NONE;
    w->is_header_several = w->is_lost_several = false;
    for (uint32_t i = 0; i < branch->succ_count; i++)
        move(w, segment, branch->succs[i], branch->succs[i], false);
    do {
        uint32_t node = tr_set_next(&w->pending.present, 0);
        while (node != TR_NONE) {
            if (!visit(w, node))
                return;
            node = tr_set_next(&w->pending.present, node + 1);
        }
    } while (leave_level(w));
}
