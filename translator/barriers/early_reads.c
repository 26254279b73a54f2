/* SPDX-License-Identifier: Apache-2.0
 *
 * Many programs reduce over the block twice in the same shared memory, and lack a barrier between:
 * all threads read the result right behind a barrier, then the first warp stores to the same place
 * again. That is a race, but on a machine every thread has made its read long before another one
 * gets to the store. In loops over threads the first warp would store before the second one reads.
 *
 * So where all threads read one place of shared memory right behind a barrier, and another thread
 * may store there before the next one, the barrier gets a twin behind the reads. All threads come
 * to it, as they have come to the barrier. The same where each warp reads the sums of all of them,
 * a lane each, and where threads exchange values with a partner, whose number differs in some bits.
 * Where the branch on who uses the result comes first, the read is made before it. Reads of places
 * of their own stay as they are: programs seldom lack that barrier.
 */
#include "translator/barriers/early_reads.h"

#include <string.h>

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/calls.h"
#include "translator/barriers/effects.h"
#include "translator/module/module_steps.h"
#include "translator/module/sregs.h"

/* Kernels with more segments are left alone. */
#define SEGMENTS_MAX 4096

/* Of how many operations a place is made at most of the number of a lane or of a partner. */
#define PLACE_DEPTH_MAX 8

struct early_reads {
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_loops loops;
    struct tr_shapes shapes;
    struct tr_effects effects;
    bool *is_barrier;
    struct tr_set after; /* segments that threads come to between the barrier and the next one */
    uint32_t *work;
};

static LLVMValueRef last_value(const struct early_reads *r, uint32_t segment)
{
    const struct tr_segment *s = &r->graph.segments[segment];
    return r->graph.values[s->first_value + s->value_count - 1].llvm;
}

/* The segment behind a barrier; TR_NONE: the segment does not end at one. */
static uint32_t behind(const struct early_reads *r, uint32_t segment)
{
    return tr_is_block_barrier(last_value(r, segment)) ? r->graph.segments[segment].succs[0]
                                                       : TR_NONE;
}

/* ---- reads ---- */

static bool is_shared(const struct early_reads *r, LLVMValueRef pointer)
{
    return tr_origins_of(&r->effects, pointer) == TR_ORIGIN_SHARED;
}

/* Whether the constant of an operation has at most the bits of a lane's number, of a value that is
 * shifted or not. */
static bool masks_lane(LLVMValueRef value)
{
    LLVMValueRef mask = LLVMIsAConstantInt(LLVMGetOperand(value, 1));
    LLVMValueRef masked = LLVMGetOperand(value, 0);
    LLVMValueRef shift = NULL;
    if (LLVMIsAInstruction(masked) && LLVMGetInstructionOpcode(masked) == LLVMShl)
        shift = LLVMIsAConstantInt(LLVMGetOperand(masked, 1));
    uint64_t bits = shift == NULL ? 0 : LLVMConstIntGetZExtValue(shift) % 64;
    return mask != NULL && LLVMConstIntGetZExtValue(mask) >> bits < RT_WARP_SIZE;
}

static bool is_varying(const struct early_reads *r, LLVMValueRef value)
{
    uint32_t v = LLVMIsAInstruction(value) ? tr_graph_number(&r->graph, value) : TR_NONE;
    return v != TR_NONE && r->shapes.values[v].kind != TR_UNIFORM;
}

/* Whether places are made of others by it. */
static bool makes_place(LLVMOpcode opcode)
{
    switch (opcode) {
    case LLVMAdd:
    case LLVMOr:
    case LLVMMul:
    case LLVMShl:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMIntToPtr:
    case LLVMGetElementPtr:
        return true;
    default:
        return false;
    }
}

/* Whether the value is made of what the block has in common, and of the number of the lane. */
static bool is_of_lane(const struct early_reads *r, LLVMValueRef value, int depth)
{
    if (!is_varying(r, value) || tr_sreg_of(value) == PTX_SREG_LANEID)
        return true;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (opcode == LLVMAnd)
        return masks_lane(value);
    if (depth == 0 || !makes_place(opcode))
        return false;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (!is_of_lane(r, LLVMGetOperand(value, (unsigned)i), depth - 1))
            return false;
    return true;
}

/* Whether the value is made of the number of a partner, which may be in another warp: a number of
 * this thread's with some of its bits, the same for all threads, turned. */
static bool is_of_partner(const struct early_reads *r, LLVMValueRef value, int depth)
{
    if (depth == 0 || !is_varying(r, value))
        return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (opcode == LLVMXor)
        return is_varying(r, LLVMGetOperand(value, 0)) != is_varying(r, LLVMGetOperand(value, 1)) &&
               !masks_lane(value);
    for (int i = 0; makes_place(opcode) && i < LLVMGetNumOperands(value); i++)
        if (is_of_partner(r, LLVMGetOperand(value, (unsigned)i), depth - 1))
            return true;
    return false;
}

