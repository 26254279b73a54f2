/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/barriers/lane_guards.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "translator/barriers/lane_conditions.h"

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

/* ---- conditions ---- */

static bool evaluate(const struct guards *g, LLVMValueRef value, struct tr_lane_values *result)
{
    uint32_t turn_depth;
    return g->turn != TR_NONE
               ? tr_evaluate_way(g->effects, g->ids, value, g->turn, result, &turn_depth)
               : tr_evaluate_lanes(g->effects, g->ids, value, result);
}

static struct verdict compare_lanes(const struct guards *g, LLVMValueRef icmp)
{
    struct verdict verdict = {0, 0, false};
    struct tr_lane_values a, b;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(icmp, 0));
    if (!evaluate(g, LLVMGetOperand(icmp, 0), &a) || !a.is_exact ||
        !evaluate(g, LLVMGetOperand(icmp, 1), &b) || !b.is_exact)
        return verdict;
    verdict.varies = !tr_is_same_in_lanes(&a) || !tr_is_same_in_lanes(&b);
    bool is_pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
    unsigned unused_bits = is_pointer ? 0 : 64 - LLVMGetIntTypeWidth(type);
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++) {
        uint32_t bit = UINT32_C(1) << lane;
        bool holds =
            tr_compare_numbers(LLVMGetICmpPredicate(icmp), a.of[lane], b.of[lane], unused_bits);
        *(holds ? &verdict.yes : &verdict.no) |= bit;
    }
    return verdict;
}

static struct verdict judge(const struct guards *g, LLVMValueRef condition, unsigned depth)
{
    struct verdict of[3] = {{0, 0, false}, {0, 0, false}, {0, 0, false}};
    if (LLVMIsAConstantInt(condition) != NULL) {
        bool holds = tr_is_true(condition);
        return (struct verdict){holds ? UINT32_MAX : 0, holds ? 0 : UINT32_MAX, false};
    }
    if (depth == TR_CONDITION_DEPTH_MAX || LLVMIsAInstruction(condition) == NULL)
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
    if (depth == TR_CONDITION_DEPTH_MAX || LLVMIsAInstruction(condition) == NULL)
        return false;
    LLVMValueRef left = LLVMGetOperand(condition, 0), right;
    switch (LLVMGetInstructionOpcode(condition)) {
    case LLVMFreeze:
        return holds_once(g, left, goes_if, depth + 1);
    case LLVMAnd:
    case LLVMOr:
    case LLVMSelect:
        return tr_junction_of(condition, &right) == (goes_if ? LLVMAnd : LLVMOr) &&
               (holds_once(g, left, goes_if, depth + 1) ||
                holds_once(g, right, goes_if, depth + 1));
    case LLVMXor:
        return tr_is_true(LLVMGetOperand(condition, 1)) && holds_once(g, left, !goes_if, depth + 1);
    case LLVMICmp:
        return LLVMGetICmpPredicate(condition) == (goes_if ? LLVMIntEQ : LLVMIntNE) &&
               evaluate(g, left, &a) && evaluate(g, LLVMGetOperand(condition, 1), &b) &&
               is_equal_once(&a, &b);
    default:
        return false;
    }
}

/* ---- ways ---- */

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
    return (struct way){lanes, !tr_is_same_in_lanes(&value)};
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
    LLVMValueRef branch = tr_end_of(g->effects->graph, from);
    if (LLVMIsASwitchInst(branch) != NULL)
        return lanes_of_case(g, branch, graph->segments[graph->segments[from].succs[i]].llvm);
    if (!tr_is_parting(g->effects->graph, from))
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
        if (effects->graph->segments[s].pred_count == 1 && tr_is_parting(g.effects->graph, from) &&
            holds_once(&g, LLVMGetCondition(tr_end_of(g.effects->graph, from)),
                       effects->graph->segments[from].succs[0] == s, 0))
            edge = s;
    return edge;
}
