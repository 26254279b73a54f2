/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops around an iteration's versions. The fast version steps through rectangles of copies;
 * what is left over at the end of a row, or of the rows, or by a guard, goes to one masked version,
 * in a loop nest of its own over any rectangle:
 *
 *   for y step rows:
 *     for x step lanes:   fast version; if a guard does not hold: masked(x, x + lanes, y, y + rows)
 *     masked(rest of the row, y, y + rows)
 *   masked(0, length of a row, rest of the rows)
 */
#include "translator/vector/version.h"

#include "translator/vector/control.h"
#include "translator/vector/emit/replace.h"

/* The case with which the masked nest goes on. */
enum resume { RESUME_NEXT, RESUME_ROW_DONE, RESUME_DONE };

struct version {
    const struct tr_nest *nest;
    struct tr_versions *versions;
    const struct tr_shape_of_nest *shape;
    const struct tr_counted *outer; /* the loop to replace */
    bool is_jammed;
    struct tr_widen widen;
    LLVMValueRef length;         /* i32: threads of a row */
    LLVMValueRef rows;           /* i32 */
    LLVMBasicBlockRef fast_done; /* reached when the fast version has done a rectangle */
    LLVMBasicBlockRef x_latch, y_latch, done;
    LLVMValueRef x_now;       /* phi in x_latch: the x of that rectangle */
    LLVMBasicBlockRef masked; /* NULL: not used yet */
    LLVMValueRef bounds[4];   /* phis there: x from, to, y from, to */
    LLVMValueRef resume;      /* phi there */
};

static LLVMValueRef number(const struct version *version, uint32_t value)
{
    return LLVMConstInt(version->widen.i32, value, false);
}

static LLVMValueRef add(const struct version *version, LLVMValueRef value, uint32_t more)
{
    if (more == 0)
        return value;
    LLVMValueRef sum = LLVMBuildNSWAdd(version->widen.builder, value, number(version, more), "");
    if (LLVMIsAInstruction(sum) != NULL)
        LLVMSetNUW(sum, true);
    return sum;
}

static bool is_multiple(LLVMValueRef count, uint32_t of)
{
    return of == 1 ||
           (LLVMIsAConstantInt(count) != NULL && LLVMConstIntGetZExtValue(count) % of == 0);
}

static bool is_less(LLVMValueRef count, uint32_t than)
{
    return LLVMIsAConstantInt(count) != NULL && LLVMConstIntGetZExtValue(count) < than;
}

static bool is_count(LLVMValueRef count, uint32_t value)
{
    return LLVMIsAConstantInt(count) != NULL && LLVMConstIntGetZExtValue(count) == value;
}

/* ---- counted loops ---- */

struct counter {
    LLVMBasicBlockRef head;
    LLVMValueRef value;
};

/* Opens a loop; the builder goes to its beginning. is_once: it runs once, so values that depend on
 * the counter can be computed now. */
static struct counter begin_counter(const struct version *version, LLVMValueRef from, bool is_once,
                                    const char *name)
{
    const struct tr_widen *widen = &version->widen;
    if (is_once)
        return (struct counter){.value = from};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(widen->builder);
    struct counter counter = {.head = tr_widen_new_block(widen, name)};
    LLVMBuildBr(widen->builder, counter.head);
    LLVMPositionBuilderAtEnd(widen->builder, counter.head);
    counter.value = LLVMBuildPhi(widen->builder, widen->i32, name);
    LLVMAddIncoming(counter.value, &from, &before, 1);
    return counter;
}

/* Closes the loop at the builder's place, where the counter is `now`; goes to `after` at the
 * limit. */
