/* SPDX-License-Identifier: Apache-2.0
 *
 * Warp operations. PTX ISA, of all .sync forms: "causes executing thread to wait until all
 * non-exited threads corresponding to membermask have executed [it] with the same qualifiers and
 * same membermask value before resuming execution". Where in the program a lane executes it does
 * not matter. Lanes that the block does not have are never live and nobody waits for them.
 *
 * A lane outside its own membermask is undefined in PTX, but programs have them, and a machine
 * executes the operation for all lanes that are together: such a lane gathers, and gets the value
 * of any lane that has come, or the vote of those in its mask.
 */
#include "kernel_abi/lanes.h"
#include "kernel_abi/placeholders.h"
#include "scheduler/turns.h"

/* Lanes meet that execute the same operation in the same mode. */
#define KIND(op, mode) ((uint32_t)(op) << 8 | (uint32_t)(mode))

/* The site of lanes outside their own mask: with the kind. Like those of lanes in step, it is
 * behind those of volatile accesses. */
#define SITE_OUTSIDE 0x20000000u

#define FOR_EACH_LANE(lane, set)                                                                   \
    for (uint32_t rest_ = (set), lane = 0;                                                         \
         rest_ != 0 && (lane = (uint32_t)__builtin_ctz(rest_), 1); rest_ &= rest_ - 1)

/* ---- what the lanes in `lanes`, all that have arrived, get ---- */

static void do_sync(struct sch_warp *warp, uint32_t mode, uint32_t lanes)
{
    (void)warp;
    (void)mode;
    (void)lanes;
}

/* The value of a lane that does not take part is undefined; here it is 0. */
static uint64_t shfl_lane(const struct sch_warp *warp, uint32_t mode, uint32_t lanes, uint32_t lane)
{
    bool is_in_range;
    uint32_t source = rt_shfl_source(mode, lane, warp->b[lane], warp->c[lane], &is_in_range);
    if (!is_in_range)
        return (uint32_t)warp->value[lane];
    bool takes_part = (lanes & SCH_LANE(source)) != 0;
    return RT_PREDICATE_BIT | (takes_part ? (uint32_t)warp->value[source] : 0);
}

static void do_shfl(struct sch_warp *warp, uint32_t mode, uint32_t lanes)
{
    FOR_EACH_LANE(lane, lanes)
    warp->result[lane] = shfl_lane(warp, mode, lanes, lane);
}

static void do_vote(struct sch_warp *warp, uint32_t mode, uint32_t lanes)
{
    uint32_t ballot = 0;
    FOR_EACH_LANE(lane, lanes)
    ballot |= warp->value[lane] != 0 ? SCH_LANE(lane) : 0;
    uint32_t result = rt_vote_result(mode, ballot, lanes);
    FOR_EACH_LANE(lane, lanes)
    warp->result[lane] = result;
}

static uint32_t lanes_with(const struct sch_warp *warp, uint32_t lanes, uint64_t value)
{
    uint32_t same = 0;
    FOR_EACH_LANE(lane, lanes)
    same |= warp->value[lane] == value ? SCH_LANE(lane) : 0;
    return same;
}

/* match.any gives the lanes with the same value; match.all gives all lanes and true if there is
 * only one value, otherwise no lanes and false. */
static void do_match(struct sch_warp *warp, uint32_t is_all, uint32_t lanes)
{
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t same = lanes_with(warp, lanes, warp->value[lane]);
        if (!is_all)
            warp->result[lane] = same;
        else
            warp->result[lane] = same == lanes ? RT_PREDICATE_BIT | lanes : 0;
    }
}

static void do_redux(struct sch_warp *warp, uint32_t op, uint32_t lanes)
{
    uint32_t first = (uint32_t)__builtin_ctz(lanes);
    uint32_t sum = (uint32_t)warp->value[first];
    FOR_EACH_LANE(lane, lanes & ~SCH_LANE(first))
    sum = rt_redux_step(op, sum, (uint32_t)warp->value[lane]);
    sum = rt_redux_end(op, sum);
    FOR_EACH_LANE(lane, lanes)
    warp->result[lane] = sum;
}

