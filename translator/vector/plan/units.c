/* SPDX-License-Identifier: Apache-2.0
 *
 * Units: which segments are emitted within which, in what order, and how many of the lanes come to
 * each. That follows from control dependence (Ferrante, Ottenstein, Warren): a branch decides about
 * a segment if one of its ways leads there and another does not; other branches decide who comes to
 * that branch. Where no branch decides, all lanes come; where only branches decide at which lanes
 * stay together, all or none come.
 */
#include "translator/vector/plan/plan.h"

struct units {
    struct tr_iteration *iteration;
    struct pxr_arena scratch;
    uint32_t *owner;    /* by segment: the one it is a child or follower of */
    bool *is_follower;  /* by segment */
    bool *is_prompt;    /* by segment: a fault that is emitted as soon as lanes come there, so that
                           none wait for it */
    uint32_t *question; /* by segment: the last question that marked it as leading there */
    uint32_t question_count;
    uint32_t *stack;
    uint32_t *asked; /* segments that decisions are made about */
    uint32_t asked_count;
    struct tr_set is_asked;
};

static bool is_in_loop(const struct tr_iteration *iteration, uint32_t loop, uint32_t segment)
{
    return tr_set_has(&iteration->loops.loops[loop].segments, segment);
}

/* ---- which lanes come ---- */

/* The question: do lanes that are at the anchor together come to the segment together? */
struct decision {
    uint32_t segment;
    uint32_t anchor;
    bool is_behind_loop; /* the anchor is the header of a loop, and the segment is behind that loop:
                            lanes come to it from outside of the loop, and may go round */
    bool is_first_time;  /* asks only about the first time they come: how they enter a loop, if the
                            segment is its header */
};

static void push(struct units *u, uint32_t segment, uint32_t *depth)
{
    if (u->question[segment] == u->question_count)
        return;
    u->question[segment] = u->question_count;
    u->stack[(*depth)++] = segment;
}

/* Marks the segments from which `to` can be reached after the anchor. */
static void find_ways_to(struct units *u, const struct decision *decision, uint32_t to)
{
    const struct tr_iteration *iteration = u->iteration;
    uint32_t at = to;
    uint32_t depth = 0;
    u->question_count++;
    for (bool is_first = true; is_first || depth > 0; is_first = false) {
        at = is_first ? to : u->stack[--depth];
        const struct tr_segment *segment = &iteration->graph.segments[at];
        if (at == decision->anchor && !decision->is_behind_loop)
            continue;
        for (uint32_t i = 0; i < segment->pred_count; i++) {
            uint32_t from = segment->preds[i];
            bool is_again = decision->is_first_time && to == decision->segment &&
                            tr_dominates(&iteration->dominators, to, from);
            if (!is_again && tr_dominates(&iteration->dominators, decision->anchor, from))
                push(u, from, &depth);
        }
    }
}

/* Whether the edge leads where `to` cannot be reached any more. Call it after find_ways_to. */
static bool leads_away(const struct units *u, const struct decision *decision, uint32_t to,
                       uint32_t next)
{
    if (next == to)
        return false;
    if (next == decision->anchor && !decision->is_behind_loop)
        return true;
    if (u->is_prompt[next] && !u->iteration->is_lost[decision->segment])
        return false;
    return u->question[next] != u->question_count;
}

static void ask(struct units *u, uint32_t segment)
{
    if (tr_set_has(&u->is_asked, segment))
        return;
    tr_set_add(&u->is_asked, segment);
    u->asked[u->asked_count++] = segment;
}

/* Whether some lanes that were at the anchor are missing at the segment because they leave a loop
 * around it earlier or later than others. */
static bool is_in_divergent_loop(const struct units *u, const struct decision *decision,
                                 uint32_t segment)
{
    const struct tr_iteration *iteration = u->iteration;
    uint32_t around = decision->is_behind_loop ? decision->segment : decision->anchor;
    uint32_t loop = iteration->loops.innermost[segment];
    for (; loop != TR_NONE && !is_in_loop(iteration, loop, around);
         loop = iteration->loops.loops[loop].parent)
        if (iteration->is_divergent_loop[loop])
            return true;
    return false;
}

