/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/barriers/lane_guards.h"

#include <string.h>

#include <llvm-c/Core.h>

/* Longer conditions are not followed. */
#define DEPTH_MAX 6

struct guards {
    const struct tr_effects *effects;
    const struct tr_lane_ids *ids;
    uint32_t turn; /* TR_NONE: any */
};

/* The lanes for which a condition is surely true, and surely false. */
struct verdict {
    uint32_t yes, no;
    bool varies; /* some of what is compared is not the same in all lanes */
};

static bool is_true_constant(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) != NULL && LLVMConstIntGetZExtValue(value) != 0;
}

/* ---- conditions ---- */

static bool evaluate(const struct guards *g, LLVMValueRef value, struct tr_lane_values *result)
{
    uint32_t turn_depth;
    return g->turn != TR_NONE
               ? tr_evaluate_way(g->effects, g->ids, value, g->turn, result, &turn_depth)
               : tr_evaluate_lanes(g->effects, g->ids, value, result);
}

static bool compare(LLVMIntPredicate predicate, uint64_t a, uint64_t b, unsigned unused_bits)
{
    int64_t x = (int64_t)(a << unused_bits), y = (int64_t)(b << unused_bits);
    switch (predicate) {
    case LLVMIntEQ:
        return a == b;
    case LLVMIntNE:
        return a != b;
    case LLVMIntUGT:
        return a > b;
    case LLVMIntUGE:
        return a >= b;
    case LLVMIntULT:
        return a < b;
    case LLVMIntULE:
        return a <= b;
    case LLVMIntSGT:
        return x > y;
    case LLVMIntSGE:
        return x >= y;
    case LLVMIntSLT:
        return x < y;
    default:
        return x <= y;
    }
}

static bool is_the_same_for_all(const struct tr_lane_values *values)
{
    for (uint32_t lane = 1; lane < RT_WARP_SIZE; lane++)
        if (values->of[lane] != values->of[0])
            return false;
    return true;
}

static struct verdict compare_lanes(const struct guards *g, LLVMValueRef icmp)
{
    struct verdict verdict = {0, 0, false};
    struct tr_lane_values a, b;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(icmp, 0));
    if (!evaluate(g, LLVMGetOperand(icmp, 0), &a) || !a.is_exact ||
        !evaluate(g, LLVMGetOperand(icmp, 1), &b) || !b.is_exact)
        return verdict;
    verdict.varies = !is_the_same_for_all(&a) || !is_the_same_for_all(&b);
    bool is_pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
    unsigned unused_bits = is_pointer ? 0 : 64 - LLVMGetIntTypeWidth(type);
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++) {
        uint32_t bit = UINT32_C(1) << lane;
        bool holds = compare(LLVMGetICmpPredicate(icmp), a.of[lane], b.of[lane], unused_bits);
        *(holds ? &verdict.yes : &verdict.no) |= bit;
    }
    return verdict;
}

static struct verdict judge(const struct guards *g, LLVMValueRef condition, unsigned depth)
{
    struct verdict of[3] = {{0, 0, false}, {0, 0, false}, {0, 0, false}};
    if (LLVMIsAConstantInt(condition) != NULL) {
        bool holds = is_true_constant(condition);
        return (struct verdict){holds ? UINT32_MAX : 0, holds ? 0 : UINT32_MAX, false};
    }
    if (depth == DEPTH_MAX || LLVMIsAInstruction(condition) == NULL)
        return of[0];
    LLVMOpcode opcode = LLVMGetInstructionOpcode(condition);
    if (opcode == LLVMICmp)
        return compare_lanes(g, condition);
    if (opcode != LLVMAnd && opcode != LLVMOr && opcode != LLVMXor && opcode != LLVMFreeze &&
        opcode != LLVMSelect)
        return of[0];
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(condition); i++)
        of[i] = judge(g, LLVMGetOperand(condition, i), depth + 1);
    bool varies = of[0].varies || of[1].varies || of[2].varies;
    switch (opcode) {
    case LLVMAnd:
        return (struct verdict){of[0].yes & of[1].yes, of[0].no | of[1].no, varies};
    case LLVMOr:
        return (struct verdict){of[0].yes | of[1].yes, of[0].no & of[1].no, varies};
    case LLVMXor:
        return (struct verdict){(of[0].yes & of[1].no) | (of[0].no & of[1].yes),
                                (of[0].yes & of[1].yes) | (of[0].no & of[1].no), varies};
    case LLVMSelect:
        return (struct verdict){
            (of[0].yes & of[1].yes) | (of[0].no & of[2].yes) | (of[1].yes & of[2].yes),
            (of[0].yes & of[1].no) | (of[0].no & of[2].no) | (of[1].no & of[2].no), varies};
    default: /* freeze */
        return of[0];
    }
}

