/* SPDX-License-Identifier: Apache-2.0
 *
 * The function of the blocks: the loop over a chunk of blocks, and in it the regions' loops,
 * chained.
 *
 *   flat           loop[j] runs the block's threads from sync point j to the next, and the block
 *                  goes on from there
 *   hierarchical   begin[j] begins with warp 0; loop[j] runs the warp's lanes from sync point j.
 *                  The warp goes on from the sync point of the warp that its lanes come to, or is
 *                  done, and the next warp begins (next_group.c). After the last one the block
 *                  goes on from the sync point that all warps have come to
 *
 * If the threads of a group, or the warps of the block, come to different sync points, or to one
 * that loops cannot pass, `mix` has the scheduler run them one by one.
 */
#include <stddef.h>

#include <llvm-c/DebugInfo.h>

#include "translator/collapse/kept.h"
#include "translator/collapse/prepare.h"
#include "translator/collapse/region_loop.h"
#include "translator/module/marks.h"

#define OUTCOME_MIXED UINT32_MAX
#define FRAME_ALIGN   64
#define ENTRY_BYTES   2

static bool is_hierarchical(const struct tr_fused *fused)
{
    return fused->fuse->kernel->scope == TR_SCOPE_WARP;
}

/* Whether threads of the region, or uniform values, decide where they go. */
static bool has_choice(const struct tr_fused *fused, uint32_t region)
{
    const struct tr_region *shape = &fused->fuse->kernel->regions[region];
    uint32_t outcomes = tr_set_count(&shape->outcomes);
    return outcomes > 1 ||
           (outcomes == 1 && (shape->may_exit || tr_looks_for_exited(fused, region)));
}

bool tr_region_is_dynamic(const struct tr_fused *fused, uint32_t region)
{
    return fused->is_dynamic[region];
}

bool tr_region_parts(const struct tr_fused *fused, uint32_t region)
{
    return fused->is_dynamic[region] && tr_may_part(fused->fuse->kernel, region);
}

bool tr_looks_for_exited(const struct tr_fused *fused, uint32_t sync)
{
    return fused->fuse->exited_before[sync];
}

/* ---- where control goes ---- */

static void go_to(const struct tr_fused *fused, LLVMBasicBlockRef block)
{
    LLVMBuildBr(fused->fuse->builder, block);
}

static void set_variable(const struct tr_fused *fused, LLVMValueRef variable, uint32_t value)
{
    LLVMBuildStore(fused->fuse->builder, tr_fuse_i32(fused->fuse, value), variable);
}

void tr_go_to_mix(const struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef arrived = fuse->thread_count;
    if (is_hierarchical(fused)) {
        struct tr_lanes lanes = tr_lanes_now(fused);
        arrived = LLVMBuildAdd(fuse->builder, lanes.first, lanes.count, "");
    }
    LLVMBuildStore(fuse->builder, arrived, fused->arrived);
    go_to(fused, fused->mix);
}

/* Other groups of the block go on in loops until they, too, come to sync points of the block: steps
 * take many times as long. Not where threads that have not begun may be handed over, which would
 * forget these. */
void tr_set_aside(struct tr_fused *fused)
{
    if (!is_hierarchical(fused) || fused->fuse->hands_over >= RT_HAND_OVER_THREADS) {
        tr_go_to_mix(fused);
        return;
    }
    fused->sets_aside = true;
    LLVMValueRef store = LLVMBuildStore(fused->fuse->builder,
                                        tr_fuse_i32(fused->fuse, OUTCOME_MIXED), fused->outcome);
    /* In a register, LLVM 22's simplifycfg would follow it round the loop over warps for ever. */
    LLVMSetVolatile(store, true);
    go_to(fused, tr_any_group_done(fused));
}

/* Notes that the warp's lanes have come to a sync point of the block. */
static void note_outcome(const struct tr_fused *fused, uint32_t sync)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef number = tr_fuse_i32(fuse, sync);
    LLVMValueRef before = LLVMBuildLoad2(b, fuse->i32, fused->outcome, "");
    LLVMValueRef is_first = LLVMBuildICmp(b, LLVMIntEQ, before, tr_fuse_i32(fuse, 0), "");
    LLVMValueRef is_same = LLVMBuildICmp(b, LLVMIntEQ, before, number, "");
    LLVMValueRef agrees = LLVMBuildOr(b, is_first, is_same, "");
    LLVMBuildStore(b, LLVMBuildSelect(b, agrees, number, tr_fuse_i32(fuse, OUTCOME_MIXED), ""),
                   fused->outcome);
}