/* Adds the branches that decide about `to`. True: lanes part at one of them. */
static bool ask_about(struct units *u, const struct decision *decision, uint32_t to)
{
    const struct tr_iteration *iteration = u->iteration;
    find_ways_to(u, decision, to);
    for (uint32_t s = decision->anchor; s < iteration->graph.segment_count; s++) {
        const struct tr_segment *segment = &iteration->graph.segments[s];
        bool decides = false;
        for (uint32_t i = 0; u->question[s] == u->question_count && i < segment->succ_count; i++)
            decides |= leads_away(u, decision, to, segment->succs[i]);
        if (!decides)
            continue;
        if (iteration->shapes.is_divergent[s] || is_in_divergent_loop(u, decision, s))
            return true;
        ask(u, s);
    }
    return false;
}

static enum tr_unit_kind decide(struct units *u, const struct decision *decision)
{
    enum tr_unit_kind kind = TR_UNIT_ALWAYS;
    u->asked_count = 0;
    ask(u, decision->segment);
    for (uint32_t i = 0; i < u->asked_count && kind != TR_UNIT_MASKED; i++)
        if (ask_about(u, decision, u->asked[i]))
            kind = TR_UNIT_MASKED;
        else if (u->asked_count > 1)
            kind = TR_UNIT_UNIFORM;
    for (uint32_t i = 0; i < u->asked_count; i++)
        tr_set_remove(&u->is_asked, u->asked[i]);
    return kind;
}

static void find_kind(struct units *u, uint32_t segment)
{
    struct tr_unit *unit = &u->iteration->units[segment];
    unit->anchor = u->owner[segment];
    struct decision decision = {.segment = segment,
                                .anchor = unit->anchor,
                                .is_behind_loop = u->is_follower[segment],
                                .is_first_time = true};
    unit->kind = segment == 0 ? TR_UNIT_ALWAYS : decide(u, &decision);
}

/* ---- loops ---- */

static bool is_exit(const struct tr_iteration *iteration, uint32_t loop, uint32_t segment)
{
    const struct tr_segment *from = &iteration->graph.segments[segment];
    for (uint32_t i = 0; i < from->succ_count; i++)
        if (!is_in_loop(iteration, loop, from->succs[i]))
            return true;
    return false;
}

/* Whether lanes that are in an iteration together part at one of the loop's exits, or on the way
 * there. */
static bool is_divergent_loop(struct units *u, uint32_t loop)
{
    const struct tr_iteration *iteration = u->iteration;
    const struct tr_loop *l = &iteration->loops.loops[loop];
    for (uint32_t s = tr_set_next(&l->segments, 0); s != TR_NONE;
         s = tr_set_next(&l->segments, s + 1)) {
        if (!is_exit(iteration, loop, s))
            continue;
        struct decision decision = {.segment = s, .anchor = l->header};
        if (iteration->shapes.is_divergent[s] || is_in_divergent_loop(u, &decision, s) ||
            (s != l->header && decide(u, &decision) == TR_UNIT_MASKED))
            return true;
    }
    return false;
}

/* ---- what is in what ---- */

static void find_owner(struct units *u, uint32_t segment)
{
    const struct tr_iteration *iteration = u->iteration;
    uint32_t dominator = iteration->dominators.idom[segment];
    uint32_t left = TR_NONE; /* the outermost loop of the dominator without the segment */
    uint32_t loop = dominator == TR_NONE ? TR_NONE : iteration->loops.innermost[dominator];
    for (; loop != TR_NONE && !is_in_loop(iteration, loop, segment);
         loop = iteration->loops.loops[loop].parent)
        left = loop;
    u->is_follower[segment] = left != TR_NONE;
    u->owner[segment] = left == TR_NONE ? dominator : iteration->loops.loops[left].header;
}

/* Inserts it behind the last unit that control comes from: lanes in a fault should not have to
 * wait. */
static void insert_fault(const struct tr_iteration *iteration, uint32_t *list, uint32_t count,
                         uint32_t fault)
{
    const struct tr_segment *segment = &iteration->graph.segments[fault];
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < segment->pred_count; k++)
            if (tr_dominates(&iteration->dominators, list[i], segment->preds[k]))
                place = i + 1;
    for (uint32_t i = count; i > place; i--)
        list[i] = list[i - 1];
    list[place] = fault;
}