/* "Election of a leader thread happens deterministically": the lowest lane. */
static void do_elect(struct sch_warp *warp, uint32_t mode, uint32_t lanes)
{
    (void)mode;
    uint32_t leader = (uint32_t)__builtin_ctz(lanes);
    FOR_EACH_LANE(lane, lanes)
    warp->result[lane] = leader | (lane == leader ? RT_PREDICATE_BIT : 0);
}

/* Halves of lanes that do not take part are 0. */
static void do_movmatrix(struct sch_warp *warp, uint32_t mode, uint32_t lanes)
{
    (void)mode;
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t halves[2] = {0};
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t source = rt_transpose_source(lane, i);
            if (lanes & SCH_LANE(source))
                halves[i] = (uint32_t)warp->value[source] >> rt_transpose_shift(lane) & 0xffff;
        }
        warp->result[lane] = halves[0] | halves[1] << 16;
    }
}

/* All lanes have brought the same operation, which knows where their words are. */
static void do_words(struct sch_warp *warp, uint32_t mode, uint32_t lanes)
{
    (void)mode;
    rt_warp_fn operation = (rt_warp_fn)(uintptr_t)warp->value[__builtin_ctz(lanes)];
    operation(warp->words, lanes);
}

static void (*const warp_ops[RT_PLACEHOLDER_COUNT])(struct sch_warp *, uint32_t, uint32_t) = {
    [RT_CALL_WARP_SYNC] = do_sync,      [RT_CALL_SHFL] = do_shfl,
    [RT_CALL_VOTE] = do_vote,           [RT_CALL_MATCH] = do_match,
    [RT_CALL_REDUX] = do_redux,         [RT_CALL_ELECT] = do_elect,
    [RT_CALL_MOVMATRIX] = do_movmatrix, [RT_CALL_WARP_WORDS] = do_words,
    [RT_CALL_WARP_MEMORY] = do_words,
};

/* ---- meeting ---- */

/* Lets the lanes go if all live members have arrived. The meeting's place is filled by the last. */
static bool complete(struct sch_block *block, uint32_t w, struct sch_meeting *meeting)
{
    struct sch_warp *warp = &block->warps[w];
    if ((meeting->mask & warp->live & ~meeting->arrived) != 0)
        return false;
    uint32_t lanes = meeting->arrived;
    warp_ops[meeting->kind >> 8](warp, meeting->kind & 0xff, lanes);
    *meeting = warp->meetings[--warp->meeting_count];
    sch_lanes_ready(block, w, lanes);
    return true;
}

static struct sch_meeting *find_meeting(struct sch_warp *warp, uint32_t kind, uint32_t mask)
{
    for (uint32_t i = 0; i < warp->meeting_count; i++) {
        struct sch_meeting *meeting = &warp->meetings[i];
        if (meeting->kind == kind && meeting->mask == mask)
            return meeting;
    }
    struct sch_meeting *meeting = &warp->meetings[warp->meeting_count++];
    *meeting = (struct sch_meeting){.kind = kind, .mask = mask};
    return meeting;
}

static void gather(struct rt_thread *rt, uint32_t site);

static bool is_for_outsiders(uint32_t kind)
{
    return kind >> 8 == RT_CALL_SHFL || kind >> 8 == RT_CALL_VOTE || kind >> 8 == RT_CALL_WARP_SYNC;
}

static void meet(struct rt_thread *rt, uint32_t kind, uint32_t mask, uint64_t value)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_warp *warp = sch_warp_of(thread);
    uint32_t lane = rt->lane;
    if (mask != UINT32_MAX && is_for_outsiders(kind)) {
        warp->brought |= SCH_LANE(lane);
        warp->shares[lane] = (struct sch_share){.kind = kind,
                                                .mask = mask,
                                                .value = (uint32_t)value,
                                                .b = warp->b[lane],
                                                .c = warp->c[lane]};
        if (!(mask & SCH_LANE(lane))) {
            gather(rt, SITE_OUTSIDE | kind);
            return;
        }
    }
    if (!(mask & SCH_LANE(lane)))
        mask = SCH_LANE(lane);
    warp->value[lane] = value;
    struct sch_meeting *meeting = find_meeting(warp, kind, mask);
    meeting->arrived |= SCH_LANE(lane);
    sch_thread_arrive(thread);
    if (!complete(sch_block_of(thread), rt->warp, meeting))
        sch_thread_stay(thread);
}

