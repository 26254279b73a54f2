/* SPDX-License-Identifier: Apache-2.0
 *
 * How small and how great indices get that go on in loops, before the loops begin: intervals of 64
 * bits, made of what lanes have at the iteration's beginning. A number goes on by its steps until a
 * test ends the loop, its own or that of what counts the turns. As a number without limits it is in
 * the interval; if that fits in 32 bits it never wraps.
 */
#include "translator/vector/emit/form.h"
#include "translator/vector/plan/climbs.h"
#include "translator/vector/steady.h"

/* ---- numbers made anew ---- */

struct maker {
    struct tr_widen *widen;
    uint32_t copy;
    uint32_t behind;
    LLVMValueRef phi; /* NULL: none */
    LLVMValueRef in_place;
};

static bool is_there(const struct tr_widen *widen, LLVMValueRef number, uint32_t behind)
{
    const struct tr_graph *graph = &widen->iteration->graph;
    uint32_t value = tr_graph_number(graph, number);
    return value == TR_NONE || graph->values[value].segment == TR_NONE ||
           (behind != TR_NONE && value <= behind);
}

bool tr_steady_can_make(const struct tr_widen *widen, LLVMValueRef number, uint32_t behind)
{
    if (is_there(widen, number, behind))
        return true;
    if (!tr_is_made_of_first_lane(widen->iteration, number))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(number); i++)
        if (!tr_steady_can_make(widen, LLVMGetOperand(number, (unsigned)i), behind))
            return false;
    return true;
}

static LLVMValueRef make(const struct maker *maker, LLVMValueRef number)
{
    struct tr_widen *widen = maker->widen;
    if (number == maker->phi)
        return maker->in_place;
    if (is_there(widen, number, maker->behind))
        return tr_widen_scalar(widen, number, maker->copy);
    LLVMValueRef made = LLVMInstructionClone(number);
    for (int i = 0; i < LLVMGetNumOperands(number); i++)
        LLVMSetOperand(made, (unsigned)i, make(maker, LLVMGetOperand(number, (unsigned)i)));
    LLVMInsertIntoBuilder(widen->builder, made);
    bool is_sum = LLVMGetInstructionOpcode(made) == LLVMOr && LLVMGetIsDisjoint(made);
    tr_forget_flags(made);
    if (!is_sum)
        return made;
    LLVMValueRef sum =
        LLVMBuildAdd(widen->builder, LLVMGetOperand(made, 0), LLVMGetOperand(made, 1), "");
    LLVMInstructionEraseFromParent(made);
    return sum;
}

LLVMValueRef tr_steady_with(struct tr_widen *widen, LLVMValueRef number, LLVMValueRef phi,
                            LLVMValueRef in_place, const struct tr_of_lanes *of)
{
    struct maker maker = {widen, of->copy, of->behind, phi, in_place};
    return LLVMBuildFreeze(widen->builder, make(&maker, number), "");
}

LLVMValueRef tr_steady_number(struct tr_widen *widen, LLVMValueRef number,
                              const struct tr_of_lanes *of)
{
    return tr_steady_with(widen, number, NULL, NULL, of);
}

/* ---- intervals ---- */

struct range {
    LLVMValueRef low; /* i64, as high */
    LLVMValueRef high;
};

struct ranger {
    struct tr_widen *widen;
    const struct tr_of_lanes *of;
    LLVMValueRef holds; /* i1: what intervals rely on */
    bool is_signed;     /* how numbers are read that are no constants */
};

static struct range find_range(struct ranger *ranger, LLVMValueRef number);

static LLVMValueRef i64(const struct ranger *ranger, int64_t number)
{
    return LLVMConstInt(ranger->widen->i64, (uint64_t)number, true);
}

static void require(struct ranger *ranger, LLVMIntPredicate relation, LLVMValueRef a,
                    LLVMValueRef b)
{
    LLVMBuilderRef builder = ranger->widen->builder;
    LLVMValueRef holds = LLVMBuildICmp(builder, relation, a, b, "");
    ranger->holds = LLVMBuildAnd(builder, ranger->holds, holds, "");
}

