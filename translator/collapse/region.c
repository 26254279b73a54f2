/* SPDX-License-Identifier: Apache-2.0
 *
 * One region: a loop over the threads of a group, its body the copy of the region's segments. What
 * lives across stops is brought in at the body's beginning and saved at each stop, by the plan of
 * storage.c.
 */
#include "translator/collapse/prepare.h"
#include "translator/collapse/region.h"

#include <stddef.h>
#include <string.h>

#define REGISTER_PREFIX "rt_sreg_"

struct region {
    struct tr_fused *fused;
    struct tr_fuse *fuse;
    uint32_t number; /* of the stop it begins behind */
    struct tr_lanes lanes;
    LLVMValueRef thread; /* i32: the thread's number in its block … */
    LLVMValueRef index;  /* … as i64 */
    LLVMValueRef tid[3]; /* i32 */
    LLVMValueRef context; /* struct rt_thread * of the thread */
    LLVMBasicBlockRef next; /* where a thread goes when its turn is over */
};

static const struct tr_crossing *crossing_of(const struct region *region)
{
    return &region->fuse->storage.crossings[region->number];
}

static struct region *region_of(struct tr_clone *clone)
{
    return clone->data;
}

/* ---- the loops around a body ---- */

/* One loop that counts from 0; the builder goes to the body. */
struct counter {
    LLVMBasicBlockRef head;
    LLVMBasicBlockRef latch;
    LLVMBasicBlockRef done;
    LLVMValueRef count; /* i32, at least 1 */
    LLVMValueRef value; /* i32 phi */
};

static struct counter begin_loop(const struct tr_fuse *fuse, LLVMValueRef count, const char *name)
{
    struct counter loop = {.count = count};
    LLVMBasicBlockRef before = LLVMGetInsertBlock(fuse->builder);
    LLVMValueRef zero = tr_f_i32(fuse, 0);
    loop.head = tr_f_new_block(fuse, name);
    loop.latch = tr_f_new_block(fuse, "next");
    loop.done = tr_f_new_block(fuse, "done");
    LLVMBuildBr(fuse->builder, loop.head);
    LLVMPositionBuilderAtEnd(fuse->builder, loop.head);
    loop.value = LLVMBuildPhi(fuse->builder, fuse->i32, name);
    LLVMAddIncoming(loop.value, &zero, &before, 1);
    return loop;
}

static void end_loop(const struct tr_fuse *fuse, struct counter *loop)
{
    LLVMPositionBuilderAtEnd(fuse->builder, loop->latch);
    LLVMValueRef next = LLVMBuildNSWAdd(fuse->builder, loop->value, tr_f_i32(fuse, 1), "");
    LLVMSetNUW(next, true);
    LLVMAddIncoming(loop->value, &next, &loop->latch, 1);
    LLVMValueRef more = LLVMBuildICmp(fuse->builder, LLVMIntULT, next, loop->count, "");
    LLVMBuildCondBr(fuse->builder, more, loop->head, loop->done);
    LLVMPositionBuilderAtEnd(fuse->builder, loop->done);
}

static bool is_one(LLVMValueRef count)
{
    return LLVMIsAConstantInt(count) != NULL && LLVMConstIntGetZExtValue(count) == 1;
}

/* nuw and nsw: there are at most 1024 threads. */
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

/* ---- values ---- */

static LLVMTypeRef type_of(const struct tr_fuse *fuse, uint32_t value)
{
    return LLVMTypeOf(fuse->kernel->graph.values[value].llvm);
}

static LLVMValueRef thread_element(const struct region *region, uint32_t array, LLVMTypeRef type)
{
    LLVMValueRef base = tr_f_thread_array(region->fuse, array);
    return tr_f_element(region->fuse, type, base, region->index);
}

static LLVMValueRef group_element(const struct region *region, uint32_t value)
{
    return tr_f_group_element(region->fuse, region->fuse->frame.group_array[value],
                              type_of(region->fuse, value), region->lanes.group);
}

/* Values that come from before the region and are also defined in it, which of the two depends on
 * the way: they are kept in a variable. */
static bool is_in_variable(const struct region *region, uint32_t value)
{
    const struct tr_fuse *fuse = region->fuse;
    return value != fuse->kernel->stops[region->number].value &&
           tr_region_defines(fuse->kernel, region->number, value);
}