/* The result of a lane outside its own mask. */
static uint64_t result_outside(const struct sch_warp *warp, uint32_t lane)
{
    const struct sch_share *own = &warp->shares[lane];
    uint32_t mode = own->kind & 0xff;
    uint32_t came = 0, ballot = 0;
    FOR_EACH_LANE(other, warp->brought)
    {
        came |= warp->shares[other].kind == own->kind ? SCH_LANE(other) : 0;
        ballot |= warp->shares[other].value != 0 ? SCH_LANE(other) : 0;
    }
    if (own->kind >> 8 == RT_CALL_VOTE)
        return rt_vote_result(mode, ballot & came & own->mask, came & own->mask);
    bool is_in_range;
    uint32_t source = rt_shfl_source(mode, lane, own->b, own->c, &is_in_range);
    if (!is_in_range)
        return own->value;
    return RT_PREDICATE_BIT | ((came & SCH_LANE(source)) != 0 ? warp->shares[source].value : 0);
}

static uint64_t wait_result(struct rt_thread *thread)
{
    sch_thread_wait(sch_thread_of(thread));
    return rt_result(thread);
}

void sch_warp_exit(struct sch_block *block, uint32_t warp_index)
{
    struct sch_warp *warp = &block->warps[warp_index];
    for (uint32_t i = 0; i < warp->meeting_count;) {
        if (!complete(block, warp_index, &warp->meetings[i]))
            i++;
    }
}

/* ---- gathering ----
 * "activemask queries predicated-on active threads from the executing warp": a machine with
 * lock-step warps answers with the lanes that are at this instruction now. Here a lane waits until
 * no other live lane can come without help: all others wait somewhere, have exited or only poll.
 * Then those at its own instruction, its site, are as many as can be. */

/* Lock-step machines reunite the lanes of a warp where their paths meet. The site that comes first
 * in the program goes first: the rest of a loop before the code behind it. That would starve lanes
 * for which those in the loop wait, so it happens only so many times. */
#define PASSED_OVER_MAX 256

static uint32_t next_site(struct sch_warp *warp, uint32_t candidates)
{
    uint32_t oldest = (uint32_t)__builtin_ctz(candidates);
    uint32_t first = warp->b[oldest];
    FOR_EACH_LANE(lane, candidates)
    {
        first = warp->b[lane] < first ? warp->b[lane] : first;
        oldest = (int32_t)(warp->c[lane] - warp->c[oldest]) < 0 ? lane : oldest;
    }
    if (warp->b[oldest] == first || ++warp->passed_over > PASSED_OVER_MAX) {
        warp->passed_over = 0;
        first = warp->b[oldest];
    }
    return first;
}

/* How many turns of polling lanes others at a patient site wait for. A lane that polls there comes
 * next, unless it waits for just those others: then, too, the program must get further. It may wait
 * for a worker that the system has put aside for a while, so these are turns of a second or more.
 * It may wait for a lane that has polled as well, and was released: it is enough that each looks
 * again. The same where all wait for mbarriers, and none has changed since they looked. */
#define PATIENCE_MAX (UINT32_C(1) << 22)
/* … and for lanes in a loop that waits which gather there because the loop reads shared memory:
 * they wait for threads of their block, which have their turns meanwhile. */
#define PATIENCE_FOR_BLOCK (UINT32_C(1) << 14)
#define LOOKS_FOR_ALL      2

static uint32_t find_patient(const struct sch_warp *warp)
{
    uint32_t patient = 0;
    FOR_EACH_LANE(lane, warp->gathering)
    patient |= warp->b[lane] & RT_SITE_PATIENT ? SCH_LANE(lane) : 0;
    return patient;
}

static bool are_in_step(const struct sch_warp *warp, uint32_t lanes)
{
    uint32_t in_step = 0;
    FOR_EACH_LANE(lane, lanes & warp->gathering)
    in_step |= warp->b[lane] & RT_SITE_IN_STEP;
    return in_step != 0;
}

/* others: lanes that may come to the site of these ones. Those that gather elsewhere, but not in a
 * loop that waits, are released and get further, but only so often. */
