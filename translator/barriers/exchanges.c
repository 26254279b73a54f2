/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs for machines whose warps ran in lock step let lanes exchange values through shared
 * memory without anything between the store and the load; many do so without `volatile`, too (with
 * it: "Lanes in step" in translator/README.md). Here lanes run one after another between places
 * where they meet, so a lane would load before another one has stored.
 *
 * So what lanes access is computed, as a function of %tid. Where a load and a store of different
 * lanes of a warp are surely to the same bytes, and a way leads from one to the other on which the
 * lanes do not meet, they are made to meet before the second. A program without races has no such
 * pair, but where its guards cannot be computed. The same for two stores, where what is left in
 * the end would be another lane's. Pairs that may be to the same bytes, or not, count as none:
 * arrays of which each thread has its part would cost much otherwise. But a place that is counted
 * by a vote or a match (what the lanes below have) is one of the warp's array, whoever has it: a
 * store there and a load behind it are an exchange, unless the lane has stored where it loads.
 *
 * So is a place that a lane has looked up: its address is made of what the lane has loaded, and not
 * of %tid. Where each lane has its own element of an array that begins there, lanes look for each
 * other's. If a kernel relies on that, several lanes may look up one place, too: all of them load
 * before one stores.
 *
 * And a place that lanes have told each other by a shuffle is one where a group of them works
 * together, in global memory, too: each on its word, and now and then on another one's. Nobody
 * knows whether two such places are the same; if lanes of a group would then touch each other's
 * words, they meet.
 *
 * Where the second access is in a branch that only some lanes take, and the first one before it,
 * they meet at the branch: in it those that come would be waited for one by one.
 */
#include "translator/barriers/exchanges.h"

#include <stddef.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "translator/analysis/address.h"
#include "translator/analysis/calls.h"
#include "translator/barriers/effects.h"
#include "translator/barriers/lane_conditions.h"
#include "translator/barriers/lane_guards.h"
#include "translator/barriers/lane_values.h"
#include "translator/module/declare.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* Kernels with more segments, or more accesses to such memory, are left alone, and so are places of
 * more kinds. Comparing two kinds takes some 0.2 us, and finding that they have been compared some
 * ns. */
#define SEGMENTS_MAX 4096
#define ACCESSES_MAX 4096
#define KINDS_MAX    1024

/* In the first turn a reduction may not exchange anything yet: s[t] += s[t + 32], then 16, ... */
#define TURNS 2

/* Where an access leads, in shared memory, or where a shuffle has told. */
struct place {
    bool is_known;     /* address is */
    bool is_told;      /* address is that within a group that has been told the place */
    bool is_counted;   /* its address is made of a vote's or match's result */
    bool is_looked_up; /* address is that of what it is looked up in, the same in all lanes */
    uint32_t lanes;    /* that may come there */
    uint32_t way_lanes[TURNS]; /* … on the way */
    uint32_t kind;             /* KINDS_MAX: none */
    uint32_t lane_edge; /* a segment before to which only one of them goes, whichever; TR_NONE */
    struct tr_lane_values address;
    /* address, or what it is on one way, in each turn of loops; NULL: not known */
    const struct tr_lane_values *way[TURNS];
    const struct tr_lane_values *narrow_way[TURNS]; /* … in narrow blocks */
    uint32_t turn_depth; /* of loops of this depth or more; TR_NONE: in all turns */
};

/* How two accesses are compared: on a way, in turn n, it is ON_WAY + n. */
enum comparison { AS_SHARED, AS_STORES, ON_WAY, COMPARISONS = ON_WAY + TURNS };

struct exchanges {
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_loops loops;
    struct tr_shapes shapes;
    struct tr_effects effects;
    struct tr_lane_ids ids;
    struct tr_lane_ids narrow_ids; /* as if rows were shorter than a warp, */
    bool may_be_narrow;            /* where nobody knows */
    bool *is_barrier;
    struct place *places;       /* by access */
    uint32_t *lanes;            /* by segment: those that may come there */
    uint32_t *way_lanes[TURNS]; /* … in that turn of loops */
    struct tr_set counted;      /* values made of a vote's or match's result */
    struct tr_set told;         /* values made of what a lane has told others */
    struct tr_set loaded;       /* values made of what lanes have loaded, each its own */
    uint32_t depth_max;         /* of loops */
    bool has_turns;             /* a place has a turn_depth */
    uint32_t turned;        /* loops of this depth or less may begin a turn between two accesses */
    bool finds_looked_up;   /* elements that are looked up are exchanged */
    bool looks_twice;       /* … and so those that several lanes look up */
    uint32_t group;         /* as many lanes, or more: a power of two */
    struct tr_set met;      /* accesses before which lanes meet */
    struct tr_set met_ends; /* segments at the end of which they do */
    uint32_t first;         /* of the two accesses that make the exchange found last */
    struct tr_set visited;  /* segments */
    uint32_t *kinds;        /* an access of each kind of place: the same lanes and bytes */
    uint32_t kind_count;
    struct tr_set compared[COMPARISONS]; /* pairs of kinds */
    struct tr_set shared[COMPARISONS];   /* those that make an exchange */
    uint32_t *work;
};

