/* SPDX-License-Identifier: Apache-2.0
 *
 * Values that a thread stores where no other thread writes, and loads again: the load becomes the
 * value, and the store may become dead. Rules 3 and 4 of barriers.c say why that is right.
 *
 * A value that lives across a barrier is kept in memory by the collapse, so forwarding it there
 * pays only if it replaces memory of before.
 */
#include "translator/barriers/effects.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "translator/analysis/calls.h"

struct forwarder {
    struct tr_effects *effects;
    const struct tr_forwarding *report;
    struct tr_set from_store; /* segments that can be reached from behind the store without passing
                                 it */
    struct tr_set to_load;    /* segments from which the load can be reached without passing the
                                 store */
    struct tr_set phases;
    uint32_t *work;
    bool has_walls;
    bool is_load_in_cycle; /* the load's segment may be entered again before the store is */
};

static void clear(struct tr_set *set)
{
    memset(set->words, 0, set->word_count * sizeof *set->words);
}

static LLVMValueRef inst_of(const struct forwarder *f, const struct tr_access *access)
{
    return f->effects->graph->values[access->value].llvm;
}

/* ---- the paths between a store and a load, or another store ---- */

/* Segments that can be reached from start's ends, forward or backward, without entering segment
 * `closed`. */
static void reach(struct forwarder *f, uint32_t start, uint32_t closed, bool is_forward,
                  struct tr_set *found)
{
    const struct tr_graph *graph = f->effects->graph;
    uint32_t count = 0;
    clear(found);
    f->work[count++] = start;
    while (count > 0) {
        const struct tr_segment *segment = &graph->segments[f->work[--count]];
        const uint32_t *next = is_forward ? segment->succs : segment->preds;
        uint32_t next_count = is_forward ? segment->succ_count : segment->pred_count;
        for (uint32_t i = 0; i < next_count; i++)
            if (next[i] != closed && !tr_set_has(found, next[i])) {
                tr_set_add(found, next[i]);
                f->work[count++] = next[i];
            }
    }
}

static void find_paths(struct forwarder *f, const struct tr_access *store,
                       const struct tr_access *load)
{
    if (store->segment == load->segment)
        return;
    reach(f, load->segment, store->segment, true, &f->from_store);
    f->is_load_in_cycle = tr_set_has(&f->from_store, load->segment);
    reach(f, store->segment, store->segment, true, &f->from_store);
    reach(f, load->segment, store->segment, false, &f->to_load);
    tr_set_add(&f->to_load, load->segment);
}

static bool is_on_path(const struct forwarder *f, uint32_t segment)
{
    return tr_set_has(&f->from_store, segment) && tr_set_has(&f->to_load, segment);
}

/* Whether the access may come between the store and the load, without the store coming again.
 * Values are numbered along their segment. */
static bool is_between(const struct forwarder *f, const struct tr_access *access,
                       const struct tr_access *store, const struct tr_access *load)
{
    if (store->segment == load->segment)
        return access->segment == store->segment && access->value > store->value &&
               access->value < load->value;
    if (access->segment == store->segment)
        return access->value > store->value;
    if (access->segment == load->segment)
        return access->value < load->value || f->is_load_in_cycle;
    return is_on_path(f, access->segment);
}

static bool comes_before(const struct forwarder *f, const struct tr_access *store,
                         const struct tr_access *load)
{
    if (store->segment == load->segment)
        return store->value < load->value;
    return tr_dominates(f->effects->dominators, store->segment, load->segment);
}

/* Whether a barrier may come between them. */
static bool has_barrier_between(const struct forwarder *f, const struct tr_access *store,
                                const struct tr_access *load)
{
    const struct tr_effects *effects = f->effects;
    if (store->segment == load->segment)
        return false;
    if (effects->is_barrier[store->segment])
        return true;
    for (uint32_t s = 0; s < effects->graph->segment_count; s++)
        if (effects->is_barrier[s] && is_on_path(f, s) &&
            (s != load->segment || f->is_load_in_cycle))
            return true;
    return false;
}

/* ---- rule 3 ---- */

static bool is_plain_store(const struct tr_access *access)
{
    return !access->is_gone && !access->is_wall && access->is_write && !access->is_read;
}

static bool is_plain_load(const struct tr_access *access)
{
    return !access->is_gone && !access->is_wall && access->is_read && !access->is_write;
}

static bool is_number(LLVMValueRef value)
{
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(value));
    return kind == LLVMIntegerTypeKind || kind == LLVMHalfTypeKind || kind == LLVMBFloatTypeKind ||
           kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

/* Whether registers have as many bits as memory: then a bit cast changes nothing. */
static bool can_replace(const struct forwarder *f, const struct tr_access *store,
                        const struct tr_access *load)
{
    LLVMValueRef value = LLVMGetOperand(inst_of(f, store), 0);
    LLVMValueRef loaded = inst_of(f, load);
    if (LLVMTypeOf(value) == LLVMTypeOf(loaded))
        return true;
    return is_number(value) && is_number(loaded) && store->size_bytes >= 2 &&
           (store->size_bytes & (store->size_bytes - 1)) == 0;
}

