/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops over the threads of a group, around a region's body: of the block along z, y and x, or
 * of a warp along the rows that it has. Along a row tid.x is the loop's counter and nothing else of
 * the thread changes, so that LLVM's vectoriser understands the addresses made of it.
 */
#include "translator/collapse/prepare.h"
#include "translator/collapse/region_loop.h"
#include "translator/module/marks.h"

typedef void (*iteration_fn)(struct tr_region_build *region);

/* One loop that counts from 0. The builder is in its body. */
struct counter {
    LLVMBasicBlockRef head;
    LLVMBasicBlockRef latch;
    LLVMBasicBlockRef done;
    LLVMValueRef count; /* i32, at least 1 */
    LLVMValueRef value; /* i32 phi */
    LLVMValueRef trip;  /* the same again, for the loop itself */
};

/* Tells LLVM which bits of it can be set: with 32 lanes in a warp, `thread / 32` is the same in
 * all. */
static void assume_below(const struct tr_fuse *fuse, LLVMValueRef value, LLVMValueRef limit)
{
    static const char name[] = "llvm.assume";
    unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
    LLVMValueRef assume = LLVMGetIntrinsicDeclaration(fuse->module, id, NULL, 0);
    LLVMTypeRef type = LLVMIntrinsicGetType(fuse->llvm, id, NULL, 0);
    LLVMValueRef is_below = LLVMBuildICmp(fuse->builder, LLVMIntULT, value, limit, "");
    LLVMBuildCall2(fuse->builder, type, assume, &is_below, 1, "");
}

static struct counter begin_loop(const struct tr_fuse *fuse, LLVMValueRef count, const char *name)
{
    struct counter loop = {.count = count};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(fuse->builder);
    LLVMValueRef zero = tr_fuse_i32(fuse, 0);
    loop.head = tr_fuse_new_block(fuse, name);
    loop.latch = tr_fuse_new_block(fuse, "next");
    loop.done = tr_fuse_new_block(fuse, "done");
    LLVMBuildBr(fuse->builder, loop.head);
    LLVMPositionBuilderAtEnd(fuse->builder, loop.head);
    loop.trip = loop.value = LLVMBuildPhi(fuse->builder, fuse->i32, name);
    LLVMAddIncoming(loop.value, &zero, &before, 1);
    if (!fuse->options->is_vector)
        return loop;
    /* Threads often ask whether they are the last of the row. LLVM would take the latch's question
     * for the same one, and split the loop; nest.c makes one counter of the two again. */
    loop.trip = LLVMBuildPhi(fuse->builder, fuse->i32, "trip");
    LLVMAddIncoming(loop.trip, &zero, &before, 1);
    return loop;
}

static LLVMValueRef count_up(const struct tr_fuse *fuse, LLVMValueRef phi, LLVMBasicBlockRef latch)
{
    LLVMValueRef next = LLVMBuildNSWAdd(fuse->builder, phi, tr_fuse_i32(fuse, 1), "");
    LLVMSetNUW(next, true);
    LLVMAddIncoming(phi, &next, &latch, 1);
    return next;
}

/* The latch is where iterations end, and the builder is where the loop asks for the next one. */
static void end_loop_here(const struct tr_fuse *fuse, struct counter *loop)
{
    loop->latch = LLVMGetInsertBlock(fuse->builder);
    LLVMValueRef next = count_up(fuse, loop->trip, loop->latch);
    if (loop->trip != loop->value)
        count_up(fuse, loop->value, loop->latch);
    LLVMValueRef more = LLVMBuildICmp(fuse->builder, LLVMIntULT, next, loop->count, "");
    LLVMBuildCondBr(fuse->builder, more, loop->head, loop->done);
    LLVMPositionBuilderAtEnd(fuse->builder, loop->done);
}

static void end_loop(const struct tr_fuse *fuse, struct counter *loop)
{
    LLVMPositionBuilderAtEnd(fuse->builder, loop->latch);
    end_loop_here(fuse, loop);
}

static bool is_one(LLVMValueRef count)
{
    return LLVMIsAConstantInt(count) != NULL && LLVMConstIntGetZExtValue(count) == 1;
}

/* nuw and nsw, as there are at most 1024 threads. */
static LLVMValueRef small_add(const struct tr_fuse *fuse, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef sum = LLVMBuildNSWAdd(fuse->builder, a, b, "");
    if (LLVMIsAInstruction(sum) != NULL && LLVMGetInstructionOpcode(sum) == LLVMAdd)
        LLVMSetNUW(sum, true);
    return sum;
}

static LLVMValueRef small_mul(const struct tr_fuse *fuse, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef product = LLVMBuildNSWMul(fuse->builder, a, b, "");
    if (LLVMIsAInstruction(product) != NULL && LLVMGetInstructionOpcode(product) == LLVMMul)
        LLVMSetNUW(product, true);
    return product;
}

/* Whether iterations of a loop use the same local memory one after another. */
static bool shares_memory(const struct tr_fuse *fuse)
{
    return fuse->frame.is_local_shared && fuse->frame.local_bytes > 0;
}