static bool make_lists(struct units *u, uint32_t **children, uint32_t **followers)
{
    const struct tr_iteration *iteration = u->iteration;
    struct pxr_arena *arena = &u->iteration->graph.arena;
    for (uint32_t s = 1; s < iteration->graph.segment_count; s++) {
        struct tr_unit *owner = &iteration->units[u->owner[s]];
        (*(u->is_follower[s] ? &owner->follower_count : &owner->child_count))++;
    }
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++) {
        struct tr_unit *unit = &iteration->units[s];
        children[s] = pxr_arena_alloc_array(arena, unit->child_count, sizeof **children);
        followers[s] = pxr_arena_alloc_array(arena, unit->follower_count, sizeof **followers);
        if (children[s] == NULL || followers[s] == NULL)
            return false;
        unit->children = children[s];
        unit->followers = followers[s];
        unit->child_count = unit->follower_count = 0;
    }
    return true;
}

/* In the order of control flow, which is the order of numbers. */
static bool fill_lists(struct units *u)
{
    const struct tr_iteration *iteration = u->iteration;
    uint32_t count = iteration->graph.segment_count;
    uint32_t **children = pxr_arena_alloc_array(&u->scratch, count, sizeof *children);
    uint32_t **followers = pxr_arena_alloc_array(&u->scratch, count, sizeof *followers);
    if (children == NULL || followers == NULL || !make_lists(u, children, followers))
        return false;
    for (int faults = 0; faults < 2; faults++)
        for (uint32_t s = 1; s < count; s++) {
            uint32_t owner = u->owner[s];
            struct tr_unit *unit = &iteration->units[owner];
            uint32_t *list = u->is_follower[s] ? followers[owner] : children[owner];
            uint32_t *length = u->is_follower[s] ? &unit->follower_count : &unit->child_count;
            if (iteration->is_lost[s] != (faults == 1))
                continue;
            if (faults == 1)
                insert_fault(iteration, list, *length, s);
            else
                list[*length] = s;
            (*length)++;
        }
    return true;
}

/* ---- ways out of units ---- */

/* Whether the other segment is emitted with the unit: the unit dominates it, and it is not behind a
 * loop that the unit is in without being its header. */
static bool is_in_unit(const struct tr_iteration *iteration, uint32_t unit, uint32_t segment)
{
    const struct tr_loops *loops = &iteration->loops;
    uint32_t loop = loops->innermost[unit];
    if (loop != TR_NONE && loops->loops[loop].header == unit)
        loop = loops->loops[loop].parent;
    return tr_dominates(&iteration->dominators, unit, segment) &&
           (loop == TR_NONE || tr_set_has(&loops->loops[loop].segments, segment));
}

/* Counts or stores the edge for every unit that it leaves. */
static void add_escape(struct units *u, uint32_t from, uint32_t to, uint32_t **lists)
{
    const struct tr_iteration *iteration = u->iteration;
    uint32_t s = from;
    while (s != TR_NONE && !is_in_unit(iteration, s, to) && u->question[s] != u->question_count) {
        struct tr_unit *unit = &iteration->units[s];
        u->question[s] = u->question_count;
        if (lists != NULL)
            lists[s][unit->escape_count] = to;
        unit->escape_count++;
        s = u->owner[s];
    }
}

static void add_escapes(struct units *u, uint32_t **lists)
{
    const struct tr_graph *graph = &u->iteration->graph;
    for (uint32_t to = 0; to < graph->segment_count; to++) {
        u->question_count++;
        for (uint32_t i = 0; i < graph->segments[to].pred_count; i++)
            add_escape(u, graph->segments[to].preds[i], to, lists);
    }
}

static bool fill_escapes(struct units *u)
{
    struct tr_iteration *iteration = u->iteration;
    uint32_t count = iteration->graph.segment_count;
    uint32_t **lists = pxr_arena_alloc_array(&u->scratch, count, sizeof *lists);
    if (lists == NULL)
        return false;
    add_escapes(u, NULL);
    for (uint32_t s = 0; s < count; s++) {
        struct tr_unit *unit = &iteration->units[s];
        lists[s] =
            pxr_arena_alloc_array(&iteration->graph.arena, unit->escape_count, sizeof **lists);
        if (lists[s] == NULL)
            return false;
        unit->escapes = lists[s];
        unit->escape_count = 0;
    }
    add_escapes(u, lists);
    return true;
}