static void bring_in(struct region *region, uint32_t value, LLVMValueRef from_before)
{
    struct tr_clone *clone = &region->fused->clone;
    clone->copies[value] = from_before;
    if (!is_in_variable(region, value))
        return;
    clone->homes[value] = tr_f_variable(region->fuse, type_of(region->fuse, value), "");
    LLVMBuildStore(region->fuse->builder, from_before, clone->homes[value]);
}

/* Before the loop: a thread may put the next value of a group's element there while others still
 * need this one. */
static void load_group_values(struct region *region, LLVMValueRef *loaded)
{
    const struct tr_crossing *crossing = crossing_of(region);
    const struct tr_set *saved = &crossing->saved;
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1))
        if (crossing->home[v] == TR_HOME_GROUP)
            loaded[v] = LLVMBuildLoad2(region->fuse->builder, type_of(region->fuse, v),
                                       group_element(region, v), "");
}

static LLVMValueRef stop_result(struct region *region)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMTypeRef type = type_of(fuse, fuse->kernel->stops[region->number].value);
    LLVMValueRef same = region->fused->result[region->number];
    if (same != NULL)
        return LLVMBuildLoad2(fuse->builder, type, same, "");
    LLVMValueRef bits =
        LLVMBuildLoad2(fuse->builder, fuse->i64,
                       thread_element(region, fuse->frame.result_array, fuse->i64), "");
    return type == fuse->i64 ? bits : LLVMBuildTrunc(fuse->builder, bits, type, "");
}

/* The thread's memory for an alloca. */
static LLVMValueRef local_memory(const struct region *region, uint32_t value)
{
    struct tr_fuse *fuse = region->fuse;
    if (!fuse->frame.is_local_shared)
        return tr_f_local(fuse, value, region->index);
    LLVMValueRef alloca = fuse->kernel->graph.values[value].llvm;
    LLVMValueRef shared = tr_f_variable(fuse, LLVMGetAllocatedType(alloca), "local");
    LLVMSetAlignment(shared, LLVMGetAlignment(alloca));
    return shared;
}

/* At the body's beginning: everything that is needed from before. */
static void bring_in_values(struct region *region, LLVMValueRef *loaded)
{
    struct tr_fuse *fuse = region->fuse;
    struct tr_clone *clone = &region->fused->clone;
    const struct tr_crossing *crossing = crossing_of(region);
    const struct tr_graph *graph = &fuse->kernel->graph;
    clone->copies[0] = region->context;
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].opcode == LLVMAlloca)
            clone->copies[v] = local_memory(region, v);
    if (region->number == 0)
        return;
    uint32_t result = fuse->kernel->stops[region->number].value;
    if (LLVMGetTypeKind(type_of(fuse, result)) != LLVMVoidTypeKind)
        clone->copies[result] = stop_result(region);
    const struct tr_set *saved = &crossing->saved;
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1)) {
        if (crossing->home[v] == TR_HOME_THREAD)
            loaded[v] = LLVMBuildLoad2(
                fuse->builder, type_of(fuse, v),
                thread_element(region, fuse->frame.thread_array[v], type_of(fuse, v)), "");
        bring_in(region, v, loaded[v]);
    }
    for (uint32_t i = 0; i < crossing->again_count; i++) {
        uint32_t v = crossing->again[i];
        tr_clone_value(clone, v);
        bring_in(region, v, clone->copies[v]);
    }
}

/* ---- what threads do at a stop, and at their end ---- */

static void mark(struct region *region, uint32_t entry)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMBuildStore(fuse->builder, LLVMConstInt(fuse->i16, entry, false),
                   tr_f_element(fuse, fuse->i16, fuse->frame_base, region->index));
}

static void add_outcome(struct region *region, uint32_t stop)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMValueRef number = tr_f_i32(fuse, stop);
    LLVMValueRef any = LLVMBuildLoad2(fuse->builder, fuse->i32, region->fused->any, "");
    LLVMValueRef all = LLVMBuildLoad2(fuse->builder, fuse->i32, region->fused->all, "");
    LLVMBuildStore(fuse->builder, LLVMBuildOr(fuse->builder, any, number, ""), region->fused->any);
    LLVMBuildStore(fuse->builder, LLVMBuildAnd(fuse->builder, all, number, ""), region->fused->all);
}

bool tr_is_saved_already(const struct tr_fused *fused, uint32_t region, uint32_t stop,
                         uint32_t value)
{
    const struct tr_crossing *crossings = fused->fuse->storage.crossings;
    return region != 0 && tr_set_has(&crossings[region].saved, value) &&
           crossings[region].home[value] == crossings[stop].home[value] &&
           !tr_region_defines(fused->fuse->kernel, region, value);
}