/* Whether it is a read of a place that the block's threads, or those of one lane of each warp, have
 * in common, or of a partner's. */
static bool is_read_of_others(const struct early_reads *r, const struct tr_access *access)
{
    const struct tr_value *value = &r->graph.values[access->value];
    if (access->is_wall || access->is_write || value->opcode != LLVMLoad)
        return false;
    LLVMValueRef pointer = LLVMGetOperand(value->llvm, 0);
    return is_shared(r, pointer) &&
           (is_of_lane(r, pointer, PLACE_DEPTH_MAX) || is_of_partner(r, pointer, PLACE_DEPTH_MAX));
}

static void find_after(struct early_reads *r, uint32_t first)
{
    uint32_t count = 0;
    memset(r->after.words, 0, r->after.word_count * sizeof *r->after.words);
    tr_set_add(&r->after, first);
    r->work[count++] = first;
    while (count > 0) {
        uint32_t s = r->work[--count];
        const struct tr_segment *segment = &r->graph.segments[s];
        for (uint32_t i = 0; i < segment->succ_count && !segment->is_sync_point; i++)
            if (!tr_set_has(&r->after, segment->succs[i])) {
                tr_set_add(&r->after, segment->succs[i]);
                r->work[count++] = segment->succs[i];
            }
    }
}

static bool may_be_overwritten(const struct early_reads *r, const struct tr_access *read)
{
    const struct tr_effects *effects = &r->effects;
    for (uint32_t s = tr_set_next(&r->after, 0); s != TR_NONE; s = tr_set_next(&r->after, s + 1))
        for (uint32_t i = effects->first_access[s]; i < effects->first_access[s + 1]; i++) {
            const struct tr_access *access = &effects->accesses[i];
            if (access->is_write && !access->is_wall && tr_may_meet(effects, read, access))
                return true;
        }
    return false;
}

static bool only_reads(const struct early_reads *r, uint32_t segment)
{
    const struct tr_effects *effects = &r->effects;
    for (uint32_t i = effects->first_access[segment]; i < effects->first_access[segment + 1]; i++)
        if (effects->accesses[i].is_wall || effects->accesses[i].is_write)
            return false;
    return true;
}

/* Where threads go on behind a segment that nobody else comes to, if they do not fault; TR_NONE:
 * here or there, or others come there. */
static uint32_t only_way_on(const struct early_reads *r, uint32_t segment)
{
    const struct tr_segment *s = &r->graph.segments[segment];
    uint32_t way = TR_NONE;
    for (uint32_t i = 0; i < s->succ_count; i++) {
        if (LLVMGetInstructionOpcode(last_value(r, s->succs[i])) == LLVMUnreachable)
            continue;
        if (way != TR_NONE || s->is_sync_point || r->graph.segments[s->succs[i]].pred_count != 1)
            return TR_NONE;
        way = s->succs[i];
    }
    return way;
}

/* The last of the reads right behind a barrier that may come too late; TR_NONE: there is none. */
static uint32_t last_early_read(struct early_reads *r, uint32_t segment)
{
    const struct tr_effects *effects = &r->effects;
    uint32_t last = TR_NONE;
    find_after(r, segment);
    while (segment != TR_NONE) {
        for (uint32_t i = effects->first_access[segment]; i < effects->first_access[segment + 1];
             i++) {
            const struct tr_access *access = &effects->accesses[i];
            if (access->is_wall || access->is_write)
                return last;
            if (is_read_of_others(r, access) && may_be_overwritten(r, access))
                last = access->value;
        }
        segment = only_way_on(r, segment);
    }
    return last;
}

/* Makes the segment's first reads before the branch that leads to it, if they may come too late.
 * The last one of them; TR_NONE: there is none. */
static uint32_t read_early(struct early_reads *r, LLVMBuilderRef builder, LLVMValueRef branch,
                           uint32_t segment, bool is_taken)
{
    const struct tr_effects *effects = &r->effects;
    uint32_t last = TR_NONE;
    for (uint32_t i = effects->first_access[segment]; i < effects->first_access[segment + 1]; i++) {
        const struct tr_access *access = &effects->accesses[i];
        if (access->is_wall || access->is_write)
            break;
        LLVMValueRef read = r->graph.values[access->value].llvm;
        if (!is_read_of_others(r, access) || !tr_can_read_before_branch(read) ||
            !may_be_overwritten(r, access))
            continue;
        tr_read_before_branch(builder, branch, read, is_taken);
        last = access->value;
    }
    return last;
}