static void go_on_in_warp(struct tr_fused *fused, uint32_t sync)
{
    const struct tr_fuse *fuse = fused->fuse;
    if (!fuse->kernel->sync_points[sync].asks_masks) {
        go_to(fused, fused->loop[sync]);
        return;
    }
    struct tr_lanes lanes = tr_lanes_now(fused);
    LLVMBasicBlockRef differ = tr_fuse_new_block(fuse, "masks_differ");
    LLVMBuildCondBr(fuse->builder, tr_build_mask_test(fused, sync, &lanes), fused->loop[sync],
                    differ);
    LLVMPositionBuilderAtEnd(fuse->builder, differ);
    tr_part(fused, &fuse->kernel->regions[fused->left].outcomes);
}

/* Goes on from the sync point, to which all live threads of the group have come. */
static void go_on_from(struct tr_fused *fused, uint32_t sync)
{
    const struct tr_sync_point *at = &fused->fuse->kernel->sync_points[sync];
    if (!at->is_fused) {
        tr_set_aside(fused);
    } else if (at->kind == RT_SYNC_WARP) {
        go_on_in_warp(fused, sync);
    } else if (is_hierarchical(fused) && !tr_region_is_whole(fused, fused->left)) {
        note_outcome(fused, sync);
        go_to(fused, tr_group_done(fused, fused->left));
    } else {
        go_to(fused, fused->begin[sync]);
    }
}

/* Loads what threads have reported of their outcomes: never from a register (region_loop.c,
 * add_to). */
static LLVMValueRef load_outcome(const struct tr_fuse *fuse, LLVMValueRef variable,
                                 const char *name)
{
    LLVMValueRef load = LLVMBuildLoad2(fuse->builder, fuse->i32, variable, name);
    LLVMSetVolatile(load, fuse->options->is_vector);
    return load;
}

/* Goes on from the sync point that all live threads of the region have come to. */
static void stop_at(struct tr_fused *fused, uint32_t number, uint32_t sync)
{
    tr_save_group_values(fused, number, sync);
    go_on_from(fused, sync);
}

/* Continues behind the loop of a region whose threads may have come to different places, or may
 * have exited. */
static void dispatch_outcomes(struct tr_fused *fused, uint32_t number)
{
    const struct tr_region *region = &fused->fuse->kernel->regions[number];
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMBasicBlockRef some = tr_fuse_new_block(fuse, "some");
    LLVMValueRef any = load_outcome(fuse, fused->any, "any");
    LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, any, tr_fuse_i32(fuse, 0), "");
    LLVMBuildCondBr(b, none, tr_group_done(fused, number), some);
    LLVMPositionBuilderAtEnd(b, some);
    if (tr_set_count(&region->outcomes) == 1) {
        stop_at(fused, number, tr_set_next(&region->outcomes, 0));
        return;
    }
    LLVMBasicBlockRef differ = tr_fuse_new_block(fuse, "differ");
    if (tr_region_parts(fused, number)) {
        LLVMBasicBlockRef same = tr_fuse_new_block(fuse, "same");
        LLVMValueRef all = load_outcome(fuse, fused->all, "all");
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, any, all, ""), same, differ);
        LLVMPositionBuilderAtEnd(b, same);
    }
    LLVMValueRef choice = LLVMBuildSwitch(b, any, differ, tr_set_count(&region->outcomes));
    const struct tr_set *outcomes = &region->outcomes;
    for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1)) {
        LLVMBasicBlockRef block = tr_fuse_new_block(fuse, "stop");
        LLVMAddCase(choice, tr_fuse_i32(fuse, j), block);
        LLVMPositionBuilderAtEnd(b, block);
        stop_at(fused, number, j);
    }
    LLVMPositionBuilderAtEnd(b, differ);
    if (tr_region_parts(fused, number))
        tr_part(fused, outcomes);
    else
        LLVMBuildUnreachable(b);
}