/* ---- pairs ---- */

static bool overlaps(const struct tr_access *a, uint64_t at, const struct tr_access *b, uint64_t bt)
{
    return bt - at < a->size_bytes || at - bt < b->size_bytes;
}

/* Whether something is known of where the access is. */
static bool is_place(const struct place *place)
{
    return place->is_known || place->is_told || place->is_counted || place->is_looked_up ||
           place->way[0] != NULL;
}

/* Whether i is on every way to k. */
static bool is_before(const struct exchanges *x, uint32_t i, uint32_t k)
{
    uint32_t from = x->effects.accesses[i].segment, to = x->effects.accesses[k].segment;
    return from == to ? i < k : tr_dominates(&x->dominators, from, to);
}

/* Whether the lane has stored there itself, on every way to the load. */
static bool reads_own(const struct exchanges *x, uint32_t load)
{
    const struct tr_access *there = &x->effects.accesses[load];
    for (uint32_t i = 0; i < x->effects.access_count; i++) {
        const struct tr_access *access = &x->effects.accesses[i];
        if (access->is_write && access->pointer == there->pointer && is_before(x, i, load))
            return true;
    }
    return false;
}

static bool is_among(uint32_t lanes, uint32_t lane)
{
    return (lanes >> lane & 1) != 0;
}

static bool comes(const struct place *place, uint32_t lane)
{
    return is_among(place->lanes, lane);
}

/* Of two stores one behind the other: whether lanes that run one after another leave what a lane
 * has stored by the first where all that is left in step is what a lane before it has stored by the
 * second. */
static bool is_overwritten_late(const struct exchanges *x, uint32_t i, uint32_t k)
{
    const struct tr_access *a = &x->effects.accesses[i], *b = &x->effects.accesses[k];
    const struct place *p = &x->places[i], *q = &x->places[k];
    if (!p->is_known || !q->is_known)
        return false;
    for (uint32_t late = 1; late < RT_WARP_SIZE; late++) {
        bool is_hit = false;
        for (uint32_t lane = 0; lane < RT_WARP_SIZE && comes(p, late); lane++)
            if (comes(q, lane) && overlaps(a, p->address.of[late], b, q->address.of[lane]))
                is_hit = lane < late; /* the last one counts */
        if (is_hit)
            return true;
    }
    return false;
}

/* Where the lanes of a group go by two accesses. */
struct meeting {
    const uint64_t *at, *bt;
    uint32_t from, to; /* the lanes that come */
    uint32_t group;
};

/* Whether two lanes of a group come to the same bytes. */
static bool do_meet(const struct exchanges *x, uint32_t i, uint32_t k, const struct meeting *m)
{
    const struct tr_access *a = &x->effects.accesses[i], *b = &x->effects.accesses[k];
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++) {
        uint32_t hits = 0, first = lane / m->group * m->group;
        if (!is_among(m->from, lane))
            continue;
        for (uint32_t other = first; other < first + m->group; other++)
            hits |= (uint32_t)overlaps(a, m->at[lane], b, m->bt[other]) << other;
        if ((hits & m->to & ~(1u << lane)) != 0)
            return true;
    }
    return false;
}

/* Whether they do. */
static bool is_shared(const struct exchanges *x, uint32_t i, uint32_t k, uint32_t group)
{
    const struct place *p = &x->places[i], *q = &x->places[k];
    const struct meeting of = {p->address.of, q->address.of, p->lanes, q->lanes, group};
    return do_meet(x, i, k, &of);
}

/* Whether the place is the same in all turns of loops. */
static bool is_fixed(const struct place *place)
{
    return place->is_known && place->turn_depth == TR_NONE;
}

