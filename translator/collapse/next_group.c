/* SPDX-License-Identifier: Apache-2.0
 *
 * Goes from one group of the block to the next. A warp that begins at a sync point of the block
 * goes on from one sync point to the next until it comes to a sync point of the block again, or
 * exits. Nearly always each sync point of a warp lies behind only one sync point of the block; then
 * the warps that begin there have a loop of their own, without questions, and LLVM sees a plain
 * loop.
 */
#include "translator/collapse/region_loop.h"

#define OWNER_SEVERAL (TR_NONE - 1)

/* Finds for each sync point the sync point of the block behind which groups come there. */
static void find_owners(struct tr_fused *fused)
{
    const struct tr_kernel *kernel = fused->fuse->kernel;
    uint32_t *owner = fused->owner;
    for (uint32_t j = 0; j < kernel->sync_count; j++)
        owner[j] = tr_is_block_sync_point(kernel, j) ? j : TR_NONE;
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t r = 0; r < kernel->sync_count; r++) {
            const struct tr_set *outcomes = &kernel->regions[r].outcomes;
            if (!kernel->sync_points[r].is_fused || owner[r] == TR_NONE)
                continue;
            for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE;
                 j = tr_set_next(outcomes, j + 1)) {
                uint32_t joined =
                    owner[j] == TR_NONE || owner[j] == owner[r] ? owner[r] : OWNER_SEVERAL;
                if (!tr_is_warp_sync_point(kernel, j) || joined == owner[j])
                    continue;
                owner[j] = joined;
                again = true;
            }
        }
    }
}

/* Sync points without a single owner share the last label. */
static uint32_t done_index(const struct tr_fused *fused, uint32_t sync)
{
    uint32_t owner = fused->owner[sync];
    return owner < fused->fuse->kernel->sync_count ? owner : fused->fuse->kernel->sync_count;
}

enum pxr_status tr_groups_init(struct tr_fused *fused, struct pxr_error *err)
{
    struct tr_kernel *kernel = fused->fuse->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    fused->owner = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *fused->owner);
    fused->done = pxr_arena_alloc_array(arena, (size_t)kernel->sync_count + 1, sizeof *fused->done);
    if (fused->owner == NULL || fused->done == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    find_owners(fused);
    return PXR_OK;
}

/* ---- regions of the whole block ---- */

static bool has_local_memory(const struct tr_kernel *kernel)
{
    for (uint32_t v = 0; v < kernel->graph.value_count; v++)
        if (kernel->graph.values[v].opcode == LLVMAlloca)
            return true;
    return false;
}

/* Whether warps keep values of their own behind the sync point. */
static bool keeps_of_groups(const struct tr_fused *fused, uint32_t sync)
{
    const struct tr_crossing *crossing = &fused->fuse->storage.crossings[sync];
    for (uint32_t v = tr_set_next(&crossing->saved, 0); v != TR_NONE;
         v = tr_set_next(&crossing->saved, v + 1))
        if (crossing->home[v] == TR_HOME_GROUP)
            return true;
    return false;
}

static bool has_result(const struct tr_kernel *kernel, uint32_t sync)
{
    uint32_t value = kernel->sync_points[sync].value;
    return value != TR_NONE &&
           LLVMGetTypeKind(LLVMTypeOf(kernel->graph.values[value].llvm)) != LLVMVoidTypeKind;
}

static bool is_whole(const struct tr_fused *fused, uint32_t number)
{
    const struct tr_kernel *kernel = fused->fuse->kernel;
    const struct tr_region *region = &kernel->regions[number];
    uint32_t only = tr_set_next(&region->outcomes, 0);
    return tr_is_block_sync_point(kernel, number) && !has_result(kernel, number) &&
           !fused->is_dynamic[number] && !tr_looks_for_exited(fused, number) && !region->may_exit &&
           tr_set_count(&region->outcomes) == 1 && tr_is_block_sync_point(kernel, only) &&
           (number == 0 || !keeps_of_groups(fused, number)) && !keeps_of_groups(fused, only);
}

void tr_find_whole_regions(struct tr_fused *fused)
{
    const struct tr_kernel *kernel = fused->fuse->kernel;
    bool can_be = kernel->scope == TR_SCOPE_WARP && !has_local_memory(kernel);
    for (uint32_t r = 0; r < kernel->sync_count; r++)
        fused->is_whole[r] = can_be && is_whole(fused, r);
}

bool tr_region_is_whole(const struct tr_fused *fused, uint32_t region)
{
    return fused->is_whole[region];
}

/* ---- from group to group ---- */

static LLVMBasicBlockRef get_done(struct tr_fused *fused, uint32_t index)
{
    LLVMBasicBlockRef *done = &fused->done[index];
    if (*done == NULL)
        *done = tr_fuse_new_block(fused->fuse, "group_done");
    return *done;
}

LLVMBasicBlockRef tr_group_done(struct tr_fused *fused, uint32_t sync)
{
    return get_done(fused, done_index(fused, sync));
}

LLVMBasicBlockRef tr_any_group_done(struct tr_fused *fused)
{
    return get_done(fused, fused->fuse->kernel->sync_count);
}

/* Begins the next group. */
static void set_out(const struct tr_fused *fused, uint32_t index)
{
    const struct tr_fuse *fuse = fused->fuse;
    const struct tr_kernel *kernel = fuse->kernel;
    if (index < kernel->sync_count) {
        LLVMBuildBr(fuse->builder, fused->loop[index]);
        return;
    }
    LLVMValueRef from = LLVMBuildLoad2(fuse->builder, fuse->i32, fused->from, "");
    LLVMValueRef choice = LLVMBuildSwitch(fuse->builder, from, fused->loop[0], kernel->sync_count);
    for (uint32_t j = 1; j < kernel->sync_count; j++)
        if (tr_is_block_sync_point(kernel, j) && !tr_region_is_whole(fused, j))
            LLVMAddCase(choice, tr_fuse_i32(fuse, j), fused->loop[j]);
}