static void end_counter(const struct version *version, const struct counter *counter,
                        LLVMValueRef now, uint32_t step, LLVMValueRef limit,
                        LLVMBasicBlockRef after)
{
    LLVMBuilderRef b = version->widen.builder;
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
    if (counter->head == NULL) {
        LLVMBuildBr(b, after);
        return;
    }
    LLVMValueRef next = add(version, now, step);
    LLVMAddIncoming(counter->value, &next, &latch, 1);
    LLVMValueRef more = LLVMBuildICmp(b, LLVMIntULT, next, limit, "");
    LLVMBuildCondBr(b, more, counter->head, after);
}

/* ---- a version at its place ---- */

static enum pxr_status begin_version(struct version *version, const struct tr_iteration *iteration,
                                     bool is_fast, struct pxr_error *err)
{
    struct tr_widen *widen = &version->widen;
    widen->iteration = iteration;
    widen->jam[0] = is_fast ? version->shape->jam[0] : 1;
    widen->jam[1] = is_fast ? version->shape->jam[1] : 1;
    widen->copies = widen->jam[0] * widen->jam[1];
    for (uint32_t c = 0; c < TR_MAX_COPIES; c++)
        widen->active.mask[c] = NULL;
    struct pxr_arena *arena = &version->versions->fast.graph.arena;
    widen->arena = arena;
    widen->now = pxr_arena_alloc_array(arena, (size_t)iteration->graph.value_count * widen->copies,
                                       sizeof *widen->now);
    widen->row_steps =
        pxr_arena_alloc_array(arena, iteration->graph.value_count, sizeof *widen->row_steps);
    return widen->now != NULL && widen->row_steps != NULL
               ? PXR_OK
               : pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory widening");
}

static void define_counters(struct version *version, LLVMValueRef x, LLVMValueRef y)
{
    struct tr_widen *widen = &version->widen;
    const struct tr_iteration *iteration = widen->iteration;
    for (uint32_t c = 0; c < widen->copies; c++) {
        if (tr_widen_holder(widen, iteration->x, c) == c)
            tr_widen_define(widen, iteration->x, c,
                            add(version, x, c % widen->jam[0] * widen->width));
        if (iteration->y != TR_NONE && tr_widen_holder(widen, iteration->y, c) == c)
            tr_widen_define(widen, iteration->y, c, add(version, y, c / widen->jam[0]));
    }
}

/* ---- the masked nest ---- */

static void make_masked_entry(struct version *version)
{
    struct tr_widen *widen = &version->widen;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(widen->builder);
    version->masked = tr_widen_new_block(widen, "masked");
    LLVMPositionBuilderAtEnd(widen->builder, version->masked);
    for (int i = 0; i < 4; i++)
        version->bounds[i] = LLVMBuildPhi(widen->builder, widen->i32, "");
    version->resume = LLVMBuildPhi(widen->builder, widen->i32, "resume");
    LLVMPositionBuilderAtEnd(widen->builder, here);
}

/* Goes from the builder's place to the masked version for a rectangle. */
static void go_to_masked(struct version *version, LLVMValueRef x, LLVMValueRef x_end,
                         LLVMValueRef y, LLVMValueRef y_end, enum resume resume)
{
    LLVMBuilderRef b = version->widen.builder;
    if (version->masked == NULL)
        make_masked_entry(version);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMValueRef bounds[4] = {x, x_end, y, y_end};
    LLVMValueRef where = number(version, resume);
    LLVMBuildBr(b, version->masked);
    for (int i = 0; i < 4; i++)
        LLVMAddIncoming(version->bounds[i], &bounds[i], &here, 1);
    LLVMAddIncoming(version->resume, &where, &here, 1);
}

/* The lanes before the end of the row; NULL: always all. */
static LLVMValueRef lanes_left(struct version *version, LLVMValueRef x)
{
    struct tr_widen *widen = &version->widen;
    LLVMBuilderRef b = widen->builder;
    LLVMValueRef lanes[64];
    for (uint32_t i = 0; i < widen->width; i++)
        lanes[i] = number(version, i);
    LLVMValueRef left = LLVMBuildSub(b, version->bounds[1], x, "");
    return LLVMBuildICmp(b, LLVMIntULT, LLVMConstVector(lanes, widen->width),
                         tr_widen_splat(widen, left), "");
}