/* How many threads a row has: of the block, or of those that run as one. */
static LLVMValueRef count_along(const struct tr_region_build *region, int d)
{
    const struct tr_fuse *fuse = region->fuse;
    LLVMValueRef together = region->fused->together;
    if (d > 0 || together == NULL)
        return fuse->ntid[d];
    return small_mul(fuse, together, fuse->ntid[0]);
}

/* As struct tr_thread_loop has it, of the loop along x. */
static uint32_t block_row(const struct tr_region_build *region)
{
    uint32_t row = region->fuse->options->facts->block[0];
    if (region->fused->together == NULL)
        return 0;
    return row == 0 ? 1 : row;
}

/* The block's threads in nested loops over z, y and x; a loop of one iteration is left out. Where
 * blocks run as one, x goes on through all of them. */
static void build_flat_loops(struct tr_region_build *region, iteration_fn body)
{
    static const char *const names[3] = {"x", "y", "z"};
    struct tr_fuse *fuse = region->fuse;
    struct counter loops[3];
    LLVMValueRef row = tr_fuse_i32(fuse, 0);
    int open = 0;
    LLVMBasicBlockRef next = NULL;
    for (int d = 2; d >= 0; d--) {
        row = small_mul(fuse, row, fuse->ntid[d]);
        region->tid[d] = tr_fuse_i32(fuse, 0);
        LLVMValueRef count = count_along(region, d);
        if (is_one(count) && (d > 0 || open > 0))
            continue;
        loops[open] = begin_loop(fuse, count, names[d]);
        region->tid[d] = loops[open].value;
        next = loops[open++].latch;
        row = small_add(fuse, row, region->tid[d]);
    }
    region->thread = row;
    region->next = next;
    struct counter *innermost = &loops[open - 1];
    body(region);
    while (open > 0) {
        struct counter *loop = &loops[--open];
        bool is_innermost = loop == innermost;
        LLVMPositionBuilderAtEnd(fuse->builder, loop->latch);
        if (is_innermost)
            tr_build_hand_over(region->fused, RT_HAND_OVER_THREADS,
                               small_add(fuse, row, tr_fuse_i32(fuse, 1)),
                               region->fused->left_blocks);
        end_loop_here(fuse, loop);
        if (is_innermost && !shares_memory(fuse))
            tr_mark_parallel(fuse, innermost->head, innermost->latch);
        if (fuse->options->is_vector && is_innermost)
            tr_mark_threads(innermost->latch, 'x', block_row(region));
        /* Rows that run as one are long enough for vectors side by side: of several rows, these
         * would put short pieces side by side. */
        else if (fuse->options->is_vector && innermost - &loops[open] == 1 &&
                 region->fused->together == NULL)
            tr_mark_threads(loops[open].latch, 'y', 0);
        if (open > 0)
            LLVMBuildBr(fuse->builder, loops[open - 1].latch);
    }
}

/* tid of the warp's first lane, by divisions, of which LLVM makes shifts where the block's shape is
 * known. */
static void divide_index(struct tr_region_build *region)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef rest = region->lanes.first;
    if (is_one(fuse->ntid[1]) && is_one(fuse->ntid[2])) {
        region->tid[0] = rest;
        region->tid[1] = region->tid[2] = tr_fuse_i32(fuse, 0);
        return;
    }
    region->tid[0] = LLVMBuildURem(b, rest, fuse->ntid[0], "");
    rest = LLVMBuildUDiv(b, rest, fuse->ntid[0], "");
    region->tid[1] = LLVMBuildURem(b, rest, fuse->ntid[1], "");
    region->tid[2] = LLVMBuildUDiv(b, rest, fuse->ntid[1], "");
}

/* A loop over so many lanes of one row, from this one of the warp on (NULL: its first), which has
 * region->tid. */
static void build_piece(struct tr_region_build *region, iteration_fn body, LLVMValueRef lane,
                        LLVMValueRef count)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMValueRef first =
        lane == NULL ? region->lanes.first : small_add(fuse, region->lanes.first, lane);
    struct counter loop = begin_loop(fuse, count, "lane");
    if (fuse->options->is_vector && LLVMIsAConstantInt(count) != NULL)
        assume_below(fuse, loop.value, count);
    region->lane = lane == NULL ? loop.value : small_add(fuse, lane, loop.value);
    region->thread = small_add(fuse, first, loop.value);
    region->tid[0] = small_add(fuse, region->tid[0], loop.value);
    region->next = loop.latch;
    body(region);
    end_loop(fuse, &loop);
    if (!shares_memory(fuse))
        tr_mark_parallel(fuse, loop.head, loop.latch);
    if (fuse->options->is_vector)
        tr_mark_threads(loop.latch, 'x', 0);
}

static bool is_in_one_row(const struct tr_fuse *fuse)
{
    return (is_one(fuse->ntid[1]) && is_one(fuse->ntid[2])) ||
           tr_has_whole_warps(fuse->options->facts);
}