static bool is_select_of(LLVMOpcode opcode, LLVMValueRef condition)
{
    unsigned way = opcode == LLVMAnd ? 2 : 1;
    LLVMValueRef value = LLVMIsAConstantInt(LLVMGetOperand(condition, way));
    return value != NULL && is_true_constant(value) == (opcode == LLVMOr);
}

/* LLVMAnd or LLVMOr of two conditions, also if it is written as `a ? b : false`, `a ? true : b`; 0:
 * neither. *other: the second one. */
static LLVMOpcode junction_of(LLVMValueRef condition, LLVMValueRef *other)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(condition);
    bool is_select = opcode == LLVMSelect;
    if (is_select)
        opcode = is_select_of(LLVMAnd, condition) ? LLVMAnd : LLVMOr;
    if ((opcode != LLVMAnd && opcode != LLVMOr) || (is_select && !is_select_of(opcode, condition)))
        return 0;
    *other = LLVMGetOperand(condition, is_select && opcode == LLVMOr ? 2 : 1);
    return opcode;
}

/* Whether at most one lane finds its a and b equal, whatever the numbers at random stand for. */
static bool is_equal_once(const struct tr_lane_values *a, const struct tr_lane_values *b)
{
    for (uint32_t lane = 1; lane < RT_WARP_SIZE; lane++)
        for (uint32_t other = 0; other < lane; other++)
            if (a->of[lane] - b->of[lane] == a->of[other] - b->of[other])
                return false;
    return true;
}

/* Whether at most one lane finds that the condition is `goes_if`. */
static bool holds_once(const struct guards *g, LLVMValueRef condition, bool goes_if, unsigned depth)
{
    struct tr_lane_values a, b;
    if (depth == DEPTH_MAX || LLVMIsAInstruction(condition) == NULL)
        return false;
    LLVMValueRef left = LLVMGetOperand(condition, 0), right;
    switch (LLVMGetInstructionOpcode(condition)) {
    case LLVMFreeze:
        return holds_once(g, left, goes_if, depth + 1);
    case LLVMAnd:
    case LLVMOr:
    case LLVMSelect:
        return junction_of(condition, &right) == (goes_if ? LLVMAnd : LLVMOr) &&
               (holds_once(g, left, goes_if, depth + 1) ||
                holds_once(g, right, goes_if, depth + 1));
    case LLVMXor:
        return is_true_constant(LLVMGetOperand(condition, 1)) &&
               holds_once(g, left, !goes_if, depth + 1);
    case LLVMICmp:
        return LLVMGetICmpPredicate(condition) == (goes_if ? LLVMIntEQ : LLVMIntNE) &&
               evaluate(g, left, &a) && evaluate(g, LLVMGetOperand(condition, 1), &b) &&
               is_equal_once(&a, &b);
    default:
        return false;
    }
}

/* ---- ways ---- */

static LLVMValueRef end_of(const struct guards *g, uint32_t s)
{
    const struct tr_segment *segment = &g->effects->graph->segments[s];
    return g->effects->graph->values[segment->first_value + segment->value_count - 1].llvm;
}

/* Whether the segment ends with a condition that leads to two others. */
static bool parts(const struct guards *g, uint32_t s)
{
    const struct tr_segment *segment = &g->effects->graph->segments[s];
    return segment->succ_count == 2 && segment->succs[0] != segment->succs[1] &&
           LLVMGetInstructionOpcode(end_of(g, s)) == LLVMBr;
}