/* Continues behind the loop of a region from which all threads are known to go the same way. */
static enum pxr_status dispatch_together(struct tr_fused *fused, uint32_t number,
                                         struct pxr_error *err)
{
    const struct tr_fuse *fuse = fused->fuse;
    const struct tr_set *outcomes = &fuse->kernel->regions[number].outcomes;
    LLVMBasicBlockRef *targets = pxr_arena_alloc_array(
        &fuse->kernel->graph.arena, fuse->kernel->sync_count, sizeof(LLVMBasicBlockRef));
    if (targets == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    targets[0] = tr_group_done(fused, number);
    for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1))
        targets[j] = tr_fuse_new_block(fuse, "stop");
    tr_build_group_way(fused, number, targets);
    for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1)) {
        LLVMPositionBuilderAtEnd(fuse->builder, targets[j]);
        stop_at(fused, number, j);
    }
    return PXR_OK;
}

static enum pxr_status leave_region(struct tr_fused *fused, uint32_t number, struct pxr_error *err)
{
    const struct tr_region *region = &fused->fuse->kernel->regions[number];
    uint32_t only = tr_set_next(&region->outcomes, 0);
    fused->left = number;
    if (tr_region_is_dynamic(fused, number)) {
        dispatch_outcomes(fused, number);
    } else if (has_choice(fused, number)) {
        return dispatch_together(fused, number, err);
    } else if (only == TR_NONE) {
        go_to(fused, tr_group_done(fused, number));
    } else {
        stop_at(fused, number, only);
    }
    return PXR_OK;
}

/* ---- groups ---- */

static bool is_of_block(const struct tr_sync_point *sync)
{
    return sync->is_fused && sync->kind != RT_SYNC_WARP;
}

/* The line of the call is that of the sync point, in case nobody else arrives. */
static void build_cluster_wait(struct tr_fused *fused, uint32_t sync)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef block = fuse->block;
    tr_clone_locate(&fused->clone, fuse->kernel->sync_points[sync].value);
    tr_fuse_call(fuse, "rt_block_cluster_wait", fuse->void_type, &block, 1);
    LLVMSetCurrentDebugLocation2(fuse->builder, NULL);
}

/* Builds the place from which all threads of the block go on behind the sync point. */
static void build_begin(struct tr_fused *fused, uint32_t sync)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMPositionBuilderAtEnd(fuse->builder, fused->begin[sync]);
    if (fuse->kernel->sync_points[sync].kind == RT_SYNC_BARRIER_RED)
        tr_build_barrier_reduction(fused, sync);
    if (fuse->kernel->sync_points[sync].kind == RT_SYNC_CLUSTER)
        build_cluster_wait(fused, sync);
    if (is_hierarchical(fused)) {
        set_variable(fused, fused->warp, 0);
        set_variable(fused, fused->from, sync);
        set_variable(fused, fused->outcome, 0);
    }
    go_to(fused, fused->loop[sync]);
}

/* ---- threads one by one ---- */

/* Returns from steps to loops: group elements are taken from any live thread of the group that has
 * come by steps; where there is none they are as loops have left them. */