/* Whether no two of the lanes that come to the same bytes are in the segment of both at once. */
static bool are_apart(const struct exchanges *x, uint32_t i, uint32_t k)
{
    const struct tr_access *a = &x->effects.accesses[i], *b = &x->effects.accesses[k];
    const struct place *p = &x->places[i], *q = &x->places[k];
    bool are_fixed = is_fixed(p) && is_fixed(q);
    uint32_t together[RT_WARP_SIZE];
    if (a->segment != b->segment || !tr_lanes_together(&x->effects, &x->ids, a->segment, together))
        return false;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        for (uint32_t other = 0; other < RT_WARP_SIZE; other++)
            if (other != lane && is_among(together[lane], other) &&
                (!are_fixed || overlaps(a, p->address.of[lane], b, q->address.of[other])))
                return false;
    return true;
}

/* Likewise on one way: in narrow blocks, too, if the block's shape is not known, for else what a
 * lane of the next row has would be taken for what is far away in a row. */
static bool is_shared_on_way(const struct exchanges *x, uint32_t i, uint32_t k, uint32_t turn)
{
    const struct place *p = &x->places[i], *q = &x->places[k];
    const struct meeting of = {p->way[turn]->of, q->way[turn]->of, p->way_lanes[turn],
                               q->way_lanes[turn], RT_WARP_SIZE};
    if (!do_meet(x, i, k, &of))
        return false;
    if (!x->may_be_narrow)
        return true;
    const struct meeting narrow = {p->narrow_way[turn]->of, q->narrow_way[turn]->of, UINT32_MAX,
                                   UINT32_MAX, RT_WARP_SIZE};
    return do_meet(x, i, k, &narrow);
}

/* Whether lanes that access `own` do so lane by lane, in an array that begins at `first`. */
static bool is_row_from(const struct tr_lane_values *own, uint32_t lanes, uint64_t first)
{
    uint64_t stride = own->of[1] - own->of[0];
    if ((lanes & 3) != 3 || stride == 0 || stride >> 63 != 0 || own->of[0] - first >= stride)
        return false;
    for (uint32_t lane = 1; lane < RT_WARP_SIZE; lane++)
        if (is_among(lanes, lane) && own->of[lane] - own->of[lane - 1] != stride)
            return false;
    return true;
}

static bool are_equal(const struct tr_lane_values *a, const struct tr_lane_values *b)
{
    return a == NULL || b == NULL ? a == b : memcmp(a->of, b->of, sizeof a->of) == 0;
}

static bool has_same_ways(const struct place *p, const struct place *q)
{
    for (uint32_t turn = 0; turn < TURNS; turn++)
        if (p->way_lanes[turn] != q->way_lanes[turn] || !are_equal(p->way[turn], q->way[turn]) ||
            !are_equal(p->narrow_way[turn], q->narrow_way[turn]))
            return false;
    return true;
}

static bool is_alike(const struct exchanges *x, uint32_t i, uint32_t k)
{
    const struct tr_access *a = &x->effects.accesses[i], *b = &x->effects.accesses[k];
    const struct place *p = &x->places[i], *q = &x->places[k];
    return a->size_bytes == b->size_bytes && p->lanes == q->lanes && p->is_known == q->is_known &&
           p->is_told == q->is_told && p->is_looked_up == q->is_looked_up &&
           are_equal(&p->address, &q->address) && has_same_ways(p, q);
}

/* Most accesses of a long kernel are to the places of others. */
static uint32_t kind_of(struct exchanges *x, uint32_t i)
{
    uint32_t kind = 0;
    while (kind < x->kind_count && !is_alike(x, x->kinds[kind], i))
        kind++;
    if (kind == x->kind_count && kind < KINDS_MAX)
        x->kinds[x->kind_count++] = i;
    return kind;
}

static bool compare(const struct exchanges *x, uint32_t i, uint32_t k, uint32_t comparison)
{
    if (comparison == AS_STORES)
        return is_overwritten_late(x, i, k);
    return comparison == AS_SHARED
               ? is_shared(x, i, k, x->places[i].is_told ? x->group : RT_WARP_SIZE)
               : is_shared_on_way(x, i, k, comparison - ON_WAY);
}

/* What compare says of two kinds is asked once. */
static bool is_shared_by_kinds(struct exchanges *x, uint32_t i, uint32_t k, uint32_t comparison)
{
    const struct place *p = &x->places[i], *q = &x->places[k];
    uint32_t pair = p->kind * KINDS_MAX + q->kind;
    if (p->kind == KINDS_MAX || q->kind == KINDS_MAX || p->is_told != q->is_told)
        return false;
    if (!tr_set_has(&x->compared[comparison], pair)) {
        tr_set_add(&x->compared[comparison], pair);
        if (compare(x, i, k, comparison))
            tr_set_add(&x->shared[comparison], pair);
    }
    return tr_set_has(&x->shared[comparison], pair);
}