/* Finds the regions that groups may have gone through when the label is the last one's: there this
 * group's way has ended. Others that began at the same sync point may have ended elsewhere. */
static bool find_ways(const struct tr_fused *fused, uint32_t index, struct tr_set *ways)
{
    struct tr_kernel *kernel = fused->fuse->kernel;
    *ways = tr_set_make(&kernel->graph.arena, kernel->sync_count);
    struct tr_set pending = tr_set_make(&kernel->graph.arena, kernel->sync_count);
    if (ways->words == NULL || pending.words == NULL)
        return false;
    for (uint32_t r = 0; r < kernel->sync_count; r++)
        if (r == index || (index == kernel->sync_count && tr_is_block_sync_point(kernel, r)))
            tr_set_add(&pending, r);
    tr_find_ways(kernel, &pending, ways);
    return true;
}

static bool comes_to(const struct tr_fused *fused, const struct tr_set *ways, uint32_t sync)
{
    const struct tr_kernel *kernel = fused->fuse->kernel;
    if (sync == 0 || !tr_is_block_sync_point(kernel, sync))
        return false;
    for (uint32_t r = tr_set_next(ways, 0); r != TR_NONE; r = tr_set_next(ways, r + 1))
        if (tr_set_has(&kernel->regions[r].outcomes, sync))
            return true;
    return false;
}

static bool may_have_exited(const struct tr_fused *fused, const struct tr_set *ways)
{
    const struct tr_kernel *kernel = fused->fuse->kernel;
    for (uint32_t r = tr_set_next(ways, 0); r != TR_NONE; r = tr_set_next(ways, r + 1))
        if (kernel->regions[r].may_exit || tr_looks_for_exited(fused, r))
            return true;
    return false;
}

static void go_on_from_several(const struct tr_fused *fused, const struct tr_set *ways,
                               uint32_t count)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBasicBlockRef mixed = tr_fuse_new_block(fuse, "mixed");
    LLVMValueRef outcome = LLVMBuildLoad2(fuse->builder, fuse->i32, fused->outcome, "");
    LLVMValueRef choice = LLVMBuildSwitch(fuse->builder, outcome, mixed, count + 1);
    LLVMAddCase(choice, tr_fuse_i32(fuse, 0), fused->block_done);
    for (uint32_t j = 1; j < fuse->kernel->sync_count; j++)
        if (comes_to(fused, ways, j))
            LLVMAddCase(choice, tr_fuse_i32(fuse, j), fused->begin[j]);
    LLVMPositionBuilderAtEnd(fuse->builder, mixed);
    if (fuse->can_mix)
        tr_go_to_mix(fused);
    else
        LLVMBuildUnreachable(fuse->builder);
}

/* Continues behind the last group: all have come to one sync point, or exited. If they can come to
 * only one, no question is asked. */
static void go_on(const struct tr_fused *fused, const struct tr_set *ways)
{
    const struct tr_fuse *fuse = fused->fuse;
    uint32_t count = 0;
    LLVMBasicBlockRef only = fused->block_done;
    for (uint32_t j = 1; j < fuse->kernel->sync_count; j++)
        if (comes_to(fused, ways, j)) {
            count++;
            only = fused->begin[j];
        }
    if (count > 1 || fused->sets_aside) {
        go_on_from_several(fused, ways, count);
        return;
    }
    if (count == 0 || !may_have_exited(fused, ways)) {
        LLVMBuildBr(fuse->builder, only);
        return;
    }
    LLVMValueRef outcome = LLVMBuildLoad2(fuse->builder, fuse->i32, fused->outcome, "");
    LLVMValueRef none = LLVMBuildICmp(fuse->builder, LLVMIntEQ, outcome, tr_fuse_i32(fuse, 0), "");
    LLVMBuildCondBr(fuse->builder, none, fused->block_done, only);
}

static bool build_done(const struct tr_fused *fused, uint32_t index)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    struct tr_set ways;
    LLVMPositionBuilderAtEnd(b, fused->done[index]);
    if (fuse->kernel->scope == TR_SCOPE_BLOCK) {
        LLVMBuildBr(b, fused->block_done);
        return true;
    }
    if (!find_ways(fused, index, &ways))
        return false;
    LLVMBasicBlockRef next = tr_fuse_new_block(fuse, "next_warp");
    LLVMBasicBlockRef last = tr_fuse_new_block(fuse, "last_warp");
    LLVMValueRef warp = LLVMBuildLoad2(b, fuse->i32, fused->warp, "");
    LLVMValueRef following = LLVMBuildAdd(b, warp, tr_fuse_i32(fuse, 1), "");
    LLVMValueRef warps = LLVMBuildTrunc(b, fuse->group_count, fuse->i32, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, following, warps, ""), next, last);
    LLVMPositionBuilderAtEnd(b, next);
    tr_build_hand_over(fused, RT_HAND_OVER_THREADS,
                       LLVMBuildMul(b, following, tr_fuse_i32(fuse, RT_WARP_SIZE), ""),
                       fused->left_blocks);
    LLVMBuildStore(b, following, fused->warp);
    set_out(fused, index);
    LLVMPositionBuilderAtEnd(b, last);
    go_on(fused, &ways);
    return true;
}

enum pxr_status tr_build_groups_done(const struct tr_fused *fused, struct pxr_error *err)
{
    for (uint32_t i = 0; i <= fused->fuse->kernel->sync_count; i++)
        if (fused->done[i] != NULL && !build_done(fused, i))
            return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    return PXR_OK;
}