/* Whether it is a fault that lanes reach from one place only and do not leave. */
static bool is_prompt(const struct tr_iteration *iteration, uint32_t segment)
{
    return iteration->is_lost[segment] && iteration->graph.segments[segment].pred_count == 1 &&
           iteration->units[segment].escape_count == 0;
}

/* ---- sums ---- */

static void add_up(struct units *u)
{
    struct tr_iteration *iteration = u->iteration;
    for (uint32_t s = iteration->graph.segment_count; s-- > 0;) {
        const struct tr_segment *segment = &iteration->graph.segments[s];
        struct tr_unit *unit = &iteration->units[s];
        unit->is_fault = iteration->is_lost[s];
        unit->has_loop |= iteration->loops.innermost[s] != TR_NONE &&
                          iteration->loops.loops[iteration->loops.innermost[s]].header == s;
        unit->has_effects |= unit->is_fault;
        for (uint32_t v = 0; v < segment->value_count; v++) {
            LLVMValueRef inst = iteration->graph.values[segment->first_value + v].llvm;
            unit->has_effects |= tr_is_for_active_lanes(inst);
            unit->cost += tr_cost(iteration->target, inst);
        }
        if (s == 0)
            continue;
        struct tr_unit *outer = &iteration->units[u->owner[s]];
        outer->cost += unit->cost;
        outer->has_loop |= unit->has_loop;
        outer->has_effects |= unit->has_effects;
    }
}

/* ---- all together ---- */

static bool allocate(struct units *u)
{
    struct tr_iteration *iteration = u->iteration;
    size_t count = iteration->graph.segment_count;
    struct pxr_arena *arena = &iteration->graph.arena;
    iteration->units = pxr_arena_alloc_array(arena, count, sizeof *iteration->units);
    iteration->is_divergent_loop =
        pxr_arena_alloc_array(arena, iteration->loops.count, sizeof *iteration->is_divergent_loop);
    u->owner = pxr_arena_alloc_array(&u->scratch, count, sizeof *u->owner);
    u->is_follower = pxr_arena_alloc_array(&u->scratch, count, sizeof *u->is_follower);
    u->is_prompt = pxr_arena_alloc_array(&u->scratch, count, sizeof *u->is_prompt);
    u->question = pxr_arena_alloc_array(&u->scratch, count, sizeof *u->question);
    u->stack = pxr_arena_alloc_array(&u->scratch, count, sizeof *u->stack);
    u->asked = pxr_arena_alloc_array(&u->scratch, count, sizeof *u->asked);
    u->is_asked = tr_set_make(&u->scratch, iteration->graph.segment_count);
    return iteration->units != NULL && iteration->is_divergent_loop != NULL && u->owner != NULL &&
           u->is_follower != NULL && u->is_prompt != NULL && u->question != NULL &&
           u->stack != NULL && u->asked != NULL && u->is_asked.words != NULL;
}

static bool build(struct units *u)
{
    struct tr_iteration *iteration = u->iteration;
    uint32_t count = iteration->graph.segment_count;
    if (!allocate(u))
        return false;
    for (uint32_t s = 0; s < count; s++)
        find_owner(u, s);
    if (!fill_lists(u) || !fill_escapes(u))
        return false;
    for (uint32_t s = 0; s < count; s++)
        u->is_prompt[s] = is_prompt(iteration, s);
    for (uint32_t l = iteration->loops.count; l-- > 0;) /* inner ones first */
        iteration->is_divergent_loop[l] = is_divergent_loop(u, l);
    for (uint32_t s = 0; s < count; s++)
        find_kind(u, s);
    add_up(u);
    return true;
}

enum pxr_status tr_units_build(struct tr_iteration *iteration, struct pxr_error *err)
{
    struct units u = {.iteration = iteration};
    pxr_arena_init(&u.scratch, 0);
    bool ok = build(&u);
    pxr_arena_fini(&u.scratch);
    return ok ? PXR_OK : pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory planning an iteration");
}

bool tr_is_for_some(const struct tr_iteration *iteration, uint32_t segment)
{
    uint32_t s = segment;
    while (s != TR_NONE && iteration->units[s].kind != TR_UNIT_MASKED)
        s = iteration->units[s].anchor;
    return s != TR_NONE;
}