static enum pxr_status build_masked(struct version *version, struct pxr_error *err)
{
    struct tr_widen *widen = &version->widen;
    LLVMBuilderRef b = widen->builder;
    enum pxr_status status = begin_version(version, &version->versions->masked, false, err);
    if (status != PXR_OK)
        return status;
    LLVMPositionBuilderAtEnd(b, version->masked);
    struct counter y = begin_counter(version, version->bounds[2], false, "y");
    struct counter x = begin_counter(version, version->bounds[0], false, "x");
    define_counters(version, x.value, y.value);
    widen->active.mask[0] = lanes_left(version, x.value);
    status = tr_control_iteration(widen, NULL, err);
    if (status != PXR_OK)
        return status;
    LLVMBasicBlockRef row_done = tr_widen_new_block(widen, "row_done");
    LLVMBasicBlockRef end = tr_widen_new_block(widen, "masked_done");
    end_counter(version, &x, x.value, widen->width, version->bounds[1], row_done);
    LLVMPositionBuilderAtEnd(b, row_done);
    end_counter(version, &y, y.value, 1, version->bounds[3], end);
    LLVMPositionBuilderAtEnd(b, end);
    LLVMValueRef where = LLVMBuildSwitch(b, version->resume, version->done, 2);
    LLVMAddCase(where, number(version, RESUME_NEXT), version->x_latch);
    LLVMAddIncoming(version->x_now, &version->bounds[0], &end, 1);
    LLVMAddCase(where, number(version, RESUME_ROW_DONE), version->y_latch);
    return PXR_OK;
}

/* ---- the fast nest ---- */

/* Builds the iterations of a rectangle whose lanes go on each by itself. */
static enum pxr_status build_apart(struct version *version, LLVMBasicBlockRef apart, LLVMValueRef x,
                                   LLVMValueRef y, struct pxr_error *err)
{
    struct tr_widen *widen = &version->widen;
    enum pxr_status status = begin_version(version, &version->versions->masked, true, err);
    if (status != PXR_OK)
        return status;
    LLVMPositionBuilderAtEnd(widen->builder, apart);
    define_counters(version, x, y);
    status = tr_control_iteration(widen, NULL, err);
    LLVMBuildBr(widen->builder, version->fast_done);
    return status;
}

/* Builds the iterations of a rectangle at x, y, at the builder's place. */
static enum pxr_status build_fast(struct version *version, LLVMValueRef x, LLVMValueRef y,
                                  struct pxr_error *err)
{
    struct tr_widen *widen = &version->widen;
    const struct tr_versions *versions = version->versions;
    enum pxr_status status = begin_version(version, &versions->fast, true, err);
    if (status != PXR_OK)
        return status;
    define_counters(version, x, y);
    struct tr_exits_of_fast exits = {.expected = &versions->expected, .none = version->fast_done};
    /* Rows that were promised to be long are seldom short. */
    bool has_apart = versions->expected.divisor_count > 0 &&
                     version->shape->estimate.groups == TR_GROUPS_OF_SHORT_ROWS;
    bool is_certain = versions->expected.guard_count == 0 && versions->expected.common_count == 0 &&
                      versions->expected.steady_count == 0 &&
                      (versions->expected.divisor_count == 0 || has_apart);
    if (!is_certain)
        exits.other = tr_widen_new_block(widen, "ragged");
    exits.apart = has_apart ? tr_widen_new_block(widen, "apart") : exits.other;
    status = tr_control_iteration(widen, &exits, err);
    LLVMBuildBr(widen->builder, version->fast_done);
    if (status == PXR_OK && has_apart)
        status = build_apart(version, exits.apart, x, y, err);
    if (status != PXR_OK || is_certain)
        return status;
    LLVMPositionBuilderAtEnd(widen->builder, exits.other);
    go_to_masked(version, x, add(version, x, widen->width * widen->jam[0]), y,
                 add(version, y, widen->jam[1]), RESUME_NEXT);
    return PXR_OK;
}