static void give_values(const struct tr_fused *fused, uint32_t sync)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    const struct tr_crossing *crossing = &fuse->storage.crossings[sync];
    const struct tr_set *saved = &crossing->saved;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef head = tr_fuse_new_block(fuse, "give");
    LLVMBasicBlockRef stepped = tr_fuse_new_block(fuse, "stepped");
    LLVMBasicBlockRef next = tr_fuse_new_block(fuse, "next");
    LLVMValueRef zero = tr_fuse_i64(fuse, 0);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMValueRef thread = LLVMBuildPhi(b, fuse->i64, "thread");
    LLVMAddIncoming(thread, &zero, &before, 1);
    LLVMValueRef entry = LLVMBuildLoad2(
        b, fuse->i16, tr_fuse_element(fuse, fuse->i16, fuse->frame_base, thread), "");
    /* RT_ENTRY_EXITED has this bit, too. */
    LLVMValueRef bit = LLVMBuildAnd(b, entry, LLVMConstInt(fuse->i16, RT_ENTRY_LOOPED, false), "");
    LLVMValueRef is_stepped = LLVMBuildICmp(b, LLVMIntEQ, bit, LLVMConstNull(fuse->i16), "");
    LLVMBuildCondBr(b, is_stepped, stepped, next);
    LLVMPositionBuilderAtEnd(b, stepped);
    LLVMValueRef group = zero;
    if (is_hierarchical(fused))
        group = LLVMBuildLShr(b, thread, tr_fuse_i64(fuse, 5), "");
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1)) {
        if (crossing->home[v] != TR_HOME_GROUP)
            continue;
        LLVMTypeRef type = tr_kept_type(LLVMTypeOf(fuse->kernel->graph.values[v].llvm));
        LLVMValueRef array = tr_fuse_thread_array(fuse, fuse->frame.thread_array[v]);
        LLVMValueRef value =
            LLVMBuildLoad2(b, type, tr_fuse_element(fuse, type, array, thread), "");
        LLVMBuildStore(b, value,
                       tr_fuse_group_element(fuse, fuse->frame.group_array[v], type, group));
    }
    LLVMBuildBr(b, next);
    LLVMPositionBuilderAtEnd(b, next);
    LLVMValueRef following = LLVMBuildAdd(b, thread, tr_fuse_i64(fuse, 1), "");
    LLVMAddIncoming(thread, &following, &next, 1);
    LLVMValueRef count = LLVMBuildZExt(b, fuse->thread_count, fuse->i64, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, following, count, ""), head,
                    fused->begin[sync]);
}

/* Threads that meet at different sync points may exit behind one and go on behind the other, where
 * loops do not look for exits because threads stay together. Loops cannot go on then: steps do. */
static void refuse_exits(struct tr_fused *fused, uint32_t sync, LLVMValueRef result)
{
    struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    uint32_t refused = fuse->exited_before[sync] ? 0 : RT_MIX_EXITED;
    if (is_hierarchical(fused) && !fuse->torn_before[sync])
        refused |= RT_MIX_TORN;
    if (refused == 0 || tr_fuse_seed(fuse, TR_SEED_EXITED_MASK))
        return;
    LLVMValueRef exits = LLVMBuildAnd(b, result, tr_fuse_i32(fuse, refused), "");
    LLVMValueRef is_none = LLVMBuildICmp(b, LLVMIntEQ, exits, tr_fuse_i32(fuse, 0), "");
    LLVMBasicBlockRef refuse = tr_fuse_new_block(fuse, "refuse");
    LLVMBasicBlockRef loops = tr_fuse_new_block(fuse, "loops");
    LLVMBuildCondBr(b, is_none, loops, refuse);
    LLVMPositionBuilderAtEnd(b, refuse);
    set_variable(fused, fused->arrived, 0);
    go_to(fused, fused->mix);
    LLVMPositionBuilderAtEnd(b, loops);
}

static void build_mix(struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    const struct tr_kernel *kernel = fuse->kernel;
    LLVMBuilderRef b = fuse->builder;
    LLVMPositionBuilderAtEnd(b, fused->mix);
    if (!fuse->can_mix) {
        LLVMBuildUnreachable(b);
        return;
    }
    LLVMValueRef args[3] = {fuse->block, fuse->step,
                            LLVMBuildLoad2(b, fuse->i32, fused->arrived, "")};
    LLVMValueRef result =
        LLVMBuildTrunc(b, tr_fuse_call(fuse, "rt_block_mix", fuse->i64, args, 3), fuse->i32, "");
    LLVMValueRef sync =
        LLVMBuildAnd(b, result, tr_fuse_i32(fuse, ~(RT_MIX_EXITED | RT_MIX_TORN)), "");
    LLVMValueRef choice = LLVMBuildSwitch(b, sync, fused->block_done, kernel->sync_count);
    for (uint32_t j = 1; j < kernel->sync_count; j++) {
        if (!(tr_fuse_entry(fuse, j) & RT_ENTRY_WHOLE))
            continue;
        LLVMBasicBlockRef rejoin = tr_fuse_new_block(fuse, "rejoin");
        LLVMAddCase(choice, tr_fuse_i32(fuse, j), rejoin);
        LLVMPositionBuilderAtEnd(b, rejoin);
        refuse_exits(fused, j, result);
        give_values(fused, j);
    }
}