/* The same for the first branch behind a barrier. r->after: from there. */
static uint32_t last_read_of_branch(struct early_reads *r, LLVMBuilderRef builder, uint32_t segment)
{
    const struct tr_segment *s = &r->graph.segments[segment];
    uint32_t last = TR_NONE;
    if (s->is_sync_point || s->succ_count != 2 || s->succs[0] == s->succs[1] ||
        LLVMGetInstructionOpcode(last_value(r, segment)) != LLVMBr || !only_reads(r, segment))
        return TR_NONE;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t way = r->graph.segments[s->succs[i]].pred_count == 1 ? s->succs[i] : TR_NONE;
        while (way != TR_NONE) {
            uint32_t read = read_early(r, builder, last_value(r, segment), way, i == 0);
            last = read == TR_NONE ? last : read;
            way = only_reads(r, way) ? only_way_on(r, way) : TR_NONE;
        }
    }
    return last;
}

static void add_twins(struct early_reads *r)
{
    LLVMBuilderRef builder =
        LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(r->graph.function)));
    for (uint32_t s = 0; s < r->graph.segment_count; s++) {
        uint32_t next = behind(r, s);
        if (next == TR_NONE)
            continue;
        uint32_t read = last_early_read(r, next);
        uint32_t moved = last_read_of_branch(r, builder, next);
        read = moved == TR_NONE ? read : moved;
        if (read == TR_NONE)
            continue;
        LLVMPositionBuilderBefore(builder, LLVMGetNextInstruction(r->graph.values[read].llvm));
        LLVMInsertIntoBuilder(builder, LLVMInstructionClone(last_value(r, s)));
    }
    LLVMDisposeBuilder(builder);
}

/* ---- all together ---- */

static bool begins_with_load(const struct early_reads *r, uint32_t s)
{
    const struct tr_segment *segment = &r->graph.segments[s];
    for (uint32_t i = 0; i < segment->value_count; i++) {
        const struct tr_value *value = &r->graph.values[segment->first_value + i];
        if (value->opcode == LLVMStore)
            return false;
        if (value->opcode == LLVMLoad)
            return true;
    }
    return false;
}

/* Whether there is anything to look at: a load right behind a barrier, or behind a branch there. */
static bool has_candidates(const struct early_reads *r)
{
    for (uint32_t s = 0; s < r->graph.segment_count; s++) {
        uint32_t next = behind(r, s);
        if (next == TR_NONE)
            continue;
        const struct tr_segment *segment = &r->graph.segments[next];
        bool has_load = begins_with_load(r, next);
        for (uint32_t i = 0; i < segment->succ_count && !has_load; i++) {
            uint32_t way = segment->succs[i];
            while (!has_load && way != TR_NONE) {
                has_load = begins_with_load(r, way);
                way = only_way_on(r, way);
            }
        }
        if (has_load)
            return true;
    }
    return false;
}

static enum pxr_status analyse(struct early_reads *r, struct pxr_error *err)
{
    enum pxr_status status =
        tr_effects_analyse(&r->graph, r->effects.facts, &r->dominators, &r->loops, &r->shapes, err);
    if (status != PXR_OK)
        return status;
    struct pxr_arena *arena = &r->graph.arena;
    uint32_t segments = r->graph.segment_count;
    r->is_barrier = pxr_arena_alloc_array(arena, segments, sizeof *r->is_barrier);
    r->work = pxr_arena_alloc_array(arena, segments, sizeof *r->work);
    r->after = tr_set_make(arena, segments);
    if (r->is_barrier == NULL || r->work == NULL || r->after.words == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory looking for early reads");
    for (uint32_t s = 0; s < segments; s++)
        r->is_barrier[s] = tr_is_block_barrier(last_value(r, s));
    r->effects.dominators = &r->dominators;
    r->effects.loops = &r->loops;
    r->effects.shapes = &r->shapes;
    r->effects.is_barrier = r->is_barrier;
    return tr_effects_build(&r->effects, err);
}

enum pxr_status tr_keep_early_reads(LLVMModuleRef module, const struct ptx_func *kernel,
                                    const struct tr_facts *facts, struct pxr_error *err)
{
    static const struct tr_facts nothing = {0};
    struct early_reads r = {
        .effects = {.kernel = kernel, .facts = facts == NULL ? &nothing : facts}};
    LLVMValueRef function = LLVMGetNamedFunction(module, TR_KERNEL_NAME);
    if (LLVMGetNamedFunction(module, rt_placeholders[RT_CALL_BAR_SYNC].name) == NULL)
        return PXR_OK;
    enum pxr_status status = tr_graph_build(&r.graph, function, tr_is_whole_block, err);
    if (status == PXR_OK && kernel != NULL && r.graph.segment_count <= SEGMENTS_MAX &&
        tr_raise_sunk_reads(&r.graph, kernel)) {
        tr_graph_fini(&r.graph);
        status = tr_graph_build(&r.graph, function, tr_is_whole_block, err);
    }
    if (status != PXR_OK)
        return status;
    r.effects.graph = &r.graph;
    if (r.graph.segment_count <= SEGMENTS_MAX && has_candidates(&r)) {
        status = analyse(&r, err);
        if (status == PXR_OK)
            add_twins(&r);
    }
    tr_graph_fini(&r.graph);
    return status;
}
