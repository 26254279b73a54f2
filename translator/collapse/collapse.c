/* SPDX-License-Identifier: Apache-2.0
 *
 * Step 2: chooses how the threads of a kernel are collapsed, and calls the builders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "translator/collapse/collapsing.h"
#include "translator/collapse/inductions.h"
#include "translator/collapse/interleave.h"
#include "translator/collapse/prepare.h"
#include "translator/module/walk.h"
/* Regions overlap: n conditional sync points in a row put the code behind them into n regions. The
 * code that brings values across sync points counts, too. Beyond so many instructions, which take
 * about five seconds to compile, `precise` has to do, though it runs ten times as long: who comes
 * here has warp operations or barriers everywhere. */
#define LENGTH_MAX 48000

/* The same for quick code, which is to be there at once: stacks of their own are compiled in a
 * fraction of the time, and kernels that run for long get the best code soon. */
#define QUICK_LENGTH_MAX 2500

/* The reason for `precise` when the budget decides. */
#define TOO_LONG "compiling anything else would take too long"

/* ---- defects for tests ---- */

/* TR_SEED_MISSING_SYNC: takes the sync point out; its result is 0. */
enum pxr_status tr_seed_sync_points(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    (void)err;
    if (collapsing->options->seed != TR_SEED_MISSING_SYNC)
        return PXR_OK;
    uint32_t sites = 0;
    TR_FOR_EACH_INSTRUCTION(sync, collapsing->function) {
        if (!tr_is_sync_point(sync) || sites++ != collapsing->options->seed_site)
            continue;
        if (LLVMGetFirstUse(sync) != NULL)
            LLVMReplaceAllUsesWith(sync, LLVMConstNull(LLVMTypeOf(sync)));
        LLVMInstructionEraseFromParent(sync);
    }
    collapsing->seed_sites = sites;
    return PXR_OK;
}

/* ---- choosing ---- */

static bool has_warp_operations(LLVMValueRef function)
{
    TR_FOR_EACH_INSTRUCTION(inst, function)
        if (tr_placeholder_info(inst)->sync == RT_SYNC_WARP)
            return true;
    return false;
}

static uint32_t sync_count(LLVMValueRef function)
{
    uint32_t count = 0;
    TR_FOR_EACH_INSTRUCTION(inst, function)
        count += tr_is_sync_point(inst);
    return count;
}

static bool may_make_regions(const struct tr_collapsing *collapsing)
{
    struct tr_size size;
    tr_module_size(collapsing->module, &size);
    size.blocks += sync_count(collapsing->function);
    return tr_budget_allows(collapsing->options->budget, TR_LIMIT_REGION_PAIRS,
                            size.instructions * size.blocks);
}

static void choose(struct tr_collapsing *collapsing, enum pxr_collapse collapse, const char *why)
{
    collapsing->collapse = collapse;
    collapsing->why = why;
}

enum pxr_status tr_choose_collapse(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    (void)err;
    if (has_warp_operations(collapsing->function))
        choose(collapsing, PXR_COLLAPSE_HIERARCHICAL, "the kernel has warp operations");
    else if (collapsing->collapse == PXR_COLLAPSE_HIERARCHICAL)
        choose(collapsing, PXR_COLLAPSE_HIERARCHICAL, "it was asked for");
    else
        choose(collapsing, PXR_COLLAPSE_FLAT, "the kernel has no warp operations");
    if (!may_make_regions(collapsing))
        choose(collapsing, PXR_COLLAPSE_PRECISE, TOO_LONG);
    return PXR_OK;
}

/* ---- what the regions' shapes mean for the code ---- */

static void measure(struct tr_collapsing *collapsing)
{
    const struct tr_kernel *kernel = &collapsing->kernel;
    for (uint32_t r = 0; r < kernel->sync_count; r++) {
        if (!kernel->sync_points[r].is_fused)
            continue;
        const struct tr_set *segments = &kernel->regions[r].segments;
        for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
            collapsing->copies += kernel->graph.segments[s].value_count;
    }
}