/* ---- the chunk of blocks ---- */

/* The address of a field of struct rt_block that changes from block to block. */
static LLVMValueRef ctaid_field(const struct tr_fused *fused, int d)
{
    return tr_fuse_offset(fused->fuse, fused->fuse->block,
                          offsetof(struct rt_block, ctaid) + (size_t)d * sizeof(uint32_t));
}

static void clear_entries(const struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef bytes =
        LLVMBuildNUWMul(fuse->builder, fuse->padded_count, tr_fuse_i64(fuse, ENTRY_BYTES), "");
    LLVMBuildMemSet(fuse->builder, fuse->frame_base, LLVMConstInt(fuse->i8, 0, false), bytes,
                    FRAME_ALIGN);
}

static LLVMValueRef blocks_at_once(const struct tr_fused *fused)
{
    return fused->together != NULL ? fused->together : tr_fuse_i32(fused->fuse, 1);
}

/* Goes to the next block: x changes fastest, the others rarely; small blocks would feel every
 * store. Ends in a basic block of its own. */
static void advance_ctaid(const struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMBasicBlockRef advanced = tr_fuse_new_block(fuse, "advanced");
    for (int d = 0; d < 3; d++) {
        if (fuse->options->facts->grid_max[d] == 1)
            continue;
        LLVMValueRef extent = tr_fuse_field(
            fuse, fuse->i32, fuse->launch,
            offsetof(struct rt_launch, grid) + (size_t)d * sizeof(uint32_t), "nctaid");
        LLVMValueRef by = d == 0 ? blocks_at_once(fused) : tr_fuse_i32(fuse, 1);
        LLVMValueRef more = LLVMBuildAdd(b, fused->ctaid[d], by, "");
        LLVMValueRef is_end = LLVMBuildICmp(b, LLVMIntEQ, more, extent, "");
        LLVMBuildStore(b, LLVMBuildSelect(b, is_end, tr_fuse_i32(fuse, 0), more, ""),
                       ctaid_field(fused, d));
        LLVMBasicBlockRef carry = tr_fuse_new_block(fuse, "carry");
        LLVMBuildCondBr(b, is_end, carry, advanced);
        LLVMPositionBuilderAtEnd(b, carry);
    }
    LLVMBuildBr(b, advanced);
    LLVMPositionBuilderAtEnd(b, advanced);
}

/* Runs the block thread by thread from beginning to end, without loops, if some thread may come to
 * a fault that the loops do not look for. Leaves the builder where none may. */
static void build_careful_way(const struct tr_fused *fused, LLVMValueRef may_fault)
{
    struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMBasicBlockRef careful = tr_fuse_new_block(fuse, "careful");
    LLVMBasicBlockRef again = tr_fuse_new_block(fuse, "again");
    LLVMBasicBlockRef quick = tr_fuse_new_block(fuse, "quick");
    LLVMBuildCondBr(b, may_fault, careful, quick);
    LLVMPositionBuilderAtEnd(b, careful);
    clear_entries(fused);
    LLVMBuildBr(b, again);
    LLVMPositionBuilderAtEnd(b, again);
    LLVMValueRef args[3] = {fuse->block, fuse->step, tr_fuse_i32(fuse, 0)};
    LLVMValueRef more = tr_fuse_call(fuse, "rt_block_mix", fuse->i64, args, 3);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, more, tr_fuse_i64(fuse, 0), ""),
                    fused->block_done, again);
    LLVMPositionBuilderAtEnd(b, quick);
}

static LLVMValueRef build_min(const struct tr_fuse *fuse, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef is_less = LLVMBuildICmp(fuse->builder, LLVMIntULT, a, b, "");
    return LLVMBuildSelect(fuse->builder, is_less, a, b, "");
}

/* How many blocks run as one, from the current one on: neighbours in a row of the grid, of those
 * that are left. Thread by thread blocks run one after another. */