/* Whether several lanes may look up one place. */
static bool is_looked_up_twice(const struct exchanges *x, uint32_t i, uint32_t k)
{
    const struct tr_access *a = &x->effects.accesses[i], *b = &x->effects.accesses[k];
    return x->looks_twice && (!a->is_write || a->pointer != b->pointer) &&
           x->places[i].address.of[0] == x->places[k].address.of[0];
}

/* Whether ways are the same for both accesses: in the next turn of a loop a place may be another
 * one, as with two buffers in turn. */
static bool is_same_turn(const struct exchanges *x, const struct place *p, const struct place *q)
{
    return p->turn_depth > x->turned && q->turn_depth > x->turned;
}

static bool is_looked_up_pair(struct exchanges *x, uint32_t i, uint32_t k)
{
    const struct place *p = &x->places[i], *q = &x->places[k];
    if (p->is_looked_up && q->is_looked_up)
        return is_looked_up_twice(x, i, k);
    const struct place *own = p->is_looked_up ? q : p;
    uint64_t first = (p->is_looked_up ? p : q)->address.of[0];
    bool is_pair = (own->is_known && is_row_from(&own->address, own->lanes, first)) ||
                   (own->way[0] != NULL && is_same_turn(x, p, q) &&
                    is_row_from(own->way[0], own->lanes, first));
    x->finds_looked_up |= is_pair;
    return is_pair;
}

/* In the second turn only within one loop: there is no telling in which turn of another one it is.
 */
static bool is_shared_in_turn(struct exchanges *x, uint32_t i, uint32_t k, uint32_t turn)
{
    uint32_t loop = x->loops.innermost[x->effects.accesses[i].segment];
    return x->places[i].way[turn] != NULL && x->places[k].way[turn] != NULL &&
           (turn == 0 ||
            (loop != TR_NONE && loop == x->loops.innermost[x->effects.accesses[k].segment])) &&
           is_shared_by_kinds(x, i, k, ON_WAY + turn);
}

static bool is_shared_pair(struct exchanges *x, uint32_t i, uint32_t k, bool are_stores)
{
    const struct place *p = &x->places[i], *q = &x->places[k];
    bool are_told = p->is_told && q->is_told;
    if ((are_told || (p->is_known && q->is_known)) &&
        is_shared_by_kinds(x, i, k, are_stores ? AS_STORES : AS_SHARED))
        return true;
    for (uint32_t turn = 0; !are_stores && is_same_turn(x, p, q) && turn < TURNS; turn++)
        if (is_shared_in_turn(x, i, k, turn))
            return true;
    return false;
}

/* Whether lanes get, or overwrite, what other lanes of their warp have made. is_direct: the lanes
 * go from one to the other within a segment. */
static bool is_exchange(struct exchanges *x, uint32_t i, uint32_t k, bool is_direct)
{
    const struct tr_access *a = &x->effects.accesses[i], *b = &x->effects.accesses[k];
    const struct place *p = &x->places[i], *q = &x->places[k];
    bool are_stores = a->is_write && b->is_write;
    if (!is_place(p) || !is_place(q) || (!a->is_write && !b->is_write) ||
        (p->lane_edge != TR_NONE && p->lane_edge == q->lane_edge))
        return false;
    if (!are_stores && (p->is_counted || q->is_counted))
        return p->is_counted && a->is_write && a->pointer != b->pointer && !reads_own(x, k);
    if (p->is_looked_up || q->is_looked_up)
        return is_looked_up_pair(x, i, k);
    return is_shared_pair(x, i, k, are_stores) && !(is_direct && are_apart(x, i, k));
}

/* Looks at the accesses of the segment from `end` - 1 backwards. true: k makes an exchange with
 * one; *goes_on: the beginning has been reached without a place where lanes meet. If `end` is k, in
 * the same segment. */
static bool look_back(struct exchanges *x, uint32_t segment, uint32_t end, uint32_t k,
                      bool *goes_on)
{
    *goes_on = false;
    for (uint32_t i = end; i-- > x->effects.first_access[segment];) {
        if (is_exchange(x, i, k, end == k && x->effects.accesses[k].segment == segment)) {
            x->first = i;
            return true;
        }
        if (tr_set_has(&x->met, i))
            return false;
    }
    *goes_on = true;
    return false;
}