static LLVMValueRef choose(const struct ranger *ranger, LLVMIntPredicate relation, LLVMValueRef a,
                           LLVMValueRef b)
{
    LLVMBuilderRef builder = ranger->widen->builder;
    return LLVMBuildSelect(builder, LLVMBuildICmp(builder, relation, a, b, ""), a, b, "");
}

/* What is within these limits can be multiplied by a constant step, and added up. */
#define FAR (INT64_C(1) << 40)

static void limit(struct ranger *ranger, struct range range)
{
    require(ranger, LLVMIntSGE, range.low, i64(ranger, -FAR));
    require(ranger, LLVMIntSLE, range.high, i64(ranger, FAR));
}

static LLVMValueRef extend(const struct ranger *ranger, LLVMValueRef number, bool is_signed)
{
    return LLVMBuildIntCast2(ranger->widen->builder, number, ranger->widen->i64, is_signed, "");
}

/* Of all lanes, from what lane 0 has. */
static struct range of_lanes(struct ranger *ranger, LLVMValueRef number)
{
    struct tr_widen *widen = ranger->widen;
    bool is_signed = ranger->is_signed || LLVMIsAConstantInt(number) != NULL;
    int64_t stride = tr_widen_shape(widen, number).stride;
    LLVMValueRef first = extend(ranger, tr_steady_number(widen, number, ranger->of), is_signed);
    bool is_long = LLVMGetIntTypeWidth(LLVMTypeOf(number)) > 32;
    LLVMValueRef last = LLVMBuildAdd(widen->builder, first,
                                     i64(ranger, stride * (int64_t)(ranger->of->lanes - 1)), "");
    struct range range = stride < 0 ? (struct range){last, first} : (struct range){first, last};
    if (is_long)
        limit(ranger, range);
    return range;
}

static struct range add(const struct ranger *ranger, struct range a, struct range b)
{
    LLVMBuilderRef builder = ranger->widen->builder;
    return (struct range){LLVMBuildAdd(builder, a.low, b.low, ""),
                          LLVMBuildAdd(builder, a.high, b.high, "")};
}

static struct range subtract(const struct ranger *ranger, struct range a, struct range b)
{
    LLVMBuilderRef builder = ranger->widen->builder;
    return (struct range){LLVMBuildSub(builder, a.low, b.high, ""),
                          LLVMBuildSub(builder, a.high, b.low, "")};
}

static struct range scale(struct ranger *ranger, struct range range, LLVMValueRef factor,
                          bool is_negative)
{
    LLVMBuilderRef builder = ranger->widen->builder;
    LLVMValueRef ends[2] = {LLVMBuildMul(builder, range.low, factor, ""),
                            LLVMBuildMul(builder, range.high, factor, "")};
    struct range scaled = {ends[is_negative], ends[!is_negative]};
    limit(ranger, scaled);
    return scaled;
}

/* Of numbers that are not negative: places are not. */
static struct range multiply(struct ranger *ranger, struct range a, struct range b)
{
    LLVMBuilderRef builder = ranger->widen->builder;
    struct range both[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        require(ranger, LLVMIntSGE, both[i].low, i64(ranger, 0));
        require(ranger, LLVMIntSLE, both[i].high, i64(ranger, INT32_MAX));
    }
    struct range product = {LLVMBuildMul(builder, a.low, b.low, ""),
                            LLVMBuildMul(builder, a.high, b.high, "")};
    limit(ranger, product);
    return product;
}

/* ---- loops ---- */

static bool is_signed(LLVMIntPredicate relation)
{
    return relation == LLVMIntSLT || relation == LLVMIntSLE;
}

static bool includes_limit(LLVMIntPredicate relation)
{
    return relation == LLVMIntSLE || relation == LLVMIntULE;
}

static LLVMValueRef greatest(const struct ranger *ranger, bool is_with_sign)
{
    return i64(ranger, is_with_sign ? INT32_MAX : UINT32_MAX);
}