static void save_value(struct region *region, uint32_t stop, uint32_t value, uint32_t segment)
{
    struct tr_fuse *fuse = region->fuse;
    uint8_t home = fuse->storage.crossings[stop].home[value];
    if (tr_is_saved_already(region->fused, region->number, stop, value) ||
        tr_is_group_value(region->fused, region->number, stop, value) ||
        tr_f_seed(fuse, TR_SEED_LOST_VALUE))
        return;
    LLVMValueRef now = tr_clone_use(&region->fused->clone, value, segment);
    LLVMValueRef place = home == TR_HOME_GROUP
                             ? group_element(region, value)
                             : thread_element(region, fuse->frame.thread_array[value],
                                              type_of(fuse, value));
    LLVMBuildStore(fuse->builder, now, place);
}

static void save_operands(struct region *region, uint32_t value)
{
    struct tr_fuse *fuse = region->fuse;
    const struct tr_value *call = &fuse->kernel->graph.values[value];
    unsigned count = LLVMGetNumArgOperands(call->llvm);
    for (unsigned i = 1; i < count; i++) {
        if (LLVMIsConstant(LLVMGetOperand(call->llvm, i)))
            continue;
        LLVMValueRef operand =
            tr_clone_operand(&region->fused->clone, value, i, call->segment);
        LLVMBuildStore(fuse->builder, LLVMBuildZExt(fuse->builder, operand, fuse->i64, ""),
                       thread_element(region, fuse->frame.operand_array[i - 1], fuse->i64));
    }
}

static void come_to_stop(struct region *region, uint32_t value)
{
    struct tr_fuse *fuse = region->fuse;
    uint32_t stop = 1;
    while (fuse->kernel->stops[stop].value != value)
        stop++;
    save_operands(region, value);
    const struct tr_set *saved = &fuse->storage.crossings[stop].saved;
    for (uint32_t v = tr_set_next(saved, 0); v != TR_NONE; v = tr_set_next(saved, v + 1))
        save_value(region, stop, v, fuse->kernel->graph.values[value].segment);
    if (fuse->can_mix)
        mark(region, tr_f_entry(fuse, stop) | RT_ENTRY_LOOPED);
    if (tr_region_is_dynamic(region->fused, region->number))
        add_outcome(region, stop);
    LLVMBuildBr(fuse->builder, region->next);
}

static void exit_thread(struct region *region)
{
    struct tr_fuse *fuse = region->fuse;
    const struct tr_region *shape = &fuse->kernel->regions[region->number];
    bool matters = fuse->can_mix || tr_set_next(&shape->outcomes, 0) != TR_NONE;
    if (fuse->has_entries && matters && !tr_f_seed(fuse, TR_SEED_EXITED_MASK))
        mark(region, RT_ENTRY_EXITED);
    LLVMBuildBr(fuse->builder, region->next);
}

/* ---- instructions that are not copied ---- */

static LLVMValueRef lane_of(struct region *region)
{
    return LLVMBuildAnd(region->fuse->builder, region->thread,
                        tr_f_i32(region->fuse, RT_WARP_SIZE - 1), "lane");
}

/* value << lane, in 64 bits, plus addend, as 32 bits */
static LLVMValueRef lane_mask(struct region *region, int64_t value, int64_t addend)
{
    const struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef lane = LLVMBuildZExt(b, lane_of(region), fuse->i64, "");
    LLVMValueRef mask = LLVMBuildShl(b, tr_f_i64(fuse, (uint64_t)value), lane, "");
    mask = LLVMBuildAdd(b, mask, tr_f_i64(fuse, (uint64_t)addend), "");
    return LLVMBuildTrunc(b, mask, fuse->i32, "");
}

static bool is_dimension(const char *name, const char *prefix, int *dimension)
{
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0 || name[len] < 'x' || name[len] > 'z' || name[len + 1])
        return false;
    *dimension = name[len] - 'x';
    return true;
}