/* Whether nothing is left over. */
static bool is_even(LLVMValueRef all, uint32_t block_row, uint32_t count)
{
    return (block_row != 0 && block_row % count == 0) || is_multiple(all, count);
}

/* Goes to a new block if at least `count` of `all` are left from `first` on; the builder stays
 * where they are not. If they always are, it goes to the new block: false. */
static bool branch_if_left(struct version *version, LLVMValueRef all, uint32_t block_row,
                           LLVMValueRef first, uint32_t count, LLVMBasicBlockRef *enough)
{
    struct tr_widen *widen = &version->widen;
    LLVMBuilderRef b = widen->builder;
    *enough = LLVMGetInsertBlock(b);
    if (is_even(all, block_row, count))
        return false;
    *enough = tr_widen_new_block(widen, "whole");
    LLVMBasicBlockRef rest = tr_widen_new_block(widen, "rest");
    LLVMValueRef left = LLVMBuildSub(b, all, first, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGE, left, number(version, count), ""), *enough,
                    rest);
    LLVMPositionBuilderAtEnd(b, rest);
    return true;
}

static enum pxr_status build_loops(struct version *version, struct pxr_error *err)
{
    struct tr_widen *widen = &version->widen;
    LLVMBuilderRef b = widen->builder;
    const uint32_t *jam = version->shape->jam;
    uint32_t lanes = widen->width * jam[0];
    LLVMValueRef zero = number(version, 0);
    LLVMBasicBlockRef enough = NULL;
    struct counter y = begin_counter(version, zero, is_count(version->rows, jam[1]), "y");
    if (branch_if_left(version, version->rows, 0, y.value, jam[1], &enough))
        go_to_masked(version, zero, version->length, y.value, version->rows, RESUME_DONE);
    LLVMPositionBuilderAtEnd(b, enough);
    struct counter x = begin_counter(version, zero, is_count(version->length, lanes), "x");
    if (branch_if_left(version, version->length, version->nest->x.block_row, x.value, lanes,
                       &enough))
        go_to_masked(version, x.value, version->length, y.value, add(version, y.value, jam[1]),
                     RESUME_ROW_DONE);
    LLVMPositionBuilderAtEnd(b, enough);
    enum pxr_status status = build_fast(version, x.value, y.value, err);
    if (status != PXR_OK)
        return status;
    LLVMPositionBuilderAtEnd(b, version->fast_done);
    LLVMBuildBr(b, version->x_latch);
    LLVMAddIncoming(version->x_now, &x.value, &version->fast_done, 1);
    LLVMPositionBuilderAtEnd(b, version->x_latch);
    end_counter(version, &x, version->x_now, lanes, version->length, version->y_latch);
    LLVMPositionBuilderAtEnd(b, version->y_latch);
    end_counter(version, &y, y.value, jam[1], version->rows, version->done);
    return version->masked != NULL ? build_masked(version, err) : PXR_OK;
}

/* Whether the masked version does it all: the row is too short for any vector, or something is left
 * over and there is to be one version. */
static bool is_masked_only(const struct version *version)
{
    uint32_t lanes = version->widen.width * version->shape->jam[0];
    return is_less(version->length, lanes) ||
           (version->shape->is_concise &&
            !is_even(version->length, version->nest->x.block_row, lanes));
}

static enum pxr_status build_masked_only(struct version *version, struct pxr_error *err)
{
    LLVMBuilderRef b = version->widen.builder;
    LLVMValueRef zero = number(version, 0);
    go_to_masked(version, zero, version->length, zero, version->rows, RESUME_DONE);
    LLVMBasicBlockRef unused[3] = {version->fast_done, version->x_latch, version->y_latch};
    for (int i = 0; i < 3; i++) {
        LLVMPositionBuilderAtEnd(b, unused[i]);
        LLVMBuildUnreachable(b);
    }
    return build_masked(version, err);
}