static void set_all(const struct tr_set *set, bool *flags)
{
    for (uint32_t j = tr_set_next(set, 0); j != TR_NONE; j = tr_set_next(set, j + 1))
        flags[j] = true;
}

/* Groups that set out together may go different ways: one exits behind a warp operation, another
 * comes to the block's next sync point without it. */
static bool find_exits_elsewhere(struct tr_kernel *kernel, bool *exited)
{
    struct pxr_arena *arena = &kernel->graph.arena;
    struct tr_set ways = tr_set_make(arena, kernel->sync_count);
    struct tr_set pending = tr_set_make(arena, kernel->sync_count);
    if (ways.words == NULL || pending.words == NULL)
        return false;
    for (uint32_t start = 0; start < kernel->sync_count; start++) {
        bool exits = false;
        if (!tr_is_block_sync_point(kernel, start))
            continue;
        memset(ways.words, 0, ways.word_count * sizeof *ways.words);
        tr_set_add(&pending, start);
        tr_find_ways(kernel, &pending, &ways);
        for (uint32_t r = tr_set_next(&ways, 0); r != TR_NONE; r = tr_set_next(&ways, r + 1))
            exits |= kernel->regions[r].exits_apart;
        for (uint32_t r = exits ? tr_set_next(&ways, 0) : TR_NONE; r != TR_NONE;
             r = tr_set_next(&ways, r + 1))
            set_all(&kernel->regions[r].outcomes, exited);
    }
    return true;
}

/* exited, by sync point: whether threads may have exited before others come to it; some are known.
 * Spreads this along regions. of_group: counts only exits that other threads of the group survive.
 */
static void spread_exits(const struct tr_kernel *kernel, bool of_group, bool *exited)
{
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t r = 0; r < kernel->sync_count; r++) {
            const struct tr_region *region = &kernel->regions[r];
            const struct tr_set *outcomes = &region->outcomes;
            if (!exited[r] && !(of_group ? region->splits_group : region->exits_apart))
                continue;
            for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE;
                 j = tr_set_next(outcomes, j + 1)) {
                again |= !exited[j];
                exited[j] = true;
            }
        }
    }
}

/* A warp that has exited as a whole comes to no sync point of its own. */
static enum pxr_status find_exits(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    struct tr_kernel *kernel = &collapsing->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    bool *exited = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *exited);
    bool *of_group = pxr_arena_alloc_array(arena, kernel->sync_count, sizeof *of_group);
    if (exited == NULL || of_group == NULL || !find_exits_elsewhere(kernel, exited))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    spread_exits(kernel, false, exited);
    spread_exits(kernel, true, of_group);
    for (uint32_t j = 0; j < kernel->sync_count; j++) {
        if (tr_is_warp_sync_point(kernel, j))
            exited[j] = of_group[j];
        collapsing->fuse.has_entries |= exited[j];
    }
    collapsing->fuse.exited_before = exited;
    collapsing->fuse.torn_before = of_group;
    return PXR_OK;
}

/* At other sync points of a warp all its lanes go on from there, in loops, and nobody asks where
 * they are before they have come to the next one. */
static void find_mixing_places(const struct tr_kernel *kernel, bool *mixes_at)
{
    for (uint32_t r = 0; r < kernel->sync_count; r++) {
        const struct tr_set *outcomes = &kernel->regions[r].outcomes;
        mixes_at[r] |= !tr_is_warp_sync_point(kernel, r) || kernel->sync_points[r].asks_masks;
        if (tr_may_part(kernel, r))
            set_all(outcomes, mixes_at);
    }
}

static enum pxr_status find_mixing(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    struct tr_kernel *kernel = &collapsing->kernel;
    struct tr_fuse *fuse = &collapsing->fuse;
    fuse->mixes_at =
        pxr_arena_alloc_array(&kernel->graph.arena, kernel->sync_count, sizeof *fuse->mixes_at);
    if (fuse->mixes_at == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    find_mixing_places(kernel, fuse->mixes_at);
    for (uint32_t r = 0; r < kernel->sync_count; r++) {
        const struct tr_set *outcomes = &kernel->regions[r].outcomes;
        if (!kernel->sync_points[r].is_fused)
            continue;
        fuse->can_mix |= tr_set_count(outcomes) > 1;
        for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1))
            fuse->can_mix |= !kernel->sync_points[j].is_fused || kernel->sync_points[j].asks_masks;
    }
    fuse->has_entries |= fuse->can_mix;
    return PXR_OK;
}