/* What depends on the thread; NULL: it does not. */
static LLVMValueRef special_register(struct region *region, const char *name)
{
    int d = 0;
    if (is_dimension(name, "tid_", &d))
        return region->tid[d];
    if (strcmp(name, "laneid") == 0)
        return lane_of(region);
    if (strcmp(name, "warpid") == 0)
        return LLVMBuildLShr(region->fuse->builder, region->thread, tr_f_i32(region->fuse, 5), "");
    if (strcmp(name, "lanemask_eq") == 0)
        return lane_mask(region, 1, 0);
    if (strcmp(name, "lanemask_le") == 0)
        return lane_mask(region, 2, -1);
    if (strcmp(name, "lanemask_lt") == 0)
        return lane_mask(region, 1, -1);
    if (strcmp(name, "lanemask_ge") == 0)
        return lane_mask(region, -1, 0);
    if (strcmp(name, "lanemask_gt") == 0)
        return lane_mask(region, -2, 0);
    return NULL;
}

bool tr_is_group_register(LLVMValueRef call)
{
    const char *name = tr_callee_name(call);
    return strncmp(name, REGISTER_PREFIX, sizeof REGISTER_PREFIX - 1) == 0 &&
           strcmp(name, REGISTER_PREFIX "warpid") != 0;
}

LLVMValueRef tr_group_register(struct tr_fused *fused, uint32_t value)
{
    struct tr_fuse *fuse = fused->fuse;
    LLVMValueRef inst = fuse->kernel->graph.values[value].llvm;
    const char *name = tr_callee_name(inst) + sizeof REGISTER_PREFIX - 1;
    int d = 0;
    if (is_dimension(name, "ntid_", &d))
        return fuse->ntid[d];
    if (is_dimension(name, "ctaid_", &d) || is_dimension(name, "clusterid_", &d))
        return fused->ctaid[d];
    LLVMValueRef call = LLVMInstructionClone(inst);
    LLVMSetOperand(call, 0, fused->threads);
    LLVMInsertIntoBuilder(fuse->builder, call);
    return call;
}

static LLVMValueRef read_register(struct region *region, uint32_t value, const char *name)
{
    LLVMValueRef own = special_register(region, name);
    return own != NULL ? own : tr_group_register(region->fused, value);
}

static bool loads_block(const struct tr_value *inst)
{
    return inst->opcode == LLVMLoad && inst->operands[0] == 0;
}

static bool replace(struct tr_clone *clone, uint32_t value)
{
    struct region *region = region_of(clone);
    const struct tr_value *inst = &clone->kernel->graph.values[value];
    const char *name = tr_callee_name(inst->llvm);
    if (inst->opcode == LLVMAlloca)
        return true; /* in the frame */
    uint32_t bypass = tr_fault_bypass(clone->kernel, &region->fuse->faults, value);
    if (bypass != TR_NONE) {
        LLVMBuildBr(clone->builder, clone->blocks[bypass]);
        return true;
    }
    if (loads_block(inst)) {
        clone->copies[value] = region->fuse->block;
        return true;
    }
    if (strncmp(name, REGISTER_PREFIX, sizeof REGISTER_PREFIX - 1) == 0) {
        clone->copies[value] = read_register(region, value, name + sizeof REGISTER_PREFIX - 1);
        return true;
    }
    if (tr_is_stop(inst->llvm)) {
        come_to_stop(region, value);
        return true;
    }
    if (inst->opcode == LLVMRet || strcmp(name, "rt_exit") == 0) {
        exit_thread(region);
        return true;
    }
    return false;
}

/* ---- the body ---- */

static void skip_exited(struct region *region)
{
    struct tr_fuse *fuse = region->fuse;
    if (!tr_looks_for_exited(region->fused, region->number) ||
        tr_f_seed(fuse, TR_SEED_EXITED_MASK))
        return;
    LLVMValueRef entry =
        LLVMBuildLoad2(fuse->builder, fuse->i16,
                       tr_f_element(fuse, fuse->i16, fuse->frame_base, region->index), "");
    LLVMValueRef is_exited =
        LLVMBuildICmp(fuse->builder, LLVMIntEQ, entry,
                      LLVMConstInt(fuse->i16, RT_ENTRY_EXITED, false), "exited");
    LLVMBasicBlockRef live = tr_f_new_block(fuse, "live");
    LLVMBuildCondBr(fuse->builder, is_exited, region->next, live);
    LLVMPositionBuilderAtEnd(fuse->builder, live);
}

