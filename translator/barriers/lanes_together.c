/* SPDX-License-Identifier: Apache-2.0
 *
 * Which lanes of a warp may be at a place at the same time: guards that compare what each lane has
 * with what all have in common, and which nobody knows, tell it all the same.
 */
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/barriers/lane_conditions.h"
#include "translator/barriers/lane_guards.h"
#include "translator/module/relation.h"

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
    guard->predicate = a->is_exact ? guard->predicate : tr_relation_swapped(guard->predicate);
    guard->common = common->of[0];
    memcpy(guard->own, own->of, sizeof guard->own);
    return own->is_exact && !common->is_exact && tr_is_same_in_lanes(common);
}

static void add_comparison(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                           LLVMValueRef icmp, bool goes_if, struct guard_list *list)
{
    struct tr_lane_values a, b;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(icmp, 0));
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(icmp);
    if (list->count == GUARDS_MAX || LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
        LLVMGetIntTypeWidth(type) < 32 ||
        !tr_evaluate_in_turn(effects, ids, LLVMGetOperand(icmp, 0), &a) ||
        !tr_evaluate_in_turn(effects, ids, LLVMGetOperand(icmp, 1), &b))
        return;
    struct guard *guard = &list->of[list->count];
    guard->predicate = goes_if ? predicate : tr_relation_inverse(predicate);
    guard->bits = LLVMGetIntTypeWidth(type);
    list->count +=
        guard->predicate == LLVMIntEQ ? find_equation(&a, &b, guard) : find_order(&a, &b, guard);
}

/* Those of the condition's parts that are surely `goes_if` where it is. */
static void add_guards(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                       LLVMValueRef condition, bool goes_if, unsigned depth,
                       struct guard_list *list)
{
    if (depth == TR_CONDITION_DEPTH_MAX || LLVMIsAInstruction(condition) == NULL)
        return;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(condition);
    LLVMValueRef left = LLVMGetOperand(condition, 0), right;
    if (opcode == LLVMICmp) {
        add_comparison(effects, ids, condition, goes_if, list);
    } else if (opcode == LLVMFreeze) {
        add_guards(effects, ids, left, goes_if, depth + 1, list);
    } else if (opcode == LLVMXor && tr_is_true(LLVMGetOperand(condition, 1))) {
        add_guards(effects, ids, left, !goes_if, depth + 1, list);
    } else if (tr_junction_of(condition, &right) == (goes_if ? LLVMAnd : LLVMOr)) {
        add_guards(effects, ids, left, goes_if, depth + 1, list);
        add_guards(effects, ids, right, goes_if, depth + 1, list);
    }
}

static struct guard_list guards_of(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                                   uint32_t segment)
{
    struct guard_list list = {.count = 0};
    for (uint32_t s = segment, from; (from = effects->dominators->idom[s]) != TR_NONE; s = from)
        if (effects->graph->segments[s].pred_count == 1 && tr_is_parting(effects->graph, from))
            add_guards(effects, ids, LLVMGetCondition(tr_end_of(effects->graph, from)),
                       effects->graph->segments[from].succs[0] == s, 0, &list);
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
           tr_compare_numbers(guard->predicate, guard->own[lane] << unused_bits,
                              common << unused_bits, 0);
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
    const struct guard_list list = guards_of(effects, ids, segment);
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