static bool may_wait(const struct tr_kernel *kernel)
{
    for (uint32_t j = 1; j < kernel->sync_count; j++)
        if (tr_waits_for_anybody(kernel->graph.values[kernel->sync_points[j].value].llvm))
            return true;
    return false;
}

/* ---- building ---- */

static void init_fuse(struct tr_collapsing *collapsing)
{
    struct tr_fuse *fuse = &collapsing->fuse;
    LLVMContextRef llvm = LLVMGetModuleContext(collapsing->module);
    fuse->kernel = &collapsing->kernel;
    fuse->options = collapsing->options;
    fuse->module = collapsing->module;
    fuse->llvm = llvm;
    fuse->builder = LLVMCreateBuilderInContext(llvm);
    fuse->void_type = LLVMVoidTypeInContext(llvm);
    fuse->i1 = LLVMInt1TypeInContext(llvm);
    fuse->i8 = LLVMInt8TypeInContext(llvm);
    fuse->i16 = LLVMInt16TypeInContext(llvm);
    fuse->i32 = LLVMInt32TypeInContext(llvm);
    fuse->i64 = LLVMInt64TypeInContext(llvm);
    fuse->ptr = LLVMPointerTypeInContext(llvm, 0);
}

/* In code that no vectoriser sees, faults may stay in the loops: without a step function for their
 * sake, it is half as long. */
static bool is_quick(const struct tr_collapsing *collapsing)
{
    return collapsing->options->budget->effort == TR_EFFORT_QUICK;
}

static uint64_t count_imports(const struct tr_crossing *crossing, const struct tr_set *imports)
{
    uint64_t count = 0;
    for (uint32_t v = tr_set_next(imports, 0); v != TR_NONE; v = tr_set_next(imports, v + 1))
        count += crossing->home[v] != TR_HOME_NONE;
    return count;
}

/* How many instructions the loops have, about: what regions copy, bring in and save. */
static bool measure_length(const struct tr_collapsing *collapsing, uint64_t *length)
{
    const struct tr_kernel *kernel = &collapsing->kernel;
    const struct tr_storage *storage = &collapsing->fuse.storage;
    struct pxr_arena scratch;
    pxr_arena_init(&scratch, 0);
    struct tr_set imports = tr_set_make(&scratch, kernel->graph.value_count);
    *length = collapsing->copies;
    for (uint32_t r = 0; imports.words != NULL && r < kernel->sync_count; r++) {
        if (!kernel->sync_points[r].is_fused)
            continue;
        *length += tr_find_imports(kernel, storage, r, &imports);
        if (r > 0)
            *length += count_imports(&storage->crossings[r], &imports);
    }
    pxr_arena_fini(&scratch);
    return imports.words != NULL;
}

static bool is_too_long(const struct tr_collapsing *collapsing, uint64_t length)
{
    return length > (is_quick(collapsing) ? QUICK_LENGTH_MAX : LENGTH_MAX);
}

static enum pxr_status build_kernel(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    enum tr_scope scope =
        collapsing->collapse == PXR_COLLAPSE_FLAT ? TR_SCOPE_BLOCK : TR_SCOPE_WARP;
    return tr_kernel_build(&collapsing->kernel, collapsing->function, scope,
                           collapsing->options->facts, err);
}

/* Takes pairs apart right behind what makes them (an atomic compare-and-swap), not where a part is
 * used: no pair has to be kept across a synchronisation point. */