static void build_together(struct tr_fused *fused, LLVMValueRef left, LLVMValueRef may_fault)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef one = tr_fuse_i32(fuse, 1);
    LLVMValueRef most = LLVMBuildUDiv(b, tr_fuse_i32(fuse, fuse->walk.threads), fuse->ntid[0], "");
    LLVMValueRef is_none = LLVMBuildICmp(b, LLVMIntEQ, most, tr_fuse_i32(fuse, 0), "");
    LLVMValueRef extent =
        tr_fuse_field(fuse, fuse->i32, fuse->launch, offsetof(struct rt_launch, grid), "nctaid");
    LLVMValueRef in_row = LLVMBuildSub(b, extent, fused->ctaid[0], "");
    most =
        build_min(fuse, build_min(fuse, left, in_row), LLVMBuildSelect(b, is_none, one, most, ""));
    fused->together = LLVMBuildSelect(b, may_fault, one, most, "together");
    LLVMBuildStore(b, fused->together,
                   tr_fuse_offset(fuse, fuse->block, offsetof(struct rt_block, together)));
}

static void build_chunk_loop(struct tr_fused *fused, LLVMBasicBlockRef entry)
{
    struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMBasicBlockRef head = tr_fuse_new_block(fuse, "block");
    LLVMBasicBlockRef end = tr_fuse_new_block(fuse, "end");
    fused->block_done = tr_fuse_new_block(fuse, "block_done");
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef may_fault = tr_build_fault_test(fuse, &fuse->faults);
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMValueRef count = LLVMGetParam(fuse->function, 1);
    LLVMValueRef left = LLVMBuildPhi(b, fuse->i32, "left");
    LLVMAddIncoming(left, &count, &entry, 1);
    fused->left_blocks = left;
    for (int d = 0; d < 3; d++)
        fused->ctaid[d] = LLVMBuildLoad2(b, fuse->i32, ctaid_field(fused, d), "ctaid");
    if (fuse->walk.threads > 0)
        build_together(fused, left, may_fault);
    if (fuse->faults.count > 0)
        build_careful_way(fused, may_fault);
    if (fuse->has_entries)
        clear_entries(fused);
    LLVMBuildBr(b, fused->begin[0]);

    LLVMPositionBuilderAtEnd(b, fused->block_done);
    advance_ctaid(fused);
    LLVMValueRef next = LLVMBuildSub(b, left, blocks_at_once(fused), "");
    tr_build_hand_over(fused, RT_HAND_OVER_BLOCKS, tr_fuse_i32(fuse, 0), next);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
    LLVMAddIncoming(left, &next, &latch, 1);
    LLVMValueRef is_last = LLVMBuildICmp(b, LLVMIntEQ, next, tr_fuse_i32(fuse, 0), "");
    tr_mark(LLVMBuildCondBr(b, is_last, end, head), TR_MARK_BLOCKS);
    tr_mark(LLVMGetBasicBlockTerminator(fused->block_done), TR_MARK_BLOCKS);
    LLVMPositionBuilderAtEnd(b, end);
    LLVMBuildRetVoid(b);
}

/* ---- the function ---- */

static LLVMValueRef add_function(struct tr_fuse *fuse, LLVMMetadataRef subprogram)
{
    LLVMTypeRef types[2] = {fuse->ptr, fuse->i32};
    LLVMValueRef function = LLVMAddFunction(fuse->module, TR_KERNEL_NAME,
                                            LLVMFunctionType(fuse->void_type, types, 2, false));
    LLVMSetSubprogram(function, subprogram);
    unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(fuse->llvm, nounwind, 0));
    return function;
}