/* The lanes that may go a way, and whether that depends on the lane. */
struct way {
    uint32_t lanes;
    bool varies;
};

/* The case that a number leads to; 0 is the default. */
static unsigned case_of(LLVMValueRef branch, uint64_t number)
{
    for (unsigned k = 1; k < LLVMGetNumSuccessors(branch); k++)
        if (LLVMConstIntGetZExtValue(LLVMGetSwitchCaseValue(branch, k)) == number)
            return k;
    return 0;
}

static struct way lanes_of_case(const struct guards *g, LLVMValueRef branch, LLVMBasicBlockRef to)
{
    struct tr_lane_values value;
    uint32_t lanes = 0;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(branch, 0));
    if (LLVMGetIntTypeWidth(type) > 64 || !evaluate(g, LLVMGetOperand(branch, 0), &value) ||
        !value.is_exact)
        return (struct way){UINT32_MAX, false};
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        if (LLVMGetSuccessor(branch, case_of(branch, value.of[lane])) == to)
            lanes |= UINT32_C(1) << lane;
    return (struct way){lanes, !is_the_same_for_all(&value)};
}

/* Loops end in some turn, not in this one. */
static bool ends_loop(const struct guards *g, uint32_t from, uint32_t to)
{
    uint32_t loop = g->effects->loops->innermost[from];
    return loop != TR_NONE && !tr_set_has(&g->effects->loops->loops[loop].segments, to);
}

static struct way judge_way(const struct guards *g, uint32_t from, uint32_t i)
{
    const struct tr_graph *graph = g->effects->graph;
    LLVMValueRef branch = end_of(g, from);
    if (LLVMIsASwitchInst(branch) != NULL)
        return lanes_of_case(g, branch, graph->segments[graph->segments[from].succs[i]].llvm);
    if (!parts(g, from))
        return (struct way){UINT32_MAX, false};
    struct verdict verdict = judge(g, LLVMGetCondition(branch), 0);
    return (struct way){~(i == 0 ? verdict.no : verdict.yes), verdict.varies};
}

/* The lanes that may go from the end of a segment to its successor i. Where all of them stay away
 * in this turn, whoever they are, they go in others. */
static uint32_t lanes_of_way(const struct guards *g, uint32_t from, uint32_t i)
{
    const struct guards always = {g->effects, g->ids, TR_NONE};
    bool by_ways =
        g->turn != TR_NONE && !ends_loop(g, from, g->effects->graph->segments[from].succs[i]);
    struct way way = by_ways ? judge_way(g, from, i) : (struct way){0, false};
    return way.lanes != 0 || way.varies ? way.lanes : judge_way(&always, from, i).lanes;
}

static uint32_t lanes_of_warp(const uint32_t block[3])
{
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    return threads != 0 && threads < RT_WARP_SIZE ? (UINT32_C(1) << threads) - 1 : UINT32_MAX;
}

bool tr_lanes_of_segments(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                          uint32_t turn, uint32_t *lanes)
{
    const struct guards g = {effects, ids, turn};
    struct tr_graph *graph = effects->graph;
    struct tr_set pending = tr_set_make(&graph->arena, graph->segment_count);
    if (pending.words == NULL)
        return false;
    memset(lanes, 0, graph->segment_count * sizeof *lanes);
    lanes[0] = lanes_of_warp(effects->facts->block);
    tr_set_add(&pending, 0);
    for (uint32_t s; (s = tr_set_next(&pending, 0)) != TR_NONE;) {
        const struct tr_segment *segment = &graph->segments[s];
        tr_set_remove(&pending, s);
        for (uint32_t i = 0; i < segment->succ_count; i++) {
            uint32_t to = segment->succs[i];
            uint32_t more = lanes[s] & lanes_of_way(&g, s, i) & ~lanes[to];
            lanes[to] |= more;
            if (more != 0)
                tr_set_add(&pending, to);
        }
    }
    return true;
}