static void take_apart_early(LLVMValueRef function)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetValueContext(function));
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        LLVMValueRef pair = LLVMIsAExtractValueInst(inst) ? LLVMGetOperand(inst, 0) : NULL;
        if (pair == NULL || LLVMIsAInstruction(pair) == NULL || LLVMIsAPHINode(pair) != NULL)
            continue;
        LLVMInstructionRemoveFromParent(inst);
        LLVMPositionBuilderBefore(b, LLVMGetNextInstruction(pair));
        LLVMInsertIntoBuilder(b, inst);
    }
    LLVMDisposeBuilder(b);
}

enum pxr_status tr_form_regions(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    collapsing->has_kernel = true;
    take_apart_early(collapsing->function);
    enum pxr_status status = build_kernel(collapsing, err);
    if (status == PXR_OK &&
        tr_split_inductions(&collapsing->kernel, collapsing->options->is_vector)) {
        tr_kernel_fini(&collapsing->kernel);
        tr_prepare_addresses(collapsing->function);
        status = build_kernel(collapsing, err);
    }
    if (status == PXR_OK)
        init_fuse(collapsing);
    return status;
}

enum pxr_status tr_plan_crossings(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    struct tr_kernel *kernel = &collapsing->kernel;
    struct tr_fuse *fuse = &collapsing->fuse;
    measure(collapsing);
    collapsing->may_wait = may_wait(kernel);
    enum pxr_status status = find_exits(collapsing, err);
    if (status == PXR_OK)
        status = find_mixing(collapsing, err);
    if (status == PXR_OK && !is_quick(collapsing))
        status = tr_find_faults(kernel, &fuse->faults, err);
    if (status != PXR_OK)
        return status;
    fuse->has_step = fuse->can_mix || fuse->faults.count > 0;
    fuse->hands_over = is_quick(collapsing) ? tr_what_is_handed_over(kernel) : RT_HAND_OVER_NOTHING;
    status = tr_storage_plan(kernel, &fuse->options->target->again, &fuse->storage, err);
    if (status != PXR_OK)
        return status;
    uint64_t length;
    if (!measure_length(collapsing, &length))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    if (is_too_long(collapsing, length)) {
        choose(collapsing, PXR_COLLAPSE_PRECISE,
               "too many values would have to be kept across its barriers and warp operations");
        return PXR_OK;
    }
    LLVMTargetDataRef target = LLVMGetModuleDataLayout(collapsing->module);
    return tr_frame_layout(&fuse->frame, kernel, &fuse->storage, fuse->has_step,
                           fuse->options->is_vector, target, err);
}

/* A long kernel that waits for other blocks takes steps where it waits: the passes would take
 * longer than the waiting. */
#define LONG_STEP 1000

static bool is_for_waiting(const struct tr_collapsing *collapsing)
{
    return collapsing->may_wait && collapsing->kernel.graph.value_count > LONG_STEP;
}

/* Only wrong programs come there, or threads that wait, or that part in code that is to compile
 * fast: no pass is worth its time. */
static void leave_as_it_is(const struct tr_fuse *fuse)
{
    static const char *const names[] = {"optnone", "noinline"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddAttributeAtIndex(fuse->step, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(fuse->llvm, kind, 0));
    }
}

enum pxr_status tr_build_blocks(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    struct tr_fuse *fuse = &collapsing->fuse;
    LLVMMetadataRef subprogram = LLVMGetSubprogram(collapsing->function);
    LLVMSetValueName2(collapsing->function, "", 0);
    enum pxr_status status = PXR_OK;
    bool is_plain = !fuse->can_mix || is_quick(collapsing) || is_for_waiting(collapsing);
    if (fuse->has_step)
        status = tr_build_step(fuse, is_plain, err);
    else
        LLVMDeleteFunction(LLVMGetNamedFunction(collapsing->module, TR_STEP_NAME));
    if (fuse->has_step && is_plain && status == PXR_OK)
        leave_as_it_is(fuse);
    if (status == PXR_OK)
        status = tr_build_fused(fuse, subprogram, err);
    if (status != PXR_OK)
        return status;
    LLVMDeleteFunction(collapsing->function);
    collapsing->function = NULL;
    return PXR_OK;
}