/* Whether the edge leads back to the beginning of a loop that is deeper than x->turned. */
static bool is_next_turn(const struct exchanges *x, uint32_t from, uint32_t to)
{
    if (from < to || x->turned == x->depth_max) /* reverse postorder */
        return false;
    uint32_t loop = x->loops.innermost[to];
    return loop == TR_NONE || x->loops.loops[loop].header != to ||
           x->loops.loops[loop].depth > x->turned;
}

/* Whether k makes an exchange with an access before, where loops deeper than x->turned do not begin
 * another turn between. */
static bool finds_exchange(struct exchanges *x, uint32_t k)
{
    uint32_t segment = x->effects.accesses[k].segment;
    uint32_t count = 0;
    bool goes_on;
    memset(x->visited.words, 0, x->visited.word_count * sizeof *x->visited.words);
    if (look_back(x, segment, k, k, &goes_on))
        return true;
    if (goes_on)
        x->work[count++] = segment;
    while (count > 0) {
        uint32_t to = x->work[--count];
        const struct tr_segment *s = &x->graph.segments[to];
        for (uint32_t i = 0; i < s->pred_count; i++) {
            uint32_t p = s->preds[i];
            if (tr_set_has(&x->visited, p) || x->graph.segments[p].is_sync_point ||
                tr_set_has(&x->met_ends, p) || is_next_turn(x, p, to))
                continue;
            tr_set_add(&x->visited, p);
            if (look_back(x, p, x->effects.first_access[p + 1], k, &goes_on))
                return true;
            if (goes_on)
                x->work[count++] = p;
        }
    }
    return false;
}

static bool needs_meeting(struct exchanges *x, uint32_t k)
{
    for (x->turned = x->has_turns ? 0 : x->depth_max; x->turned <= x->depth_max; x->turned++)
        if (finds_exchange(x, k))
            return true;
    return false;
}

/* The last segment before k's that all threads come to, if all ways from the exchange's first
 * access to k pass its end; TR_NONE: k's is such a segment, or some do not. */
static uint32_t branch_before(const struct exchanges *x, uint32_t k)
{
    uint32_t own = x->effects.accesses[k].segment, from = x->effects.accesses[x->first].segment;
    uint32_t s = own;
    while (s != TR_NONE && !x->shapes.is_uniform_segment[s])
        s = x->dominators.idom[s];
    bool is_passed = s != TR_NONE && (s == from || !tr_dominates(&x->dominators, s, from));
    return s != own && is_passed ? s : TR_NONE;
}

static void find_meetings_before(struct exchanges *x, uint32_t k)
{
    while (!tr_set_has(&x->met, k) && needs_meeting(x, k)) {
        uint32_t branch = branch_before(x, k);
        if (branch == TR_NONE)
            tr_set_add(&x->met, k);
        else
            tr_set_add(&x->met_ends, branch);
    }
}

static void find_meetings(struct exchanges *x)
{
    for (uint32_t k = 0; k < x->effects.access_count; k++)
        if (is_place(&x->places[k]))
            find_meetings_before(x, k);
}

/* ---- the program ---- */

static bool counts_lanes(const struct exchanges *x, uint32_t value)
{
    LLVMValueRef inst = x->graph.values[value].llvm;
    enum rt_placeholder placeholder = tr_placeholder_of(inst);
    if (placeholder != RT_CALL_VOTE)
        return placeholder == RT_CALL_MATCH;
    LLVMValueRef mode = LLVMIsAConstantInt(LLVMGetOperand(inst, 1));
    return mode != NULL && LLVMConstIntGetZExtValue(mode) == RT_VOTE_BALLOT;
}

/* Whether lanes get what the one has that they name. */
static bool tells(LLVMValueRef inst)
{
    if (tr_placeholder_of(inst) != RT_CALL_SHFL)
        return false;
    LLVMValueRef mode = LLVMIsAConstantInt(LLVMGetOperand(inst, 1));
    return mode != NULL && LLVMConstIntGetZExtValue(mode) == RT_SHFL_IDX;
}

static bool tells_lanes(const struct exchanges *x, uint32_t value)
{
    return tells(x->graph.values[value].llvm);
}

/* A thread's own memory holds what it has computed. */
static bool loads_its_own(const struct exchanges *x, uint32_t value)
{
    LLVMValueRef inst = x->graph.values[value].llvm;
    return x->graph.values[value].opcode == LLVMLoad &&
           x->shapes.values[value].kind != TR_UNIFORM &&
           (tr_origins_of(&x->effects, LLVMGetOperand(inst, 0)) & TR_ORIGIN_LOCAL) == 0;
}