uint32_t tr_lane_edge_of(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                         uint32_t segment)
{
    const struct guards g = {effects, ids, TR_NONE};
    uint32_t edge = TR_NONE;
    for (uint32_t s = segment, from;
         (from = effects->dominators->idom[s]) != TR_NONE && edge == TR_NONE; s = from)
        if (effects->graph->segments[s].pred_count == 1 && parts(&g, from) &&
            holds_once(&g, LLVMGetCondition(end_of(&g, from)),
                       effects->graph->segments[from].succs[0] == s, 0))
            edge = s;
    return edge;
}

/* ---- together ---- */

/* A condition of a way that all lanes on it have found true: a number that each lane has for
 * itself, compared with one that all have in common. */
struct guard {
    LLVMIntPredicate predicate;
    uint64_t own[RT_WARP_SIZE];
    uint64_t common; /* a number at random */
    unsigned bits;
};

#define GUARDS_MAX 8

struct guard_list {
    struct guard of[GUARDS_MAX];
    uint32_t count;
};

/* Two numbers at random so near each other are one with constants added. */
#define NEAR 4096

static bool is_near(uint64_t number, unsigned bits, int64_t *as_signed)
{
    *as_signed = (int64_t)(number << (64 - bits)) >> (64 - bits);
    return *as_signed > -NEAR && *as_signed < NEAR;
}

static LLVMIntPredicate opposite(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntEQ:
        return LLVMIntNE;
    case LLVMIntNE:
        return LLVMIntEQ;
    case LLVMIntUGT:
        return LLVMIntULE;
    case LLVMIntUGE:
        return LLVMIntULT;
    case LLVMIntULT:
        return LLVMIntUGE;
    case LLVMIntULE:
        return LLVMIntUGT;
    case LLVMIntSGT:
        return LLVMIntSLE;
    case LLVMIntSGE:
        return LLVMIntSLT;
    case LLVMIntSLT:
        return LLVMIntSGE;
    default:
        return LLVMIntSGT;
    }
}

/* Of the same numbers in the other order. */
static LLVMIntPredicate turned(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntUGT:
        return LLVMIntULT;
    case LLVMIntUGE:
        return LLVMIntULE;
    case LLVMIntULT:
        return LLVMIntUGT;
    case LLVMIntULE:
        return LLVMIntUGE;
    case LLVMIntSGT:
        return LLVMIntSLT;
    case LLVMIntSGE:
        return LLVMIntSLE;
    case LLVMIntSLT:
        return LLVMIntSGT;
    case LLVMIntSLE:
        return LLVMIntSGE;
    default:
        return predicate;
    }
}

/* own == common, of a number that is either plus the other. false: it is not. */
static bool find_equation(const struct tr_lane_values *a, const struct tr_lane_values *b,
                          struct guard *guard)
{
    uint64_t first = a->of[0] - b->of[0];
    int64_t own;
    guard->common = first;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++) {
        if (!is_near(first - (a->of[lane] - b->of[lane]), guard->bits, &own))
            return false;
        guard->own[lane] = (uint64_t)own;
    }
    return true;
}

static bool find_order(const struct tr_lane_values *a, const struct tr_lane_values *b,
                       struct guard *guard)
{
    const struct tr_lane_values *own = a->is_exact ? a : b, *common = a->is_exact ? b : a;
    guard->predicate = a->is_exact ? guard->predicate : turned(guard->predicate);
    guard->common = common->of[0];
    memcpy(guard->own, own->of, sizeof guard->own);
    return own->is_exact && !common->is_exact && is_the_same_for_all(common);
}