static bool goes_on_waiting(struct sch_warp *warp, uint32_t patient, uint32_t others)
{
    bool has_polled = (patient & warp->pollers) != 0;
    bool is_passed = are_in_step(warp, others);
    uint32_t most = PATIENCE_MAX;
    if (!is_passed && (others & warp->gathering) != 0)
        most = has_polled ? PASSED_OVER_MAX : PATIENCE_FOR_BLOCK;
    else if (!is_passed && (has_polled || (others & ~warp->certain) == 0))
        most = LOOKS_FOR_ALL * (uint32_t)__builtin_popcount(others);
    uint32_t *turns = is_passed ? &warp->passed : &warp->patience;
    if (others != 0 && (*turns)++ < most)
        return true;
    warp->patience = 0;
    warp->passed = 0;
    return false;
}

void sch_warp_gathered(struct sch_block *block, uint32_t warp_index)
{
    struct sch_warp *warp = &block->warps[warp_index];
    if (warp->gathering == 0 || (warp->runnable & warp->live) != 0)
        return;
    uint32_t group = warp->gathering;
    uint32_t patient = find_patient(warp);
    if (patient != 0) {
        uint32_t elsewhere = warp->waiting & ~warp->gathering;
        bool waits = goes_on_waiting(warp, patient, warp->live & ~patient & ~elsewhere);
        group = waits ? group & ~patient : patient;
        if (group == 0)
            return;
    }
    if (!warp->has_other_sites) {
        warp->passed_over = 0;
    } else {
        uint32_t site = next_site(warp, group);
        group = 0;
        FOR_EACH_LANE(lane, warp->gathering)
        group |= warp->b[lane] == site ? SCH_LANE(lane) : 0;
    }
    FOR_EACH_LANE(lane, group)
    warp->result[lane] = warp->b[lane] & SITE_OUTSIDE ? result_outside(warp, lane) : group;
    warp->gathering &= ~group;
    sch_lanes_release(block, warp_index, group);
}

static void gather(struct rt_thread *rt, uint32_t site)
{
    struct sch_thread *thread = sch_thread_of(rt);
    struct sch_warp *warp = sch_warp_of(thread);
    uint32_t lane = rt->lane;
    if (rt->poll_budget != SCH_POLL_BUDGET)
        warp->pollers |= SCH_LANE(lane);
    if (site & RT_SITE_IN_STEP)
        warp->patience = 0;
    if (site & RT_SITE_PATIENT)
        warp->passed = 0;
    warp->b[lane] = site;
    warp->c[lane] = warp->gather_tickets++;
    if (warp->gathering == 0) {
        warp->gather_site = site;
        warp->has_other_sites = false;
    } else if (warp->gather_site != site) {
        warp->has_other_sites = true;
    }
    warp->gathering |= SCH_LANE(lane);
    sch_thread_arrive(thread);
    sch_thread_stay(thread);
}

/* ---- what generated code calls: to arrive … ---- */

uint64_t rt_result(const struct rt_thread *rt)
{
    const struct sch_block *block = (const struct sch_block *)(const void *)rt->block;
    return block->warps[rt->warp].result[rt->lane];
}

void rt_arrive_warp_sync(struct rt_thread *thread, uint32_t mask)
{
    meet(thread, KIND(RT_CALL_WARP_SYNC, 0), mask, 0);
}

void rt_arrive_shfl(struct rt_thread *thread, uint32_t mode, uint32_t value, uint32_t b, uint32_t c,
                    uint32_t mask)
{
    struct sch_warp *warp = sch_warp_of(sch_thread_of(thread));
    warp->b[thread->lane] = b;
    warp->c[thread->lane] = c;
    meet(thread, KIND(RT_CALL_SHFL, mode), mask, value);
}

void rt_arrive_vote(struct rt_thread *thread, uint32_t mode, uint32_t predicate, uint32_t mask)
{
    meet(thread, KIND(RT_CALL_VOTE, mode), mask, predicate);
}

void rt_arrive_match(struct rt_thread *thread, uint32_t all, uint64_t value, uint32_t mask)
{
    meet(thread, KIND(RT_CALL_MATCH, all != 0), mask, value);
}