/* The builder is in the innermost loop; thread and tid are known. */
static void build_body(struct region *region, LLVMValueRef *loaded)
{
    struct tr_fuse *fuse = region->fuse;
    struct tr_clone *clone = &region->fused->clone;
    region->index = LLVMBuildZExt(fuse->builder, region->thread, fuse->i64, "");
    skip_exited(region);
    LLVMValueRef offset =
        LLVMBuildMul(fuse->builder, region->index, tr_f_i64(fuse, RT_THREAD_STRIDE), "");
    region->context = LLVMBuildGEP2(fuse->builder, fuse->i8, region->fused->threads, &offset, 1, "");
    tr_clone_reset(clone);
    clone->data = region;
    clone->replace = replace;
    bring_in_values(region, loaded);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(fuse->builder);
    tr_clone_segments(clone, &fuse->kernel->regions[region->number].segments);
    LLVMPositionBuilderAtEnd(fuse->builder, before);
    LLVMBuildBr(fuse->builder, clone->blocks[fuse->kernel->stops[region->number].resume]);
    LLVMSetCurrentDebugLocation2(fuse->builder, NULL);
}

/* Turns of a loop use the same local memory one after another. */
static bool shares_memory(const struct tr_fuse *fuse)
{
    return fuse->frame.is_local_shared && fuse->frame.local_bytes > 0;
}

/* Threads of the block in nested loops over z, y and x; one of a single turn is left out. */
static void build_flat_loops(struct region *region, LLVMValueRef *loaded)
{
    static const char *const names[3] = {"x", "y", "z"};
    struct tr_fuse *fuse = region->fuse;
    struct counter loops[3];
    LLVMValueRef row = tr_f_i32(fuse, 0);
    int open = 0;
    LLVMBasicBlockRef next = NULL;
    for (int d = 2; d >= 0; d--) {
        row = small_mul(fuse, row, fuse->ntid[d]);
        region->tid[d] = tr_f_i32(fuse, 0);
        if (is_one(fuse->ntid[d]) && (d > 0 || open > 0))
            continue;
        loops[open] = begin_loop(fuse, fuse->ntid[d], names[d]);
        region->tid[d] = loops[open].value;
        next = loops[open++].latch;
        row = small_add(fuse, row, region->tid[d]);
    }
    region->thread = row;
    region->next = next;
    struct counter *innermost = &loops[open - 1];
    build_body(region, loaded);
    while (open > 0) {
        end_loop(fuse, &loops[--open]);
        if (&loops[open] == innermost && !shares_memory(fuse))
            tr_mark_parallel(fuse, innermost->head, innermost->latch);
        if (open > 0)
            LLVMBuildBr(fuse->builder, loops[open - 1].latch);
    }
}

/* tid of the warp's first lane: by division, which LLVM makes shifts of where the block's shape is
 * known. */
static void divide_index(struct region *region)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef rest = region->lanes.first;
    if (is_one(fuse->ntid[1]) && is_one(fuse->ntid[2])) {
        region->tid[0] = rest;
        region->tid[1] = region->tid[2] = tr_f_i32(fuse, 0);
        return;
    }
    region->tid[0] = LLVMBuildURem(b, rest, fuse->ntid[0], "");
    rest = LLVMBuildUDiv(b, rest, fuse->ntid[0], "");
    region->tid[1] = LLVMBuildURem(b, rest, fuse->ntid[1], "");
    region->tid[2] = LLVMBuildUDiv(b, rest, fuse->ntid[1], "");
}

/* So many lanes of one row, from the one with region->tid, which is the block's thread `first`. */
static void build_piece(struct region *region, LLVMValueRef *loaded, LLVMValueRef first,
                        LLVMValueRef count)
{
    struct tr_fuse *fuse = region->fuse;
    struct counter loop = begin_loop(fuse, count, "lane");
    region->thread = small_add(fuse, first, loop.value);
    region->tid[0] = small_add(fuse, region->tid[0], loop.value);
    region->next = loop.latch;
    build_body(region, loaded);
    end_loop(fuse, &loop);
    if (!shares_memory(fuse))
        tr_mark_parallel(fuse, loop.head, loop.latch);
}

static bool is_in_one_row(const struct tr_fuse *fuse)
{
    return (is_one(fuse->ntid[1]) && is_one(fuse->ntid[2])) ||
           (fuse->options->facts->block[0] != 0 &&
            fuse->options->facts->block[0] % RT_WARP_SIZE == 0);
}