/* How many lanes from `lane` on are in one row. */
static LLVMValueRef piece_length(const struct tr_region_build *region, LLVMValueRef lane)
{
    const struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    uint32_t row = fuse->options->facts->block[0];
    if (row != 0 && RT_WARP_SIZE % row == 0)
        return fuse->ntid[0]; /* warps have whole rows, also the last one */
    LLVMValueRef in_row = LLVMBuildNUWSub(b, fuse->ntid[0], region->tid[0], "");
    LLVMValueRef in_warp = LLVMBuildNUWSub(b, region->lanes.count, lane, "");
    LLVMValueRef is_less = LLVMBuildICmp(b, LLVMIntULT, in_row, in_warp, "");
    return LLVMBuildSelect(b, is_less, in_row, in_warp, "piece");
}

/* The lanes of a warp, row by row: along a row tid.x counts, and nothing else changes. */
static void build_lane_loop(struct tr_region_build *region, iteration_fn body)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef zero = tr_fuse_i32(fuse, 0);
    divide_index(region);
    if (is_in_one_row(fuse)) {
        build_piece(region, body, NULL, region->lanes.count);
        return;
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef head = tr_fuse_new_block(fuse, "row");
    LLVMBasicBlockRef done = tr_fuse_new_block(fuse, "done");
    LLVMBuildBr(b, head);
    LLVMPositionBuilderAtEnd(b, head);
    LLVMValueRef lane = LLVMBuildPhi(b, fuse->i32, "lane");
    LLVMAddIncoming(lane, &zero, &before, 1);
    LLVMValueRef tid[3];
    for (int d = 0; d < 3; d++) {
        tid[d] = LLVMBuildPhi(b, fuse->i32, "tid");
        LLVMAddIncoming(tid[d], &region->tid[d], &before, 1);
        region->tid[d] = tid[d];
    }
    LLVMValueRef length = piece_length(region, lane);
    build_piece(region, body, lane, length);

    LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
    LLVMValueRef next_lane = small_add(fuse, lane, length);
    LLVMValueRef y = small_add(fuse, tid[1], tr_fuse_i32(fuse, 1));
    LLVMValueRef is_plane_done = LLVMBuildICmp(b, LLVMIntEQ, y, fuse->ntid[1], "");
    LLVMValueRef next_y = LLVMBuildSelect(b, is_plane_done, zero, y, "");
    LLVMValueRef next_z = small_add(fuse, tid[2], LLVMBuildZExt(b, is_plane_done, fuse->i32, ""));
    LLVMAddIncoming(lane, &next_lane, &latch, 1);
    LLVMAddIncoming(tid[0], &zero, &latch, 1);
    LLVMAddIncoming(tid[1], &next_y, &latch, 1);
    LLVMAddIncoming(tid[2], &next_z, &latch, 1);
    LLVMValueRef more = LLVMBuildICmp(b, LLVMIntULT, next_lane, region->lanes.count, "");
    LLVMBuildCondBr(b, more, head, done);
    LLVMPositionBuilderAtEnd(b, done);
}

void tr_build_thread_loops(struct tr_region_build *region,
                           void (*body)(struct tr_region_build *region))
{
    if (region->fuse->kernel->scope == TR_SCOPE_BLOCK ||
        tr_region_is_whole(region->fused, region->number))
        build_flat_loops(region, body);
    else
        build_lane_loop(region, body);
}

struct tr_lanes tr_lanes_of_block(const struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    return (struct tr_lanes){.warp = tr_fuse_i32(fuse, 0),
                             .first = tr_fuse_i32(fuse, 0),
                             .count = fuse->thread_count,
                             .group = tr_fuse_i64(fuse, 0)};
}

struct tr_lanes tr_lanes_now(const struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    struct tr_lanes lanes = tr_lanes_of_block(fused);
    if (fuse->kernel->scope == TR_SCOPE_BLOCK)
        return lanes;
    lanes.warp = LLVMBuildLoad2(b, fuse->i32, fused->warp, "warp");
    lanes.first = small_mul(fuse, lanes.warp, tr_fuse_i32(fuse, RT_WARP_SIZE));
    lanes.group = LLVMBuildZExt(b, lanes.warp, fuse->i64, "");
    LLVMValueRef whole = tr_fuse_i32(fuse, RT_WARP_SIZE);
    lanes.count = whole;
    bool is_whole = LLVMIsAConstantInt(fuse->thread_count) != NULL &&
                    LLVMConstIntGetZExtValue(fuse->thread_count) % RT_WARP_SIZE == 0;
    if (is_whole || tr_has_whole_warps(fuse->options->facts))
        return lanes;
    LLVMValueRef left = LLVMBuildNUWSub(b, fuse->thread_count, lanes.first, "");
    LLVMValueRef is_less = LLVMBuildICmp(b, LLVMIntULT, left, whole, "");
    lanes.count = LLVMBuildSelect(b, is_less, left, whole, "lanes");
    return lanes;
}