/* ---- in place of the old loops ---- */

static void replace_loops(const struct version *version, LLVMBasicBlockRef entry)
{
    const struct tr_graph *graph = &version->versions->masked.graph;
    LLVMValueRef enters = LLVMGetBasicBlockTerminator(version->outer->before);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(enters); i++)
        if (LLVMGetSuccessor(enters, i) == version->outer->header)
            LLVMSetSuccessor(enters, i, entry);
    /* Phis behind the nest bring no values out of it. */
    tr_move_phis(version->widen.builder, version->outer->after, version->outer->latch,
                 version->done);
    for (uint32_t s = 0; s < graph->segment_count; s++)
        tr_erase_back(LLVMGetLastInstruction(graph->segments[s].llvm), NULL);
    for (uint32_t s = 0; s < graph->segment_count; s++)
        LLVMDeleteBasicBlock(graph->segments[s].llvm);
}

/* ---- the face ---- */

static void init_widen(struct version *version, const struct tr_vector_options *options,
                       uint32_t *seed_sites)
{
    struct tr_widen *widen = &version->widen;
    widen->options = options;
    widen->width = version->shape->width;
    widen->is_concise = version->shape->is_concise;
    widen->least_divisor = version->shape->least_divisor;
    widen->function = LLVMGetBasicBlockParent(version->outer->header);
    widen->module = LLVMGetGlobalParent(widen->function);
    widen->llvm = LLVMGetModuleContext(widen->module);
    widen->builder = LLVMCreateBuilderInContext(widen->llvm);
    widen->layout = LLVMGetModuleDataLayout(widen->module);
    widen->i1 = LLVMInt1TypeInContext(widen->llvm);
    widen->i8 = LLVMInt8TypeInContext(widen->llvm);
    widen->i32 = LLVMInt32TypeInContext(widen->llvm);
    widen->i64 = LLVMInt64TypeInContext(widen->llvm);
    widen->ptr = LLVMPointerTypeInContext(widen->llvm, 0);
    widen->seed_sites = seed_sites;
}

enum pxr_status tr_widen_nest(const struct tr_nest *nest, struct tr_versions *versions,
                              bool is_jammed, const struct tr_shape_of_nest *shape,
                              const struct tr_vector_options *options,
                              const struct tr_tuning_hooks *tuning, uint32_t *seed_sites,
                              struct pxr_error *err)
{
    struct version version = {.nest = nest,
                              .versions = versions,
                              .shape = shape,
                              .outer = is_jammed ? &nest->y : &nest->x,
                              .is_jammed = is_jammed};
    init_widen(&version, options, seed_sites);
    version.widen.tuning = tuning;
    struct tr_widen *widen = &version.widen;
    LLVMBasicBlockRef entry = tr_widen_new_block(widen, "vectors");
    widen->entry = entry;
    version.length = nest->x.count;
    version.rows = is_jammed ? nest->y.count : number(&version, 1);
    version.fast_done = tr_widen_new_block(widen, "fast_done");
    version.x_latch = tr_widen_new_block(widen, "next");
    LLVMPositionBuilderAtEnd(widen->builder, version.x_latch);
    version.x_now = LLVMBuildPhi(widen->builder, widen->i32, "x");
    version.y_latch = tr_widen_new_block(widen, "next_row");
    version.done = tr_widen_new_block(widen, "done");
    LLVMPositionBuilderAtEnd(widen->builder, entry);
    enum pxr_status status =
        is_masked_only(&version) ? build_masked_only(&version, err) : build_loops(&version, err);
    if (status == PXR_OK) {
        LLVMPositionBuilderAtEnd(widen->builder, version.done);
        LLVMBuildBr(widen->builder, version.outer->after);
        replace_loops(&version, entry);
    }
    LLVMDisposeBuilder(widen->builder);
    return status;
}
