/* SPDX-License-Identifier: Apache-2.0
 *
 * Which array of a warp keeps which values behind its sync points. Two values may share an array,
 * as registers are shared, if no sync point has both, and if no way leads from a sync point of one
 * to one of the other: vectors keep values for their next sync point without a mask, while lanes
 * that go elsewhere still read what was kept at the last. Few arrays are variables of their own, of
 * which LLVM may make registers; many, as products of matrices have, stay in memory anyway and lie
 * close together.
 */
#include <string.h>

#include <llvm-c/Target.h>

#include "translator/collapse/kept.h"
#include "translator/collapse/region_loop.h"
#include "translator/module/marks.h"

#define VARIABLE_ALIGN 64
#define FEW_PLACES     64 /* more than vector registers */

_Static_assert(TR_LANE_ELEMENTS == 2 * RT_WARP_SIZE, "what the vectoriser knows them by");

struct places {
    struct tr_fused *fused;
    LLVMTypeRef *type; /* by place: of the elements */
    uint32_t count;
    struct tr_set *around; /* by sync point: itself, and those one way from it or to it */
    struct tr_set *taken;  /* by sync point: places of values kept around it */
    struct tr_set busy;    /* for one value */
};

LLVMValueRef tr_lane_variable(const struct tr_fuse *fuse, LLVMTypeRef element)
{
    LLVMValueRef array = tr_fuse_variable(fuse, LLVMArrayType2(element, TR_LANE_ELEMENTS), "lanes");
    LLVMSetAlignment(array, VARIABLE_ALIGN);
    return array;
}

/* ---- choosing ---- */

static bool is_kept_at(const struct tr_fuse *fuse, uint32_t sync, uint32_t value)
{
    const struct tr_crossing *crossing = &fuse->storage.crossings[sync];
    return tr_is_warp_sync_point(fuse->kernel, sync) && tr_set_has(&crossing->saved, value) &&
           crossing->home[value] != TR_HOME_GROUP;
}

static void take(struct places *places, uint32_t place, uint32_t kept_at)
{
    const struct tr_set *around = &places->around[kept_at];
    for (uint32_t s = tr_set_next(around, 0); s != TR_NONE; s = tr_set_next(around, s + 1))
        tr_set_add(&places->taken[s], place);
}

/* The places that are taken around any sync point where the value is kept. */
static void find_busy(struct places *places, uint32_t value)
{
    const struct tr_fuse *fuse = places->fused->fuse;
    memset(places->busy.words, 0, places->busy.word_count * sizeof *places->busy.words);
    for (uint32_t sync = 1; sync < fuse->kernel->sync_count; sync++)
        if (is_kept_at(fuse, sync, value))
            tr_set_merge(&places->busy, &places->taken[sync]);
}

static void choose_place(struct places *places, uint32_t value)
{
    const struct tr_fuse *fuse = places->fused->fuse;
    LLVMTypeRef type = tr_kept_type(LLVMTypeOf(fuse->kernel->graph.values[value].llvm));
    uint32_t place = 0;
    find_busy(places, value);
    while (place < places->count &&
           (places->type[place] != type || tr_set_has(&places->busy, place)))
        place++;
    if (place == places->count)
        places->type[places->count++] = type;
    places->fused->warp_place[value] = place;
    for (uint32_t sync = 1; sync < fuse->kernel->sync_count; sync++)
        if (is_kept_at(fuse, sync, value))
            take(places, place, sync);
}

static void find_around(struct places *places)
{
    const struct tr_kernel *kernel = places->fused->fuse->kernel;
    for (uint32_t sync = 0; sync < kernel->sync_count; sync++) {
        const struct tr_set *next = &kernel->regions[sync].outcomes;
        tr_set_add(&places->around[sync], sync);
        for (uint32_t t = tr_set_next(next, 0); t != TR_NONE; t = tr_set_next(next, t + 1)) {
            tr_set_add(&places->around[sync], t);
            tr_set_add(&places->around[t], sync);
        }
    }
}

