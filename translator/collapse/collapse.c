/* SPDX-License-Identifier: Apache-2.0
 *
 * Step 2: chooses how the threads of a kernel are collapsed, and has it done.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>

#include "translator/collapse/fuse.h"
#include "translator/collapse/inductions.h"
#include "translator/collapse/interleave.h"
#include "translator/collapse/prepare.h"
#include "translator/collapse/tuning/nontemporal.h"
#include "translator/emit/emit.h"
#include "translator/module/keep_lines.h"
#include "translator/vector/vector.h"

#define ARRAY_PASSES "function(instcombine<no-verify-fixpoint>,adce)"
#define CLEAN_PASSES "always-inline,function(sroa,early-cse,simplifycfg),globaldce"

/* Regions overlap: with n conditional stops in a row, what follows them is in n regions. Beyond
 * twice the kernel and so many instructions, threads run in steps only. */
#define COPIES_MAX 8000

/* What is brought across stops counts too. Beyond so many times the kernel and so many
 * instructions, `precise` is better: compiling would take more than most programs' kernels run. */
#define LENGTH_FACTOR 4
#define LENGTH_MAX    2000

/* Why the budget's `precise` and no other. */
#define TOO_LONG "compiling anything else would take too long"

/* One collapse. */
struct collapse {
    LLVMModuleRef module;
    LLVMValueRef function; /* the program of one thread */
    const struct tr_collapse_options *options;
    struct tr_collapsed *result;
    struct tr_kernel kernel;
    struct tr_fuse fuse;
    const char *why;        /* this collapse and no other */
    bool is_stepped;        /* no loops: they would be too long */
    bool is_too_long;       /* to be fused at all */
    uint32_t copies;        /* instructions in all regions */
    bool has_private_order; /* tr_has_private_order */
    char *vectors;          /* malloc: what the vectoriser says of the loops */
};

/* ---- defects for tests ---- */

/* TR_SEED_MISSING_STOP: the stop is taken out, its result is 0. */
static void seed_missing_stop(struct collapse *collapse)
{
    if (collapse->options->seed != TR_SEED_MISSING_STOP)
        return;
    uint32_t sites = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(collapse->function); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef inst = LLVMGetFirstInstruction(block);
        while (inst != NULL) {
            LLVMValueRef stop = inst;
            inst = LLVMGetNextInstruction(inst);
            if (!tr_is_stop(stop) || sites++ != collapse->options->seed_site)
                continue;
            if (LLVMGetFirstUse(stop) != NULL)
                LLVMReplaceAllUsesWith(stop, LLVMConstNull(LLVMTypeOf(stop)));
            LLVMInstructionEraseFromParent(stop);
        }
    }
    collapse->fuse.seed_sites = sites;
}

/* ---- choosing ---- */

static bool has_warp_operations(LLVMValueRef function)
{
    static const char *const names[] = {"rt_warp_sync",     "rt_shfl",      "rt_vote",
                                        "rt_match",         "rt_redux",     "rt_elect",
                                        "rt_warp_converge", "rt_activemask"};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                if (strcmp(tr_callee_name(inst), names[i]) == 0)
                    return true;
    return false;
}

static enum pxr_collapse choose(struct collapse *collapse, const char *obstacle)
{
    enum pxr_collapse wanted = collapse->options->collapse;
    if (wanted == PXR_COLLAPSE_PRECISE) {
        collapse->why =
            collapse->options->budget->effort < TR_EFFORT_THREAD ? "asked for" : TOO_LONG;
        return PXR_COLLAPSE_PRECISE;
    }
    if (obstacle != NULL) {
        collapse->why = obstacle;
        return PXR_COLLAPSE_PRECISE;
    }
    if (has_warp_operations(collapse->function)) {
        collapse->why = "the kernel has warp operations";
        return PXR_COLLAPSE_HIERARCHICAL;
    }
    if (wanted == PXR_COLLAPSE_HIERARCHICAL) {
        collapse->why = "asked for";
        return PXR_COLLAPSE_HIERARCHICAL;
    }
    collapse->why = "the kernel has no warp operations";
    return PXR_COLLAPSE_FLAT;
}