/* As a test reads 32 bits, or, of 64, within the limits. */
static void require_above(struct ranger *ranger, LLVMTypeRef type, LLVMValueRef low)
{
    int64_t least = LLVMGetIntTypeWidth(type) > 32 ? -FAR : INT32_MIN;
    require(ranger, LLVMIntSGE, low, i64(ranger, ranger->is_signed ? least : 0));
}

static void require_below(struct ranger *ranger, LLVMTypeRef type, LLVMValueRef high)
{
    bool is_long = LLVMGetIntTypeWidth(type) > 32;
    require(ranger, LLVMIntSLE, high,
            is_long ? i64(ranger, FAR) : greatest(ranger, ranger->is_signed));
}

static struct range find_steps(struct ranger *ranger, const struct tr_climb *climb)
{
    struct range steps = find_range(ranger, climb->steps[0]);
    for (uint32_t i = 1; i < climb->step_count; i++)
        steps = add(ranger, steps, find_range(ranger, climb->steps[i]));
    return steps;
}

/* Upwards until its own test ends the loop. Lanes of which the test has ended the loop may be as
 * far behind the end as from the last lane that goes on. The test reads what does not wrap: the
 * next step, too. */
static struct range climb_to_end(struct ranger *ranger, const struct tr_climb *climb,
                                 const struct tr_turn_test *end)
{
    LLVMBuilderRef b = ranger->widen->builder;
    bool was_signed = ranger->is_signed;
    ranger->is_signed = is_signed(end->relation);
    struct range range = find_range(ranger, climb->start);
    struct range steps = find_steps(ranger, climb);
    struct range limit_of_end = find_range(ranger, end->limit);
    int64_t stride = tr_widen_shape(ranger->widen, climb->phi).stride;
    int64_t slack = (stride < 0 ? -stride : stride) * (int64_t)(ranger->of->lanes - 1);
    slack -= includes_limit(end->relation) ? 0 : 1;
    LLVMValueRef high = LLVMBuildAdd(b, limit_of_end.high, i64(ranger, slack), "");
    if (end->tested == climb->phi)
        high = LLVMBuildAdd(b, high, steps.high, "");
    range.high = choose(ranger, LLVMIntSGT, range.high, high);
    require(ranger, LLVMIntSGE, steps.low, i64(ranger, 0));
    LLVMTypeRef type = LLVMTypeOf(climb->phi);
    require_below(ranger, type, LLVMBuildAdd(b, range.high, steps.high, ""));
    require_above(ranger, type, range.low);
    require_above(ranger, type, limit_of_end.low);
    ranger->is_signed = was_signed;
    return range;
}

/* So many turns behind the first one, as an i64, that begin while tested and limit differ. They
 * count modulo 2^32. */
static LLVMValueRef turns_until_equal(struct ranger *ranger, const struct tr_turns *turns,
                                      LLVMValueRef tested, LLVMValueRef end)
{
    LLVMBuilderRef b = ranger->widen->builder;
    LLVMValueRef way =
        turns->step > 0 ? LLVMBuildSub(b, end, tested, "") : LLVMBuildSub(b, tested, end, "");
    uint64_t step = (uint64_t)(turns->step > 0 ? turns->step : -turns->step);
    way = extend(ranger, way, false);
    require(ranger, LLVMIntEQ, LLVMBuildURem(b, way, i64(ranger, (int64_t)step), ""),
            i64(ranger, 0));
    return LLVMBuildUDiv(b, way, i64(ranger, (int64_t)step), "");
}

static LLVMValueRef turns_until_above(struct ranger *ranger, const struct tr_turns *turns,
                                      LLVMValueRef tested, LLVMValueRef end)
{
    LLVMBuilderRef b = ranger->widen->builder;
    bool is_with_sign = is_signed(turns->test.relation);
    end = extend(ranger, end, is_with_sign);
    require(ranger, LLVMIntSLE, LLVMBuildAdd(b, end, i64(ranger, turns->step), ""),
            greatest(ranger, is_with_sign));
    LLVMValueRef way = LLVMBuildSub(b, end, extend(ranger, tested, is_with_sign), "");
    way = LLVMBuildAdd(b, way, i64(ranger, turns->step), ""); /* at least what is needed */
    way = choose(ranger, LLVMIntSGT, way, i64(ranger, 0));
    return LLVMBuildSDiv(b, way, i64(ranger, turns->step), "");
}