/* Adds a value, and to the work where it is new. */
static uint32_t add_new(struct tr_set *set, uint32_t v, uint32_t *work, uint32_t count)
{
    if (tr_set_has(set, v))
        return count;
    tr_set_add(set, v);
    work[count] = v;
    return count + 1;
}

/* Fills the set with the values made of results of such instructions. false: out of memory. */
static bool find_made_of(struct exchanges *x,
                         bool (*is_source)(const struct exchanges *x, uint32_t value),
                         struct tr_set *set)
{
    uint32_t values = x->graph.value_count, count = 0;
    uint32_t *work = pxr_arena_alloc_array(&x->graph.arena, values, sizeof *work);
    *set = tr_set_make(&x->graph.arena, values);
    if (work == NULL || set->words == NULL)
        return false;
    for (uint32_t v = 0; v < values; v++)
        if (is_source(x, v))
            count = add_new(set, v, work, count);
    while (count > 0) {
        const struct tr_value *value = &x->graph.values[work[--count]];
        for (uint32_t i = 0; i < value->use_count; i++)
            if (x->graph.values[value->uses[i]].opcode != LLVMLoad) /* of what somebody stored */
                count = add_new(set, value->uses[i], work, count);
    }
    return true;
}

static bool is_made(const struct exchanges *x, const struct tr_set *set, LLVMValueRef pointer)
{
    uint32_t v = pointer == NULL ? TR_NONE : tr_graph_number(&x->graph, pointer);
    return v != TR_NONE && tr_set_has(set, v);
}

/* PTX's c of a shuffle among so many lanes is (32 - lanes) << 8 | 31. */
static uint32_t group_of(LLVMValueRef shuffle)
{
    LLVMValueRef c = LLVMIsAConstantInt(LLVMGetOperand(shuffle, 4));
    uint32_t outside = c == NULL ? 0 : (uint32_t)LLVMConstIntGetZExtValue(c) >> 8 & 31;
    uint32_t lanes = RT_WARP_SIZE - outside;
    return (lanes & (lanes - 1)) == 0 ? lanes : RT_WARP_SIZE;
}

static uint32_t smallest_group(const struct exchanges *x)
{
    uint32_t group = RT_WARP_SIZE;
    for (uint32_t v = 0; v < x->graph.value_count; v++)
        if (tells(x->graph.values[v].llvm) && group_of(x->graph.values[v].llvm) < group)
            group = group_of(x->graph.values[v].llvm);
    return group;
}

/* Whether lanes have told each other where that is, and others can see it. */
static bool is_told(const struct exchanges *x, const struct tr_access *access)
{
    return (access->origins & ~(TR_ORIGIN_LOCAL | TR_ORIGIN_CONSTANT)) != 0 &&
           is_made(x, &x->told, access->pointer);
}

static bool is_candidate(const struct exchanges *x, const struct tr_access *access)
{
    return !access->is_wall && access->pointer != NULL &&
           (access->origins == TR_ORIGIN_SHARED || is_told(x, access));
}

/* Whether lanes look up where that is, with what they have loaded for 0, in one array of shared
 * memory. */
static bool is_looked_up(const struct exchanges *x, const struct tr_access *access,
                         struct tr_lane_values *address)
{
    if (access->origins != TR_ORIGIN_SHARED || !is_made(x, &x->loaded, access->pointer) ||
        !tr_evaluate_group(&x->effects, &x->ids, &x->loaded, access->pointer, address))
        return false;
    for (uint32_t lane = 1; lane < RT_WARP_SIZE; lane++)
        if (address->of[lane] != address->of[0])
            return false;
    return true;
}

/* Whether x->ids may not be those of a warp, but what would be one if the block were one row. */
static bool may_be_narrow(const struct tr_facts *facts)
{
    return facts->block[0] == 0 && !tr_is_row_scope(TR_SCOPE_WARP, facts);
}

/* NULL: not known, or out of memory. */
static const struct tr_lane_values *find_way(struct exchanges *x, const struct tr_access *access,
                                             const struct tr_lane_ids *ids, uint32_t turn,
                                             uint32_t *turn_depth)
{
    struct tr_lane_values way;
    if (!tr_evaluate_way(&x->effects, ids, access->pointer, turn, &way, turn_depth))
        return NULL;
    struct tr_lane_values *copy = pxr_arena_alloc(&x->graph.arena, sizeof *copy);
    if (copy != NULL)
        *copy = way;
    return copy;
}