void tr_collapsing_report(const struct tr_collapsing *collapsing, struct tr_collapsed *result)
{
    const struct tr_fuse *fuse = &collapsing->fuse;
    const struct tr_kernel *kernel = &collapsing->kernel;
    bool is_flat = kernel->scope == TR_SCOPE_BLOCK;
    result->frame_thread_bytes = fuse->frame.thread_bytes;
    result->frame_warp_bytes = is_flat ? 0 : fuse->frame.group_bytes;
    result->frame_fixed_bytes = (is_flat ? fuse->frame.group_bytes : 0) + fuse->frame.gap_bytes;
    result->may_wait = collapsing->may_wait;
    result->hands_over = fuse->hands_over >= RT_HAND_OVER_THREADS;
    result->seed_sites = fuse->seed_sites + collapsing->seed_sites;
}

/* ---- --explain ---- */

static uint32_t count_loops(const struct tr_kernel *kernel)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < kernel->sync_count; j++)
        count += kernel->sync_points[j].is_fused;
    return count;
}

static void explain_sync_points(const struct tr_collapsing *collapsing, FILE *out)
{
    const struct tr_kernel *kernel = &collapsing->kernel;
    const struct tr_frame *frame = &collapsing->fuse.frame;
    const char *group = kernel->scope == TR_SCOPE_BLOCK ? "block" : "warp";
    if (collapsing->fuse.can_mix)
        fprintf(
            out,
            "threads of a %s may come to wait at different places; where they do they run one at "
            "a time\n",
            group);
    fprintf(out,
            "\tbarriers and warp operations: %u; loops over the threads of a %s: %u, with %u "
            "instructions (one thread has %u)\n",
            kernel->sync_count - 1, group, count_loops(kernel), collapsing->copies,
            kernel->graph.value_count);
    fprintf(out,
            "\tkept across barriers and warp operations: %llu bytes for each thread, %llu for "
            "each %s\n",
            (unsigned long long)frame->thread_bytes, (unsigned long long)frame->group_bytes, group);
}

static void explain_walk(const struct tr_walk *walk, FILE *out)
{
    if (walk->threads > 0)
        fprintf(out,
                "rows of neighbouring blocks run as one, about %u threads at a time: rows lie "
                "apart in memory\n",
                walk->threads);
    else if (walk->why_not != NULL)
        fprintf(out, "\teach block runs on its own, because %s\n", walk->why_not);
}

void tr_collapsing_explain(const struct tr_collapsing *collapsing, FILE *out)
{
    const struct tr_frame *frame = &collapsing->fuse.frame;
    explain_walk(&collapsing->fuse.walk, out);
    if (collapsing->kernel.sync_count > 1)
        explain_sync_points(collapsing, out);
    if (frame->interleaved_count + frame->piece_count > 0)
        fprintf(out,
                "\tlocal arrays: %u with the threads' elements side by side, %u with each thread's "
                "elements together\n",
                frame->interleaved_count, frame->piece_count);
}

/* ---- local arrays ---- */

enum pxr_status tr_interleave_arrays(struct tr_collapsing *collapsing, struct pxr_error *err)
{
    return tr_interleave(collapsing->function, &collapsing->has_interleaved, err);
}

/* ---- the face ---- */

void tr_collapsing_init(struct tr_collapsing *collapsing, LLVMModuleRef module,
                        const struct tr_collapse_options *options)
{
    *collapsing = (struct tr_collapsing){.module = module,
                                         .function = LLVMGetNamedFunction(module, TR_KERNEL_NAME),
                                         .options = options,
                                         .collapse = options->collapse};
    if (options->collapse == PXR_COLLAPSE_PRECISE)
        collapsing->why =
            options->budget->effort < TR_EFFORT_THREAD ? "it was asked for" : TOO_LONG;
}

void tr_collapsing_fini(struct tr_collapsing *collapsing)
{
    if (collapsing->fuse.builder != NULL)
        LLVMDisposeBuilder(collapsing->fuse.builder);
    if (collapsing->has_kernel)
        tr_kernel_fini(&collapsing->kernel);
}