static LLVMValueRef count_turns(struct ranger *ranger, const struct tr_turns *turns)
{
    struct tr_widen *widen = ranger->widen;
    LLVMValueRef start = tr_steady_number(widen, turns->climb.start, ranger->of);
    LLVMValueRef tested =
        tr_steady_with(widen, turns->test.tested, turns->climb.phi, start, ranger->of);
    LLVMValueRef end = tr_steady_number(widen, turns->test.limit, ranger->of);
    LLVMValueRef count =
        (turns->test.relation == LLVMIntNE ? turns_until_equal : turns_until_above)(ranger, turns,
                                                                                    tested, end);
    require(ranger, LLVMIntULE, count, i64(ranger, 1 << 30));
    return count;
}

static struct range climb_turns(struct ranger *ranger, const struct tr_climb *climb,
                                const struct tr_turns *turns)
{
    LLVMBuilderRef b = ranger->widen->builder;
    struct range start = find_range(ranger, climb->start);
    struct range steps = find_steps(ranger, climb);
    require(ranger, LLVMIntSGE, steps.low, i64(ranger, -(INT64_C(1) << 32)));
    require(ranger, LLVMIntSLE, steps.high, i64(ranger, INT64_C(1) << 32));
    LLVMValueRef count = count_turns(ranger, turns);
    LLVMValueRef zero = i64(ranger, 0);
    struct range way = {choose(ranger, LLVMIntSLT, LLVMBuildMul(b, steps.low, count, ""), zero),
                        choose(ranger, LLVMIntSGT, LLVMBuildMul(b, steps.high, count, ""), zero)};
    limit(ranger, way);
    return add(ranger, start, way);
}

/* ---- any number ---- */

static struct range unknown(struct ranger *ranger)
{
    ranger->holds = LLVMConstInt(ranger->widen->i1, 0, false);
    return (struct range){i64(ranger, 0), i64(ranger, 0)};
}

static struct range find_climb(struct ranger *ranger, LLVMValueRef phi)
{
    const struct tr_iteration *iteration = ranger->widen->iteration;
    struct tr_climb climb;
    struct tr_turn_test end;
    struct tr_turns turns;
    if (!tr_find_climb(iteration, phi, &climb))
        return unknown(ranger);
    if (tr_find_end(iteration, &climb, &end))
        return climb_to_end(ranger, &climb, &end);
    return tr_find_turns(iteration, climb.loop, &turns) ? climb_turns(ranger, &climb, &turns)
                                                        : unknown(ranger);
}

static struct range find_phi(struct ranger *ranger, LLVMValueRef phi)
{
    const struct tr_iteration *iteration = ranger->widen->iteration;
    if (tr_is_of_header(iteration, tr_graph_number(&iteration->graph, phi)))
        return find_climb(ranger, phi);
    struct range all = find_range(ranger, LLVMGetIncomingValue(phi, 0));
    for (unsigned i = 1; i < LLVMCountIncoming(phi); i++) {
        struct range one = find_range(ranger, LLVMGetIncomingValue(phi, i));
        all.low = choose(ranger, LLVMIntSLT, all.low, one.low);
        all.high = choose(ranger, LLVMIntSGT, all.high, one.high);
    }
    return all;
}

/* The extension reads what does not wrap. */
static struct range find_extended(struct ranger *ranger, LLVMValueRef extension)
{
    bool was_signed = ranger->is_signed;
    ranger->is_signed = tr_extends_sign(extension);
    struct range range = find_range(ranger, LLVMGetOperand(extension, 0));
    require(ranger, LLVMIntSGE, range.low, i64(ranger, ranger->is_signed ? INT32_MIN : 0));
    require(ranger, LLVMIntSLE, range.high, greatest(ranger, ranger->is_signed));
    ranger->is_signed = was_signed;
    return range;
}

