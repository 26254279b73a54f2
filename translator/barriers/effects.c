/* SPDX-License-Identifier: Apache-2.0
 *
 * The accesses of a kernel to memory that threads share, and whether pairs of them can meet.
 */
#include "translator/barriers/effects.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "translator/analysis/calls.h"

/* ---- what an instruction does ---- */

static bool is_constant(LLVMValueRef value, uint64_t *number)
{
    if (LLVMIsAConstantInt(value) == NULL)
        return false;
    *number = LLVMConstIntGetZExtValue(value);
    return true;
}

/* PTX ISA "bar, barrier": sixteen of them per block; without a count all threads take part. */
static bool is_for_all(LLVMValueRef call)
{
    uint64_t id;
    uint64_t count;
    return is_constant(LLVMGetOperand(call, 1), &id) && id < 16 &&
           is_constant(LLVMGetOperand(call, 2), &count) && count == 0;
}

bool tr_is_block_barrier(LLVMValueRef inst)
{
    return tr_placeholder_of(inst) == RT_CALL_BAR_SYNC && is_for_all(inst);
}

bool tr_is_whole_block(LLVMValueRef inst)
{
    return tr_is_block_barrier(inst) ||
           (tr_placeholder_of(inst) == RT_CALL_BAR_RED && is_for_all(inst));
}

static bool is_harmless_call(LLVMValueRef call)
{
    enum rt_effect effect = tr_effect_of_call(call);
    return effect == RT_EFFECT_NONE || effect == RT_EFFECT_END || effect == RT_EFFECT_FAULT;
}

static bool is_plain(LLVMValueRef access)
{
    return !LLVMGetVolatile(access) && LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic;
}

static LLVMTargetDataRef layout_of(const struct tr_effects *effects)
{
    return LLVMGetModuleDataLayout(LLVMGetGlobalParent(effects->graph->function));
}

static void describe_place(const struct tr_effects *effects, LLVMValueRef pointer, LLVMTypeRef type,
                           struct tr_access *access)
{
    access->pointer = pointer;
    access->origins = tr_origins_of(effects, pointer);
    access->root = tr_param_of(effects, pointer);
    access->size_bytes = (uint32_t)LLVMStoreSizeOfType(layout_of(effects), type);
    struct tr_sum_query query = {
        .layout = layout_of(effects), .through = TR_AS_THREADS, .block = effects->facts->block};
    tr_sum_of(&query, pointer, &access->address);
}

/* A call may do anything; nothing else is known. */
static void describe_call(LLVMValueRef call, struct tr_access *access)
{
    if (tr_is_block_barrier(call) || is_harmless_call(call))
        return;
    access->is_wall = true;
    access->origins = TR_ORIGIN_UNKNOWN;
    access->is_read = access->is_write = tr_effect_of_call(call) == RT_EFFECT_ANY;
}

/* Atomic and volatile accesses order others: by convention, or in the words of the memory model. */
static void describe(const struct tr_effects *effects, const struct tr_value *value,
                     struct tr_access *access)
{
    LLVMValueRef inst = value->llvm;
    switch (value->opcode) {
    case LLVMLoad:
        access->is_read = true;
        access->is_wall = !is_plain(inst);
        describe_place(effects, LLVMGetOperand(inst, 0), LLVMTypeOf(inst), access);
        break;
    case LLVMStore:
        access->is_write = true;
        access->is_wall = !is_plain(inst);
        describe_place(effects, LLVMGetOperand(inst, 1), LLVMTypeOf(LLVMGetOperand(inst, 0)),
                       access);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        access->is_read = access->is_write = access->is_wall = true;
        describe_place(effects, LLVMGetOperand(inst, 0), LLVMTypeOf(LLVMGetOperand(inst, 1)),
                       access);
        break;
    case LLVMFence:
        access->is_wall = true;
        break;
    case LLVMCall:
        describe_call(inst, access);
        break;
    case LLVMInvoke:
    case LLVMVAArg:
        access->is_read = access->is_write = access->is_wall = true;
        access->origins = TR_ORIGIN_UNKNOWN;
        break;
    default:
        break;
    }
}

/* The thread's own memory, and memory that is only read, concern no other thread. */
static bool is_worth_noting(const struct tr_access *access)
{
    if (access->is_wall)
        return true;
    return (access->is_read || access->is_write) &&
           (access->origins & ~(TR_ORIGIN_LOCAL | TR_ORIGIN_CONSTANT)) != 0;
}