static struct tr_set kept_values(const struct tr_fuse *fuse)
{
    struct tr_kernel *kernel = fuse->kernel;
    struct tr_set kept = tr_set_make(&kernel->graph.arena, kernel->graph.value_count);
    for (uint32_t sync = 1; kept.words != NULL && sync < kernel->sync_count; sync++) {
        const struct tr_set *saved = &fuse->storage.crossings[sync].saved;
        for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1))
            if (is_kept_at(fuse, sync, v))
                tr_set_add(&kept, v);
    }
    return kept;
}

static void place_in_pool(const struct places *places)
{
    struct tr_fused *fused = places->fused;
    const struct tr_fuse *fuse = fused->fuse;
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(fuse->module);
    uint64_t bytes = 0;
    for (uint32_t place = 0; place < places->count; place++) {
        fused->pool_offset[place] = (uint32_t)bytes;
        uint64_t size = LLVMABISizeOfType(layout, places->type[place]) * RT_WARP_SIZE;
        bytes += (size + VARIABLE_ALIGN - 1) & ~(uint64_t)(VARIABLE_ALIGN - 1);
    }
    bytes += TR_LANE_ELEMENTS * sizeof(uint64_t); /* a vector may begin at any lane */
    fused->pool_bytes = bytes;
}

static bool allocate(struct places *places, uint32_t most)
{
    struct tr_fused *fused = places->fused;
    struct tr_kernel *kernel = fused->fuse->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    fused->warp_place =
        pxr_arena_alloc_array(arena, kernel->graph.value_count, sizeof *fused->warp_place);
    fused->warp_array = pxr_arena_alloc_array(arena, most, sizeof *fused->warp_array);
    fused->pool_offset = pxr_arena_alloc_array(arena, most, sizeof *fused->pool_offset);
    places->type = pxr_arena_alloc_array(arena, most, sizeof *places->type);
    places->taken = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *places->taken);
    places->around = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *places->around);
    if (!fused->warp_place || !fused->warp_array || !fused->pool_offset || !places->type ||
        !places->taken || !places->around)
        return false;
    places->busy = tr_set_make(arena, most);
    if (!places->busy.words)
        return false;
    for (uint32_t sync = 0; sync < kernel->sync_count; sync++) {
        places->taken[sync] = tr_set_make(arena, most);
        places->around[sync] = tr_set_make(arena, kernel->sync_count);
        if (!places->taken[sync].words || !places->around[sync].words)
            return false;
    }
    return true;
}

bool tr_choose_warp_places(struct tr_fused *fused)
{
    struct places places = {.fused = fused};
    struct tr_set kept = kept_values(fused->fuse);
    if (kept.words == NULL || !allocate(&places, tr_set_count(&kept) + 1))
        return false;
    find_around(&places);
    for (uint32_t v = tr_set_next(&kept, 0); v != TR_NONE; v = tr_set_next(&kept, v + 1))
        choose_place(&places, v);
    if (places.count > FEW_PLACES)
        place_in_pool(&places);
    return true;
}

/* ---- the arrays ---- */

LLVMValueRef tr_warp_array(struct tr_fused *fused, uint32_t value, LLVMTypeRef element)
{
    const struct tr_fuse *fuse = fused->fuse;
    uint32_t place = fused->warp_place[value];
    if (fused->pool_bytes == 0) {
        if (fused->warp_array[place] == NULL)
            fused->warp_array[place] = tr_lane_variable(fuse, element);
        return fused->warp_array[place];
    }
    if (fused->pool == NULL) {
        fused->pool = tr_fuse_variable(fuse, LLVMArrayType2(fuse->i8, fused->pool_bytes), "pool");
        LLVMSetAlignment(fused->pool, VARIABLE_ALIGN);
    }
    return tr_fuse_offset(fuse, fused->pool, fused->pool_offset[place]);
}
