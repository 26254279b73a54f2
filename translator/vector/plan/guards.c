/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards: `if (i >= n) return` and the like. The search follows the code that all threads execute,
 * from an iteration's beginning until something happens that must not happen twice. Guards compare
 * the place of a thread, and nearly all threads are inside; branches on data are not expected to go
 * one way.
 */
#include "translator/vector/plan/groups.h"

#include <stddef.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/address.h"

/* A constant that is stored twice is stored once. */
static bool stores_constant(LLVMValueRef inst)
{
    return LLVMIsAStoreInst(inst) != NULL && LLVMIsAConstant(LLVMGetOperand(inst, 0)) != NULL &&
           !LLVMGetVolatile(inst) && LLVMGetOrdering(inst) == LLVMAtomicOrderingNotAtomic;
}

/* Whether the instruction reads what a kernel may write. */
static bool reads_memory(LLVMValueRef inst)
{
    return LLVMIsALoadInst(inst) != NULL &&
           tr_field_of(inst, TR_RECORD_BLOCK).record == TR_RECORD_NONE;
}

/* The segment's values before the first one that must not be done twice. A store of a constant may
 * be, unless something before it reads memory: that would read the constant the second time. */
static uint32_t repeatable_values(const struct tr_iteration *iteration, uint32_t number,
                                  bool *has_read)
{
    const struct tr_segment *segment = &iteration->graph.segments[number];
    uint32_t v = 0;
    for (; v < segment->value_count; v++) {
        LLVMValueRef inst = iteration->graph.values[segment->first_value + v].llvm;
        if (tr_is_seen(inst) && (*has_read || !stores_constant(inst)))
            break;
        *has_read |= reads_memory(inst);
    }
    return v;
}

/* Whether nobody sees that the segment is executed. */
static bool is_idle(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_segment *segment = &iteration->graph.segments[number];
    for (uint32_t v = 0; v < segment->value_count; v++)
        if (tr_is_seen(iteration->graph.values[segment->first_value + v].llvm))
            return false;
    return true;
}

/* Whether control goes from the segment to the iteration's end and does nothing on the way. */
static bool is_idle_to_end(const struct tr_iteration *iteration, uint32_t number)
{
    for (uint32_t steps = 0; steps < iteration->graph.segment_count; steps++) {
        if (!is_idle(iteration, number))
            return false;
        if (number == iteration->end)
            return true;
        if (iteration->graph.segments[number].succ_count != 1)
            return false;
        number = iteration->graph.segments[number].succs[0];
    }
    return false;
}

/* Depth of a condition that is looked at: guards are short. */
#define MAX_DEPTH 8

/* Whether the value is the same along a row or grows along it, also in a wider type. */
static bool is_place(const struct tr_iteration *iteration, uint32_t value)
{
    if (value == TR_NONE || iteration->shapes.values[value].kind != TR_VARYING)
        return true;
    const struct tr_value *cast = &iteration->graph.values[value];
    return (cast->opcode == LLVMSExt || cast->opcode == LLVMZExt) &&
           is_place(iteration, cast->operands[0]);
}

/* Whether it compares places. Nobody expects a place to equal one of all. */
static bool compares_places(const struct tr_iteration *iteration, const struct tr_value *icmp,
                            bool is_true)
{
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(icmp->llvm);
    return predicate != (is_true ? LLVMIntEQ : LLVMIntNE) &&
           is_place(iteration, icmp->operands[0]) && is_place(iteration, icmp->operands[1]);
}

/* Whether the value is made of comparisons of places, and is expected to be true, or false. */
static bool is_about_places(const struct tr_iteration *iteration, uint32_t number, bool is_true,
                            unsigned depth)
{
    if (number == TR_NONE || tr_is_same_in_row(iteration, iteration->graph.values[number].llvm))
        return true;
    const struct tr_value *value = &iteration->graph.values[number];
    if (value->opcode == LLVMICmp)
        return compares_places(iteration, value, is_true);
    bool is_logic = value->opcode == LLVMAnd || value->opcode == LLVMOr ||
                    value->opcode == LLVMXor || value->opcode == LLVMSelect ||
                    value->opcode == LLVMFreeze;
    if (!is_logic || depth == MAX_DEPTH)
        return false;
    is_true ^= value->opcode == LLVMXor; /* with true: not */
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!is_about_places(iteration, value->operands[i], is_true, depth + 1))
            return false;
    return true;
}

/* The segment's two ways that are not faults. */
static bool find_ways(const struct tr_iteration *iteration, uint32_t number, uint32_t ways[2])
{
    const struct tr_segment *segment = &iteration->graph.segments[number];
    uint32_t count = 0;
    for (uint32_t i = 0; i < segment->succ_count; i++) {
        if (iteration->is_lost[segment->succs[i]])
            continue;
        if (count == 2)
            return false;
        ways[count++] = segment->succs[i];
    }
    return count == 2 && segment->succ_count == 2 && ways[0] != ways[1];
}

/* The segment's way to the iteration's work; TR_NONE: its branch is no guard. */
static uint32_t expected_way(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_segment *segment = &iteration->graph.segments[number];
    uint32_t last = segment->first_value + segment->value_count - 1;
    uint32_t ways[2];
    if (iteration->graph.values[last].opcode != LLVMBr || !iteration->shapes.is_divergent[number] ||
        !find_ways(iteration, number, ways))
        return TR_NONE;
    bool is_idle[2] = {is_idle_to_end(iteration, ways[0]), is_idle_to_end(iteration, ways[1])};
    uint32_t expected = is_idle[0] ? 1 : 0;
    return is_idle[0] != is_idle[1] &&
                   is_about_places(iteration, iteration->graph.values[last].operands[0],
                                   expected == 0, 0)
               ? expected
               : TR_NONE;
}