void rt_arrive_redux(struct rt_thread *thread, uint32_t op, uint32_t value, uint32_t mask)
{
    meet(thread, KIND(RT_CALL_REDUX, op), mask, value);
}

void rt_arrive_elect(struct rt_thread *thread, uint32_t mask)
{
    meet(thread, KIND(RT_CALL_ELECT, 0), mask, 0);
}

void rt_arrive_movmatrix(struct rt_thread *thread, uint32_t pair, uint32_t mask)
{
    meet(thread, KIND(RT_CALL_MOVMATRIX, 0), mask, pair);
}

void rt_arrive_warp_words(struct rt_thread *thread, rt_warp_fn operation, uint32_t mask)
{
    meet(thread, KIND(RT_CALL_WARP_WORDS, 0), mask, (uintptr_t)operation);
}

void rt_arrive_warp_memory(struct rt_thread *thread, rt_warp_fn operation, uint32_t mask)
{
    meet(thread, KIND(RT_CALL_WARP_MEMORY, 0), mask, (uintptr_t)operation);
}

void rt_arrive_activemask(struct rt_thread *thread, uint32_t site)
{
    gather(thread, site);
}

void rt_arrive_warp_converge(struct rt_thread *thread, uint32_t site)
{
    gather(thread, site);
}

/* ---- … and to wait ---- */

void rt_warp_sync(struct rt_thread *thread, uint32_t mask)
{
    rt_arrive_warp_sync(thread, mask);
    sch_thread_wait(sch_thread_of(thread));
}

uint64_t rt_shfl(struct rt_thread *thread, uint32_t mode, uint32_t value, uint32_t b, uint32_t c,
                 uint32_t mask)
{
    rt_arrive_shfl(thread, mode, value, b, c, mask);
    return wait_result(thread);
}

uint32_t rt_vote(struct rt_thread *thread, uint32_t mode, uint32_t predicate, uint32_t mask)
{
    rt_arrive_vote(thread, mode, predicate, mask);
    return (uint32_t)wait_result(thread);
}

uint64_t rt_match(struct rt_thread *thread, uint32_t all, uint64_t value, uint32_t mask)
{
    rt_arrive_match(thread, all, value, mask);
    return wait_result(thread);
}

uint32_t rt_redux(struct rt_thread *thread, uint32_t op, uint32_t value, uint32_t mask)
{
    rt_arrive_redux(thread, op, value, mask);
    return (uint32_t)wait_result(thread);
}

uint64_t rt_elect(struct rt_thread *thread, uint32_t mask)
{
    rt_arrive_elect(thread, mask);
    return wait_result(thread);
}

uint32_t rt_movmatrix(struct rt_thread *thread, uint32_t pair, uint32_t mask)
{
    rt_arrive_movmatrix(thread, pair, mask);
    return (uint32_t)wait_result(thread);
}

void rt_warp_words(struct rt_thread *thread, rt_warp_fn operation, uint32_t mask)
{
    rt_arrive_warp_words(thread, operation, mask);
    sch_thread_wait(sch_thread_of(thread));
}

void rt_warp_memory(struct rt_thread *thread, rt_warp_fn operation, uint32_t mask)
{
    rt_arrive_warp_memory(thread, operation, mask);
    sch_thread_wait(sch_thread_of(thread));
}

uint32_t rt_activemask(struct rt_thread *thread, uint32_t site)
{
    gather(thread, site);
    return (uint32_t)wait_result(thread);
}

/* Whoever comes last goes on in the others' turn, not before them: what all load must not change
 * between the two because other warps have had their turns. */
static bool goes_with_others(const struct sch_thread *thread)
{
    const struct sch_warp *warp = sch_warp_of(thread);
    uint32_t lane = thread->rt.lane;
    return !sch_thread_is_waiting(thread) && (uint32_t)warp->result[lane] != SCH_LANE(lane) &&
           sch_block_of(thread)->warp_count > 1;
}

void rt_warp_converge(struct rt_thread *thread, uint32_t site)
{
    gather(thread, site);
    if (goes_with_others(sch_thread_of(thread)))
        sch_thread_yield(sch_thread_of(thread));
    else
        sch_thread_wait(sch_thread_of(thread));
}