static void find_ways(struct exchanges *x, const struct tr_access *access, struct place *place)
{
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        uint32_t depth = TR_NONE;
        place->way[turn] = find_way(x, access, &x->ids, turn, &depth);
        if (place->way[turn] != NULL && x->may_be_narrow)
            place->narrow_way[turn] = find_way(x, access, &x->narrow_ids, turn, &depth);
        if (x->may_be_narrow && place->narrow_way[turn] == NULL)
            place->way[turn] = NULL;
        if (place->way[turn] != NULL && depth < place->turn_depth)
            place->turn_depth = depth;
    }
    x->has_turns |= place->turn_depth != TR_NONE;
}

static void find_places(struct exchanges *x)
{
    uint32_t edge = TR_NONE, edge_of = TR_NONE; /* the segment that it is of */
    for (uint32_t i = 0; i < x->effects.access_count; i++) {
        const struct tr_access *access = &x->effects.accesses[i];
        struct place *place = &x->places[i];
        if (!is_candidate(x, access))
            continue;
        place->turn_depth = TR_NONE;
        place->is_counted =
            access->origins == TR_ORIGIN_SHARED && is_made(x, &x->counted, access->pointer);
        place->is_known = tr_evaluate_lanes(&x->effects, &x->ids, access->pointer, &place->address);
        place->is_told =
            !place->is_known && is_told(x, access) &&
            tr_evaluate_group(&x->effects, &x->ids, &x->told, access->pointer, &place->address);
        place->is_looked_up = !place->is_known && !place->is_told && !place->is_counted &&
                              is_looked_up(x, access, &place->address);
        if (access->origins == TR_ORIGIN_SHARED && !place->is_looked_up && !place->is_counted)
            find_ways(x, access, place);
        if (!is_place(place))
            continue;
        if (access->segment != edge_of)
            edge = tr_lane_edge_of(&x->effects, &x->ids, access->segment);
        edge_of = access->segment;
        place->lanes = x->lanes[access->segment];
        for (uint32_t turn = 0; turn < TURNS; turn++)
            place->way_lanes[turn] = x->way_lanes[turn][access->segment];
        place->lane_edge = edge;
        place->kind = kind_of(x, i);
    }
}

static void build_meeting(struct exchanges *x, LLVMBuilderRef builder, uint32_t site,
                          LLVMValueRef inst)
{
    LLVMModuleRef module = LLVMGetGlobalParent(x->graph.function);
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    LLVMValueRef converge = tr_declare_placeholder(module, RT_CALL_WARP_CONVERGE);
    LLVMValueRef args[2] = {LLVMGetParam(x->graph.function, 0), LLVMConstInt(i32, site, false)};
    LLVMPositionBuilderBefore(builder, inst);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(inst));
    LLVMBuildCall2(builder, LLVMGlobalGetValueType(converge), converge, args, 2, "");
}

static void build_meetings(struct exchanges *x)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(x->graph.function));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    uint32_t site = RT_SITE_EXCHANGE;
    for (uint32_t i = tr_set_next(&x->met, 0); i != TR_NONE; i = tr_set_next(&x->met, i + 1))
        build_meeting(x, builder, site++, x->graph.values[x->effects.accesses[i].value].llvm);
    for (uint32_t s = tr_set_next(&x->met_ends, 0); s != TR_NONE;
         s = tr_set_next(&x->met_ends, s + 1))
        build_meeting(x, builder, site++, tr_end_of(&x->graph, s));
    LLVMDisposeBuilder(builder);
}

static uint32_t count_candidates(const struct exchanges *x)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->effects.access_count; i++)
        count += is_candidate(x, &x->effects.accesses[i]);
    return count;
}