/* Whether all that control can reach from one segment before the other, which is behind it on every
 * way, is idle. */
static bool can_pass(const struct tr_iteration *iteration, uint32_t from, uint32_t to,
                     struct tr_set *seen, uint32_t *stack)
{
    uint32_t depth = 0;
    stack[depth++] = from;
    tr_set_add(seen, from);
    while (depth > 0) {
        const struct tr_segment *segment = &iteration->graph.segments[stack[--depth]];
        for (uint32_t i = 0; i < segment->succ_count; i++) {
            uint32_t next = segment->succs[i];
            if (next == to || iteration->is_lost[next] || tr_set_has(seen, next))
                continue;
            if (!is_idle(iteration, next))
                return false;
            tr_set_add(seen, next);
            stack[depth++] = next;
        }
    }
    return true;
}

/* How many values a number is made of, at most, that are looked at. */
#define MAX_PARTS 64

/* Whether the load reads the block's index. */
static bool is_block_index(LLVMValueRef load)
{
    uint64_t first = offsetof(struct rt_block, ctaid);
    struct tr_field field = tr_field_of(load, TR_RECORD_BLOCK);
    return field.record == TR_RECORD_BLOCK && field.has_offset && field.offset >= first &&
           field.offset < first + sizeof((struct rt_block *)0)->ctaid;
}

static bool is_known(LLVMValueRef *parts, uint32_t count, LLVMValueRef part)
{
    for (uint32_t i = 0; i < count; i++)
        if (parts[i] == part)
            return true;
    return false;
}

bool tr_is_made_of_load(LLVMValueRef number, bool (*is_sought)(LLVMValueRef load))
{
    LLVMValueRef parts[MAX_PARTS] = {number};
    uint32_t count = 1;
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef part = parts[i];
        if (LLVMIsAInstruction(part) == NULL)
            continue;
        if (LLVMIsALoadInst(part) != NULL) {
            if (is_sought(part))
                return true;
            continue;
        }
        int operands = LLVMIsACallInst(part) != NULL ? 0 : LLVMGetNumOperands(part);
        for (int k = 0; k < operands && count < MAX_PARTS; k++)
            if (!is_known(parts, count, LLVMGetOperand(part, (unsigned)k)))
                parts[count++] = LLVMGetOperand(part, (unsigned)k);
    }
    return false;
}

static struct tr_guard make_guard(const struct tr_iteration *iteration, uint32_t number,
                                  uint32_t expected)
{
    const struct tr_segment *segment = &iteration->graph.segments[number];
    uint32_t last = segment->first_value + segment->value_count - 1;
    LLVMValueRef branch = iteration->graph.values[last].llvm;
    return (struct tr_guard){.branch = branch,
                             .expected = expected,
                             .is_of_grid =
                                 tr_is_made_of_load(LLVMGetCondition(branch), is_block_index)};
}

static bool allocate(const struct tr_iteration *iteration, struct pxr_arena *arena,
                     struct tr_expectations *expected)
{
    uint32_t segments = iteration->graph.segment_count;
    *expected = (struct tr_expectations){
        .steady = expected->steady,
        .steady_count = expected->steady_count,
        .repeatable = tr_set_make(arena, iteration->graph.value_count),
        .guards = pxr_arena_alloc_array(arena, segments, sizeof *expected->guards),
        .common = pxr_arena_alloc_array(arena, TR_MAX_COMMON, sizeof *expected->common),
        .divisors = pxr_arena_alloc_array(arena, TR_MAX_QUOTIENTS, sizeof *expected->divisors),
    };
    return expected->guards != NULL && expected->common != NULL && expected->divisors != NULL &&
           expected->repeatable.words != NULL;
}

static void add_repeatable(const struct tr_iteration *iteration, uint32_t number, uint32_t count,
                           struct tr_set *repeatable)
{
    uint32_t first = iteration->graph.segments[number].first_value;
    for (uint32_t v = first; v < first + count; v++)
        tr_set_add(repeatable, v);
}

enum pxr_status tr_find_expectations(struct tr_iteration *iteration, bool has_places,
                                     struct pxr_arena *arena, struct tr_expectations *expected,
                                     struct pxr_error *err)
{
    uint32_t segments = iteration->graph.segment_count;
    struct tr_set seen = tr_set_make(arena, segments);
    uint32_t *stack = pxr_arena_alloc_array(arena, segments, sizeof *stack);
    if (!allocate(iteration, arena, expected) || stack == NULL || seen.words == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory looking for guards");
    tr_expect_groups(iteration, expected);
    uint32_t at = 0;
    bool has_read = false;
    while (at != iteration->end && iteration->loops.innermost[at] == TR_NONE) {
        uint32_t repeatable = repeatable_values(iteration, at, &has_read);
        add_repeatable(iteration, at, repeatable, &expected->repeatable);
        tr_find_common(iteration, at, repeatable, has_places, expected);
        if (repeatable < iteration->graph.segments[at].value_count)
            break;
        uint32_t way = expected_way(iteration, at);
        if (way != TR_NONE) {
            expected->guards[expected->guard_count++] = make_guard(iteration, at, way);
            at = iteration->graph.segments[at].succs[way];
            continue;
        }
        uint32_t next = iteration->post.idom[at];
        if (next == TR_NONE || !can_pass(iteration, at, next, &seen, stack))
            break;
        has_read |= iteration->graph.segments[at].succ_count > 1;
        at = next;
    }
    return PXR_OK;
}