/* How many of the lanes from `lane` on are in one row. */
static LLVMValueRef piece_length(const struct region *region, LLVMValueRef lane)
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
static void build_lane_loop(struct region *region, LLVMValueRef *loaded)
{
    struct tr_fuse *fuse = region->fuse;
    LLVMBuilderRef b = fuse->builder;
    LLVMValueRef zero = tr_f_i32(fuse, 0);
    divide_index(region);
    if (is_in_one_row(fuse)) {
        build_piece(region, loaded, region->lanes.first, region->lanes.count);
        return;
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef head = tr_f_new_block(fuse, "row");
    LLVMBasicBlockRef done = tr_f_new_block(fuse, "done");
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
    build_piece(region, loaded, small_add(fuse, region->lanes.first, lane), length);

    LLVMBasicBlockRef latch = LLVMGetInsertBlock(b);
    LLVMValueRef next_lane = small_add(fuse, lane, length);
    LLVMValueRef y = small_add(fuse, tid[1], tr_f_i32(fuse, 1));
    LLVMValueRef is_plane_done = LLVMBuildICmp(b, LLVMIntEQ, y, fuse->ntid[1], "");
    LLVMValueRef next_y = LLVMBuildSelect(b, is_plane_done, zero, y, "");
    LLVMValueRef next_z =
        small_add(fuse, tid[2], LLVMBuildZExt(b, is_plane_done, fuse->i32, ""));
    LLVMAddIncoming(lane, &next_lane, &latch, 1);
    LLVMAddIncoming(tid[0], &zero, &latch, 1);
    LLVMAddIncoming(tid[1], &next_y, &latch, 1);
    LLVMAddIncoming(tid[2], &next_z, &latch, 1);
    LLVMValueRef more = LLVMBuildICmp(b, LLVMIntULT, next_lane, region->lanes.count, "");
    LLVMBuildCondBr(b, more, head, done);
    LLVMPositionBuilderAtEnd(b, done);
}

struct tr_lanes tr_lanes_now(const struct tr_fused *fused)
{
    const struct tr_fuse *fuse = fused->fuse;
    LLVMBuilderRef b = fuse->builder;
    struct tr_lanes lanes = {.warp = tr_f_i32(fuse, 0),
                             .first = tr_f_i32(fuse, 0),
                             .count = fuse->thread_count,
                             .group = tr_f_i64(fuse, 0)};
    if (fuse->kernel->scope == TR_SCOPE_BLOCK)
        return lanes;
    lanes.warp = LLVMBuildLoad2(b, fuse->i32, fused->warp, "warp");
    lanes.first = small_mul(fuse, lanes.warp, tr_f_i32(fuse, RT_WARP_SIZE));
    lanes.group = LLVMBuildZExt(b, lanes.warp, fuse->i64, "");
    LLVMValueRef whole = tr_f_i32(fuse, RT_WARP_SIZE);
    lanes.count = whole;
    bool is_whole = LLVMIsAConstantInt(fuse->thread_count) != NULL &&
                    LLVMConstIntGetZExtValue(fuse->thread_count) % RT_WARP_SIZE == 0;
    if (is_whole)
        return lanes;
    LLVMValueRef left = LLVMBuildNUWSub(b, fuse->thread_count, lanes.first, "");
    LLVMValueRef is_less = LLVMBuildICmp(b, LLVMIntULT, left, whole, "");
    lanes.count = LLVMBuildSelect(b, is_less, left, whole, "lanes");
    return lanes;
}

void tr_build_region(struct tr_fused *fused, uint32_t stop)
{
    struct tr_fuse *fuse = fused->fuse;
    struct region region = {.fused = fused, .fuse = fuse, .number = stop};
    region.lanes = tr_lanes_now(fused);
    if (fuse->kernel->stops[stop].kind == TR_STOP_WARP)
        tr_build_warp_op(fused, stop, &region.lanes);
    if (tr_region_is_dynamic(fused, stop)) {
        LLVMBuildStore(fuse->builder, tr_f_i32(fuse, 0), fused->any);
        LLVMBuildStore(fuse->builder, tr_f_i32(fuse, UINT32_MAX), fused->all);
    }
    LLVMValueRef *loaded =
        pxr_arena_alloc_array(&fuse->kernel->graph.arena, fuse->kernel->graph.value_count,
                              sizeof(LLVMValueRef));
    if (loaded == NULL)
        return; /* the arena has no limit */
    fused->loaded[stop] = loaded;
    if (stop != 0)
        load_group_values(&region, loaded);
    if (fuse->kernel->scope == TR_SCOPE_BLOCK)
        build_flat_loops(&region, loaded);
    else
        build_lane_loop(&region, loaded);
}