/* ---- what the regions' shapes mean for the code ---- */

static void measure(struct collapse *collapse)
{
    const struct tr_kernel *kernel = &collapse->kernel;
    for (uint32_t r = 0; r < kernel->stop_count; r++) {
        if (!kernel->stops[r].is_fused)
            continue;
        const struct tr_set *segments = &kernel->regions[r].segments;
        for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
            collapse->copies += kernel->graph.segments[s].value_count;
    }
    collapse->is_stepped = collapse->copies > 2 * kernel->graph.value_count + COPIES_MAX;
    for (uint32_t r = 0; r < kernel->stop_count && collapse->is_stepped; r++)
        kernel->stops[r].is_fused = false;
}

/* exited: by stop, whether threads that do not come to it have exited before. of_group: only those
 * count that others of their group come there without. */
static void spread_exits(const struct tr_kernel *kernel, bool of_group, bool *exited)
{
    bool again = true;
    while (again) {
        again = false;
        for (uint32_t r = 0; r < kernel->stop_count; r++) {
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

/* A warp that has exited as a whole comes to no stop of its own. */
static enum pxr_status find_exits(struct collapse *collapse, struct pxr_error *err)
{
    struct tr_kernel *kernel = &collapse->kernel;
    struct pxr_arena *arena = &kernel->graph.arena;
    bool *exited = pxr_arena_alloc_array(arena, kernel->stop_count, sizeof *exited);
    bool *of_group = pxr_arena_alloc_array(arena, kernel->stop_count, sizeof *of_group);
    if (exited == NULL || of_group == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    spread_exits(kernel, false, exited);
    spread_exits(kernel, true, of_group);
    for (uint32_t j = 0; j < kernel->stop_count; j++) {
        if (tr_is_warp_stop(kernel, j))
            exited[j] = of_group[j];
        collapse->fuse.has_entries |= exited[j];
    }
    collapse->fuse.exited_before = exited;
    collapse->fuse.torn_before = of_group;
    return PXR_OK;
}

static void find_mixing(struct collapse *collapse)
{
    const struct tr_kernel *kernel = &collapse->kernel;
    struct tr_fuse *fuse = &collapse->fuse;
    fuse->can_mix = collapse->is_stepped;
    for (uint32_t r = 0; r < kernel->stop_count; r++) {
        const struct tr_set *outcomes = &kernel->regions[r].outcomes;
        if (!kernel->stops[r].is_fused)
            continue;
        fuse->can_mix |= tr_set_count(outcomes) > 1;
        for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1))
            fuse->can_mix |= !kernel->stops[j].is_fused || kernel->stops[j].asks_masks;
    }
    fuse->has_entries |= fuse->can_mix;
}

static bool may_wait(const struct tr_kernel *kernel)
{
    for (uint32_t j = 1; j < kernel->stop_count; j++) {
        const char *name = tr_callee_name(kernel->graph.values[kernel->stops[j].value].llvm);
        if (strcmp(name, "rt_poll") == 0 || strcmp(name, "rt_nanosleep") == 0)
            return true;
    }
    return false;
}

/* ---- building ---- */

static void init_fuse(struct collapse *collapse)
{
    struct tr_fuse *fuse = &collapse->fuse;
    LLVMContextRef llvm = LLVMGetModuleContext(collapse->module);
    fuse->kernel = &collapse->kernel;
    fuse->options = collapse->options;
    fuse->module = collapse->module;
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

/* About how many instructions the loops have, and the step function as well. */
static bool is_too_long(const struct collapse *collapse)
{
    const struct tr_kernel *kernel = &collapse->kernel;
    uint64_t length = collapse->copies;
    for (uint32_t r = 0; r < kernel->stop_count; r++) {
        const struct tr_set *outcomes = &kernel->regions[r].outcomes;
        const struct tr_crossing *crossings = collapse->fuse.storage.crossings;
        if (r > 0)
            length += tr_set_count(&crossings[r].saved) + crossings[r].again_count;
        for (uint32_t j = tr_set_next(outcomes, 0); j != TR_NONE; j = tr_set_next(outcomes, j + 1))
            length += tr_set_count(&crossings[j].saved);
    }
    return length > (uint64_t)LENGTH_FACTOR * kernel->graph.value_count + LENGTH_MAX;
}

static enum pxr_status plan(struct collapse *collapse, struct pxr_error *err)
{
    struct tr_kernel *kernel = &collapse->kernel;
    struct tr_fuse *fuse = &collapse->fuse;
    measure(collapse);
    enum pxr_status status = find_exits(collapse, err);
    if (status != PXR_OK)
        return status;
    find_mixing(collapse);
    status = tr_find_faults(kernel, &fuse->faults, err);
    if (status != PXR_OK)
        return status;
    fuse->has_step = fuse->can_mix || fuse->faults.count > 0;
    status = tr_storage_plan(kernel, &fuse->storage, err);
    if (status != PXR_OK)
        return status;
    collapse->is_too_long = is_too_long(collapse);
    if (collapse->is_too_long)
        return PXR_OK;
    LLVMTargetDataRef target = LLVMGetModuleDataLayout(collapse->module);
    return tr_frame_layout(&fuse->frame, kernel, &fuse->storage, fuse->has_step,
                           fuse->options->is_vector, target, err);
}

/* Only programs that are wrong come there: no pass is worth its time. */
static void leave_as_it_is(const struct tr_fuse *fuse)
{
    static const char *const names[] = {"optnone", "noinline"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        LLVMAddAttributeAtIndex(fuse->step, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(fuse->llvm, kind, 0));
    }
}

static enum pxr_status build(struct collapse *collapse, struct pxr_error *err)
{
    struct tr_fuse *fuse = &collapse->fuse;
    LLVMMetadataRef subprogram = LLVMGetSubprogram(collapse->function);
    LLVMSetValueName2(collapse->function, "", 0);
    enum pxr_status status = PXR_OK;
    if (fuse->has_step)
        status = tr_build_step(fuse, err);
    else
        LLVMDeleteFunction(LLVMGetNamedFunction(collapse->module, TR_STEP_NAME));
    if (fuse->has_step && !fuse->can_mix && status == PXR_OK)
        leave_as_it_is(fuse);
    if (status == PXR_OK)
        status = tr_build_fused(fuse, subprogram, err);
    return status;
}

static void report(struct collapse *collapse)
{
    const struct tr_fuse *fuse = &collapse->fuse;
    const struct tr_kernel *kernel = &collapse->kernel;
    struct tr_collapsed *result = collapse->result;
    bool is_flat = kernel->scope == TR_SCOPE_BLOCK;
    result->frame_thread_bytes = fuse->frame.thread_bytes;
    result->frame_warp_bytes = is_flat ? 0 : fuse->frame.group_bytes;
    result->frame_fixed_bytes = (is_flat ? fuse->frame.group_bytes : 0) + fuse->frame.gap_bytes;
    result->may_wait = may_wait(kernel);
    result->seed_sites = fuse->seed_sites;
}

/* Fuses the threads of groups of this scope. */
static enum pxr_status fuse_threads(struct collapse *collapse, enum tr_scope scope,
                                    struct pxr_error *err)
{
    enum pxr_status status = tr_kernel_build(&collapse->kernel, collapse->function, scope,
                                             collapse->options->facts, err);
    if (status == PXR_OK && tr_split_inductions(&collapse->kernel)) {
        tr_kernel_fini(&collapse->kernel);
        tr_prepare_addresses(collapse->function);
        status = tr_kernel_build(&collapse->kernel, collapse->function, scope,
                                 collapse->options->facts, err);
    }
    if (status != PXR_OK)
        return status;
    init_fuse(collapse);
    status = plan(collapse, err);
    if (status == PXR_OK && !collapse->is_too_long)
        status = build(collapse, err);
    if (status == PXR_OK && !collapse->is_too_long)
        report(collapse);
    LLVMDisposeBuilder(collapse->fuse.builder);
    return status;
}

/* Loops over threads become loops over vectors of threads, where that is likely to be faster. */
static enum pxr_status make_vectors(struct collapse *collapse, struct pxr_error *err)
{
    const struct tr_collapse_options *options = collapse->options;
    struct tr_vector_options wanted = {.width = options->width,
                                       .jam = options->jam,
                                       .vector_bits = options->vector_bits,
                                       .is_forced = options->is_forced};
    struct tr_vector_report report = {0};
    LLVMValueRef function = LLVMGetNamedFunction(collapse->module, TR_KERNEL_NAME);
    tr_lines_mark(collapse->module);
    enum pxr_status status = tr_run_passes(collapse->module, TR_VECTOR_PREPARATION, NULL, err);
    tr_lines_restore(collapse->module);
    if (status == PXR_OK && collapse->has_private_order)
        wanted.streaming =
            tr_mark_streams(function, options->cache_bytes, options->cache_share_bytes);
    if (status == PXR_OK)
        status = tr_vectorise(function, &wanted, &report, err);
    if (status == PXR_OK)
        tr_end_streams(function, &wanted.streaming);
    if (status == PXR_OK && report.widened_count > 0) {
        collapse->result->collapse = PXR_COLLAPSE_VECTOR;
        collapse->result->width = report.width;
        collapse->result->jam = report.jam;
    }
    collapse->vectors = report.explanation;
    return status;
}

static bool may_make_vectors(const struct collapse *collapse)
{
    struct tr_size size;
    tr_module_size(collapse->module, &size);
    return tr_budget_allows(collapse->options->budget, TR_LIMIT_LOOP_INSTRUCTIONS,
                            size.instructions);
}

/* What the loops call, and special registers; what a block is changes in the course of a chunk. */
static enum pxr_status finish(struct collapse *collapse, struct pxr_error *err)
{
    collapse->has_private_order =
        collapse->options->cache_bytes > 0 && tr_has_private_order(collapse->function);
    LLVMDeleteFunction(collapse->function);
    enum pxr_status status = tr_link_rt(collapse->module, false, err);
    if (status == PXR_OK)
        status = tr_bind_sregs(collapse->module, true, err);
    if (status == PXR_OK)
        status = tr_run_passes(collapse->module, CLEAN_PASSES, NULL, err);
    if (status == PXR_OK && collapse->options->is_vector && may_make_vectors(collapse))
        status = make_vectors(collapse, err);
    return status;
}

/* ---- --explain ---- */

static void explain_regions(FILE *out, const struct collapse *collapse)
{
    const struct tr_kernel *kernel = &collapse->kernel;
    const struct tr_fuse *fuse = &collapse->fuse;
    uint32_t fused = 0;
    for (uint32_t j = 0; j < kernel->stop_count; j++)
        fused += kernel->stops[j].is_fused;
    fprintf(out, "  %u stops, %u loops over %s, %u instructions in them (the thread has %u)\n",
            kernel->stop_count - 1, fused,
            kernel->scope == TR_SCOPE_BLOCK ? "the block" : "the lanes of a warp", collapse->copies,
            kernel->graph.value_count);
    if (collapse->is_stepped)
        fprintf(out, "  loops would be too long: threads run one by one, from stop to stop\n");
    else if (fuse->can_mix)
        fprintf(out, "  threads may come to different stops: then they run one by one\n");
    else
        fprintf(out, "  all threads always come to the same stop\n");
    fprintf(out, "  kept across stops: %llu bytes per thread, %llu per %s\n",
            (unsigned long long)fuse->frame.thread_bytes,
            (unsigned long long)fuse->frame.group_bytes,
            kernel->scope == TR_SCOPE_BLOCK ? "block" : "warp");
    const struct tr_frame *frame = &fuse->frame;
    if (frame->interleaved_count + frame->piece_count > 0)
        fprintf(out, "  local arrays: %u element after element, %u thread after thread\n",
                frame->interleaved_count, frame->piece_count);
}

/* chosen: of regions and loops, whether they are over vectors or not. */
static enum pxr_status explain(struct collapse *collapse, enum pxr_collapse chosen,
                               struct pxr_error *err)
{
    size_t bytes = 0;
    FILE *out = open_memstream(&collapse->result->explanation, &bytes);
    if (out == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    fprintf(out, "%s: %s\n", pxr_collapse_name(chosen), collapse->why);
    if (chosen != PXR_COLLAPSE_PRECISE)
        explain_regions(out, collapse);
    if (collapse->vectors != NULL)
        fputs(collapse->vectors, out);
    fclose(out);
    return PXR_OK;
}

/* ---- local arrays ---- */

static enum pxr_status interleave(struct collapse *collapse, struct pxr_error *err)
{
    bool has_changed = false;
    enum pxr_status status = tr_interleave(collapse->function, &has_changed, err);
    if (status == PXR_OK && has_changed)
        status = tr_run_passes(collapse->module, ARRAY_PASSES, NULL, err);
    if (status == PXR_OK && has_changed)
        tr_prepare_addresses(collapse->function);
    return status;
}

/* ---- the face ---- */

static enum pxr_status collapse_as(struct collapse *collapse, enum pxr_collapse chosen,
                                   struct pxr_error *err)
{
    collapse->result->collapse = chosen;
    if (chosen == PXR_COLLAPSE_PRECISE) {
        tr_interleave_alone(collapse->function);
        enum pxr_status status =
            tr_collapse_precise(collapse->module, collapse->options->budget->effort, err);
        return status == PXR_OK ? explain(collapse, chosen, err) : status;
    }
    enum tr_scope scope = chosen == PXR_COLLAPSE_FLAT ? TR_SCOPE_BLOCK : TR_SCOPE_WARP;
    enum pxr_status status = fuse_threads(collapse, scope, err);
    if (status == PXR_OK && !collapse->is_too_long)
        status = finish(collapse, err);
    if (status == PXR_OK && !collapse->is_too_long)
        status = explain(collapse, chosen, err);
    free(collapse->vectors);
    collapse->vectors = NULL;
    tr_kernel_fini(&collapse->kernel);
    if (status != PXR_OK || !collapse->is_too_long)
        return status;
    collapse->why = "too much would have to be brought across too many stops";
    return collapse_as(collapse, PXR_COLLAPSE_PRECISE, err);
}

static uint32_t stop_count(LLVMValueRef function)
{
    uint32_t count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            count += tr_is_stop(inst);
    return count;
}

static bool may_make_regions(struct collapse *collapse)
{
    struct tr_size size;
    tr_module_size(collapse->module, &size);
    size.blocks += stop_count(collapse->function);
    if (tr_budget_allows(collapse->options->budget, TR_LIMIT_REGION_PAIRS,
                         size.instructions * size.blocks))
        return true;
    collapse->why = TOO_LONG;
    return false;
}

enum pxr_status tr_collapse(LLVMModuleRef module, const struct tr_collapse_options *options,
                            struct tr_collapsed *result, struct pxr_error *err)
{
    struct collapse collapse = {.module = module,
                                .function = LLVMGetNamedFunction(module, TR_KERNEL_NAME),
                                .options = options,
                                .result = result};
    memset(result, 0, sizeof *result);
    const char *obstacle = NULL;
    if (options->collapse != PXR_COLLAPSE_PRECISE) {
        enum pxr_status status =
            tr_prepare(module, collapse.function, options->keeps_loops, &obstacle, err);
        if (status != PXR_OK)
            return status;
    }
    enum pxr_collapse chosen = choose(&collapse, obstacle);
    if (chosen != PXR_COLLAPSE_PRECISE && !may_make_regions(&collapse))
        chosen = PXR_COLLAPSE_PRECISE;
    if (chosen != PXR_COLLAPSE_PRECISE)
        seed_missing_stop(&collapse);
    if (chosen != PXR_COLLAPSE_PRECISE && options->is_vector) {
        enum pxr_status status = interleave(&collapse, err);
        if (status != PXR_OK)
            return status;
    }
    return collapse_as(&collapse, chosen, err);
}