static uint32_t collect(struct tr_effects *effects, struct tr_access *accesses)
{
    const struct tr_graph *graph = effects->graph;
    uint32_t count = 0;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        const struct tr_segment *segment = &graph->segments[s];
        if (accesses != NULL)
            effects->first_access[s] = count;
        for (uint32_t i = 0; i < segment->value_count; i++) {
            uint32_t number = segment->first_value + i;
            struct tr_access access = {.value = number, .segment = s};
            describe(effects, &graph->values[number], &access);
            if (!is_worth_noting(&access))
                continue;
            if (accesses != NULL)
                accesses[count] = access;
            count++;
        }
    }
    if (accesses != NULL)
        effects->first_access[graph->segment_count] = count;
    return count;
}

enum pxr_status tr_effects_analyse(struct tr_graph *graph, const struct tr_facts *facts,
                                   struct tr_dominators *dominators, struct tr_loops *loops,
                                   struct tr_shapes *shapes, struct pxr_error *err)
{
    struct tr_shape_facts known = tr_shape_facts_of(facts);
    enum pxr_status status = tr_dominators_build(graph, false, dominators, err);
    if (status == PXR_OK)
        status = tr_loops_build(graph, loops, err);
    if (status == PXR_OK)
        status = tr_shapes_build(graph, loops, TR_SCOPE_BLOCK, &known, shapes, err);
    return status;
}

enum pxr_status tr_effects_build(struct tr_effects *effects, struct pxr_error *err)
{
    struct pxr_arena *arena = &effects->graph->arena;
    size_t segments = effects->graph->segment_count;
    if (!tr_addresses_prepare(effects))
        goto no_memory;
    effects->access_count = collect(effects, NULL);
    effects->accesses =
        pxr_arena_alloc_array(arena, effects->access_count, sizeof *effects->accesses);
    effects->first_access =
        pxr_arena_alloc_array(arena, segments + 1, sizeof *effects->first_access);
    if (effects->accesses == NULL || effects->first_access == NULL)
        goto no_memory;
    collect(effects, effects->accesses);
    return PXR_OK;

no_memory:
    return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory optimising barriers");
}

/* ---- whether two accesses can meet ---- */

struct interval {
    int64_t low;
    int64_t high;
};

static bool is_param(uint8_t root)
{
    return root != 0 && root != TR_ROOT_ANY;
}

static bool are_apart(const struct tr_access *a, const struct tr_access *b)
{
    if (((a->origins | b->origins) & TR_ORIGIN_UNKNOWN) != 0)
        return false;
    if ((a->origins & b->origins) == 0)
        return true;
    return a->origins == TR_ORIGIN_GLOBAL && b->origins == TR_ORIGIN_GLOBAL && is_param(a->root) &&
           is_param(b->root) && a->root != b->root;
}

/* Whether a and b differ only by the constant and by the part of %tid. */
static bool has_same_terms(const struct tr_access *a, const struct tr_access *b)
{
    return tr_has_same_terms(&a->address, &b->address);
}

static bool has_fixed_terms(const struct tr_effects *effects, const struct tr_access *access)
{
    for (uint32_t i = 0; i < access->address.count; i++) {
        uint32_t value = tr_graph_number(effects->graph, access->address.terms[i].index);
        if (value == TR_NONE || !effects->is_fixed[value])
            return false;
    }
    return true;
}

static int64_t factor_of(const struct tr_access *access, int d)
{
    return (int32_t)access->address.tid[d];
}

/* constant of b - constant of a */
static int64_t distance(const struct tr_access *a, const struct tr_access *b)
{
    return (int32_t)(b->address.offset - a->address.offset);
}

static struct interval scaled(int64_t factor, int64_t low, int64_t high)
{
    int64_t x = factor * low;
    int64_t y = factor * high;
    return x < y ? (struct interval){x, y} : (struct interval){y, x};
}

static void widen(struct interval *sum, struct interval by)
{
    sum->low += by.low;
    sum->high += by.high;
}

/* Whether b, about `by` bytes behind a, is apart from it, and would be if addresses had only 32
 * bits. */
static bool is_distance_safe(const struct tr_access *a, const struct tr_access *b,
                             struct interval by)
{
    if (by.low <= INT32_MIN || by.high >= INT32_MAX)
        return false;
    return by.low >= (int64_t)a->size_bytes || by.high <= -(int64_t)b->size_bytes;
}

static bool is_executed(const struct tr_effects *effects, const struct tr_access *access)
{
    for (int d = 0; d < 3; d++)
        if (effects->tid_low[access->segment][d] > effects->tid_high[access->segment][d])
            return false;
    return true;
}