static struct range find_range(struct ranger *ranger, LLVMValueRef number)
{
    if (tr_steady_can_make(ranger->widen, number, ranger->of->behind))
        return of_lanes(ranger, number);
    struct range a;
    switch (tr_range_of(number)) {
    case TR_RANGE_SUM:
        a = find_range(ranger, LLVMGetOperand(number, 0));
        return add(ranger, a, find_range(ranger, LLVMGetOperand(number, 1)));
    case TR_RANGE_DIFFERENCE:
        a = find_range(ranger, LLVMGetOperand(number, 0));
        return subtract(ranger, a, find_range(ranger, LLVMGetOperand(number, 1)));
    case TR_RANGE_PRODUCT:
        a = find_range(ranger, LLVMGetOperand(number, 0));
        return multiply(ranger, a, find_range(ranger, LLVMGetOperand(number, 1)));
    case TR_RANGE_MULTIPLE:
        a = find_range(ranger, LLVMGetOperand(number, 0));
        return scale(ranger, a, i64(ranger, tr_find_factor(number)), tr_find_factor(number) < 0);
    case TR_RANGE_CUT:
        return find_range(ranger, LLVMGetOperand(number, 0));
    case TR_RANGE_EXTENDED:
        return find_extended(ranger, number);
    case TR_RANGE_PHI:
        return find_phi(ranger, number);
    case TR_RANGE_UNKNOWN:
        break;
    }
    return unknown(ranger);
}

/* ---- whether lanes come there at all ---- */

/* How many branches on the way to an index are asked, at most. */
#define MAX_BRANCHES 4

/* i1: the branch at a segment's end, which decides for a row as a whole, leads to the other one;
 * NULL: nobody knows. */
static LLVMValueRef leads_to(struct ranger *ranger, uint32_t from, uint32_t to)
{
    struct tr_widen *widen = ranger->widen;
    const struct tr_graph *graph = &widen->iteration->graph;
    const struct tr_segment *segment = &graph->segments[from];
    const struct tr_value *branch = &graph->values[segment->first_value + segment->value_count - 1];
    if (branch->opcode != LLVMBr || segment->succ_count != 2 ||
        segment->succs[0] == segment->succs[1] || graph->segments[to].pred_count != 1 ||
        (segment->succs[0] != to && segment->succs[1] != to))
        return NULL;
    LLVMValueRef condition = LLVMGetCondition(branch->llvm);
    bool is_true = LLVMGetSuccessor(branch->llvm, 0) == graph->segments[to].llvm;
    if (!tr_is_same_in_row(widen->iteration, condition) ||
        !tr_steady_can_make(widen, condition, ranger->of->behind))
        return NULL;
    condition = tr_steady_number(widen, condition, ranger->of);
    return is_true ? condition : LLVMBuildNot(widen->builder, condition, "");
}

/* Loops that are not entered have strange ends. */
static void forgive_if_skipped(struct ranger *ranger, LLVMValueRef index)
{
    struct tr_widen *widen = ranger->widen;
    const struct tr_iteration *iteration = widen->iteration;
    LLVMValueRef yes = LLVMConstInt(widen->i1, 1, false);
    uint32_t segment = iteration->graph.values[tr_graph_number(&iteration->graph, index)].segment;
    uint32_t asked = 0;
    while (iteration->dominators.idom[segment] != TR_NONE && asked < MAX_BRANCHES) {
        uint32_t above = iteration->dominators.idom[segment];
        LLVMValueRef comes = leads_to(ranger, above, segment);
        if (comes != NULL)
            ranger->holds = LLVMBuildSelect(widen->builder, comes, ranger->holds, yes, "");
        asked += comes != NULL;
        segment = above;
    }
}

LLVMValueRef tr_steady_check_range(struct tr_widen *widen, const struct tr_steady *steady,
                                   const struct tr_of_lanes *of)
{
    struct ranger ranger = {
        .widen = widen, .of = of, .holds = LLVMConstInt(widen->i1, 1, false), .is_signed = true};
    find_extended(&ranger, steady->extension);
    forgive_if_skipped(&ranger, steady->extension);
    return ranger.holds;
}