static void add_comparison(const struct guards *g, LLVMValueRef icmp, bool goes_if,
                           struct guard_list *list)
{
    struct tr_lane_values a, b;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(icmp, 0));
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(icmp);
    if (list->count == GUARDS_MAX || LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(type) < 32 ||
        !tr_evaluate_in_turn(g->effects, g->ids, LLVMGetOperand(icmp, 0), &a) ||
        !tr_evaluate_in_turn(g->effects, g->ids, LLVMGetOperand(icmp, 1), &b))
        return;
    struct guard *guard = &list->of[list->count];
    guard->predicate = goes_if ? predicate : opposite(predicate);
    guard->bits = LLVMGetIntTypeWidth(type);
    list->count +=
        guard->predicate == LLVMIntEQ ? find_equation(&a, &b, guard) : find_order(&a, &b, guard);
}

/* Those of the condition's parts that are surely `goes_if` where it is. */
static void add_guards(const struct guards *g, LLVMValueRef condition, bool goes_if, unsigned depth,
                       struct guard_list *list)
{
    if (depth == DEPTH_MAX || LLVMIsAInstruction(condition) == NULL)
        return;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(condition);
    LLVMValueRef left = LLVMGetOperand(condition, 0), right;
    if (opcode == LLVMICmp) {
        add_comparison(g, condition, goes_if, list);
    } else if (opcode == LLVMFreeze) {
        add_guards(g, left, goes_if, depth + 1, list);
    } else if (opcode == LLVMXor && is_true_constant(LLVMGetOperand(condition, 1))) {
        add_guards(g, left, !goes_if, depth + 1, list);
    } else if (junction_of(condition, &right) == (goes_if ? LLVMAnd : LLVMOr)) {
        add_guards(g, left, goes_if, depth + 1, list);
        add_guards(g, right, goes_if, depth + 1, list);
    }
}

static struct guard_list guards_of(const struct guards *g, uint32_t segment)
{
    struct guard_list list = {.count = 0};
    for (uint32_t s = segment, from; (from = g->effects->dominators->idom[s]) != TR_NONE; s = from)
        if (g->effects->graph->segments[s].pred_count == 1 && parts(g, from))
            add_guards(g, LLVMGetCondition(end_of(g, from)),
                       g->effects->graph->segments[from].succs[0] == s, 0, &list);
    return list;
}

/* What a guard's number at random stands for where that of another one, `random`, is `known`: plus
 * or minus that, and something. false: they have nothing to do with each other. */
static bool find_common(const struct guard *guard, uint64_t random, uint64_t known,
                        uint64_t *common)
{
    int64_t further;
    if (is_near(guard->common - random, guard->bits, &further))
        *common = known + (uint64_t)further;
    else if (is_near(guard->common + random, guard->bits, &further))
        *common = (uint64_t)further - known;
    else
        return false;
    return true;
}

static bool may_pass(const struct guard *guard, uint32_t lane, uint64_t random, uint64_t known)
{
    uint64_t common;
    unsigned unused_bits = 64 - guard->bits;
    return !find_common(guard, random, known, &common) ||
           compare(guard->predicate, guard->own[lane] << unused_bits, common << unused_bits, 0);
}

/* The first guard that says what its number is; NULL: none does. */
static const struct guard *find_equality(const struct guard_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->of[i].predicate == LLVMIntEQ)
            return &list->of[i];
    return NULL;
}

/* Whether the lane may pass all of them where the number of `equality` is `known`. */
static bool may_pass_all(const struct guard_list *list, uint32_t lane, const struct guard *equality,
                         uint64_t known)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->of[i].bits == equality->bits &&
            !may_pass(&list->of[i], lane, equality->common, known))
            return false;
    return true;
}

bool tr_lanes_together(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                       uint32_t segment, uint32_t together[RT_WARP_SIZE])
{
    const struct guards g = {effects, ids, TR_NONE};
    const struct guard_list list = guards_of(&g, segment);
    const struct guard *equality = find_equality(&list);
    for (uint32_t lane = 0; equality != NULL && lane < RT_WARP_SIZE; lane++) {
        together[lane] = 0;
        for (uint32_t other = 0; other < RT_WARP_SIZE; other++)
            if (may_pass_all(&list, lane, equality, equality->own[lane]) &&
                may_pass_all(&list, other, equality, equality->own[lane]))
                together[lane] |= UINT32_C(1) << other;
    }
    return equality != NULL;
}