/* Whether their accesses are apart, whichever threads get there. */
static bool has_apart_ranges(const struct tr_effects *effects, const struct tr_access *a,
                             const struct tr_access *b)
{
    struct interval by = {distance(a, b), distance(a, b)};
    for (int d = 0; d < 3; d++) {
        struct interval of_a = scaled(factor_of(a, d), effects->tid_low[a->segment][d],
                                      effects->tid_high[a->segment][d]);
        struct interval of_b = scaled(factor_of(b, d), effects->tid_low[b->segment][d],
                                      effects->tid_high[b->segment][d]);
        widen(&by, of_b);
        widen(&by, (struct interval){-of_a.high, -of_a.low});
    }
    return is_distance_safe(a, b, by);
}

struct dimension {
    int64_t stride; /* positive */
    int64_t reach;  /* most that tid can differ between the threads */
};

static int by_stride(const void *left, const void *right)
{
    const struct dimension *a = left;
    const struct dimension *b = right;
    return (a->stride > b->stride) - (a->stride < b->stride);
}

/* Both move by the same strides from thread to thread. With e the difference of %tid between two
 * threads, not 0, b begins distance + sum(stride * e) bytes behind a. The dimension of the largest
 * stride in which e is not 0 outweighs those with smaller ones, as digits of a number do: so the
 * sum is at least the smallest, over the dimensions, of what a step there adds minus all that
 * dimensions below can take away. */
static bool is_own_element(const struct tr_effects *effects, const struct tr_access *a,
                           const struct tr_access *b)
{
    struct dimension dimensions[3];
    size_t count = 0;
    for (int d = 0; d < 3; d++) {
        if (factor_of(a, d) != factor_of(b, d))
            return false;
        int64_t forth = (int64_t)effects->tid_high[b->segment][d] - effects->tid_low[a->segment][d];
        int64_t back = (int64_t)effects->tid_high[a->segment][d] - effects->tid_low[b->segment][d];
        int64_t reach = forth > back ? forth : back;
        if (reach > 0)
            dimensions[count++] = (struct dimension){llabs(factor_of(a, d)), reach};
    }
    qsort(dimensions, count, sizeof dimensions[0], by_stride);
    int64_t by = distance(a, b);
    int64_t needed =
        a->size_bytes - by > b->size_bytes + by ? a->size_bytes - by : b->size_bytes + by;
    int64_t below = 0;
    for (size_t i = 0; i < count; i++) {
        if (dimensions[i].stride - below < needed || dimensions[i].stride == 0)
            return false;
        below += dimensions[i].stride * dimensions[i].reach;
    }
    return below + llabs(by) + a->size_bytes + b->size_bytes < INT32_MAX;
}

bool tr_may_meet(const struct tr_effects *effects, const struct tr_access *a,
                 const struct tr_access *b)
{
    if (are_apart(a, b))
        return false;
    if (!is_executed(effects, a) || !is_executed(effects, b))
        return false;
    if (!has_same_terms(a, b) || !has_fixed_terms(effects, a))
        return true;
    return !has_apart_ranges(effects, a, b) && !is_own_element(effects, a, b);
}

bool tr_may_overlap(const struct tr_effects *effects, const struct tr_access *a,
                    const struct tr_access *b, bool is_same_instance)
{
    if (are_apart(a, b))
        return false;
    if (!has_same_terms(a, b) || (!is_same_instance && !has_fixed_terms(effects, a)))
        return true;
    struct interval by = {distance(a, b), distance(a, b)};
    for (int d = 0; d < 3; d++)
        widen(&by, scaled(factor_of(b, d) - factor_of(a, d), effects->tid_low[a->segment][d],
                          effects->tid_high[a->segment][d]));
    return !is_distance_safe(a, b, by);
}

bool tr_is_same_place(const struct tr_access *a, const struct tr_access *b)
{
    if (a->size_bytes != b->size_bytes)
        return false;
    if (a->pointer == b->pointer)
        return true;
    /* Shared memory has less than 2^32 bytes. */
    return a->origins == TR_ORIGIN_SHARED && b->origins == TR_ORIGIN_SHARED &&
           has_same_terms(a, b) && a->address.offset == b->address.offset &&
           memcmp(a->address.tid, b->address.tid, sizeof a->address.tid) == 0;
}

bool tr_conflict(const struct tr_effects *effects, const struct tr_access *a,
                 const struct tr_access *b)
{
    if (a->is_gone || b->is_gone)
        return false;
    if (a->is_wall || b->is_wall)
        return true;
    return (a->is_write || b->is_write) && tr_may_meet(effects, a, b);
}