static enum pxr_status analyse(struct exchanges *x, struct pxr_error *err)
{
    enum pxr_status status =
        tr_effects_analyse(&x->graph, x->effects.facts, &x->dominators, &x->loops, &x->shapes, err);
    if (status != PXR_OK)
        return status;
    struct pxr_arena *arena = &x->graph.arena;
    uint32_t segments = x->graph.segment_count;
    x->is_barrier = pxr_arena_alloc_array(arena, segments, sizeof *x->is_barrier);
    x->work = pxr_arena_alloc_array(arena, (size_t)segments + 1, sizeof *x->work);
    x->visited = tr_set_make(arena, segments);
    if (x->is_barrier == NULL || x->work == NULL || x->visited.words == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory looking for exchanges of lanes");
    for (uint32_t s = 0; s < segments; s++)
        x->is_barrier[s] = x->graph.segments[s].is_sync_point;
    x->effects.graph = &x->graph;
    x->effects.dominators = &x->dominators;
    x->effects.loops = &x->loops;
    x->effects.shapes = &x->shapes;
    x->effects.is_barrier = x->is_barrier;
    return tr_effects_build(&x->effects, err);
}

static bool find_lanes(struct exchanges *x)
{
    bool is_found = tr_lanes_of_segments(&x->effects, &x->ids, TR_NONE, x->lanes);
    for (uint32_t turn = 0; turn < TURNS && is_found; turn++) {
        x->way_lanes[turn] =
            pxr_arena_alloc_array(&x->graph.arena, x->graph.segment_count, sizeof *x->lanes);
        is_found = x->way_lanes[turn] != NULL &&
                   tr_lanes_of_segments(&x->effects, &x->ids, turn, x->way_lanes[turn]);
    }
    return is_found;
}

static enum pxr_status order(struct exchanges *x, struct pxr_error *err)
{
    static const char nothing_left[] = "out of memory looking for exchanges of lanes";
    static const uint32_t narrow[3] = {16, 2, 1};
    uint32_t accesses = x->effects.access_count;
    bool is_lacking = false;
    if (!find_made_of(x, tells_lanes, &x->told))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, nothing_left);
    uint32_t candidates = count_candidates(x);
    if (candidates == 0 || candidates > ACCESSES_MAX)
        return PXR_OK;
    x->group = smallest_group(x);
    x->places = pxr_arena_alloc_array(&x->graph.arena, accesses, sizeof *x->places);
    x->met = tr_set_make(&x->graph.arena, accesses);
    x->met_ends = tr_set_make(&x->graph.arena, x->graph.segment_count);
    x->lanes = pxr_arena_alloc_array(&x->graph.arena, x->graph.segment_count, sizeof *x->lanes);
    x->ids = tr_lane_ids_of(x->effects.facts->block, 0);
    x->narrow_ids = tr_lane_ids_of(narrow, 0);
    x->may_be_narrow = may_be_narrow(x->effects.facts);
    x->kinds = pxr_arena_alloc_array(&x->graph.arena, KINDS_MAX, sizeof *x->kinds);
    for (unsigned i = 0; i < COMPARISONS; i++) {
        x->compared[i] = tr_set_make(&x->graph.arena, KINDS_MAX * KINDS_MAX);
        x->shared[i] = tr_set_make(&x->graph.arena, KINDS_MAX * KINDS_MAX);
        is_lacking |= x->compared[i].words == NULL || x->shared[i].words == NULL;
    }
    if (is_lacking || x->kinds == NULL || x->places == NULL || x->met.words == NULL ||
        x->met_ends.words == NULL || x->lanes == NULL ||
        !find_made_of(x, counts_lanes, &x->counted) ||
        !find_made_of(x, loads_its_own, &x->loaded) || !find_lanes(x))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, nothing_left);
    for (uint32_t loop = 0; loop < x->loops.count; loop++)
        if (x->loops.loops[loop].depth > x->depth_max)
            x->depth_max = x->loops.loops[loop].depth;
    find_places(x);
    find_meetings(x);
    x->looks_twice = x->finds_looked_up;
    if (x->looks_twice)
        find_meetings(x);
    build_meetings(x);
    return PXR_OK;
}

/* Whether the kernel asks where the block's shared memory is, or lanes tell each other something.
 */
static bool may_exchange(LLVMValueRef function)
{
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        if (tells(inst))
            return true;
        if (LLVMIsALoadInst(inst) == NULL)
            continue;
        struct tr_field field = tr_field_of(inst, TR_RECORD_THREAD);
        if (field.record == TR_RECORD_BLOCK && field.has_offset &&
            field.offset == offsetof(struct rt_block, shared))
            return true;
    }
    return false;
}

enum pxr_status tr_order_exchanges(LLVMModuleRef module, const struct tr_facts *facts,
                                   struct pxr_error *err)
{
    static const struct tr_facts nothing = {0};
    struct exchanges x = {.effects = {.facts = facts == NULL ? &nothing : facts}};
    LLVMValueRef function = LLVMGetNamedFunction(module, TR_KERNEL_NAME);
    if (!may_exchange(function))
        return PXR_OK;
    enum pxr_status status = tr_graph_build(&x.graph, function, tr_is_sync_point, err);
    if (status != PXR_OK)
        return status;
    if (x.graph.segment_count <= SEGMENTS_MAX)
        status = analyse(&x, err);
    if (status == PXR_OK && x.effects.graph != NULL)
        status = order(&x, err);
    tr_graph_fini(&x.graph);
    return status;
}