/* Whether the load has the value of the store. Leaves the paths between them in the sets. */
static bool has_value_of(struct forwarder *f, const struct tr_access *store,
                         const struct tr_access *load)
{
    const struct tr_effects *effects = f->effects;
    if (!tr_is_same_place(store, load) || !comes_before(f, store, load) ||
        !can_replace(f, store, load))
        return false;
    /* Threads of other blocks could be ordered with this one only by something that is a wall. */
    if (f->has_walls && store->origins != TR_ORIGIN_SHARED)
        return false;
    find_paths(f, store, load);
    for (uint32_t i = 0; i < effects->access_count; i++) {
        const struct tr_access *other = &effects->accesses[i];
        if (other->is_gone)
            continue;
        if (other->is_write && tr_may_meet(effects, other, store))
            return false;
        if (other == store || !is_between(f, other, store, load))
            continue;
        if (other->is_wall || (other->is_write && tr_may_overlap(effects, store, other, true)))
            return false;
    }
    return true;
}

static bool is_read_by_others(const struct tr_effects *effects, const struct tr_access *store)
{
    for (uint32_t i = 0; i < effects->access_count; i++) {
        const struct tr_access *other = &effects->accesses[i];
        if (!other->is_gone && other->is_read && tr_may_meet(effects, other, store))
            return true;
    }
    return false;
}

/* ---- rule 4 ---- */

/* Adds all segments that threads may execute between the same two barriers as one in the set. */
static void add_phases(struct forwarder *f, struct tr_set *set)
{
    const struct tr_effects *effects = f->effects;
    uint32_t count = 0;
    for (uint32_t s = tr_set_next(set, 0); s != TR_NONE; s = tr_set_next(set, s + 1))
        f->work[count++] = s;
    while (count > 0) {
        uint32_t s = f->work[--count];
        const struct tr_segment *segment = &effects->graph->segments[s];
        for (uint32_t i = 0; i < segment->succ_count && !effects->is_barrier[s]; i++)
            if (!tr_set_has(set, segment->succs[i])) {
                tr_set_add(set, segment->succs[i]);
                f->work[count++] = segment->succs[i];
            }
        for (uint32_t i = 0; i < segment->pred_count; i++)
            if (!effects->is_barrier[segment->preds[i]] && !tr_set_has(set, segment->preds[i])) {
                tr_set_add(set, segment->preds[i]);
                f->work[count++] = segment->preds[i];
            }
    }
}

/* Whether a thread may end in the segment, other than with a fault, which ends the launch. */
static bool may_end(const struct forwarder *f, uint32_t segment)
{
    const struct tr_segment *s = &f->effects->graph->segments[segment];
    for (uint32_t i = 0; i < s->value_count; i++) {
        LLVMValueRef inst = f->effects->graph->values[s->first_value + i].llvm;
        if (s->succ_count == 0 && tr_is_fault(inst))
            return false;
    }
    return s->succ_count == 0;
}

/* Whether the other store always follows. Leaves in phases what threads may execute between the
 * two. */
static bool always_leads_to(struct forwarder *f, const struct tr_access *store,
                            const struct tr_access *next)
{
    clear(&f->phases);
    if (store->segment != next->segment) {
        reach(f, store->segment, next->segment, true, &f->phases);
        for (uint32_t s = tr_set_next(&f->phases, 0); s != TR_NONE;
             s = tr_set_next(&f->phases, s + 1))
            if (s == store->segment || may_end(f, s))
                return false;
    }
    tr_set_add(&f->phases, store->segment);
    tr_set_add(&f->phases, next->segment);
    add_phases(f, &f->phases);
    return true;
}

static bool is_overwritten_by(struct forwarder *f, const struct tr_access *store,
                              const struct tr_access *next)
{
    const struct tr_effects *effects = f->effects;
    if (!tr_is_same_place(store, next) || !comes_before(f, store, next) ||
        !always_leads_to(f, store, next))
        return false;
    find_paths(f, store, next);
    for (uint32_t i = 0; i < effects->access_count; i++) {
        const struct tr_access *load = &effects->accesses[i];
        if (load->is_gone || !load->is_read)
            continue;
        if (tr_set_has(&f->phases, load->segment) && tr_may_meet(effects, load, store))
            return false;
        if (is_between(f, load, store, next) && tr_may_overlap(effects, load, store, true))
            return false;
    }
    return true;
}