static enum pxr_status init_fused(struct tr_fused *fused, LLVMMetadataRef subprogram,
                                  struct pxr_error *err)
{
    struct tr_fuse *fuse = fused->fuse;
    struct tr_kernel *kernel = fuse->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    enum pxr_status status = tr_clone_init(&fused->clone, kernel, err);
    if (status != PXR_OK)
        return status;
    fused->begin = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *fused->begin);
    fused->loop = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *fused->loop);
    fused->put = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *fused->put);
    fused->result = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *fused->result);
    fused->loaded = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *fused->loaded);
    fused->is_dynamic = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *fused->is_dynamic);
    fused->is_whole = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *fused->is_whole);
    uint32_t values = kernel->graph.value_count;
    fused->warp_value = pxr_arena_alloc_array(arena, values, sizeof *fused->warp_value);
    fused->imports = tr_set_make(arena, values);
    if (!fused->begin || !fused->loop || !fused->put || !fused->result || !fused->loaded ||
        !fused->is_dynamic || !fused->is_whole || !fused->warp_value || !fused->imports.words ||
        !tr_choose_warp_places(fused))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    status = tr_groups_init(fused, err);
    if (status != PXR_OK)
        return status;
    for (uint32_t r = 0; r < kernel->sync_count; r++)
        fused->is_dynamic[r] = kernel->sync_points[r].is_fused && has_choice(fused, r) &&
                               (tr_looks_for_exited(fused, r) || !tr_is_group_way(fused, r));
    tr_find_whole_regions(fused);
    fuse->function = add_function(fuse, subprogram);
    fused->clone.llvm = fuse->llvm;
    fused->clone.function = fuse->function;
    fused->clone.subprogram = subprogram;
    fused->clone.builder = fuse->builder;
    return PXR_OK;
}

static void add_variables(struct tr_fused *fused)
{
    struct tr_fuse *fuse = fused->fuse;
    fused->warp = tr_fuse_variable(fuse, fuse->i32, "warp");
    fused->from = tr_fuse_variable(fuse, fuse->i32, "from");
    fused->outcome = tr_fuse_variable(fuse, fuse->i32, "outcome");
    fused->arrived = tr_fuse_variable(fuse, fuse->i32, "arrived");
    fused->any = tr_fuse_variable(fuse, fuse->i32, "any");
    fused->all = tr_fuse_variable(fuse, fuse->i32, "all");
}

static void add_labels(struct tr_fused *fused)
{
    struct tr_fuse *fuse = fused->fuse;
    fused->mix = tr_fuse_new_block(fuse, "mix");
    for (uint32_t j = 0; j < fuse->kernel->sync_count; j++) {
        if (!fuse->kernel->sync_points[j].is_fused)
            continue;
        fused->loop[j] = tr_fuse_new_block(fuse, "loop");
        if (is_of_block(&fuse->kernel->sync_points[j]))
            fused->begin[j] = tr_fuse_new_block(fuse, "begin");
    }
}

enum pxr_status tr_build_fused(struct tr_fuse *fuse, LLVMMetadataRef subprogram,
                               struct pxr_error *err)
{
    struct tr_fused fused = {.fuse = fuse};
    enum pxr_status status = init_fused(&fused, subprogram, err);
    if (status != PXR_OK)
        return status;
    LLVMBasicBlockRef entry = tr_fuse_new_block(fuse, "entry");
    LLVMPositionBuilderAtEnd(fuse->builder, entry);
    fuse->block = LLVMGetParam(fuse->function, 0);
    tr_fuse_load_shape(fuse);
    fused.threads =
        tr_fuse_field(fuse, fuse->ptr, fuse->block, offsetof(struct rt_block, threads), "threads");
    if (fuse->hands_over > RT_HAND_OVER_NOTHING)
        fused.hand_over = tr_fuse_field(fuse, fuse->ptr, fuse->block,
                                        offsetof(struct rt_block, hand_over), "hand_over");
    add_variables(&fused);
    add_labels(&fused);
    build_chunk_loop(&fused, entry);
    for (uint32_t j = 0; j < fuse->kernel->sync_count; j++) {
        if (!fuse->kernel->sync_points[j].is_fused)
            continue;
        if (fused.begin[j] != NULL)
            build_begin(&fused, j);
        LLVMPositionBuilderAtEnd(fuse->builder, fused.loop[j]);
        status = tr_build_region(&fused, j, err);
        if (status != PXR_OK)
            return status;
        status = leave_region(&fused, j, err);
        if (status != PXR_OK)
            return status;
    }
    tr_build_parting(&fused);
    status = tr_build_groups_done(&fused, err);
    if (status == PXR_OK)
        build_mix(&fused);
    return status;
}