/* Shared memory ends with the block: a store is dead if no thread reads it any more. */
static bool is_dead(struct forwarder *f, const struct tr_access *store)
{
    const struct tr_effects *effects = f->effects;
    bool is_read = false;
    if (store->origins != TR_ORIGIN_SHARED)
        return false;
    for (uint32_t i = 0; i < effects->access_count && !is_read; i++) {
        const struct tr_access *load = &effects->accesses[i];
        is_read =
            !load->is_gone && load->is_read &&
            (tr_may_meet(effects, load, store) || tr_may_overlap(effects, load, store, false));
    }
    if (!is_read)
        return true;
    for (uint32_t i = 0; i < effects->access_count; i++) {
        const struct tr_access *next = &effects->accesses[i];
        if (next != store && is_plain_store(next) && is_overwritten_by(f, store, next))
            return true;
    }
    return false;
}

/* ---- what is done ---- */

static void replace(struct forwarder *f, const struct tr_access *store, struct tr_access *load)
{
    LLVMValueRef value = LLVMGetOperand(inst_of(f, store), 0);
    LLVMValueRef loaded = inst_of(f, load);
    if (LLVMTypeOf(value) != LLVMTypeOf(loaded)) {
        LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(loaded));
        LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
        LLVMPositionBuilderBefore(builder, loaded);
        value = LLVMBuildBitCast(builder, value, LLVMTypeOf(loaded), "");
        LLVMDisposeBuilder(builder);
    }
    f->report->forwarded(f->report->data, loaded, inst_of(f, store));
    LLVMReplaceAllUsesWith(loaded, value);
    LLVMInstructionEraseFromParent(loaded);
    load->is_gone = true;
}

/* Marks the loads that get the store's value in `loads`, by number, if a barrier is between;
 * replaces the others. */
static uint32_t forward_within(struct forwarder *f, const struct tr_access *store,
                               struct tr_set *loads)
{
    uint32_t forwarded = 0;
    clear(loads);
    for (uint32_t i = 0; i < f->effects->access_count; i++) {
        struct tr_access *load = &f->effects->accesses[i];
        if (!is_plain_load(load) || !has_value_of(f, store, load))
            continue;
        if (has_barrier_between(f, store, load)) {
            tr_set_add(loads, i);
            continue;
        }
        replace(f, store, load);
        forwarded++;
    }
    return forwarded;
}

/* Forwards across barriers if the value was in memory for the thread itself only, or if nobody
 * needs it there once these loads are gone. */
static uint32_t forward_across(struct forwarder *f, const struct tr_access *store,
                               const struct tr_set *loads)
{
    struct tr_access *accesses = f->effects->accesses;
    uint32_t forwarded = 0;
    for (uint32_t i = tr_set_next(loads, 0); i != TR_NONE; i = tr_set_next(loads, i + 1))
        accesses[i].is_gone = true;
    bool pays = !is_read_by_others(f->effects, store) || is_dead(f, store);
    for (uint32_t i = tr_set_next(loads, 0); i != TR_NONE; i = tr_set_next(loads, i + 1)) {
        accesses[i].is_gone = false;
        if (!pays)
            continue;
        replace(f, store, &accesses[i]);
        forwarded++;
    }
    return forwarded;
}

static void erase_dead_stores(struct forwarder *f)
{
    for (uint32_t i = 0; i < f->effects->access_count; i++) {
        struct tr_access *store = &f->effects->accesses[i];
        if (!is_plain_store(store) || !is_dead(f, store))
            continue;
        f->report->dead(f->report->data, inst_of(f, store));
        LLVMInstructionEraseFromParent(inst_of(f, store));
        store->is_gone = true;
    }
}

enum pxr_status tr_forward_stores(struct tr_effects *effects,
                                  const struct tr_forwarding *forwarding, struct pxr_error *err)
{
    struct tr_graph *graph = effects->graph;
    struct tr_set loads = tr_set_make(&graph->arena, effects->access_count);
    struct forwarder f = {
        .effects = effects,
        .report = forwarding,
        .from_store = tr_set_make(&graph->arena, graph->segment_count),
        .to_load = tr_set_make(&graph->arena, graph->segment_count),
        .phases = tr_set_make(&graph->arena, graph->segment_count),
        .work = pxr_arena_alloc_array(&graph->arena, graph->segment_count + 1, sizeof *f.work),
    };
    if (loads.words == NULL || f.from_store.words == NULL || f.to_load.words == NULL ||
        f.phases.words == NULL || f.work == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory optimising barriers");
    uint32_t forwarded = 0;
    for (uint32_t i = 0; i < effects->access_count; i++)
        f.has_walls |= effects->accesses[i].is_wall;
    for (uint32_t i = 0; i < effects->access_count; i++) {
        const struct tr_access *store = &effects->accesses[i];
        if (!is_plain_store(store))
            continue;
        forwarded += forward_within(&f, store, &loads);
        forwarded += forward_across(&f, store, &loads);
    }
    if (forwarded > 0)
        erase_dead_stores(&f);
    return PXR_OK;
}
